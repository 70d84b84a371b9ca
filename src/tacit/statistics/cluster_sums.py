"""Sizes of clusters and sums of their rows within the public bounds: the statistic of DPLloyd and its variants."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.centres import Centres
from tacit.statistics.ranges import check_sizes


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Size of each cluster and sum of its rows, in units of the public bounds.

    Row x, whose nearest centre is c_k, contributes (count, mean * v) to cluster k alone, where v is x in units of the
    bounds, clipped: in a box, v_j is x_j / limits_j clipped at -1 and 1; in a ball, v is x / limits, shortened to
    length 1 if it is longer.

    Parameters
    ----------
    centres : Centres
        Already private.
    limits : (d,) array or float
        Half widths of a box around the origin, or the radius of a ball. They are public.
    count, mean : float
        Weights of cluster sizes and of sums. A part with weight 0 is left out.

    Notes
    -----
    Write a for the largest norm of v: in a box |v| <= sqrt(d) in l2 and d in l1; in a ball 1 in l2 and sqrt(d) in l1.
    **add_remove**: the sum moves by one row's (count, mean v), at most sqrt(count^2 + mean^2 a^2) in l2 and
    count + mean a in l1. **replace_one**: rows of different clusters touch different numbers, so squares of norms (l2)
    or norms (l1) add up: sqrt(2) times that, or 2 times. Rows of the same cluster leave its count alone and move its
    sum by at most 2 mean a. The larger of the two is the bound. A row with a cell that is no number, or infinite,
    contributes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> two = Centres(np.array([[-1.0, 0.0], [1.0, 0.0]]))
    >>> sums = ClusterSums(two, np.array([2.0, 1.0]))
    >>> sums.parts(sums.block_sum(np.array([[1.0, 0.5], [9.0, 0.25], [-1.0, 0.0]])))
    (array([1., 2.]), array([[-1.  ,  0.  ],
           [ 3.  ,  0.75]]))
    >>> round(sums.sensitivity("add_remove", "l1"), 4), round(sums.sensitivity("replace_one", "l1"), 4)
    (3.0, 6.0)
    """

    centres: Centres
    limits: Array | float
    count: float = 1.0
    mean: float = 1.0

    def __post_init__(self) -> None:
        limits = np.asarray(self.limits)
        if limits.shape not in ((), (self.centres.columns,)) or not ((limits > 0) & (limits < math.inf)).all():
            raise ValueError("limits must be a positive radius, or one positive half width for each column, finite.")
        check_sizes("The weights count and mean", (self.count, self.mean), or_zero=True)
        if not self.count + self.mean > 0:
            raise ValueError("At least one of the weights count and mean must be over 0.")

    @property
    def size(self) -> int:
        """Number of numbers that are released."""
        return self.centres.count * ((self.count > 0) + self.centres.columns * (self.mean > 0))

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by a relative 1e-12 for rounding within a row."""
        root = math.sqrt(self.centres.columns)
        longest = self.mean * (1.0 if np.ndim(self.limits) == 0 else root) * (root if norm == "l1" else 1.0)
        row = self.count + longest if norm == "l1" else math.hypot(self.count, longest)
        if neighbors == "replace_one":
            row = max(2 * longest, (2.0 if norm == "l1" else math.sqrt(2.0)) * row)
        return row * ROW_SLACK

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        block = block[np.isfinite(block).all(axis=1)]
        labels, number = self.centres.nearest(block), self.centres.count
        with np.errstate(over="ignore"):
            v = block / self.limits
        if np.ndim(self.limits):
            np.clip(v, -1.0, 1.0, out=v)
        else:
            np.clip(v, -1e150, 1e150, out=v)  # The squares of larger numbers overflow.
            v /= np.maximum(np.sqrt(np.einsum("rd,rd->r", v, v)), 1.0)[:, None]
        parts = []
        if self.count > 0:
            parts.append(self.count * np.bincount(labels, minlength=number))
        if self.mean > 0:
            parts.append(self.mean * np.stack([np.bincount(labels, cell, number) for cell in v.T], axis=1).ravel())
        return np.concatenate(parts)

    def parts(self, total: Array) -> tuple[Array, Array]:
        """Return a (noisy) total as cluster sizes (K,) and sums of rows (K, d) in their own units.

        A part with weight 0 is an empty array.
        """
        counts, sums = np.split(total, [self.centres.count * (self.count > 0)])
        if self.count > 0:
            counts = counts / self.count
        if self.mean > 0:
            sums = sums.reshape(self.centres.count, -1) * (self.limits / self.mean)
        return counts, sums
