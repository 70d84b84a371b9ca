"""Gradient EM as published: one bounded mean of the rows' gradients, one step along it, and again.

The papers' algorithms differ in how they bound a row's gradient g at the current coefficients beta:

- :class:`ClippedGradientEM` (Wang et al., 2020, Algorithm 1) shortens g to a length C;
- :class:`RobustGradientEM` (their Algorithm 2) truncates each column of g smoothly at a scale s;
- :class:`RobustEM` (their Algorithm 3) does the same to g + beta, which is the M-step itself in the symmetric mixture;
- :class:`TruncatedGradientEM` (Zhang and Zhang, 2021, Algorithms 4, 7 and 8) cuts off parts of g at T, so that g lies
  in a box.

With an estimator's ``sparsity`` s, each step keeps s coefficients (their Algorithms 2, 3, 5 and 6, for any of these
bounds). *Noisy hard thresholding*, or peeling, chooses them one after the other by how large they are after the step,
by the exponential mechanism. Then the bounded gradients of these alone are released. Half of the budget goes to the
choices.

The noise is that of the exact composition of all releases, not what the papers' constants come to. Gradients are those
of rows in their own units, brought inside the bounds if there are any. :mod:`tacit.published.em_gradients` says what
is wrong in the papers' gradients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.fitting.parameters import check_positive
from tacit.privacy import Budget
from tacit.published.em_gradients import EMGradient
from tacit.published.gradient_loop import GradientMethod, Gradients
from tacit.statistics import Clip, RobustSum, RowValues, Shorten, Smoothed, SomeValues

# The failure probability that the smoothed truncation is stated with.
_FAILURE = 0.01


def robust_scale(rows: float, budget: Budget, moment_bound: float, log: float) -> float:
    """Return the papers' scale; `log` is log(1 / delta) in one algorithm and log(1 / failure) in the other."""
    log_delta = math.log(1 / budget.delta)
    surplus = math.sqrt(log_delta + budget.epsilon) - math.sqrt(log_delta)
    return math.sqrt(rows * moment_bound * surplus) / (2 * log)


def _in_columns(gradients: EMGradient, columns: Array) -> RowValues:
    """Return the gradients in these columns."""
    return gradients if len(columns) == gradients.size else SomeValues(gradients, tuple(columns.tolist()))


def _smoothing(columns: int) -> Smoothed:
    return Smoothed(math.sqrt(math.log(columns / _FAILURE)))


@dataclass(frozen=True, kw_only=True)
class ClippedGradientEM(GradientMethod):
    """Gradient EM with gradients of bounded length.

    Wang et al. (2020), Algorithm 1.

    Parameters
    ----------
    scale : float
        Standard deviation of the noise, which the method takes to be known.
    init : "random" or (n_features,) array, default "random"
        Coefficients to start from. "random" draws a direction without a look at any row, three scales long.
    learning_rate : float, default 1.0
        What gradients are multiplied by.
    clip : float, default 1.0
        The largest length of a row's gradient. Longer ones are shortened.
    as_printed : bool, default False
        Whether gradients are computed as printed in the paper, mistakes included.
    n_iter : int, default 22
        Number of steps, as in the paper's figures.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], 10_000)[:, None] * np.array([0.6, 0.8]) + rng.normal(0.0, 0.5, (10_000, 2))
    >>> method = tacit.published.ClippedGradientEM(scale=0.5, init=[0.0, 1.0])
    >>> tacit.SymmetricMixture(method=method, random_state=0).fit(X).half_.round(1)
    array([0.6, 0.8])
    """

    learning_rate: float = 1.0
    clip: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("clip", self.clip)

    def bound(self, gradients: Gradients, beta: Array, columns: Array, rows: float, budget: Budget) -> RobustSum:
        """Return the sum of gradients shortened to length `clip`."""
        size = len(columns)
        return RobustSum(np.zeros(size), np.full(size, self.clip), Shorten(), _in_columns(gradients(beta), columns))


