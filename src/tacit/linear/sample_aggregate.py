"""Sample and aggregate: least squares on many blocks of rows, and what the blocks have in common, released once.

- *sample_aggregate*: the block's coefficients that most others are near to, with noise relative to how near they are
  (Nissim, Raskhodnikova and Smith, 2007; Wang, Xiao, Devadas and Xu, 2020, Algorithm 1). As printed it is not private;
  :class:`tacit.statistics.BlockCentre` says what was wrong. Blocks are disjoint, and the noise is that of the exact
  profile of Gaussians whose scales differ.
- *block_mean*: the mean of the blocks' coefficients, each in a ball of known radius. The ball may be coarse, as there
  is one release and noise falls with the number of blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tacit.fitting.engine import Noise
from tacit.linear.linear_descent import plain_fit
from tacit.linear.linear_fit import LinearFit
from tacit.privacy import Budget, Gaussian, SmoothGaussian, Step
from tacit.statistics import BlockCentre, BlockSquares
from tacit.statistics.components import Array

COEFFICIENTS = "coefficients"


@dataclass
class SampleAggregate:
    """One release, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    statistic_asked : BlockSquares
        Of which the mean is released, or the centre if it is a :class:`tacit.statistics.BlockCentre`.
    budget : Budget
        What the published ratio of smoothness to noise depends on.
    """

    statistic_asked: BlockSquares
    budget: Budget
    rounds: list[str] = field(default_factory=lambda: [COEFFICIENTS])

    def steps(self) -> list[Step]:
        """Return the plan's step."""
        size = self.statistic_asked.size
        if not isinstance(self.statistic_asked, BlockCentre):
            return [Gaussian(COEFFICIENTS, 1.0, 1, size)]
        log = math.log(2 / self.budget.delta)  # published: shift e / (5 sqrt(2 log)), smoothness e / (4 (d + log))
        return [SmoothGaussian(COEFFICIENTS, 1.0, 1, size, smoothness=5 * math.sqrt(2 * log) / (4 * (size + log)))]

    def start(self) -> None:
        """Return nothing: nothing is known."""

    def statistic(self, state: None, index: int, noise: Noise) -> tuple[None, BlockSquares]:
        """Return what is asked."""
        return None, self.statistic_asked

    def update(self, state: None, index: int, statistic: BlockSquares, released: Array, noise: float) -> Array:
        """Return what was released."""
        return released

    def finish(self, found: Array) -> LinearFit:
        """Return the coefficients, in the ball where they are known to be."""
        asked = self.statistic_asked
        found = found * min(1.0, asked.radius / max(float(np.linalg.norm(found)), 1e-300))
        return plain_fit(found if asked.intercept else [0.0, *found], float(asked.rows))
