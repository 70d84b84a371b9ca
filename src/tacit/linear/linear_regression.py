"""The estimator: private least squares, with standard errors."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from tacit.fitting import PrivateEstimator
from tacit.fitting.published import find_published
from tacit.linear.linear_fit import CoefficientIntervals, LinearFit
from tacit.linear.linear_model import LinearModelMixin, RegressionMethod
from tacit.mixture.table_mixture import table_layout
from tacit.moments.moments import Moments
from tacit.privacy import Budget
from tacit.release import Curator
from tacit.tables import Domain


class LinearRegression(LinearModelMixin, PrivateEstimator):
    """Linear regression under differential privacy, near least squares, with standard errors.

    Parameters
    ----------
    fit_intercept : bool, default True
    loss : {"squared", "huber"}, default "squared"
        "squared" tends to least squares on these rows as noise falls. "huber" is for heavy tails: slopes are those of
        the bulk of the rows, whatever the others say, and the intercept is set so that the mean residual is zero.
        Tables with levels are fitted alike for both: residuals are clipped as far out as noise allows.
    method : {"scores", "robust", "trimmed", "sample_aggregate", "block_mean"} or published method, default "scores"
        "scores" measures inputs in their own coordinates and then takes Newton steps from clipped scores; see
        :mod:`tacit.linear.least_squares`, :mod:`tacit.linear.score_regression` for ``loss="huber"``, and
        :mod:`tacit.linear.newton_regression` for tables with categories. The
        others are published ones, corrected, kept for comparison; they need no bounds, and have no standard errors:
        :class:`tacit.published.RobustDescent`, :class:`tacit.published.TrimmedDescent`,
        :class:`tacit.published.SampleAggregate` and :class:`tacit.published.BlockMean`. Pass such an object to set its
        options; of these, "robust" alone has defaults for all of them.

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

    Notes ----- Scores of rows are clipped where that makes errors least, by what the noise is and how long scores are
    seen to be: with less noise farther out, so the estimate tends to least squares. Directions in which noise drowns
    what was measured are drawn to slopes of zero, so collinear, constant or nearly constant columns do no harm, and
    predictions are kept within the range of targets that is seen.

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
    array([[ 1.99,  2.01],
           [-1.01, -0.99]])
    """

    fit_intercept: bool = True
    loss: str = "squared"
    method: Any = "scores"
    target_bounds: Any = None

    _methods = ("scores",)
    _published: ClassVar = {
        "robust": ("RobustDescent", {}),
        "trimmed": ("TrimmedDescent", {}),
        "sample_aggregate": ("SampleAggregate", {}),
        "block_mean": ("BlockMean", {}),
    }
    _moved: ClassVar = {
        "moment_bound": "Write method=tacit.published.RobustDescent(moment_bound=...).",
        "batch_size": "Write method=tacit.published.RobustDescent(batch_size=...).",
        "gradient_bounds": "Write method=tacit.published.TrimmedDescent(gradient_bounds=...).",
        "coef_bound": "Write method=tacit.published.SampleAggregate(coef_bound=...), or BlockMean(coef_bound=...).",
        "learning_rate": "Write method=tacit.published.RobustDescent(learning_rate=...), or TrimmedDescent(...).",
        "n_iter": "Write method=tacit.published.RobustDescent(n_iter=...), or TrimmedDescent(...).",
    }

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
        """Return intervals for the coefficients that least squares would have on the population, at no further cost.

        That is the population that these rows are a sample of: sampling error, privacy noise and what clipping may hide
        are included. With ``loss="huber"`` the slopes are those of the bulk of the rows. Where rows with far-off inputs
        decide the slopes, or inputs cannot be told apart, intervals may be too narrow; docs/linear-regression.md has
        how often they hold the truth.

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
        return find_published(self) is None

    def _check_options(self) -> None:
        published = find_published(self)
        public = self.neighbors == "replace_one" and self.missing == "error"
        if published is not None and published.needs_public_rows and not public:
            raise ValueError(
                f"{type(published).__name__} is for a public number of rows, all of them complete; use "
                'neighbors="replace_one" and missing="error".'
            )

    def _method(self, domain: Domain, n_rows: int | None, budget: Budget) -> RegressionMethod:
        published = find_published(self)
        if published is None:
            return super()._method(domain, n_rows, budget)
        return published.regression(domain.columns - 1, n_rows, bool(self.fit_intercept), budget)

    def _enter(self, curator: Curator, domain: Domain) -> Domain:
        domain = super()._enter(curator, domain)
        if find_published(self) is not None:  # Gradients are those of rows in their own units.
            curator.map_rows(domain.restoring_map)
        return domain

    def _in_units(self, fit: LinearFit, joint: Domain) -> LinearFit:
        if find_published(self) is not None:
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

    def _purpose(self) -> str:
        return "LinearRegression" if self.method == "scores" else f"LinearRegression(method={self.method!r})"

    def _notes(self) -> list[str]:
        published = find_published(self)
        if published is None:
            return super()._notes()
        return [f"LinearRegression as published, by {published}, {self.n_iter_} release(s).", *published.notes]
