"""What a source is: rows in blocks, and sums over them.

Invariants every source keeps
-----------------------------
- Rows are cut, in order, into blocks of exactly ``BLOCK_ROWS`` rows (the last one may be shorter). No guarantee rests
  on which rows are in which block: replacing one row may move all others, in a folder that is sorted by value or on a
  cluster.
- ``blocks()`` may be called again and again and yields the same blocks each time.
- ``sum`` adds integers, exactly. Integer addition has no order, so threads, processes and clusters all find the same
  answer, and no rounding error has to be added to anybody's sensitivity.
- No exception raised here holds a value or the number of a row. (Errors of pyarrow and numpy quote the cell they
  stumbled on; they are replaced, and the replacement is raised outside the ``except`` clause, so that the original is
  not even chained to it.)

An engine that spreads rows over machines implements ``sum`` alone; everything a private algorithm learns from rows goes
through it. (:mod:`tacit.sources.partitions` says what else such sources keep, and what they do not.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.sources.summation import ONE_BLAS_THREAD, sum_over_streams

BLOCK_ROWS = 8192  # The same number as in tacit.release.precision, where the proof needs it.
# These change the speed, which benchmarks/engines.py measures, and no guarantee.
_FEW_ROWS = 32 * BLOCK_ROWS  # Up to this many rows, one thread is done sooner than several that wait for each other.
_STRIP_CELLS = 2**21  # This many cells are worked on at a time, in blocks of more than 256 columns.
_STRIP_ROWS = 64  # The number of rows of a strip is a multiple of this.
_MOST_HELD = 2**27  # Rows in memory are held mapped as well, if that takes at most this many bytes.


class UnreadableCells(ValueError):
    """Cells that are not what a column should hold. The sentence names the column, and quotes no cell."""


class Source(ABC):
    """Rows, wherever they live, in blocks of ``BLOCK_ROWS``.

    Blocks are float64 matrices (rows, columns) if the rows came as an array, and pyarrow tables if they came as a data
    frame or a file, until ``map`` turns them into something else.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sources import as_source
    >>> source = as_source(np.arange(6.0).reshape(3, 2))
    >>> source.n_rows
    3
    >>> source.map(lambda block: block**2).sum(lambda block: block.sum(axis=0).astype(np.int64))
    array([20, 35])
    """

    #: True if ``blocks`` can be read in this process; rows on a cluster stay there.
    local: bool = True

    #: True if the rows are in memory already, and are not read anew for every pass.
    in_memory: bool = False

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns, or None if they have none (arrays)."""

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.columns) if self.columns is not None else int(next(self.blocks()).shape[1])

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    @abstractmethod
    def types(self) -> pa.Schema:
        """Names and types of the columns of a table, as the storage declares them; null where it declares none.

        They do not depend on cells: a type that was guessed from rows would tell something of them.
        """

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """Yield the blocks, in order."""

    def streams(self) -> list[Iterator[tuple[int, Any]]]:
        """Return the blocks and their numbers, in streams that can be read at the same time: each block is in one."""
        return [enumerate(self.blocks())]

    @abstractmethod
    def select(self, columns: Sequence[str]) -> Source:
        """Return the same rows with these columns alone, in this order; the others are not read."""

    def map(self, function: Callable[[Any], Any], columns: Sequence[str] | None = None) -> Source:
        """Return the same rows with `function` applied to every block, lazily.

        Parameters
        ----------
        function : callable
            A function from a block to a block with the same number of rows.
        columns : sequence of str, optional
            The names of the columns afterwards.
        """
        return MappedSource(self, function, None if columns is None else tuple(columns))

    @property
    def is_small(self) -> bool:
        """Whether one thread sums the rows sooner than several that wait for each other."""
        return self.in_memory and self.n_rows <= _FEW_ROWS

    def hold(self) -> Source:
        """Return the same rows for many passes: what ``map`` makes of them is computed now, and only once.

        Mapped rows are held if the rows are in memory anyway and the mapped ones take at most 128 MB. Workers of a
        cluster hold them, too. A file is returned as it is: its rows are never held.
        """
        return self

    def hold_as(self, function: Callable[[Any], Any], names: tuple[str, ...] | None) -> Source | None:
        """Return what `function` makes of the rows, held for many passes; None where rows are not held.

        Rows on a cluster are, by its workers; `names` are those of the columns that the function returns.
        """
        return None

    def sample(self, kept: Callable[[tuple[int, int], int], NDArray[np.bool_]]) -> Source:
        """Return some of the rows: `kept` says which rows of a block, from its place and its number of rows.

        Examples
        --------
        >>> from tacit.sources import as_source
        >>> next(as_source([[0.0], [1.0], [2.0]]).sample(lambda place, rows: np.arange(rows) > 0).blocks())
        array([[1.],
               [2.]])
        """
        from tacit.sources.sampling import SampledSource

        return SampledSource(self, kept)

    def sum(
        self,
        function: Callable[[Any], NDArray[Any]],
        *,
        finish: Callable[[Array], NDArray[np.int64]] | None = None,
        threads: int | None = None,
    ) -> NDArray[np.int64]:
        """Add up ``function(block)`` over all blocks, exactly.

        Parameters
        ----------
        function : callable
            A function from a block to a vector of int64, of the same length for every block. It runs on several threads
            at a time, so it must not change anything outside itself. The caller sees to it that the total fits in 63
            bits.
        finish : callable, optional
            If it is given, `function` returns a sum over rows, of floats, and ``finish(function(block))`` is added up.
            A block of many columns is passed to `function` a few rows at a time, so that it needs little memory.
        threads : int, optional
            How many blocks to work on at a time; by default as many as there are processors, at most 8, or one if
            there are few rows. The answer does not depend on it.
        """
        if threads is None and self.is_small:
            threads = 1
        streams = [(block for _, block in stream) for stream in self.streams()]
        return sum_over_streams(streams, block_function(function, finish), threads)


