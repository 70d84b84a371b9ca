"""Where inputs lie and how they scatter, released in a few rounds.

Moments are released in stages, as in :mod:`tacit.moments.two_stage_moments`: columns by themselves first, a few times,
each in the units that the last one found; then all second moments, once. Levels of categories are counted instead: a
count has far less noise than a mean and a variance of a column of zeros and ones, as a row has one level and not all of
them; and how levels of one column scatter together follows from their shares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.fitting.engine import Noise
from tacit.fitting.moment_weights import block_weights
from tacit.linear.coordinates import Scatter
from tacit.linear.row_shares import dealt
from tacit.mixture.table_mixture import table_layout
from tacit.moments.two_stage_moments import COLUMNS, SECOND_MOMENTS, TAILS, Staged, StagedMoments
from tacit.privacy import Gaussian, Relation, Step
from tacit.release import Statistic
from tacit.statistics import (
    Bins,
    CellCounts,
    ComponentMoments,
    DiagonalComponent,
    OnColumns,
    TableLayout,
    numbers_in_second_moment,
)
from tacit.statistics.components import Array
from tacit.tables import Domain

LEVELS = "levels"
_COLUMN_ROUNDS = 3
_SHARES = {COLUMNS: 0.3, TAILS: 0.1, SECOND_MOMENTS: 0.6}  # of what moments have of the budget
_SHARES_WITH_LEVELS = {LEVELS: 0.2, COLUMNS: 0.3, TAILS: 0.05, SECOND_MOMENTS: 0.45}
_LEAST_SHARE = 1e-4  # of rows, that a level is reckoned to have
_MOSTLY_NOISE = 0.3  # share of second moments off the diagonal: if less is signal, only what stands out is kept
_LEFT = 0.1  # of the noise, after that
_COLUMNS_KNOWN = 0.3  # how far off variances of columns by themselves may be, clipped as they are
_CERTAIN = 64.0  # standard deviations that no noise exceeds
_RADIUS2 = 1.2  # squared length at which rows are clipped, in units of the summed variances


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of columns by themselves: numbers as they were staged, and how often each level occurs."""

    numbers: Staged
    shares: tuple[Array, ...]
    unsure: float = 0.0  # the noise of a share


@dataclass
class InputMoments:
    """Moments of inputs and target, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    layout : TableLayout
        Where numbers and levels are found in rows; the target, last, is a number.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    share : float
        Of the budget, in squared signal-to-noise.
    target_unit : float
        The public unit of the target; NaN if it is measured in units of its own scatter, as other numbers are.
    least_variances : (d + 1,) array
        Public knowledge of how narrow a column can be.
    shares : int, default 1
        How many shares the rows are dealt out into; each release is of another one.
    """

    layout: TableLayout
    neighbors: Relation
    rows: int | None
    share: float
    target_unit: float
    least_variances: Array
    shares: int = 1
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        numbers = list(self.layout.numbers)
        self.columns = len(numbers) + sum(map(len, self.layout.levels))
        self._rows = None if self.rows is None else self.rows // self.shares
        least = self.least_variances[numbers]
        self._staged = StagedMoments(len(numbers), self.neighbors, self._rows, _COLUMN_ROUNDS + 2, least)
        self._levels = CellCounts(tuple(Bins(places, np.arange(max(2, len(places)))) for places in self.layout.levels))
        self.rounds = [LEVELS] * bool(self.layout.levels) + self._staged.rounds

    def steps(self) -> list[Step]:
        """Return a step for each kind of round."""
        second = numbers_in_second_moment("full", self.columns)
        numbers = len(self.layout.numbers)
        sizes = {COLUMNS: 1 + 2 * numbers, TAILS: 1 + 2 * numbers, SECOND_MOMENTS: 1 + self.columns + second}
        shares = _SHARES
        if self.layout.levels:
            sizes[LEVELS], shares = self._levels.size, _SHARES_WITH_LEVELS
        return [
            dealt(Gaussian(name, math.sqrt(count / (self.share * share)), count, sizes[name]), self.shares)
            for name, share in shares.items()
            for count in [self.rounds.count(name)]
        ]

    def start(self) -> Known:
        """Return columns as wide as the bounds, and levels that are all as frequent."""
        shares = tuple(np.full(bins.counted, 1 / bins.counted) for bins in self._levels.columns)
        return Known(self._staged.start(), shares)

    def statistic(self, state: Known, index: int, noise: Noise) -> tuple[Known, Statistic]:
        """Measure columns by themselves, then all together, in their units."""
        name = self.rounds[index]
        if name == LEVELS:
            return state, self._levels
        if name != SECOND_MOMENTS:
            numbers = self.layout.numbers
            _, asked = self._staged.statistic(
                state.numbers, index - self._before, lambda asked: noise(OnColumns(asked, numbers))
            )
            return state, OnColumns(asked, numbers)
        mean, units, scales = self._columns(state)
        radius = math.sqrt(_RADIUS2 * float(np.sum((scales / units) ** 2)))
        count, weight = block_weights(self.columns, "full", self.neighbors)
        return state, ComponentMoments(DiagonalComponent(mean, units), radius, count, weight, 1.0)

    @property
    def _before(self) -> int:
        return len(self.rounds) - len(self._staged.rounds)

    def update(self, state: Known, index: int, statistic: Any, released: Array, noise: float) -> Known | Scatter:
        """Move centres and units by what columns say; in the end, return how they scatter."""
        if statistic is self._levels:
            counts = self._levels.parts(released)
            rows = float(self._rows or max(float(np.mean([count.sum() for count in counts])), noise, 1.0))
            return replace(state, shares=tuple(_on_simplex(count / rows) for count in counts), unsure=noise / rows)
        if isinstance(statistic, OnColumns):
            found = self._staged.update(state.numbers, index - self._before, statistic.statistic, released, noise)
            return replace(state, numbers=found)
        counts, sums, squares = statistic.parts(released)
        rows = float(self._rows or max(float(counts[0]), noise / statistic.count, 1.0))
        most_rows = float(self.rows or max(float(counts[0]), 0.0) + _CERTAIN * noise / statistic.count)
        mean, units, scales = self._columns(state)
        shift = np.clip(sums[0] / rows, -statistic.radius, statistic.radius)
        noisy = noise * statistic.radius / statistic.mean / rows
        shift *= max(0.0, 1.0 - shift.size * noisy**2 / max(float(shift @ shift), 1e-300))
        second = squares[0] / rows - np.outer(shift, shift)
        second, left = _shrunk(second, scales / units, self._within(state), noise * statistic.radius**2 / rows)
        least_shares = tuple(np.maximum(shares - state.unsure, _LEAST_SHARE) for shares in state.shares)
        rows = float(self.rows or rows)
        return Scatter(mean + units * shift, units, scales, second, left, rows, most_rows, least_shares)

    def _columns(self, state: Known) -> tuple[Array, Array, Array]:
        """Return means, units and standard deviations of all columns by themselves."""
        mean, units, scales = np.empty((3, self.columns))
        numbers = list(self.layout.numbers)
        mean[numbers], scales[numbers] = state.numbers.mean, state.numbers.scales
        units[numbers] = scales[numbers]
        if not math.isnan(self.target_unit):
            units[-1] = self.target_unit
        for places, shares in zip(self.layout.levels, state.shares):
            if len(places) == 1:  # encoded as -1 and 1
                mean[places[0]], units[places[0]] = shares[1] - shares[0], 2.0
                scales[places[0]] = 2 * math.sqrt(shares[0] * shares[1])
            else:
                where = list(places)
                mean[where], units[where], scales[where] = shares, 1.0, np.sqrt(shares * (1 - shares))
        return mean, units, scales

    def _within(self, state: Known) -> Array:
        """Return the covariances (d + 1, d + 1) of levels of one column, which follow from shares; NaN elsewhere."""
        within = np.full((self.columns, self.columns), np.nan)
        for places, shares in zip(self.layout.levels, state.shares):
            where = np.ix_(places, places)
            within[where] = shares[0] * shares[1] if len(places) == 1 else np.diag(shares) - np.outer(shares, shares)
        return within


