"""Rows in a Spark data frame, summed where they are."""

from __future__ import annotations

import contextlib
import pickle
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.sources.files import cut
from tacit.sources.names import check_names, check_selection, listed
from tacit.sources.partitions import (
    HeldPartitions,
    Partial,
    PartitionedSource,
    added,
    held_blocks,
    held_sum,
    partial_sum,
    unquoted,
)
from tacit.sources.source import Source

_RESULT = "partial binary"
_TREE = 8  # tasks that add up the sums of partitions, before the driver adds up theirs
_FEW = 32  # partitions, whose sums the driver adds up at once: a stage of tasks takes its time


class SparkSource(PartitionedSource):
    """Rows of a Spark data frame.

    Each release is one job: ``mapInArrow`` over all partitions, whose sums are added up in a few tasks and then by the
    driver. From the first release on, executors hold what the rows have become (:class:`HeldSpark`).

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
        return _total(self._frame, partial(_partition_sum, pickled=pickled), self._partitions)

    def _held(self, pickled: bytes, names: tuple[str, ...] | None) -> Source:
        return HeldSpark(self._frame.mapInArrow(partial(_held, pickled=pickled), _RESULT), names, self)

    @cached_property
    def _partitions(self) -> int:
        return unquoted(lambda: int(self._frame.rdd.getNumPartitions()))

    def __repr__(self) -> str:
        return f"SparkSource(columns {listed(self._columns)})"


class HeldSpark(HeldPartitions):
    """Rows of a Spark data frame as blocks of numbers, a cell each, that executors keep on disk.

    Cells of numbers cross from Spark to Python one by one, and in each pass; a block crosses as a whole.
    """

    origin: SparkSource | HeldSpark

    def __init__(self, blocks: Any, names: tuple[str, ...] | None, origin: SparkSource | HeldSpark) -> None:
        from pyspark import StorageLevel

        super().__init__(names, origin)
        self._blocks = blocks.persist(StorageLevel.DISK_ONLY)
        weakref.finalize(self, _let_go, self._blocks)

    @property
    def _partitions(self) -> int:
        return self.origin._partitions

    def _sum(self, pickled: bytes) -> Partial:
        return _total(self._blocks, partial(_sum_of_held, pickled=pickled), self._partitions)

    def _held(self, pickled: bytes, names: tuple[str, ...] | None) -> Source:
        return HeldSpark(self._blocks.mapInArrow(partial(_held_again, pickled=pickled), _RESULT), names, self)


def _total(frame: Any, function: Callable[..., Iterator[pa.RecordBatch]], partitions: int) -> Partial:
    """Return what partitions add up to: many in a few tasks first, whose sums the driver adds up."""
    partials = frame.mapInArrow(function, _RESULT)
    if partitions > _FEW:
        partials = partials.repartition(_TREE).mapInArrow(_added, _RESULT)
    return added(pickle.loads(row[0]) for row in partials.collect())


def _let_go(frame: Any) -> None:
    with contextlib.suppress(Exception):  # the session may be gone, and its storage with it
        frame.unpersist()


def _partition_sum(batches: Iterator[pa.RecordBatch], pickled: bytes) -> Iterator[pa.RecordBatch]:
    yield _row(partial_sum(partial(cut, batches), pickled, _partition()))


def _sum_of_held(batches: Iterator[pa.RecordBatch], pickled: bytes) -> Iterator[pa.RecordBatch]:
    yield _row(held_sum(partial(_unpickled, batches), pickled, _partition()))


def _held(batches: Iterator[pa.RecordBatch], pickled: bytes) -> Iterator[pa.RecordBatch]:
    yield from map(_row, held_blocks(partial(cut, batches), pickled))


def _held_again(batches: Iterator[pa.RecordBatch], pickled: bytes) -> Iterator[pa.RecordBatch]:
    yield from map(_row, held_blocks(partial(_unpickled, batches), pickled))


def _unpickled(batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
    for batch in batches:
        for cell in batch.column(0):
            yield pickle.loads(memoryview(cell.as_buffer()))


def _partition() -> int:
    from pyspark import TaskContext

    return int(TaskContext.get().partitionId())


def _added(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield _row(added(pickle.loads(cell.as_py()) for batch in batches for cell in batch.column(0)))


def _row(result: Partial | NDArray[np.float64]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"partial": [pickle.dumps(result, protocol=5)]})
