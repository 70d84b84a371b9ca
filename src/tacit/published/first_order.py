"""Solvers that follow gradients alone: of all rows, with momentum, or of rows sampled afresh for each step."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.fitting.parameters import check_count, check_positive
from tacit.fitting.published import PublishedMethod
from tacit.linear.newton import GRADIENT
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore, keep_finite, measure_gradient
from tacit.messages import describe
from tacit.privacy import Gaussian, Sampled, Step
from tacit.release import Curator


@dataclass(frozen=True, kw_only=True)
class GradientDescent(PublishedMethod, Solver):
    """Gradient descent with momentum; the mean of the second half of the way.

    Parameters
    ----------
    momentum : float, default 0.5
        Part of the last step that the next one keeps, from 0 to below 1.
    n_iter : int, default 20
        Number of gradients, which share the budget.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = (X @ [2.0, -1.0] + rng.logistic(size=20_000) > 0).astype(int)
    >>> solver = tacit.published.GradientDescent(n_iter=40)
    >>> model = tacit.LogisticRegression(solver=solver, classes=[0, 1], bounds=5, random_state=0).fit(X, y)
    >>> model.coef_.round()
    array([[ 2., -1.]])
    """

    momentum: float = 0.5
    n_iter: int = 20

    def __post_init__(self) -> None:
        if not isinstance(self.momentum, numbers.Real) or not 0 <= self.momentum < 1:
            raise ValueError(f"momentum must be a number from 0 to below 1, and it is {describe(self.momentum)}.")
        check_count("n_iter", self.n_iter)

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's step."""
        return [Gaussian(GRADIENT, noise_multiplier(power, self.n_iter), self.n_iter, size)]

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Descend from where the problem begins."""
        step, point = 1 / problem.smoothness, problem.begin
        direction, mean = np.zeros_like(point), np.zeros_like(point)
        for index in range(self.n_iter):
            gradient = measure_gradient(problem, curator, GRADIENT, point)
            direction = self.momentum * direction + gradient
            point = keep_finite(problem.prox(point - step * direction, step))
            mean = _mean_of_second_half(mean, point, index, self.n_iter)
            after(GRADIENT, mean if index >= self.n_iter // 2 else point)
        return Solution(mean)


@dataclass(frozen=True, kw_only=True)
class SGD(PublishedMethod, Solver):
    """Gradient descent on rows that are sampled for each step, by Poisson's law, with steps that fall as 1/sqrt(t).

    A gradient is divided by how many rows a sample has on average, not by how many there were. The result is the mean
    of the second half of the way.

    Parameters
    ----------
    sampling_rate : float, default 0.05
        Probability with which a row is in a sample.
    n_iter : int, default 200
        Number of steps.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.LogisticRegression(solver=tacit.published.SGD(sampling_rate=0.02, n_iter=500))
    """

    sampling_rate: float = 0.05
    n_iter: int = 200

    def __post_init__(self) -> None:
        check_positive("sampling_rate", self.sampling_rate, most=1.0)
        check_count("n_iter", self.n_iter)

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's step; a start for its noise, as the accountant knows no closed form."""
        multiplier = self.sampling_rate * noise_multiplier(power, self.n_iter)
        return [Sampled(self.sampling_rate, Gaussian(GRADIENT, multiplier, self.n_iter, size))]

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Descend from where the problem begins."""
        smoothness, point, mean = problem.smoothness, problem.begin, np.zeros_like(problem.begin)
        for index in range(self.n_iter):
            gradient = measure_gradient(problem, curator, GRADIENT, point, self.sampling_rate * problem.rows)
            step = 1 / (smoothness * math.sqrt(1 + index / 10))
            point = keep_finite(problem.prox(point - step * gradient, step))
            mean = _mean_of_second_half(mean, point, index, self.n_iter)
            after(GRADIENT, mean if index >= self.n_iter // 2 else point)
        return Solution(mean)


def _mean_of_second_half(mean: Array, point: Array, index: int, iterations: int) -> Array:
    """Return the mean of points so far, if this point is of the second half; the mean as it is, if not."""
    number = index - iterations // 2 + 1.0
    return mean + (point - mean) * (1.0 / number) if number >= 1 else mean
