"""Where inputs lie and how they scatter, released in a few rounds.

Moments are released in stages, as in :mod:`tacit.moments.two_stage_moments`: columns by themselves first, a few times,
each in the units that the last one found; then all second moments, once. Levels of categories are counted instead: a
count has far less noise than a mean and a variance of a column of zeros and ones, as a row has one level and not all of
them; and how levels of one column scatter together follows from their frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import deal, split_budget
from tacit.fitting.moment_weights import block_weights
from tacit.fitting.shrinkage import (
    james_stein_factor,
    kalman_gain,
    noise_eigenvalue,
    shrink_eigenvalues,
    simplex_threshold,
)
from tacit.linear.coordinates import Scatter
from tacit.mixture.table_mixture import table_layout
from tacit.moments.estimates import PublicFacts
from tacit.moments.two_stage_moments import (
    COLUMNS,
    SECOND_MOMENTS,
    TAILS,
    ColumnEstimates,
    column_moments,
    in_own_units,
    move_columns,
    public_estimates,
    widen_columns,
)
from tacit.privacy import Relation, Step
from tacit.release import Curator
from tacit.statistics import (
    Bins,
    CellCounts,
    ComponentMoments,
    DiagonalComponent,
    OnColumns,
    TableLayout,
    numbers_in_second_moment,
)
from tacit.tables import Domain

LEVELS = "levels"
_COLUMN_ROUNDS = 3

# Parts of the budget for moments, as squared signal-to-noise ratios.
# benchmarks/logistic_regression.py measures what they give.
_PARTS = {COLUMNS: 0.3, TAILS: 0.1, SECOND_MOMENTS: 0.6}
_PARTS_WITH_LEVELS = {LEVELS: 0.2, COLUMNS: 0.3, TAILS: 0.05, SECOND_MOMENTS: 0.45}

_LEAST_FREQUENCY = 1e-4  # A level is taken to have at least this proportion of the rows.
_MOSTLY_NOISE = 0.3  # If less than this part of the second moments is signal, only what stands out is kept.
_NOISE_LEFT = 0.1  # Part of the noise that remains after that.
_VARIANCE_ERROR = 0.3  # Relative error of the variances of columns by themselves, clipped as they are.
_CERTAIN = 64.0  # No noise exceeds this many standard deviations.
_SQUARED_RADIUS = 1.2  # Squared clip radius of rows, in units of the summed variances.


@dataclass(frozen=True, eq=False)
class InputSchedule:
    """What is released about inputs and target, from public numbers alone.

    Parameters
    ----------
    layout : TableLayout
        Where numbers and levels are found in rows; the target, last, is a number.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    power : float
        The part of the budget that is spent, in squared signal-to-noise.
    shares : int, default 1
        How many shares the rows are dealt out into; each release is of another one.
    """

    layout: TableLayout
    neighbors: Relation
    rows: int | None
    power: float
    shares: int = 1

    @property
    def columns(self) -> int:
        """How many columns there are, the target included."""
        return len(self.layout.numbers) + sum(map(len, self.layout.levels))

    @property
    def rows_released(self) -> int | None:
        """How many rows a release is of, where their number is public."""
        return None if self.rows is None else self.rows // self.shares

    @cached_property
    def level_counts(self) -> CellCounts:
        """The statistic that counts levels."""
        return CellCounts(tuple(Bins(places, np.arange(max(2, len(places)))) for places in self.layout.levels))

    @property
    def _parts(self) -> dict[str, float]:
        return _PARTS_WITH_LEVELS if self.layout.levels else _PARTS

    @property
    def _releases(self) -> dict[str, int]:
        return dict.fromkeys(self._parts, 1) | {COLUMNS: _COLUMN_ROUNDS}

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return sum(self._releases.values())

    def steps(self) -> list[Step]:
        """Return a step for each kind of release."""
        numbers = len(self.layout.numbers)
        sizes = {
            LEVELS: self.level_counts.size if self.layout.levels else 0,
            COLUMNS: 1 + 2 * numbers,
            TAILS: 1 + 2 * numbers,
            SECOND_MOMENTS: 1 + self.columns + numbers_in_second_moment("full", self.columns),
        }
        parts = {name: self.power * part for name, part in self._parts.items()}
        return [deal(step, self.shares) for step in split_budget(parts, self._releases, sizes)]


@dataclass(frozen=True, eq=False)
class _Levels:
    """How often the levels of each column occur, and the noise of a frequency."""

    frequencies: tuple[Array, ...] = ()
    noise: float = 0.0


@dataclass(frozen=True, eq=False)
class _Columns:
    """Means, units and standard deviations of all columns by themselves: kept above a floor, and as measured."""

    mean: Array
    units: Array
    scales: Array
    deviations: Array


def measure_inputs(curator: Curator, schedule: InputSchedule, target_unit: float, least_variances: Array) -> Scatter:
    """Release the moments of inputs and target.

    Parameters
    ----------
    curator : Curator
        Its plan must have the schedule's steps.
    schedule : InputSchedule
    target_unit : float
        The public unit of the target; NaN if it is measured in units of its own scatter, as other numbers are.
    least_variances : (d + 1,) array
        Public knowledge of how narrow a column can be.
    """
    levels = _measure_levels(curator, schedule) if schedule.layout.levels else _Levels()
    numbers = _measure_numbers(curator, schedule, least_variances)
    columns = _columns(schedule.layout, numbers, levels, target_unit)
    return _measure_second_moments(curator, schedule, columns, levels)


def public_scatter(columns: int, rows: int | None) -> Scatter:
    """Return columns spread evenly within their bounds: nothing is measured. `columns` are those of inputs."""
    wide = columns + 1
    spread = np.full(wide, math.sqrt(1 / 3))
    return Scatter(np.zeros(wide), np.ones(wide), spread, np.diag(spread**2), 0.0, float(rows or 0))


def _measure_levels(curator: Curator, schedule: InputSchedule) -> _Levels:
    """Count levels."""
    measurement = curator.measure(LEVELS, schedule.level_counts)
    counts = schedule.level_counts.parts(measurement.value)
    found = max(float(np.mean([count.sum() for count in counts])), measurement.noise, 1.0)
    rows = float(schedule.rows_released or found)
    return _Levels(tuple(_on_simplex(count / rows) for count in counts), measurement.noise / rows)


def _measure_numbers(curator: Curator, schedule: InputSchedule, least_variances: Array) -> ColumnEstimates:
    """Measure mean and variance of each column of numbers by itself, in units that each round improves."""
    places = schedule.layout.numbers
    facts = PublicFacts(len(places), schedule.rows_released, least_variances[list(places)])
    estimates = public_estimates(facts)
    for done in range(_COLUMN_ROUNDS):
        statistic = column_moments(estimates, facts)
        if done > 0:
            noise = curator.noise(COLUMNS, OnColumns(statistic, places))
            statistic = in_own_units(statistic, estimates, facts, noise)
        measurement = curator.measure(COLUMNS, OnColumns(statistic, places))
        estimates = move_columns(estimates, facts, statistic, measurement, first=done == 0)
    statistic = column_moments(estimates, facts)
    return widen_columns(estimates, facts, statistic, curator.measure(TAILS, OnColumns(statistic, places)))


def _columns(layout: TableLayout, found: ColumnEstimates, levels: _Levels, target_unit: float) -> _Columns:
    """Return what is known of columns by themselves."""
    numbers = list(layout.numbers)
    mean, units, scales = np.empty((3, len(numbers) + sum(map(len, layout.levels))))
    mean[numbers], scales[numbers] = found.mean, found.scales
    units[numbers] = scales[numbers]
    if not math.isnan(target_unit):
        units[-1] = target_unit
    for places, frequencies in zip(layout.levels, levels.frequencies):
        if len(places) == 1:  # Its two levels are encoded as -1 and 1.
            mean[places[0]], units[places[0]] = frequencies[1] - frequencies[0], 2.0
            scales[places[0]] = 2 * math.sqrt(frequencies[0] * frequencies[1])
        else:
            where = list(places)
            mean[where], units[where] = frequencies, 1.0
            scales[where] = np.sqrt(frequencies * (1 - frequencies))
    deviations = scales.copy()
    deviations[numbers] = found.scales if found.spread is None else found.spread.deviations
    return _Columns(mean, units, scales, deviations)


def _measure_second_moments(curator: Curator, schedule: InputSchedule, columns: _Columns, levels: _Levels) -> Scatter:
    """Measure all second moments, once, in the units of columns."""
    mean, units, scales = columns.mean, columns.units, columns.scales
    radius = math.sqrt(_SQUARED_RADIUS * float(np.sum((scales / units) ** 2)))
    count, weight = block_weights(schedule.columns, "full", schedule.neighbors)
    statistic = ComponentMoments(DiagonalComponent(mean, units), radius, count, weight, 1.0)
    measurement = curator.measure(SECOND_MOMENTS, statistic)
    noise = measurement.noise
    counts, sums, squares = statistic.parts(measurement.value)
    rows = float(schedule.rows_released or max(float(counts[0]), noise / statistic.count, 1.0))
    most_rows = float(schedule.rows or max(float(counts[0]), 0.0) + _CERTAIN * noise / statistic.count)
    shift = np.clip(sums[0] / rows, -statistic.radius, statistic.radius)
    noisy = noise * statistic.radius / statistic.mean / rows
    shift *= james_stein_factor(shift.size * noisy**2, float(shift @ shift))
    second = squares[0] / rows - np.outer(shift, shift)
    within = _covariances_of_levels(schedule, levels)
    second, left = _denoise(second, scales / units, within, noise * statistic.radius**2 / rows)
    least = tuple(np.maximum(each - levels.noise, _LEAST_FREQUENCY) for each in levels.frequencies)
    return Scatter(
        mean + units * shift,
        units,
        scales,
        second,
        left,
        float(schedule.rows or rows),
        most_rows,
        least,
        columns.deviations,
        0.0 if schedule.rows else noise / statistic.count,
    )


def _covariances_of_levels(schedule: InputSchedule, levels: _Levels) -> Array:
    """Return the covariances (d + 1, d + 1) of levels of one column, which follow from frequencies; NaN elsewhere."""
    within = np.full((schedule.columns, schedule.columns), np.nan)
    for places, each in zip(schedule.layout.levels, levels.frequencies):
        covariance = each[0] * each[1] if len(places) == 1 else np.diag(each) - np.outer(each, each)
        within[np.ix_(places, places)] = covariance
    return within


def input_layout(domain: Domain) -> TableLayout:
    """Return where numbers and levels of inputs are found; the target, last, counts as a number whatever it is."""
    layout = table_layout(domain)
    last = domain.columns - 1
    return TableLayout(
        (*(place for place in layout.numbers if place < last), last),
        tuple(places for places in layout.levels if places[-1] < last),
    )


def _on_simplex(frequencies: Array) -> Array:
    """Return the nearest frequencies that add up to 1, all of them positive."""
    nearest = np.maximum(frequencies - simplex_threshold(frequencies, 1.0), _LEAST_FREQUENCY)
    return nearest / nearest.sum()


def _denoise(second: Array, scales: Array, within: Array, noise: float) -> tuple[Array, float]:
    """Return second moments with the part off the diagonal that is not noise, and the noise left.

    Where most of it is noise, only the directions that stand out of the noise are kept. An uncertain diagonal is taken
    from the scales that columns have by themselves; what is known (not NaN) `within` columns with levels, from there.
    The noise that is left is measured by its largest eigenvalue.
    """
    columns = len(second)
    off = np.where(np.isnan(within), second - np.diag(np.diag(second)), 0.0)
    unit = noise_eigenvalue(noise, columns)
    unknown = np.count_nonzero(np.isnan(within)) - np.count_nonzero(np.isnan(np.diag(within)))
    kept = float(james_stein_factor(unknown * noise**2 / 2, float(np.sum(off * off))))
    if kept < _MOSTLY_NOISE:
        values, axes = np.linalg.eigh(off)
        off = (axes * shrink_eigenvalues(values, unit)) @ axes.T
        left = 2 * _NOISE_LEFT * unit
    else:
        off, left = kept * off, 2 * kept * unit
    weight = kalman_gain(noise**2, (_VARIANCE_ERROR * float(np.mean(scales**2))) ** 2)
    diagonal = weight * scales**2 + (1 - weight) * np.maximum(np.diag(second), 0.0)
    return np.where(np.isnan(within), np.diag(diagonal) + off, within), left
