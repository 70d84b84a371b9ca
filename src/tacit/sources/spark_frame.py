"""Rows in a Spark data frame, summed where they are."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from tacit.sources.files import cut
from tacit.sources.names import check_names, check_selection, listed
from tacit.sources.partitions import Partial, PartitionedSource, added, partial_sum, unquoted

_RESULT = "partial binary"
_TREE = 8  # tasks that add up the sums of partitions, before the driver adds up theirs


class SparkSource(PartitionedSource):
    """Rows of a Spark data frame.

    Each release is one job: ``mapInArrow`` over all partitions, whose sums are added up in a few tasks and then by the
    driver. A data frame that is computed from others is computed anew for each release; ``cache()`` it first.

    Rows that come out differently each time they are computed (by ``rand()``, or a ``limit`` without an order) are not
    one table, and no guarantee holds for them.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._columns = check_names(list(frame.columns), "the data frame")

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @cached_property
    def n_rows(self) -> int:  # type: ignore[override]
        return unquoted(lambda: int(self._frame.count()))

    @property
    def types(self) -> pa.Schema:
        from pyspark.sql.pandas.types import to_arrow_schema

        return to_arrow_schema(self._frame.schema)

    def select(self, columns: Sequence[str]) -> SparkSource:
        wanted = check_selection(columns, self._columns)
        return SparkSource(self._frame.select([f"`{name.replace('`', '``')}`" for name in wanted]))

    def _sum(self, pickled: bytes) -> Partial:
        partials = self._frame.mapInArrow(partial(_partition_sum, pickled=pickled), _RESULT)
        rows = partials.repartition(_TREE).mapInArrow(_added, _RESULT).collect()
        return added(pickle.loads(row[0]) for row in rows)

    def __repr__(self) -> str:
        return f"SparkSource(columns {listed(self._columns)})"


def _partition_sum(batches: Iterator[pa.RecordBatch], pickled: bytes) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    yield _row(partial_sum(partial(cut, batches), pickled, TaskContext.get().partitionId()))


def _added(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield _row(added(pickle.loads(cell.as_py()) for batch in batches for cell in batch.column(0)))


def _row(result: Partial) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"partial": [pickle.dumps(result)]})
