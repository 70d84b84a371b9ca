"""Mean and variance of each column by itself, clipped column by column."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.kernels import CACHE_NUMBERS
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.ranges import check_sizes


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Count, sums and sums of squares of each column, in coordinates where a clipped cell lies in [-1, 1].

    Row x contributes, with u_j = clip((x_j - centre_j) / half_width_j, -1, 1),

        t(x) = ( count,  mean * u_j / sqrt(d),  second * u_j^2 / sqrt(d) ),    j = 1, ..., d.

    Clipping columns rather than rows is what makes this worth a statistic of its own: squares of a row inside a ball of
    radius sqrt(d) can have length d, all of it in one column, and these have length sqrt(d). So variances come with
    sqrt(d) times less noise than the diagonal of ``ComponentMoments`` has.

    Parameters
    ----------
    centre, half_width : (d,) arrays
        Cells are clipped at centre +- half_width. Both are public or already private, and half widths are positive.
    count, mean, second : float
        Weights of the three parts, positive; with a count of 0 it is left out.

    Notes
    -----
    **add_remove**: the d numbers u_j / sqrt(d) have squares that add up to at most 1, and so have u_j^2 / sqrt(d).
    Hence |t|^2 <= count^2 + mean^2 + second^2.

    **replace_one**: if one of the two rows contributes nothing, this is the case above. If both contribute, the count
    stays. With p = |u - u'| and s = |u + u'| of one column, u^2 - u'^2 is p s in absolute value, and
    p + s = 2 max(|u|, |u'|) <= 2, so the column adds to |t - t'|^2

        ( mean^2 p^2 + second^2 p^2 s^2 ) / d <= h(p) / d,    h(p) = p^2 (mean^2 + second^2 (2 - p)^2),  0 <= p <= 2,

    and d columns add at most the most that h can be. With r = mean^2 / second^2, h' / (2 p) is
    second^2 (r + 2 (2 - p)(1 - p)): for r < 1/2 it turns negative at p = (3 - sqrt(1 - 2 r)) / 2 and positive again
    before p = 2, and otherwise it is never negative. So the most is h there, or h(2) = 4 mean^2. The bound is the
    larger of the two cases. For mean = 0.6 and second = 1 the most is 1.44, where an added row has 1.36: a replaced one
    costs little more, as squares are positive.

    **l1**: u_j / sqrt(d) add up to at most sqrt(d), and so do their squares; a replaced row moves sums by at most twice
    that, and squares by at most once, as they lie in [0, 1].

    A row with a NaN contributes nothing; an infinite cell is clipped like any other.

    Examples
    --------
    >>> import numpy as np
    >>> columns = ColumnMoments(np.zeros(2), np.array([2.0, 10.0]), count=1.0)
    >>> counts, means, squares = columns.parts(columns.block_sum(np.array([[1.0, 20.0], [-1.0, 5.0]])))
    >>> counts.round(9), means.round(9), squares.round(9)
    (array([2.]), array([ 0., 15.]), array([  2., 125.]))
    >>> round(columns.sensitivity("add_remove"), 3), round(columns.sensitivity("replace_one"), 3)
    (1.536, 1.536)
    """

    centre: Array
    half_width: Array
    count: float = 0.0
    mean: float = 0.6
    second: float = 1.0

    def __post_init__(self) -> None:
        if self.centre.shape != self.half_width.shape or self.centre.ndim != 1:
            raise ValueError("centre and half_width must be one number for each column.")
        if not (np.isfinite(self.centre).all() and (self.half_width > 0).all() and np.isfinite(self.half_width).all()):
            raise ValueError("centres must be finite, and half widths positive and finite.")
        check_sizes("The weight count", self.count, or_zero=True)
        check_sizes("The weights mean and second", (self.mean, self.second))

    @property
    def columns(self) -> int:
        """How many columns the rows have."""
        return len(self.centre)

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return (self.count > 0) + 2 * self.columns

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding within a row."""
        if norm == "l1":
            root = math.sqrt(self.columns)
            row = self.count + (self.mean + self.second) * root
            bound = row if neighbors == "add_remove" else max(row, (2 * self.mean + self.second) * root)
        else:
            row2 = self.count**2 + self.mean**2 + self.second**2
            bound = math.sqrt(row2 if neighbors == "add_remove" else max(row2, self._furthest()))
        return bound * ROW_SLACK

    def _furthest(self) -> float:
        """Return the most of h over [0, 2]; see the notes."""
        ratio = (self.mean / self.second) ** 2
        turn = (3 - math.sqrt(1 - 2 * ratio)) / 2 if ratio < 0.5 else 2.0
        return max(4 * self.mean**2, turn**2 * (self.mean**2 + self.second**2 * (2 - turn) ** 2))

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        rows = max(1, CACHE_NUMBERS // self.columns)
        total = np.zeros((2, self.columns))
        kept = 0
        for start in range(0, len(block), rows):
            with np.errstate(over="ignore", invalid="ignore"):
                cells = block[start : start + rows] - self.centre
                cells /= self.half_width
                gaps = np.isnan(cells.sum())  # Infinities come here, too, and do no harm.
            if gaps:
                cells = cells[~np.isnan(cells).any(axis=1)]
            np.clip(cells, -1.0, 1.0, out=cells)
            kept += len(cells)
            total[0] += cells.sum(axis=0)
            total[1] += np.einsum("rd,rd->d", cells, cells)
        root = math.sqrt(self.columns)
        moments = (total * [[self.mean / root], [self.second / root]]).ravel()
        return np.append(self.count * kept, moments) if self.count > 0 else moments

    def parts(self, total: Array) -> tuple[Array, Array, Array]:
        """Return a (noisy) total as the count (empty if it has no weight), and sums of x - centre and its square."""
        counts, sums, squares = np.split(total, [self.size - 2 * self.columns, self.size - self.columns])
        root = math.sqrt(self.columns)
        if self.count > 0:
            counts = counts / self.count
        return counts, sums * root * self.half_width / self.mean, squares * root * self.half_width**2 / self.second
