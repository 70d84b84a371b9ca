"""Some of the rows of a source, chosen by where they are found and never by what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.sources.source import Source

Kept = Callable[[tuple[int, int], int], NDArray[np.bool_]]
"""Which rows of a block are kept, by its partition, its number there, and how many rows it has."""


def chosen(block: Any, kept: NDArray[np.bool_]) -> Any:
    """Return the rows of a block that are kept."""
    return block.filter(pa.array(kept)) if isinstance(block, pa.Table) else block[kept]


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
        return (block for _, block in self._chosen(enumerate(self.parent.blocks())))

    def streams(self) -> list[Iterator[tuple[int, Any]]]:
        return [self._chosen(stream) for stream in self.parent.streams()]

    def _chosen(self, stream: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        for number, block in stream:
            yield number, chosen(block, self.kept((0, number), len(block)))

    def select(self, columns: Sequence[str]) -> Source:
        return SampledSource(self.parent.select(columns), self.kept)
