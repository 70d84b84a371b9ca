"""The components of a mixture, for people and for machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.mixture import GaussianMixture
from tacit.mixture.table_mixture import table_layout
from tacit.models.results.blocks import Block, NumberedTable
from tacit.models.results.cells import spreads
from tacit.tables import Categorical, Numeric

__all__ = ["blocks", "summary"]


def blocks(model: GaussianMixture) -> list[Block]:
    """Return the weights of components and what is in them, and how many rows are outliers."""
    rows = {"weight": [f"{weight:.1%}" for weight in model.weights_]} | _cells(model)
    table = NumberedTable("component", rows, "of less weight")
    if model.outliers_ is None or not model.outliers_.weight:
        return [table]
    return [
        table,
        f"Beside them, {model.outliers_.weight:.1%} of the rows are outliers: no component explains them.",
    ]


def summary(model: GaussianMixture) -> dict[str, Any]:
    """Return the components for machines."""
    return {
        "columns": _number_columns(model),
        "weights": model.weights_.tolist(),
        "means": model.means_.tolist(),
        "standard_deviations": _standard_deviations(model).tolist(),
        "outliers": 0.0 if model.outliers_ is None else model.outliers_.weight,
        "levels": {name: shares.tolist() for name, shares in getattr(model, "level_probabilities_", {}).items()},
    }


def _number_columns(model: GaussianMixture) -> list[str] | None:
    """Return the names of the columns of numbers, those of ``means_``, if columns have names."""
    schema, names = model._domain.schema, model._domain.names
    if schema is not None:
        return [name for name in schema.used if isinstance(schema.columns[name], Numeric)]
    return None if names is None else list(names)


def _standard_deviations(model: GaussianMixture) -> Array:
    """Return the standard deviation of each column of numbers in each component, (K, d), in the units of the rows."""
    variances: Array = np.einsum("kii->ki", model._mixture.covariances)
    return np.sqrt(variances) * model._domain.scale[list(table_layout(model._domain).numbers)]


def _cells(model: GaussianMixture) -> dict[str, list[str]]:
    """Return what to write about each column: mean and standard deviation, or the shares of levels or of true."""
    names = _number_columns(model) or [f"column {j + 1}" for j in range(model.means_.shape[1])]
    numbers = dict(zip(names, map(spreads, model.means_.T, _standard_deviations(model).T)))
    schema = model._domain.schema
    if schema is None:
        return numbers
    cells = {}
    for name in schema.used:
        column = schema.columns[name]
        if name in numbers:
            cells[name] = numbers[name]
        elif isinstance(column, Categorical):
            shares = model.level_probabilities_[name].T
            cells |= {label: _shares(share) for label, share in zip(column.labels(name), shares)}
        else:
            cells[name] = _shares(model.level_probabilities_[name][:, 1])
    return cells


def _shares(shares: Array) -> list[str]:
    return [f"{share:.0%}" for share in shares]
