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

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tacit.fitting.engine import Noise
from tacit.linear.newton import Stand
from tacit.linear.penalties import L1Ball
from tacit.linear.problem import Problem, Solver, bounded
from tacit.privacy import Laplace, Selection, Step
from tacit.release import Choice
from tacit.statistics import Clip, PredictionGradients, RobustSum, SomeValues
from tacit.statistics.components import Array

CORNER, INTERCEPT = "corner", "intercept"
_ROUNDS = 20
_CHOICES = 0.8  # of the budget, for choices
_COUNT = 0.5  # weight of the number of rows beside the intercept's gradient


@dataclass
class FrankWolfe(Solver):
    """Private choices of corners, and steps of 2 / (t + 2) towards them; run by :func:`tacit.fitting.engine.run`."""

    problem: Problem
    iterations: int
    rounds: list[str] = field(init=False)

    measures: ClassVar[bool] = False

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return 20."""
        return _ROUNDS

    @staticmethod
    def refusal(estimator: Any) -> str | None:
        """Ask for a ball of absolute values."""
        if isinstance(estimator._penalty, L1Ball):
            return None
        return "goes from corner to corner of an L1Ball: it is for tacit.ERM(loss, constraint=L1Ball(radius))."

    def __post_init__(self) -> None:
        self.rounds = [CORNER, INTERCEPT][: 2 if self.problem.intercept else 1] * self.iterations

    @staticmethod
    def steps(iterations: int, size: int, share: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps."""
        return [
            Selection(CORNER, math.sqrt(iterations / (4 * _CHOICES)), iterations, size - 1),
            Laplace(INTERCEPT, math.sqrt(iterations / (1 - _CHOICES)), iterations, 2),
        ]

    def start(self) -> Array:
        """Return no slopes."""
        return np.zeros_like(self.problem.begin)

    def statistic(self, state: Array, index: int, noise: Noise) -> tuple[Array, Choice | RobustSum]:
        """Return gradients: to choose from, or that of the intercept with the number of rows."""
        steepest = self.problem.loss.lipschitz * (1.0 + float(np.abs(self.problem.coordinates.centre).max()))
        corner = self.rounds[index] == CORNER
        places = tuple(range(1, state.size)) if corner else (0,)
        values = SomeValues(PredictionGradients(self.problem.loss, state), places)
        sums = RobustSum(
            np.zeros(values.size), np.full(values.size, steepest), Clip(), values, 0.0 if corner else _COUNT
        )
        return state, Choice(sums, 1, "either") if corner else sums

    def update(self, state: Array, index: int, statistic: Any, released: Any, noise: float) -> Array:
        """Go towards the corner, or down the intercept's gradient."""
        moved = state.copy()
        if isinstance(statistic, Choice):
            places, signs = released
            share = 2 / (self.rounds[:index].count(CORNER) + 2)
            moved[0, 1:] *= 1 - share
            moved[0, 1 + places[0]] -= share * signs[0] * self.problem.penalty.radius
            return moved
        counted, sums = statistic.parts(released)
        rows = self.problem.rows or max(counted, 1.0)
        moved[0, 0] -= statistic.scale[0] * sums[0] / rows / self.problem.loss.smoothness
        return bounded(moved)

    def finish(self, state: Array) -> Stand:
        """Return where the last step led."""
        return Stand(state, np.zeros((0, 0)))
