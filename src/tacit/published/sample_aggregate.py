"""Sample and aggregate: least squares on many blocks of rows, and what the blocks have in common, released once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.fitting.parameters import check_positive
from tacit.linear.linear_fit import LinearFit
from tacit.linear.linear_model import RegressionMethod
from tacit.privacy import Budget, Gaussian, SmoothGaussian, Step
from tacit.published.least_squares import SMOOTH_NOISE, PublishedRegression, plain_fit
from tacit.release import Curator
from tacit.statistics import BlockCentre, BlockSquares

COEFFICIENTS = "coefficients"


class _BlockMethod(PublishedRegression):
    """What the two methods share."""

    coef_bound: float | None

    def __post_init__(self) -> None:
        if self.coef_bound is None:
            name = type(self).__name__
            raise ValueError(
                f"{name} needs coef_bound, a number that all coefficients together are publicly known to be no longer "
                f"than. It may be coarse: method=tacit.published.{name}(coef_bound=10.0)."
            )
        check_positive("coef_bound", self.coef_bound)

    def regression(self, columns: int, n_rows: int | None, intercept: bool, budget: Budget) -> RegressionMethod:
        """Return the plan's step and the fit; it refuses where rows are too few."""
        blocks = self.blocks(columns, n_rows, float(self.coef_bound), intercept)
        return RegressionMethod(
            [self.step(blocks, budget)],
            1,
            lambda curator, domain, watch: fit_blocks(curator, blocks),
            lambda curator: curator.noise(COEFFICIENTS, blocks),
        )


@dataclass(frozen=True, kw_only=True)
class SampleAggregate(_BlockMethod):
    """The block's coefficients that most others are near to, with noise relative to how near they are.

    Nissim, Raskhodnikova and Smith (2007); Wang, Xiao, Devadas and Xu (2020), Algorithm 1. As printed it is not
    private; :class:`tacit.statistics.BlockCentre` says what was wrong. Blocks are disjoint, and the noise is that of
    the exact profile of Gaussians whose scales differ. It takes many rows, or a large epsilon.

    Parameters
    ----------
    coef_bound : float
        How long the vector of coefficients, the intercept included, may be. It has no default.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40_000, 2))
    >>> y = X @ [0.6, -0.8] + 0.02 * rng.normal(size=40_000)
    >>> method = tacit.published.SampleAggregate(coef_bound=3.0)
    >>> model = tacit.LinearRegression(method=method, epsilon=8.0, random_state=0).fit(X, y)
    >>> bool(np.abs(model.coef_ - [0.6, -0.8]).max() < 0.3)
    True
    """

    coef_bound: float | None = None

    blocks: ClassVar[Any] = BlockCentre
    notes: ClassVar[tuple[str, ...]] = (SMOOTH_NOISE,)

    def step(self, blocks: BlockSquares, budget: Budget) -> Step:
        """Return the plan's step. The published ratio of smoothness to noise depends on the budget."""
        log = math.log(2 / budget.delta)  # Published: shift e / (5 sqrt(2 log)), smoothness e / (4 (d + log)).
        smoothness = 5 * math.sqrt(2 * log) / (4 * (blocks.size + log))
        return SmoothGaussian(COEFFICIENTS, 1.0, 1, blocks.size, smoothness=smoothness)


@dataclass(frozen=True, kw_only=True)
class BlockMean(_BlockMethod):
    """The mean of the blocks' coefficients, each in a ball of known radius.

    The ball may be coarse, as there is one release and noise falls with the number of blocks.

    Parameters
    ----------
    coef_bound : float
        The radius: how long the vector of coefficients, the intercept included, may be. It has no default.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40_000, 2))
    >>> y = X @ [0.6, -0.8] + rng.standard_t(3, 40_000)
    >>> method = tacit.published.BlockMean(coef_bound=5.0)
    >>> tacit.LinearRegression(method=method, random_state=0).fit(X, y).coef_.round(1)
    array([ 0.6, -0.8])
    """

    coef_bound: float | None = None

    blocks: ClassVar[Any] = BlockSquares

    def step(self, blocks: BlockSquares, budget: Budget) -> Step:
        """Return the plan's step."""
        return Gaussian(COEFFICIENTS, 1.0, 1, blocks.size)


def fit_blocks(curator: Curator, blocks: BlockSquares) -> LinearFit:
    """Release the mean of the blocks' coefficients, or their centre, in the ball where they are known to be."""
    found = curator.measure(COEFFICIENTS, blocks).value
    found = found * min(1.0, blocks.radius / max(float(np.linalg.norm(found)), 1e-300))
    return plain_fit(found if blocks.intercept else [0.0, *found], float(blocks.rows))
