"""What clipping does to normal values, and where to clip. Arithmetic on public numbers and private values alone.

A value, row or score longer than the *clip radius* is shortened to it. Noise grows with the radius, and clipping hides
what lies beyond it. For a normal law, what clipping hides can be computed, and estimates are corrected for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import chdtr, chdtrc, ndtri
from scipy.stats import chi2, qmc

from tacit.arrays import Array
from tacit.statistics.influence import Influence

# How clipped variances are corrected. tests/unit/mixture/test_mixture_parts.py measures how exact the result is.
_UNCLIP_ROUNDS = 8
_MOST_STRETCH = 3.0  # Clipped moments say little about a variance this many times larger than they are.
_MOST_FILLED = 0.98  # Largest sum of clipped moments, in squared radii: at 1, variances would be infinite.

_NORMAL_POINTS = 1024  # Points of the quadrature over normal rows, which is exact to three digits.
_SCORE_POINTS = 1 << 16  # Points of the integral over scores of regressions.


def clipped_normal_variance(radii: Any, columns: int = 1) -> Any:
    """Return the variance of each column of standard normal rows that are clipped at each of these radii.

    E min(|y|^2, r^2) / d = F_(d+2)(r^2) + (r^2 / d) (1 - F_d(r^2)), where F_k is the distribution function of the
    chi-squared law with k degrees of freedom. :class:`tacit.statistics.losses.HuberLoss` has it for d = 1, too.

    Examples
    --------
    >>> clipped_normal_variance(np.array([1.0, 2.0, 4.0])).round(3), clipped_normal_variance(2.0, 5).round(3)
    (array([0.516, 0.921, 1.   ]), np.float64(0.66))
    """
    squares = radii**2
    return inner_normal_variance(radii, columns) + squares / columns * chdtrc(columns, squares)


def inner_normal_variance(radii: Any, columns: int = 1) -> Any:
    """Return what standard normal rows within each of these radii add to the variance of a column: F_(d+2)(r^2).

    Examples
    --------
    >>> inner_normal_variance(np.array([1.0, 2.0, 4.0])).round(3), inner_normal_variance(2.0, 5).round(3)
    (array([0.199, 0.739, 0.999]), np.float64(0.22))
    """
    return chdtr(columns + 2, radii**2)


def normal_length_quantile(probability: float, columns: int) -> float:
    """Return the length that a standard normal row does not exceed with this probability.

    Examples
    --------
    >>> round(normal_length_quantile(0.95, 1), 2), round(normal_length_quantile(0.9, 10), 2)
    (1.96, 4.0)
    """
    return math.sqrt(chi2.ppf(probability, columns))


def laplace_variance_beyond(radii: Array) -> Array:
    """Return by how much clipping at each of these radii lowers the variance of a Laplace law of variance 1.

    With s = sqrt(2), P(abs(x) > r) = exp(-s r), and the integral of 2 r exp(-s r) from r on is (1 + s r) exp(-s r).

    Examples
    --------
    >>> laplace_variance_beyond(np.array([0.0, 1.0, 4.0])).round(3)
    array([1.   , 0.587, 0.023])
    """
    return np.exp(-math.sqrt(2.0) * radii) * (1 + math.sqrt(2.0) * radii)


def clipped_variances(variances: Array, radius: float) -> Array:
    """Return the second moments of clip(y, radius), y ~ N(0, diag(variances)), one for each axis.

    Examples
    --------
    >>> clipped_variances(np.array([1.0, 1.0]), 10.0).round(6), clipped_variances(np.array([1.0, 1.0]), 1.0).round(2)
    (array([1., 1.]), array([0.39, 0.39]))
    """
    squares = _normal_squares(len(variances))
    factors = np.minimum(1.0, radius**2 / np.maximum(squares @ variances, 1e-300))
    return variances * (factors @ squares) / len(squares)


def mean_clipped_variance(columns: int, radius: float) -> float:
    """Return the mean over axes of the second moments of clip(y, radius), y standard normal; 1 without columns.

    It is computed by the same quadrature as :func:`clipped_variances`, so that the correction of an identity matrix is
    exact.

    Examples
    --------
    >>> round(mean_clipped_variance(5, 2.0), 2), mean_clipped_variance(0, 1.0)
    (0.66, 1.0)
    """
    return min(1.0, float(clipped_variances(np.ones(columns), radius).mean())) if columns else 1.0


def unclip_variances(moments: Array, radius: float) -> Array:
    """Return the variances whose clipped second moments are `moments`: the inverse of :func:`clipped_variances`.

    Examples
    --------
    >>> truth = np.array([2.0, 1.0, 0.5])
    >>> unclip_variances(clipped_variances(truth, 2.0), 2.0).round(1)
    array([2. , 1. , 0.5])
    """
    total = moments.sum()
    if total > _MOST_FILLED * radius**2:
        moments = moments * (_MOST_FILLED * radius**2 / total)
    most = _MOST_STRETCH * np.maximum(moments, moments.mean())
    variances = moments
    for _ in range(_UNCLIP_ROUNDS):
        variances = np.clip(variances * moments / clipped_variances(variances, radius), moments, most)
    return variances


@lru_cache(maxsize=8)
def _normal_squares(columns: int) -> Array:
    """Return squares of standard normal rows, evenly spread, with a mean of exactly 1 in each column."""
    points = qmc.Sobol(columns, scramble=True, seed=0).random(_NORMAL_POINTS)
    squares = ndtri(np.clip(points, 1e-9, 1 - 1e-9)) ** 2
    squares /= squares.mean(axis=0)
    squares.setflags(write=False)
    return squares


@lru_cache(maxsize=16)
def clipped_score_moments(columns: int, longest: float, radius: float) -> tuple[float, float]:
    """Return the Hessian and the second moment, in each direction, of scores of a regression clipped at `radius`.

    Scores are e (1, u), with e and u standard normal and u no longer than `longest`. As residuals move by <d, (1, u)>,
    scores within the radius move by that times (1, u), and those beyond it hardly move.

    Examples
    --------
    >>> [round(moment, 2) for moment in clipped_score_moments(10, 1e9, 1e9)]
    [1.0, 1.0]
    """
    rng = np.random.default_rng(0)
    squares = 1 + np.minimum(rng.chisquare(columns, _SCORE_POINTS), longest**2)
    residuals = rng.normal(size=_SCORE_POINTS) ** 2
    inside = residuals * squares < radius**2
    numbers = 1 + columns
    return (
        float(np.mean(inside * squares) / numbers),
        float(np.mean(np.minimum(residuals * squares, radius**2)) / numbers),
    )


def least_variance_radius(
    radii: Sequence[float], noise: float, clipped_moments: Callable[[float], tuple[float, float]]
) -> float:
    """Return the clip radius with the least variance of an estimate, by sampling and noise together.

    An estimate that solves "mean of clipped scores = 0" has the variance (S + (noise r)^2) / H^2, where H is the
    Hessian and S the second moment of the clipped scores (Huber, 1964).

    Parameters
    ----------
    radii : sequence of float
        What to choose from.
    noise : float
        Standard deviation of the noise on a mean of scores clipped at 1, in standard errors.
    clipped_moments : callable
        Of a radius: H and S.

    Examples
    --------
    >>> [least_variance_radius((1.0, 2.0, 4.0), x, lambda r: clipped_score_moments(1, 1e9, r)) for x in (0.01, 1.0)]
    [4.0, 1.0]
    """

    def variance(radius: float) -> float:
        hessian, square = clipped_moments(radius)
        return (square + (noise * radius) ** 2) / hessian**2

    return min(radii, key=variance)


def radius_within_noise(noise: Any, most_noise: float, power: int, least: float, most: float) -> Any:
    """Return the widest clip radius, from `least` to `most`, at which noise * radius^power is at most `most_noise`.

    Parameters
    ----------
    noise : float or array
        Standard deviation of the noise with a clip radius of 1.
    most_noise : float
    power : {1, 2}
        1 for the noise of a mean of clipped values, 2 for that of a mean of their squares.
    least, most : float

    Examples
    --------
    >>> radius_within_noise(np.array([1e-6, 0.01, 1.0]), 0.1, 2, 1.1, 5.0).round(2)
    array([5.  , 3.16, 1.1 ])
    """
    ratio = most_noise / np.maximum(noise, 1e-300)
    return np.clip(np.sqrt(ratio) if power == 2 else ratio, least, most)


def minimax_scale(influence: Influence, moment: Array, order: float, noise: float, rows: float) -> Array:
    """Return the scale at which the worst squared bias plus the variance of the noise is least.

    With E|x - c|^k <= M, values bounded at scale s have a bias of at most K M / s^(k-1), where K is the influence's own
    constant, and their mean has noise of standard deviation B s tau / n, where B is the influence's bound and tau the
    noise on a sum of numbers within 1. (K M / s^(k-1))^2 + (B tau s / n)^2 is least at
    s^(2k) = (k - 1) (K M n / (B tau))^2.

    Examples
    --------
    >>> from tacit.statistics import Clip
    >>> minimax_scale(Clip(), np.array([4.0]), 2, noise=2.0, rows=10_000)  # sqrt(n v / (4 tau))
    array([70.71067812])
    """
    ratio = influence.bias(order) * moment * rows / (influence.bound * noise)
    return ratio ** (1 / order) * (order - 1) ** (1 / (2 * order))