@dataclass(frozen=True, kw_only=True)
class RobustGradientEM(GradientMethod):
    """Gradient EM with gradients that are truncated smoothly in each column.

    Wang et al. (2020), Algorithm 2.

    Parameters
    ----------
    scale : float
        Standard deviation of the noise, which the method takes to be known.
    init : "random" or (n_features,) array, default "random"
        Coefficients to start from. "random" draws a direction without a look at any row, three scales long.
    learning_rate : float, default 1.0
        What gradients are multiplied by.
    moment_bound : float, default 1.0
        The largest mean square of a column of gradients. A wrong number costs accuracy, and no privacy.
    as_printed : bool, default False
        Whether gradients are computed as printed in the paper, mistakes included.
    n_iter : int, default 22
        Number of steps, as in the paper's figures.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = rng.choice([-1.0, 1.0], 20_000) * (X @ [0.6, 0.8]) + rng.normal(0.0, 0.3, 20_000)
    >>> method = tacit.published.RobustGradientEM(scale=0.3, init=[0.0, 1.0])
    >>> model = tacit.MixtureOfRegressions(2, symmetric=True, method=method, random_state=0).fit(X, y)
    >>> model.coef_.round(1)
    array([[ 0.6,  0.8],
           [-0.6, -0.8]])
    """

    learning_rate: float = 1.0
    moment_bound: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("moment_bound", self.moment_bound)

    def bound(self, gradients: Gradients, beta: Array, columns: Array, rows: float, budget: Budget) -> RobustSum:
        """Return the sum of gradients truncated at the paper's scale."""
        size = len(columns)
        scale = robust_scale(rows, budget, self.moment_bound, math.log(1 / budget.delta))
        return RobustSum(np.zeros(size), np.full(size, scale), _smoothing(size), _in_columns(gradients(beta), columns))


@dataclass(frozen=True, kw_only=True)
class RobustEM(GradientMethod):
    """EM with M-steps that are truncated smoothly in each column, for symmetric mixtures.

    Wang et al. (2020), Algorithm 3.

    Parameters
    ----------
    scale : float
        Standard deviation of the noise, which the method takes to be known.
    init : "random" or (n_features,) array, default "random"
        Where to start. "random" draws a direction without a look at any row, three scales long.
    moment_bound : float, default 1.0
        The largest mean square of a column of M-steps. A wrong number costs accuracy, and no privacy.
    as_printed : bool, default False
        Whether gradients are computed as printed in the paper, mistakes included.
    n_iter : int, default 5
        Number of M-steps, as in the paper's figures.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], 10_000)[:, None] * np.array([0.6, 0.8]) + rng.normal(0.0, 0.5, (10_000, 2))
    >>> method = tacit.published.RobustEM(scale=0.5, init=[0.0, 1.0])
    >>> tacit.SymmetricMixture(method=method, random_state=0).fit(X).half_.round(1)
    array([0.6, 0.8])
    """

    moment_bound: float = 1.0
    n_iter: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("moment_bound", self.moment_bound)

    def bound(self, gradients: Gradients, beta: Array, columns: Array, rows: float, budget: Budget) -> RobustSum:
        """Return the sum of gradients truncated about -beta, where the M-step is 0."""
        size = len(columns)
        scale = robust_scale(rows, budget, self.moment_bound, math.log(1 / _FAILURE))
        return RobustSum(-beta[columns], np.full(size, scale), _smoothing(size), _in_columns(gradients(beta), columns))


@dataclass(frozen=True, kw_only=True)
class TruncatedGradientEM(GradientMethod):
    """Gradient EM with gradients whose parts are cut off.

    Zhang and Zhang (2021), Algorithms 4, 7 and 8. With an estimator's ``sparsity``, their Algorithms 2, 3, 5 and 6.

    Parameters
    ----------
    scale : float
        Standard deviation of the noise, which the method takes to be known.
    init : "random" or (n_features,) array, default "random"
        Coefficients to start from. "random" draws a direction without a look at any row, three scales long.
    learning_rate : float, default 1.0
        What gradients are multiplied by.
    truncation : float, optional
        Where parts of gradients are cut off. By default sqrt(log n).
    split : bool, default False
        Whether each row is used in one step alone. Rows are dealt out by secret random bits.
    as_printed : bool, default False
        Whether gradients are computed as printed in the paper, mistakes included.
    n_iter : int, default 10
        Number of steps, about log n.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = X @ [0.6, 0.8] + rng.normal(0.0, 0.3, 20_000)
    >>> X[rng.random(X.shape) < 0.1] = np.nan
    >>> method = tacit.published.TruncatedGradientEM(scale=0.3, truncation=2.0, learning_rate=0.5)
    >>> tacit.MissingCovariateRegression(method=method, random_state=0).fit(X, y).coef_.round(1)
    array([0.6, 0.8])
    """

    learning_rate: float = 1.0
    truncation: float | None = None
    split: bool = False
    n_iter: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.truncation is not None:
            check_positive("truncation", self.truncation)

    def bound(self, gradients: Gradients, beta: Array, columns: Array, rows: float, budget: Budget) -> RobustSum:
        """Return the sum of truncated gradients, within the box that they lie in."""
        values = gradients(beta, truncation=self.truncation or math.sqrt(math.log(max(rows, 3.0))))
        centre, half_width = (each[columns] for each in values.box)
        return RobustSum(centre, half_width, Clip(), _in_columns(values, columns))
