"""Where inputs lie and how they scatter, privately: so that directions are alike to a solver.

Noise on a gradient is the same in every direction. In coordinates in which inputs are white it is spread evenly over
what there is to learn, and of all coordinates those have the least total error. Two things keep from going all the way:
what is not known of the scatter cannot be undone, and directions in which inputs hardly vary have little to say, unless
coefficients there are huge. So inputs are divided by sqrt(variance + level) along each axis, with a level that grows
with the noise (:class:`Coordinates`).

Moments are released in stages, as in :mod:`tacit.latent.staged_moments`: columns by themselves first, a few times, each
in the units that the last one found; then all second moments, once. Levels of categories are counted instead: a count
has far less noise than a mean and a variance of a column of zeros and ones, as a row has one level and not all of them;
and how levels of one column scatter together follows from their shares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.erm.input_spread import InputSpread
from tacit.erm.shares import dealt
from tacit.latent.engine import Noise
from tacit.latent.release_shape import block_weights
from tacit.latent.staged_moments import COLUMNS, SECOND_MOMENTS, TAILS, Staged, StagedMoments
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
from tacit.statistics.components import Array, filled_up

LEVELS = "levels"
_COLUMN_ROUNDS = 3
_SHARES = {COLUMNS: 0.3, TAILS: 0.1, SECOND_MOMENTS: 0.6}  # of what moments have of the budget
_SHARES_WITH_LEVELS = {LEVELS: 0.2, COLUMNS: 0.3, TAILS: 0.05, SECOND_MOMENTS: 0.45}
_LEAST_SHARE = 1e-4  # of rows, that a level is reckoned to have
_MOSTLY_NOISE = 0.3  # share of second moments off the diagonal: if less is signal, only what stands out is kept
_LEFT = 0.1  # of the noise, after that
_COLUMNS_KNOWN = 0.3  # how far off variances of columns by themselves may be, clipped as they are
_LEVEL = 16.0  # about one over the squared curvature of an ordinary row
_UNSEEN = 0.3  # of the noise of a variance, which may be there where none is seen
_LEAST_LEVEL, _LEVEL_ROUNDS = 1e-6, 20
_CERTAIN = 64.0  # standard deviations that no noise exceeds
_RADIUS2 = 1.2  # squared length at which rows are clipped, in units of the summed variances


@dataclass(frozen=True, eq=False)
class Scatter:
    """Where columns lie, inputs and target, and how they scatter together, in units of their own.

    Parameters
    ----------
    mean, units : (d + 1,) arrays
        In standard coordinates; the target is the last.
    second : (d + 1, d + 1) array
        Second moments of columns about their means, in their units, with noise.
    noise : float
        How large that noise is, as an eigenvalue.
    rows : float
        How many rows there are, as far as is known.
    most_rows : float
        There are no more rows than this, but for a chance of 1 in 10^800.
    """

    mean: Array
    units: Array
    second: Array
    noise: float
    rows: float
    most_rows: float = math.inf

    @property
    def inputs(self) -> InputSpread:
        """Where inputs lie, in standard coordinates."""
        deviations = self.units * np.sqrt(np.maximum(np.diag(self.second), 0.0))
        return InputSpread(self.mean[:-1], deviations[:-1])


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of columns by themselves: numbers as they were staged, and how often each level occurs."""

    numbers: Staged
    shares: tuple[Array, ...]


