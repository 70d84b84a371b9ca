"""The releases of a table model: counts of columns, finer ones where many rows are, and counts of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Gaussian, Step
from tacit.release import Curator
from tacit.statistics import Bins, CellCounts, PairCounts
from tacit.synthesis.columns import LEAST_IN_GROUP, CountedColumn, most_groups, probabilities_from_counts
from tacit.synthesis.fitted_chain import Tables
from tacit.synthesis.histograms import MOST_SPLIT, PARTS, ROUNDS, STANDS_OUT, Histogram

# Names of the plan's steps.
COLUMNS, FINER, PAIRS = "cell counts", "finer cell counts", "pair counts"

# benchmarks/synthetic.py measures what these numbers give, on Adult.
# Parts of the budget, as squared signal-to-noise ratios.
_COLUMNS_BUDGET = 0.3  # Of all columns together. Pairs have the rest.
_FINER_BUDGET = 1 / 3  # Of one finer count of a column, relative to its first count.
# Proportion of rows that a group needs, relative to the one at which a pair of groups has as many rows as the noise has
# standard deviations.
_GROUP_FACTOR = 0.5
_MOST_IN_GROUP = 0.2  # The most that a group needs, however much noise there is.

Public = Sequence[Bins | Histogram]


def steps(public: Public, missing: bool) -> list[Step]:
    """Return the steps of the plan, with noise relative to each other. All counts of one kind have the same noise."""
    refinable = sum(_can_be_refined(column) for column in public)
    counts, pairs = len(public) + _FINER_BUDGET * ROUNDS * refinable, len(public) * (len(public) - 1) // 2
    columns_budget = _COLUMNS_BUDGET if pairs else 1.0

    def multiplier(columns: float) -> float:
        return (columns_budget * columns / counts) ** -0.5

    plan: list[Step] = [Gaussian(COLUMNS, multiplier(len(public)), 1, CellCounts(_first_bins(public, missing)).size)]
    if refinable:
        plan.append(Gaussian(FINER, multiplier(_FINER_BUDGET * refinable), ROUNDS, refinable * MOST_SPLIT * PARTS))
    if pairs:
        most = [_most_groups(column) + missing for column in public]
        size = (sum(most) ** 2 - sum(groups**2 for groups in most)) // 2
        plan.append(Gaussian(PAIRS, (1 - columns_budget) ** -0.5, 1, size))
    return plan


class ColumnCounts(NamedTuple):
    """Columns from their counts, and how exact these are."""

    columns: list[CountedColumn]
    rows: float  # The number of rows: the public one, or an estimate from the counts.
    noise: float  # Standard deviation of the noise in each count.


def count_columns(curator: Curator, public: Public, missing: bool, n_rows: int | None) -> ColumnCounts:
    """Release counts of columns, and finer ones where many rows are."""
    statistic = CellCounts(_first_bins(public, missing))
    noise = curator.noise(COLUMNS, statistic)
    counts = statistic.parts(curator.release(COLUMNS, statistic))
    precision = np.array([1 / len(each) for each in counts])
    rows = float(n_rows or max(1.0, precision @ [each.sum() for each in counts] / precision.sum()))
    if missing:  # Noise must not make missing cells in a column that has none.
        for each in counts:
            each[-1] = each[-1] if each[-1] > STANDS_OUT * noise else 0.0
    histograms = {
        j: column.with_counts(counts[j][: len(column.counts)], noise)
        for j, column in enumerate(public)
        if isinstance(column, Histogram)
    }
    _refine(curator, histograms, [j for j in histograms if _can_be_refined(public[j])], noise)
    columns = []
    for j, column in enumerate(public):
        if isinstance(column, Histogram):
            bins, in_bins = histograms[j].bins(missing), histograms[j].counts
            in_bins = np.append(in_bins, counts[j][len(column.counts) :])
        else:
            bins, in_bins = column, counts[j]
        columns.append(CountedColumn.from_counts(bins, in_bins, rows))
    return ColumnCounts(columns, rows, noise)


def count_pairs(curator: Curator, counted: ColumnCounts) -> tuple[list[CountedColumn], list[Array], Tables, float]:
    """Put bins into groups with enough rows for the noise of pairs, and release counts of pairs of groups.

    Returns
    -------
    columns : list of CountedColumn
        The columns with their groups.
    margins : list of arrays
        Probabilities of groups, from the counts of columns and of pairs together.
    tables : dict of arrays
        The counts of pairs.
    noise : float
        Standard deviation of the noise in each of these counts.
    """
    noise = curator.noise(PAIRS, PairCounts(tuple(column.bins for column in counted.columns)))
    least = min(_MOST_IN_GROUP, max(LEAST_IN_GROUP, _GROUP_FACTOR * math.sqrt(noise / counted.rows)))
    columns = [column.with_groups(least) for column in counted.columns]
    statistic = PairCounts(tuple(column.bins for column in columns))
    tables = statistic.parts(curator.release(PAIRS, statistic))
    margins = [_margin(j, column, tables, noise, counted) for j, column in enumerate(columns)]
    return columns, margins, tables, noise


def _refine(curator: Curator, histograms: dict[int, Histogram], refinable: list[int], noise: float) -> None:
    """Split heavy bins, then heavy parts of these, and so on."""
    for _ in range(ROUNDS):
        heavy = {j: histograms[j].heavy(noise) for j in refinable}
        split = {j: histograms[j].split(bins) for j, bins in heavy.items() if len(bins)}
        if not split:
            return
        statistic = CellCounts(tuple(split.values()))
        noise = curator.noise(FINER, statistic)
        for j, counts in zip(split, statistic.parts(curator.release(FINER, statistic))):
            histograms[j] = histograms[j].with_parts(heavy[j], split[j], counts, noise)


def _margin(j: int, column: CountedColumn, tables: Tables, noise: float, counted: ColumnCounts) -> Array:
    """Return the probabilities of a column's groups: the mean of all counts of them, weighted by precision."""
    precision = 1 / (column.group_sizes * counted.noise**2)
    total = counted.rows * column.group_probabilities * precision
    for (first, second), table in tables.items():
        if j in (first, second):
            others = table.shape[1] if j == first else table.shape[0]
            total = total + table.sum(axis=1 if j == first else 0) / (others * noise**2)
            precision = precision + 1 / (others * noise**2)
    return probabilities_from_counts(total / precision, counted.rows)


def _can_be_refined(column: Bins | Histogram) -> bool:
    return isinstance(column, Histogram) and column.can_be_refined


def _most_groups(column: Bins | Histogram) -> int:
    if isinstance(column, Bins):
        return most_groups(len(column.groups), ordered=False)
    return most_groups(len(column.counts) if not column.can_be_refined else MOST_SPLIT * PARTS, ordered=True)


def _first_bins(public: Public, missing: bool) -> tuple[Bins, ...]:
    return tuple(column.bins(missing) if isinstance(column, Histogram) else column for column in public)
