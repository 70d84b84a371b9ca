"""Histograms of numbers from noisy counts. Bins are as fine as the noise allows; a value of many rows has its own bin.

These functions read no rows: they compute with public numbers and with counts that are private already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.statistics import Bins

# benchmarks/synthetic.py measures what these numbers give, on Adult.
# How fine bins can become.
PARTS = 64  # Number of parts that a bin is split into.
MOST_SPLIT = 64  # Largest number of bins of a column that are split at a time.
ROUNDS = 3  # Number of times that bins are split.
_MOST_EXACT = 128  # Up to this many whole numbers have one bin each from the start.
FINEST = 2 / PARTS ** (ROUNDS + 1)  # Width of the narrowest bin, in half ranges.
NARROW = 1e-9  # A bin that is narrower, in half ranges, holds a single value.

# How certain a difference must be, in standard deviations of a count's error.
STANDS_OUT = 4.0  # A bin with this many more than its neighbours stands out. One in thirty thousand does by chance.
_SPLIT_COST = 4.0  # A split into halves must gain this much, in squared deviations.
_LEAST_SEEN = 3.0  # A bin with fewer rows, in deviations of the noise, counts as empty.
_LEAST_SPLIT = 8.0  # A bin with fewer rows, in deviations of the noise, is not split: no part of it would stand out.


@dataclass(frozen=True, eq=False)
class Histogram:
    """Bins of a number in standard coordinates, and noisy counts of rows in them.

    Parameters
    ----------
    edges : (bins + 1,) array
    counts : (bins,) array
    unit : float
        Distance between neighbouring whole numbers; edges are halfway between them. 0 for numbers with fractions.
    place : int
        Position of the number in a row.

    Examples
    --------
    >>> ages = Histogram.empty(first_edges(unit=1 / 60, half_range=1.0), unit=1 / 60)  # Whole numbers from 0 to 120.
    >>> len(ages.counts), ages.can_be_refined
    (121, False)
    >>> Histogram.empty(first_edges(unit=0.0, half_range=1.0), unit=0.0).can_be_refined
    True
    """

    edges: Array
    counts: Array
    unit: float
    place: int

    @classmethod
    def empty(cls, edges: Array, unit: float, place: int = 0) -> Histogram:
        """Return a histogram with counts of 0."""
        return cls(edges, np.zeros(len(edges) - 1), unit, place)

    @property
    def can_be_refined(self) -> bool:
        """Whether any bin is wide enough to be split."""
        return bool(self._room().any())

    def bins(self, missing: bool) -> Bins:
        """Return the bins for a statistic; each is a group of its own."""
        return Bins((self.place,), np.arange(len(self.counts)), self.edges, missing)

    def with_counts(self, counts: Array, noise: float) -> Histogram:
        """Return the histogram with counts, after merging bins whose densities are not clearly different."""
        starts, sums = _merge_bins(counts, np.diff(self.edges), noise)
        # Noise must not make rows in an empty bin: it may be far from all rows.
        unseen = sums < _LEAST_SEEN * noise * np.sqrt(np.diff(np.append(starts, len(counts))))
        sums = np.where(unseen, 0.0, sums)
        return Histogram(self.edges[np.append(starts, len(counts))], sums, self.unit, self.place)

    def heavy(self, noise: float) -> np.ndarray:
        """Return which bins are worth splitting."""
        worth = self._room() & (self.counts > _LEAST_SPLIT * noise)
        heaviest = np.argsort(np.where(worth, -self.counts, np.inf), kind="stable")[:MOST_SPLIT]
        return np.sort(heaviest[worth[heaviest]])

    def split(self, heavy: np.ndarray) -> Bins:
        """Return bins for a statistic that counts the parts of heavy bins and nothing else."""
        edges, groups, n_parts = [self.edges[:1]], [], 0
        for b in range(len(self.counts)):
            if b in heavy:
                parts = _parts(self.edges[b], self.edges[b + 1], self.unit)
                groups.append(np.arange(n_parts, n_parts + len(parts)))
                edges.append(parts)
                n_parts += len(parts)
            else:
                groups.append(np.array([-1]))
                edges.append(self.edges[b + 1 : b + 2])
        return Bins((self.place,), np.concatenate(groups), np.concatenate(edges))

    def with_parts(self, heavy: np.ndarray, split: Bins, counts: Array, noise: float) -> Histogram:
        """Return the histogram with heavy bins replaced by their parts; parts with like densities are merged again.

        `counts` are those of `split`. The parts of a bin and the bin itself were counted independently. The difference
        between the two counts is divided equally among the parts, so that they add up to the best estimate of the bin.
        """
        if split.edges is None:
            raise ValueError("Levels have no edges; only bins of numbers are split.")
        edges, sums_of_bins, start = [self.edges[:1]], [], 0
        for b, count in enumerate(self.counts):
            if b not in heavy:
                edges.append(self.edges[b + 1 : b + 2])
                sums_of_bins.append([count])
                continue
            ends = _parts(self.edges[b], self.edges[b + 1], self.unit)
            parts = counts[start : start + len(ends)]
            start += len(ends)
            widths = np.diff(np.append(self.edges[b], ends))
            starts, sums = _merge_bins(parts + (count - parts.sum()) / (len(parts) + 1), widths, noise)
            edges.append(ends[np.append(starts[1:], len(parts)) - 1])
            sums_of_bins.append(sums)
        return Histogram(np.concatenate(edges), np.concatenate(sums_of_bins), self.unit, self.place)

    def _room(self) -> np.ndarray:
        return np.diff(self.edges) > max(1.5 * self.unit, NARROW)


def first_edges(unit: float, half_range: float, values: tuple[float, ...] = ()) -> Array:
    """Return the edges of the first bins of a number, from -half_range to half_range.

    Whole numbers have a bin each if they are few. Among numbers with fractions, `values` and both ends have bins of
    their own; all rows beyond an end were moved to it.
    """
    if unit:
        low, length = -half_range - unit / 2, round(2 * half_range / unit) + 1
        parts = length if length <= _MOST_EXACT else PARTS
        return low + unit * np.round(np.linspace(0, length, parts + 1))
    alone = [-half_range, *values, half_range]
    return np.unique([*np.linspace(-half_range, half_range, PARTS + 1), *alone, *np.nextafter(alone, np.inf)])


def _parts(low: float, high: float, unit: float) -> Array:
    """Return the upper edges of the parts of a bin."""
    if not unit:
        return np.append(np.linspace(low, high, PARTS + 1)[1:-1], high)
    length = round((high - low) / unit)
    ends = low + unit * np.round(np.linspace(0, length, min(PARTS, length) + 1)[1:])
    return np.append(ends[:-1], high)


def _merge_bins(counts: Array, widths: Array, noise: float) -> tuple[np.ndarray, Array]:
    """Merge neighbouring bins with like densities; return the first bin of each merged one, and the counts.

    A bin that stands out by itself is not merged, so that a value of many rows keeps a bin of its own. The runs of bins
    between these are split in halves where the halves differ clearly in density, and so on.
    """
    alone = np.zeros(len(counts), dtype=bool)
    while not alone.all():
        others = ~alone
        density = max(0.0, counts[others].sum()) / max(widths[others].sum(), NARROW)
        even = density * widths
        new = others & (counts > even + STANDS_OUT * np.sqrt(noise**2 + even))
        if not new.any():
            break
        alone |= new
    ends = np.flatnonzero(np.append(alone[1:] | alone[:-1], True)) + 1  # Ends of single bins, and of runs of others.
    starts = [s for low, high in zip([0, *ends[:-1]], ends) for s in _split_run(counts, widths, noise, low, high)[1]]
    return np.array(starts), np.add.reduceat(counts, starts)


def _split_run(counts: Array, widths: Array, noise: float, low: int, high: int) -> tuple[float, list[int]]:
    """Return the gain of splitting a run of bins into parts, and the first bin of each part.

    A split into halves gains the squared difference of their densities, in standard deviations, and costs
    `_SPLIT_COST`. The splits with the largest total gain are made, so an uncertain split is made where a certain one
    lies inside it.
    """
    if high - low < 2:
        return 0.0, [low]
    middle = (low + high) // 2
    first, second = counts[low:middle].sum(), counts[middle:high].sum()
    fraction = widths[low:middle].sum() / widths[low:high].sum()
    rows = max(0.0, first + second)
    variance = noise**2 * ((middle - low) * (1 - fraction) ** 2 + (high - middle) * fraction**2) + rows * fraction * (
        1 - fraction
    )
    gain = (first * (1 - fraction) - second * fraction) ** 2 / variance - _SPLIT_COST
    starts = []
    for part in ((low, middle), (middle, high)):
        more, inside = _split_run(counts, widths, noise, *part)
        gain += more
        starts += inside
    return (gain, starts) if gain > 0 else (0.0, [low])
