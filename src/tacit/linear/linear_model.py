"""What private linear regressions share: one fit, of which every penalty makes its own coefficients."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import check_budget, check_shapes, progress
from tacit.fitting.progress import Watch
from tacit.fitting.target import open_with_target, score_predictions
from tacit.linear.evidence import Evidence, evidence_of_fit
from tacit.linear.input_moments import input_layout
from tacit.linear.least_squares import Schedule, fit_least_squares
from tacit.linear.linear_fit import InputSpread, LinearFit
from tacit.linear.newton_regression import NewtonSchedule, fit_by_newton
from tacit.linear.score_regression import fit_by_scores
from tacit.linear.score_schedule import ScoreSchedule
from tacit.messages import describe
from tacit.mixture.table_mixture import table_layout
from tacit.moments.moments import Moments
from tacit.privacy import Budget, Relation, Step
from tacit.release import Curator
from tacit.statistics import TableLayout
from tacit.tables import Domain

LOSSES = ("squared", "huber")
_SHARED = ("epsilon", "delta", "bounds", "neighbors", "missing", "ledger", "random_state", "verbose")


@dataclass(frozen=True, eq=False)
class RegressionMethod:
    """A way to fit a linear regression, from public numbers.

    Parameters
    ----------
    steps : list of Step
        The plan's steps, with noise relative to each other.
    releases : int
        How many releases a fit makes.
    fit : callable
        Of a curator, the domain of inputs and target, and what watches progress. It returns the fit in the coordinates
        that the curator has rows in.
    check : callable
        Of a curator. It refuses what cannot be fitted, while nothing is charged yet.
    """

    steps: Sequence[Step]
    releases: int
    fit: Callable[[Curator, Domain, Watch], LinearFit]
    check: Callable[[Curator], object] = lambda curator: None


def default_method(
    layout: TableLayout, neighbors: Relation, rows: int | None, budget: Budget, intercept: bool, loss: str
) -> RegressionMethod:
    """Return the default method: Newton steps where inputs have levels, and scores where all of them are numbers.

    Parameters
    ----------
    layout : TableLayout
        Where numbers and levels are found in rows; the target, last, is a number.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    budget : Budget
    intercept : bool
        Whether there is an intercept.
    loss : {"squared", "huber"}
    """
    fit: Callable[..., LinearFit]
    schedule: NewtonSchedule | Schedule | ScoreSchedule
    if layout.levels:
        fit, schedule = fit_by_newton, NewtonSchedule(layout, neighbors, rows, budget)
    elif loss == "huber":
        fit, schedule = fit_by_scores, ScoreSchedule(layout.numbers[-1], neighbors, rows, budget)
    else:
        fit, schedule = fit_least_squares, Schedule(layout.numbers[-1], neighbors, rows, budget)

    def fit_in(curator: Curator, domain: Domain, watch: Watch) -> LinearFit:
        origin = None if intercept else -domain.centre / domain.scale
        return fit(curator, schedule, origin, domain.least_variances, watch)

    return RegressionMethod(schedule.steps(), schedule.releases, fit_in)


class LinearModelMixin(RegressorMixin):
    """Fit, predictions and storage of estimators that take ``fit_intercept`` and ``target_bounds`` beside the rest.

    They say in ``_penalise`` what they make of a least-squares fit, and in ``_check_options`` what they refuse.
    """

    _has_target = True
    _spread: InputSpread | None = None
    _target_range: tuple[float, float] | None = None
    _evidence: Evidence | None = None  # It is known when a fit ends, and no file has it.

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit the regression to rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : (n,) array, or the name of a column of `X`
        """
        self._check_options()
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be {LOSSES[0]!r} or {LOSSES[1]!r}, and it is {describe(self.loss)}.")
        budget = check_budget(self, missing=("error", "ignore"))
        domain, rows = open_with_target(self, X, y)
        n_rows = self._check_rows(rows)
        method = self._method(domain, n_rows, budget)
        curator = self._curator(rows, domain, method.steps, budget, self._purpose())
        method.check(curator)
        joint = self._enter(curator, domain)
        with progress(self.verbose, "Fitting a linear regression") as watch:
            fit = method.fit(curator, joint, watch)
        self._publish(self._in_units(fit, joint))
        self.n_iter_ = method.releases
        self._certify(curator, budget, n_rows, self._notes())
        return self

    def predict(self, X: Any) -> Array:
        """Return the expected target of each row."""
        check_is_fitted(self)
        centre, scale = self._domain.centre, self._domain.scale
        slopes = self.coef_ * scale
        level = self.intercept_ + float(self.coef_ @ centre)
        predicted = np.concatenate([level + block @ slopes for block in self._standard_blocks(X)])
        return predicted if self._target_range is None else np.clip(predicted, *self._target_range)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination of predictions, R²."""
        return score_predictions("r2_score", y, self.predict(X), sample_weight)

    @classmethod
    def _of_moments(cls, moments: Moments, target: Any, options: dict[str, Any]) -> Any:
        """Return the model made of released moments, whose column `target` is the target."""
        if not isinstance(moments, Moments):
            raise TypeError(f"{cls.__name__} is made of fitted tacit.Moments, and this is a {type(moments).__name__}.")
        check_is_fitted(moments, "privacy_")
        model = cls(**options, **{name: getattr(moments, name) for name in _SHARED})
        model._check_options()
        names = getattr(moments, "feature_names_in_", moments._domain.names)
        place = _place(target, names, moments.n_features_in_)
        order = np.append(np.delete(np.arange(moments.n_features_in_), place), place)
        found = _least_squares(moments, order, model.fit_intercept)
        joint = moments._domain
        if joint.schema is not None:
            raise ValueError(
                "These moments are of rows encoded by a schema; a regression is made of moments of numbers. Fit "
                f"{cls.__name__} itself with the schema as bounds."
            )
        ordered = None if names is None else tuple(str(names[i]) for i in order)
        model._restore_domain(Domain(joint.centre[order], joint.scale[order], joint.ball, None, ordered))
        model._publish(found)
        if moments._spread is not None:
            model._evidence = evidence_of_fit(found, noise=float(moments._spread.noise.max()))
        model.n_iter_ = moments.n_iter_
        note = f"{cls.__name__} computed from these moments, at no further cost."
        model.privacy_ = replace(moments.privacy_, notes=(note, *moments.privacy_.notes))
        model._remember()
        model._tell_cautions()
        return model

    def _method(self, domain: Domain, n_rows: int | None, budget: Budget) -> RegressionMethod:
        return default_method(input_layout(domain), self.neighbors, n_rows, budget, bool(self.fit_intercept), self.loss)

    def _publish(self, fit: LinearFit) -> None:
        """Set the public attributes, in the units of inputs and target."""
        self._evidence = evidence_of_fit(fit)
        fit = self._penalise(fit)
        self.coef_ = fit.slopes
        self.intercept_ = fit.intercept if self.fit_intercept else 0.0
        if fit.variance is not None:
            self.noise_variance_ = fit.variance
        elif hasattr(self, "noise_variance_"):
            del self.noise_variance_
        self._spread, self._target_range = fit.spread, fit.target_range

    def _in_units(self, fit: LinearFit, joint: Domain) -> LinearFit:
        return fit.in_units(joint.centre, joint.scale)

    def _penalise(self, fit: LinearFit) -> LinearFit:
        return fit

    def _check_options(self) -> None:
        """Refuse, in a sentence, what makes no sense."""

    def _purpose(self) -> str:
        """Return what the ledger says that the budget was spent on."""
        return type(self).__name__

    def _notes(self) -> list[str]:
        levels = table_layout(self._domain).levels
        how = "Newton steps, with residuals clipped" if levels else "moments of clipped scores"
        bulk = " Slopes are those of the bulk of the rows." if self.loss == "huber" or levels else ""
        return [f"{type(self).__name__}, by {how}.{bulk}"]

    _about = (
        "the last of its columns is the target. It is predicted, in the units of the rows, by intercept plus the sum "
        "over inputs j of coefficients[j] times the input. noise_variance is that of residuals without a penalty, "
        "and errors has the standard errors of intercept and coefficients, where they are known; inputs has means and "
        "standard deviations of inputs, where they were measured. Predictions are kept within target_range."
    )

    def _stored(self) -> dict[str, Any]:
        found = {"intercept": self.intercept_, "coefficients": self.coef_.tolist()}
        known = hasattr(self, "coef_errors_")
        errors = [self.intercept_error_, *self.coef_errors_.tolist()] if known else None
        found |= {"noise_variance": getattr(self, "noise_variance_", None), "errors": errors}
        found |= {"inputs": None if self._spread is None else self._spread.stored()}
        return {"linear": found | {"target_range": None if self._target_range is None else list(self._target_range)}}

    def _restore(self, values: dict[str, Any]) -> None:
        self._check_options()
        stored = values["linear"]
        self.coef_, self.intercept_ = np.array(stored["coefficients"], float), float(stored["intercept"])
        check_shapes(coefficients=(self.coef_, (self._domain.columns,)), intercept=(np.array(self.intercept_), ()))
        if stored["noise_variance"] is not None:
            check_number("noise_variance", stored["noise_variance"])
            self.noise_variance_ = float(stored["noise_variance"])
        if stored["errors"] is not None:
            errors = np.array(stored["errors"], float)
            check_shapes(errors=(errors, (1 + self._domain.columns,)))
            if (errors < 0).any():
                raise ValueError("standard errors must not be negative")
            self.intercept_error_, self.coef_errors_ = float(errors[0]), errors[1:]
        self._spread = InputSpread.restored(stored.get("inputs"), self._domain.columns)
        if (ends := stored.get("target_range")) is not None:
            check_shapes(target_range=(np.array(ends, float), (2,)))
            if not ends[0] < ends[1]:
                raise ValueError("target_range must be two numbers, the larger one last")
            self._target_range = float(ends[0]), float(ends[1])


def _place(target: Any, names: Any, columns: int) -> int:
    """Return which column is the target, told by its name or its place."""
    if isinstance(target, str):
        known = [] if names is None else list(names)
        if target not in known:
            raise ValueError(
                f"The target is the column {describe(target)}, and the moments have no column of that name."
            )
        return known.index(target)
    whole = isinstance(target, numbers.Integral) and not isinstance(target, bool)
    if not whole or not -columns <= target < columns:
        raise ValueError(
            f"The target must be a column's name or place, of {columns} columns, and it is {describe(target)}."
        )
    if columns < 2:
        raise ValueError("A regression takes moments of two columns or more.")
    return int(target) % columns


def _least_squares(moments: Moments, order: Array, fit_intercept: bool) -> LinearFit:
    """Return least squares of the last column in `order` on the others."""
    second = moments.covariance_ if fit_intercept else moments.second_moment_
    mean = moments.mean_[order] if fit_intercept else np.zeros(len(order))
    second = second[np.ix_(order, order)]
    slopes = np.linalg.solve(second[:-1, :-1], second[:-1, -1])
    left = float(second[-1, -1] - slopes @ second[:-1, -1])
    deviations = np.sqrt(np.diag(moments.covariance_)) if moments._spread is None else moments._spread.deviations
    inputs = InputSpread(moments.mean_[order[:-1]], deviations[order[:-1]])
    return LinearFit(
        mean[:-1], float(mean[-1]), slopes, second[:-1, :-1], moments.count_, max(left, 0.0), spread=inputs
    )


def check_number(name: str, value: Any, most: float = math.inf) -> None:
    """Refuse what is not a number from 0 up to `most`.

    Examples
    --------
    >>> check_number("alpha", -1.0)
    Traceback (most recent call last):
        ...
    ValueError: alpha must be a number, 0 or more, and it is -1.0.
    """
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 <= value <= most or value == math.inf:
        up_to = "or more" if most == math.inf else f"to {most:g}"
        raise ValueError(f"{name} must be a number, 0 {up_to}, and it is {describe(value)}.")
