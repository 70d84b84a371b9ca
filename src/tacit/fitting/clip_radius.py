"""Where to clip vectors, from a small release of how long they are.

Noise grows with the clip radius r, and what clipping hides of the mean falls with it. Both are known: noise from the plan,
and from counts of lengths how much is hidden at most. The radius with the least sum of squares is best up to a factor,
for any rows (Huang, Liang and Yi, 2021). As noise falls the radius grows, until nothing is clipped.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.arrays import Array
from tacit.release import Measurement
from tacit.statistics import LengthCounts

# The arena of real tables, benchmarks/arena.py, measures what these numbers give.
_STANDS_OUT = 4.5  # Counts that exceed this many standard deviations of noise are believed.
_MOST_TOGETHER = 4  # Adjacent bins that are looked at together.
_ROUNDING = 1.0001  # A radius that is the end of a bin may be rounded.
_LEAST_SEEN = 0.5  # If fewer than this proportion of the rows are seen, counts are drowned in noise.


class ClipRadius(NamedTuple):
    """A clip radius, and a bound on the length of what clipping hides of the mean."""

    radius: float
    hidden: float


def choose_radius(
    statistic: LengthCounts,
    counts: Measurement,
    rows: float,
    noise: float,
    *,
    weight: float,
    default: float,
    power: int = 1,
    square: float = 0.0,
) -> ClipRadius:
    """Return the radius with the least noise^2 r^(2 power) + weight^2 hidden^2.

    Parameters
    ----------
    statistic : LengthCounts
    counts : Measurement
        Its release.
    rows : float
        How many rows were counted.
    noise : float
        Expected length of the noise of the mean, with a clip radius of 1.
    weight : float
        What is hidden counts for this much: 1 if all that is clipped points in one direction.
    default : float
        The radius where counts are drowned in noise.
    power : int, default 1
        2 for second moments, whose noise grows with the square of the radius.

    Examples
    --------
    >>> from tacit.statistics import InputVectors
    >>> lengths = LengthCounts(InputVectors(np.eye(2)), unit=1.0)
    >>> counts = 990.0 * (lengths.ends == 1.0) + 10.0 * (lengths.ends == 8.0)
    >>> [choose_radius(lengths, Measurement(counts, 1.0), 1000.0, noise, weight=1.0, default=2.0).radius
    ...  for noise in (0.1, 0.001)]
    [1.0, 8.0]
    """
    seen, ends = counts_that_stand_out(counts.value, counts.noise), statistic.ends
    if seen.sum() < _LEAST_SEEN * rows:
        return ClipRadius(default, 0.0)
    seen = with_unseen(statistic, seen, counts.noise, rows, square)
    middles = (ends / 2**0.25) ** power
    beyond = np.append(np.cumsum((seen * middles)[::-1])[::-1][1:], 0.0)
    many = np.append(np.cumsum(seen[::-1])[::-1][1:], 0.0)
    hidden = np.maximum(beyond - many * ends**power, 0.0) / rows
    best = int(np.argmin((noise * ends**power) ** 2 + (weight * hidden) ** 2))
    return ClipRadius(float(ends[best]), float(hidden[best]))


UNSEEN = 2.0
def with_unseen(statistic: LengthCounts, seen: Array, noise: float, rows: float, square: float) -> Array:
    ends = statistic.ends
    missing = square * rows - float(seen @ (ends / 2**0.25) ** 2)
    if missing <= 0.1 * square * rows or noise <= 0:
        return seen
    mass = UNSEEN * noise
    length = math.sqrt(missing / mass)
    place = min(int(np.searchsorted(ends, length)), len(ends) - 1)
    seen = seen.copy()
    seen[place] += mass
    return seen


LEAST_WITHIN = 0.7


def core_radius(
    statistic: LengthCounts, counts: Measurement, counted: float, rows: float, noise: float, default: float
) -> float:
    """Return the clip radius with the least variance of what solves for a zero mean, noise and chance together.

    A mean of clipped vectors has the variance noise^2 r^2 + E min(length, r)^2 / rows, and it moves with the parameters
    by about the proportion of the vectors that are shorter than r. What clipping hides is measured by itself.

    Parameters
    ----------
    statistic : LengthCounts
    counts : Measurement
    counted, rows : float
        How many rows were counted, and how many the mean is of.
    noise : float
        Expected length of the noise of the mean, with a clip radius of 1.
    default : float
        The radius where counts are drowned in noise.
    """
    seen, ends = counts_that_stand_out(counts.value, counts.noise), statistic.ends
    if seen.sum() < _LEAST_SEEN * counted:
        return default
    proportion = np.maximum(np.cumsum(seen) / seen.sum(), 1e-3)
    variance = ((noise * ends) ** 2 + _clipped_squares(seen, ends) / rows) / proportion**2
    variance[proportion < LEAST_WITHIN] = np.inf
    return float(ends[int(np.argmin(variance))])


def sampling_error(statistic: LengthCounts, counts: Measurement, radius: float, rows: float) -> float:
    """Return the length of the sampling error of a mean of vectors clipped at this radius, of this many rows."""
    seen, ends = counts_that_stand_out(counts.value, counts.noise), statistic.ends
    squares = _clipped_squares(seen, ends)[ends <= radius * _ROUNDING] if seen.any() else np.zeros(0)
    return math.sqrt(squares[-1] / rows) if len(squares) else 0.0


def _clipped_squares(seen: Array, ends: Array) -> Array:
    """Return the mean square of vectors clipped at each of the ends."""
    inside = np.cumsum(seen)
    squares: Array = np.cumsum(seen * (ends / 2**0.25) ** 2) + (inside[-1] - inside) * ends**2
    return squares / inside[-1]


def proportion_within(statistic: LengthCounts, counts: Measurement, radius: float) -> float:
    """Return the proportion of vectors that are no longer than the radius, as far as counts stand out of the noise."""
    seen = counts_that_stand_out(counts.value, counts.noise)
    if not seen.any():
        return 1.0
    return max(float(seen[statistic.ends <= radius * _ROUNDING].sum() / seen.sum()), 0.05)


def longest_seen(statistic: LengthCounts, counts: Measurement, rows: float, square: float) -> float | None:
    """Return the end of the last bin whose count stands out of the noise; None if none does."""
    seen = counts_that_stand_out(counts.value, counts.noise)
    if not seen.any():
        return None
    places = np.flatnonzero(with_unseen(statistic, seen, counts.noise, rows, square))
    return float(statistic.ends[places[-1]]) if len(places) else None


def counts_that_stand_out(counts: Array, noise: float) -> Array:
    """Return counts without those that may be noise. Bins are looked at from the last one down, up to four together.

    Examples
    --------
    >>> counts_that_stand_out(np.array([500.0, -2.0, 3.0, 7.0, 8.0, 1.0]), noise=2.0)
    array([500.,   0.,   0.,   7.,   8.,   0.])
    """
    kept = np.zeros_like(counts)
    group: list[int] = []
    for place in range(len(counts) - 1, -1, -1):
        group = [*group, place][-_MOST_TOGETHER:]
        if counts[group].sum() > _STANDS_OUT * noise * math.sqrt(len(group)):
            kept[group] = np.maximum(counts[group], 0.0)
            group = []
    return kept
