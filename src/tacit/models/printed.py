"""Results as they are printed: tables and sentences, numbers as cells, and the names of columns.

A sentence is plain text. Commands know how wide a screen is, and pages of reports how to write HTML.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tacit.arrays import Array
    from tacit.fitting import PrivateEstimator
    from tacit.tables.features import Feature

__all__ = [
    "Block",
    "NumberedTable",
    "Table",
    "column_names",
    "format_mean",
    "format_means",
    "format_percentages",
    "format_values",
    "number_columns",
]


class Table(NamedTuple):
    """Rows below a head; the first `words` columns are text, to the left, and the others numbers, to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


class NumberedTable(NamedTuple):
    """Rows of cells for components, clusters or factors 1, 2, ..., for as many of them as there is room for.

    Attributes
    ----------
    what : str
        What is numbered.
    rows : dict of sequences of str
        By the names of rows; all as long as there are numbers.
    others : str
        What those are that there is no room for.
    last : name and cells, optional
        One more column, which is always shown.
    """

    what: str
    rows: Mapping[str, Sequence[str]]
    others: str
    last: tuple[str, Sequence[str]] | None = None


Block = str | Table | NumberedTable


def format_means(means: Array, deviations: Array) -> list[str]:
    """Write means and standard deviations to two digits of the largest deviation, or whole if it is large.

    Examples
    --------
    >>> import numpy as np
    >>> format_means(np.array([31.25, -0.01]), np.array([4.4, 12.0]))
    ['31 ± 4', '0 ± 12']
    >>> format_means(np.array([7230.4]), np.array([9500.2]))
    ['7,230 ± 9,500']
    """
    largest = max(deviations.max(), 1e-300)
    decimals = max(0, 1 - math.floor(math.log10(largest)))
    if decimals > 4 or largest >= 1e9:
        return [f"{mean:.3g} ± {deviation:.2g}" for mean, deviation in zip(means, deviations)]
    rounded = means.round(decimals) + 0.0  # So that no -0 is written.
    return [f"{mean:,.{decimals}f} ± {deviation:,.{decimals}f}" for mean, deviation in zip(rounded, deviations)]


def format_mean(mean: float, deviation: float) -> str:
    """Write one mean and its standard deviation; see `format_means`."""
    import numpy as np

    return format_means(np.array([mean]), np.array([deviation]))[0]


def format_values(feature: Feature, values: Array) -> list[str]:
    """Write values of a feature: proportions as percentages, numbers to a thousandth of their range."""
    if feature.is_proportion:
        return format_percentages(values.clip(0.0, 1.0))
    decimals = max(0, 3 - math.floor(math.log10(feature.high - feature.low)))
    if decimals > 6 or feature.high - feature.low >= 1e9:
        return [f"{value:.4g}" for value in values]
    return [f"{value:,.{decimals}f}" for value in values.round(decimals) + 0.0]


def format_percentages(proportions: Array) -> list[str]:
    """Write proportions as whole percentages."""
    return [f"{each:.0%}" for each in proportions]


def column_names(model: PrivateEstimator) -> dict[str, Any]:
    """Return the names of an encoded row's columns, if columns have names, for a summary."""
    names = model._domain.names
    return {"columns": None if names is None else list(names)}


def number_columns(name: str, columns: Array) -> dict[str, Array]:
    """Return the columns of an array by the names ``name_1``, ``name_2``, ..., for predictions."""
    return {f"{name}_{k + 1}": columns[:, k] for k in range(columns.shape[1])}
