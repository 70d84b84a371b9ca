"""What a curator needs of where rows live; :class:`tacit.sources.Source` has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.release.sampling import PoissonSample, Share

_Out = TypeVar("_Out")


class Rows(Protocol):
    """What a curator needs of a source: exact integer sums over blocks of at most ``BLOCK_ROWS`` rows."""

    @property
    def local(self) -> bool:
        """Whether this process can read blocks; rows on a cluster stay there."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    def sum(
        self,
        function: Callable[[Array], Array],
        *,
        finish: Callable[[Array], NDArray[np.int64]],
    ) -> NDArray[np.int64]:
        """Add up ``finish(function(block))`` over all blocks. A wide block may be passed to `function` in strips."""

    def map(self, function: Callable[[Array], Array]) -> Rows:
        """Return the same rows with `function` applied to every block, lazily."""

    def hold(self) -> Rows:
        """Return the same rows, mapped once and for all if memory allows."""

    def blocks(self) -> Iterator[Array]:
        """Yield the blocks, for statistics that are no sums."""

    def sample(self, kept: PoissonSample | Share) -> Rows:
        """Return the rows that are in a sample, or in a share."""


def quietly(function: Callable[[Array], _Out]) -> Callable[[NDArray[np.float64]], _Out]:
    """Return the function without numpy's warnings; set inside it, because it runs on other threads."""

    def quiet(block: Array) -> _Out:
        with np.errstate(all="ignore"):
            return function(block)

    return quiet
