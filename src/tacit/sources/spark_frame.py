"""Rows in a Spark data frame, summed where they are."""

from __future__ import annotations

import contextlib
import pickle
import weakref
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from tacit.arrays import Array
from tacit.sources.files import cut_blocks
from tacit.sources.names import check_names, check_selection, join_names
from tacit.sources.partitions import (
    HeldPartitions,
    Partial,
    PartitionedSource,
    add_partials,
    compute_or_refuse,
    held_blocks,
    partial_sum,
    sum_held_blocks,
)
from tacit.sources.source import Source

_RESULT = "partial binary"  # The columns of what tasks return.
_FEW = 32  # The driver itself adds up the sums of up to this many partitions: a stage of tasks takes longer.


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
        return compute_or_refuse(lambda: int(self._frame.count()))

    @property
    def types(self) -> pa.Schema:
        from pyspark.sql.pandas.types import to_arrow_schema

        return to_arrow_schema(self._frame.schema)

    def select(self, columns: Sequence[str]) -> SparkSource:
        wanted = check_selection(columns, self._columns)
        return SparkSource(self._frame.select([f"`{name.replace('`', '``')}`" for name in wanted]))

    def _sum(self, pickled: bytes) -> Partial:
        partials = self._frame.mapInArrow(partial(_partition_sum, pickled=pickled), _RESULT)
        return _total(partials.rdd.map(_cell).map(pickle.loads), self._partitions)

    def _hold(self, pickled: bytes, names: tuple[str, ...] | None) -> Source:
        blocks = self._frame.mapInArrow(partial(_hold, pickled=pickled), _RESULT)
        return HeldSpark(blocks.rdd.map(_cell), names, self)

    @cached_property
    def _partitions(self) -> int:
        return compute_or_refuse(lambda: int(self._frame.rdd.getNumPartitions()))

    def __repr__(self) -> str:
        return f"SparkSource(columns {join_names(self._columns)})"


class HeldSpark(HeldPartitions):
    """Rows of a Spark data frame as pickled blocks of numbers, that executors keep on disk.

    Cells of numbers cross from Spark to Python one by one, and in each pass; a block crosses as it is.
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
        return _total(self._blocks.mapPartitionsWithIndex(partial(_sum_blocks, pickled=pickled)), self._partitions)

    def _hold(self, pickled: bytes, names: tuple[str, ...] | None) -> Source:
        return HeldSpark(self._blocks.mapPartitions(partial(_hold_again, pickled=pickled)), names, self)


def _total(partials: Any, partitions: int) -> Partial:
    """Return what partitions add up to: many in a few tasks first, whose sums the driver adds up."""
    if partitions > _FEW:
        return partials.treeReduce(_both)
    return add_partials(partials.collect())


def _both(one: Partial, other: Partial) -> Partial:
    return add_partials([one, other])


def _let_go(blocks: Any) -> None:
    with contextlib.suppress(Exception):  # The session may be gone, and its storage with it.
        blocks.unpersist()


def _partition_sum(batches: Iterator[pa.RecordBatch], pickled: bytes) -> Iterator[pa.RecordBatch]:
    yield _row(partial_sum(partial(cut_blocks, batches), pickled, _partition()))


def _sum_blocks(partition: int, blocks: Iterator[bytes], pickled: bytes) -> Iterator[Partial]:
    yield sum_held_blocks(lambda: map(pickle.loads, blocks), pickled, partition)


def _hold(batches: Iterator[pa.RecordBatch], pickled: bytes) -> Iterator[pa.RecordBatch]:
    yield from map(_row, held_blocks(partial(cut_blocks, batches), pickled))


def _hold_again(blocks: Iterator[bytes], pickled: bytes) -> Iterator[bytes]:
    yield from map(_pickle, held_blocks(lambda: map(pickle.loads, blocks), pickled))


def _partition() -> int:
    from pyspark import TaskContext

    return int(TaskContext.get().partitionId())


def _row(result: Partial | Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"partial": [_pickle(result)]})


def _cell(row: Any) -> bytes:
    return bytes(row[0])


def _pickle(result: Partial | Array) -> bytes:
    return pickle.dumps(result, protocol=5)
