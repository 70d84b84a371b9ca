"""Sums of the values between two ends, and how many they are: what a trimmed mean rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import OPERATION_SLACK
from tacit.statistics.ranges import check_sizes


@dataclass(frozen=True, eq=False)
class TrimmedSum:
    """For each column, how many cells lie within [low, high], and the sum of these, in units of half its width.

    A row with cells x_j contributes, for each column j, (count a_j, a_j u_j), where a_j is 1 if the cell is within the
    ends and 0 if not, and u_j = (x_j - middle_j) / half_j in [-1, 1]. A row with a cell that is NaN contributes
    nothing.

    Parameters
    ----------
    low, high : (d,) arrays
        The ends, low below high; public or private already.
    count : float, default 1
        The weight of the numbers of cells.

    Notes
    -----
    **One column.** **add_remove**: (count, u) or nothing: at most sqrt(count^2 + 1) in l2, count + 1 in l1 and the
    larger of count and 1 in linf. **replace_one**: if both cells are within, the counts cancel and |u - u'| <= 2; if
    one of them is, the change is that of a cell added; if none is, there is no change. So at most the larger of 2 and
    the bound for add_remove, in every norm. **d columns**: sqrt(d) times that in l2, d times in l1, and the same in
    linf, as every number belongs to one column.

    Examples
    --------
    >>> import numpy as np
    >>> total = TrimmedSum(np.array([0.0]), np.array([10.0]))
    >>> total.parts(total.block_sum(np.array([[2.0], [9.0], [1e300], [np.nan]])))
    (array([2.]), array([0.2]))
    >>> total.sensitivity("replace_one"), round(total.sensitivity("add_remove"), 4)
    (2.0, 1.4142)
    """

    low: Array
    high: Array
    count: float = 1.0

    def __post_init__(self) -> None:
        low, high = np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if low.ndim != 1 or not len(low) or high.shape != low.shape:
            raise ValueError(
                f"low and high must have one number for each column; shapes are {low.shape}, {high.shape}."
            )
        if not (np.isfinite(low) & np.isfinite(high)).all() or not (self.half > 0).all():
            raise ValueError("low and high must be finite, and low below high.")
        check_sizes("count", self.count)

    @property
    def middle(self) -> Array:
        """Half-way between the ends."""
        return self.low / 2 + self.high / 2

    @property
    def half(self) -> Array:
        """Half the distance of the ends."""
        return self.high / 2 - self.low / 2

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return 2 * len(self.low)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by rounding."""
        columns = len(self.low)
        one = {"l1": self.count + 1, "l2": math.hypot(self.count, 1), "linf": max(self.count, 1.0)}[norm]
        if neighbors == "replace_one":
            one = max(2.0, one)
        times = {"l1": float(columns), "l2": math.sqrt(columns), "linf": 1.0}[norm]
        return one * times * (1.0 if columns == 1 and neighbors == "replace_one" else OPERATION_SLACK)

    def block_sum(self, block: Array) -> Array:
        """Return the sums over the rows of a block."""
        with np.errstate(all="ignore"):
            there = np.logical_not(np.any(np.isnan(block), axis=1))
            kept = (block >= self.low) & (block <= self.high) & np.reshape(there, (-1, 1))
            units = np.clip((block - self.middle) / self.half, -1.0, 1.0)
        return np.concatenate([self.count * kept.sum(axis=0), np.where(kept, units, 0.0).sum(axis=0)])

    def parts(self, total: Array) -> tuple[Array, Array]:
        """Return a (noisy) total as numbers of cells and sums in units of half the width, by column."""
        counts, sums = np.split(total, 2)
        return counts / self.count, sums
