"""The columns of a table model: public bins before counting, and bins, groups and probabilities after it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tacit.arrays import Array
from tacit.fitting.shrinkage import simplex_threshold
from tacit.statistics import Bins
from tacit.synthesis import inside_bins
from tacit.synthesis.chain import Codes, stratified_uniforms
from tacit.synthesis.histograms import NARROW, SHARED, Histogram, first_edges, split_bin
from tacit.tables import Domain, Numeric

# benchmarks/synthetic.py measures what these proportions give, on Adult and on ten tables of the arena.
LEAST_IN_GROUP = 1 / 64  # Least proportion of rows in a group, however many rows there are.
LEAST_IN_COARSE_GROUP = 1 / 8  # The same for the coarse groups that all pairs are counted by first.


@dataclass(frozen=True, eq=False)
class CountedColumn:
    """A column: its bins, the proportion of rows in each, and the groups of bins that pairs of columns are counted by.

    Parameters
    ----------
    bins : Bins
    probabilities : (bins,) array
        Positive, adding up to 1. Where missing cells are modelled, theirs is the last.
    """

    bins: Bins
    probabilities: Array

    @classmethod
    def from_counts(cls, bins: Bins, counts: Array, rows: float) -> CountedColumn:
        """Return the column with probabilities from noisy counts of about `rows` rows."""
        return cls(bins, probabilities_from_counts(counts, rows))

    def evenly_split(self, unit: float) -> CountedColumn:
        """Return the column with bins of many rows split into parts, for the sake of pairs; `unit` as a histogram's.

        Bins were merged because the column itself is even there. How it goes together with others may not be.
        """
        edges = self.bins.edges
        if edges is None:
            return self
        tilts, ends, probabilities = self._tilts, [edges[:1]], []
        for b, probability in enumerate(self.probabilities[: len(edges) - 1]):
            shared = edges[b + 1] - edges[b] < SHARED  # Its rows share a value.
            parts = 1 if shared else math.ceil(probability / LEAST_IN_GROUP)
            each = split_bin(edges[b], edges[b + 1], unit, parts)
            reached = inside_bins.proportions_below(tilts[b], (each - edges[b]) / (edges[b + 1] - edges[b]))
            ends.append(each)
            probabilities.append(probability * np.diff(reached, prepend=0.0))
        probabilities.append(self.probabilities[len(edges) - 1 :])
        edges = np.concatenate(ends)
        bins = replace(self.bins, edges=edges, groups=np.arange(len(edges) - 1))
        return replace(self, bins=bins, probabilities=np.concatenate(probabilities))

    def with_groups(self, least: float, within: Codes | None = None) -> CountedColumn:
        """Return the column with bins in groups of about a proportion of `least` of all rows or more.

        Bins are put into one group only if they are in one of the groups `within`.
        """
        known = self.probabilities[: len(self.bins.groups)]
        groups = group_bins(known, self.bins.edges is not None, least, within)
        return replace(self, bins=replace(self.bins, groups=groups))

    def groups_of_codes(self, least: float, within: Codes) -> Codes:
        """Return groups of the column's groups, each with a proportion of about `least` of all rows or more."""
        known = self.bins.n_groups - self.bins.missing
        groups = group_bins(self.group_probabilities[:known], self.bins.edges is not None, least, within[:known])
        return np.append(groups, groups.max() + 1) if self.bins.missing else groups

    def with_totals(self, totals: Array, groups: Codes) -> CountedColumn:
        """Return the column with other probabilities of groups; those of their bins remain in proportion."""
        factors = totals / np.bincount(groups, self.probabilities)
        return replace(self, probabilities=self.probabilities * factors[groups])

    @property
    def group_probabilities(self) -> Array:
        """Probability of each group."""
        return np.bincount(self.all_groups, self.probabilities)

    @property
    def ordered_codes(self) -> int:
        """How many groups are in the order of a number: all but that of missing cells, or none."""
        return 0 if self.bins.edges is None else self.bins.n_groups - self.bins.missing

    @property
    def group_sizes(self) -> Array:
        """Number of bins in each group."""
        return np.bincount(self.all_groups).astype(np.float64)

    def draw(self, codes: Codes, rng: np.random.Generator, centre: float, scale: float) -> Array:
        """Return encoded cells (rows, places), given each row's group; a number is centre + scale * its cell."""
        drawn = np.empty(len(codes), dtype=np.intp)
        for group in range(self.bins.n_groups):
            members = np.flatnonzero(self.all_groups == group)
            inside = np.flatnonzero(codes == group)
            sums = np.cumsum(self.probabilities[members])
            drawn[inside] = members[
                np.searchsorted(sums[:-1] / sums[-1], stratified_uniforms(len(inside), rng), side="right")
            ]
        places, edges = len(self.bins.places), self.bins.edges
        if edges is not None:
            bins = np.minimum(drawn, len(edges) - 2)  # Missing cells get any bin here, and become NaN below.
            place = inside_bins.places(self._tilts[bins], rng.random(len(bins)))
            shared = inside_bins.shared_values(edges, centre, scale)[bins]
            cells = np.where(np.isnan(shared), edges[bins] + np.diff(edges)[bins] * place, shared)[:, None]
        elif places == 1:
            cells = np.where(drawn > 0, 1.0, -1.0)[:, None]
        else:
            cells = (drawn[:, None] == np.arange(places)).astype(np.float64)
        cells[drawn >= len(self.bins.groups)] = np.nan
        return cells

    def log_densities(self, block: Array, bins: Codes, scale: float) -> Array:
        """Return the log density of cells given their groups, in the units of the rows: `scale` units are a half range.

        For levels, and for the few values that have a bin of no width, it is the log probability.
        """
        log_probabilities = np.log(self.probabilities) - np.log(self.group_probabilities[self.all_groups])
        result: Array = log_probabilities[np.where(bins < 0, len(log_probabilities) - 1, bins)]
        edges = self.bins.edges
        if edges is not None:
            widths = np.diff(edges)[bins]
            place = np.nan_to_num((block[:, self.bins.places[0]] - edges[bins]) / widths).clip(0.0, 1.0)
            inside = inside_bins.log_densities(self._tilts[bins], place) - np.log(widths * scale)
            result = result + np.where((bins >= 0) & (widths > NARROW), inside, 0.0)
        return result

    @property
    def _tilts(self) -> Array:
        if self.bins.edges is None:
            raise ValueError("Levels have no edges; only bins of numbers are tilted.")
        return inside_bins.tilts(self.bins.edges, self.probabilities)

    @property
    def all_groups(self) -> Codes:
        """The group of each bin, including the bin of missing cells."""
        return np.append(self.bins.groups, self.bins.n_groups - 1) if self.bins.missing else self.bins.groups


