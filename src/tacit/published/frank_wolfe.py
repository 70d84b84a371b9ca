"""Frank and Wolfe's method over the ball of absolute values: each round chooses one corner, and goes towards it.

Inputs are not measured first, as that would cost more than the choices do where columns are many. They are in standard
coordinates, in which cells are from -1 to 1, and each number of a row's gradient is at most the loss's largest slope
(as much more as zero is away from the middle of the bounds, without an intercept).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier, selection_step
from tacit.fitting.parameters import check_count
from tacit.fitting.published import PublishedMethod
from tacit.linear.penalties import L1Ball
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore, keep_finite
from tacit.privacy import Laplace, Step
from tacit.published.statistics import PredictionGradients, SomeValues
from tacit.release import Choice, Curator
from tacit.statistics import Clip, RobustSum

CORNER, INTERCEPT = "corner", "intercept"

# benchmarks/logistic_regression.py --solvers measures what these numbers give, on tables of 50 and 500 columns.
_CHOICES_BUDGET = 0.8  # Part of the budget for choices of corners.
_COUNT_WEIGHT = 0.5  # Weight of the number of rows beside the intercept's gradient.


@dataclass(frozen=True, kw_only=True)
class FrankWolfe(PublishedMethod, Solver):
    """Private corners of an :class:`tacit.linear.L1Ball`: for many columns, of which few matter.

    Talwar, Thakurta and Zhang (2015). The ball has a corner for each slope and sign. A round chooses the corner along
    which the loss falls most, by the exponential mechanism, and nothing else of the gradients is told. So its cost
    grows with the logarithm of the number of columns, and after few rounds few slopes are not zero. An intercept is
    under no constraint: it follows its own gradient, one number a round with Laplace noise. So a budget may be pure,
    with delta 0.

    Parameters
    ----------
    n_iter : int, default 20
        Number of rounds.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.linear import ConvexLoss, L1Ball
    >>> loss = ConvexLoss(lambda p, t: np.logaddexp(p - t, t - p), lambda p, t: np.tanh(p - t), 1.0, 1.0)
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 100))
    >>> y = 3 * X[:, 7] + 0.3 * rng.normal(size=20_000)
    >>> solver = tacit.published.FrankWolfe(n_iter=10)
    >>> options = {"constraint": L1Ball(3.0), "bounds": 1.0, "target_bounds": 5.0, "delta": 0.0, "random_state": 0}
    >>> model = tacit.ERM(loss, solver=solver, **options).fit(X, y)
    >>> int(np.argmax(np.abs(model.coef_)))
    7
    """

    n_iter: int = 20

    needs_delta: ClassVar[bool] = False
    measures_inputs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_count("n_iter", self.n_iter)

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps."""
        return [
            selection_step(CORNER, _CHOICES_BUDGET, self.n_iter, size - 1),
            Laplace(INTERCEPT, noise_multiplier(1 - _CHOICES_BUDGET, self.n_iter), self.n_iter, 2),
        ]

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Choose corners privately, and make steps of 2 / (t + 2) towards them."""
        point = np.zeros_like(problem.begin)
        for index in range(self.n_iter):
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

    def refusal(self, risk: Any) -> str | None:
        """Ask for a ball of absolute values."""
        if isinstance(risk.penalty, L1Ball):
            return None
        return "goes from corner to corner of an L1Ball: it is for tacit.ERM(loss, constraint=L1Ball(radius))."


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
