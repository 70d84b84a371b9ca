"""Numbers as cells of a table that is printed, and the names of columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator
from tacit.tables.features import Feature

__all__ = ["column_names", "feature_values", "spread", "spreads"]


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


def spread(mean: float, deviation: float) -> str:
    """Write one mean and its standard deviation; see `spreads`."""
    return spreads(np.array([mean]), np.array([deviation]))[0]


def feature_values(feature: Feature, values: Array) -> list[str]:
    """Write values of a feature: proportions as percentages, numbers to a thousandth of their range."""
    if feature.is_share:
        return [f"{share:.0%}" for share in np.clip(values, 0.0, 1.0)]
    decimals = max(0, 3 - math.floor(math.log10(feature.high - feature.low)))
    if decimals > 6 or feature.high - feature.low >= 1e9:
        return [f"{value:.4g}" for value in values]
    return [f"{value:,.{decimals}f}" for value in np.round(values, decimals) + 0.0]


def column_names(model: PrivateEstimator) -> dict[str, Any]:
    """Return the names of an encoded row's columns, if columns have names, for a summary."""
    names = model._domain.names
    return {"columns": None if names is None else list(names)}
