"""How far off a mean of bounded values may be, and what noise exceeds with some probability."""

from __future__ import annotations

import math

from scipy.special import ndtri

from tacit.arrays import Array
from tacit.statistics.influence import Influence


def deviation(influence: Influence, scale: Array, moment: Array, order: float, rows: float, failure: float) -> Array:
    """Return what the bounded mean, before noise, is off by at most, but for a chance of `failure`.

    The bias, and Bernstein's inequality: bounded values Y have |Y - EY| <= 2 B s, and, as |f(u)| <= |u|, a variance of
    at most M^(2/k) for k >= 2 and (B s)^(2-k) M for k < 2.
    """
    largest = influence.bound * scale
    variance = moment ** (2 / order) if order >= 2 else largest ** (2 - order) * moment
    log = math.log(2 / failure)
    third = 2 * largest * log / 3
    return (
        influence.bias(order) * moment / scale ** (order - 1)
        + (third + (third**2 + 2 * variance * log * rows) ** 0.5) / rows
    )


def laplace_tail(deviation: float, chance: float) -> float:
    """Return what Laplace noise of this standard deviation exceeds with a probability of at most a half.

    Examples
    --------
    >>> round(laplace_tail(1.0, 0.05), 3), round(gaussian_tail(1.0, 0.05), 3)
    (1.628, 1.645)
    """
    return deviation / math.sqrt(2) * math.log(0.5 / chance)


def gaussian_tail(deviation: float, chance: float) -> float:
    """Return what Gaussian noise of this standard deviation exceeds with probability `chance`."""
    return -deviation * float(ndtri(chance))
