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

import numpy as np

from tacit.linear.least_squares import plain_fit
from tacit.linear.linear_fit import LinearFit
from tacit.privacy import Budget, Gaussian, SmoothGaussian, Step
from tacit.release import Curator
from tacit.statistics import BlockCentre, BlockSquares

COEFFICIENTS = "coefficients"


def fit_blocks(curator: Curator, blocks: BlockSquares) -> LinearFit:
    """Release the mean of the blocks' coefficients, or their centre, in the ball where they are known to be."""
    found = curator.measure(COEFFICIENTS, blocks).value
    found = found * min(1.0, blocks.radius / max(float(np.linalg.norm(found)), 1e-300))
    return plain_fit(found if blocks.intercept else [0.0, *found], float(blocks.rows))


def steps(blocks: BlockSquares, budget: Budget) -> list[Step]:
    """Return the plan's step. The published ratio of smoothness to noise depends on the budget."""
    if not isinstance(blocks, BlockCentre):
        return [Gaussian(COEFFICIENTS, 1.0, 1, blocks.size)]
    log = math.log(2 / budget.delta)  # Published: shift e / (5 sqrt(2 log)), smoothness e / (4 (d + log)).
    smoothness = 5 * math.sqrt(2 * log) / (4 * (blocks.size + log))
    return [SmoothGaussian(COEFFICIENTS, 1.0, 1, blocks.size, smoothness=smoothness)]
