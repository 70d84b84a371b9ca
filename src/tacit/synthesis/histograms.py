"""Histograms of numbers from noisy counts: bins as fine as the noise allows, and values that many rows share apart.

All of it is arithmetic on public numbers and on counts that are private already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.statistics import Bins

PARTS = 64  # that a bin is split into
MOST_SPLIT = 64  # bins of a column that are split at a time
_EXACT = 128  # whole numbers up to so many are counted one by one
STANDS_OUT = 4.0  # deviations: one bin in thirty thousand does so by chance
_COST = 4.0  # of splitting a bin in two, in squared deviations
_SEEN = 3.0  # noise deviations: of fewer rows it is not clear that there are any
_WORTH_SPLITTING = 8.0  # noise deviations: of a lighter bin no part would
ROUNDS = 3  # of splitting
FINEST = 2 / PARTS ** (ROUNDS + 1)  # half ranges: the width of a bin that was split off each time
NARROW = 1e-9  # half ranges; what is narrower is a single value


@dataclass(frozen=True, eq=False)
class Histogram:
    """Bins of a number in standard coordinates, and noisy counts of rows in them.

    Parameters
    ----------
    edges : (bins + 1,) array
    counts : (bins,) array
    unit : float
        The distance of neighbouring whole numbers, edges being halfway between them; 0 of numbers with fractions.
    place : int
        Where the number is found in a row.

    Examples
    --------
    >>> ages = Histogram.empty(first_edges(unit=1 / 60, half_range=1.0), unit=1 / 60)  # whole numbers from 0 to 120
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
        """Return a histogram that nothing has been counted in."""
        return cls(edges, np.zeros(len(edges) - 1), unit, place)

    @property
    def can_be_refined(self) -> bool:
        """Whether any bin has room for narrower ones."""
        return bool(self._room().any())

    def bins(self, missing: bool) -> Bins:
        """Return the bins as a statistic takes them, each a group of its own."""
        return Bins((self.place,), np.arange(len(self.counts)), self.edges, missing)

    def counted(self, counts: Array, noise: float) -> Histogram:
        """Return the histogram with counts, and bins that cannot be told apart put together."""
        starts, sums = _standing_out(counts, np.diff(self.edges), noise)
        # Noise must not put rows where there are none: they might be far from all others.
        unseen = sums < _SEEN * noise * np.sqrt(np.diff(np.append(starts, len(counts))))
        sums = np.where(unseen, 0.0, sums)
        return Histogram(self.edges[np.append(starts, len(counts))], sums, self.unit, self.place)

    def heavy(self, noise: float) -> np.ndarray:
        """Return which bins are worth splitting."""
        worth = self._room() & (self.counts > _WORTH_SPLITTING * noise)
        heaviest = np.argsort(np.where(worth, -self.counts, np.inf), kind="stable")[:MOST_SPLIT]
        return np.sort(heaviest[worth[heaviest]])

    def split(self, heavy: np.ndarray) -> Bins:
        """Return bins that count the parts of heavy ones alone."""
        edges, groups, counted = [self.edges[:1]], [], 0
        for b in range(len(self.counts)):
            if b in heavy:
                parts = _parts(self.edges[b], self.edges[b + 1], self.unit)
                groups.append(np.arange(counted, counted + len(parts)))
                edges.append(parts)
                counted += len(parts)
            else:
                groups.append(np.array([-1]))
                edges.append(self.edges[b + 1 : b + 2])
        return Bins((self.place,), np.concatenate(groups), np.concatenate(edges))

    def refined(self, heavy: np.ndarray, split: Bins, counts: Array, noise: float) -> Histogram:
        """Return the histogram with heavy bins replaced by those of their parts that stand out, and what is between.

        `counts` are those of `split`. The parts of a bin and the bin itself were counted independently: the parts get
        an equal share each of the difference, so that they add up to the best estimate of the whole.
        """
        if split.edges is None:
            raise ValueError("Levels have no edges; only bins of numbers are split.")
        edges, found, start = [self.edges[:1]], [], 0
        for b, count in enumerate(self.counts):
            if b not in heavy:
                edges.append(self.edges[b + 1 : b + 2])
                found.append([count])
                continue
            ends = _parts(self.edges[b], self.edges[b + 1], self.unit)
            parts = counts[start : start + len(ends)]
            start += len(ends)
            widths = np.diff(np.append(self.edges[b], ends))
            starts, sums = _standing_out(parts + (count - parts.sum()) / (len(parts) + 1), widths, noise)
            edges.append(ends[np.append(starts[1:], len(parts)) - 1])
            found.append(sums)
        return Histogram(np.concatenate(edges), np.concatenate(found), self.unit, self.place)

    def _room(self) -> np.ndarray:
        return np.diff(self.edges) > max(1.5 * self.unit, NARROW)


