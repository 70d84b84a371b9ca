"""Rules for the scale at which values with bounded moments are clipped; they balance bias against noise.

With E|x - c|^k <= M, bounding at scale s has a bias of at most K M / s^(k - 1), where K is the influence's own
constant, and noise of standard deviation B s tau / n, where B is the influence's bound and tau the noise on the sum of
n contributions of at most 1.
"""

from __future__ import annotations

import math

from scipy.special import ndtri

from tacit.arrays import Array
from tacit.statistics.influence import Influence

# Failure probability in the published scales, which leave it open. benchmarks/robust_mean.py measures what it gives.
FAILURE = 0.01


def minimax_scale(influence: Influence, moment: Array, order: float, noise: float, rows: float) -> Array:
    """Return the scale at which the worst squared bias plus the variance of the noise is least.

    (K M / s^(k-1))^2 + (B tau s / n)^2 has its minimum at s^(2k) = (k - 1) (K M n / (B tau))^2.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import Clip
    >>> minimax_scale(Clip(), np.array([4.0]), 2, noise=2.0, rows=10_000)  # sqrt(n v / (4 tau))
    array([70.71067812])
    """
    ratio = influence.bias(order) * moment * rows / (influence.bound * noise)
    return ratio ** (1 / order) * (order - 1) ** (1 / (2 * order))


def thesis_scale(moment: Array, rows: float) -> Array:
    """Return the published scale that is best without noise, sqrt(n v / (2 log(1 / failure)))."""
    return (rows * moment / (2 * math.log(1 / FAILURE))) ** 0.5


def improved_scale(moment: Array, rows: float, epsilon: float, delta: float) -> Array:
    """Return the published scale sqrt(n epsilon v) / (log(1 / failure) log(1 / delta)^(1/4))."""
    return (rows * epsilon * moment) ** 0.5 / (math.log(1 / FAILURE) * math.log(1 / delta) ** 0.25)


def deviation_bound(
    influence: Influence, scale: Array, moment: Array, order: float, rows: float, failure: float
) -> Array:
    """Return a bound on the error of the bounded mean before noise, which fails with probability `failure`.

    It adds the bias and Bernstein's inequality: bounded values Y have |Y - EY| <= 2 B s, and, as |f(u)| <= |u|, a
    variance of at most M^(2/k) for k >= 2 and (B s)^(2-k) M for k < 2.
    """
    largest = influence.bound * scale
    variance = moment ** (2 / order) if order >= 2 else largest ** (2 - order) * moment
    log = math.log(2 / failure)
    third = 2 * largest * log / 3
    return (
        influence.bias(order) * moment / scale ** (order - 1)
        + (third + (third**2 + 2 * variance * log * rows) ** 0.5) / rows
    )


def laplace_tail(deviation: float, probability: float) -> float:
    """Return the number that Laplace noise of this standard deviation exceeds with `probability`, at most 1/2.

    Examples
    --------
    >>> round(laplace_tail(1.0, 0.05), 3), round(gaussian_tail(1.0, 0.05), 3)
    (1.628, 1.645)
    """
    return deviation / math.sqrt(2) * math.log(0.5 / probability)


def gaussian_tail(deviation: float, probability: float) -> float:
    """Return the number that Gaussian noise of this standard deviation exceeds with `probability`."""
    return -deviation * float(ndtri(probability))
