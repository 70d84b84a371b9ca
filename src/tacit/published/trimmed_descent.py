"""Gradient descent with trimmed mean gradients, where the range of mean gradients is known."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.fitting.parameters import check_count, check_positive
from tacit.fitting.progress import Watch
from tacit.linear.linear_fit import LinearFit
from tacit.linear.linear_model import RegressionMethod
from tacit.linear.newton import GRADIENT
from tacit.messages import describe
from tacit.privacy import Budget, SmoothLaplace
from tacit.published.least_squares import SMOOTH_NOISE, PublishedRegression, least_squares_problem, plain_fit
from tacit.published.robust_descent import descend_once
from tacit.release import Curator
from tacit.statistics import PredictionGradients, TrimmedMeans
from tacit.tables import Domain


@dataclass(frozen=True, kw_only=True)
class TrimmedDescent(PublishedRegression):
    """Gradient descent of linear regression with trimmed mean gradients, made private.

    Wang, Xiao, Devadas and Xu (2020), Algorithm 3: each column of the mean gradient is a trimmed mean with noise
    relative to its smooth sensitivity. As printed it is not private, because the bound that noise is relative to is not
    smooth; and with as many rows trimmed as it says, noise is hundreds of times the range. Here are the smooth
    sensitivity itself, noise that needs to trim less (Laplace times log-normal), and a trim that follows from public
    numbers (:class:`tacit.statistics.TrimmedMeans`). Inputs must be about as large as standard normal ones.

    Parameters
    ----------
    gradient_bounds : float or (low, high)
        What each column of the mean gradient lies within, wherever the descent may come; a number r stands for (-r, r).
        It has no default.
    learning_rate : float, default 0.5
        What gradients are multiplied by.
    n_iter : int, default 10
        Number of steps, which share the budget.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40_000, 2))
    >>> y = X @ [0.6, -0.8] + rng.standard_t(3, 40_000)
    >>> method = tacit.published.TrimmedDescent(gradient_bounds=2.0)
    >>> tacit.LinearRegression(method=method, random_state=0).fit(X, y).coef_.round(1)
    array([ 0.6, -0.8])
    """

    gradient_bounds: Any = None
    learning_rate: float = 0.5
    n_iter: int = 10

    notes: ClassVar[tuple[str, ...]] = (SMOOTH_NOISE,)

    def __post_init__(self) -> None:
        low, high = self._ends()
        if not isinstance(self.gradient_bounds, numbers.Real):
            object.__setattr__(self, "gradient_bounds", (low, high))
        check_positive("learning_rate", self.learning_rate)
        check_count("n_iter", self.n_iter)

    def regression(self, columns: int, n_rows: int | None, intercept: bool, budget: Budget) -> RegressionMethod:
        """Return the plan's step and the descent, which ends at the last point."""
        problem, (low, high) = least_squares_problem(columns, n_rows, intercept), self._ends()

        def fit(curator: Curator, domain: Domain, watch: Watch) -> LinearFit:
            point = problem.begin
            for index in range(self.n_iter):
                values = PredictionGradients(problem.loss, point, problem.intercept)
                ends = np.full(values.size, low), np.full(values.size, high)
                released = curator.measure(GRADIENT, TrimmedMeans(values, *ends, int(problem.rows)))
                point = descend_once(problem, point, values.among_all(released.value), self.learning_rate)
                watch(index + 1, self.n_iter)
            return plain_fit(point[0], problem.rows)

        return RegressionMethod([SmoothLaplace(GRADIENT, 1.0, self.n_iter, columns + intercept)], self.n_iter, fit)

    def _ends(self) -> tuple[float, float]:
        """Return the bounds of mean gradients as a pair."""
        bounds = self.gradient_bounds
        try:
            low, high = (float(end) for end in ((-bounds, bounds) if isinstance(bounds, numbers.Real) else bounds))
        except (TypeError, ValueError):
            low, high = 1.0, 0.0
        if not (-1e100 < low < high < 1e100):
            raise ValueError(
                "TrimmedDescent needs gradient_bounds: what each column of the mean gradient is publicly known to lie "
                "within, as a number r for within r of zero, or a pair (low, high), as in "
                f"method=tacit.published.TrimmedDescent(gradient_bounds=2.0); it is {describe(bounds)}."
            )
        return low, high
