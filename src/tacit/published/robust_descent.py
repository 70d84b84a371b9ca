"""Gradient descent with smoothly truncated gradients, as published for heavy-tailed rows: for any loss.

Wang, Xiao, Devadas and Xu (2020), Algorithm 4, and its stochastic version: each column of a row's gradient is bounded
by :class:`tacit.published.statistics.Smoothed` at the scale sqrt(b v / (2 log(1 / failure))), where b is the number of
rows that a step sees, v bounds the mean square of a column of gradients, and log(1 / failure) is the precision. Noise
is that of the plan, the exact composition of Gaussian releases: the printed constants need more of it, or, in one
version of the text, have too little.

- *All rows* in each step: steps of one length, and the last point.
- *Samples*, each row being in one by itself: steps that fall as 1/sqrt(t), and the mean of the second half of the way.
  The text has neither scale nor noise for these. With the scale for a sample in place of all rows it is sqrt(n / b)
  times smaller, so that there is as much less noise.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.fitting.clipping import minimax_scale
from tacit.fitting.parameters import check_count, check_positive
from tacit.fitting.progress import Watch
from tacit.fitting.published import PublishedMethod
from tacit.linear.coordinates import Coordinates
from tacit.linear.linear_fit import LinearFit
from tacit.linear.linear_model import RegressionMethod
from tacit.linear.newton import GRADIENT
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, count_releases, ignore
from tacit.messages import describe
from tacit.privacy import Budget, Gaussian, Sampled, Step
from tacit.published.catoni_mean import FAILURE, thesis_scale
from tacit.published.least_squares import PublishedRegression, least_squares_problem, plain_fit
from tacit.published.statistics import PredictionGradients, Smoothed
from tacit.release import Curator
from tacit.statistics import RobustSum, RowCount
from tacit.tables import Domain

ROWS = "number of rows"
_LARGEST = 1e100  # Coefficients are kept below this, as noise may be anything.
# Part of the budget for a secret number of rows, as squared signal-to-noise ratio. At epsilon 1 and delta 1e-6, the
# count is off by 43 rows (one standard deviation), and gradients have half a percent more noise.
_COUNTING_BUDGET = 0.01


@dataclass(frozen=True, kw_only=True)
class RobustDescent(PublishedRegression):
    """Gradient descent of linear regression with smoothly truncated gradients, for heavy-tailed rows.

    Wang, Xiao, Devadas and Xu (2020), Algorithm 4, and its stochastic version. It needs no bounds, and inputs about as
    large as standard normal ones.

    Parameters
    ----------
    moment_bound : float, default 1.0
        What the mean square of each column of gradients is at most. A wrong one costs accuracy, and no privacy.
    batch_size : int or float, optional
        How many rows a step samples, on average, or which proportion of them; all rows by default. Where the number of
        rows is secret it must be a proportion.
    learning_rate : float or "auto", default "auto"
        What gradients are multiplied by, 0.1 by default. With samples, in the first step, 1 by default; steps fall as
        1/sqrt(t) then.
    n_iter : int or "auto", default "auto"
        Number of steps, which share the budget: 50 by default, 300 with samples.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40_000, 2))
    >>> y = X @ [0.6, -0.8] + rng.standard_t(3, 40_000)
    >>> method = tacit.published.RobustDescent(moment_bound=5.0, batch_size=1000)
    >>> tacit.LinearRegression(method=method, random_state=0).fit(X, y).coef_.round(1)
    array([ 0.6, -0.8])
    """

    moment_bound: float = 1.0
    batch_size: float | None = None
    learning_rate: float | Literal["auto"] = "auto"
    n_iter: int | Literal["auto"] = "auto"

    needs_public_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive("moment_bound", self.moment_bound)
        size, whole = self.batch_size, isinstance(self.batch_size, numbers.Integral)
        number = isinstance(size, numbers.Real) and not isinstance(size, bool)
        if size is not None and not (number and (size >= 1 if whole else 0 < size < 1)):
            raise ValueError(
                "batch_size must be None, a number of rows or a share of them, between 0 and 1, and it is "
                f"{describe(size)}."
            )
        if self.learning_rate != "auto":
            check_positive("learning_rate", self.learning_rate)
        if self.n_iter != "auto":
            check_count("n_iter", self.n_iter)

    def regression(self, columns: int, n_rows: int | None, intercept: bool, budget: Budget) -> RegressionMethod:
        """Return the plan's steps and the descent. The number of rows is released first where it is secret."""
        secret, sampling_rate = n_rows is None, self._sampling_rate(n_rows)
        sampled = sampling_rate < 1
        iterations = int(self.n_iter) if self.n_iter != "auto" else 300 if sampled else 50
        learning_rate = float(self.learning_rate) if self.learning_rate != "auto" else 1.0 if sampled else 0.1
        problem = least_squares_problem(columns, n_rows, intercept)

        def fit(curator: Curator, domain: Domain, watch: Watch) -> LinearFit:
            rows = count_rows(problem, curator) if secret else float(n_rows)
            solution = descend_robustly(
                replace(problem, coordinates=Coordinates.as_they_are(columns, rows)),
                curator,
                iterations,
                count_releases(watch, iterations),
                moment_bound=float(self.moment_bound),
                learning_rate=learning_rate,
                sampling_rate=sampling_rate,
            )
            return plain_fit(solution.coefficients[0], rows)

        planned = robust_steps(iterations, columns + intercept, 1.0, sampling_rate=sampling_rate, count_rows=secret)
        return RegressionMethod(planned, iterations + secret, fit)

    def _sampling_rate(self, n_rows: int | None) -> float:
        """Return the probability with which a row is in a sample."""
        if self.batch_size is None:
            return 1.0
        if not isinstance(self.batch_size, numbers.Integral):
            return float(self.batch_size)
        if n_rows is None:
            raise ValueError(
                f"batch_size is {self.batch_size}, and which share of the rows that is, is secret here; pass a share, "
                "such as 0.01."
            )
        return min(1.0, int(self.batch_size) / n_rows)


