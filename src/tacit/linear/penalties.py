"""What may be added to a mean loss, and what coefficients may be confined to: all public, and no cost to privacy.

They are of coefficients on inputs in standard coordinates, in which bounds are from -1 to 1. Each is its proximal step:
``prox(slopes, step)`` is the minimum over v of |v - slopes|^2 / 2 + step * penalty(v), for slopes (K, d).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.fitting.shrinkage import simplex_threshold
from tacit.messages import describe


@dataclass(frozen=True)
class ElasticNetPenalty:
    """l1 |v|_1 + l2 |v|^2 / 2.

    Examples
    --------
    >>> import numpy as np
    >>> ElasticNetPenalty(l1=1.0, l2=1.0).prox(np.array([[3.0, 0.5]]), 1.0)
    array([[1., 0.]])
    """

    l1: float = 0.0
    l2: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.l1 < np.inf and 0 <= self.l2 < np.inf):
            raise ValueError(f"Strengths of penalties must be 0 or more, and finite; they are {self.l1} and {self.l2}.")

    def prox(self, slopes: Array, step: float) -> Array:
        """Return slopes moved towards zero by step * l1, and shrunk."""
        short = np.maximum(np.abs(slopes) - step * self.l1, 0.0)
        return np.copysign(short, slopes) / (1 + step * self.l2)


@dataclass(frozen=True)
class L2Ball:
    """Slopes of all predictions together are no longer than `radius`.

    Examples
    --------
    >>> import numpy as np
    >>> L2Ball(1.0).prox(np.array([[3.0, 4.0]]), 1.0)
    array([[0.6, 0.8]])
    """

    radius: float

    def __post_init__(self) -> None:
        _check_radius(self.radius)

    def prox(self, slopes: Array, step: float) -> Array:
        """Return slopes, shortened."""
        return slopes * (self.radius / max(float(np.linalg.norm(slopes)), self.radius))


@dataclass(frozen=True)
class L1Ball:
    """Absolute values of all slopes add up to `radius` at most.

    Examples
    --------
    >>> import numpy as np
    >>> L1Ball(1.0).prox(np.array([[3.0, 2.5]]), 1.0)
    array([[0.75, 0.25]])
    """

    radius: float

    def __post_init__(self) -> None:
        _check_radius(self.radius)

    def prox(self, slopes: Array, step: float) -> Array:
        """Return the nearest slopes, all moved towards zero by the same number."""
        sizes = np.abs(slopes)
        if sizes.sum() <= self.radius:
            return slopes
        return np.copysign(np.maximum(sizes - simplex_threshold(sizes.ravel(), self.radius), 0.0), slopes)


@dataclass(frozen=True)
class Box:
    """Each slope is between `low` and `high`, such as 0 and infinity.

    Examples
    --------
    >>> import numpy as np
    >>> Box(0.0, np.inf).prox(np.array([[3.0, -4.0]]), 1.0)
    array([[3., 0.]])
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(
                f"A box must have low below high, and they are {describe(self.low)} and {describe(self.high)}."
            )

    def prox(self, slopes: Array, step: float) -> Array:
        """Return slopes brought inside."""
        return np.clip(slopes, self.low, self.high)


@dataclass(frozen=True)
class Penalised:
    """A penalty and a constraint: the proximal step of one, then of the other.

    For separable penalties that is exact with a box, and with a ball in l2: both leave signs and the order of what the
    first step left.
    """

    penalty: ElasticNetPenalty
    constraint: L2Ball | Box

    def prox(self, slopes: Array, step: float) -> Array:
        """Return both steps, one after the other."""
        return self.constraint.prox(self.penalty.prox(slopes, step), step)


def _check_radius(radius: float) -> None:
    if not 0 < radius < np.inf:
        raise ValueError(f"The radius of a ball must be positive and finite, and it is {describe(radius)}.")
