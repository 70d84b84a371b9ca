"""Rows that regressions predict badly, by how badly: what clipping of scores hides of the residuals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.ranges import check_sizes
from tacit.statistics.scores.regression_scores import RegressionScores

_PIECE = 32 * ROWS_AT_ONCE  # The number of rows that are worked on at a time, so that they stay in the cache.


@dataclass(frozen=True, eq=False)
class FarResiduals:
    """Rows by the size of their residual under each of K regressions, in bins of half powers of two.

    A row adds its responsibility r_k to the bin of component k that has |e_k|, the residual in units of the scale. The
    first bin is from ``least`` to sqrt(2) times that, and so on. The last has all that are larger, and smaller
    residuals add nothing.

    Parameters
    ----------
    scores : RegressionScores
        Already private.
    least : float
        The residual from which rows are far.
    bins : int

    Notes
    -----
    A row adds numbers from 0 up that add up to at most 1, as its responsibilities do: its l1 norm is at most 1, and so
    is its l2 norm. **add_remove**: the sum moves by at most 1. **replace_one**: contributions have no negative numbers,
    so the inner product of two is at least 0, and |t - t'|^2 <= |t|^2 + |t'|^2 <= 2; in l1 at most 2. A row that cannot
    be measured (``RegressionScores.e_step``) adds nothing.

    Examples
    --------
    >>> import numpy as np
    >>> one = RegressionScores(np.ones(1), np.array([[0.0, 2.0]]), np.ones(1), np.zeros(1), np.eye(1), 3.0)
    >>> far = FarResiduals(one, least=2.0, bins=3)
    >>> far.parts(far.block_sum(np.array([[1.0, 2.5], [1.0, 5.0], [0.0, -90.0]]))).ravel()
    array([0., 1., 1.])
    """

    scores: RegressionScores
    least: float
    bins: int

    def __post_init__(self) -> None:
        check_sizes("The least residual", self.least)

    @property
    def starts(self) -> Array:
        """The residual at which each bin begins, (bins,)."""
        starts: Array = self.least * 2.0 ** (np.arange(self.bins) / 2)
        return starts

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return self.bins * self.scores.count

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding within a row."""
        replaced = 2.0 if norm == "l1" else math.sqrt(2.0)
        return (replaced if neighbors == "replace_one" else 1.0) * ROW_SLACK

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        total = np.zeros((self.bins, self.scores.count))
        for start in range(0, len(block), _PIECE):
            lifted, _, responsibilities = self.scores.e_step(block[start : start + _PIECE])
            places = np.searchsorted(self.starts, np.abs(lifted[:, 1]), side="right") - 1
            for k, place in enumerate(places):
                far = place >= 0
                total[:, k] += np.bincount(place[far], responsibilities[k, far], minlength=self.bins)
        return total.ravel()

    def parts(self, total: Array) -> Array:
        """Return a (noisy) total as (bins, K)."""
        return total.reshape(self.bins, -1)
