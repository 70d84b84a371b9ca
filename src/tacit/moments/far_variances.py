"""How much of a covariance clipping hides: from noisy counts of rows that lie far out.

Rows are clipped, so that noise is small. Where a few of them lie far out, most of the variance is theirs, and a normal
law without it makes them all but impossible. :class:`tacit.statistics.FarRows` counts them by length and axis. A count
that stands out is believed. What to make of the others is a matter of cost. If c rows have the length r, a variance
that leaves them out costs c r^2 / (2 n) nats per row, and one that has them for nothing log(1 + c r^2 / n) / 2. The
variance that costs least is the one to be expected, so counts are replaced by their posterior means:

- hardly any bin of lengths has rows before it is counted, and the farther out it is the less likely;
- where a bin has rows, any axis may be theirs, and rows that no axis stands out with are shared out evenly;
- a column that is one value in nearly all rows (a *spike*) varies by its other rows alone, so that it is likely to have
  some in any bin;
- where there are rows, their number is of the order of a few times the noise.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from tacit.arrays import Array
from tacit.fitting.clipping import normal_length_quantile
from tacit.fitting.shrinkage import positive_mean
from tacit.moments.estimates import PublicFacts
from tacit.release import Curator
from tacit.statistics import Components, FarRows

# Tuned numbers, on the arena's tables whose names have an even crc32 (benchmarks/arena.py --kinds moments factors).
MOST_BINS = 50  # Bins of lengths, two for each doubling; rows beyond the last one count as if they lay there.
_QUANTILE, _FARTHER = 0.999, 1.15  # Rows are far beyond this multiple of this quantile of a normal row's length.
_SQUARE = 1.35  # Mean squared length of the rows of a bin, in squares of the length where it begins.
_MANY = 5.0  # Where there are rows, they are of the order of this many standard deviations of noise.
_IN_BIN = 0.003  # Probability that a bin has rows,
_VARIANCE = 0.002  # or what limits its expected part of a variance to this, if that is less.
_TOGETHER = (1, 2, 4)  # How many adjacent bins are looked at together.
_ON_AXIS = 0.2  # Probability that an axis has some, if the bin has.
_ON_SPIKE = 0.3  # Probability that a bin of a spike has rows.


def far_variances(
    curator: Curator, step: str, component: Components, spikes: Array, rows: float, facts: PublicFacts
) -> Array:
    """Return what far rows add to the variance of each axis, (d,), in the coordinates of the component.

    Parameters
    ----------
    curator : Curator
    step : str
        The plan's step: Gaussian, with :func:`numbers_of_far_rows`.
    component : Components
        One component.
    spikes : (d,) array of bool
        Axes that are columns with one value in nearly all rows.
    rows : float
    facts : PublicFacts
    """
    statistic = FarRows(component, far_length(facts.columns), _useful_bins(component, facts))
    measured = curator.measure(step, statistic)
    counts, shares = statistic.parts(measured.value)
    squares, count_noise = _SQUARE * statistic.starts**2, measured.noise / statistic.count
    prior = np.minimum(_IN_BIN, _VARIANCE * rows / (count_noise * squares))
    in_bin = _in_bins(counts / count_noise, prior)
    on_axis = _ON_AXIS * in_bin
    expected = expected_counts(shares, measured.noise, np.where(spikes, _ON_SPIKE, on_axis[:, None]))
    nobodys = expected_counts(counts, count_noise, prior) - expected.sum(axis=1)
    expected += np.maximum(nobodys, 0.0)[:, None] / facts.columns
    expected[statistic.starts[:, None] > _longest(component, facts)] = 0.0
    clipped = normal_length_quantile(_QUANTILE, facts.columns)
    variances: Array = expected.T @ (squares - clipped**2) / rows
    return variances


def numbers_of_far_rows(columns: int) -> int:
    """Return how many numbers a release of far rows has at most.

    Examples
    --------
    >>> numbers_of_far_rows(3)
    200
    """
    return MOST_BINS * (1 + columns)


def far_length(columns: int) -> float:
    """Return the length from which rows are far, in standard deviations of a component."""
    return _FARTHER * normal_length_quantile(_QUANTILE, columns)


def expected_counts(counts: Array, noise: float, probabilities: Array) -> Array:
    """Return posterior means of counts that are 0 but with these probabilities, and then of the order of the noise.

    Examples
    --------
    >>> expected_counts(np.array([0.0, 30.0, 100.0]), 10.0, np.full(3, 0.01)).round(1)
    array([  0. ,   9.4, 100. ])
    """
    expected: Array = _probability(counts / noise, probabilities) * positive_mean(counts, noise)
    return expected


def variances_beyond(starts: Array, counts: Array, noise: float, rows: Array) -> Array:
    """Return what rows beyond the first of these starts add to variances (K,), from counts (bins, K) of so many rows.

    Starts and variances are in units of standard deviations.

    Examples
    --------
    >>> variances_beyond(np.array([4.0]), np.array([[0.0, 100.0]]), 5.0, np.array([1000.0, 1000.0])).round(2)
    array([0.  , 2.16])
    """
    squares = _SQUARE * starts[:, None] ** 2
    prior = np.minimum(_IN_BIN, _VARIANCE * rows / (noise * squares))
    likely = np.stack([_in_bins(*each) for each in zip(counts.T / noise, prior.T)], axis=1)
    variances: Array = np.sum(likely * np.maximum(counts, 0.0) * squares, axis=0) / rows
    return variances


def _probability(z: Array, prior: Array | float) -> Array:
    """Return the probability that there are rows, from a count in standard deviations of its noise."""
    odds = prior / (1 - prior) / _MANY * np.exp(np.minimum(log_ndtr(z) + 0.5 * z**2, 300.0)) * math.sqrt(2 * math.pi)
    probability: Array = odds / (1 + odds)
    return probability


def _in_bins(z: Array, prior: Array) -> Array:
    """Return the probabilities that bins have rows, from counts in standard deviations of their noise.

    Rows may be few in each of several adjacent bins, so up to four of them are also looked at together.
    """
    likeliest = np.zeros(len(z))
    for width in _TOGETHER:
        for start in range(len(z) - width + 1):
            window = slice(start, start + width)
            together = _probability(z[window].sum(keepdims=True) / math.sqrt(width), prior[window].min())
            likeliest[window] = np.maximum(likeliest[window], together)
    return likeliest


def _longest(component: Components, facts: PublicFacts) -> Array:
    """Return how far out rows may lie along each axis, by the public bounds, (d,)."""
    whitener = np.linalg.inv(component.factors[0])
    longest: Array = np.abs(whitener) @ (facts.farthest + np.abs(component.means[0]))
    return longest


def _useful_bins(component: Components, facts: PublicFacts) -> int:
    """Return how many bins it takes to reach the longest row that there may be."""
    ratio = float(np.linalg.norm(_longest(component, facts))) / far_length(facts.columns)
    return int(np.clip(math.ceil(2 * math.log2(max(ratio, 1.0))), 1, MOST_BINS))
