"""What linear regressions and classifiers found, for people and for machines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cli import screen
from tacit.cli.components import spreads
from tacit.erm import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from tacit.tables.features import features

__all__ = ["NAMES", "show_classes", "show_regression", "summary"]

Array = NDArray[np.float64]

NAMES = {
    LinearRegression: "a linear regression",
    Ridge: "a ridge regression",
    Lasso: "a lasso",
    ElasticNet: "an elastic net",
}


def show_regression(model: Any) -> None:
    """Print what inputs add to the target."""
    target = _target(model)
    rows = _rows(model)
    if hasattr(model, "noise_variance_"):
        rows["(residuals)"] = [f"± {np.sqrt(model.noise_variance_):.3g}"]
    _one_column(rows, f"adds to {target}")
    screen.say(f"\nWhat one more of an input adds to {target}, in the units of both{_doubt(model)}; {_LEVELS}")


def show_classes(model: LogisticRegression) -> None:
    """Print what inputs add to the log odds of classes."""
    labels = [str(label) for label in model.classes_.tolist()]
    rows = _rows(model)
    if len(labels) == 2:
        _one_column(rows, f"adds to log odds of {labels[1]}")
        whose = f"{_target(model)} being {labels[1]} and not {labels[0]}"
    else:
        screen.numbered_table("class", {"(label)": labels, **rows}, "of more classes")
        whose = "each class"
    screen.say(f"\nWhat one more of an input adds to the log odds of {whose}{_doubt(model)}; {_LEVELS}")


def summary(model: Any) -> dict[str, Any]:
    """Return coefficients, one row for each prediction, as JSON has them."""
    errors = _errors(model)
    names = model._joint.names
    found: dict[str, Any] = {
        "columns": None if names is None else list(names[:-1]),
        "target": None if names is None else names[-1],
        "coefficients": np.atleast_2d(model.coef_).tolist(),
        "errors": None if errors is None else errors[:, 1:].tolist(),
        "intercepts": np.atleast_1d(model.intercept_).tolist(),
        "intercept_errors": None if errors is None else errors[:, 0].tolist(),
    }
    if isinstance(model, LogisticRegression):
        return {"classes": model.classes_.tolist()} | found
    return found | {"noise_variance": getattr(model, "noise_variance_", None)}


_LEVELS = "levels count from their average."


def _target(model: Any) -> str:
    return "the target" if model._joint.names is None else str(model._joint.names[-1])


def _errors(model: Any) -> Array | None:
    """Return standard errors (K, 1 + d) of intercepts and coefficients, where they are known."""
    if isinstance(model, LogisticRegression):
        if model._covariance is None:
            return None
        found = model.confidence_intervals()
        return np.column_stack([found.intercept_errors, found.coef_errors])
    if not hasattr(model, "coef_errors_"):
        return None
    return np.append(model.intercept_error_, model.coef_errors_)[None]


def _doubt(model: Any) -> str:
    return "" if _errors(model) is None else ", ± one standard error"


def _rows(model: Any) -> dict[str, list[str]]:
    """Return the cells of each input and of the intercept.

    Of true and false it is what being true adds. Levels of a column have something in common that no table can tell
    from the intercept: they are measured from their average. ``LinearRegression`` does that by itself, and knows the
    standard errors of it.
    """
    found = features(model._domain)
    units = np.array([each.unit for each in found])
    slopes = np.atleast_2d(model.coef_) / units
    intercepts = np.atleast_1d(model.intercept_) - slopes @ np.array([each.middle for each in found])
    errors = _errors(model)
    from_average = isinstance(model, LinearRegression) and model.fit_intercept
    levels = [each.column if each.label != each.column else None for each in found]
    for column in {column for column in levels if column is not None}:
        places = [j for j, each in enumerate(levels) if each == column]
        average = slopes[:, places].mean(axis=1)
        slopes[:, places] -= average[:, None]
        intercepts += average
    rows = {}
    for j, each in enumerate(found):
        known = errors is not None and (levels[j] is None or from_average)
        rows[each.label] = _cells(slopes[:, j], errors[:, 1 + j] / units[j] if known else None)
    return rows | {"(intercept)": [f"{value:.4g}" for value in intercepts]}


def _cells(values: Array, doubts: Array | None) -> list[str]:
    if doubts is None:
        return [f"{value:.3g}" for value in values]
    return list(spreads(values, np.maximum(doubts, 1e-300)))


def _one_column(rows: dict[str, list[str]], head: str) -> None:
    lines = [(name, cells[0]) for name, cells in rows.items()]
    screen.table(("input", head), lines[: screen.MOST_LINES])
    screen.not_shown(len(lines))
