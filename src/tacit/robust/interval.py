"""Where to clip values about which nothing is known, from noisy counts of their magnitudes.

Clipping to [a, b] costs a bias, from values beyond the ends, and noise in proportion to b - a. Both can be estimated
from a histogram by sign and power of two, so the best ends follow from private values. The difficulty is the tail:
counts there are as small as their noise, and an end far out because of noise would be ruinous. Hence three rules:

- Start where most rows are, in groups of up to eight powers of two, and prefer small magnitudes.
- From there outwards, accept a count as rows only if noise alone would hardly ever be as large. Each power of two
  doubles the noise of the mean, so each further one must be about four times less likely to be noise.
- Beyond the last accepted count, assume rows that are too few to be seen: extrapolate the last two counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tacit.arrays import Array
from tacit.statistics import Magnitudes

# These numbers were chosen by simulation on lognormal, Student, Pareto and a few other laws; that script is not kept.
# benchmarks/robust_mean.py measures what they give, on four such laws.
# Where to start.
_WIDTHS = (1, 2, 4, 8)  # Numbers of powers of two in a group.
_SIZE_PENALTY = 0.5  # Penalty for each power of two above 1, in standard deviations of the noise.
# How likely noise alone may exceed the threshold for a count.
_FALSE_ALARM = 0.02  # Probability just beyond the accepted counts.
_FALSE_ALARM_DECAY = 1.4  # The log probability falls by this for each further power of two.
_MOST_FALSE_ALARM = 0.3  # Largest probability, among the accepted counts: errors there cost little.
# How counts are extrapolated.
_FALL = (0.05, 0.3)  # Least and largest ratio of a count to the one before it.
_FALL_OF_RATIO = 0.6  # The ratio itself falls by this factor with every power of two.
_TYPICAL = 1.4  # Mean of the rows in [1, 2), and in other powers of two in proportion.

Tail = Callable[[float], float]


def clipping_interval(counts: Array, noise: float, tail: Tail, noise_of_sum: float) -> tuple[float, float]:
    """Return the ends at which to clip the values of one column: those with the least estimated squared error.

    Parameters
    ----------
    counts : array
        Noisy :class:`Magnitudes` of the column.
    noise : float
        Standard deviation of their noise.
    tail : callable
        Their noise exceeds ``tail(p)`` with probability p.
    noise_of_sum : float
        Standard deviation of the noise that will be added to a sum of values clipped to [-1, 1].

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).lognormal(size=(100_000, 1))
    >>> counts = Magnitudes(1).parts(Magnitudes(1).block_sum(rows))[0]
    >>> clipping_interval(counts, 3.0, lambda p: 3 * np.sqrt(-2 * np.log(p)), 3.0)
    (0.03125, 64.0)
    """
    ends, values, estimates = _ends(), _typical_values(), _estimate_counts(counts, noise, tail)
    above = estimates @ np.maximum(values[:, None] - ends, 0.0)
    below = estimates @ np.maximum(ends - values[:, None], 0.0)
    width = ends[None, :] - ends[:, None]
    risk = below[:, None] ** 2 + above[None, :] ** 2 + (noise_of_sum * width / 2) ** 2
    low, high = np.unravel_index(np.argmin(np.where(width > 0, risk, np.inf)), risk.shape)
    return float(ends[low]), float(ends[high])


def trimming_interval(counts: Array, noise: float, tail: Tail, trim: float) -> tuple[float, float]:
    """Return estimates of the quantiles `trim` and 1 - `trim` of the values.

    Within a power of two, values are taken to be spread evenly.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).uniform(-4, 4, size=(100_000, 1))
    >>> counts = Magnitudes(1).parts(Magnitudes(1).block_sum(rows))[0]
    >>> low, high = trimming_interval(counts, 3.0, lambda p: 3 * np.sqrt(-2 * np.log(p)), 0.1)
    >>> round(low, 1), round(high, 1)
    (-3.2, 3.2)
    """
    estimates, edges = _estimate_counts(counts, noise, tail, extrapolate=False), Magnitudes.edges()
    below = np.append(0.0, np.cumsum(estimates))
    quantiles = []
    for probability in (trim, 1 - trim):
        rank = probability * below[-1]
        place = int(np.clip(np.searchsorted(below, rank, side="right") - 1, 0, len(estimates) - 1))
        part = (rank - below[place]) / estimates[place] if estimates[place] > 0 else 0.0
        quantiles.append(float(edges[place, 0] + part * (edges[place, 1] - edges[place, 0])))
    low, high = quantiles
    return (low, high) if low < high else (low - abs(low) - 2.0**-30, high + abs(high) + 2.0**-30)


def _ends() -> Array:
    return np.unique(Magnitudes.edges())


def _typical_values() -> Array:
    edges = Magnitudes.edges()
    return np.where(edges[:, 0] >= 0, edges[:, 0], edges[:, 1]) * _TYPICAL


def _estimate_counts(counts: Array, noise: float, tail: Tail, extrapolate: bool = True) -> Array:
    """Return the counts that are accepted as rows and, if wanted, an extrapolation of them; zero elsewhere."""
    middle = len(counts) // 2
    negative, zero, positive = counts[:middle][::-1], counts[middle], counts[middle + 1 :]
    sign, start = _find_most_rows(negative, positive, noise)
    # Thresholds for counts, by the number of powers of two beyond the accepted ones.
    distances = np.arange(-middle - 1, middle + 1)
    decay = np.exp(-_FALSE_ALARM_DECAY * np.maximum(distances, -10.0))
    probabilities = np.minimum(_FALSE_ALARM * decay, _MOST_FALSE_ALARM)
    thresholds = np.array([tail(probability) for probability in probabilities.tolist()])

    def estimate(side: Array, most_are_here: bool) -> Array:
        accepted = np.zeros(middle)
        last = start if most_are_here else start + 1  # Rows as large as most rows may well have the other sign.
        if most_are_here:
            accepted[start] = max(side[start], noise)
        for power, count in enumerate(side.tolist()):
            if count > thresholds[power - last + middle + 1]:
                accepted[power] = count
                last = max(last, power)
        return _extrapolate(accepted) if extrapolate else accepted

    at_zero = zero if zero > thresholds[middle + 1] else 0.0
    return np.concatenate([estimate(negative, sign < 0)[::-1], [at_zero], estimate(positive, sign > 0)])


def _find_most_rows(negative: Array, positive: Array, noise: float) -> tuple[int, int]:
    """Return the sign, and the position of the power of two, around which most rows are."""
    powers = np.log2(Magnitudes.edges()[len(negative) + 1 :, 0])
    best, start = -math.inf, (1, 0)
    for sign, side in ((1, positive), (-1, negative), (0, (positive + negative) / math.sqrt(2))):
        for width in _WIDTHS:
            sums = np.convolve(side, np.ones(width), "valid") / math.sqrt(width)
            sums -= _SIZE_PENALTY * noise * np.maximum(powers[width - 1 :], 0.0)
            first = int(np.argmax(sums))
            if sums[first] > best:
                best, start = float(sums[first]), (sign, first + int(np.argmax(side[first : first + width])))
    sign, place = start
    return sign or (1 if positive[place] >= negative[place] else -1), place


def _extrapolate(counts: Array) -> Array:
    """Return the counts, continued beyond the last one that is not zero."""
    places = np.flatnonzero(counts)
    if not len(places):
        return counts
    last = int(places[-1])
    before = counts[last - 1] if last else 0.0
    ratio = np.clip(counts[last] / before if before > 0 else _FALL[1], *_FALL)
    steps = np.arange(1.0, len(counts) - last)
    with np.errstate(under="ignore"):
        counts[last + 1 :] = counts[last] * ratio**steps * _FALL_OF_RATIO ** (steps * (steps + 1) / 2)
    return counts
