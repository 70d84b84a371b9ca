"""Rows in a Dask data frame or array, summed where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.arrays import Array
from tacit.sources.arrays import ArraySource
from tacit.sources.frames import FrameSource
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

_AT_ONCE = 8  # One task adds up this many partial sums.


class DaskSource(PartitionedSource):
    """Rows of a Dask data frame, or of a Dask array of numbers, on whichever client or scheduler is active.

    Each release is one graph: a task for each partition, and a tree of tasks that add up what these return. From the
    first release on, workers hold what the rows have become (:class:`HeldDask`).

    Examples
    --------
    >>> import pytest; dataframe = pytest.importorskip("dask.dataframe")
    >>> import pandas as pd
    >>> from tacit.sources import as_source
    >>> source = as_source(dataframe.from_pandas(pd.DataFrame({"age": [31, 45, 28]}), npartitions=2))
    >>> source.columns, source.n_rows
    (('age',), 3)
    """

    def __init__(self, collection: Any) -> None:
        self._collection = collection
        self._columns: tuple[str, ...] | None = None
        if hasattr(collection, "columns"):
            self._columns = check_names([str(name) for name in collection.columns], "the data frame")
        elif collection.ndim != 2:
            raise ValueError(f"Expected 2D array, got {collection.ndim}D array instead: rows by columns.")
        else:
            self._collection = collection.rechunk({1: -1})  # Now every chunk has whole rows.

    @property
    def columns(self) -> tuple[str, ...] | None:
        return self._columns

    @property
    def n_columns(self) -> int:
        return int(self._collection.shape[1]) if self._columns is None else len(self._columns)

    @property
    def n_rows(self) -> int:
        return compute_or_refuse(lambda: len(self._collection))

    @property
    def types(self) -> pa.Schema:
        if self._columns is None:
            raise TypeError("Columns of an array have no names. Make it a data frame, and name them.")
        return FrameSource(self._collection._meta_nonempty).types

    def select(self, columns: Sequence[str]) -> DaskSource:
        if self._columns is None:
            raise TypeError("Columns of an array have no names to select by; select them with array[:, positions].")
        positions = [self._columns.index(name) for name in check_selection(columns, self._columns)]
        return DaskSource(self._collection[[self._collection.columns[position] for position in positions]])

    @property
    def _partitions(self) -> int:
        return int(self._collection.npartitions)

    def _sum(self, pickled: bytes) -> Partial:
        return _total(_partition_sum, np.ravel(self._collection.to_delayed()), pickled)

    def _hold(self, pickled: bytes, names: tuple[str, ...] | None) -> Source:
        return HeldDask(_hold_partition, np.ravel(self._collection.to_delayed()), pickled, names, self)

    def __repr__(self) -> str:
        columns = f"{self.n_columns} columns" if self._columns is None else f"columns {join_names(self._columns)}"
        return f"DaskSource({self._partitions} partitions, {columns})"


class HeldDask(HeldPartitions):
    """Rows of a Dask collection as blocks of numbers, that workers keep, on disk where need be."""

    def __init__(
        self,
        function: Callable[[Any, bytes], list[Any]],
        partitions: Iterable[Any],
        pickled: bytes,
        names: tuple[str, ...] | None,
        origin: PartitionedSource,
    ) -> None:
        import dask

        super().__init__(names, origin)
        shared, held = dask.delayed(pickled), dask.delayed(function)
        self._held_partitions = compute_or_refuse(lambda: dask.persist(*(held(part, shared) for part in partitions)))

    @property
    def _partitions(self) -> int:
        return len(self._held_partitions)

    def _sum(self, pickled: bytes) -> Partial:
        return _total(_sum_blocks, self._held_partitions, pickled)

    def _hold(self, pickled: bytes, names: tuple[str, ...] | None) -> Source:
        return HeldDask(_hold_again, self._held_partitions, pickled, names, self)


def _total(function: Callable[[Any, bytes, int], Partial], partitions: Iterable[Any], pickled: bytes) -> Partial:
    """Return what a function of partitions adds up to, by a tree of tasks."""
    import dask

    shared = dask.delayed(pickled)  # It is sent once, and not with each task.
    summed = dask.delayed(function, pure=True)
    sums = [summed(part, shared, number) for number, part in enumerate(partitions)]
    while len(sums) > 1:
        sums = [dask.delayed(add_partials)(sums[start : start + _AT_ONCE]) for start in range(0, len(sums), _AT_ONCE)]
    return dask.compute(sums[0])[0]


def _partition_sum(partition: Any, pickled: bytes, number: int) -> Partial:
    return partial_sum(partial(_blocks, partition), pickled, number)


def _hold_partition(partition: Any, pickled: bytes) -> list[Any]:
    return list(held_blocks(partial(_blocks, partition), pickled))


def _hold_again(held: list[Any], pickled: bytes) -> list[Any]:
    return list(held_blocks(lambda: held, pickled))


def _sum_blocks(held: list[Any], pickled: bytes, number: int) -> Partial:
    return sum_held_blocks(lambda: held, pickled, number)


def _blocks(partition: Any) -> Iterator[pa.Table | Array]:
    if len(partition):
        yield from (FrameSource if hasattr(partition, "columns") else ArraySource)(partition).blocks()
