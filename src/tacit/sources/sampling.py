"""Some of the rows of a source, chosen by secret bits and never by what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.sources.source import BLOCK_ROWS, Source, block_function
from tacit.sources.summation import sum_over_streams

Kept = Callable[[tuple[int, int], int], NDArray[np.bool_]]
"""Which rows of a block are kept, by its partition, its number there, and how many rows it has."""


def sampled_blocks(blocks: Iterable[tuple[int, Any]], kept: Kept, partition: int = 0) -> Iterator[Any]:
    """Yield the rows that are kept of numbered blocks, those of several blocks together, at most ``BLOCK_ROWS``.

    Every call of a statistic takes its time, and a block may have few rows that are kept.
    """
    waiting: list[Any] = []
    gathered = 0
    for number, block in blocks:
        piece = _select_rows(block, kept((partition, number), len(block)))
        if gathered + len(piece) > BLOCK_ROWS:
            yield _join(waiting)
            waiting, gathered = [], 0
        waiting.append(piece)
        gathered += len(piece)
    if waiting:
        yield _join(waiting)


def _select_rows(block: Any, kept: NDArray[np.bool_]) -> Any:
    if isinstance(block, pa.Table):
        return block.filter(pa.array(kept))
    places = np.flatnonzero(kept)
    # Blocks are stored row by row or column by column. Either way, rows are copied in the order of memory.
    return block.take(places, axis=0) if block.flags.c_contiguous else block.T.take(places, axis=1).T


def _join(pieces: list[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], pa.Table):
        return pa.concat_tables(pieces)
    return np.concatenate([piece.T for piece in pieces], axis=1).T


@dataclass(frozen=True)
class SampledSource(Source):
    """The rows of a source that are in a sample. How many they are is never told."""

    parent: Source
    kept: Kept

    @property
    def columns(self) -> tuple[str, ...] | None:
        return self.parent.columns

    @property
    def n_rows(self) -> int:
        raise TypeError("How many rows are in a sample is not told.")

    @property
    def types(self) -> pa.Schema:
        return self.parent.types

    def blocks(self) -> Iterator[Any]:
        return sampled_blocks(enumerate(self.parent.blocks()), self.kept)

    def streams(self) -> list[Iterator[tuple[int, Any]]]:
        raise TypeError("Blocks of a sample have no numbers; sample the source that it was made from.")

    def sum(
        self,
        function: Callable[[Any], NDArray[Any]],
        *,
        finish: Callable[[Array], NDArray[np.int64]] | None = None,
        threads: int | None = None,
    ) -> NDArray[np.int64]:
        if threads is None and self.parent.is_small:
            threads = 1
        streams = [sampled_blocks(stream, self.kept) for stream in self.parent.streams()]
        return sum_over_streams(streams, block_function(function, finish), threads)

    def select(self, columns: Sequence[str]) -> Source:
        return SampledSource(self.parent.select(columns), self.kept)
