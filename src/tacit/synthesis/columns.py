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
from tacit.synthesis.histograms import NARROW, Histogram, first_edges
from tacit.tables import Domain, Integer, Numeric

# benchmarks/synthetic.py measures what these proportions give, on Adult.
LEAST_IN_GROUP = 1 / 64  # Least proportion of rows in a group, however many rows there are.
_LEAST_IN_COARSE_GROUP = 1 / 8  # Least proportion of rows in a coarse group.


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

    def with_groups(self, least: float) -> CountedColumn:
        """Return the column with bins in groups, each with a proportion of about `least` of all rows or more."""
        known = self.probabilities[: len(self.bins.groups)]
        return replace(self, bins=replace(self.bins, groups=group_bins(known, self.bins.edges is not None, least)))

    @property
    def group_probabilities(self) -> Array:
        """Probability of each group."""
        return np.bincount(self._groups, self.probabilities)

    @property
    def coarse_groups(self) -> Codes:
        """The coarse group of each group. Groups of numbers share one with their neighbours; others have one each."""
        if self.bins.edges is None:
            return np.arange(self.bins.n_groups)
        known = self.group_probabilities[: self.bins.n_groups - self.bins.missing]
        coarse = group_bins(known / known.sum(), True, _LEAST_IN_COARSE_GROUP)
        return np.append(coarse, coarse.max() + 1) if self.bins.missing else coarse

    @property
    def group_sizes(self) -> Array:
        """Number of bins in each group."""
        return np.bincount(self._groups).astype(np.float64)

    def draw(self, codes: Codes, rng: np.random.Generator, centre: float, scale: float) -> Array:
        """Return encoded cells (rows, places), given each row's group; a number is centre + scale * its cell."""
        drawn = np.empty(len(codes), dtype=np.intp)
        for group in range(self.bins.n_groups):
            members = np.flatnonzero(self._groups == group)
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
        log_probabilities = np.log(self.probabilities) - np.log(self.group_probabilities[self._groups])
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
    def _groups(self) -> Codes:
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
        if isinstance(column, Integer):
            unit = 1 / column.half_range
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


def most_groups(bins: int, ordered: bool) -> int:
    """Return the largest number of groups that :func:`group_bins` can make."""
    return min(bins, round((2 if ordered else 1) / LEAST_IN_GROUP) + 1)


def group_bins(probabilities: Array, ordered: bool, least: float) -> np.ndarray:
    """Return the group of each bin, from 0 up, so that each group has a proportion of about `least` rows or more.

    A bin with enough rows is a group by itself. Other bins of a number join their neighbours until they have enough;
    all other levels of a category are one group.

    Parameters
    ----------
    probabilities : (bins,) array
        Proportion of rows in each bin; they add up to 1.
    ordered : bool
        Whether the bins are those of a number.
    least : float
        Least proportion of rows in a group. A group of neighbours may end up with half of it.

    Examples
    --------
    >>> import numpy as np
    >>> group_bins(np.array([0.5, 0.02, 0.02, 0.02, 0.44]), ordered=True, least=0.05)
    array([0, 1, 1, 1, 2])
    >>> group_bins(np.array([0.02, 0.5, 0.02, 0.02, 0.44]), ordered=False, least=0.05)
    array([2, 0, 2, 2, 1])
    """
    enough = probabilities >= least
    if not ordered:
        return np.where(enough, np.cumsum(enough) - 1, enough.sum())
    starts, together = np.zeros(len(probabilities), dtype=bool), 0.0
    for b, probability in enumerate(probabilities):
        starts[b] = b > 0 and (enough[b] or enough[b - 1] or together >= least)
        together = probability if starts[b] else together + probability
    groups = np.cumsum(starts)
    while True:
        sums = np.bincount(groups, probabilities)
        lightest = int(sums.argmin())
        if sums[lightest] >= least / 2 or len(sums) <= 2:
            return groups
        around = [g for g in (lightest - 1, lightest + 1) if 0 <= g < len(sums)]
        first = min(lightest, min(around, key=lambda g: sums[g]))
        groups = np.where(groups > first, groups - 1, groups)
