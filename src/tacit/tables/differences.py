"""How far two tables with the same schema are apart: column by column, and pair by pair.

Everything here is computed from rows without noise: not private, and for the keeper of the rows alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

from tacit.arrays import Array
from tacit.tables.columns import Boolean, Categorical, Numeric
from tacit.tables.schema import Schema

_TENTHS = np.arange(1, 10) / 10  # Bins of numbers end at these quantiles of the real rows.
_BARS = 30  # The number of bars in a picture of numbers.


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """All rows of a table, one number for each cell: numbers in their units, categories as their position, NaN missing.

    Examples
    --------
    >>> from tacit.tables import Categorical, Numeric, Schema
    >>> from tacit.tables.differences import ComparedRows
    >>> schema = Schema({"age": Numeric(0, 100), "plan": Categorical(["free", "paid"])})
    >>> rows = ComparedRows.read({"age": [75, 130], "plan": ["paid", None]}, schema)
    >>> rows["age"], rows["plan"]
    (array([ 75., 100.]), array([ 1., nan]))
    """

    cells: dict[str, Array]

    @classmethod
    def read(cls, table: Any, schema: Schema) -> ComparedRows:
        """Read a table as a fit reads it: numbers beyond bounds are moved to them, ignored columns are left out."""
        blocks = [_cells(block, schema) for block in schema.encode_source(table).blocks()]
        return cls({name: np.concatenate([block[name] for block in blocks]) for name in schema.used})

    def __getitem__(self, name: str) -> Array:
        return self.cells[name]

    def __len__(self) -> int:
        return len(next(iter(self.cells.values())))


@dataclass(frozen=True, eq=False)
class ColumnDifference:
    """How one column is distributed in both tables.

    Attributes
    ----------
    column : str
    total_variation : float
        Half the sum of the differences of proportions, from 0 (the same) to 1 (nothing in common). Over the levels of a
        category, and over some ten bins of a number, cut within its bounds where tenths of the real rows end. A value
        that holds a tenth of them or more is a bin by itself. Missing cells count as one more level.
    wasserstein : float or None
        For numbers, in their own units: how far values have to move, on average, to turn one table into the other.
    labels : tuple of str, or array
        What is counted in `real` and `synthetic`: levels, or the edges of equally wide bins.
    real, synthetic : arrays
        Proportions of rows, for pictures.
    """

    column: str
    total_variation: float
    wasserstein: float | None
    labels: tuple[str, ...] | Array
    real: Array
    synthetic: Array


@dataclass(frozen=True)
class PairDifference:
    """How two columns go together in both tables.

    Attributes
    ----------
    columns : pair of str
    measure : {"correlation", "correlation ratio", "Cramér's V"}
        In this order: for numbers and yes-or-no columns, for one of these and a category, for two categories.
    real, synthetic : float
        The association in each table, over rows where both cells are there; 0 where a column never varies.
    total_variation : float
        The total variation between the two-way tables of proportions, with the bins and levels of `ColumnDifference`.
    """

    columns: tuple[str, str]
    measure: str
    real: float
    synthetic: float
    total_variation: float

    @property
    def difference(self) -> float:
        """The association in the synthetic rows less that in the real ones."""
        return self.synthetic - self.real


def column_differences(real: ComparedRows, synthetic: ComparedRows, schema: Schema) -> tuple[ColumnDifference, ...]:
    """Compare the columns one by one."""
    return tuple(_column(name, schema, real[name], synthetic[name]) for name in schema.used)


def pair_differences(real: ComparedRows, synthetic: ComparedRows, schema: Schema) -> Iterator[PairDifference]:
    """Compare the columns two by two."""
    binned = {name: _bin(schema, name, real[name], synthetic[name]) for name in schema.used}
    categories = {name for name in schema.used if isinstance(schema.columns[name], Categorical)}
    for first, second in combinations(schema.used, 2):
        bins_of_first, *first_bins = binned[first]
        bins_of_second, *second_bins = binned[second]
        tables = [
            _proportions(a * bins_of_second + b, bins_of_first * bins_of_second)
            for a, b in zip(first_bins, second_bins)
        ]
        kinds = first in categories, second in categories
        both = (_association(rows[first], rows[second], *kinds) for rows in (real, synthetic))
        measure = ("correlation", "correlation ratio", "Cramér's V")[sum(kinds)]
        yield PairDifference((first, second), measure, *both, _total_variation(*tables))


def _cells(encoded: Array, schema: Schema) -> dict[str, Array]:
    cells = {}
    for name, place in schema.slices.items():
        column, part = schema.columns[name], encoded[:, place]
        if isinstance(column, Numeric):
            cells[name] = column.numbers(part.T)
        elif isinstance(column, Boolean):
            cells[name] = (part[:, 0] + 1) / 2
        else:
            cells[name] = np.where(np.isnan(part[:, 0]), np.nan, part.argmax(axis=1))
    return cells


def _column(name: str, schema: Schema, real: Array, synthetic: Array) -> ColumnDifference:
    column = schema.columns[name]
    bins, *codes = _bin(schema, name, real, synthetic)
    proportions = [_proportions(each, bins) for each in codes]
    distance = _total_variation(*proportions)
    if not isinstance(column, Numeric):
        levels = ("false", "true") if isinstance(column, Boolean) else tuple(map(str, column.levels))
        if not any(each[-1] for each in proportions):
            proportions = [each[:-1] for each in proportions]
        return ColumnDifference(name, distance, None, (*levels, "missing")[: len(proportions[0])], *proportions)
    present = [each[~np.isnan(each)] for each in (real, synthetic)]
    if not all(each.size for each in present):
        return ColumnDifference(name, distance, None, np.array([column.low, column.high]), *np.zeros((2, 1)))
    low, high = (function([function(each) for each in present]) for function in (np.min, np.max))
    edges = np.linspace(low, high if high > low else low + 1, _BARS + 1)
    bars = [np.histogram(each, edges)[0] / len(each) for each in present]
    return ColumnDifference(name, distance, float(wasserstein_distance(*present)), edges, *bars)


def _bin(schema: Schema, name: str, real: Array, synthetic: Array) -> tuple[int, NDArray[np.intp], NDArray[np.intp]]:
    """Return how many bins there are, and the bins of the real and the synthetic cells; the last is for missing."""
    column = schema.columns[name]
    if not isinstance(column, Numeric):
        levels = 2 if isinstance(column, Boolean) else len(column.levels)
        codes = (np.where(np.isnan(each), levels, each).astype(np.intp) for each in (real, synthetic))
        return levels + 1, *codes
    cuts = _cuts(real[~np.isnan(real)])
    last = len(cuts) + 1
    codes = (np.where(np.isnan(each), last, np.searchsorted(cuts, each)) for each in (real, synthetic))
    return last + 1, *codes


def _cuts(values: Array) -> Array:
    """Return where bins end, the end included: at tenths of the values, and around what is a tenth by itself."""
    if not values.size:
        return values
    ends, times = np.unique(np.quantile(values, _TENTHS, method="inverted_cdf"), return_counts=True)
    return np.union1d(ends, np.nextafter(ends[times > 1], -np.inf))


def _proportions(codes: NDArray[np.intp], bins: int) -> Array:
    return np.bincount(codes, minlength=bins) / len(codes)


def _total_variation(first: Array, second: Array) -> float:
    return float(np.abs(first - second).sum() / 2)


def _association(first: Array, second: Array, first_is_category: bool, second_is_category: bool) -> float:
    both = ~(np.isnan(first) | np.isnan(second))
    first, second = first[both], second[both]
    if first_is_category and second_is_category:
        return _cramers_v(first, second)
    if first_is_category:
        return _correlation_ratio(first, second)
    return _correlation_ratio(second, first) if second_is_category else _correlation(first, second)


def _correlation(first: Array, second: Array) -> float:
    if not _varies(first) or not _varies(second):
        return 0.0
    return float(np.clip(np.corrcoef(first, second)[0, 1], -1.0, 1.0))


def _correlation_ratio(category: Array, number: Array) -> float:
    """Return the root of the part of a number's variance that lies between the levels of a category."""
    if not _varies(number):
        return 0.0
    codes = category.astype(np.intp)
    number = (number - number.mean()) / number.std()
    counts = np.maximum(np.bincount(codes), 1)
    between = (np.bincount(codes, weights=number) ** 2 / counts).sum() / len(number)
    return float(np.sqrt(min(between, 1.0)))


def _cramers_v(first: Array, second: Array) -> float:
    _, rows = np.unique(first, return_inverse=True)
    _, columns = np.unique(second, return_inverse=True)
    if not rows.any() or not columns.any():
        return 0.0
    shape = rows.max() + 1, columns.max() + 1
    proportions = _proportions(rows * shape[1] + columns, shape[0] * shape[1]).reshape(shape)
    if_independent = np.outer(proportions.sum(axis=1), proportions.sum(axis=0))
    squared = ((proportions - if_independent) ** 2 / if_independent).sum() / (min(shape) - 1)
    return float(np.sqrt(min(squared, 1.0)))


def _varies(values: Array) -> bool:
    return values.size > 0 and bool(values.min() < values.max())
