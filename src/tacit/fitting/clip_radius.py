"""Where to clip vectors, from a small release of how long they are.

Noise grows with the clip radius r, and what clipping hides of the mean falls with it. Both are known: noise from the
plan, and from counts of lengths how much is hidden at most. The radius with the least sum of squares is best up to a
factor, for any rows (Huang, Liang and Yi, 2021). As noise falls the radius grows, until nothing is clipped.

Counts do not show everything: a few rows that are very long may be lost in their noise. Where the mean square of the
lengths is known and counts explain only a part of it, such rows are supposed to be there
(:meth:`SeenLengths.all_seen`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tacit.arrays import Array
from tacit.release import Curator, Measurement
from tacit.statistics import LengthCounts, OnColumns, VectorModel

# The arena of real tables, benchmarks/arena.py, measures what these numbers give.
_STANDS_OUT = 4.5  # Counts that exceed this many standard deviations of noise are believed.
_MOST_TOGETHER = 4  # Adjacent bins that are looked at together.
_ROUNDING = 1.0001  # A radius that is the end of a bin may be rounded.
_LEAST_SEEN = 0.5  # If fewer than this proportion of the rows are seen, counts are drowned in noise.
_UNSEEN = 2.0  # Rows that noise may hide, in standard deviations of the noise of a count.
_EXPLAINED = 0.9  # If counts explain this proportion of the mean square, no rows are hidden.
_LEAST_WITHIN = 0.7  # Least proportion of the vectors that the radius of the core leaves whole.


class ClipRadius(NamedTuple):
    """A clip radius, and a bound on the length of what clipping hides of the mean."""

    radius: float
    hidden: float


@dataclass(frozen=True, eq=False)
class SeenLengths:
    """What a release of :class:`LengthCounts` says of the lengths of vectors.

    Parameters
    ----------
    statistic : LengthCounts
    counts : Measurement
    rows : float
        How many rows were counted.
    default : float
        The clip radius where counts are drowned in noise.
    square : float, default 0
        The mean square of lengths, as far as it is known from elsewhere.
    """

    statistic: LengthCounts
    counts: Measurement
    rows: float
    default: float
    square: float = 0.0

    @property
    def ends(self) -> Array:
        """The longest length in each bin."""
        return self.statistic.ends

    @property
    def middles(self) -> Array:
        """A length in the middle of each bin."""
        middles: Array = self.ends / 2**0.25
        return middles

    @cached_property
    def seen(self) -> Array:
        """Counts that stand out of the noise."""
        return counts_that_stand_out(self.counts.value, self.counts.noise)

    @cached_property
    def drowned(self) -> bool:
        """Whether noise hides the lengths of most rows."""
        return bool(self.seen.sum() < _LEAST_SEEN * self.rows)

    @cached_property
    def all_seen(self) -> Array:
        """Counts that stand out, and as many rows as noise may hide, so long that they explain the mean square."""
        missing = self.square * self.rows - float(self.seen @ self.middles**2)
        if self.drowned or self.counts.noise <= 0 or missing <= (1 - _EXPLAINED) * self.square * self.rows:
            return self.seen
        hidden = _UNSEEN * self.counts.noise
        place = min(int(np.searchsorted(self.ends, math.sqrt(missing / hidden))), len(self.seen) - 1)
        counts = self.seen.copy()
        counts[place] += hidden
        return counts

    @property
    def longest(self) -> float | None:
        """The end of the last bin that is not empty; None if nothing is seen."""
        places = np.flatnonzero(self.all_seen)
        return float(self.ends[places[-1]]) if len(places) else None

    def choose_radius(self, noise: float, weight: float, power: int = 1) -> ClipRadius:
        """Return the radius with the least noise^2 r^(2 power) + weight^2 hidden^2.

        Parameters
        ----------
        noise : float
            Expected length of the noise of the mean, with a clip radius of 1.
        weight : float
            What is hidden counts for this much: 1 if all that is clipped points in one direction.
        power : int, default 1
            2 for second moments, whose noise grows with the square of the radius.

        Examples
        --------
        >>> from tacit.statistics import InputVectors
        >>> statistic = LengthCounts(InputVectors(np.eye(2)), unit=1.0)
        >>> counts = 990.0 * (statistic.ends == 1.0) + 10.0 * (statistic.ends == 8.0)
        >>> lengths = SeenLengths(statistic, Measurement(counts, 1.0), rows=1000.0, default=2.0)
        >>> [lengths.choose_radius(noise, weight=1.0).radius for noise in (0.1, 0.001)]
        [1.0, 8.0]
        """
        if self.drowned:
            return ClipRadius(self.default, 0.0)
        ends, hidden = self.ends, self._hidden(power)
        best = int(np.argmin((noise * ends**power) ** 2 + (weight * hidden) ** 2))
        return ClipRadius(float(ends[best]), float(hidden[best]))

    def core_radius(self, noise: float, rows: float) -> float:
        """Return the clip radius with the least variance of what solves for a zero mean, noise and chance together.

        A mean of clipped vectors of `rows` rows has the variance noise^2 r^2 + E min(length, r)^2 / rows, and it moves
        with the parameters by about the proportion of the vectors that are shorter than r. What clipping hides is
        measured by itself.
        """
        if self.drowned:
            return self.default
        within = np.cumsum(self.seen) / self.seen.sum()
        variance = ((noise * self.ends) ** 2 + self._clipped_squares / rows) / np.maximum(within, 1e-3) ** 2
        variance[within < _LEAST_WITHIN] = np.inf
        return float(self.ends[int(np.argmin(variance))])

    def hidden(self, radius: float) -> float:
        """Return the most that clipping at this radius hides of the mean, in length."""
        return float(np.interp(radius, self.ends, self._hidden(1)))

    def _hidden(self, power: int) -> Array:
        """Return how much clipping at each of the ends hides of a mean of powers, at most."""
        beyond = _sum_after(self.all_seen * self.middles**power)
        hidden: Array = np.maximum(beyond - _sum_after(self.all_seen) * self.ends**power, 0.0) / self.rows
        return hidden

    def within(self, radius: float) -> float:
        """Return the proportion of vectors that are no longer than the radius."""
        if not self.seen.any():
            return 1.0
        return max(float(self.seen[self.ends <= radius * _ROUNDING].sum() / self.seen.sum()), 0.05)

    def sampling_error(self, radius: float, rows: float) -> float:
        """Return the length of the sampling error of a mean of vectors clipped at this radius, of this many rows."""
        inside = self.ends <= radius * _ROUNDING
        if not self.seen.any() or not inside.any():
            return 0.0
        return math.sqrt(float(self._clipped_squares[inside][-1]) / rows)

    @cached_property
    def _clipped_squares(self) -> Array:
        """The mean square of vectors clipped at each of the ends."""
        inside = np.cumsum(self.seen)
        squares: Array = np.cumsum(self.seen * self.middles**2) + (inside[-1] - inside) * self.ends**2
        return squares / inside[-1]


def measure_lengths(
    curator: Curator,
    step: str,
    vectors: VectorModel,
    unit: float,
    rows: float,
    default: float,
    square: float = 0.0,
    places: tuple[int, ...] | None = None,
) -> SeenLengths:
    """Release how long vectors are, in bins about `unit`; of the columns at `places` alone, if these are said."""
    statistic = LengthCounts(vectors, unit)
    counts = curator.measure(step, statistic if places is None else OnColumns(statistic, places))
    return SeenLengths(statistic, counts, rows, default, square)


def counts_that_stand_out(counts: Array, noise: float) -> Array:
    """Return counts without those that may be noise. Bins are looked at from the last one down, up to four together.

    Examples
    --------
    >>> counts_that_stand_out(np.array([500.0, 300.0, 200.0, -1.0, 3.0, 2.0, 7.0]), noise=2.0)
    array([500., 300., 200.,   0.,   3.,   2.,   0.])
    """
    kept = np.zeros_like(counts)
    group: list[int] = []
    for place in range(len(counts) - 1, -1, -1):
        group = [*group, place][-_MOST_TOGETHER:]
        if counts[group].sum() > _STANDS_OUT * noise * math.sqrt(len(group)):
            kept[group] = np.maximum(counts[group], 0.0)
            group = []
    return kept


def _sum_after(values: Array) -> Array:
    """Return for each number the sum of those that come after it."""
    return np.append(np.cumsum(values[::-1])[::-1][1:], 0.0)
