"""What a table model releases: counts of columns, finer counts where many rows are, and counts of pairs of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import weigh_releases
from tacit.privacy import Step
from tacit.release import Curator
from tacit.statistics import Bins, CellCounts, PairCounts
from tacit.synthesis.columns import CountedColumn, possible_shares
from tacit.synthesis.fitted_chain import Tables
from tacit.synthesis.groups import LEAST_SHARE, most_groups
from tacit.synthesis.histograms import MOST_SPLIT, PARTS, ROUNDS, STANDS_OUT, Histogram

COLUMNS, FINER, PAIRS = "cell counts", "finer cell counts", "pair counts"
# Parts of the budget, as squared signal-to-noise ratios. benchmarks/synthetic.py measures what they give.
_COLUMNS_PART = 0.3  # Part for counts of single columns; the rest is for pairs.
_FINER = 1 / 3  # Part for each finer count of a column, relative to its first count.
_MOST_SHARE = 0.2  # of rows that a group needs, however much noise there is
_GROUPED = 0.5  # of the share of rows at which a pair of groups has as many rows as the noise is large

Public = Sequence[Bins | Histogram]


def steps(public: Public, missing: bool) -> list[Step]:
    """Return the plan, up to a scale: all counts of one kind have the same noise."""
    wide = sum(_can_be_refined(column) for column in public)
    counts, pairs = len(public) + _FINER * ROUNDS * wide, len(public) * (len(public) - 1) // 2
    part = _COLUMNS_PART if pairs else 1.0
    most = [_most_groups(column) + missing for column in public]
    sizes = {
        COLUMNS: CellCounts(_first(public, missing)).size,
        FINER: wide * MOST_SPLIT * PARTS,
        PAIRS: (sum(most) ** 2 - sum(groups**2 for groups in most)) // 2,
    }
    parts = {COLUMNS: part * len(public) / counts, FINER: part * _FINER * wide / counts, PAIRS: 1 - part}
    return weigh_releases(parts, {COLUMNS: 1, FINER: ROUNDS if wide else 0, PAIRS: int(pairs > 0)}, sizes)


class Counted(NamedTuple):
    """Columns as they were counted, and how well."""

    columns: list[CountedColumn]
    rows: float  # the public number, or what the counts say
    noise: float  # in each count


def count_columns(curator: Curator, public: Public, missing: bool, n_rows: int | None) -> Counted:
    """Release counts of columns, and finer ones where many rows are."""
    statistic = CellCounts(_first(public, missing))
    noise = curator.noise(COLUMNS, statistic)
    counts = statistic.parts(curator.release(COLUMNS, statistic))
    certainty = np.array([1 / len(each) for each in counts])
    rows = float(n_rows or max(1.0, certainty @ [each.sum() for each in counts] / certainty.sum()))
    if missing:  # columns that have no gaps must not get some by noise
        for each in counts:
            each[-1] = each[-1] if each[-1] > STANDS_OUT * noise else 0.0
    histograms = {
        j: column.counted(counts[j][: len(column.counts)], noise)
        for j, column in enumerate(public)
        if isinstance(column, Histogram)
    }
    _refine(curator, histograms, [j for j in histograms if _can_be_refined(public[j])], noise)
    columns = []
    for j, column in enumerate(public):
        if isinstance(column, Histogram):
            bins, found = histograms[j].bins(missing), np.append(histograms[j].counts, counts[j][len(column.counts) :])
        else:
            bins, found = column, counts[j]
        columns.append(CountedColumn.from_counts(bins, found, rows))
    return Counted(columns, rows, noise)


def count_pairs(curator: Curator, counted: Counted) -> tuple[list[CountedColumn], list[Array], Tables, float]:
    """Put bins into groups that the noise allows to be counted in pairs, and count those.

    Returns
    -------
    columns, margins, tables, noise
        The columns with their groups; the shares of groups, from the counts of columns and of pairs together; the
        tables of pairs, and the noise in them.
    """
    noise = curator.noise(PAIRS, PairCounts(tuple(column.bins for column in counted.columns)))
    least = min(_MOST_SHARE, max(LEAST_SHARE, _GROUPED * math.sqrt(noise / counted.rows)))
    columns = [column.with_groups(least) for column in counted.columns]
    statistic = PairCounts(tuple(column.bins for column in columns))
    tables = statistic.parts(curator.release(PAIRS, statistic))
    margins = [_margin(j, column, tables, noise, counted) for j, column in enumerate(columns)]
    return columns, margins, tables, noise


def _refine(curator: Curator, histograms: dict[int, Histogram], wide: list[int], noise: float) -> None:
    """Split heavy bins of wide columns, and then those of their parts that are heavy again."""
    for _ in range(ROUNDS):
        heavy = {j: histograms[j].heavy(noise) for j in wide}
        split = {j: histograms[j].split(bins) for j, bins in heavy.items() if len(bins)}
        if not split:
            return
        statistic = CellCounts(tuple(split.values()))
        noise = curator.noise(FINER, statistic)
        for j, counts in zip(split, statistic.parts(curator.release(FINER, statistic))):
            histograms[j] = histograms[j].refined(heavy[j], split[j], counts, noise)


def _margin(j: int, column: CountedColumn, tables: Tables, noise: float, counted: Counted) -> Array:
    """Return the shares of a column's groups: each table it is in counts them once more, if with more noise."""
    shares = column.group_shares
    certainty = 1 / (column.group_sizes * counted.noise**2)
    total = counted.rows * shares * certainty
    for (first, second), table in tables.items():
        if j in (first, second):
            others = table.shape[1] if j == first else table.shape[0]
            total = total + table.sum(axis=1 if j == first else 0) / (others * noise**2)
            certainty = certainty + 1 / (others * noise**2)
    return possible_shares(total / certainty, counted.rows)


def _can_be_refined(column: Bins | Histogram) -> bool:
    return isinstance(column, Histogram) and column.can_be_refined


def _most_groups(column: Bins | Histogram) -> int:
    if isinstance(column, Bins):
        return most_groups(len(column.groups), ordered=False)
    return most_groups(len(column.counts) if not column.can_be_refined else MOST_SPLIT * PARTS, ordered=True)


def _first(public: Public, missing: bool) -> tuple[Bins, ...]:
    return tuple(column.bins(missing) if isinstance(column, Histogram) else column for column in public)
