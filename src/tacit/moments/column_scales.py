"""Centre and scale of each column by itself, whatever its shape.

Bounds may be a thousand times wider than a column, a column may be nearly always zero, and another evenly spread. So
cheap questions come first, and columns that are done take no part in the next ones, which makes these more exact::

    release mean and variance of all columns, within the bounds
    repeat 3 times, for columns whose variance does not stand out of the noise:
        release counts of 64 bins
        if most rows are in two bins, look into these; else the column's scale is seen
    columns that are a spike at the finest bins have the scale that their rare other values may have
    repeat 2 times, for the other columns:
        release how long scores of columns are, and the mean score, clipped: move centres and scales
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import split_budget
from tacit.fitting.clip_radius import measure_lengths
from tacit.fitting.shrinkage import kalman_gain, positive_mean, posterior_variance
from tacit.privacy import Step
from tacit.release import Curator
from tacit.statistics import Bins, CellCounts, ColumnMoments, ColumnScores, ComponentMoments, LengthCounts, OnColumns

# benchmarks/arena.py measures what these numbers give, on real tables with bounds that people would state.
_PARTS = {"moments": 0.3, "bins": 0.28, "lengths": 0.05, "scores": 0.37}  # Of the budget, as squared signal-to-noise.
_RELEASES = {"moments": 1, "bins": 3, "lengths": 2, "scores": 2}
_COUNT_WEIGHT = 0.5  # Weight of the number of rows beside means and variances, where it is secret.
_BINS = 64
_SEEN = 4.0  # A variance is seen if it exceeds this many standard deviations of noise.
_IN_TWO_BINS = 0.4  # If more than this proportion of the rows are in two bins, the column is narrower than bins tell.
_BIN_STANDS_OUT = 2.5  # Counts that exceed this many standard deviations of noise are believed.
_MOST_BIN_NOISE = 0.1  # Bins are not believed with more noise than this proportion of the rows.
_LEAST_IN_BINS = 0.6  # Least proportion of the rows in believed bins from which a scale is computed.
_UNSEEN = 1.5  # Standard deviations of noise that an unseen variance may have.
_HIDDEN_WEIGHT = 0.3  # What clipping of scores hides counts for this much.
_PRIOR_VARIANCE, _STEP_ERROR = 1.0, 0.1  # Of centres and scales, in squared scales, before and after a round of scores.
_LEAST_CHANGE, _MOST_CHANGE = 0.75, 2.5  # Limits of the change of a scale by scores.


@dataclass(frozen=True, eq=False)
class ColumnScales:
    """Where columns lie, in standard coordinates.

    Parameters
    ----------
    centre, scale : (d,) arrays
    rows : float
        How many rows there are, as far as is known.
    spikes : (d,) array of bool
        Columns that have one value in nearly all rows. The scale is what rare other values may amount to.
    """

    centre: Array
    scale: Array
    rows: float
    spikes: Array


def column_steps(name: str, columns: int, part: float) -> list[Step]:
    """Return the plan's steps, with this part of the budget; their names begin with `name`."""
    sizes = {"moments": 1 + 2 * columns, "bins": _BINS * columns, "lengths": LengthCounts.BINS, "scores": 2 * columns}
    parts = {f"{name} {step}": part * each for step, each in _PARTS.items()}
    named = [{f"{name} {step}": value for step, value in each.items()} for each in (_RELEASES, sizes)]
    return split_budget(parts, *named)


def measure_scales(curator: Curator, name: str, places: tuple[int, ...], rows: float | None) -> ColumnScales:
    """Release what is needed to know centre and scale of the columns at these places.

    Parameters
    ----------
    curator : Curator
        Its plan has the steps of :func:`column_steps`, and its rows are in standard coordinates.
    name : str
        What the names of the steps begin with.
    places : tuple of int
    rows : float or None
        How many rows a release is of, where that is public.
    """
    scales, seen, unseen_variance = _measure_moments(curator, f"{name} moments", places, rows)
    scales, spikes = _look_into_bins(curator, f"{name} bins", places, scales, np.flatnonzero(~seen))
    scale = np.where(spikes, np.sqrt(unseen_variance), scales.scale)
    scales = replace(scales, scale=scale, spikes=spikes)
    return _move_by_scores(curator, name, places, scales)


def _measure_moments(
    curator: Curator, step: str, places: tuple[int, ...], rows: float | None
) -> tuple[ColumnScales, Array, Array]:
    """Return means and scales within the bounds, which variances are seen, and the most that others may be."""
    number = len(places)
    statistic = ColumnMoments(np.zeros(number), np.ones(number), 0.0 if rows is not None else _COUNT_WEIGHT)
    measured = curator.measure(step, OnColumns(statistic, places))
    counts, sums, squares = statistic.parts(measured.value)
    if rows is None:
        rows = max(float(counts[0]), measured.noise / statistic.count, 1.0)
    noise = measured.noise * math.sqrt(number) / statistic.second / rows
    mean_noise = noise * statistic.second / statistic.mean
    mean = np.clip(sums / rows / (1 + 3 * mean_noise**2), -1.0, 1.0)
    variances = squares / rows - mean**2
    unseen = np.clip(np.maximum(variances, 0.0) + _UNSEEN * noise, 1e-12, 1.0)
    scale = np.sqrt(np.clip(positive_mean(variances, noise), 1e-12, 1.0))
    return ColumnScales(mean, scale, rows, np.zeros(number, bool)), variances > _SEEN * noise, unseen


