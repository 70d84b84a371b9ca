"""Estimates from many small blocks of rows, and what they have in common: sample and aggregate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.messages import describe
from tacit.release.smooth import SmoothStatistic
from tacit.rounding import SMOOTH_SLACK, SMOOTHNESS_SLACK
from tacit.statistics.ranges import check_sizes

_FINENESS = 40  # The radius has 2^40 steps of the lattice.
_LARGEST = 1e40  # Cells are cut off here, so that sums of squares are finite.
_RIDGE = 1e-10  # This part of the mean square is added, so that every block has a solution.
_MOST_PARTS = 4096  # The largest default number of groups, because time and memory grow with its square.

Dealt = tuple[Array, NDArray[np.int64]]
"""Rows, and the numbers of the groups that they are dealt to."""


@dataclass(frozen=True, eq=False)
class BlockSquares(SmoothStatistic):
    """The mean of least-squares coefficients of disjoint groups of rows, each brought inside a ball.

    Rows are dealt out into groups by secret bits: one row has a say in one group.

    Parameters
    ----------
    columns : int
        How many inputs rows have, before the target.
    rows : int
        How many rows there are, public.
    radius : float
        The radius of the ball that coefficients are known to lie in.
    intercept : bool, default True
    parts : int, optional
        How many groups; by default one for every five rows per coefficient.

    Notes
    -----
    Coefficients of a group are computed from its rows alone, sorted first, so that they are a function of the multiset
    of its rows to the last bit; they are finite, as cells are cut off and a very small ridge is added, so that no pivot
    is zero; they are brought inside the ball and rounded to a lattice of 2^-40 radii. Replacing a row moves one of m
    points, by less than 2 radii (1 + 2^-30): the mean by at most that over m. It is a sum of integers, and exact.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 1))
    >>> rows = np.column_stack([X, 3 * X + rng.normal(size=(2000, 1))])
    >>> dealt = rows, np.arange(2000) % 20
    >>> values, bounds = BlockSquares(1, 2000, 5.0, False, parts=20).answer([dealt], smoothness=0.0)
    >>> float(values[0]).__round__(1), bounds.round(3)
    (3.0, array([0.5]))
    """

    columns: int
    rows: int
    radius: float
    intercept: bool = True
    parts: int | None = None

    def __post_init__(self) -> None:
        if self.parts is not None and not 1 <= self.parts <= self.rows:
            raise ValueError(f"parts must be from 1 to the number of rows, and it is {describe(self.parts)}.")
        check_sizes("radius", self.radius)

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return self.columns + self.intercept

    @property
    def low(self) -> Array:  # type: ignore[override]
        """Minus the radius."""
        return np.full(self.size, -self.radius)

    @property
    def high(self) -> Array:  # type: ignore[override]
        """The radius."""
        return np.full(self.size, self.radius)

    @property
    def diameter(self) -> float:
        """What no two points are farther apart than."""
        return 2 * self.radius * (1 + 2.0**-30)

    def groups(self, smoothness: float) -> int:
        """Return how many groups there are."""
        return self.parts or max(1, self.rows // (5 * self.size))

    def least(self, smoothness: float) -> float:
        """Return how far one point moves the mean."""
        return self.diameter / self.groups(smoothness)

    def answer(self, blocks: Iterable[Dealt], smoothness: float) -> tuple[Sequence[Fraction], Array]:
        """Return the mean of the points, and how far one of them moves it."""
        points = self.points(blocks, self.groups(smoothness))
        means = [Fraction(sum(column), len(points)) * self._step for column in points.T.tolist()]
        return self._inside(means), np.full(self.size, self.least(smoothness))

    def points(self, blocks: Iterable[Dealt], parts: int) -> NDArray[np.int64]:
        """Return each group's coefficients (parts, size), in steps of a lattice."""
        dealt = [(self._usable(block), groups) for block, groups in blocks]
        rows, groups = (np.concatenate(pieces) for pieces in zip(*dealt))
        if len(rows) != self.rows:
            raise ValueError(f"There are {len(rows)} rows, and {self.rows} were said to be there.")
        order = np.lexsort((*rows.T, groups))  # By group, and by all columns within a group.
        ends = np.searchsorted(groups[order], np.arange(parts + 1))
        grams = np.empty((parts, self.size + 1, self.size + 1))
        for group in range(parts):
            mine = rows[order[ends[group] : ends[group + 1]]]
            grams[group] = mine.T @ mine
        inner = grams[:, :-1, :-1]
        ridge = _RIDGE * np.trace(inner, axis1=1, axis2=2) / self.size + 1e-100
        solutions = np.linalg.solve(inner + ridge[:, None, None] * np.eye(self.size), grams[:, :-1, -1:])[..., 0]
        solutions = np.clip(np.nan_to_num(solutions / self.radius), -1e100, 1e100)
        lengths = np.sqrt((solutions * solutions).sum(axis=1))
        inside = solutions / np.maximum(lengths, 1.0)[:, None]
        places: NDArray[np.int64] = np.rint(np.ldexp(inside, _FINENESS)).astype(np.int64)
        return places

    def _usable(self, block: Array) -> Array:
        """Return rows cut off, with a 1 for the intercept; those with a missing cell are zero."""
        lost: NDArray[np.bool_] = np.any(np.isnan(block), axis=1, keepdims=True)
        rows = np.where(lost, 0.0, np.clip(block, -_LARGEST, _LARGEST))
        return np.column_stack([np.ones(len(rows)), rows]) if self.intercept else rows

    @property
    def _step(self) -> Fraction:
        return Fraction(float(self.radius)) / Fraction(2**_FINENESS)

    def _inside(self, values: Sequence[Fraction]) -> Sequence[Fraction]:
        radius = Fraction(float(self.radius))
        return [min(max(value, -radius), radius) for value in values]