def first_edges(unit: float, half_range: float, values: tuple[float, ...] = ()) -> Array:
    """Return where the first bins of a number begin and end, from -half_range to half_range.

    Each of a few whole numbers has a bin of its own. Of numbers with fractions, so have both ends, which stand for all
    beyond them, and `values`.
    """
    if unit:
        low, length = -half_range - unit / 2, round(2 * half_range / unit) + 1
        parts = length if length <= _EXACT else PARTS
        return low + unit * np.round(np.linspace(0, length, parts + 1))
    alone = [-half_range, *values, half_range]
    return np.unique([*np.linspace(-half_range, half_range, PARTS + 1), *alone, *np.nextafter(alone, np.inf)])


def _parts(low: float, high: float, unit: float) -> Array:
    """Return where the parts of a bin end."""
    if not unit:
        return np.append(np.linspace(low, high, PARTS + 1)[1:-1], high)
    length = round((high - low) / unit)
    ends = low + unit * np.round(np.linspace(0, length, min(PARTS, length) + 1)[1:])
    return np.append(ends[:-1], high)


def _standing_out(counts: Array, widths: Array, noise: float) -> tuple[np.ndarray, Array]:
    """Return where bins begin over which rows are not spread evenly, as far as noise lets that be seen, and counts.

    First the bins that stand out by themselves, lest a value that many rows share be put together with its neighbours.
    What is between them is halved where one half has more rows for its width than the other, and so on.
    """
    alone = np.zeros(len(counts), dtype=bool)
    while not alone.all():
        others = ~alone
        density = max(0.0, counts[others].sum()) / max(widths[others].sum(), NARROW)
        even = density * widths
        found = others & (counts > even + STANDS_OUT * np.sqrt(noise**2 + even))
        if not found.any():
            break
        alone |= found
    ends = np.flatnonzero(np.append(alone[1:] | alone[:-1], True)) + 1  # of bins alone, and of runs of others
    starts = [s for low, high in zip([0, *ends[:-1]], ends) for s in _halved(counts, widths, noise, low, high)[1]]
    return np.array(starts), np.add.reduceat(counts, starts)


def _halved(counts: Array, widths: Array, noise: float, low: int, high: int) -> tuple[float, list[int]]:
    """Return where the parts of a run of bins begin that are to be told apart, and what is gained by that.

    A split gains the square of how many deviations its halves are apart, and costs `_COST`: the splits with the largest
    gain altogether are made. So an uncertain one is made for the sake of a certain one inside.
    """
    if high - low < 2:
        return 0.0, [low]
    middle = (low + high) // 2
    first, second = counts[low:middle].sum(), counts[middle:high].sum()
    share = widths[low:middle].sum() / widths[low:high].sum()
    rows = max(0.0, first + second)
    variance = noise**2 * ((middle - low) * (1 - share) ** 2 + (high - middle) * share**2) + rows * share * (1 - share)
    gain = (first * (1 - share) - second * share) ** 2 / variance - _COST
    starts = []
    for part in ((low, middle), (middle, high)):
        more, inside = _halved(counts, widths, noise, *part)
        gain += more
        starts += inside
    return (gain, starts) if gain > 0 else (0.0, [low])