def public_columns(domain: Domain, missing: bool) -> list[Bins | Histogram]:
    """Return what is public of each column: bins of levels, or an empty histogram of numbers."""
    if domain.schema is None:
        half_range = math.sqrt(domain.columns) if domain.ball else 1.0
        edges = first_edges(0.0, half_range)
        return [Histogram.empty(edges, 0.0, place) for place in range(domain.columns)]
    columns: list[Bins | Histogram] = []
    for name, places in domain.schema.slices.items():
        column = domain.schema.columns[name]
        if isinstance(column, Numeric) and column.step:
            unit = column.step / column.half_range
            columns.append(Histogram.empty(first_edges(unit, 1.0), unit, places.start))
        elif isinstance(column, Numeric):
            zero = float(column.encode(pa.chunked_array([[0.0]]), name, "error")[0, 0])
            values = (zero,) if column.low < 0 < column.high else ()
            columns.append(Histogram.empty(first_edges(0.0, 1.0, values), 0.0, places.start))
        else:
            where = tuple(range(places.start, places.stop))
            columns.append(Bins(where, np.arange(max(2, len(where))), missing=missing))
    return columns


def probabilities_from_counts(counts: Array, rows: float) -> Array:
    """Return probabilities from noisy counts of about `rows` rows.

    The counts are projected to the nearest ones that are not negative and add up to at most `rows`, and then scaled up
    to add up to `rows`. Half a row is added to each, so that nothing is impossible.

    Examples
    --------
    >>> import numpy as np
    >>> (probabilities_from_counts(np.array([80.0, 31.0, -7.0]), 98.5) * 100).round(1)
    array([74.2, 25.2,  0.5])
    """
    possible = np.maximum(counts - max(0.0, simplex_threshold(counts, rows)), 0.0)
    possible = possible * (rows / max(possible.sum(), 1.0)) + 0.5
    return np.asarray(possible / possible.sum())


