"""How much of a covariance clipping hides: from noisy counts of rows that lie far out.

Rows are clipped, so that noise is small. Where a few of them lie far out, most of the variance is theirs, and a normal
law without it makes them all but impossible. :class:`tacit.statistics.FarRows` counts them by length and axis. A count
that stands out is believed. What to make of the others is a matter of cost. If c rows have the length r, a variance
that leaves them out costs c r^2 / (2 n) nats per row, and one that has them for nothing log(1 + c r^2 / n) / 2. The
variance that costs least is the one to be expected, so counts are replaced by their posterior means:

- before anything is counted, hardly any bin of an axis has rows, and the farther out it is the less likely;
- a bin whose sum over all axes stands out has some, and any axis may be theirs;
- an axis that is one value in nearly all rows (a *spike*) varies by its other rows alone, so that it is likely to have
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
MOST_BINS = 30  # Bins that double in length; rows beyond the last one count as if they lay there.
_QUANTILE, _FARTHER = 0.999, 1.15  # Rows are far beyond this multiple of this quantile of a normal row's length.
_MANY = 5.0  # Where there are rows, they are of the order of this many standard deviations of noise.
_IN_SPIKE = 0.2  # Probability that a bin of a spike has rows.
_IN_BIN = 0.01  # Probability that a bin has rows in any axis.
_IN_AXIS_OF_BIN = 0.1  # Probability that an axis has some, if the bin has.
_IN_AXIS = 1e-3  # The same if nothing is known of the bin.
_VARIANCE = 1e-4  # Rows of an axis that are to be expected in a bin add no more than this to its variance.


def far_variances(
    curator: Curator, step: str, component: Components, spikes: Array, rows: float, facts: PublicFacts
) -> Array:
    """Return what far rows add to the variance of each axis, (d,), in the coordinates of the component.

    Parameters
    ----------
    curator : Curator
    step : str
        The plan's step: Gaussian, with ``MOST_BINS`` numbers for each column.
    component : Components
        One component.
    spikes : (d,) array of bool
        Axes that are columns with one value in nearly all rows.
    rows : float
    facts : PublicFacts
    """
    statistic = FarRows(component, far_length(facts.columns), _useful_bins(component, facts))
    measured = curator.measure(step, statistic)
    counts, middles = statistic.parts(measured.value), statistic.starts * math.sqrt(2.0)
    priors = _prior_probabilities(counts, measured.noise, middles, spikes, rows)
    expected = expected_counts(counts, measured.noise, priors)
    expected[statistic.starts[:, None] > _longest(component, facts)] = 0.0
    clipped = normal_length_quantile(_QUANTILE, facts.columns)
    variances: Array = expected.T @ (middles**2 - clipped**2) / rows
    return variances


def far_length(columns: int) -> float:
    """Return the length from which rows are far, in standard deviations of a component."""
    return _FARTHER * normal_length_quantile(_QUANTILE, columns)


def expected_counts(counts: Array, noise: float, probabilities: Array) -> Array:
    """Return posterior means of counts that are 0 but with these probabilities, and then of the order of the noise.

    Examples
    --------
    >>> expected_counts(np.array([0.0, 30.0, 100.0]), 10.0, np.full(3, 0.01)).round(1)
    array([  0. ,  10.1, 100. ])
    """
    expected: Array = _probability(counts / noise, probabilities) * positive_mean(counts, noise)
    return expected


def _probability(z: Array, prior: Array | float) -> Array:
    """Return the probability that there are rows, from a count in standard deviations of its noise."""
    odds = prior / (1 - prior) / _MANY * np.exp(np.minimum(log_ndtr(z) + 0.5 * z**2, 300.0)) * math.sqrt(2 * math.pi)
    probability: Array = odds / (1 + odds)
    return probability


def _prior_probabilities(counts: Array, noise: float, middles: Array, spikes: Array, rows: float) -> Array:
    """Return how likely it is that there are rows, before the count of an axis in a bin (bins, d) is looked at."""
    alone = np.minimum(_IN_AXIS, _VARIANCE * rows / (noise * middles**2))[:, None]
    alone = np.where(spikes, _IN_SPIKE, alone)
    somewhere = _probability(counts.sum(axis=1) / (noise * math.sqrt(counts.shape[1])), _IN_BIN)[:, None]
    return np.maximum(alone, alone + (_IN_AXIS_OF_BIN - alone) * somewhere)


def _longest(component: Components, facts: PublicFacts) -> Array:
    """Return how far out rows may lie along each axis, by the public bounds, (d,)."""
    whitener = np.linalg.inv(component.factors[0])
    longest: Array = np.abs(whitener) @ (facts.farthest + np.abs(component.means[0]))
    return longest


def _useful_bins(component: Components, facts: PublicFacts) -> int:
    """Return how many bins it takes to reach the longest row that there may be."""
    ratio = float(np.linalg.norm(_longest(component, facts))) / far_length(facts.columns)
    return int(np.clip(math.ceil(math.log2(max(ratio, 1.0))), 1, MOST_BINS))
