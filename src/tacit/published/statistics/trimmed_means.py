"""Trimmed means of values that may be anything, each with a smooth bound on how far one row can move it."""

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
from tacit.statistics.robust.robust_sum import RowValues

_STEP_BITS = 32  # The range has from 2^32 to 2^33 of the steps that values are rounded to.
_FARTHEST = 2**48  # Values are cut off at this many steps, so that the sum of 8192 values is under 2^62.
# The factor 1.2 in the default of `trim`; a factor of 1 makes the least bound W / (10 n). experiments/heavy_tails.py
# measures the errors of regressions with it.
_MORE = 1.2


@dataclass(frozen=True, eq=False)
class TrimmedMeans(SmoothStatistic):
    """The mean of each of the rows' values without the `trim` smallest and largest ones, brought inside a public range.

    Parameters
    ----------
    values : RowValues
        What rows have; a row with a value that is NaN counts as the middle of the range, in all of them.
    low, high : (size,) arrays
        What the means are known to lie within. Rows' values may be anything.
    rows : int
        How many rows there are: n, public.
    trim : int, optional
        m. By default 1.2 log(10 n) / smoothness, or all but one or two of the rows: with fewer, the least bound would
        be much of the range, with more, rows are lost. (As published, m is a constant, or n / 20, and the noise
        hundreds of times the range.)

    Notes
    -----
    **As published** the bound is max(x_(n) - x_(1), e^-mt (high - low)), which is not smooth: one row can make it as
    large as it likes. What follows is the smooth sensitivity itself, and never more than that.

    *What one row does after k others have changed.* Values are rounded to a public lattice and cut off, row by row;
    from there on arithmetic is on integers, and exact. Let x_(1) <= ... <= x_(n) be these, f their trimmed mean brought
    inside the range, W its width. If k rows of x change and then one more, f changes by at most W, and by at most

        L_k = max over p + q = k + 1 of (x_(n-m+p) - x_(m+1-q)) / (n - 2m),

    where it is W if an index is below 1 or over n, so for all k >= m: f without the range is the mean of the places m+1
    to n-m, so one row changes it by no more than its places' ends are apart after it left, over n - 2m; k + 1 rows
    that leave and come back elsewhere move the ends p and q places outward, p + q = k + 1. (Tests compare this with
    all tables of some size: it is met.) So L_k(x) <= L_(k+1)(x') for neighbours x, x'.

    *S = max over k of e^-tk min(W, L_k)* is at least min(W, L_0), and e^-tk L_k(x) <= e^t e^-t(k+1) L_(k+1)(x') makes
    it t-smooth. It is at least e^-tm W.

    *How it is found.* With hi_p = x_(n-m+p) and lo_q = x_(m+1-q), S is the largest of e^-t(p+q-1) min(W, (hi_p - lo_q)
    / (n - 2m)). For p < p', the quotient of the terms of p' and p falls as lo_q does, hence as q grows: the best p does
    not grow with q, and halving finds it in m log m steps.

    *Floating point.* Differences are exact; exponents up to 125 (beyond them e^-tm W is refused), exponentials,
    quotients and products are off by factors within 1 +- 2^-45. Where rounding makes another p seem the best, those cut
    off are better by no more than such a factor each time, of at most 32. So the largest term as computed, times
    1 + 2^-38, is between S and (1 + 2^-37) S: no less than what it must bound, and smooth to t + 2^-37. Therefore t is
    what was asked for less 2^-36, or 0 where that is less: S is the width of the range then, for all tables.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.published.statistics import PredictionGradients
    >>> from tacit.statistics.losses import SquaredLoss
    >>> rows = np.column_stack([np.ones(101), np.append(np.linspace(-1, 1, 100), 1e6)])
    >>> slopes = PredictionGradients(SquaredLoss(), np.zeros((1, 2)), 0.0)
    >>> means = TrimmedMeans(slopes, np.array([-5.0]), np.array([5.0]), 101, trim=20)
    >>> values, bounds = means.answer([(rows, np.zeros(101, int))], smoothness=0.5)
    >>> float(values[0]).__round__(3), bounds.round(3)
    (-0.01, array([0.02]))
    """

    values: RowValues
    low: Array
    high: Array
    rows: int
    trim: int | None = None

    def __post_init__(self) -> None:
        low, high = np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if low.shape != (self.values.size,) or high.shape != low.shape:
            raise ValueError(f"low and high must have {self.values.size} number(s), one for each value.")
        if not (np.isfinite(low) & np.isfinite(high) & (high / 2 - low / 2 > 1e-200)).all() or self.rows < 1:
            raise ValueError("low and high must be finite, low below high, and there must be a row.")
        if self.trim is not None and not 0 <= self.trim <= (self.rows - 1) // 2:
            raise ValueError(f"trim must be from 0 to less than half of the rows, and it is {describe(self.trim)}.")

    def n_trimmed(self, smoothness: float) -> int:
        """Return m."""
        if self.trim is not None:
            return self.trim
        return min(math.ceil(_MORE * math.log(10 * self.rows) / smoothness), (self.rows - 1) // 2)

    def least(self, smoothness: float) -> float:
        """Return e^-tm W, for the narrowest of the ranges."""
        power = smoothness * self.n_trimmed(smoothness)
        return math.exp(-power) * float((self.high - self.low).min()) if power < 120 else 0.0

    def answer(
        self, blocks: Iterable[tuple[Array, NDArray[np.int64]]], smoothness: float
    ) -> tuple[Sequence[Fraction], Array]:
        """Return the trimmed means, and their smooth sensitivities."""
        m, n = self.n_trimmed(smoothness), self.rows
        lattice = _Lattices.of(self.low, self.high)
        least: list[NDArray[np.int64]] = []
        largest: list[NDArray[np.int64]] = []
        totals, count = [0] * self.size, 0
        for block, _ in blocks:
            with np.errstate(all="ignore"):
                steps = lattice.quantise(self.values(block))
            count += len(block)
            totals = [total + int(more) for total, more in zip(totals, steps.sum(axis=0).tolist())]
            least = [_first(np.concatenate([*least, steps]), m)]
            largest = [-_first(-np.concatenate([*largest, steps]), m)]
        if count != n:
            raise ValueError(f"There are {count} rows, and {n} were said to be there.")
        means, bounds = [], np.empty(self.size)
        for j in range(self.size):
            first, last = np.sort(least[0][:, j]), np.sort(largest[0][:, j])
            kept = totals[j] - sum(first[:m].tolist()) - sum(last[len(last) - m :].tolist())
            mean = lattice.middle(j) + Fraction(kept, n - 2 * m) * lattice.step(j)
            means.append(min(max(mean, Fraction(float(self.low[j]))), Fraction(float(self.high[j]))))
            width = (Fraction(float(self.high[j])) - Fraction(float(self.low[j]))) / lattice.step(j)
            bound = smooth_sensitivity(first, last, n, float(width), max(smoothness - SMOOTHNESS_SLACK, 0.0))
            bounds[j] = bound * float(lattice.steps[j]) * SMOOTH_SLACK
        return means, bounds


def smooth_sensitivity(
    first: NDArray[np.int64], last: NDArray[np.int64], rows: int, width: float, smoothness: float
) -> float:
    """Return the largest of e^-t(p+q-1) min(W, (hi_p - lo_q) / (n - 2m)) and e^-tm W, m + 1 being how many `last` are.

    Parameters
    ----------
    first, last : (m + 1,) arrays
        The smallest and the largest values, in order.
    rows : int
    width : float
    smoothness : float

    Examples
    --------
    >>> low, high = np.array([0, 10]), np.array([20, 21])  # 0 10 ... 20 21, and m = 1
    >>> smooth_sensitivity(low, high, 12, width=100.0, smoothness=1.0)  # e^-1 100; with 20, (20 - 0) / 10
    36.787944117144235
    """
    m = len(last) - 1
    lo, hi = first[::-1].astype(np.float64), last.astype(np.float64)
    weights = np.exp(-smoothness * np.arange(2 * m + 1))

    def terms(p: NDArray[np.intp], q: NDArray[np.intp]) -> Array:
        result: Array = weights[p + q - 1] * np.minimum(width, (hi[p] - lo[q]) / (rows - 2 * m))
        return result

    best = float(weights[m]) * width
    if m == 0:
        return max(best, 0.0)
    every = np.arange(1, m + 1)
    best = max(best, float(terms(every, np.zeros_like(every)).max()))  # This is q = 0, for which p = 0 is no term.
    q_low, q_high, p_low, p_high = (np.array([end]) for end in (1, m, 0, m))
    while len(q_low):
        q = (q_low + q_high) // 2
        lengths = p_high - p_low + 1
        starts = np.cumsum(lengths) - lengths
        p = np.arange(lengths.sum()) - np.repeat(starts - p_low, lengths)
        values = terms(p, np.repeat(q, lengths))
        tops = np.maximum.reduceat(values, starts)
        best = max(best, float(tops.max()))
        places = np.flatnonzero(values == np.repeat(tops, lengths))
        at = p[places[np.searchsorted(places, starts)]]
        halves = (q_low, q - 1, at, p_high), (q + 1, q_high, p_low, at)
        q_low, q_high, p_low, p_high = (np.concatenate(both) for both in zip(*halves))
        left = q_low <= q_high
        q_low, q_high, p_low, p_high = q_low[left], q_high[left], p_low[left], p_high[left]
    return best


@dataclass(frozen=True, eq=False)
class _Lattices:
    """Where values are rounded to: multiples of a power of two, from the middle of each range."""

    middles: Array
    steps: Array

    @classmethod
    def of(cls, low: Array, high: Array) -> _Lattices:
        return cls(low / 2 + high / 2, np.ldexp(1.0, np.frexp(high / 2 - low / 2)[1] - _STEP_BITS))

    def quantise(self, values: Array) -> NDArray[np.int64]:
        steps = np.clip(np.rint((values - self.middles) / self.steps), -_FARTHEST, _FARTHEST)
        steps[np.isnan(steps).any(axis=1)] = 0.0
        return steps.astype(np.int64)

    def middle(self, j: int) -> Fraction:
        return Fraction(float(self.middles[j]))

    def step(self, j: int) -> Fraction:
        return Fraction(float(self.steps[j]))


def _first(values: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    """Return the m + 1 smallest of each column, in any order; all if there are no more."""
    return values if len(values) <= m + 1 else np.partition(values, m, axis=0)[: m + 1]
