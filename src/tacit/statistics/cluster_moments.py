"""Moments of each cluster's rows about its centre, clipped at its radius: the statistic of adaptive k-means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.centres import Centres
from tacit.statistics.moments.component_moments import moment_sensitivity, numbers_in_second_moment, triangle
from tacit.statistics.ranges import check_sizes


@dataclass(frozen=True, eq=False)
class ClusterMoments:
    """Size, mean and second moment of each cluster's rows, about its centre and in units of its own clip radius.

    Row x, whose nearest centre is c_k, contributes to that cluster alone

        t(x) = ( count,  mean * v,  second * S(v) ),    v = clip(x - c_k, radius_k) / radius_k,

    where clip shortens a vector to length radius_k if it is longer, and S(v) is

    - "full": the upper triangle of v v', off-diagonal entries times sqrt(2), so that |S(v)| = |v|^2;
    - "diag": the squares of v;
    - "spherical": |v|^2.

    Parameters
    ----------
    centres : Centres
        Already private.
    radii : (K,) array
        Clip radius of each cluster, already private.
    count, mean, second : float
        Positive weights of cluster sizes, means and second moments. Every number released has the same noise, so a part
        with a larger weight has less noise in its own units.
    covariance_type : {"full", "diag", "spherical"}

    Notes
    -----
    Write B^2 = count^2 + mean^2 + second^2. As |v| <= 1 and |S(v)| <= |v|^2 <= 1, |t(x)| <= B. **add_remove**: the sum
    moves by t(x), at most B.

    **replace_one**: the sum moves by t(x) - t(x'), of squared length |t|^2 + |t'|^2 - 2 <t, t'>. If the rows are in
    different clusters they touch different numbers, <t, t'> = 0. If in the same, with u = <v, v'> in [-1, 1],
    <S(v), S(v')> >= u^2 (full: equality; spherical: |v|^2 |v'|^2 >= u^2), so

        <t, t'> >= g(u) = count^2 + mean^2 u + second^2 u^2,    and |t - t'|^2 <= 2 B^2 + 2 max(0, -min g over [-1, 1]).

    When mean^2 <= 2 count second, g is never negative and the bound is sqrt(2) B. This is ``moment_sensitivity``, as
    for a mixture's moments, of which these are the case of responsibilities that are 0 or 1. The numbers of "diag" are
    some of those of "full", so they move no further.

    **l1**: a vector of m numbers has l1 norm at most sqrt(m) times its l2 norm: v at most sqrt(d), and S of "full",
    with m = d (d + 1) / 2, at most sqrt(m). The numbers of "diag" and "spherical" add up to |v|^2 <= 1. So a row's norm
    is at most count + mean sqrt(d) + second sqrt(m), with m = 1 for the latter two; a replaced row can do that twice.

    v is computed from the difference x - c_k itself, so rounding cannot lengthen it by more than a few units in the
    last place. A row with NaN, or so far out that its squared length overflows, contributes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> two = Centres(np.array([[-1.0, 0.0], [1.0, 0.0]]))
    >>> moments = ClusterMoments(two, np.array([1.0, 2.0]), covariance_type="spherical")
    >>> counts, sums, squares = moments.parts(moments.block_sum(np.array([[1.5, 0.0], [1.0, -1.0], [-9.0, 0.0]])))
    >>> counts, sums.round(9), squares.round(9)
    (array([1., 2.]), array([[-1. ,  0. ],
           [ 0.5, -1. ]]), array([1.  , 1.25]))
    >>> round(moments.sensitivity("add_remove"), 4), round(moments.sensitivity("replace_one"), 4)
    (1.7321, 2.4495)
    """

    centres: Centres
    radii: Array
    count: float = 1.0
    mean: float = 1.0
    second: float = 1.0
    covariance_type: Literal["full", "diag", "spherical"] = "full"

    def __post_init__(self) -> None:
        if self.radii.shape != (self.centres.count,):
            raise ValueError("There must be one radius for each centre.")
        check_sizes("Radii", self.radii)
        check_sizes("The weights count, mean and second", (self.count, self.mean, self.second))

    @property
    def size(self) -> int:
        """Number of numbers that are released."""
        return self.centres.count * (1 + self.centres.columns + self._seconds)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by a relative 1e-12 for rounding within a row."""
        if norm == "l2":
            return moment_sensitivity(self.count, self.mean, self.second, neighbors)
        seconds = self._seconds if self.covariance_type == "full" else 1
        row = self.count + self.mean * math.sqrt(self.centres.columns) + self.second * math.sqrt(seconds)
        return (row if neighbors == "add_remove" else 2 * row) * ROW_SLACK

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        columns, rows = self.centres.columns, len(block)
        labels = self.centres.short_labels(block)
        counts = np.bincount(labels, minlength=self.centres.count)
        order = np.argsort(labels, kind="stable")
        by_cluster = block.T.take(order, axis=1) if len(counts) > 1 else block.T
        clusters = [slice(end - count, end) for end, count in zip(np.cumsum(counts).tolist(), counts.tolist())]
        # The differences x - c are stored column by column, with one or two more numbers for each row, because products
        # of an even number of columns take less time. The number of rows is padded to a multiple of ROWS_AT_ONCE, so
        # that squares are computed alike at every place.
        lifted = np.empty((columns + 2 - columns % 2, rows + -rows % ROWS_AT_ONCE))
        lifted[:, rows:] = lifted[columns:] = 0.0
        differences = lifted[:columns]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(by_cluster, self.centres.points.T.repeat(counts, axis=1), out=differences[:, :rows])
            squares = np.einsum("dr,dr->r", differences, differences)[:rows]
        usable = np.isfinite(squares)
        if not usable.all():
            return self.block_sum(block[np.sort(order[usable])])
        scale = 1.0 / np.maximum(np.sqrt(squares), self.radii.repeat(counts))  # v is x - c times this scale.
        lifted, differences = lifted[:, :rows], differences[:, :rows]
        if self.covariance_type == "full":
            differences *= scale
            lifted[columns] = 1.0
            moments = np.array([mine @ mine.T for mine in (lifted[:, cluster] for cluster in clusters)])
            upper, cols, weights = triangle(columns)
            sums, seconds = moments[:, columns, :columns], moments[:, upper, cols] * weights
        else:
            lifted[columns] = squares * scale
            if self.covariance_type == "diag":
                lifted = np.concatenate([differences, differences * differences * scale])
            moments = np.array([lifted[:, cluster] @ scale[cluster] for cluster in clusters])
            sums, seconds = moments[:, :columns], moments[:, columns : columns + self._seconds]
        return np.concatenate([self.count * counts, self.mean * sums.ravel(), self.second * seconds.ravel()])

    def parts(self, total: Array) -> tuple[Array, Array, Array]:
        """Return a (noisy) total as cluster sizes (K,), sums of clip(x - c_k) (K, d), and sums of second moments.

        Second moments are (K, d, d) for full, (K, d) for diag and (K,) for spherical. All are in the units of the rows.
        """
        number, columns = self.centres.count, self.centres.columns
        counts, sums, squares = np.split(total, [number, number * (1 + columns)])
        sums = sums.reshape(number, columns) * (self.radii / self.mean)[:, None]
        squares = squares.reshape(number, -1) * (self.radii**2 / self.second)[:, None]
        if self.covariance_type == "spherical":
            return counts / self.count, sums, squares[:, 0]
        if self.covariance_type == "diag":
            return counts / self.count, sums, squares
        rows, cols, weights = triangle(columns)
        matrices = np.zeros((number, columns, columns))
        matrices[:, rows, cols] = matrices[:, cols, rows] = squares / weights
        return counts / self.count, sums, matrices

    @property
    def _seconds(self) -> int:
        return numbers_in_second_moment(self.covariance_type, self.centres.columns)
