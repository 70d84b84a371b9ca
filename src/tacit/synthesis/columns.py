"""The columns of a table of which cells are counted: what is public of them, and what counting found."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tacit.arrays import Array
from tacit.fitting.shrinkage import simplex_threshold
from tacit.statistics import Bins
from tacit.synthesis import inside_bins
from tacit.synthesis.chain import Codes, spread
from tacit.synthesis.histograms import NARROW, Histogram, first_edges
from tacit.tables import Domain, Integer, Numeric

# benchmarks/synthetic.py measures what these numbers give.
LEAST_FREQUENCY = 1 / 64  # Least proportion of rows in a group of bins, however many rows there are.
_WIDE_FREQUENCY = 1 / 8  # The same in a wider group.


@dataclass(frozen=True, eq=False)
class CountedColumn:
    """A column: its bins, the share of rows in each, and the groups of bins that others are counted with.

    Parameters
    ----------
    bins : Bins
    shares : (bins,) array
        Positive, adding up to 1; with missing cells, their share is the last.
    """

    bins: Bins
    shares: Array

    @classmethod
    def from_counts(cls, bins: Bins, counts: Array, rows: float) -> CountedColumn:
        """Return the column with shares from noisy counts, of about as many rows."""
        return cls(bins, frequencies_from_counts(counts, rows))

    def with_groups(self, least: float) -> CountedColumn:
        """Return the column with bins in groups of about `least` of all rows or more."""
        known = self.shares[: len(self.bins.groups)]
        return replace(self, bins=replace(self.bins, groups=group_bins(known, self.bins.edges is not None, least)))

    @property
    def group_shares(self) -> Array:
        """The share of rows in each group."""
        return np.bincount(self._groups, self.shares)

    @property
    def wide_groups(self) -> Codes:
        """The wider group that each group is in: of numbers neighbours together, of others each by itself."""
        if self.bins.edges is None:
            return np.arange(self.bins.n_groups)
        known = self.group_shares[: self.bins.n_groups - self.bins.missing]
        found = group_bins(known / known.sum(), True, _WIDE_FREQUENCY)
        return np.append(found, found.max() + 1) if self.bins.missing else found

    @property
    def group_sizes(self) -> Array:
        """How many bins there are in each group."""
        return np.bincount(self._groups).astype(np.float64)

    def draw(self, codes: Codes, rng: np.random.Generator, centre: float, scale: float) -> Array:
        """Return encoded cells (rows, places) for the groups that rows are in; numbers are centre + scale * a cell."""
        found = np.empty(len(codes), dtype=np.intp)
        for group in range(self.bins.n_groups):
            members = np.flatnonzero(self._groups == group)
            inside = np.flatnonzero(codes == group)
            sums = np.cumsum(self.shares[members])
            found[inside] = members[np.searchsorted(sums[:-1] / sums[-1], spread(len(inside), rng), side="right")]
        places, edges = len(self.bins.places), self.bins.edges
        if edges is not None:
            bins = np.minimum(found, len(edges) - 2)  # Bins of missing cells do not matter.
            place = inside_bins.places(self._tilts[bins], rng.random(len(bins)))
            shared = inside_bins.shared_values(edges, centre, scale)[bins]
            cells = np.where(np.isnan(shared), edges[bins] + np.diff(edges)[bins] * place, shared)[:, None]
        elif places == 1:
            cells = np.where(found > 0, 1.0, -1.0)[:, None]
        else:
            cells = (found[:, None] == np.arange(places)).astype(np.float64)
        cells[found >= len(self.bins.groups)] = np.nan
        return cells

    def log_densities(self, block: Array, bins: Codes, scale: float) -> Array:
        """Return the log density of cells given their groups: of numbers per unit, of which `scale` are a half range.

        Of levels, and of the few values that have a bin of no width, it is the log probability.
        """
        chances = np.log(self.shares) - np.log(self.group_shares[self._groups])
        found: Array = chances[np.where(bins < 0, len(chances) - 1, bins)]
        edges = self.bins.edges
        if edges is not None:
            widths = np.diff(edges)[bins]
            place = np.nan_to_num((block[:, self.bins.places[0]] - edges[bins]) / widths).clip(0.0, 1.0)
            inside = inside_bins.log_densities(self._tilts[bins], place) - np.log(widths * scale)
            found = found + np.where((bins >= 0) & (widths > NARROW), inside, 0.0)
        return found

    @property
    def _tilts(self) -> Array:
        if self.bins.edges is None:
            raise ValueError("Levels have no edges; only bins of numbers are tilted.")
        return inside_bins.tilts(self.bins.edges, self.shares)

    @property
    def _groups(self) -> Codes:
        """The group of each bin, that of missing cells included."""
        return np.append(self.bins.groups, self.bins.n_groups - 1) if self.bins.missing else self.bins.groups


def public_columns(domain: Domain, missing: bool) -> list[Bins | Histogram]:
    """Return each column's bins: of levels, or of numbers a histogram that nothing was counted in yet."""
    if domain.schema is None:
        half_range = math.sqrt(domain.columns) if domain.ball else 1.0
        edges = first_edges(0.0, half_range)
        return [Histogram.empty(edges, 0.0, place) for place in range(domain.columns)]
    found: list[Bins | Histogram] = []
    for name, places in domain.schema.slices.items():
        column = domain.schema.columns[name]
        if isinstance(column, Integer):
            unit = 1 / column.half_range
            found.append(Histogram.empty(first_edges(unit, 1.0), unit, places.start))
        elif isinstance(column, Numeric):
            zero = float(column.encode(pa.chunked_array([[0.0]]), name, "error")[0, 0])
            values = (zero,) if column.low < 0 < column.high else ()
            found.append(Histogram.empty(first_edges(0.0, 1.0, values), 0.0, places.start))
        else:
            where = tuple(range(places.start, places.stop))
            found.append(Bins(where, np.arange(max(2, len(where))), missing=missing))
    return found


