"""Centre and spread of each column by itself, with bounds that may be a thousand times wider.

A column may be evenly spread over the bounds, narrow, or one value in nearly all rows. Cheap questions come first, and
columns that are done take no part in the next ones, which makes these more exact::

    release mean and variance of all columns, within the bounds
    repeat 3 times, for columns whose variance does not stand out of the noise:
        release counts of 64 bins
        where two bins have most of the rows, look into these next; else the column's spread is seen

Where bins do not show most of the rows, what mean and variance said stands. What has most of its rows in two of
the finest bins, and others there or elsewhere, is a *spike*. It varies by the few rows with other values alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.shrinkage import positive_mean
from tacit.moments.estimates import PublicFacts
from tacit.release import Curator
from tacit.statistics import Bins, CellCounts, ColumnMoments, OnColumns

# Tuned numbers, on the even tables of the arena: benchmarks/arena.py --kinds linear moments factors.
BINS = 64  # How many parts a column's range is divided into, each time.
_COUNT_WEIGHT = 0.5  # Weight of the count in a release of columns, where the number of rows is secret.
_SEEN = 4.0  # A variance is seen if it exceeds this many standard deviations of noise.
_STANDS_OUT = 2.5  # Counts that exceed this many standard deviations of noise are believed.
_MOST_NOISE = 0.1  # With more noise than this proportion of the rows, bins are not looked at.
_LEAST_BELIEVED = 0.6  # Least proportion of the rows in believed bins from which a spread is computed.
_NEARLY_ALL = 0.9  # The finest bins show a whole column if these rows are in them, and fewer in any two.
_HIDDEN = 1.5  # Standard deviations of noise that a variance may have beyond what is measured.
_LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class ColumnUnits:
    """Where columns lie, in standard coordinates.

    Parameters
    ----------
    centre, scale : (d,) arrays
        Of most rows. The scale of a spike is the width of the bins that it was found in.
    spikes : (d,) array of bool
        Columns that have one value in nearly all rows.
    hidden : (d,) array
        The standard deviation that columns may have by rare other values, for all that was released.
    rows : float
        The number of rows, as far as it is known.
    """

    centre: Array
    scale: Array
    spikes: Array
    hidden: Array
    rows: float


def measure_units(
    curator: Curator,
    columns_step: str,
    bins_step: str,
    looks: int,
    facts: PublicFacts,
    released: Callable[[], None] = lambda: None,
    places: tuple[int, ...] | None = None,
    most: float = 0.6,
) -> ColumnUnits:
    """Return centre and spread of each column, from one release of columns and `looks` releases of bins.

    The function calls `released` after each of them. It is about the columns at these places, by default all. If two
    bins surely have more than the proportion `most` of the rows, it looks into these.
    """
    places = tuple(range(facts.columns)) if places is None else places
    units, seen = _measure_columns(curator, columns_step, facts, places)
    released()
    narrow, farthest = np.flatnonzero(~seen), facts.farthest
    return _look_into_bins(curator, bins_step, looks, units, narrow, farthest, released, places, most)


def _measure_columns(
    curator: Curator, step: str, facts: PublicFacts, places: tuple[int, ...]
) -> tuple[ColumnUnits, Array]:
    """Return means and spreads within the bounds, and which variances stand out of the noise."""
    columns, farthest = len(places), facts.farthest
    width = np.full(columns, farthest)
    statistic = ColumnMoments(np.zeros(columns), width, 0.0 if facts.rows is not None else _COUNT_WEIGHT)
    measured = curator.measure(step, OnColumns(statistic, places))
    counts, sums, squares = statistic.parts(measured.value)
    rows = facts.rows or max(float(counts[0]), measured.noise / statistic.count, 1.0)
    centre = np.clip(sums / rows, -farthest, farthest)
    noise = measured.noise * math.sqrt(columns) * farthest / rows
    noise = noise * np.hypot(farthest / statistic.second, 2 * centre / statistic.mean)  # Of squares, and of the mean's.
    variances = squares / rows - centre**2
    scale = np.sqrt(np.clip(noise * positive_mean(variances / noise, 1.0), _LEAST_VARIANCE, farthest**2))
    hidden = np.sqrt(np.clip(np.maximum(variances, 0.0) + _HIDDEN * noise, _LEAST_VARIANCE, farthest**2))
    return ColumnUnits(centre, scale, np.zeros(columns, bool), hidden, rows), variances > _SEEN * noise


def _look_into_bins(
    curator: Curator,
    step: str,
    looks: int,
    units: ColumnUnits,
    columns: Array,
    farthest: float,
    released: Callable[[], None],
    places: tuple[int, ...],
    most: float,
) -> ColumnUnits:
    """Look for narrow columns in finer and finer bins."""
    centre, scale, rows = units.centre.copy(), units.scale.copy(), units.rows
    low, high = np.full((2, len(centre)), [[-farthest], [farthest]])
    looked = False
    for left in reversed(range(looks)):
        asked = columns if len(columns) else np.zeros(1, np.intp)  # A fit makes every release that is planned.
        edges = [np.linspace(low[j], high[j], BINS + 1) for j in asked]
        statistic = CellCounts(tuple(Bins((places[j],), np.arange(BINS), each) for j, each in zip(asked, edges)))
        measured = curator.measure(step, statistic)
        released()
        if len(columns) == 0 or measured.noise > _MOST_NOISE * rows:
            continue
        looked = True
        narrower = []
        for j, each, counts in zip(columns, edges, statistic.parts(measured.value)):
            middles, pairs = (each[:-1] + each[1:]) / 2, counts[:-1] + counts[1:]
            best = int(np.argmax(pairs))
            believed = np.where(counts > _STANDS_OUT * measured.noise, counts, 0.0)
            # The first and the last bin have what lies beyond them as well.
            all_seen = pairs[best] < _NEARLY_ALL * rows < believed[1:-1].sum()
            surely = pairs[best] - _STANDS_OUT * math.sqrt(2.0) * measured.noise
            if surely > most * rows and (left or not all_seen):
                two = np.maximum(counts[best : best + 2], 0.0)
                centre[j] = float(two @ middles[best : best + 2] / two.sum())
                low[j], high[j] = each[max(best - 1, 0)], each[min(best + 3, BINS)]
                scale[j] = (high[j] - low[j]) / 4
                narrower.append(j)
                continue
            if believed.sum() > _LEAST_BELIEVED * rows:
                centre[j], scale[j] = _spread_of(believed, each)
            elif each[-1] - each[0] < farthest:  # Nothing but where the column was found before is known.
                centre[j], scale[j] = (each[0] + each[-1]) / 2, 0.2 * (each[-1] - each[0])
        columns = np.array(narrower, dtype=np.intp)
    spikes = np.zeros(len(centre), bool)
    spikes[columns if looked else []] = True
    return replace(units, centre=centre, scale=np.maximum(scale, math.sqrt(_LEAST_VARIANCE)), spikes=spikes)


def _spread_of(believed: Array, edges: Array) -> tuple[float, float]:
    """Return centre and standard deviation of the rows in bins.

    Examples
    --------
    >>> _spread_of(np.array([0.0, 50.0, 50.0, 0.0]), np.linspace(-1, 1, 5))
    (0.0, 0.25)
    """
    middles, width = (edges[:-1] + edges[1:]) / 2, float(edges[1] - edges[0])
    centre = float(believed @ middles / believed.sum())
    variance = float(believed @ (middles - centre) ** 2 / believed.sum())
    return centre, math.sqrt(max(variance, width**2 / 4))