@dataclass(frozen=True, eq=False)
class BlockCentre(BlockSquares):
    """The one of these coefficients that most others are nearest to, with a smooth bound on how far a row moves it.

    Of Nissim, Raskhodnikova and Smith (2007), as Wang, Xiao, Devadas and Xu (2020, Algorithm 1) use it, corrected.

    Parameters
    ----------
    columns, rows, radius, intercept
        As in :class:`BlockSquares`.
    parts : int, optional
        m; by default 4 log(n / 10) / smoothness, which makes the least bound 20 / n of the ball's diameter, as far as
        there are two rows for each coefficient, and at most 4096.

    Notes
    -----
    Points z_1, ..., z_m, of which one row moves one, lie in a ball of diameter D. Let r_i(k) be the distance of z_i to
    its k-th nearest point, itself the first; D for k > m. Let h = floor((m + 1) / 2) + 1, a = ceil(4 / t), and R(k) the
    mean of the a smallest r_i(k). The answer g is a z_i with the least r_i(h). The bound is

        S = 2 max over j >= 0 of e^(-t j / 2) R(h + j + 1),    with 2 <= a <= h and t <= 1.

    (As published R is the mean of the largest, a and the decay are such that S can change by 1.7 t, blocks overlap, and
    what k > m has is left open.) Let z' be a neighbour of z, z_l being the point that moved, r' and R' its own.

    *The bound holds.* The least balls around g and g', of radii r_1 and r_1', have h points each, of which at least
    h - 1 did not move; as 2 (h - 1) > m - 1 they share one. So |g - g'| <= r_1 + r_1'. For i != l, r_i'(h) <=
    r_i(h + 1): the ball holds h + 1 points of z, so h that did not move. Hence r_1 and r_1' are at most the smallest
    and the second smallest r_i(h + 1), and their sum at most 2 R(h + 1), as a >= 2.

    *It is smooth.* Let k > h, let I be the a points with the smallest r_i'(k + 1), and M the mean of those other than
    z_l'. Unless z_l' is one of them, R(k) <= R'(k + 1), as r_i(k) <= r_i'(k + 1) for i != l. If it is:

    1. Of the k points in the least ball of z, at least one is none of the other a - 1, and has r(k) at most twice the
       least, so at most 2 M: a R(k) <= (a - 1) M + 2 M.
    2. All other points in the ball around z_l', k of them, have r'(k + 1) at most twice that of z_l', so that it is at
       least M / 2: a R'(k + 1) >= (a - 1/2) M.

    Together R(k) <= (a + 1) / (a - 1/2) R'(k + 1), and the logarithm of the factor is at most 1.5 / (a - 1/2) <=
    (3/8) t / (1 - t / 8) < t / 2. So each term of S is at most e^t times the next one of S'; where k = m that is D,
    which none exceeds.

    *Floating point.* Points are on a lattice. Differences are exact, distances off by factors within 1 +- (d + 3)
    2^-53, means and exponentials likewise, d being at most 2^10. So g is, up to such a factor, as good as any, and S
    times 1 + 2^-38 bounds what it must, and is smooth to t + 2^-37, if t is what was asked for less 2^-36.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 1))
    >>> rows = np.column_stack([X, 3 * X + rng.normal(size=(20_000, 1))])
    >>> dealt = rows, np.arange(20_000) % 400
    >>> values, bounds = BlockCentre(1, 20_000, 5.0, False, parts=400).answer([dealt], smoothness=0.2)
    >>> float(values[0]).__round__(1), bounds.round(2)
    (3.0, array([0.19]))
    """

    def groups(self, smoothness: float) -> int:
        """Return m."""
        most = min(self.rows // (2 * self.size), _MOST_PARTS)
        return self.parts or max(1, min(math.ceil(4 * math.log(max(self.rows, 1000) / 10) / smoothness), most))

    def least_rows(self, smoothness: float) -> int:
        """Return how many rows there must be for blocks enough."""
        return 2 * self.size * (2 * self._n_averaged(smoothness) + 2)

    def least(self, smoothness: float) -> float:
        """Return 2 D e^(-t (m - h) / 2), or 0 where there are too few blocks."""
        m = self.groups(smoothness)
        enough = 2 <= self._n_averaged(smoothness) <= _half(m) and smoothness <= 1 and self.size <= 1024
        return 2 * self.diameter * math.exp(-smoothness * (m - _half(m)) / 2) if enough else 0.0

    def answer(self, blocks: Iterable[Dealt], smoothness: float) -> tuple[Sequence[Fraction], Array]:
        """Return the point, and the bound."""
        points = self.points(blocks, self.groups(smoothness))
        place, bound = centre(
            points, self._n_averaged(smoothness), smoothness - SMOOTHNESS_SLACK, 2.0 * (2**_FINENESS + 2**10)
        )
        values = [int(value) * self._step for value in points[place]]
        return self._inside(values), np.full(self.size, bound * SMOOTH_SLACK * float(self._step))

    @staticmethod
    def _n_averaged(smoothness: float) -> int:
        return math.ceil(4 / (smoothness - SMOOTHNESS_SLACK)) if smoothness > SMOOTHNESS_SLACK else 2**62


def centre(points: NDArray[np.int64], averaged: int, smoothness: float, diameter: float) -> tuple[int, float]:
    """Return which point is the centre, and its bound; see :class:`BlockCentre`.

    Examples
    --------
    >>> points = np.array([[0], [1], [2], [3], [100]])
    >>> centre(points, 2, 1.0, 1000.0)  # 4 points are within 2 of 1; past 5 points there is the diameter: 2000 / e^0.5
    (1, 1213.06131942526...)
    """
    m = len(points)
    half = _half(m)
    radii = np.empty((m, m))
    for i in range(m):
        apart = (points - points[i]).astype(np.float64)
        radii[i] = np.sqrt((apart * apart).sum(axis=1))
    radii.sort(axis=1)
    place = int(np.argmin(radii[:, half - 1]))
    beyond = np.partition(radii[:, half:], averaged - 1, axis=0)[:averaged].mean(axis=0)  # For h + 1, ..., m points.
    means = np.append(beyond, diameter)
    return place, 2 * float((np.exp(-smoothness / 2 * np.arange(len(means))) * means).max())


def _half(parts: int) -> int:
    return (parts + 1) // 2 + 1
