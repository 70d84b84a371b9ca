"""What is left of a target beside a regression, released last: its mean square and its mean.

Scores and gradients of skewed residuals are clipped, which moves the level of predictions and not their slopes. So in
the end the mean residual is released by itself, with residuals clipped much farther out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.fitting.engine import Noise
from tacit.fitting.shrinkage import shrunk
from tacit.statistics import Clip, LinearResiduals, RobustSum
from tacit.statistics.components import Array

SQUARES, LEVEL = "squared residuals", "level"
SCALE_DOUBT = 0.25  # of the square of the scale, as a relative variance
_LEAST_REACH, _MOST_REACH = 3.0, 50.0  # scales at which residuals are clipped for their mean and their mean square
_LEVEL_NOISE = 0.5  # of the level, in standard errors, that a wide reach may cost
_SQUARES_NOISE = 0.1  # of the mean square, in squared scales
_TAILS = 4.0  # scales at which residuals are clipped, times how much larger than usual their mean square is


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of a regression, clipped as far out as noise allows and as tails call for.

    Parameters
    ----------
    coefficients : (1 + d,) array
        The intercept first, for rows as the curator has them.
    scale : float
        Of residuals, as far as is known.
    rows : float
        How many rows a release is of.
    """

    coefficients: Array
    scale: float
    rows: float

    def squares(self, noise: Noise) -> RobustSum:
        """Return the statistic of their squares."""
        reach = min(max(math.sqrt(_SQUARES_NOISE / self._unit(noise)), _LEAST_REACH), _MOST_REACH)
        return self._sum((reach * self.scale) ** 2, squared=True)

    def variance(self, statistic: RobustSum, released: Array, noise: float) -> float:
        """Return their mean square: more than the scale says where that is clear."""
        bound = float(statistic.scale[0])
        usual = self.scale**2
        surprise = np.array([float(released[0]) / self.rows * bound - usual])
        known = shrunk(surprise, noise / self.rows * bound, SCALE_DOUBT * usual**2)[0]
        return max(usual + float(known[0]), 0.5 * usual)

    def level(self, noise: Noise, variance: float) -> RobustSum:
        """Return the statistic of their mean."""
        unit, tails = self._unit(noise), variance / self.scale**2
        affordable = math.sqrt(tails / (4 * unit))  # where noise is as large as the bias that this variance allows
        reach = max(_LEVEL_NOISE / (unit * math.sqrt(self.rows)), min(_TAILS * tails**1.5, affordable), _LEAST_REACH)
        return self._sum(min(reach, _MOST_REACH) * self.scale, squared=False)

    def mean(self, statistic: RobustSum, released: Array, noise: float, variance: float) -> tuple[float, float]:
        """Return their mean, and the variance of what it is off by."""
        reach = float(statistic.scale[0]) / self.rows
        return float(released[0]) * reach, (noise * reach) ** 2 + variance / self.rows

    def _sum(self, bound: float, squared: bool) -> RobustSum:
        return RobustSum(np.zeros(1), np.array([bound]), Clip(), LinearResiduals(self.coefficients, squared))

    def _unit(self, noise: Noise) -> float:
        """Return the noise of a mean of numbers within 1."""
        return noise(self._sum(1.0, squared=False)) / self.rows
