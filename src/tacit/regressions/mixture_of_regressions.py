"""The estimator: a private mixture of linear regressions."""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, check_shapes, progress
from tacit.fitting.column_view import ColumnView
from tacit.fitting.parameters import check_count
from tacit.fitting.progress import Watch, part_of
from tacit.fitting.published import find_published, refuse_options
from tacit.fitting.target import open_with_target, target_numbers
from tacit.moments.estimates import PublicFacts
from tacit.privacy import Budget
from tacit.regressions.options import (
    MOVED,
    check_sparsity,
    columns_used,
    fit_published,
    method_name,
    method_notes,
    read_guess,
    read_support,
    spread_over_columns,
    write_support,
)
from tacit.regressions.regression_moments import RegressionEstimates, fit_regressions, regression_schedule
from tacit.regressions.regressions import Regressions
from tacit.regressions.screening import ScreeningSchedule, choose_support, screen_first
from tacit.release import Curator
from tacit.sources import Source
from tacit.tables import Domain


class MixtureOfRegressions(PrivateEstimator):
    """Rows from several groups, in each of which the target follows inputs in its own way, under differential privacy.

    In group k the target is intercept_k + <coef_k, x> + noise of scale scale_k; which group a row is of is not known.
    With one component it is linear regression with Gaussian errors, robust to outliers.

    Parameters
    ----------
    n_components : int, default 2
    method : "moments" or published method, default "moments"
        "moments" makes an exact EM step from clipped scores in each release; see
        :mod:`tacit.regressions.regression_moments`. Published methods are for ``symmetric=True`` and need no bounds,
        but inputs about as large as standard normal ones: :class:`tacit.published.ClippedGradientEM`,
        :class:`tacit.published.RobustGradientEM` and :class:`tacit.published.TruncatedGradientEM`.
    symmetric : bool, default False
        Two components with opposite coefficients, equally heavy, without intercepts.
    fit_intercept : bool, default True
    sparsity : int, optional
        The largest number of columns that matter. All others get coefficients of 0. Columns are chosen privately, at a
        cost that hardly depends on how many there are; see :mod:`tacit.regressions.screening`. A published method
        chooses anew in each step.
    init : (n_features,) array, optional
        A public guess of the coefficients of one of two opposite components, which helps "moments" choose columns. It
        does without one.
    n_iter : int or "auto", default "auto"
        Number of releases of "moments".

    Attributes
    ----------
    weights_ : (n_components,) array
        Heaviest first.
    coef_ : (n_components, n_features) array
    intercept_, scales_ : (n_components,) arrays
    coef_errors_ : (n_components, n_features) array or None
        Standard errors of ``coef_``, with the noise, as if it were known which component each row is of: more where
        components overlap. None with published methods.
    inputs_mean_ : (n_features,) array
    inputs_covariance_ : (n_features, n_features) array
        With a `sparsity`, of the columns in support_ alone. Published methods take inputs to be standard normal.
    support_ : (sparsity,) array
        With a `sparsity`, the columns that matter, in ascending order.
    n_iter_ : int
        Number of releases, where the choices of one step count as one.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> slopes = np.where(rng.random(20_000) < 0.7, 2.0, -1.0)
    >>> y = slopes * X[:, 0] + rng.normal(0.0, 0.3, 20_000)
    >>> model = tacit.MixtureOfRegressions(2, bounds=10, target_bounds=20, random_state=0).fit(X, y)
    >>> model.coef_.round(1) + 0.0, model.weights_.round(1)
    (array([[ 2.,  0.],
           [-1.,  0.]]), array([0.7, 0.3]))
    """

    n_components: int = field(default=2, kw_only=False)
    method: Any = "moments"
    symmetric: bool = False
    fit_intercept: bool = True
    sparsity: int | None = None
    init: Any = None
    target_bounds: Any = None
    n_iter: int | str = "auto"

    _has_target = True
    _methods = ("moments",)
    _published: ClassVar = {
        "clipped": ("ClippedGradientEM", {}),
        "robust": ("RobustGradientEM", {}),
        "truncated": ("TruncatedGradientEM", {}),
    }
    _moved: ClassVar = {name: words for name, words in MOVED.items() if name != "init"}

    def fit(self, X: Any, y: Any = None) -> MixtureOfRegressions:
        """Fit the regressions to rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : (n,) array, or the name of a column of `X`
        """
        budget, published = self._check_parameters()
        domain, rows = open_with_target(self, X, y)
        n_rows = self._check_rows(rows, self.n_components, "n_components")
        check_sparsity(self.sparsity, domain.columns - 1)
        with progress(self.verbose, f"Fitting {self.n_components} regression(s)") as watch:
            if published is None:
                curator = self._fit_moments(rows, domain, n_rows, budget, watch)
            else:
                curator, beta = fit_published(self, "symmetric regressions", rows, domain, n_rows, budget, watch)
                self._publish(self._opposite_regressions(beta, float(published.scale)))
        notes = [f"Mixture of {self.n_components} regression(s), method {method_name(published)}."]
        notes += method_notes(published, self.sparsity, self.n_features_in_)
        self._certify(curator, budget, n_rows, notes)
        return self

    def _fit_moments(self, rows: Source, domain: Domain, n_rows: int | None, budget: Budget, watch: Watch) -> Curator:
        inputs, symmetric = domain.columns - 1, self.symmetric
        guess, screening = read_guess(self.init, inputs), None
        if self.sparsity is not None:
            screen, centred = ("interaction", False) if symmetric else ("association", self.fit_intercept)
            screening = ScreeningSchedule(screen, self.sparsity, inputs, centred, guided=guess is not None)
        # Signs of the columns that are chosen tell in which direction two opposite components differ.
        grow = screening is None or not symmetric
        schedule = regression_schedule(
            self.n_components, self.sparsity or inputs, self.n_iter, symmetric=symmetric, grow=grow
        )
        steps, before = screen_first(screening, schedule.steps())
        curator = self._curator(rows, domain, steps, budget, self._purpose())
        domain = self._enter(curator, domain)

        zero, columns, direction = -domain.centre / domain.scale, np.arange(domain.columns), None
        view: Curator | ColumnView = curator
        total = before + schedule.n_releases
        if screening is not None:
            guess = None if guess is None else guess * domain.scale[:-1]
            support = choose_support(curator, screening, zero, guess, part_of(watch, 0, total))
            view = ColumnView(curator, (*support.columns, inputs))
            columns = np.array(view.columns)
            direction = None if grow else np.array(support.signs, dtype=np.float64)
            self.support_ = columns[:-1]
        estimates = fit_regressions(
            view,
            schedule,
            PublicFacts(len(columns), n_rows, domain.least_variances[columns]),
            symmetric=symmetric,
            origin=None if self.fit_intercept and not symmetric else zero[columns],
            direction=direction,
            watch=part_of(watch, before, total),
        )
        coefficients = estimates.regressions.coefficients
        slopes = spread_over_columns(self, coefficients[:, 1:])
        coefficients = np.column_stack([coefficients[:, 0], slopes])
        self._publish(replace(estimates, regressions=replace(estimates.regressions, coefficients=coefficients)))
        self.n_iter_ = total
        return curator

    def predict(self, X: Any) -> Array:
        """Return the mean of the target for each row, over all components."""
        check_is_fitted(self)
        return self.predict_components(X) @ self.weights_

    def predict_components(self, X: Any) -> Array:
        """Return each component's prediction for each row, (rows, n_components)."""
        check_is_fitted(self)
        centre, scale = self._target
        return centre + scale * self._predict_standard(self._standard_rows(X)).T

    def predict_proba(self, X: Any, y: Any = None) -> Array:
        """Return the probability of each component, (rows, n_components), given inputs and targets.

        Without targets it is the weights, for every row: inputs alone do not tell.
        """
        check_is_fitted(self)
        if y is None:
            return np.tile(self.weights_, (len(self._standard_rows(X)), 1))
        joint = self._log_joint(X, y)
        return np.exp(joint - logsumexp(joint, axis=0)).T

    def log_density(self, X: Any, y: Any) -> Array:
        """Return the log density of each row's target given its inputs, in the units of the target."""
        return np.asarray(logsumexp(self._log_joint(X, y), axis=0))

    def score(self, X: Any, y: Any) -> float:
        """Return the mean log density of targets given inputs."""
        return float(self.log_density(X, y).mean())

    def _standard_rows(self, X: Any) -> Array:
        return np.concatenate(list(self._standard_blocks(X)))

    def _standard_target(self, y: Any) -> Array:
        """Return targets to be scored, in standard coordinates."""
        values = target_numbers(y)
        if not np.isfinite(values).all():
            raise ValueError("y must be one column of finite numbers.")
        return (values - self._target[0]) / self._target[1]

    def _predict_standard(self, rows: Array) -> Array:
        """Return the components' predictions in standard coordinates, (K, rows)."""
        coefficients = self._regressions.coefficients
        return coefficients[:, :1] + coefficients[:, 1:] @ rows.T

    def _log_joint(self, X: Any, y: Any) -> Array:
        check_is_fitted(self)
        rows, target = self._standard_rows(X), self._standard_target(y)
        if len(rows) != len(target):
            raise ValueError("X and y must have as many rows as each other.")
        parts = self._regressions
        residuals = (target - self._predict_standard(rows)) / parts.scales[:, None]
        units = np.log(parts.weights / parts.scales / self._target[1])[:, None] - 0.5 * math.log(2 * math.pi)
        return units - 0.5 * residuals**2

    @property
    def _needs_bounds(self) -> bool:  # type: ignore[override]
        return find_published(self) is None

    def _purpose(self) -> str:
        return f"{type(self).__name__}({self.n_components}, method={method_name(find_published(self))!r})"

    def _check_parameters(self) -> tuple[Budget, Any]:
        """Refuse, in a sentence, what makes no sense; return the budget, and the published method if it is one."""
        check_count("n_components", self.n_components)
        published = find_published(self)
        check_sparsity(self.sparsity)
        if published is not None:
            refuse_options(self, published, "n_iter", "init")
        if published is not None and not self.symmetric:
            raise ValueError(
                f"{method_name(published)} is for two components with opposite coefficients: pass symmetric=True, or "
                'use method="moments".'
            )
        if self.symmetric and self.n_components != 2:
            raise ValueError(f"symmetric=True is for two components, and n_components is {self.n_components}.")
        if self.sparsity is not None and self.n_components > 1 and not self.symmetric:
            raise ValueError(
                "sparsity is for one component, or two with opposite coefficients (symmetric=True). Columns that act "
                "differently in several groups are not searched for: choose them beforehand, or leave out sparsity."
            )
        if self.init is not None and not (self.symmetric and self.sparsity is not None):
            raise ValueError(
                "init helps to choose columns of two opposite components (symmetric=True, with a sparsity). Otherwise "
                'method="moments" needs no start; leave it out.'
            )
        return check_budget(self, missing=("error", "ignore")), published

    def _opposite_regressions(self, beta: Array, noise: float) -> RegressionEstimates:
        """Return coefficients beta and -beta of rows in their own units as regressions in standard coordinates."""
        centre, scale = self._target
        both = np.stack([beta, -beta])
        intercepts = (both @ self._domain.centre - centre) / scale
        coefficients = np.column_stack([intercepts, both * self._domain.scale / scale])
        regressions = Regressions(np.full(2, 0.5), coefficients, np.full(2, noise / scale))
        inputs = columns_used(self)
        units = self._domain.scale[inputs]
        return RegressionEstimates(regressions, None, -self._domain.centre[inputs] / units, np.diag(units**-2.0))

    def _publish(self, estimates: RegressionEstimates) -> None:
        """Set the public attributes, in the units of inputs and target."""
        # Arrays are stored row by row, so that a model that comes back from a file computes the same to the last digit.
        parts = (np.ascontiguousarray(part) for part in vars(estimates.regressions).values())
        regressions = self._regressions = Regressions(*parts)
        errors = None if estimates.errors is None else np.ascontiguousarray(estimates.errors)
        mean, covariance = (np.ascontiguousarray(part) for part in (estimates.mean, estimates.covariance))
        self._estimates = RegressionEstimates(regressions, errors, mean, covariance)
        (centre, scale), inputs = self._target, columns_used(self)
        units = self._domain.scale[inputs]
        slopes = scale * regressions.coefficients[:, 1:] / self._domain.scale
        self.weights_ = regressions.weights
        self.coef_ = slopes
        self.intercept_ = centre + scale * regressions.coefficients[:, 0] - slopes @ self._domain.centre
        self.scales_ = scale * regressions.scales
        self.inputs_mean_ = self._domain.centre[inputs] + units * mean
        self.inputs_covariance_ = covariance * np.outer(units, units)
        variances = self._coefficient_covariances()
        self.coef_errors_ = None
        if variances is not None:
            deviations = np.sqrt(np.einsum("kii->ki", variances))
            self.coef_errors_ = spread_over_columns(self, deviations)

    def _coefficient_covariances(self) -> Array | None:
        """Return the covariances of errors of coefficients, (K, d, d), in the units of inputs and target.

        With a `sparsity`, those of the columns in ``support_``.
        """
        estimates, inputs = self._estimates, columns_used(self)
        units = self._domain.scale[inputs]
        if estimates.errors is None:
            return None
        second = estimates.covariance
        if not self.fit_intercept or self.symmetric:  # Inputs are measured from where all of them are 0.
            apart = estimates.mean + self._domain.centre[inputs] / units
            second = second + np.outer(apart, apart)
        inverse = np.linalg.inv(second) / np.outer(units, units)
        return (self._target[1] * estimates.errors[:, None, None]) ** 2 * inverse

    _about = (
        "the last of its columns is the target. In component k, which a share weights[k] of rows are of, the z of the "
        "target is coefficients[k][0] plus the sum over inputs j of coefficients[k][1 + j] times the input's z, plus "
        "normal noise of standard deviation scales[k]. inputs has the mean and the covariance of their z."
    )

    def _stored(self) -> dict[str, Any]:
        estimates = self._estimates
        errors = None if estimates.errors is None else estimates.errors.tolist()
        return {
            "regressions": {name: values.tolist() for name, values in vars(self._regressions).items()}
            | {"errors": errors},
            "inputs": {"mean": estimates.mean.tolist(), "covariance": estimates.covariance.tolist()},
            **write_support(self),
        }

    def _restore(self, values: dict[str, Any]) -> None:
        _, published = self._check_parameters()
        read_support(self, values)
        stored, wide, used = values["regressions"], self._domain.columns, len(columns_used(self))
        errors = None if published is not None else np.array(stored["errors"], float)
        mean, covariance = (np.array(values["inputs"][name], float) for name in ("mean", "covariance"))
        regressions = Regressions(*(np.array(stored[name], float) for name in ("weights", "coefficients", "scales")))
        check_shapes(
            weights=(regressions.weights, (self.n_components,)),
            coefficients=(regressions.coefficients, (self.n_components, 1 + wide)),
            scales=(regressions.scales, (self.n_components,)),
            errors=(regressions.scales if errors is None else errors, (self.n_components,)),
            mean=(mean, (used,)),
            covariance=(covariance, (used, used)),
        )
        np.linalg.cholesky(covariance)  # This refuses a matrix that is no covariance.
        weights, scales = regressions.weights, regressions.scales
        if (weights < 0).any() or abs(weights.sum() - 1) > 1e-6 or (scales <= 0).any():
            raise ValueError("weights must be shares of 1, and scales positive")
        self._publish(RegressionEstimates(regressions, errors, mean, covariance))
