"""The components of a mixture as a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.cli import screen
from tacit.mixture import GaussianMixture
from tacit.mixture.table_mixture import table_layout
from tacit.tables import Categorical, Numeric

__all__ = ["component_table", "spreads", "summary"]

Array = NDArray[np.float64]


def component_table(model: GaussianMixture) -> None:
    """Print the weights of components, and what is in them, for as many as there is room for."""
    rows = {"weight": [f"{weight:.1%}" for weight in model.weights_]} | _cells(model)
    screen.numbered_table("component", rows, "of less weight")
    if model.outliers_ is not None and model.outliers_.weight:
        screen.say(f"Beside them, {model.outliers_.weight:.1%} of the rows are outliers: no component explains them.")


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


def spreads(means: Array, deviations: Array) -> list[str]:
    """Write means and standard deviations to two digits of the largest deviation, or whole if it is large.

    Examples
    --------
    >>> spreads(np.array([31.25, -0.01]), np.array([4.4, 12.0]))
    ['31 ± 4', '0 ± 12']
    >>> spreads(np.array([7230.4]), np.array([9500.2]))
    ['7,230 ± 9,500']
    """
    decimals = max(0, 1 - math.floor(math.log10(deviations.max())))
    if decimals > 4 or deviations.max() >= 1e9:
        return [f"{mean:.3g} ± {deviation:.2g}" for mean, deviation in zip(means, deviations)]
    rounded = np.round(means, decimals) + 0.0  # no -0.0
    return [f"{mean:,.{decimals}f} ± {deviation:,.{decimals}f}" for mean, deviation in zip(rounded, deviations)]


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