@dataclass
class PublicInputs:
    """Nothing is measured: standard coordinates, in place of :class:`InputMoments`.

    Parameters
    ----------
    columns : int
        Columns of inputs, without the target.
    rows : int or None
        The number of rows, where it is public.
    """

    columns: int
    rows: int | None

    @property
    def rounds(self) -> list[str]:
        """There are none."""
        return []

    def steps(self) -> list[Step]:
        """There are none."""
        return []

    def start(self) -> Scatter:
        """Return columns spread evenly within their bounds."""
        wide = self.columns + 1
        spread = np.full(wide, math.sqrt(1 / 3))
        return Scatter(np.zeros(wide), np.ones(wide), spread, np.diag(spread**2), 0.0, float(self.rows or 0))


def input_layout(domain: Domain) -> TableLayout:
    """Return where numbers and levels of inputs are found; the target, last, counts as a number whatever it is."""
    layout = table_layout(domain)
    last = domain.columns - 1
    return TableLayout(
        (*(place for place in layout.numbers if place < last), last),
        tuple(places for places in layout.levels if places[-1] < last),
    )


def _on_simplex(shares: Array) -> Array:
    """Return the nearest shares that add up to 1, none of them below a hair."""
    ordered = np.sort(shares)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(shares) + 1)
    nearest = np.maximum(shares - excess[np.flatnonzero(ordered > excess)[-1]], _LEAST_SHARE)
    return nearest / nearest.sum()


def _shrunk(second: Array, scales: Array, within: Array, noise: float) -> tuple[Array, float]:
    """Return second moments with as much of what is not on the diagonal as is not noise, and the noise left.

    Where most of it is noise, the directions that stand out of it are kept alone. What is not known of
    the diagonal is taken from columns' scales as they were found one by one; what is known (not NaN) `within` columns
    with levels, from there. The noise that is left is measured by its largest eigenvalue.
    """
    columns = len(second)
    off = np.where(np.isnan(within), second - np.diag(np.diag(second)), 0.0)
    unit = noise * math.sqrt(columns / 2)  # eigenvalues of pure noise end at twice this
    unknown = np.count_nonzero(np.isnan(within)) - np.count_nonzero(np.isnan(np.diag(within)))
    kept = max(0.0, 1.0 - unknown * noise**2 / 2 / max(float(np.sum(off * off)), 1e-300))
    if kept < _MOSTLY_NOISE:
        values, axes = np.linalg.eigh(off)
        off = (axes * np.sign(values) * np.sqrt(np.maximum(values**2 - 4 * unit**2, 0.0))) @ axes.T
        left = 2 * _LEFT * unit
    else:
        off, left = kept * off, 2 * kept * unit
    trust = noise**2 / (noise**2 + (_COLUMNS_KNOWN * float(np.mean(scales**2))) ** 2)
    diagonal = trust * scales**2 + (1 - trust) * np.maximum(np.diag(second), 0.0)
    return np.where(np.isnan(within), np.diag(diagonal) + off, within), left
