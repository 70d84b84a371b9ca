"""Where to clip values of which nothing is known: from noisy counts of how large they are.

Clipping to [a, b] costs a bias, what lies beyond the ends, and noise in proportion to b - a. Both can be estimated from
a histogram by sign and power of two, so the best ends follow by arithmetic on private values. The difficulty is the
tail: a count there is as small as its noise, and believing noise far out would be ruinous. Hence three rules:

- Start where most rows are, in groups of up to eight powers of two, and rather not at huge numbers.
- From there outwards, ask for stronger evidence the farther a count would widen the range. Each power of two doubles
  the noise, so each count must be about four times less likely to be noise.
- Beyond the last count believed there are rows too few to be seen: as many as the last two counts predict.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tacit.arrays import Array
from tacit.statistics import Magnitudes

# These numbers were chosen by simulation, on lognormal, Student, Pareto and a few other rows.
# benchmarks/robust_mean.py measures what they give.

# Where most rows are.
_WIDTHS = (1, 2, 4, 8)  # Widths of groups of bins, in powers of two.
_SIZE_PENALTY = 0.5  # Taken off the sum of a group for each power of two above 1, in standard deviations of noise.

# Which counts are believed.
_FALSE_ALARM = 0.02  # Probability of noise that looks like rows in the bin beyond the last one believed.
_WIDENING = 1.4  # Logarithm of the factor by which this probability falls with each power of two beyond.
_MOST_FALSE_ALARM = 0.3  # Largest such probability: inside the range little is lost by believing noise.

# What lies beyond the last count believed.
_LEAST_RATIO, _MOST_RATIO = 0.05, 0.3  # Limits of the ratio of the next count to the last one.
_RATIO_DECAY = 0.6  # Factor by which this ratio falls with each power of two.

_TYPICAL_VALUE = 1.4  # Mean of the rows in a bin, relative to its lower end.

Tail = Callable[[float], float]


def clipping_interval(counts: Array, noise: float, tail: Tail, noise_of_sum: float) -> tuple[float, float]:
    """Return the ends at which to clip the values of one column.

    Parameters
    ----------
    counts : array
        Noisy :class:`Magnitudes` of the column.
    noise : float
        Standard deviation of their noise.
    tail : callable
        ``tail(p)`` is what their noise exceeds with probability p.
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
    ends, values, seen = _ends(), _typical_values(), _estimated_counts(counts, noise, tail)
    above = seen @ np.maximum(values[:, None] - ends, 0.0)
    below = seen @ np.maximum(ends - values[:, None], 0.0)
    width = ends[None, :] - ends[:, None]
    risk = below[:, None] ** 2 + above[None, :] ** 2 + (noise_of_sum * width / 2) ** 2
    low, high = np.unravel_index(np.argmin(np.where(width > 0, risk, np.inf)), risk.shape)
    return float(ends[low]), float(ends[high])


def trimming_interval(counts: Array, noise: float, tail: Tail, trim: float) -> tuple[float, float]:
    """Return about the quantiles `trim` and 1 - `trim` of the values.

    Within a power of two, values are taken to be evenly spread.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).uniform(-4, 4, size=(100_000, 1))
    >>> counts = Magnitudes(1).parts(Magnitudes(1).block_sum(rows))[0]
    >>> low, high = trimming_interval(counts, 3.0, lambda p: 3 * np.sqrt(-2 * np.log(p)), 0.1)
    >>> round(low, 1), round(high, 1)
    (-3.2, 3.2)
    """
    seen, edges = _estimated_counts(counts, noise, tail, extrapolate=False), Magnitudes.edges()
    cumulative = np.append(0.0, np.cumsum(seen))
    quantiles = []
    for probability in (trim, 1 - trim):
        rank = probability * cumulative[-1]
        place = int(np.clip(np.searchsorted(cumulative, rank, side="right") - 1, 0, len(seen) - 1))
        part = (rank - cumulative[place]) / seen[place] if seen[place] > 0 else 0.0
        quantiles.append(float(edges[place, 0] + part * (edges[place, 1] - edges[place, 0])))
    low, high = quantiles
    return (low, high) if low < high else (low - abs(low) - 2.0**-30, high + abs(high) + 2.0**-30)


def _ends() -> Array:
    return np.unique(Magnitudes.edges())


def _typical_values() -> Array:
    edges = Magnitudes.edges()
    return np.where(edges[:, 0] >= 0, edges[:, 0], edges[:, 1]) * _TYPICAL_VALUE


def _estimated_counts(counts: Array, noise: float, tail: Tail, extrapolate: bool = True) -> Array:
    """Return the counts that are believed and, if wanted, those that they predict beyond; zero elsewhere."""
    middle = len(counts) // 2
    negative, zero, positive = counts[:middle][::-1], counts[middle], counts[middle + 1 :]
    sign, start = _where_most_are(negative, positive, noise)
    gaps = np.arange(-middle - 1, middle + 1)
    chances = np.minimum(_FALSE_ALARM * np.exp(-_WIDENING * np.maximum(gaps, -10.0)), _MOST_FALSE_ALARM)
    least = np.array([tail(chance) for chance in chances.tolist()])  # By distance beyond the last bin believed.

    def outwards(side: Array, most_are_here: bool) -> Array:
        believed = np.zeros(middle)
        known = start if most_are_here else start + 1  # Values of that size may well have either sign.
        if most_are_here:
            believed[start] = max(side[start], noise)
        for power, count in enumerate(side.tolist()):
            if count > least[power - known + middle + 1]:
                believed[power] = count
                known = max(known, power)
        return _extrapolate(believed) if extrapolate else believed

    at_zero = zero if zero > least[middle + 1] else 0.0
    return np.concatenate([outwards(negative, sign < 0)[::-1], [at_zero], outwards(positive, sign > 0)])


def _where_most_are(negative: Array, positive: Array, noise: float) -> tuple[int, int]:
    """Return the sign and the power of two, as a place, around which most rows are."""
    powers = np.log2(Magnitudes.edges()[len(negative) + 1 :, 0])
    best, found = -math.inf, (1, 0)
    for sign, side in ((1, positive), (-1, negative), (0, (positive + negative) / math.sqrt(2))):
        for width in _WIDTHS:
            sums = np.convolve(side, np.ones(width), "valid") / math.sqrt(width)
            sums -= _SIZE_PENALTY * noise * np.maximum(powers[width - 1 :], 0.0)
            first = int(np.argmax(sums))
            if sums[first] > best:
                best, found = float(sums[first]), (sign, first + int(np.argmax(side[first : first + width])))
    sign, place = found
    return sign or (1 if positive[place] >= negative[place] else -1), place


def _extrapolate(believed: Array) -> Array:
    """Return the counts, and beyond the last of them those that it and the one before it predict."""
    places = np.flatnonzero(believed)
    if not len(places):
        return believed
    last = int(places[-1])
    before = believed[last - 1] if last else 0.0
    falling = np.clip(believed[last] / before if before > 0 else _MOST_RATIO, _LEAST_RATIO, _MOST_RATIO)
    steps = np.arange(1.0, len(believed) - last)
    with np.errstate(under="ignore"):
        believed[last + 1 :] = believed[last] * falling**steps * _RATIO_DECAY ** (steps * (steps + 1) / 2)
    return believed
