"""Solvers that find the minimum as it is, and pay once: with noise on where it is, or on what is minimised.

Both rest on :mod:`tacit.release.minimum`, where the proofs are. Rows weigh less the longer they are beyond an ordinary
one (:class:`tacit.published.statistics.WeighedGradients`). So a row's gradient and curvature are bounded, in
coordinates that moments of inputs have been released for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.fitting.published import PublishedMethod
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore, keep_finite
from tacit.privacy import Gaussian, Step, TiltedGaussian
from tacit.published.statistics import WeighedGradients
from tacit.release import Curator, Minimum

MINIMUM, TILT = "minimum", "tilt"

# benchmarks/logistic_regression.py --solvers measures what these numbers give, on eight simulated tables.
_CLIP_RADIUS = 1.0  # Row length beyond which rows weigh less, in typical row lengths.
_EXPECTED_CURVATURE = 0.5  # Mean curvature of rows, relative to the largest.
_LEAST_RIDGE = 1e-8  # Least ridge of a direction, relative to the sum. Columns may be in very different units.
_MASK_BUDGET = 0.02  # Part of the budget that masks the computing error of a tilted minimum.
_TRUSTED = (
    "is private because losses are convex, and as steep and curved as they say. That is proven for losses of this "
    'library and only declared for others; use "newton", or "accmd".'
)


@dataclass(frozen=True, kw_only=True)
class OutputPerturbation(PublishedMethod, Solver):
    """The minimum of the sum of losses and a penalty, plus noise for how far a row can move it.

    Chaudhuri, Monteleoni and Sarwate (2011). The penalty is what keeps rows from moving the minimum, so it must be
    strong: a small ``C``, or a large ``alpha``. More rows alone do not help. The intercept has a penalty too, that of
    slopes on average, on its distance from where the estimator starts it.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = (X @ [2.0, -1.0] + rng.logistic(size=20_000) > 0).astype(int)
    >>> solver = tacit.published.OutputPerturbation()
    >>> model = tacit.LogisticRegression(solver=solver, C=0.001, classes=[0, 1], bounds=5, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75)
    True
    """

    @property
    def rounds(self) -> int:
        """One: the minimum is released once."""
        return 1

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's step."""
        return [Gaussian(MINIMUM, noise_multiplier(power), 1, size)]

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Release the minimum."""
        ridge = problem.ridge.copy()
        ridge[0, 0] = np.trace(ridge) / (len(ridge) - 1)
        ridge += _LEAST_RIDGE * float(np.trace(ridge)) * np.eye(len(ridge))
        return _minimise(problem, curator, ridge, None, after)

    def refusal(self, risk: Any) -> str | None:
        """Ask for a loss that is proven, and for a penalty."""
        if not risk.proven:
            return _TRUSTED
        if not risk.ridge(1.0) > 0:
            return "needs a penalty on squared coefficients, and there is none: C must be finite, or alpha positive."
        return None


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation(PublishedMethod, Solver):
    """The minimum of the sum of losses, tilted by a random linear term; it needs next to no noise of its own.

    Chaudhuri, Monteleoni and Sarwate (2011); Kifer, Smith and Thakurta (2012). A tilt is worth as much as noise on one
    gradient, which many rows outweigh. It is for logistic regression of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = (X @ [2.0, -1.0] + rng.logistic(size=20_000) > 0).astype(int)
    >>> solver = tacit.published.ObjectivePerturbation()
    >>> model = tacit.LogisticRegression(solver=solver, classes=[0, 1], bounds=5, random_state=0).fit(X, y)
    >>> model.coef_.round()
    array([[ 2., -1.]])
    """

    @property
    def rounds(self) -> int:
        """One: the minimum is released once."""
        return 1

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps."""
        return [
            TiltedGaussian(TILT, noise_multiplier(power * (1 - _MASK_BUDGET)), 1, size),
            Gaussian(MINIMUM, noise_multiplier(power * _MASK_BUDGET), 1, size),
        ]

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Release the minimum of losses, penalty, a random linear term and the ridge that it needs."""
        return _minimise(problem, curator, problem.ridge, TILT, after)

    def refusal(self, risk: Any) -> str | None:
        """Ask for a loss of one prediction that is proven, and has two derivatives."""
        if not risk.proven:
            return _TRUSTED
        if not risk.smooth:
            return 'needs a loss with two derivatives, which logistic regression alone has here; use "newton".'
        if risk.loss.outputs > 1:
            many = risk.loss.outputs
            return f'is for two classes, and there are {many}: Only binary classification is supported. Use "newton".'
        return None


def _minimise(problem: Problem, curator: Curator, ridge: Array, tilt: str | None, after: AfterRelease) -> Solution:
    """Release the minimum of the sum of losses and the ridge."""
    loss, coordinates = problem.loss, problem.coordinates
    start = problem.begin.copy()
    start[:, 1:] = 0.0  # Penalties are measured from where intercepts start, and from no slopes.
    radius = _CLIP_RADIUS * coordinates.length
    every = np.eye(len(start))
    spread = np.diag(np.append(problem.intercept**2, coordinates.variances))
    longest = loss.lipschitz * radius * float(np.linalg.norm(start))
    minimum = Minimum(
        WeighedGradients(loss, start, radius, problem.intercept),
        start.ravel(),
        np.kron(every, problem.rows * ridge),
        np.kron(every, _EXPECTED_CURVATURE * loss.smoothness * problem.rows * spread),
        problem.most_rows,
        loss.at_zero + longest,
        tilt,
    )
    coefficients = keep_finite(curator.minimise(MINIMUM, minimum).reshape(start.shape))
    coefficients = np.column_stack([problem.intercept * coefficients[:, 0], coefficients[:, 1:]])
    after(MINIMUM, coefficients)
    return Solution(coefficients)