@dataclass(frozen=True)
class MappedSource(Source):
    """A source whose blocks pass through a function first."""

    parent: Source
    function: Callable[[Any], Any]
    names: tuple[str, ...] | None

    @property
    def columns(self) -> tuple[str, ...] | None:
        return self.names

    @property
    def n_rows(self) -> int:
        return self.parent.n_rows

    @property
    def types(self) -> pa.Schema:
        raise TypeError("A mapped source has no declared types; ask the source it was made from.")

    def blocks(self) -> Iterator[Any]:
        return map(self.function, self.parent.blocks())

    def select(self, columns: Sequence[str]) -> Source:
        raise TypeError("Columns cannot be selected after map; select them first, then map.")

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        return self.parent.in_memory

    @property
    def local(self) -> bool:  # type: ignore[override]
        return self.parent.local

    def hold(self) -> Source:
        if not self.in_memory:
            return self.parent.hold_as(self.function, self.names) or self
        if self._row().nbytes * self.n_rows > _MOST_HELD:
            return self
        with ONE_BLAS_THREAD:  # So it is wherever rows are computed, so that they are computed alike.
            held = tuple(self.blocks())
        for block in held:
            if isinstance(block, np.ndarray):
                block.flags.writeable = False  # The next pass would read what one pass wrote there.
        return HeldSource(held, self.names)

    def hold_as(self, function: Callable[[Any], Any], names: tuple[str, ...] | None) -> Source | None:
        first = self.function
        return self.parent.hold_as(lambda block: function(first(block)), names or self.names)

    def sample(self, kept: Callable[[tuple[int, int], int], NDArray[np.bool_]]) -> Source:
        return MappedSource(
            self.parent.sample(kept), self.function, self.names
        )  # Sampled first, there are fewer rows to map.

    def _row(self) -> Any:
        """Return the first row, mapped: a block of one."""
        parent = self.parent
        row = parent._row() if isinstance(parent, MappedSource) else next(parent.blocks())[:1]
        return self.function(row)

    def sum(self, function: Callable[[Any], NDArray[Any]], **how: Any) -> NDArray[np.int64]:
        # The parent sums, so that the mapping runs on the threads (or the cluster) that do the summing. Only the
        # function goes there, and not this source.
        mapping = self.function
        return self.parent.sum(lambda block: function(mapping(block)), **how)


@dataclass(frozen=True)
class HeldSource(Source):
    """Blocks that are in memory."""

    held_blocks: tuple[Any, ...] = field(repr=False)
    names: tuple[str, ...] | None

    in_memory = True

    @property
    def columns(self) -> tuple[str, ...] | None:
        return self.names

    @property
    def n_rows(self) -> int:
        return sum(len(block) for block in self.held_blocks)

    @property
    def types(self) -> pa.Schema:
        raise TypeError("A mapped source has no declared types; ask the source it was made from.")

    def blocks(self) -> Iterator[Any]:
        return iter(self.held_blocks)

    def select(self, columns: Sequence[str]) -> Source:
        raise TypeError("Columns cannot be selected after map; select them first, then map.")


def block_function(
    function: Callable[[Any], NDArray[Any]], finish: Callable[[Array], NDArray[np.int64]] | None
) -> Callable[[Any], NDArray[np.int64]]:
    """Return what is added up over blocks, for ``Source.sum``."""
    return function if finish is None else lambda block: finish(_sum_of_strips(block, function))


def _sum_of_strips(block: Any, function: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    """Return ``function(block)``, a sum over rows. A wide matrix is summed a few rows at a time."""
    if not isinstance(block, np.ndarray) or block.size <= _STRIP_CELLS:
        return function(block)
    rows = max(_STRIP_ROWS, _STRIP_CELLS // block.shape[1] // _STRIP_ROWS * _STRIP_ROWS)
    total = function(block[:rows])
    for start in range(rows, len(block), rows):
        total = total + function(block[start : start + rows])
    return total
