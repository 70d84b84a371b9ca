"""What a source is: rows in blocks, and sums over them.

Invariants every source keeps
-----------------------------
- Rows are cut, in order, into blocks of exactly ``BLOCK_ROWS`` rows (the last one may be shorter). Where the cuts fall
  depends on row positions only, never on values, so replacing one row changes one block.
- ``blocks()`` may be called again and again and yields the same blocks each time.
- ``sum`` adds integers, exactly. Integer addition has no order, so threads, processes and clusters all find the same
  answer, and no rounding error has to be added to anybody's sensitivity.
- No exception raised here holds a value or the number of a row. (Errors of pyarrow and numpy quote the cell they
  stumbled on; they are replaced, and the replacement is raised outside the ``except`` clause, so that the original is
  not even chained to it.)

An engine that spreads rows over machines needs to implement ``sum`` alone; everything a private algorithm learns from
rows goes through it. (A ``part`` of rows is read in blocks unless the engine has a better way.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.sources.summation import sum_over_blocks

BLOCK_ROWS = 8192
_FEW_ROWS = 32 * BLOCK_ROWS  # which one thread sums sooner than several that wait for each other
_MOST_HELD = 2**27  # bytes of mapped rows that are held, for an array of as many that is in memory already


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

    #: True where the storage declares no types (CSV), so that ``types`` had to be guessed from values.
    types_are_guessed: bool = False

    #: True where the rows are in memory as it is, and not read anew for every pass.
    in_memory: bool = False

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns, or None if they have none (arrays)."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    @abstractmethod
    def types(self) -> pa.Schema:
        """Names and types of the columns of a table, as the storage declares them."""

    @abstractmethod
    def blocks(self) -> Iterator[Any]:
        """Yield the blocks, in order."""

    @abstractmethod
    def select(self, columns: Sequence[str]) -> Source:
        """Return the same rows with these columns alone, in this order; the others are not even read."""

    def map(self, function: Callable[[Any], Any], columns: Sequence[str] | None = None) -> Source:
        """Return the same rows with `function` applied to every block, lazily.

        Parameters
        ----------
        function : callable
            From a block to a block with the same number of rows.
        columns : sequence of str, optional
            What the columns are called afterwards.
        """
        return MappedSource(self, function, None if columns is None else tuple(columns))

    def held(self) -> Source:
        """Return the same rows for many passes: what ``map`` makes of them is worked out now, and once.

        That is so where the rows are in memory anyway, and what becomes of them takes at most 128 MB. Other sources,
        such as files, are returned as they are: their rows are never held.
        """
        return self

    def part(self, index: int, of: int) -> Source:
        """Return every row whose position, counted from 0, is `index` modulo `of`, of a source of float64 matrices.

        Examples
        --------
        >>> from tacit.sources import as_source
        >>> next(as_source([[0.0], [1.0], [2.0], [3.0], [4.0]]).part(1, of=3).blocks())
        array([[1.],
               [4.]])
        """
        return PartSource(self, index, of)

    def sum(self, function: Callable[[Any], NDArray[np.int64]], *, threads: int | None = None) -> NDArray[np.int64]:
        """Add up ``function(block)`` over all blocks, exactly.

        Parameters
        ----------
        function : callable
            From a block to a vector of int64, of the same length for every block. It runs on several threads at a
            time, so it must not change anything outside itself. The caller sees to it that the total fits in 63 bits.
        threads : int, optional
            How many blocks to work on at a time; by default as many as there are processors, at most 8, or one if
            there are few rows. The answer does not depend on it.
        """
        if threads is None and self.in_memory and self.n_rows <= _FEW_ROWS:
            threads = 1
        return sum_over_blocks(self.blocks(), function, threads)


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

    def held(self) -> Source:
        if not self.in_memory:
            return self
        blocks = self.blocks()
        first = next(blocks)
        if first.nbytes * (self.n_rows / len(first)) > _MOST_HELD:
            return self
        held = (first, *blocks)
        for block in held:
            if isinstance(block, np.ndarray):
                block.flags.writeable = False  # what one pass wrote there, the next would read
        return HeldSource(held, self.names)

    def sum(self, function: Callable[[Any], NDArray[np.int64]], *, threads: int | None = None) -> NDArray[np.int64]:
        # Handed to the parent, so that the mapping runs on the threads (or the cluster) that do the summing.
        return self.parent.sum(lambda block: function(self.function(block)), threads=threads)


@dataclass(frozen=True)
class HeldSource(Source):
    """Blocks that are in memory."""

    held_blocks: tuple[Any, ...]
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


@dataclass(frozen=True)
class PartSource(Source):
    """Every row of a source whose position is `index` modulo `of`. Which rows these are depends on no cell."""

    parent: Source
    index: int
    of: int

    @property
    def columns(self) -> tuple[str, ...] | None:
        return self.parent.columns

    @property
    def n_rows(self) -> int:
        return len(range(self.index, self.parent.n_rows, self.of))

    @property
    def types(self) -> pa.Schema:
        return self.parent.types

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        return self.parent.in_memory

    def blocks(self) -> Iterator[Any]:
        # Pieces of several blocks are put together, as many as fit, because a call for each would take its time.
        waiting: list[NDArray[np.float64]] = []
        before = gathered = 0
        for block in self.parent.blocks():
            piece = block[(self.index - before) % self.of :: self.of]
            before += len(block)
            if gathered + len(piece) > BLOCK_ROWS:
                yield np.concatenate(waiting)
                waiting, gathered = [], 0
            waiting.append(piece)
            gathered += len(piece)
        if waiting:
            yield np.concatenate(waiting)

    def select(self, columns: Sequence[str]) -> Source:
        raise TypeError("Columns cannot be selected from a part of rows; select them first.")
