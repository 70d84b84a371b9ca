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

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import minimax_scale
from tacit.linear.newton import GRADIENT
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore
from tacit.privacy import Gaussian, Sampled, Step
from tacit.release import Curator
from tacit.robust.scales import FAILURE, thesis_scale
from tacit.statistics import PredictionGradients, RobustSum, RowCount, Smoothed

ROWS = "number of rows"
RATE = 0.05  # Probability with which a row is in a sample, by default.
_ITERATIONS = 200
_LARGEST = 1e100  # Coefficients are kept below this, as noise may be anything.
_COUNTING_BUDGET = 0.01  # Part of the budget for the number of rows where it is secret, in squared signal-to-noise.


def descend_robustly(
    problem: Problem,
    curator: Curator,
    iterations: int,
    after: AfterRelease = ignore,
    *,
    moment_bound: float | None = None,
    learning_rate: float | None = None,
    sampling_rate: float = RATE,
) -> Solution:
    """Descend from where the problem begins.

    Parameters
    ----------
    problem : Problem
        The number of its rows must be known; see :func:`count_rows`.
    curator, iterations, after
        As every solver has them.
    moment_bound : float, optional
        v. By default it is what follows from the longest slope and the inputs' second moment, and the scale is not the
        published one but half of the one that balances bias against noise.
    learning_rate : float, optional
        The length of the first step; by default one over the largest curvature.
    sampling_rate : float, default 0.05
        The probability with which a row is in a sample; 1 for all rows in each step.
    """
    point = mean = problem.begin
    first_step, seen, counted = learning_rate or 1 / problem.smoothness, sampling_rate * problem.rows, 0
    for index in range(iterations):
        gradient = _measure_robust_gradient(problem, curator, point, seen, moment_bound)
        step = first_step if sampling_rate == 1 else first_step / math.sqrt(1 + index)
        point = descend_once(problem, point, gradient, step)
        # Of samples, the mean of the second half of the way counts; of all rows, the last point.
        counted = counted + 1 if sampling_rate < 1 and index >= iterations // 2 else 1
        mean = point if counted == 1 else mean + (point - mean) / counted
        after(GRADIENT, mean)
    return Solution(mean)


def _measure_robust_gradient(
    problem: Problem, curator: Curator, point: Array, seen: float, moment_bound: float | None
) -> Array:
    """Release the mean of smoothly truncated gradients.

    Of a sample it is divided by `seen`, how many rows a sample has on average, not by how many there were.
    """
    values = PredictionGradients(problem.loss, point, problem.intercept)
    zero, influence = np.zeros(values.size), Smoothed(math.log(1 / FAILURE))
    if moment_bound is not None:
        scale = thesis_scale(np.full(values.size, moment_bound), seen)
    else:
        moment = problem.loss.lipschitz**2 * max(1.0, problem.coordinates.largest)
        noise = curator.noise(GRADIENT, RobustSum(zero, np.ones(values.size), influence, values))
        scale = minimax_scale(influence, np.full(values.size, moment), 2, noise, seen) / 2
    statistic = RobustSum(zero, scale, influence, values)
    return values.among_all(statistic.half_width * curator.measure(GRADIENT, statistic).value / seen)


def descend_once(problem: Problem, point: Array, gradient: Array, step: float) -> Array:
    """Return the point after a step against a mean gradient."""
    point = problem.prox(point - step * problem.with_ridge(point, gradient), step)
    return np.clip(np.nan_to_num(point), -_LARGEST, _LARGEST)


def count_rows(problem: Problem, curator: Curator) -> float:
    """Release the number of rows, where it is secret."""
    released = curator.measure(ROWS, RowCount(PredictionGradients(problem.loss, problem.begin, problem.intercept)))
    return max(float(released.value[0]), released.noise, 1.0)


def steps(
    iterations: int,
    size: int,
    power: float,
    shares: int = 1,
    *,
    sampling_rate: float = RATE,
    count_rows: bool = False,
) -> list[Step]:
    """Return the plan's steps; what a sample costs is a guess, as the accountant knows no closed form."""
    multiplier = math.sqrt(iterations / power)
    counting: list[Step] = [Gaussian(ROWS, (_COUNTING_BUDGET * power) ** -0.5)] if count_rows else []
    if sampling_rate == 1:
        return [*counting, Gaussian(GRADIENT, multiplier, iterations, size)]
    sampled = Sampled(sampling_rate, Gaussian(GRADIENT, sampling_rate * multiplier, iterations, size))
    return [*counting, sampled]


ROBUST_DESCENT = Solver(descend_robustly, steps, lambda columns: _ITERATIONS)