@dataclass
class InputMoments:
    """Moments of inputs and target, run by :func:`tacit.latent.engine.run`.

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
            return replace(state, shares=tuple(_on_simplex(count / rows) for count in counts))
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
        return Scatter(mean + units * shift, units, second, left, float(self.rows or rows), most_rows)

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
        return Scatter(np.zeros(wide), np.ones(wide), np.eye(wide) / 3, 0.0, float(self.rows or 0))


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


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates w = whitener (x - centre) in which inputs are about white.

    Parameters
    ----------
    centre : (d,) array
        In standard coordinates.
    whitener : (d, d) array
    variances : (d,) array
        Of w, as far as is known: 1 where it is white, less where it is left short.
    prior : (d,) array
        How large coefficients on w can be expected to be, as variances, before anything is known.
    rows : float
        How many rows there are, as far as is known.
    largest : float, default 1
        The most that any direction's second moment is.
    """

    centre: Array
    whitener: Array
    variances: Array
    prior: Array
    rows: float
    largest: float = 1.0

    @classmethod
    def white(cls, scatter: Scatter, signal: float, noise: float) -> Coordinates:
        """Return coordinates for gradients whose sums, of rows of length 1, have this much noise.

        `signal` is how large predictions are expected to be, as a standard deviation. Coefficients are expected to be
        alike in columns' own units.
        """
        units = scatter.units[:-1]
        values, axes = np.linalg.eigh(scatter.second[:-1, :-1])
        variances = np.maximum(values, 0.0)  # what noise took below zero it has put on others: the sum is known better
        variances *= max(float(values.sum()), 1e-12) / max(float(variances.sum()), 1e-12)
        each = signal**2 / float(variances.sum())
        level = _LEAST_LEVEL
        for _ in range(_LEVEL_ROUNDS):
            length2 = 1.0 + float(np.sum(variances / (variances + level)))
            level = max(scatter.noise, _LEVEL * (noise / scatter.rows) ** 2 * length2 / each, _LEAST_LEVEL)
        whitener = (axes / np.sqrt(variances + level)).T / units
        # A direction that noise has emptied may have some variance yet: with none, steps there would know no measure.
        likely = np.maximum(variances, _UNSEEN * scatter.noise) / (variances + level)
        return cls(scatter.mean[:-1], whitener, likely, each * (variances + level), scatter.rows)

    @classmethod
    def standard(cls, scatter: Scatter, signal: float) -> Coordinates:
        """Return standard coordinates, but for where they are measured from: for penalties that are stated in them."""
        variances = np.maximum(np.diag(scatter.second)[:-1], 0.0) * scatter.units[:-1] ** 2
        prior = np.full(len(variances), signal**2 / max(float(variances.sum()), 1e-12))
        own = scatter.second[:-1, :-1] * np.outer(scatter.units[:-1], scatter.units[:-1])
        largest = max(float(np.linalg.eigvalsh(own)[-1]), float(variances.max()))
        return cls(scatter.mean[:-1], np.eye(len(variances)), variances, prior, scatter.rows, largest)

    @classmethod
    def as_they_are(cls, columns: int, rows: float) -> Coordinates:
        """Return the coordinates that inputs have anyway, taken to be about white."""
        return cls(np.zeros(columns), np.eye(columns), np.ones(columns), np.ones(columns), rows)

    def about(self, centre: Array) -> Coordinates:
        """Return the same coordinates, measured from another point."""
        apart = self.whitener @ (self.centre - centre)
        largest = self.largest + float(apart @ apart)
        return replace(self, centre=centre, variances=self.variances + apart**2, largest=largest)

    @property
    def columns(self) -> int:
        """How many inputs there are."""
        return len(self.centre)

    @property
    def length(self) -> float:
        """The length of an ordinary row, a 1 in front of it."""
        return math.sqrt(1.0 + float(self.variances.sum()))

    def __call__(self, block: Array) -> Array:
        """Return rows in these coordinates, targets as they are; each computed alike wherever it stands."""
        columns = filled_up(block.T)
        out = np.empty(columns.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(self.whitener, columns[:-1], out=out[:-1])
            out[:-1] -= (self.whitener @ self.centre)[:, None]
        out[-1] = columns[-1]
        return out[:, : len(block)].T

    def to_standard(self, coefficients: Array) -> Array:
        """Return coefficients (K, 1 + d) on these coordinates as those on standard ones."""
        slopes = coefficients[:, 1:] @ self.whitener
        return np.column_stack([coefficients[:, 0] - slopes @ self.centre, slopes])
