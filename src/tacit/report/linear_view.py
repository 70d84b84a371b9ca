"""Fitted linear models as their reader knows them: what inputs add to a target, or to the odds of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit, softmax

from tacit.arrays import Array
from tacit.linear import ElasticNet, HuberRegressor, Lasso, LinearRegression, LinearSVC, LogisticRegression, Ridge
from tacit.report.slopes_view import NAMELESS, SlopesView, describe_columns, window_around
from tacit.tables.features import Feature

_SHORT = 2  # Characters of a class that fit into a badge.

LinearKind = LinearRegression | Ridge | Lasso | ElasticNet | HuberRegressor | LogisticRegression | LinearSVC


@dataclass(frozen=True, eq=False)
class LinearView(SlopesView):
    """Coefficients of a linear regression or a linear classifier.

    Parameters
    ----------
    scale : {"value", "log odds", "score"}
        What coefficients add to: the target itself, the log odds of a class, or a score that is positive for it.
    classes : tuple of str
        All of them; none for a regression. Of two, the predictions are those of the second.
    step : {"deviation", "range", "one"}
        What a step of a number is: one standard deviation, where that was measured, or its public range, or just 1.
    levels_from_average : bool
        Whether levels of a column are measured from their average: not if some coefficients are exactly zero, nor if
        there is no intercept that could take up the rest.
    residual : float or None
        Standard deviation of what is left, where it is known.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(9000, 2)) * [1.0, 10.0]
    >>> model = tacit.LinearRegression(bounds=50, target_bounds=50, random_state=0)
    >>> view = LinearView.of(model.fit(X, X @ [1.0, 0.5] + np.random.default_rng(1).normal(size=9000)))
    >>> view.slopes.round(1), view.effects.round(), view.step
    (array([[1. , 0.5]]), array([[1., 5.]]), 'deviation')
    """

    scale: Literal["value", "log odds", "score"]
    classes: tuple[str, ...]
    step: Literal["deviation", "range", "one"]
    levels_from_average: bool
    residual: float | None

    @classmethod
    def of(cls, model: LinearKind) -> LinearView:
        """Return the view of a fitted linear model."""
        columns = describe_columns(model)
        found = columns["features"]
        units = np.array([each.unit for each in found])
        slopes = np.atleast_2d(model.coef_) / units
        step, middles, steps = _steps(model, found)
        variance = getattr(model, "noise_variance_", None) if isinstance(model, LinearRegression) else None
        logistic, margins = isinstance(model, LogisticRegression), isinstance(model, LinearSVC)
        covariances, errors = _covariances(model, units), getattr(model, "coef_errors_", None)
        if covariances is not None:
            errors = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
        elif errors is not None:  # Levels are measured from their average already.
            errors = errors[None] / units
        view = cls(
            **columns,
            intercepts=np.atleast_1d(model.intercept_) - slopes @ np.array([each.middle for each in found]),
            slopes=slopes,
            errors=errors,
            middles=middles,
            steps=steps,
            scale="log odds" if logistic else "score" if margins else "value",
            classes=tuple(map(_label, model.classes_.tolist())) if logistic or margins else (),
            step=step,
            levels_from_average=bool(model.fit_intercept) and not isinstance(model, Lasso | ElasticNet),
            residual=None if variance is None else float(np.sqrt(variance)),
        )
        # All levels count alike, whatever their proportions: so does LinearRegression, which knows no other errors.
        return view.from_average(covariances, np.ones(len(units))) if view.levels_from_average else view

    @property
    def outcome(self) -> str:
        """What it is that becomes larger, or more likely, with a positive coefficient, where there is one."""
        if not self.classes:
            return self.target
        return self.likelier(-1)

    def likelier(self, k: int) -> str:
        """Return a class in words: "left being yes", or "class yes" if the target has no name."""
        return f"class {self.classes[k]}" if self.target == NAMELESS else f"{self.target} being {self.classes[k]}"

    @property
    def marks(self) -> tuple[str, ...]:
        """What classes are called in pictures: by themselves if they are short, or by their numbers from 1."""
        if all(len(each) <= _SHORT for each in self.classes):
            return self.classes
        return tuple(str(k + 1) for k in range(len(self.classes)))

    @property
    def zeros(self) -> list[int]:
        """The features that count for nothing at all, as a penalty makes them."""
        return np.flatnonzero(~self.slopes.any(axis=0)).tolist()

    def numbers(self, most: int) -> list[int]:
        """Return the strongest features that can be drawn on an axis, and are sure to count."""
        if self.step == "one":
            return []
        sure = self.sure_effects.any(axis=0)
        return [j for j in self.strongest(len(sure)) if sure[j] and not self.features[j].is_proportion][:most]

    def window(self, feature: int) -> Array:
        """Return the part of an axis of numbers in which most rows are, or might be."""
        found, middle, step = self.features[feature], self.middles[feature], self.steps[feature]
        return window_around(middle, 2 * step, found) if self.step == "deviation" else np.array([found.low, found.high])

    def predict(self, feature: int, values: Array) -> Array:
        """Return the target, the probabilities of classes (of the second of two) or the score, (K, values).

        One feature varies, and all others have their average.
        """
        linear = self.at_average(feature, values)
        if self.scale != "log odds":
            return linear
        return np.asarray(expit(linear) if self.count == 1 else softmax(linear, axis=0))


def _steps(model: LinearKind, found: tuple[Feature, ...]) -> tuple[Literal["deviation", "range", "one"], Array, Array]:
    """Return what a step of a number is; and of all features the middles, and the steps."""
    spread, proportions = model._spread, np.array([each.is_proportion for each in found])
    if spread is not None:
        middles = np.array([each.display(mean) for each, mean in zip(found, spread.means)])
        deviations = spread.deviations * np.array([each.unit for each in found])
        return "deviation", middles, np.where(proportions, 1.0, deviations)
    if model._domain.unbounded:
        return "one", np.zeros(len(found)), np.ones(len(found))
    low, high = np.array([[each.low, each.high] for each in found]).T
    return "range", (low + high) / 2, high - low


def _covariances(model: LinearKind, units: Array) -> Array | None:
    """Return the covariances of coefficients, (K, d, d), of each prediction by itself, where they are known."""
    whole = getattr(model, "_covariance", None)
    if whole is None:
        return None
    wide = 1 + len(units)
    blocks = np.asarray(whole).reshape(-1, wide, len(whole) // wide, wide)
    return np.stack([blocks[k, 1:, k, 1:] for k in range(len(blocks))]) / np.outer(units, units)


def _label(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
