"""What may be asked of rows: a statistic is a bounded function of one row, summed.

Formal guarantees a statistic gives
-----------------------------------
1. ``block_sum(block)`` is the sum over the block's rows of a function t(row) that depends on nothing but the row and
   the statistic's own parameters, which are public or already private.
2. ``sensitivity(neighbors, norm)`` bounds how far the sum moves between neighbouring tables. The proof stands in the
   class's docstring, for both relations. ``sensitivity("add_remove", norm)`` is also the largest norm of t(row). The
   norm "linf", how far any one number moves, is for statistics that are chosen from (:mod:`tacit.release.choice`).
3. Both hold for *every* block of float64: NaN, infinities, 1e308, subnormals, no rows at all.
4. It is deterministic, picklable, and writes to nothing outside itself; several threads may call it at a time.
5. The bound holds for the numbers t(row) as computed. What summing them in floating point adds is the curator's
   business, see :mod:`tacit.release.curator`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from tacit.arrays import Array
from tacit.privacy import Relation

Norm = Literal["l1", "l2", "linf"]


@dataclass(frozen=True, eq=False)
class Measurement:
    """A private value with its noise: what an algorithm gets when it asks the curator.

    Parameters
    ----------
    value : array
        A noisy sum over rows.
    noise : float
        The scale of the noise on each of its numbers: the standard deviation of Gaussian noise, or the scale of Laplace
        noise; the least that it could be where it depends on rows.
    """

    value: Array
    noise: float


class Statistic(Protocol):
    """A bounded function of one row, summed over rows. See the module's docstring for what it must guarantee."""

    @property
    def size(self) -> int:
        """How many numbers the sum has."""

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block (rows, columns)."""

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return a bound on how far the sum moves between neighbouring tables."""