def most_groups(bins: int) -> int:
    """Return the largest number of groups that :func:`group_bins` can make of this many bins, within coarse groups.

    Groups have half of the least proportion or more, but for one in each coarse group. The same holds for these.
    """
    return min(bins, round(2 / LEAST_IN_GROUP) + round(2 / LEAST_IN_COARSE_GROUP) + 2)


def group_bins(probabilities: Array, ordered: bool, least: float, within: Codes | None = None) -> Codes:
    """Return the group of each bin, from 0 up, so that each group has a proportion of about `least` rows or more.

    A bin with enough rows is a group by itself. Others join their neighbours until they have enough: those of a number
    the bins beside them, and levels the next level, in the schema's order, that has too few rows too.

    Parameters
    ----------
    probabilities : (bins,) array
        Proportion of rows in each bin; they add up to at most 1.
    ordered : bool
        Whether the bins are those of a number.
    least : float
        Least proportion of rows in a group. A group of neighbours may end up with half of it.
    within : (bins,) array of int, optional
        Groups that are not to be left.

    Examples
    --------
    >>> import numpy as np
    >>> group_bins(np.array([0.5, 0.02, 0.02, 0.02, 0.44]), ordered=True, least=0.05)
    array([0, 1, 1, 1, 2])
    >>> group_bins(np.array([0.02, 0.5, 0.02, 0.02, 0.44]), ordered=False, least=0.05)
    array([0, 1, 0, 0, 2])
    """
    within = np.zeros(len(probabilities), dtype=np.intp) if within is None else within
    groups, n_groups = np.zeros(len(probabilities), dtype=np.intp), 0
    for part in range(int(within.max()) + 1):
        bins = np.flatnonzero(within == part)
        rare = np.ones(len(bins), dtype=bool) if ordered else probabilities[bins] < least
        groups[bins[~rare]] = n_groups + np.arange((~rare).sum())
        n_groups += int((~rare).sum())
        if rare.any():
            fewest = 2 if len(bins) == len(probabilities) and not n_groups else 1
            groups[bins[rare]] = n_groups + _group_neighbours(probabilities[bins[rare]], least, fewest)
            n_groups = int(groups[bins].max()) + 1
    return _numbered(groups)


def _group_neighbours(probabilities: Array, least: float, fewest: int) -> Codes:
    """Return the group of each bin, where groups are runs of bins; at least `fewest` groups are left."""
    enough = probabilities >= least
    starts, together = np.zeros(len(probabilities), dtype=bool), 0.0
    for b, probability in enumerate(probabilities):
        starts[b] = b > 0 and (enough[b] or enough[b - 1] or together >= least)
        together = probability if starts[b] else together + probability
    groups: Codes = np.cumsum(starts)
    while True:
        sums = np.bincount(groups, probabilities)
        lightest = int(sums.argmin())
        if sums[lightest] >= least / 2 or len(sums) <= fewest:
            return groups
        around = [g for g in (lightest - 1, lightest + 1) if 0 <= g < len(sums)]
        first = min(lightest, min(around, key=lambda g: sums[g]))
        groups = np.where(groups > first, groups - 1, groups)


def _numbered(groups: Codes) -> Codes:
    """Return groups in the order of their first bins."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.ravel()])
