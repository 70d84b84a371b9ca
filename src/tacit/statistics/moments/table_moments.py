"""Moments of a table's rows under a mixture of products: numbers clipped, levels counted, missing cells expected."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.messages import describe
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.moments.component_moments import (
    ComponentMoments,
    CovarianceType,
    moment_sensitivity,
    numbers_in_second_moment,
    pack_seconds,
)
from tacit.statistics.ranges import check_sizes
from tacit.statistics.table_components import EStep, TableComponents


@dataclass(frozen=True, eq=False)
class TableMoments:
    """Count, mean, second moment and levels of each component's rows.

    Row x with responsibilities r_k contributes, for all k together,

        t(x) = ( count r_k,  mean r_k v_k,  second r_k S(M_k),  level_weight r_k o_kj / sqrt(J) for j = 1, ..., J ).

    The first two are as in :class:`ComponentMoments`, on the d columns of numbers, and so is the third for rows without
    missing numbers, with M = v v'. The last is of the J columns with levels: o_kj is 1 at the row's level of column j
    and 0 at its others.

    Missing cells, if they are to be modelled, count as what component k expects of them. A missing level: o_kj are the
    component's probabilities of the levels. With m numbers missing, y_k is the row's mean given what is observed and

        M_k = v_k v_k' + fill (I - QQ') / radius^2

    has the conditional covariance too (``TableComponents``). Such a row is clipped at a smaller radius.

    Parameters
    ----------
    components : TableComponents
        The current, already private parameters.
    radius : float
        The clip radius of rows.
    count, mean, second, level_weight : float
        Weights of the four parts, positive.
    covariance_type : {"full", "tied", "diag", "spherical"}
    missing : bool
        Whether missing cells are modelled. If not, rows that have some contribute nothing.
    fill : float
        The part of the expected scatter of a missing number that counts, up to 1. It should be the part that clipping
        leaves of the scatter of other numbers.

    Notes
    -----
    **One row.** v = clip(y, c) / radius, with c = radius for complete rows. I - QQ' is a projection of rank m. "full",
    "tied", "diag": v v' and I - QQ' are orthogonal to each other (v is in the range of Q), so
    |M|_F^2 = |v|^4 + fill^2 m / radius^4, and c^4 = radius^4 - fill^2 m makes it at most 1; "diag" has some of these
    numbers. "spherical": S(M) = tr M = |v|^2 + fill m / radius^2, at most 1 as c^2 = radius^2 - fill m. Both take a
    radius that leaves something to clip at: ``least_radius``. Either way |v| <= 1. The vectors o_kj have no negative
    entries and add up to 1, so the last part's squared length is at most level_weight^2 r_k^2. In all,
    |t|^2 <= B^2 := count^2 + mean^2 + second^2 + level_weight^2: **add_remove**.

    **replace_one.** Let M = v v' + F and M' = w w' + G be those of two rows, u = <v, w>. F and G are positive
    semidefinite, hence <M, M'> = u^2 + v'Gv + w'Fw + <F, G> >= u^2, and tr M tr M' >= |v|^2 |w|^2 >= u^2. Inner
    products of the last parts are not negative. So <t, t'> >= sum_k r_k r'_k g(u_k) with g as for ``ComponentMoments``,
    where the proof goes on: |t - t'|^2 <= 2 B^2 + 2 max(0, -min g). Tied: sum_kl r_k r'_l <M_k, M'_l> is no less than
    its terms k = l, as the others are not negative either.

    **l1.** count + mean sqrt(d) + second sqrt(m) + level_weight sqrt(J), with m numbers in a second moment; twice that
    for a replaced row.

    **As computed.** Where Q is that of a nearly singular factor, v is in its range up to rounding all the same
    (``TableComponents``), off by a vector e of some units in the last place. Then <v v', I - QQ'> = |(I - QQ') e|^2 is
    of the second order, and ``ROW_SLACK`` covers it. Missing levels count as probabilities that add up to 1 up to
    rounding. Radii and weights are such that no square of them overflows or vanishes (:mod:`tacit.statistics.ranges`).

    A row that overflows belongs to no component and contributes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import Components, TableComponents, TableLayout
    >>> one = Components(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> table = TableComponents(TableLayout((0,), ((1,),)), one, np.array([[0.5, 0.5]]))
    >>> moments = TableMoments(table, radius=3.0, missing=True)
    >>> total = moments.block_sum(np.array([[1.0, -1.0], [np.nan, 1.0], [2.0, np.nan]]))
    >>> [part.round(9).tolist() for part in moments.parts(total)]
    [[3.0], [[3.0]], [[[6.0]]]]
    >>> moments.level_sums(total).round(9)
    array([[1.5, 1.5]])
    >>> round(moments.sensitivity("add_remove"), 4), round(moments.sensitivity("replace_one"), 4)
    (2.0, 2.8284)
    """

    components: TableComponents
    radius: float
    count: float = 1.0
    mean: float = 1.0
    second: float = 1.0
    level_weight: float = 1.0
    covariance_type: CovarianceType = "full"
    missing: bool = False
    fill: float = 1.0
    _numbers: ComponentMoments = field(init=False, repr=False)

    def __post_init__(self) -> None:
        weights = (self.count, self.mean, self.second, self.level_weight)
        check_sizes("The weights count, mean, second and level_weight", weights)
        if not 0 <= self.fill <= 1:
            raise ValueError(f"fill must be from 0 to 1, and it is {describe(self.fill)}.")
        least = least_radius(self.components.columns, self.covariance_type)
        if self.missing and self.radius < least:
            raise ValueError(
                f"With missing cells the radius must be {least:g} or more, and it is {describe(self.radius)}."
            )
        object.__setattr__(
            self, "_numbers", self._moments_of_numbers()
        )  # It makes its own checks, before any row is read.

    def _moments_of_numbers(self) -> ComponentMoments:
        gaussians, kind = self.components.gaussians, self.covariance_type
        return ComponentMoments(gaussians, self.radius, self.count, self.mean, self.second, kind)

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return self._numbers.size + self.components.probabilities.size

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes."""
        columns, levels = self.components.columns, len(self.components.layout.levels)
        mean, second = (self.mean, self.second) if columns else (0.0, 0.0)
        level_weight = self.level_weight if levels else 0.0
        if norm == "l2":
            return moment_sensitivity(self.count, mean, second, neighbors, level_weight)
        numbers = numbers_in_second_moment(self.covariance_type, columns)
        row = self.count + mean * math.sqrt(columns) + second * math.sqrt(numbers) + level_weight * math.sqrt(levels)
        return ROW_SLACK * row * (1 if neighbors == "add_remove" else 2)

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        numbers, levels = np.zeros(self._numbers.size), np.zeros(self.components.probabilities.shape)
        with_gaps: Array | float = 0.0  # (K, patterns): the sum of responsibilities of the rows with each pattern.
        patterns = np.empty((0, self.components.columns), dtype=np.bool_)
        for rows in self.components.e_step(block, self.missing):
            levels += self.components.level_sums(rows.codes, rows.responsibilities)
            if rows.gaps is not None:
                patterns = rows.patterns  # They are the same for all pieces of a block.
                with_gaps += rows.responsibilities @ (rows.gaps[:, None] == np.arange(len(patterns))).astype(np.float64)
            lengths2 = np.maximum(rows.distances * self._stretch(rows), self.radius**2)
            moments = self._numbers.weighted_moments(rows.lifted, rows.distances, rows.responsibilities, lengths2)
            numbers += np.concatenate(moments)
        if len(patterns):
            numbers += self._expected_scatter(patterns, np.asarray(with_gaps))
        weight = self.level_weight / math.sqrt(max(1, len(self.components.layout.levels)))
        return np.concatenate([numbers, weight * levels.ravel()])

    def parts(self, total: Array) -> tuple[Array, Array, Array]:
        """Return counts, sums and second moments of the numbers, as :meth:`ComponentMoments.parts` does."""
        return self._numbers.parts(total[: self._numbers.size])

    def level_sums(self, total: Array) -> Array:
        """Return how many rows of each component have each level, (K, all levels)."""
        weight = math.sqrt(max(1, len(self.components.layout.levels))) / self.level_weight
        return weight * total[self._numbers.size :].reshape(self.components.probabilities.shape)

    def _stretch(self, rows: EStep) -> Array | float:
        """Return (radius / c)^2, c being where rows are clipped: over 1, if numbers are filled in."""
        if rows.gaps is None:
            return 1.0
        missing: Array = rows.patterns.sum(axis=1)[rows.gaps].astype(np.float64)
        filled = self.fill / self.radius**2
        if self.covariance_type == "spherical":
            return 1.0 / (1.0 - filled * missing)
        return 1.0 / np.sqrt(1.0 - filled**2 * missing)

    def _expected_scatter(self, patterns: NDArray[np.bool_], counts: Array) -> Array:
        """Return the sum of the scatter expected of missing numbers; `counts` (K, patterns) are numbers of rows."""
        scatter = np.zeros((self.components.count, self.components.columns, self.components.columns))
        for pattern, members in zip(patterns, counts.T):
            scatter += members[:, None, None] * self.components.marginal(pattern).beyond
        seconds = pack_seconds(scatter, self.covariance_type) * (self.second * self.fill / self.radius**2)
        return np.concatenate([np.zeros(self._numbers.size - len(seconds)), seconds])


def least_radius(columns: int, kind: CovarianceType) -> float:
    """Return the least radius at which rows with missing numbers can be clipped.

    Examples
    --------
    >>> round(least_radius(8, "full"), 6), round(least_radius(8, "spherical"), 6)
    (2.0, 4.0)
    """
    return math.sqrt(2 * columns) if kind == "spherical" else (2 * columns) ** 0.25
