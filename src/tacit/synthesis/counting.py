"""The releases of a table model: counts of columns, finer ones where many rows are, and counts of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.privacy import Gaussian, Step
from tacit.release import Curator
from tacit.statistics import Bins, CellCounts, PairCounts
from tacit.synthesis.columns import (
    LEAST_IN_COARSE_GROUP,
    LEAST_IN_GROUP,
    CountedColumn,
    most_groups,
    probabilities_from_counts,
)
from tacit.synthesis.fitted_chain import Tables
from tacit.synthesis.histograms import MOST_SPLIT, PARTS, ROUNDS, STANDS_OUT, Histogram
from tacit.synthesis.pair_tables import PairTable, indicators, parents_of, strength, strongest

# Names of the plan's steps.
COLUMNS, FINER, PAIRS, FINER_PAIRS = "cell counts", "finer cell counts", "pair counts", "finer pair counts"

# benchmarks/synthetic.py measures what these numbers give, on Adult and on ten tables of the arena.
# Parts of the budget, as squared signal-to-noise ratios.
_COLUMNS_BUDGET = 0.3  # Of all columns together. Pairs have the rest.
_FINER_BUDGET = 1 / 3  # Of one finer count of a column, relative to its first count.
_COARSE_BUDGET = 0.3  # Of all pairs in coarse groups, relative to all that pairs have.
_MOST_IN_COARSE_GROUP = 1 / 3  # Proportion of rows that is enough for a coarse group, however much noise there is.
_COARSE_ROWS = 1.0  # Number of rows that a pair of coarse groups needs, in standard deviations of the noise.
# The same for a pair of finer groups of two columns that say nothing about each other. If one column determines the
# other, the second number is a factor.
_FINE_ROWS, _FINE_FACTOR = 0.25, 8.0
_CHOSEN = 0.9  # Pairs are counted in finer groups if they are the strongest ones, with this part of all association.

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
        plan.append(Gaussian(PAIRS, ((1 - columns_budget) * _COARSE_BUDGET) ** -0.5, 1, size))
        plan.append(Gaussian(FINER_PAIRS, ((1 - columns_budget) * (1 - _COARSE_BUDGET)) ** -0.5, 1, size))
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
        counted = CountedColumn.from_counts(bins, in_bins, rows)
        columns.append(counted.evenly_split(column.unit) if isinstance(column, Histogram) else counted)
    return ColumnCounts(columns, rows, noise)


def count_pairs(curator: Curator, counted: ColumnCounts) -> tuple[list[CountedColumn], Tables]:
    """Release counts of all pairs of columns, in coarse groups of bins, and of some pairs in finer ones.

    Returns
    -------
    columns : list of CountedColumn
        The columns with their codes: the finest groups that any pair needs.
    tables : dict of PairTable
    """
    rows = counted.rows
    noise = curator.noise(PAIRS, PairCounts(tuple(column.bins for column in counted.columns)))
    least = float(np.clip(math.sqrt(_COARSE_ROWS * noise / rows), LEAST_IN_COARSE_GROUP, _MOST_IN_COARSE_GROUP))
    coarse = [column.with_groups(least) for column in counted.columns]
    statistic = PairCounts(tuple(column.bins for column in coarse))
    every = [np.arange(column.bins.n_groups) for column in coarse]
    tables = {
        (i, j): PairTable((every[i], every[j]), table, noise)
        for (i, j), table in zip(statistic.pairs, statistic.parts(curator.release(PAIRS, statistic)))
    }
    coarse = [_with_margins(j, column, [tables], counted) for j, column in enumerate(coarse)]
    margins = [column.group_probabilities for column in coarse]
    strengths = {pair: strength(table, [margins[j] for j in pair], rows) for pair, table in tables.items()}
    chosen = strongest({pair: strengths[pair].variation for pair in tables}, _CHOSEN)
    noise = curator.noise(FINER_PAIRS, PairCounts(tuple(column.bins for column in coarse), chosen))
    least = {pair: _least_in_group(strengths[pair].relative, noise, rows) for pair in chosen}
    columns, parents = [], []
    for j, column in enumerate(coarse):
        finest = min((each for pair, each in least.items() if j in pair), default=None)
        columns.append(column if finest is None else column.with_groups(finest, column.bins.groups))
        parents.append(parents_of(columns[-1].all_groups, column.all_groups))
    tables = {(i, j): table.of_codes(parents[i], parents[j]) for (i, j), table in tables.items()}
    groups = {pair: tuple(columns[j].groups_of_codes(least[pair], parents[j]) for j in pair) for pair in chosen}
    statistic = PairCounts(
        tuple(columns[j].bins.regrouped(each) for pair in chosen for j, each in zip(pair, groups[pair])),
        tuple((2 * k, 2 * k + 1) for k in range(len(chosen))),
    )
    finer = {}
    for pair, counts in zip(chosen, statistic.parts(curator.release(FINER_PAIRS, statistic))):
        finer[pair] = PairTable(groups[pair], counts, noise)
    final = []
    for j, column in enumerate(columns):
        original = replace(counted.columns[j], bins=column.bins)
        final.append(_with_margins(j, original, [tables, finer], counted))
    return final, {
        pair: table.refined(finer[pair].groups, finer[pair].counts, noise) if pair in finer else table
        for pair, table in tables.items()
    }


def _least_in_group(relative: float, noise: float, rows: float) -> float:
    """Return the proportion of rows that a group of a pair needs; `relative` is how strongly its columns go together.

    Columns that say nothing about each other have rows in all pairs of groups, so that a pair has the square of a
    group's proportion. If one determines the other, there are as many pairs with rows as groups.
    """
    enough = _FINE_ROWS * _FINE_FACTOR**relative * noise / rows
    return float(np.clip(enough ** (1 / (2 - relative)), LEAST_IN_GROUP, _MOST_IN_COARSE_GROUP))


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


def _with_margins(j: int, column: CountedColumn, counts: list[Tables], counted: ColumnCounts) -> CountedColumn:
    """Return a column with probabilities from all counts of it, those in pairs included, by least squares."""
    precisions = np.diag(1 / (column.group_sizes * counted.noise**2))
    totals = precisions @ (counted.rows * column.group_probabilities)
    for tables in counts:
        for pair, table in tables.items():
            if j in pair:
                side = pair.index(j)
                groups = indicators(table.groups[side])
                precision = 1 / (table.counts.shape[1 - side] * table.noise**2)
                precisions = precisions + precision * groups @ groups.T
                totals = totals + precision * groups @ table.counts.sum(axis=1 - side)
    found = np.linalg.solve(precisions, totals)
    return column.with_totals(probabilities_from_counts(found, counted.rows), column.all_groups)


def _can_be_refined(column: Bins | Histogram) -> bool:
    return isinstance(column, Histogram) and column.can_be_refined


def _most_groups(column: Bins | Histogram) -> int:
    if isinstance(column, Bins):
        return most_groups(len(column.groups))
    return most_groups(len(column.counts) if not column.can_be_refined else MOST_SPLIT * PARTS)


def _first_bins(public: Public, missing: bool) -> tuple[Bins, ...]:
    return tuple(column.bins(missing) if isinstance(column, Histogram) else column for column in public)