def frequencies_from_counts(counts: Array, rows: float) -> Array:
    """Return frequencies from noisy counts of rows.

    If the counts that are not negative add up to more than `rows`, they are moved to the nearest ones that do not. If
    they add up to less, all grow by one factor. Then half a row is added to each, because no bin is impossible.

    Examples
    --------
    >>> import numpy as np
    >>> (frequencies_from_counts(np.array([80.0, 31.0, -7.0]), 98.5) * 100).round(1)
    array([74.2, 25.2,  0.5])
    """
    possible = np.maximum(counts - max(0.0, simplex_threshold(counts, rows)), 0.0)
    possible = possible * (rows / max(possible.sum(), 1.0)) + 0.5
    return np.asarray(possible / possible.sum())


def most_groups(bins: int, ordered: bool) -> int:
    """Return the largest number of groups that so many bins can have."""
    return min(bins, round((2 if ordered else 1) / LEAST_FREQUENCY) + 1)


def group_bins(frequencies: Array, ordered: bool, least: float) -> np.ndarray:
    """Return the group of each bin, from 0 up, so that each group has about the proportion `least` of rows or more.

    Bins with enough rows stay alone. Neighbouring bins of a number are put together until they have enough. All levels
    of a category with fewer rows are one group.

    Parameters
    ----------
    frequencies : (bins,) array
        Proportion of rows in each bin. They add up to 1.
    ordered : bool
        Whether the bins are those of a number.
    least : float

    Examples
    --------
    >>> import numpy as np
    >>> group_bins(np.array([0.5, 0.02, 0.02, 0.02, 0.44]), ordered=True, least=0.05)
    array([0, 1, 1, 1, 2])
    >>> group_bins(np.array([0.02, 0.5, 0.02, 0.02, 0.44]), ordered=False, least=0.05)
    array([2, 0, 2, 2, 1])
    """
    enough = frequencies >= least
    if not ordered:
        return np.where(enough, np.cumsum(enough) - 1, enough.sum())
    starts, together = np.zeros(len(frequencies), dtype=bool), 0.0
    for b, frequency in enumerate(frequencies):
        starts[b] = b > 0 and (enough[b] or enough[b - 1] or together >= least)
        together = frequency if starts[b] else together + frequency
    groups = np.cumsum(starts)
    while True:
        sums = np.bincount(groups, frequencies)
        lightest = int(sums.argmin())
        if sums[lightest] >= least / 2 or len(sums) <= 2:
            return groups
        around = [g for g in (lightest - 1, lightest + 1) if 0 <= g < len(sums)]
        first = min(lightest, min(around, key=lambda g: sums[g]))
        groups = np.where(groups > first, groups - 1, groups)
