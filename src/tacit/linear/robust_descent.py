"""Gradient descent with smoothly truncated gradients, as published for heavy-tailed rows: for any loss.

Wang, Xiao, Devadas and Xu (2020), Algorithm 4, and its stochastic version: each column of a row's gradient is bounded
by :class:`tacit.statistics.Smoothed` at the scale sqrt(b v / (2 log(1 / failure))), where b is the number of rows that
a step sees, v bounds the mean square of a column of gradients, and log(1 / failure) is the precision. Noise is that of
the plan, the exact composition of Gaussian releases: the printed constants need more of it, or, in one version of the
text, have too little.

- *All rows* in each step: steps of one length, and the last point.
- *Samples*, each row being in one by itself: steps that fall as 1/sqrt(t), and the mean of the second half of the way.
  The text has neither scale nor noise for these. With the scale for a sample in place of all rows it is sqrt(n / b)
  times smaller, so that there is as much less noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.fitting.engine import Noise
from tacit.linear.newton import GRADIENT, Stand
from tacit.linear.problem import Problem, Solver
from tacit.privacy import Gaussian, Sampled, Step
from tacit.release import Statistic
from tacit.robust.scales import FAILURE, minimax_scale, thesis_scale
from tacit.statistics import PredictionGradients, RobustSum, RowCount, Smoothed
from tacit.statistics.components import Array

ROWS = "number of rows"
_LARGEST = 1e100  # what coefficients are kept below, as noise may be anything
_COUNTING = 0.01  # of the budget, in squared signal-to-noise, where the number of rows is secret


@dataclass(frozen=True, eq=False)
class Way:
    """Where a descent stands: the point, the mean of points that count and how many they are, and how many rows."""

    point: Array
    mean: Array
    counted: int
    rows: float


@dataclass
class RobustDescent(Solver):
    """Descent from where the problem begins, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    problem : Problem
        Its number of rows is NaN where it is secret; then it is released first.
    iterations : int
    moment_bound : float, optional
        v. By default it is what follows from the longest slope and the inputs' second moment, and the scale is not the
        published one but half of the one that balances bias against noise.
    learning_rate : float, optional
        The length of the first step; by default one over the largest curvature.
    sampling_rate : float, default 0.05
        The probability with which a row is in a sample; 1 for all rows in each step.
    """

    problem: Problem
    iterations: int
    moment_bound: float | None = None
    learning_rate: float | None = None
    sampling_rate: float = 0.05
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.rounds = [ROWS] * math.isnan(self.problem.rows) + [GRADIENT] * self.iterations

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return 200."""
        return 200

    @staticmethod
    def steps(
        iterations: int,
        size: int,
        share: float,
        shares: int = 1,
        *,
        sampling_rate: float = 0.05,
        count_rows: bool = False,
    ) -> list[Step]:
        """Return the plan's steps; what a sample costs is a guess, as the accountant knows no closed form."""
        multiplier = math.sqrt(iterations / share)
        counting: list[Step] = [Gaussian(ROWS, (_COUNTING * share) ** -0.5)] if count_rows else []
        if sampling_rate == 1:
            return [*counting, Gaussian(GRADIENT, multiplier, iterations, size)]
        sampled = Sampled(sampling_rate, Gaussian(GRADIENT, sampling_rate * multiplier, iterations, size))
        return [*counting, sampled]

    def start(self) -> Way:
        """Return where to start."""
        begin = self.problem.begin
        return Way(begin, begin, 0, self.problem.rows)

    def statistic(self, state: Way, index: int, noise: Noise) -> tuple[Way, Statistic]:
        """Return what the next round releases: the number of rows first where it is secret, then bounded gradients."""
        values = PredictionGradients(self.problem.loss, state.point, self.problem.intercept)
        if self.rounds[index] == ROWS:
            return state, RowCount(values)
        seen, zero, influence = self.sampling_rate * state.rows, np.zeros(values.size), Smoothed(math.log(1 / FAILURE))
        if self.moment_bound is not None:
            scale = thesis_scale(np.full(values.size, self.moment_bound), seen)
        else:
            moment = self.problem.loss.lipschitz**2 * max(1.0, self.problem.coordinates.largest)
            added = noise(RobustSum(zero, np.ones(values.size), influence, values))
            scale = minimax_scale(influence, np.full(values.size, moment), 2, added, seen) / 2
        return state, RobustSum(zero, scale, influence, values)

    def update(self, state: Way, index: int, statistic: Statistic, released: Array, noise: float) -> Way:
        """Go a step; of a sample, divided by how many rows it has on average, not by how many there were."""
        if not isinstance(statistic, RobustSum):
            return replace(state, rows=max(float(released[0]), noise, 1.0))
        values: PredictionGradients = statistic.values  # type: ignore[assignment]
        mean = values.among_all(statistic.reach * released / (self.sampling_rate * state.rows))
        return self.moved(state, index, mean)

    def moved(self, state: Way, index: int, mean: Array) -> Way:
        """Go a step against the mean gradient."""
        taken = index - (len(self.rounds) - self.iterations)
        step = self.learning_rate or 1 / self.problem.smoothness
        if self.sampling_rate < 1:
            step /= math.sqrt(1 + taken)
        point = self.problem.prox(state.point - step * self.problem.with_ridge(state.point, mean), step)
        point = np.clip(np.nan_to_num(point), -_LARGEST, _LARGEST)
        counted = state.counted + 1 if self.sampling_rate < 1 and taken >= self.iterations // 2 else 1
        return replace(state, point=point, mean=_average(state.mean, point, counted), counted=counted)

    def finish(self, state: Way) -> Stand:
        """Return the mean of the points that count; of those of steps of one length, the last alone does."""
        return Stand(state.mean, np.zeros((0, 0)))


def _average(mean: Array, point: Array, counted: int) -> Array:
    return point if counted == 1 else mean + (point - mean) / counted
