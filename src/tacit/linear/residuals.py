"""Residuals of a regression, measured last: their mean square and their mean.

Scores and gradients of skewed residuals are clipped, which moves the level of predictions and not their slopes. So in
the end the mean residual is released by itself, with residuals clipped much farther out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import minimax_scale, radius_within_noise
from tacit.fitting.shrinkage import shrink
from tacit.release import Curator
from tacit.statistics import Clip, LinearResiduals, RobustSum

SQUARES, LEVEL = "squared residuals", "level"
# benchmarks/linear_regression.py measures what these numbers give, on simulated tables with light and heavy tails.
SCALE_VARIANCE = 0.25  # Prior variance of the squared residual scale, relative to its square.

# Clip radii of residuals, in units of the residual scale.
_LEAST_RADIUS, _MOST_RADIUS = 3.0, 50.0
_TAILS = 4.0  # Clip radius for the mean, before it grows with how heavy the tails are.
_LEVEL_NOISE = 0.5  # Noise that a wider clip radius may add to the mean, in standard errors.
_SQUARES_NOISE = 0.1  # Noise that a wider clip radius may add to the mean square, in squared residual scales.


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of a regression, clipped as far out as the noise allows and the tails require.

    Parameters
    ----------
    coefficients : (1 + d,) array
        The intercept first, for rows as the curator has them.
    scale : float
        The residual scale, as far as it is known.
    rows : float
        How many rows a release is of.
    """

    coefficients: Array
    scale: float
    rows: float

    def measure_variance(self, curator: Curator) -> float:
        """Release the mean square of residuals; return it, or the squared scale where noise hides the difference."""
        noise = self._unit_noise(curator, SQUARES)
        radius = float(radius_within_noise(noise, _SQUARES_NOISE, 2, _LEAST_RADIUS, _MOST_RADIUS))
        bound = (radius * self.scale) ** 2
        squares = curator.measure(SQUARES, self._sum(bound, squared=True))
        usual = self.scale**2
        surprise = np.array([float(squares.value[0]) / self.rows * bound - usual])
        known = shrink(surprise, squares.noise / self.rows * bound, SCALE_VARIANCE * usual**2)[0]
        return max(usual + float(known[0]), 0.5 * usual)

    def measure_mean(self, curator: Curator, variance: float) -> tuple[float, float]:
        """Release the mean of residuals with this variance; return it, and the variance of its error."""
        noise, tails = self._unit_noise(curator, LEVEL), variance / self.scale**2
        minimax = float(minimax_scale(Clip(), tails, 2, noise, 1.0))
        radius = max(_LEVEL_NOISE / (noise * math.sqrt(self.rows)), min(_TAILS * tails**1.5, minimax), _LEAST_RADIUS)
        statistic = self._sum(min(radius, _MOST_RADIUS) * self.scale, squared=False)
        total = curator.measure(LEVEL, statistic)
        unit = float(statistic.scale[0]) / self.rows
        return float(total.value[0]) * unit, (total.noise * unit) ** 2 + variance / self.rows

    def _sum(self, bound: float, squared: bool) -> RobustSum:
        return RobustSum(np.zeros(1), np.array([bound]), Clip(), LinearResiduals(self.coefficients, squared))

    def _unit_noise(self, curator: Curator, step: str) -> float:
        """Return the noise that this step adds to a mean of numbers within 1."""
        return curator.noise(step, self._sum(1.0, squared=False)) / self.rows
