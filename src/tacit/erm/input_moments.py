"""Where inputs lie and how they scatter, privately: so that directions are alike to a solver.

Noise on a gradient is the same in every direction. In coordinates in which inputs are white it is spread evenly over
what there is to learn, and of all coordinates those have the least total error. Two things keep from going all the way:
what is not known of the scatter cannot be undone, and directions in which inputs hardly vary have little to say, unless
coefficients there are huge. So inputs are divided by sqrt(variance + level) along each axis, with a level that grows
with the noise (:class:`Coordinates`).

Moments are released in stages, as in :mod:`tacit.latent.staged_moments`: columns by themselves first, a few times, each
in the units that the last one found; then all second moments, once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.latent.engine import Noise
from tacit.latent.release_shape import block_weights
from tacit.latent.staged_moments import COLUMNS, SECOND_MOMENTS, TAILS, Staged, StagedMoments
from tacit.privacy import Gaussian, Relation, Step
from tacit.release import Statistic
from tacit.statistics import ComponentMoments, DiagonalComponent
from tacit.statistics.components import Array, filled_up

_COLUMN_ROUNDS = 3
_SHARES = {COLUMNS: 0.3, TAILS: 0.1, SECOND_MOMENTS: 0.6}  # of what moments have of the budget
_MOSTLY_NOISE = 0.3  # share of second moments off the diagonal: if less is signal, only what stands out is kept
_LEFT = 0.1  # of the noise, after that
_COLUMNS_KNOWN = 0.3  # how far off variances of columns by themselves may be, clipped as they are
_LEVEL = 16.0  # about one over the squared curvature of an ordinary row
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


@dataclass
class InputMoments:
    """Moments of inputs and target, run by :func:`tacit.latent.engine.run`.

    Parameters
    ----------
    columns : int
        Columns of inputs, without the target.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    share : float
        Of the budget, in squared signal-to-noise.
    fixed_units : (d + 1,) array
        Public units of columns, such as 1 for those that are 1 in rows of one category and 0 in others; NaN for columns
        that are measured in units of their own scatter.
    least_variances : (d + 1,) array
        Public knowledge of how narrow a column can be.
    reach : float
        How far from the centre a column can be: 1 in a box, sqrt(d) in a ball.
    """

    columns: int
    neighbors: Relation
    rows: int | None
    share: float
    fixed_units: Array
    least_variances: Array | float = 1e-8
    reach: float = 1.0
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self._staged = StagedMoments(
            self.columns + 1, self.neighbors, self.rows, _COLUMN_ROUNDS + 2, self.least_variances, self.reach
        )
        self.rounds = self._staged.rounds

    def steps(self) -> list[Step]:
        """Return three steps."""
        return [
            Gaussian(step.name, math.sqrt(step.count / (self.share * _SHARES[step.name])), step.count, step.size)
            for step in self._staged.steps()
        ]

    def start(self) -> Staged:
        """Return columns as wide as the bounds."""
        return self._staged.start()

    def statistic(self, state: Staged, index: int, noise: Noise) -> tuple[Staged | Scatter, Statistic]:
        """Measure columns by themselves, then all together, in their units."""
        if self.rounds[index] != SECOND_MOMENTS:
            return self._staged.statistic(state, index, noise)
        units = np.where(np.isnan(self.fixed_units), state.scales, self.fixed_units)
        radius = math.sqrt(_RADIUS2 * float(np.sum((state.scales / units) ** 2)))
        count, mean = block_weights(self.columns + 1, "full", self.neighbors)
        return state, ComponentMoments(DiagonalComponent(state.mean, units), radius, count, mean, 1.0)

    def update(
        self, state: Staged, index: int, statistic: Statistic, released: Array, noise: float
    ) -> Staged | Scatter:
        """Move centres and units by what columns say; in the end, return how they scatter."""
        if not isinstance(statistic, ComponentMoments):
            return self._staged.update(state, index, statistic, released, noise)
        counts, sums, squares = statistic.parts(released)
        rows = float(self.rows or max(float(counts[0]), noise / statistic.count, 1.0))
        most_rows = float(self.rows or max(float(counts[0]), 0.0) + _CERTAIN * noise / statistic.count)
        units = statistic.components.scales
        shift = np.clip(sums[0] / rows, -statistic.radius, statistic.radius)
        noisy = noise * statistic.radius / statistic.mean / rows
        shift *= max(0.0, 1.0 - shift.size * noisy**2 / max(float(shift @ shift), 1e-300))
        second = squares[0] / rows - np.outer(shift, shift)
        second, left = _shrunk(second, state.scales / units, noise * statistic.radius**2 / rows)
        return Scatter(state.mean + units * shift, units, second, left, rows, most_rows)


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


def _shrunk(second: Array, scales: Array, noise: float) -> tuple[Array, float]:
    """Return second moments with as much of what is not on the diagonal as is not noise, and the noise left.

    Where most of it is noise, the directions that stand out of it are kept alone. What is not known of
    the diagonal is taken from columns' scales as they were found one by one. The noise that is left is measured by its
    largest eigenvalue.
    """
    columns = len(second)
    off = second - np.diag(np.diag(second))
    unit = noise * math.sqrt(columns / 2)  # eigenvalues of pure noise end at twice this
    kept = max(0.0, 1.0 - columns * (columns - 1) * noise**2 / 2 / max(float(np.sum(off * off)), 1e-300))
    if kept < _MOSTLY_NOISE:
        values, axes = np.linalg.eigh(off)
        off = (axes * np.sign(values) * np.sqrt(np.maximum(values**2 - 4 * unit**2, 0.0))) @ axes.T
        left = 2 * _LEFT * unit
    else:
        off, left = kept * off, 2 * kept * unit
    trust = noise**2 / (noise**2 + (_COLUMNS_KNOWN * float(np.mean(scales**2))) ** 2)
    diagonal = trust * scales**2 + (1 - trust) * np.maximum(np.diag(second), 0.0)
    return np.diag(diagonal) + off, left


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
        return cls(
            scatter.mean[:-1], whitener, variances / (variances + level), each * (variances + level), scatter.rows
        )

    @classmethod
    def standard(cls, scatter: Scatter, signal: float) -> Coordinates:
        """Return standard coordinates, but for where they are measured from: for penalties that are stated in them."""
        variances = np.maximum(np.diag(scatter.second)[:-1], 0.0) * scatter.units[:-1] ** 2
        prior = np.full(len(variances), signal**2 / max(float(variances.sum()), 1e-12))
        own = scatter.second[:-1, :-1] * np.outer(scatter.units[:-1], scatter.units[:-1])
        largest = max(float(np.linalg.eigvalsh(own)[-1]), float(variances.max()))
        return cls(scatter.mean[:-1], np.eye(len(variances)), variances, prior, scatter.rows, largest)

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
