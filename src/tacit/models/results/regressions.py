"""What regressions found, for people and for machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.models.results.blocks import Block, NumberedTable, Table
from tacit.models.results.cells import column_names, spread
from tacit.regressions import MissingCovariateRegression, MixtureOfRegressions
from tacit.report.regression_view import RegressionView

__all__ = ["blocks", "summary"]


def blocks(model: MixtureOfRegressions | MissingCovariateRegression) -> list[Block]:
    """Return what inputs add to the target, in each component."""
    view = RegressionView.of(model)
    cells = {each.label: _coefficients(view, j) for j, each in enumerate(view.features)}
    rows = {"weight": [f"{weight:.1%}" for weight in view.weights]} if view.count > 1 else {}
    rows |= cells | {
        "(intercept)": [f"{value:.4g}" for value in view.intercepts],
        "(residuals)": [f"± {value:.3g}" for value in view.scales],
    }
    table: Block = NumberedTable("component", rows, "of less weight")
    if view.count == 1:
        table = Table(("input", f"adds to {view.target}"), [(name, each[0]) for name, each in rows.items()])
    words = "in the units of both, ± one standard error" if view.errors is not None else "in the units of both"
    return [table, f"\nWhat one more of an input adds to {view.target}, {words}; levels count from their average."]


def _coefficients(view: RegressionView, place: int) -> list[str]:
    slopes = view.slopes[:, place]
    if view.errors is None:
        return [f"{slope:.3g}" for slope in slopes]
    return [spread(*each) for each in zip(slopes, np.maximum(view.errors[:, place], 1e-300))]


def summary(model: MixtureOfRegressions | MissingCovariateRegression) -> dict[str, Any]:
    """Return coefficients for machines, one row for each component."""
    one = isinstance(model, MissingCovariateRegression)
    names = model._joint.names
    values = {"coefficients": model.coef_, "errors": model.coef_errors_, "intercepts": model.intercept_}
    values |= {"scales": model.scale_ if one else model.scales_, "weights": 1.0 if one else model.weights_}
    arrays = {
        name: None
        if each is None
        else np.atleast_2d(each).tolist()
        if name in ("coefficients", "errors")
        else np.atleast_1d(each).tolist()
        for name, each in values.items()
    }
    return {**column_names(model), "target": None if names is None else names[-1], **arrays}
