"""Solvers that go by gradients alone, of all rows: each is its step rule.

- *gradient*: momentum, and the mean of the second half of the way;
- *accmd*: accelerated mirror descent with the Euclidean distance. As printed it returns a point that was moved by a
  gradient without noise; here, as its proof allows, by the mean of points that noisy gradients moved.
- *sgd*: gradients of rows sampled afresh for each step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tacit.fitting.engine import Noise
from tacit.linear.newton import GRADIENT, Stand
from tacit.linear.problem import Problem, Solver, bounded
from tacit.privacy import Gaussian, Sampled, Step
from tacit.statistics import LossGradients
from tacit.statistics.components import Array


@dataclass(frozen=True, eq=False)
class Walk:
    """Where a search stands: the point it asks about, two more that rules need, and a mean with its weight."""

    point: Array
    other: Array
    moving: Array
    mean: Array
    weight: float = 0.0


@dataclass
class Gradient(Solver):
    """Gradient descent with momentum and averaging, run by :func:`tacit.fitting.engine.run`."""

    problem: Problem
    iterations: int
    rounds: list[str] = field(init=False)

    momentum: ClassVar[float] = 0.5

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return 20."""
        return 20

    def __post_init__(self) -> None:
        self.rounds = [GRADIENT] * self.iterations

    @staticmethod
    def steps(iterations: int, size: int, share: float, shares: int = 1) -> list[Step]:
        """Return the plan's step."""
        return [Gaussian(GRADIENT, math.sqrt(iterations / share), iterations, size)]

    def start(self) -> Walk:
        """Return where to start."""
        begin = self.problem.begin
        return Walk(begin, begin, np.zeros_like(begin), np.zeros_like(begin))

    def statistic(self, state: Walk, index: int, noise: Noise) -> tuple[Walk, LossGradients]:
        """Return gradients where the rule wants them."""
        return state, self.problem.gradients(state.point)

    def update(self, state: Walk, index: int, statistic: LossGradients, released: Array, noise: float) -> Walk:
        """Go a step, and count it for the mean if it is one of the second half."""
        gradient = self.problem.mean_gradient(statistic, released)
        step = 1 / self.problem.smoothness
        moving = self.momentum * state.moving + gradient
        point = bounded(self.problem.prox(state.point - step * moving, step))
        return averaged(state, index >= self.iterations // 2, point, point, moving)

    def finish(self, state: Walk) -> Stand:
        """Return the mean."""
        return Stand(state.mean, np.zeros((0, 0)))


@dataclass
class AcceleratedMirrorDescent(Gradient):
    """Accelerated mirror descent, corrected."""

    def update(self, state: Walk, index: int, statistic: LossGradients, released: Array, noise: float) -> Walk:
        """Move z by the noisy gradient, and y to between z and itself; the next question is between the two."""
        gradient = self.problem.mean_gradient(statistic, released)
        share, step = 2 / (index + 2), (index + 2) / (4 * self.problem.smoothness)
        z = bounded(self.problem.prox(state.other - step * gradient, step))
        y = share * z + (1 - share) * (state.mean if index else self.problem.begin)
        ahead = 2 / (index + 3)
        return Walk(ahead * z + (1 - ahead) * y, z, state.moving, y)


@dataclass
class StochasticGradient(Gradient):
    """Gradient descent on rows that are sampled for each step, by Poisson's law, with steps that fall as 1/sqrt(t)."""

    rate: ClassVar[float] = 0.05

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return 200."""
        return 200

    @staticmethod
    def steps(iterations: int, size: int, share: float, shares: int = 1) -> list[Step]:
        """Return the plan's step; a start for its noise, as the accountant knows no closed form."""
        multiplier = StochasticGradient.rate * math.sqrt(iterations / share)
        return [Sampled(StochasticGradient.rate, Gaussian(GRADIENT, multiplier, iterations, size))]

    def update(self, state: Walk, index: int, statistic: LossGradients, released: Array, noise: float) -> Walk:
        """Go a step; divided by how many rows a sample has on average, not by how many there were."""
        gradient = self.problem.mean_gradient(statistic, released, self.rate * self.problem.rows)
        step = 1 / (self.problem.smoothness * math.sqrt(1 + index / 10))
        point = bounded(self.problem.prox(state.point - step * gradient, step))
        return averaged(state, index >= self.iterations // 2, point, point, state.moving)


def averaged(state: Walk, counts: bool, point: Array, other: Array, moving: Array, weight: float = 1.0) -> Walk:
    """Return the state at a new point, counted for the mean or not."""
    if not counts:
        return Walk(point, other, moving, state.mean, state.weight)
    total = state.weight + weight
    return Walk(point, other, moving, state.mean + (point - state.mean) * (weight / total), total)
