"""Centre and scale of each column by itself, whatever its shape.

First means, variances and bins (:mod:`tacit.moments.column_units`). Columns that are a spike at the finest bins have
the scale that rare other values may have. The others are measured again in their own units::

    repeat 2 times:
        release how long scores of columns are, and the mean score, clipped: move centres and scales
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import split_budget
from tacit.fitting.clip_radius import measure_lengths
from tacit.fitting.shrinkage import kalman_gain, posterior_variance
from tacit.moments.column_units import BINS, measure_units
from tacit.moments.estimates import PublicFacts
from tacit.privacy import Step
from tacit.release import Curator
from tacit.statistics import ColumnScores, ComponentMoments, LengthCounts, OnColumns

# benchmarks/arena.py measures what these numbers give, on real tables with bounds that people would state.
_PARTS = {"moments": 0.3, "bins": 0.28, "lengths": 0.05, "scores": 0.37}  # Of the budget, as squared signal-to-noise.
_RELEASES = {"moments": 1, "bins": 3, "lengths": 2, "scores": 2}
_IN_TWO_BINS = 0.4  # If two bins surely have more than this proportion of the rows, look into these.
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
    narrowest : (d,) array
        The least that scales may be, for all that was released: less than the scale for spikes alone.
    """

    centre: Array
    scale: Array
    rows: float
    spikes: Array
    narrowest: Array


def column_steps(name: str, columns: int, part: float) -> list[Step]:
    """Return the plan's steps, with this part of the budget; their names begin with `name`."""
    sizes = {"moments": 1 + 2 * columns, "bins": BINS * columns, "lengths": LengthCounts.BINS, "scores": 2 * columns}
    parts = {f"{name} {step}": part * each for step, each in _PARTS.items()}
    named = [{f"{name} {step}": value for step, value in each.items()} for each in (_RELEASES, sizes)]
    return split_budget(parts, *named)


def measure_scales(curator: Curator, name: str, places: tuple[int, ...], facts: PublicFacts) -> ColumnScales:
    """Release what is needed to know centre and scale of the columns at these places.

    Parameters
    ----------
    curator : Curator
        Its plan has the steps of :func:`column_steps`, and its rows are in standard coordinates.
    name : str
        What the names of the steps begin with.
    places : tuple of int
    facts : PublicFacts
        Its number of rows is that of a release.
    """
    steps = f"{name} moments", f"{name} bins"
    units = measure_units(curator, *steps, _RELEASES["bins"], facts, places=places, most=_IN_TWO_BINS)
    scale = np.where(units.spikes, units.hidden, units.scale)
    scales = ColumnScales(units.centre, scale, units.rows, units.spikes, units.scale)
    return _move_by_scores(curator, name, places, scales, facts.farthest)


def _move_by_scores(
    curator: Curator, name: str, places: tuple[int, ...], scales: ColumnScales, farthest: float
) -> ColumnScales:
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
        centre[live] = np.clip(centre[live] + scale[live] * shift, -farthest, farthest)
        scale[live] = np.clip(scale[live] * np.sqrt(change), _LEAST_CHANGE * first, _MOST_CHANGE * first)
        prior = posterior_variance(prior, variance) + _STEP_ERROR
    return replace(scales, centre=centre, scale=scale, narrowest=np.where(scales.spikes, scales.narrowest, scale))