def _look_into_bins(
    curator: Curator, step: str, places: tuple[int, ...], scales: ColumnScales, columns: Array
) -> tuple[ColumnScales, Array]:
    """Look for the scale of narrow columns in finer and finer bins; return which of them are spikes to the last."""
    centre, scale, rows = scales.centre.copy(), scales.scale.copy(), scales.rows
    low, high = -np.ones(len(places)), np.ones(len(places))
    for _ in range(_RELEASES["bins"]):
        if len(columns) == 0:
            break
        edges = [np.linspace(low[j], high[j], _BINS + 1) for j in columns]
        bins = CellCounts(tuple(Bins((places[j],), np.arange(_BINS), each) for j, each in zip(columns, edges)))
        if curator.noise(step, bins) > _MOST_BIN_NOISE * rows:
            break
        measured = curator.measure(step, bins)
        narrower = []
        for j, each, counts in zip(columns, edges, bins.parts(measured.value)):
            middles = (each[:-1] + each[1:]) / 2
            pairs = counts[:-1] + counts[1:]
            best = int(np.argmax(pairs))
            if pairs[best] - _BIN_STANDS_OUT * math.sqrt(2.0) * measured.noise > _IN_TWO_BINS * rows:
                two = np.maximum(counts[best : best + 2], 0.0)
                centre[j] = float(two @ middles[best : best + 2] / two.sum())
                low[j], high[j] = each[max(best - 1, 0)], each[min(best + 3, _BINS)]
                scale[j] = (high[j] - low[j]) / 4
                narrower.append(j)
            else:
                believed = np.where(counts > _BIN_STANDS_OUT * measured.noise, counts, 0.0)
                half = (high[j] - low[j]) / 2
                if believed.sum() > _LEAST_IN_BINS * rows:
                    centre[j] = float(believed @ middles / believed.sum())
                    variance = float(believed @ (middles - centre[j]) ** 2 / believed.sum())
                    scale[j] = math.sqrt(max(variance, (half / _BINS) ** 2))
                elif half < 1:
                    centre[j], scale[j] = (low[j] + high[j]) / 2, 0.4 * half
        columns = np.array(narrower, dtype=int)
        if len(columns) and (high - low)[columns].min() < 1e-12:  # Finer bins would have no width.
            break
    spikes = np.zeros(len(places), bool)
    spikes[columns] = True
    return replace(scales, centre=centre, scale=scale), spikes


def _move_by_scores(curator: Curator, name: str, places: tuple[int, ...], scales: ColumnScales) -> ColumnScales:
    """Move centres and scales to where the mean of clipped scores is zero, as far as noise allows."""
    live = np.flatnonzero(~scales.spikes)
    if len(live) == 0:
        return scales
    where = tuple(places[j] for j in live)
    centre, scale = scales.centre.copy(), scales.scale.copy()
    first, prior = scale[live].copy(), _PRIOR_VARIANCE
    for _ in range(_RELEASES["scores"]):
        vectors = ColumnScores(centre[live], scale[live])
        length, size = math.sqrt(vectors.columns), vectors.columns
        lengths = measure_lengths(
            curator, f"{name} lengths", vectors, length, scales.rows, default=length, places=where
        )
        one = OnColumns(ComponentMoments(vectors, 1.0, 0.0, 1.0, 0.0), where)
        noise = curator.noise(f"{name} scores", one) / scales.rows
        radius, hidden = lengths.choose_radius(noise * length, _HIDDEN_WEIGHT)
        statistic = ComponentMoments(vectors, radius, 0.0, 1.0, 0.0)
        measured = curator.measure(f"{name} scores", OnColumns(statistic, where))
        shift, excess = np.split(statistic.parts(measured.value)[1][0] / scales.rows, 2)
        variance = (noise * radius) ** 2 + (_HIDDEN_WEIGHT * hidden) ** 2 / size
        shift = np.clip(kalman_gain(prior, variance) * shift, -2.0, 2.0)
        excess = math.sqrt(2.0) * excess - shift**2
        change = np.clip(1 + kalman_gain(prior, 2 * variance) * excess, 0.1, 6.0)
        centre[live] = np.clip(centre[live] + scale[live] * shift, -1.0, 1.0)
        scale[live] = np.clip(scale[live] * np.sqrt(change), _LEAST_CHANGE * first, _MOST_CHANGE * first)
        prior = posterior_variance(prior, variance) + _STEP_ERROR
    return replace(scales, centre=centre, scale=scale)
