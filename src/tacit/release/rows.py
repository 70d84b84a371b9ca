"""What a curator needs of where rows live; :class:`tacit.sources.Source` has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.release.sampling import PoissonSample, Share

_Out = TypeVar("_Out")


class Rows(Protocol):
    """What a curator needs of a source: exact integer sums over blocks of at most ``BLOCK_ROWS`` rows."""

    @property
    def local(self) -> bool:
        """Whether blocks can be had here; rows on a cluster stay there."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    def sum(
        self,
        function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        *,
        finish: Callable[[NDArray[np.float64]], NDArray[np.int64]],
    ) -> NDArray[np.int64]:
        """Add up ``finish(function(block))`` over all blocks; of a wide block, `function` may be added up in strips."""

    def map(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Rows:
        """Return the same rows with `function` applied to every block, lazily."""

    def held(self) -> Rows:
        """Return the same rows, mapped once and for all where memory allows."""

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """Yield the blocks, for statistics that are no sums."""

    def sampled(self, kept: PoissonSample | Share) -> Rows:
        """Return the rows that are in a sample, or in a share."""


def quietly(function: Callable[[NDArray[np.float64]], _Out]) -> Callable[[NDArray[np.float64]], _Out]:
    """Return the function without numpy's warnings; set inside it, because it runs on other threads."""

    def quiet(block: NDArray[np.float64]) -> _Out:
        with np.errstate(all="ignore"):
            return function(block)

    return quiet
