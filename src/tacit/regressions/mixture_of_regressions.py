"""The estimator: a private mixture of linear regressions."""

from __future__ import annotations

import math
import numbers
from dataclasses import field, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from tacit.fitting import SupervisedEstimator, check_shapes, checked_budget, progress
from tacit.fitting.engine import run
from tacit.messages import describe
from tacit.privacy import Budget
from tacit.regressions.gradient_em import GradientEM
from tacit.regressions.gradient_methods import GradientMethods
from tacit.regressions.regression_moments import Found, ScoreMoments
from tacit.regressions.regressions import Regressions
from tacit.regressions.screening import Screened
from tacit.regressions.sparse_moments import SparseMoments
from tacit.statistics import SymmetricRegressionGradient
from tacit.statistics.components import Array
from tacit.tables import Domain


class MixtureOfRegressions(GradientMethods, SupervisedEstimator):
    """Rows from several groups, in each of which the target follows inputs in its own way, under differential privacy.

    In group k the target is intercept_k + <coef_k, x> + noise of scale scale_k; which group a row is of is not known.
    With one component it is linear regression with Gaussian errors, robust to outliers.

    Parameters
    ----------
    n_components : int, default 2
    method : {"moments", "clipped", "robust", "truncated"}, default "moments"
        "moments" makes an exact EM step from clipped scores in each release; see
        :mod:`tacit.regressions.regression_moments`. The others are published ones, kept for comparison; see
        :mod:`tacit.regressions.gradient_em`. They are for ``symmetric=True`` and need no bounds, but inputs about as
        large as standard normal ones.
    symmetric : bool, default False
        Two components with opposite coefficients, equally heavy, without intercepts: the papers' special case.
    fit_intercept : bool, default True
    scale : float, optional
        The standard deviation of the noise, which the papers' methods take to be known; "moments" estimates it.
    sparsity : int, optional
        How many columns matter at most: the others get coefficients of 0. Which they are is chosen privately, at a cost
        that hardly depends on how many columns there are; see :mod:`tacit.regressions.screening`. With a method of the
        papers, anew in each step.
    init : "random" or (n_features,) array, default "random"
        Where the papers' methods start: a direction drawn without a look at any row, three scales long, or what you
        give for coefficients of one component.
    learning_rate : float, default 1.0
        What gradients are multiplied by, for "clipped", "robust" and "truncated".
    clip : float, default 1.0
        How long a row's gradient may be, for "clipped".
    moment_bound : float, default 1.0
        What the mean square of each column of gradients is at most, for "robust". A wrong one costs accuracy, and
        no privacy.
    truncation : float, optional
        Where parts of gradients are cut off, for "truncated"; sqrt(log n) if it is not given.
    split : bool, default False
        For "truncated": use each row in one step alone.
    as_printed : bool, default False
        Compute the papers' gradients as printed, mistakes included, for comparison.
    n_iter : int or "auto", default "auto"
        How many releases the budget is shared among.

    Attributes
    ----------
    weights_ : (n_components,) array
        Heaviest first.
    coef_ : (n_components, n_features) array
    intercept_, scales_ : (n_components,) arrays
    coef_errors_ : (n_components, n_features) array or None
        Standard errors of ``coef_``, with the noise, as if it were known which component each row is of: more where
        components overlap. None for the papers' methods.
    inputs_mean_ : (n_features,) array
    inputs_covariance_ : (n_features, n_features) array
        Found on the way; the papers' methods take inputs to be standard normal.
    support_ : (sparsity,) array
        With a `sparsity`, the columns that were chosen, in ascending order.
    n_iter_ : int
        How many rounds of releases were made.

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
    method: str = "moments"
    symmetric: bool = False
    fit_intercept: bool = True
    scale: float | None = None
    sparsity: int | None = None
    init: Any = "random"
    learning_rate: float = 1.0
    clip: float = 1.0
    moment_bound: float = 1.0
    truncation: float | None = None
    split: bool = False
    as_printed: bool = False
    target_bounds: Any = None
    n_iter: int | str = "auto"

    def fit(self, X: Any, y: Any = None) -> MixtureOfRegressions:
        """Fit the regressions to rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : (n,) array, or the name of a column of `X`
        """
        budget = self._checked()
        domain, rows = self._open_both(X, y)
        n_rows = self._check_rows(rows, self.n_components, "n_components")
        steps = self._model(domain, n_rows, budget).steps()
        purpose = f"{type(self).__name__}({self.n_components}, method={self.method!r})"
        curator = self._curator(rows, domain, steps, budget, purpose)
        model = self._model(self._enter(curator, domain), n_rows, budget)
        with progress(self.verbose, f"Fitting {self.n_components} regression(s)") as watch:
            state = run(model, curator, watch)
        found = self._chosen(model.finish(state))
        self._publish(self._of_all(found) if isinstance(found, Found) else self._opposite(found))
        self.n_iter_ = len(model.rounds)
        notes = [f"Mixture of {self.n_components} regression(s), method {self.method}.", *self._gradient_notes()]
        self._certify(curator, budget, n_rows, notes)
        return self

    def predict(self, X: Any) -> Array:
        """Return the mean of the target for each row, over all components."""
        check_is_fitted(self)
        return self.predict_components(X) @ self.weights_

    def predict_components(self, X: Any) -> Array:
        """Return each component's prediction for each row, (rows, n_components)."""
        check_is_fitted(self)
        centre, scale = self._target
        return centre + scale * self._predicted(self._standard_rows(X)).T

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

    def _predicted(self, rows: Array) -> Array:
        """Return the components' predictions in standard coordinates, (K, rows)."""
        coefficients = self._regressions.coefficients
        return coefficients[:, :1] + coefficients[:, 1:] @ rows.T

    def _log_joint(self, X: Any, y: Any) -> Array:
        check_is_fitted(self)
        rows, target = self._standard_rows(X), self._standard_target(y)
        if len(rows) != len(target):
            raise ValueError("X and y must have as many rows as each other.")
        parts = self._regressions
        residuals = (target - self._predicted(rows)) / parts.scales[:, None]
        units = np.log(parts.weights / parts.scales / self._target[1])[:, None] - 0.5 * math.log(2 * math.pi)
        return units - 0.5 * residuals**2

    def _checked(self) -> Budget:
        if not isinstance(self.n_components, numbers.Integral) or self.n_components < 1:
            raise ValueError(
                f"n_components must be a whole number, at least 1, and it is {describe(self.n_components)}."
            )
        self._check_gradient_options(("clipped", "robust", "truncated"))
        if self.method == "moments" and self.scale is not None:
            raise ValueError('method="moments" estimates the scale of each component; leave out scale.')
        if self.method != "moments" and not self.symmetric:
            raise ValueError(
                f'method="{self.method}" is for two components with opposite coefficients: pass symmetric=True, or use '
                'method="moments".'
            )
        if self.symmetric and self.n_components != 2:
            raise ValueError(f"symmetric=True is for two components, and n_components is {self.n_components}.")
        if self.sparsity is not None and self.n_components > 1 and not self.symmetric:
            raise ValueError(
                "sparsity is for one component, or two with opposite coefficients (symmetric=True). Columns that act "
                "differently in several groups are not searched for: choose them beforehand, or leave out sparsity."
            )
        if self.sparsity is not None and self.n_components == 1 and self._guess_given():
            raise ValueError("One regression needs no start; leave out init.")
        return checked_budget(self, missing=("error", "ignore"))

    def _model(self, domain: Domain, n_rows: int | None, budget: Budget) -> ScoreMoments | SparseMoments | GradientEM:
        if self.method != "moments":
            return self._gradient_em(SymmetricRegressionGradient, domain.columns - 1, n_rows, budget)
        zero = -domain.centre / domain.scale
        origin = None if self.fit_intercept and not self.symmetric else zero

        def few(columns: Array, direction: Array | None = None) -> ScoreMoments:
            return ScoreMoments(
                self.n_components,
                len(columns) - 1,
                self.neighbors,
                n_rows,
                self.n_iter,
                self.symmetric,
                None if origin is None else origin[columns],
                domain.least_variances[columns],
                direction,
            )

        if self.sparsity is None:
            return few(np.arange(domain.columns))

        def chosen(found: Screened) -> ScoreMoments:
            columns = np.array([*found.columns, domain.columns - 1])
            return few(columns, np.array(found.signs, dtype=np.float64) if self.symmetric else None)

        if not self.symmetric:
            return self._sparse("association", zero, chosen, centred=origin is None)
        guess = self._guess(domain.columns - 1)
        return self._sparse("interaction", zero, chosen, None if guess is None else guess * domain.scale[:-1])

    def _of_all(self, found: Found) -> Found:
        """Return regressions on all columns, from those on the columns that were chosen."""
        few = found.regressions
        slopes = self._among_all(few.coefficients[:, 1:], self._domain.columns)
        coefficients = np.column_stack([few.coefficients[:, 0], slopes])
        return replace(found, regressions=replace(few, coefficients=coefficients))

    def _opposite(self, beta: Array) -> Found:
        """Return coefficients beta and -beta of rows in their own units as regressions in standard coordinates."""
        centre, scale = self._target
        both = np.stack([beta, -beta])
        intercepts = (both @ self._domain.centre - centre) / scale
        coefficients = np.column_stack([intercepts, both * self._domain.scale / scale])
        found = Regressions(np.full(2, 0.5), coefficients, np.full(2, float(self.scale) / scale))
        inputs = self._inputs_used()
        units = self._domain.scale[inputs]
        return Found(found, None, -self._domain.centre[inputs] / units, np.diag(units**-2.0))

    def _publish(self, found: Found) -> None:
        """Set the public attributes, in the units of inputs and target."""
        centre, scale = self._target
        # Stored row by row, so that a model that comes back from a file computes the same, to the last digit.
        found = Found(*(None if each is None else _by_rows(each) for each in vars(found).values()))
        regressions, inputs = found.regressions, self._inputs_used()
        units = self._domain.scale[inputs]
        slopes = scale * regressions.coefficients[:, 1:] / self._domain.scale
        self._found, self._regressions = found, regressions
        self.weights_ = regressions.weights
        self.coef_ = slopes
        self.intercept_ = centre + scale * regressions.coefficients[:, 0] - slopes @ self._domain.centre
        self.scales_ = scale * regressions.scales
        self.inputs_mean_ = self._domain.centre[inputs] + units * found.mean
        self.inputs_covariance_ = found.covariance * np.outer(units, units)
        variances = self._coefficient_covariances()
        self.coef_errors_ = None
        if variances is not None:
            self.coef_errors_ = self._among_all(np.sqrt(np.einsum("kii->ki", variances)), self._domain.columns)

    def _coefficient_covariances(self) -> Array | None:
        """Return how coefficients of each component err together, (K, d, d), in the units of inputs and target.

        With a `sparsity`, those of the columns that were chosen.
        """
        found, inputs = self._found, self._inputs_used()
        units = self._domain.scale[inputs]
        if found.errors is None:
            return None
        second = found.covariance
        if not self.fit_intercept or self.symmetric:  # measured from where all inputs are 0
            apart = found.mean + self._domain.centre[inputs] / units
            second = second + np.outer(apart, apart)
        inverse = np.linalg.inv(second) / np.outer(units, units)
        return (self._target[1] * found.errors[:, None, None]) ** 2 * inverse

    _about = (
        "the last of its columns is the target. In component k, which a share weights[k] of rows are of, the z of the "
        "target is coefficients[k][0] plus the sum over inputs j of coefficients[k][1 + j] times the input's z, plus "
        "normal noise of standard deviation scales[k]. inputs has the mean and the covariance of their z."
    )

    def _stored(self) -> dict[str, Any]:
        errors = None if self._found.errors is None else self._found.errors.tolist()
        return {
            "regressions": {name: values.tolist() for name, values in vars(self._regressions).items()}
            | {"errors": errors},
            "inputs": {"mean": self._found.mean.tolist(), "covariance": self._found.covariance.tolist()},
            **self._stored_support(),
        }

    def _restore(self, values: dict[str, Any]) -> None:
        self._checked()
        self._restore_support(values)
        stored, wide, used = values["regressions"], self._domain.columns, len(self._inputs_used())
        errors = None if self.method != "moments" else np.array(stored["errors"], float)
        mean, covariance = (np.array(values["inputs"][name], float) for name in ("mean", "covariance"))
        found = Regressions(*(np.array(stored[name], float) for name in ("weights", "coefficients", "scales")))
        check_shapes(
            weights=(found.weights, (self.n_components,)),
            coefficients=(found.coefficients, (self.n_components, 1 + wide)),
            scales=(found.scales, (self.n_components,)),
            errors=(found.scales if errors is None else errors, (self.n_components,)),
            mean=(mean, (used,)),
            covariance=(covariance, (used, used)),
        )
        np.linalg.cholesky(covariance)
        if (found.weights < 0).any() or abs(found.weights.sum() - 1) > 1e-6 or (found.scales <= 0).any():
            raise ValueError("weights must be shares of 1, and scales positive")
        self._publish(Found(found, errors, mean, covariance))


def _by_rows(values: Any) -> Any:
    if isinstance(values, Regressions):
        return Regressions(*map(_by_rows, vars(values).values()))
    return np.ascontiguousarray(values)
