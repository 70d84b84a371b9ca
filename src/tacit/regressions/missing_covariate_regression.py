"""The estimator: linear regression on inputs that are partly missing."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, check_shapes, progress
from tacit.fitting.column_view import ColumnView
from tacit.fitting.progress import Watch, part_of
from tacit.fitting.published import find_published
from tacit.fitting.target import open_with_target, score_predictions
from tacit.moments.estimates import PublicFacts
from tacit.moments.gaussian_round import GaussianEstimate
from tacit.privacy import Budget
from tacit.regressions.missing_moments import fit_missing, missing_schedule
from tacit.regressions.options import (
    MOVED,
    check_sparsity,
    columns_used,
    fit_published,
    method_name,
    method_notes,
    read_support,
    spread_over_columns,
    write_support,
)
from tacit.regressions.screening import ScreeningSchedule, choose_support, screen_first
from tacit.release import Curator
from tacit.sources import Source
from tacit.statistics import TableComponents
from tacit.tables import Domain


class MissingCovariateRegression(RegressorMixin, PrivateEstimator):
    """Linear regression on inputs some cells of which are missing at random, under differential privacy.

    Inputs are taken to be Gaussian, with a mean and a covariance that are estimated too: so a row with missing cells
    says what it can, and can be predicted. Whether cells are missing, and which, is protected as all else is.

    Parameters
    ----------
    method : "moments" or published method, default "moments"
        "moments" makes exact steps from clipped, expected scores; see :mod:`tacit.regressions.missing_moments`.
        Published methods need no bounds, but take inputs to be standard normal and the target to have no intercept:
        :class:`tacit.published.ClippedGradientEM`, :class:`tacit.published.RobustGradientEM` and
        :class:`tacit.published.TruncatedGradientEM`.
    sparsity : int, optional
        The largest number of columns that matter. All others get coefficients of 0. Columns are chosen privately, at a
        cost that hardly depends on how many there are; see :mod:`tacit.regressions.screening`. A published method
        chooses anew in each step.
    n_iter : int or "auto", default "auto"
        Number of releases of "moments".

    Attributes
    ----------
    coef_ : (n_features,) array
    intercept_, scale_ : float
        The scale is the standard deviation of residuals.
    coef_errors_ : (n_features,) array or None
        Standard errors of ``coef_``, with the noise, as if the covariance of inputs were known: more where many cells
        are missing. None with published methods.
    inputs_mean_ : (n_features,) array
    inputs_covariance_ : (n_features, n_features) array
        With a `sparsity`, of the columns in support_ alone.
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
    >>> y = X @ [2.0, -1.0] + rng.normal(0.0, 0.5, 20_000)
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> model = tacit.MissingCovariateRegression(bounds=10, target_bounds=20, random_state=0).fit(X, y)
    >>> model.coef_.round(1), round(model.scale_, 1)
    (array([ 2., -1.]), 0.5)
    >>> model.predict([[1.0, np.nan]]).round(1)
    array([2.])
    """

    method: Any = "moments"
    sparsity: int | None = None
    target_bounds: Any = None
    n_iter: int | str = "auto"

    missing: ClassVar[str] = "model"  # It is not a parameter here: missing cells are what the model is about.
    _has_target = True
    _methods = ("moments",)
    _published: ClassVar = {
        "clipped": ("ClippedGradientEM", {}),
        "robust": ("RobustGradientEM", {}),
        "truncated": ("TruncatedGradientEM", {}),
    }
    _moved: ClassVar = MOVED

    def fit(self, X: Any, y: Any = None) -> MissingCovariateRegression:
        """Fit the regression to rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
            NaN where a cell is missing.
        y : (n,) array, or the name of a column of `X`
            A row whose target is missing tells about inputs alone.
        """
        budget, published = self._check_parameters()
        domain, rows = open_with_target(self, X, y)
        n_rows = self._check_rows(rows, 2)
        check_sparsity(self.sparsity, domain.columns - 1)
        with progress(self.verbose, "Fitting a regression") as watch:
            if published is None:
                curator = self._fit_moments(rows, domain, n_rows, budget, watch)
            else:
                curator, beta = fit_published(self, "missing covariates", rows, domain, n_rows, budget, watch)
                self._publish(self._of_standard_inputs(beta, float(published.scale)), None)
        notes = [f"Regression with missing covariates, method {method_name(published)}."]
        notes += method_notes(published, self.sparsity, self.n_features_in_)
        self._certify(curator, budget, n_rows, notes)
        return self

    def _fit_moments(self, rows: Source, domain: Domain, n_rows: int | None, budget: Budget, watch: Watch) -> Curator:
        inputs, screening = domain.columns - 1, None
        schedule = missing_schedule(self.sparsity or inputs, self.n_iter, count_rows=n_rows is None)
        if self.sparsity is not None:
            screening = ScreeningSchedule("association", self.sparsity, inputs, centred=True)
        steps, before = screen_first(screening, schedule.steps())
        curator = self._curator(rows, domain, steps, budget, self._purpose())
        domain = self._enter(curator, domain)

        view: Curator | ColumnView = curator
        columns, total = np.arange(domain.columns), before + schedule.n_releases
        if screening is not None:
            zero = -domain.centre / domain.scale
            support = choose_support(curator, screening, zero, watch=part_of(watch, 0, total))
            view = ColumnView(curator, (*support.columns, inputs))
            columns = np.array(view.columns)
            self.support_ = columns[:-1]
        facts = PublicFacts(len(columns), n_rows, domain.least_variances[columns])
        gaussian, errors = fit_missing(view, schedule, facts, part_of(watch, before, total))
        self._publish(gaussian, errors)
        self.n_iter_ = total
        return curator

    def predict(self, X: Any) -> Array:
        """Return the expected target of each row, given the cells that it has."""
        check_is_fitted(self)
        components = TableComponents.of_numbers(self._gaussian.component())
        factor, mean = components.factors[0], components.means[0, -1]
        predictions = []
        for block in self._standard_blocks(X):
            rows = np.column_stack([block[:, columns_used(self)], np.full(len(block), np.nan)])
            out = np.empty(len(block))
            for part in components.e_step(rows, missing=True):
                out[part.places] = mean + factor[-1] @ part.lifted[0, 1:]
            predictions.append(out)
        centre, scale = self._target
        return centre + scale * np.concatenate(predictions)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination of predictions, R²."""
        return score_predictions("r2_score", y, self.predict(X), sample_weight)

    @property
    def _needs_bounds(self) -> bool:  # type: ignore[override]
        return find_published(self) is None

    def _purpose(self) -> str:
        return f"{type(self).__name__}(method={method_name(find_published(self))!r})"

    def _check_parameters(self) -> tuple[Budget, Any]:
        """Refuse, in a sentence, what makes no sense; return the budget, and the published method if it is one."""
        published = find_published(self)
        check_sparsity(self.sparsity)
        return check_budget(self, missing=("model",)), published

    def _of_standard_inputs(self, beta: Array, noise: float) -> GaussianEstimate:
        """Return the Gaussian of standard normal inputs and their target, in standard coordinates."""
        inputs = columns_used(self)
        joint = np.append(inputs, len(beta))
        units = self._joint.scale[joint]
        factor = np.eye(len(units))
        factor[-1, :-1], factor[-1, -1] = beta[inputs], noise
        factor /= units[:, None]
        return GaussianEstimate(-self._joint.centre[joint] / units, factor @ factor.T, None)

    def _publish(self, gaussian: GaussianEstimate, errors: Array | None) -> None:
        """Set the public attributes, in the units of inputs and target."""
        centre, scale = self._target
        factor = np.linalg.cholesky(gaussian.covariance)
        slopes = np.linalg.solve(factor[:-1, :-1].T, factor[-1, :-1])
        inputs = columns_used(self)
        units = self._domain.scale[inputs]
        self._gaussian, self._errors = gaussian, None if errors is None else np.ascontiguousarray(errors)
        self.coef_ = spread_over_columns(self, scale * slopes / units)
        variances = self._coefficient_covariances()
        self.coef_errors_ = None
        if variances is not None:
            deviations = np.sqrt(np.einsum("kii->ki", variances))[0]
            self.coef_errors_ = spread_over_columns(self, deviations)
        self.inputs_mean_ = self._domain.centre[inputs] + units * gaussian.mean[:-1]
        self.inputs_covariance_ = gaussian.covariance[:-1, :-1] * np.outer(units, units)
        self.intercept_ = float(centre + scale * gaussian.mean[-1] - self.coef_[inputs] @ self.inputs_mean_)
        self.scale_ = float(scale * factor[-1, -1])

    def _coefficient_covariances(self) -> Array | None:
        """Return the covariance of errors of coefficients, (1, d, d), in the units of inputs and target.

        With a `sparsity`, that of the columns in ``support_``.
        """
        units = self._domain.scale[columns_used(self)]
        return None if self._errors is None else self._target[1] ** 2 * self._errors[None] / np.outer(units, units)

    _about = (
        "the last of its columns is the target. Inputs and target together are normal: gaussian has the mean and the "
        "covariance of z, from which the regression on whatever inputs are there follows, and how its coefficients err "
        "together."
    )

    def _stored(self) -> dict[str, Any]:
        errors = None if self._errors is None else self._errors.tolist()
        gaussian = {"mean": self._gaussian.mean.tolist(), "covariance": self._gaussian.covariance.tolist()}
        return {"gaussian": gaussian | {"errors": errors}, **write_support(self)}

    def _restore(self, values: dict[str, Any]) -> None:
        _, published = self._check_parameters()
        read_support(self, values)
        mean, covariance = (np.array(values["gaussian"][name], float) for name in ("mean", "covariance"))
        wide = 1 + len(columns_used(self))
        check_shapes(mean=(mean, (wide,)), covariance=(covariance, (wide, wide)))
        if not np.allclose(covariance, covariance.T, rtol=1e-9, atol=0.0):
            raise ValueError("the covariance must be symmetric")
        errors = None
        if published is None:
            errors = np.array(values["gaussian"]["errors"], float)
            check_shapes(errors=(errors, (wide - 1, wide - 1)))
        self._publish(GaussianEstimate(mean, covariance, None), errors)