@dataclass(frozen=True, kw_only=True)
class RobustSGD(PublishedMethod, Solver):
    """Descent of any loss with smoothly truncated gradients of samples, for heavy-tailed inputs.

    Wang, Xiao, Devadas and Xu (2020), the stochastic version of Algorithm 4. The scale is half of the one that balances
    bias against noise, as inputs have been measured.

    Parameters
    ----------
    sampling_rate : float, default 0.05
        Probability with which a row is in a sample. With 1, all rows are in each step, and steps are of one length.
    n_iter : int, default 200
        Number of steps.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = (X @ [2.0, -1.0] + rng.logistic(size=20_000) > 0).astype(int)
    >>> solver = tacit.published.RobustSGD(n_iter=100)
    >>> model = tacit.LogisticRegression(solver=solver, classes=[0, 1], bounds=5, random_state=0).fit(X, y)
    >>> model.coef_.round()
    array([[ 2., -1.]])
    """

    sampling_rate: float = 0.05
    n_iter: int = 200

    def __post_init__(self) -> None:
        check_positive("sampling_rate", self.sampling_rate, most=1.0)
        check_count("n_iter", self.n_iter)

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's step."""
        return robust_steps(self.n_iter, size, power, sampling_rate=self.sampling_rate)

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Descend from where the problem begins."""
        return descend_robustly(problem, curator, self.n_iter, after, sampling_rate=self.sampling_rate)


def descend_robustly(
    problem: Problem,
    curator: Curator,
    iterations: int,
    after: AfterRelease = ignore,
    *,
    moment_bound: float | None = None,
    learning_rate: float | None = None,
    sampling_rate: float = 1.0,
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
    sampling_rate : float, default 1
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


def robust_steps(
    iterations: int,
    size: int,
    power: float,
    *,
    sampling_rate: float = 1.0,
    count_rows: bool = False,
) -> list[Step]:
    """Return the plan's steps; what a sample costs is a guess, as the accountant knows no closed form."""
    multiplier = noise_multiplier(power, iterations)
    counting: list[Step] = [Gaussian(ROWS, noise_multiplier(_COUNTING_BUDGET * power))] if count_rows else []
    if sampling_rate == 1:
        return [*counting, Gaussian(GRADIENT, multiplier, iterations, size)]
    sampled = Sampled(sampling_rate, Gaussian(GRADIENT, sampling_rate * multiplier, iterations, size))
    return [*counting, sampled]
