"""The estimator: private least squares, with standard errors."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from tacit.fitting import PrivateEstimator, check_choices
from tacit.linear.linear_fit import CoefficientIntervals, LinearFit
from tacit.linear.linear_model import LinearModelMixin, RegressionMethod
from tacit.linear.published import PUBLISHED, check_published, published_method
from tacit.mixture.table_mixture import table_layout
from tacit.moments.moments import Moments
from tacit.privacy import Budget
from tacit.release import Curator
from tacit.tables import Domain


class LinearRegression(LinearModelMixin, PrivateEstimator):
    """Linear regression under differential privacy, near least squares, robust to heavy tails, with standard errors.

    Parameters
    ----------
    fit_intercept : bool, default True
    method : {"scores", "robust", "trimmed", "sample_aggregate", "block_mean"}, default "scores"
        "scores" measures inputs in their own coordinates and then takes Newton steps from clipped scores; see
        :mod:`tacit.linear.score_regression`, and :mod:`tacit.linear.newton_regression` for tables with categories. The
        others are published ones, corrected, kept for comparison; they need no bounds, and have no standard errors.
        "robust" is gradient descent with smoothly truncated gradients (:mod:`tacit.linear.robust_descent`), "trimmed"
        with trimmed mean gradients (:mod:`tacit.linear.trimmed_descent`); both need inputs about as large as standard
        normal ones. "sample_aggregate" and "block_mean" put together least squares on blocks of rows
        (:mod:`tacit.linear.sample_aggregate`).
    moment_bound : float, default 1.0
        For "robust": what the mean square of each column of gradients is at most. A wrong one costs accuracy, and no
        privacy.
    gradient_bounds : float or (low, high), optional
        For "trimmed": what each column of the mean gradient lies within.
    coef_bound : float, optional
        For "sample_aggregate" and "block_mean": how long the vector of coefficients, the intercept included, may be.
    batch_size : int or float, optional
        For "robust": how many rows a step samples, on average, or which share of them; all rows by default. Where the
        number of rows is secret it must be a share.
    learning_rate : float, default "auto"
        For the descents: what gradients are multiplied by, 0.1 by default, 0.5 for "trimmed". With samples, in the
        first step, 1 by default; steps fall as 1/sqrt(t) then.
    n_iter : int, default "auto"
        For the descents: how many steps the budget is shared among: 50 by default, 300 with samples, 10 for "trimmed".

    Attributes
    ----------
    coef_ : (n_features,) array
        Of the levels of a category they add up to zero: each is how far from the levels' average.
    intercept_ : float
    coef_errors_ : (n_features,) array
        Standard errors of the coefficients, of chance and of privacy noise together.
    intercept_error_ : float
    noise_variance_ : float
        Variance of residuals. This and the standard errors are there with "scores".
    n_iter_ : int
        How many releases were made.

    Notes
    -----
    Scores of rows are clipped where that makes errors least, by what the noise is: with less noise, farther out, so the
    estimate tends to least squares. Slopes are those of the bulk of the rows; the intercept is set so that the mean
    residual is zero, also where residuals are skewed.

    Bounds may be coarse: with 10,000 rows and epsilon 1, ranges of 5000 times the standard deviation of a column cost
    next to nothing. Where less is known, pass ``bounds="private"``.

    Where the number of rows is public and large, all releases but the last two are of small shares of the rows, for
    speed.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = X @ [2.0, -1.0] + 3.0 + rng.normal(0.0, 0.5, 20_000)
    >>> model = tacit.LinearRegression(bounds=10, target_bounds=30, random_state=0).fit(X, y)
    >>> model.coef_.round(1), round(model.intercept_, 1)
    (array([ 2., -1.]), 3.0)
    >>> model.confidence_intervals().coef.round(2)
    array([[ 1.99,  2.  ],
           [-1.01, -1.  ]])
    """

    fit_intercept: bool = True
    method: str = "scores"
    moment_bound: float = 1.0
    gradient_bounds: Any = None
    coef_bound: float | None = None
    batch_size: float | None = None
    learning_rate: float | str = "auto"
    n_iter: int | str = "auto"
    target_bounds: Any = None

    @classmethod
    def from_moments(cls, moments: Moments, target: Any = -1, *, fit_intercept: bool = True) -> LinearRegression:
        """Return the regression made of moments that have been released already: nothing is read, nothing charged.

        Parameters
        ----------
        moments : Moments
            Fitted, to inputs and target together.
        target : str or int, default -1
            The column that is the target, by name or by place.
        fit_intercept : bool, default True

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> rows = np.random.default_rng(0).normal(size=(20_000, 2)) @ np.array([[1.0, 2.0], [0.0, 0.5]])
        >>> moments = tacit.Moments(bounds=10, random_state=0).fit(rows)
        >>> model = tacit.LinearRegression.from_moments(moments)
        >>> model.coef_.round(1)
        array([2.])
        """
        return cls._of_moments(moments, target, {"fit_intercept": fit_intercept})

    def confidence_intervals(self, level: float = 0.9) -> CoefficientIntervals:
        """Return intervals for the coefficients, privacy noise included, at no further cost.

        They are for the best linear prediction of most rows. Where there is so much noise that inputs cannot be
        told apart, they may be too narrow; docs/linear-regression.md has how often they hold the truth.

        Parameters
        ----------
        level : float, default 0.9
        """
        check_is_fitted(self)
        if not hasattr(self, "coef_errors_"):
            raise ValueError('There are standard errors with method="scores" alone, and not from moments.')
        return CoefficientIntervals.normal(self.coef_, self.intercept_, self.coef_errors_, self.intercept_error_, level)

    @property
    def _needs_bounds(self) -> bool:  # type: ignore[override]
        return self.method == "scores"

    def _check_options(self) -> None:
        check_choices(self, method=("scores", *PUBLISHED))
        check_published(self)

    def _method(self, domain: Domain, n_rows: int | None, budget: Budget) -> RegressionMethod:
        if self.method == "scores":
            return super()._method(domain, n_rows, budget)
        return published_method(self, domain.columns - 1, n_rows, budget)

    def _enter(self, curator: Curator, domain: Domain) -> Domain:
        domain = super()._enter(curator, domain)
        if self.method != "scores":  # gradients are those of rows in their own units
            curator.map_rows(domain.restoring_map)
        return domain

    def _in_units(self, fit: LinearFit, joint: Domain) -> LinearFit:
        if self.method != "scores":
            return fit
        levels = [list(places) for places in table_layout(self._domain).levels if len(places) > 1]
        fit = super()._in_units(fit, joint)
        return fit.centre_levels(levels) if self.fit_intercept else fit

    def _publish(self, fit: LinearFit) -> None:
        super()._publish(fit)
        for stale in ("coef_errors_", "intercept_error_"):
            if hasattr(self, stale):
                delattr(self, stale)
        if fit.errors is not None:
            errors = fit.standard_errors()
            self.coef_errors_ = errors[1:]
            self.intercept_error_ = float(errors[0]) if self.fit_intercept else 0.0

    def _notes(self) -> list[str]:
        if self.method == "scores":
            return super()._notes()
        notes = [f'LinearRegression by the published method "{self.method}", {self.n_iter_} release(s).']
        if self.method in ("trimmed", "sample_aggregate"):
            notes.append(
                "Noise is relative to bounds that were found in the rows, smooth ones, which is accounted for. Stated "
                "here are the least that sensitivity and noise could have been, as what they were is not told."
            )
        return notes
