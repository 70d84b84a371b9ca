"""What linear regressions and classifiers found, for people and for machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.linear import LogisticRegression
from tacit.models.results.blocks import Block, NumberedTable, Table
from tacit.models.results.cells import spreads
from tacit.report.linear_view import LinearView

__all__ = ["class_blocks", "regression_blocks", "summary"]


def regression_blocks(model: Any) -> list[Block]:
    """Return what inputs add to the target."""
    view = LinearView.of(model)
    rows = _rows(view)
    if hasattr(model, "noise_variance_"):
        rows["(residuals)"] = [f"± {np.sqrt(model.noise_variance_):.3g}"]
    return [
        _one_column(rows, f"adds to {view.target}"),
        f"\nWhat one more of an input adds to {view.target}, in the units of both{_notes(view)}.",
    ]


def class_blocks(model: LogisticRegression) -> list[Block]:
    """Return what inputs add to the log odds of classes."""
    view = LinearView.of(model)
    rows = _rows(view)
    if view.count == 1:
        table: Block = _one_column(rows, f"adds to log odds of {view.classes[1]}")
        whose = f"{view.target} being {view.classes[1]} and not {view.classes[0]}"
    else:
        table = NumberedTable("class", {"(label)": list(view.classes), **rows}, "of more classes")
        whose = "each class"
    return [table, f"\nWhat one more of an input adds to the log odds of {whose}{_notes(view)}."]


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


def _notes(view: LinearView) -> str:
    errors = "" if view.errors is None else ", ± one standard error"
    return errors + ("; levels count from their average" if view.levels() and view.levels_from_average else "")


def _rows(view: LinearView) -> dict[str, list[str]]:
    """Return the cells of each input and of the intercept."""
    rows = {
        each.label: _cells(view.slopes[:, j], None if view.errors is None else view.errors[:, j])
        for j, each in enumerate(view.features)
    }
    return rows | {"(intercept)": [f"{value:.4g}" for value in view.intercepts]}


def _cells(values: Array, doubts: Array | None) -> list[str]:
    if doubts is None:
        return [f"{value:.3g}" for value in values]
    return list(spreads(values, np.maximum(doubts, 1e-300)))


def _one_column(rows: dict[str, list[str]], head: str) -> Table:
    return Table(("input", head), [(name, cells[0]) for name, cells in rows.items()])
