"""Frank and Wolfe's method over the ball of absolute values: each round chooses one corner, and goes towards it.

The ball has a corner for each slope and sign. A round chooses the corner along which the loss falls most, by the
exponential mechanism, and nothing else of the gradients is told: its cost grows with the logarithm of the number of
columns, and after few rounds few slopes are not zero (Talwar, Thakurta and Zhang, 2015). Inputs are not measured first,
as that would cost more than the choices do where columns are many: they are in standard coordinates, in which cells are
from -1 to 1, and each number of a row's gradient is at most the loss's largest slope (as much more as zero is away
from the middle of the bounds, without an intercept). An intercept is under no
constraint; it follows its own gradient, one number a round with Laplace noise. So a budget may be pure: delta 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier, selection_step
from tacit.linear.penalties import L1Ball
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore, keep_finite
from tacit.privacy import Laplace, Step
from tacit.release import Choice, Curator
from tacit.statistics import Clip, PredictionGradients, RobustSum, SomeValues

CORNER, INTERCEPT = "corner", "intercept"
_ITERATIONS = 20
_CHOICES_BUDGET = 0.8  # Part of the budget for choices of corners.
_COUNT_WEIGHT = 0.5  # Weight of the number of rows beside the intercept's gradient.


def solve(problem: Problem, curator: Curator, iterations: int, after: AfterRelease = ignore) -> Solution:
    """Choose corners privately, and make steps of 2 / (t + 2) towards them."""
    point = np.zeros_like(problem.begin)
    for index in range(iterations):
        gradients = _gradients(problem, point, tuple(range(1, point.size)), 0.0)
        places, signs = curator.choose(CORNER, Choice(gradients, 1, "either"))
        step = 2 / (index + 2)
        point = point.copy()
        point[0, 1:] *= 1 - step
        point[0, 1 + places[0]] -= step * signs[0] * problem.penalty.radius
        if problem.intercept:
            point = _move_intercept(problem, curator, point)
        after(CORNER, point)
    return Solution(point)


def _gradients(problem: Problem, point: Array, places: tuple[int, ...], count_weight: float) -> RobustSum:
    """Return the statistic of gradients at a point, of coefficients at these places."""
    steepest = problem.loss.lipschitz * (1.0 + float(np.abs(problem.coordinates.centre).max()))
    values = SomeValues(PredictionGradients(problem.loss, point), places)
    return RobustSum(np.zeros(values.size), np.full(values.size, steepest), Clip(), values, count_weight)


def _move_intercept(problem: Problem, curator: Curator, point: Array) -> Array:
    """Release the gradient of the intercept with the number of rows, and make a step down the gradient."""
    statistic = _gradients(problem, point, (0,), _COUNT_WEIGHT)
    counted, sums = statistic.parts(curator.measure(INTERCEPT, statistic).value)
    rows = problem.rows or max(counted, 1.0)
    point = point.copy()
    point[0, 0] -= statistic.scale[0] * sums[0] / rows / problem.loss.smoothness
    return keep_finite(point)


def steps(iterations: int, size: int, power: float, shares: int = 1) -> list[Step]:
    """Return the plan's steps."""
    return [
        selection_step(CORNER, _CHOICES_BUDGET, iterations, size - 1),
        Laplace(INTERCEPT, noise_multiplier(1 - _CHOICES_BUDGET, iterations), iterations, 2),
    ]


def refusal(risk: Any, n_iter: Any) -> str | None:
    """Ask for a ball of absolute values."""
    if isinstance(risk.penalty, L1Ball):
        return None
    return "goes from corner to corner of an L1Ball: it is for tacit.ERM(loss, constraint=L1Ball(radius))."


FRANK_WOLFE = Solver(solve, steps, lambda columns: _ITERATIONS, refusal=refusal, measures_inputs=False)
