"""The estimator: linear regression on inputs that are partly missing."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from tacit.fitting import SupervisedEstimator, check_shapes, checked_budget, progress
from tacit.fitting.engine import run
from tacit.fitting.supervised import scored
from tacit.mixture.mixture import Mixture
from tacit.privacy import Budget
from tacit.regressions.gradient_em import GradientEM
from tacit.regressions.gradient_methods import GradientMethods
from tacit.regressions.missing_moments import MissingMoments, Stand
from tacit.regressions.screening import Screened
from tacit.regressions.sparse_moments import SparseMoments
from tacit.statistics import MissingCovariateGradient, TableComponents
from tacit.statistics.components import Array
from tacit.tables import Domain


class MissingCovariateRegression(RegressorMixin, GradientMethods, SupervisedEstimator):
    """Linear regression on inputs some cells of which are missing at random, under differential privacy.

    Inputs are taken to be Gaussian, with a mean and a covariance that are estimated too: so a row with missing cells
    says what it can, and can be predicted. Whether cells are missing, and which, is protected as all else is.

    Parameters
    ----------
    method : {"moments", "clipped", "robust", "truncated"}, default "moments"
        "moments" makes exact steps from clipped, expected scores; see :mod:`tacit.regressions.missing_moments`. The
        others are published ones, kept for comparison; see :mod:`tacit.regressions.gradient_em`. They need no bounds,
        but take inputs to be standard normal and the target to have no intercept.
    scale : float, optional
        The standard deviation of residuals, which the papers' methods take to be known; "moments" estimates it.
    sparsity : int, optional
        How many columns matter at most: the others get coefficients of 0. Which they are is chosen privately, at a cost
        that hardly depends on how many columns there are; see :mod:`tacit.regressions.screening`. With a method of the
        papers, anew in each step.
    init : "random" or (n_features,) array, default "random"
        Where the papers' methods start: a direction drawn without a look at any row, three scales long, or what you
        give.
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
    coef_ : (n_features,) array
    intercept_, scale_ : float
        The scale is the standard deviation of residuals.
    coef_errors_ : (n_features,) array or None
        Standard errors of ``coef_``, with the noise, as if the covariance of inputs were known: more where many cells
        are missing. None for the papers' methods.
    inputs_mean_ : (n_features,) array
    inputs_covariance_ : (n_features, n_features) array
        With a `sparsity`, of the columns in support_ alone.
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
    >>> y = X @ [2.0, -1.0] + rng.normal(0.0, 0.5, 20_000)
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> model = tacit.MissingCovariateRegression(bounds=10, target_bounds=20, random_state=0).fit(X, y)
    >>> model.coef_.round(1), round(model.scale_, 1)
    (array([ 2., -1.]), 0.5)
    >>> model.predict([[1.0, np.nan]]).round(1)
    array([2.])
    """

    method: str = "moments"
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

    missing: ClassVar[str] = "model"  # It is not a parameter here: missing cells are what the model is about.

    def fit(self, X: Any, y: Any = None) -> MissingCovariateRegression:
        """Fit the regression to rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
            NaN where a cell is missing.
        y : (n,) array, or the name of a column of `X`
            A row whose target is missing tells about inputs alone.
        """
        budget = self._checked()
        domain, rows = self._open_both(X, y)
        n_rows = self._check_rows(rows, 2, "least number of rows")
        steps = self._model(domain, n_rows, budget).steps()
        curator = self._curator(rows, domain, steps, budget, f"{type(self).__name__}(method={self.method!r})")
        model = self._model(self._enter(curator, domain), n_rows, budget)
        with progress(self.verbose, "Fitting a regression") as watch:
            state = run(model, curator, watch)
        found = self._chosen(model.finish(state))
        if isinstance(found, Stand):
            self._publish(found.table.mixture, found.errors)
        else:
            self._publish(self._white_table(found), None)
        self.n_iter_ = len(model.rounds)
        notes = [f"Regression with missing covariates, method {self.method}.", *self._gradient_notes()]
        self._certify(curator, budget, n_rows, notes)
        return self

    def predict(self, X: Any) -> Array:
        """Return the expected target of each row, given the cells that it has."""
        check_is_fitted(self)
        components = TableComponents.of_numbers(self._table.components())
        factor, mean = components.factors[0], components.means[0, -1]
        predicted = []
        for block in self._standard_blocks(X):
            rows = np.column_stack([block[:, self._inputs_used()], np.full(len(block), np.nan)])
            out = np.empty(len(block))
            for part in components.e_step(rows, missing=True):
                out[part.places] = mean + factor[-1] @ part.lifted[0, 1:]
            predicted.append(out)
        centre, scale = self._target
        return centre + scale * np.concatenate(predicted)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination of predictions, R²."""
        return scored("r2_score", y, self.predict(X), sample_weight)

    def _checked(self) -> Budget:
        self._check_gradient_options(("clipped", "robust", "truncated"))
        if self.method == "moments" and self.scale is not None:
            raise ValueError('method="moments" estimates the scale of residuals; leave out scale.')
        if self.method == "moments" and self._guess_given():
            raise ValueError('method="moments" needs no start; leave out init, or choose another method.')
        return checked_budget(self, missing=("model",))

    def _model(self, domain: Domain, n_rows: int | None, budget: Budget) -> MissingMoments | SparseMoments | GradientEM:
        if self.method != "moments":
            return self._gradient_em(MissingCovariateGradient, domain.columns - 1, n_rows, budget)
        narrow = domain.least_variances
        if self.sparsity is None:
            return MissingMoments(domain.columns - 1, self.neighbors, n_rows, self.n_iter, narrow)

        def chosen(found: Screened) -> MissingMoments:
            columns = [*found.columns, domain.columns - 1]
            return MissingMoments(len(columns) - 1, self.neighbors, n_rows, self.n_iter, narrow[columns])

        return self._sparse("association", -domain.centre / domain.scale, chosen, centred=True)

    def _white_table(self, beta: Array) -> Mixture:
        """Return the Gaussian of standard normal inputs and their target, in standard coordinates."""
        inputs = self._inputs_used()
        joint = np.append(inputs, len(beta))
        units = self._joint.scale[joint]
        factor = np.eye(len(units))
        factor[-1, :-1], factor[-1, -1] = beta[inputs], self.scale
        factor /= units[:, None]
        return Mixture(np.ones(1), (-self._joint.centre[joint] / units)[None], (factor @ factor.T)[None])

    def _publish(self, table: Mixture, errors: Array | None) -> None:
        """Set the public attributes, in the units of inputs and target."""
        centre, scale = self._target
        factor = np.linalg.cholesky(table.covariances[0])
        slopes = np.linalg.solve(factor[:-1, :-1].T, factor[-1, :-1])
        inputs = self._inputs_used()
        units = self._domain.scale[inputs]
        self._table, self._errors = table, None if errors is None else np.ascontiguousarray(errors)
        self.coef_ = self._among_all(scale * slopes / units, self._domain.columns)
        variances = self._coefficient_covariances()
        self.coef_errors_ = None
        if variances is not None:
            self.coef_errors_ = self._among_all(np.sqrt(np.einsum("kii->ki", variances))[0], self._domain.columns)
        self.inputs_mean_ = self._domain.centre[inputs] + units * table.means[0, :-1]
        self.inputs_covariance_ = table.covariances[0, :-1, :-1] * np.outer(units, units)
        self.intercept_ = float(centre + scale * table.means[0, -1] - self.coef_[inputs] @ self.inputs_mean_)
        self.scale_ = float(scale * factor[-1, -1])

    def _coefficient_covariances(self) -> Array | None:
        """Return how coefficients err together, (1, d, d), in the units of inputs and target; of those chosen alone."""
        units = self._domain.scale[self._inputs_used()]
        return None if self._errors is None else self._target[1] ** 2 * self._errors[None] / np.outer(units, units)

    _about = (
        "the last of its columns is the target. Inputs and target together are normal: gaussian has the mean and the "
        "covariance of z, from which the regression on whatever inputs are there follows, and how its coefficients err "
        "together."
    )

    def _stored(self) -> dict[str, Any]:
        table = self._table
        errors = None if self._errors is None else self._errors.tolist()
        gaussian = {"mean": table.means[0].tolist(), "covariance": table.covariances[0].tolist()}
        return {"gaussian": gaussian | {"errors": errors}, **self._stored_support()}

    def _restore(self, values: dict[str, Any]) -> None:
        self._checked()
        self._restore_support(values)
        mean, covariance = (np.array(values["gaussian"][name], float) for name in ("mean", "covariance"))
        wide = 1 + len(self._inputs_used())
        check_shapes(mean=(mean, (wide,)), covariance=(covariance, (wide, wide)))
        if not np.allclose(covariance, covariance.T, rtol=1e-9, atol=0.0):
            raise ValueError("the covariance must be symmetric")
        errors = None
        if self.method == "moments":
            errors = np.array(values["gaussian"]["errors"], float)
            check_shapes(errors=(errors, (wide - 1, wide - 1)))
        self._publish(Mixture(np.ones(1), mean[None], covariance[None]), errors)
