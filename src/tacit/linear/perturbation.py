"""Solvers that find the minimum as it is, and pay once: with noise on where it is, or on what is minimised.

- *output*: the minimum of the sum of losses and a penalty, plus noise for how far a row can move it. The penalty is
  what keeps rows from moving it, so it must be strong: there is no more to it, however many rows there are.
- *objective*: a random linear term tilts the sum of losses, and the minimum of that needs next to no noise of its own.
  A tilt is worth as much as noise on one gradient, which many rows outweigh.

Both rest on :mod:`tacit.release.minimum`, where the proofs are. Rows weigh less the longer they are beyond an ordinary
one, see :class:`tacit.statistics.WeighedGradients`: so a row's gradient and curvature are bounded, in coordinates that
moments of inputs have been released for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore, keep_finite
from tacit.privacy import Gaussian, Step, TiltedGaussian
from tacit.release import Curator, Minimum
from tacit.statistics import WeighedGradients

MINIMUM, TILT = "minimum", "tilt"
_CLIP_RADIUS = 1.0  # Row length beyond which rows weigh less, in typical row lengths.
_EXPECTED_CURVATURE = 0.5  # Mean curvature of rows, relative to the largest.
_LEAST_RIDGE = 1e-8  # Least ridge of a direction, relative to the sum. Columns may be in very different units.
_MASK_BUDGET = 0.02  # Part of the budget that masks the computing error of a tilted minimum.
_ALONE = "minimises as far as it takes, and n_iter is for solvers that pay for every step; leave it out."
_TRUSTED = (
    "is private because losses are convex, and as steep and curved as they say. That is proven for losses of this "
    'library and only declared for others; use "newton", or "accmd".'
)


def perturb_output(problem: Problem, curator: Curator, iterations: int, after: AfterRelease = ignore) -> Solution:
    """Return the minimum of losses and a penalty on squares, plus noise.

    The intercept has a penalty too, that of slopes on average, on its distance from where the estimator starts it.
    """
    ridge = problem.ridge.copy()
    ridge[0, 0] = np.trace(ridge) / (len(ridge) - 1)
    return _minimise(problem, curator, ridge + _LEAST_RIDGE * float(np.trace(ridge)) * np.eye(len(ridge)), None, after)


def perturb_objective(problem: Problem, curator: Curator, iterations: int, after: AfterRelease = ignore) -> Solution:
    """Return the minimum of losses, penalty, a random linear term and the ridge that it needs."""
    return _minimise(problem, curator, problem.ridge, TILT, after)


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


def output_steps(iterations: int, size: int, power: float, shares: int = 1) -> list[Step]:
    """Return the plan's step."""
    return [Gaussian(MINIMUM, noise_multiplier(power), 1, size)]


def objective_steps(iterations: int, size: int, power: float, shares: int = 1) -> list[Step]:
    """Return the plan's steps."""
    return [
        TiltedGaussian(TILT, noise_multiplier(power * (1 - _MASK_BUDGET)), 1, size),
        Gaussian(MINIMUM, noise_multiplier(power * _MASK_BUDGET), 1, size),
    ]


def output_refusal(risk: Any, n_iter: Any) -> str | None:
    """Ask for a loss that is proven, and for a penalty."""
    if not risk.proven:
        return _TRUSTED
    if n_iter != "auto":
        return _ALONE
    if not risk.ridge(1.0) > 0:
        return "needs a penalty on squared coefficients, and there is none: C must be finite, or alpha positive."
    return None


def objective_refusal(risk: Any, n_iter: Any) -> str | None:
    """Ask for a loss of one prediction that is proven, and has two derivatives."""
    if not risk.proven:
        return _TRUSTED
    if n_iter != "auto":
        return _ALONE
    if not risk.smooth:
        return 'needs a loss with two derivatives, which logistic regression alone has here; use "newton".'
    if risk.loss.outputs > 1:
        many = risk.loss.outputs
        return f'is for two classes, and there are {many}: Only binary classification is supported. Use "newton".'
    return None


OUTPUT_PERTURBATION = Solver(perturb_output, output_steps, lambda columns: 1, refusal=output_refusal)
OBJECTIVE_PERTURBATION = Solver(perturb_objective, objective_steps, lambda columns: 1, refusal=objective_refusal)
