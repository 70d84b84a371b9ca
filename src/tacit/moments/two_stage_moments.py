"""Mean and covariance where rows are few beside columns: columns first, then one release of all second moments.

A covariance of d columns has d (d + 1) / 2 numbers, and their noise has eigenvalues that grow with d^(3/2). Measuring
it again and again in its own coordinates, as :mod:`tacit.mixture.scale_free` does, is best where that is small beside
the number of rows. Where it is not, cheaper questions are asked first, and decide the units of the last:

- *Columns*, a few times: mean and variance of each column by itself (``ColumnMoments``), starting from the bounds.
  Their noise grows with sqrt(d) alone. What cannot be told of single columns is shrunk to what all have in common.
- *Second moments*, once, with columns in units of their own standard deviations. Of the correlations only directions
  that stand out of the noise are kept (:func:`tacit.moments.spectrum.common_factors`); there are always columns' own
  variances to fall back on, so a hopeless last release costs its share of the budget and nothing else.

In between, a release of plain squared deviations in public units sees what clipping in a column's own units hides (a
rare condition, a cost that is mostly zero): where it clearly shows more variance, the column is widened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr

from tacit.fitting.engine import Noise
from tacit.fitting.moment_weights import block_weights
from tacit.fitting.shrinkage import positive_mean, shrunk
from tacit.moments.spectrum import common_factors
from tacit.privacy import Gaussian, Relation, Step
from tacit.statistics import ColumnMoments, ComponentMoments, DiagonalComponent, numbers_in_second_moment
from tacit.statistics.components import Array

COLUMNS, TAILS, SECOND_MOMENTS = "columns", "tails", "second moments"
_COLUMN_ROUNDS = 5
# Shares of the budget, in squared signal-to-noise.
_SHARES = {COLUMNS: 0.5, TAILS: 0.1, SECOND_MOMENTS: 0.4}
_REACHES = np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0])  # standard deviations to clip at
_RADIUS2 = 1.1  # squared radius of the last release, in units of the columns' summed variances
_LEAST_VARIANCE = 0.02  # in one round, relative to the columns' mean variance
_LEAST_DOUBT = 0.05
_MOST_FACTORS = 30
_CLEAR = 3.0  # standard deviations of noise by which tails must stand out
_DOUBTFUL = 0.03
_TAILED = 1.5  # and how many times the variance
_COUNT = 0.5  # weight of the count in a release of columns, where the number of rows is secret


@dataclass(frozen=True, eq=False)
class Staged:
    """Where a fit stands, in coordinates where the public bounds are a unit box."""

    mean: Array
    scales: Array
    rows: float | None
    loadings: Array  # (d, k), of columns in units of their scales
    doubts: tuple[float, float] = (1.0, 1.0)  # of means and variances, relative
    first: bool = True  # whether nothing has been released yet

    def covariance(self) -> Array:
        """Return the covariance: what columns have in common, and the rest of each one's variance."""
        common = self.loadings @ self.loadings.T
        np.fill_diagonal(common, 1.0)
        common *= self.scales
        common *= self.scales[:, None]
        return common


@dataclass
class StagedMoments:
    """A model for :func:`tacit.fitting.engine.run`, in coordinates where rows have length at most sqrt(d).

    Parameters
    ----------
    columns : int
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    n_iter : int or "auto"
        Number of releases.
    least_variances : (d,) array, optional
        Public knowledge of how narrow a column can be.
    reach : float, default 1.0
        How far from the centre a column can be: 1 in a box, sqrt(d) in a ball.
    """

    columns: int
    neighbors: Relation
    rows: int | None
    n_iter: int | str = "auto"
    least_variances: Array | float = 1e-8
    reach: float = 1.0
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        rounds = _COLUMN_ROUNDS if self.n_iter == "auto" else int(self.n_iter) - 2
        if rounds < 1:
            raise ValueError(
                f"n_iter is {self.n_iter}, and staged moments take one or more releases of columns, one of tails and "
                'one of second moments; pass n_iter=3 or more, or "auto".'
            )
        self.rounds = [COLUMNS] * rounds + [TAILS, SECOND_MOMENTS]

    @property
    def _widest(self) -> float:
        """How far from the centre a cell is measured: as far as it can be, but for the ends of a ball's long axes."""
        return min(self.reach, 2.0)

    def steps(self) -> list[Step]:
        """Return three steps."""
        steps: list[Step] = []
        for name, share in _SHARES.items():
            count = self.rounds.count(name)
            second = numbers_in_second_moment("full", self.columns) if name == SECOND_MOMENTS else self.columns
            steps.append(Gaussian(name, math.sqrt(count / share), count, 1 + self.columns + second))
        return steps

    def start(self) -> Staged:
        """Return columns as wide as the bounds, and nothing in common."""
        unit = np.ones(self.columns)
        return Staged(np.zeros(self.columns), unit, self.rows, np.empty((self.columns, 0)))

    def statistic(
        self, state: Staged, index: int, noise: Noise
    ) -> tuple[Staged, ColumnMoments] | tuple[Staged, ComponentMoments]:
        """Measure columns by themselves, or all together, in the units found so far."""
        if self.rounds[index] != SECOND_MOMENTS:
            weight = 0.0 if self.rows is not None else _COUNT
            columns = ColumnMoments(state.mean, np.full(self.columns, self._widest), weight)
            if self.rounds[index] == COLUMNS and index > 0:  # the first round, like the tails, is in public units
                reach = _reach(noise(columns) * math.sqrt(self.columns) / state.rows)
                columns = replace(columns, reach=np.minimum(reach * state.scales, 2 * self._widest))
            return state, columns
        count, mean = block_weights(self.columns, "full", self.neighbors)
        component = DiagonalComponent(state.mean, state.scales)
        return state, ComponentMoments(component, math.sqrt(_RADIUS2 * self.columns), count, mean, 1.0)

    def update(
        self, state: Staged, index: int, statistic: ColumnMoments | ComponentMoments, released: Array, noise: float
    ) -> Staged:
        """Move centres and scales by what the columns say, less what is noise; in the end, find what is common."""
        counts, sums, squares = statistic.parts(released)
        rows = float(self.rows) if self.rows is not None else max(float(counts[0]), noise / statistic.count)
        if self.rounds[index] == TAILS:
            return self._widened(replace(state, rows=rows), squares / rows, noise / rows)
        if isinstance(statistic, ColumnMoments):
            return self._columns(replace(state, rows=rows), statistic, sums / rows, squares / rows, noise / rows)
        return self._common(replace(state, rows=rows), statistic, sums[0] / rows, squares[0] / rows, noise / rows)

    def _columns(self, state: Staged, statistic: ColumnMoments, means: Array, squares: Array, noise: float) -> Staged:
        scales, number = state.scales, self.columns
        clip = statistic.reach / scales
        # The first round is clipped at the bounds, where rows are anyway.
        kept = np.ones(number) if state.first else clipped_variance(clip)
        unit = noise * math.sqrt(number) * clip  # of a mean; all columns alike, but where the bounds are nearer
        mean_noise, noise = float(np.sqrt(np.mean((unit / statistic.mean) ** 2))), float(np.mean(unit * clip / kept))
        shift, trust = shrunk(means / scales, mean_noise, state.doubts[0])
        variances = squares / scales**2 / kept - shift**2
        change = shrunk(np.array([variances.mean() - 1.0]), noise / math.sqrt(number), state.doubts[1])[0]
        size = float(positive_mean(1.0 + change, noise / math.sqrt(number))[0])
        shape, share = shrunk(variances - variances.mean(), noise, state.doubts[1])
        variances = positive_mean(size + shape, noise * math.sqrt(share))
        variances = np.maximum(variances, _LEAST_VARIANCE * size)
        least = np.sqrt(np.broadcast_to(self.least_variances, (number,)))
        return replace(
            state,
            first=False,
            mean=np.clip(state.mean + scales * shift, -self.reach, self.reach),
            scales=np.clip(scales * np.sqrt(variances), least, self.reach),
            doubts=(
                min(1.0, trust * mean_noise**2 / size + _LEAST_DOUBT),
                min(1.0, share * noise**2 / size**2 + _LEAST_DOUBT),
            ),
        )

    def _widened(self, state: Staged, squares: Array, noise: float) -> Staged:
        """Return columns with variances that plain squared deviations clearly exceed raised to those."""
        variances = state.scales**2
        noise *= math.sqrt(self.columns) * self._widest**2
        wider = squares > _TAILED * variances + _CLEAR * noise
        # Narrower than this, relative to the others, a column is not taken to be unless the noise could tell.
        variances = np.maximum(variances, min(_DOUBTFUL * float(variances.mean()), noise))
        clear = np.clip(squares - _CLEAR * noise, variances, self._widest**2)  # noise alone is wider now and then
        return replace(state, scales=np.sqrt(np.where(wider, clear, variances)))

    def _common(self, state: Staged, statistic: ComponentMoments, mean: Array, second: Array, noise: float) -> Staged:
        noise *= statistic.radius**2
        shift, _ = shrunk(mean, noise / statistic.radius / statistic.mean, state.doubts[0])
        moment = second - np.outer(shift, shift)
        # Columns have variance 1 in these units. If rows were clipped, or the scales are off, the trace shows it.
        size = max(np.trace(moment) / self.columns, 0.5)
        loadings = common_factors(moment / size, noise / size, _MOST_FACTORS)
        mean = np.clip(state.mean + state.scales * shift, -self.reach, self.reach)
        return replace(state, mean=mean, loadings=loadings)


def clipped_variance(reach: Array) -> Array:
    """Return the variance that a standard normal cell has left after clipping at `reach`.

    Examples
    --------
    >>> clipped_variance(np.array([1.0, 2.0, 4.0])).round(3)
    array([0.516, 0.921, 1.   ])
    """
    tail = ndtr(-reach)
    density = np.exp(-0.5 * reach**2) / math.sqrt(2 * math.pi)
    return 1 - 2 * tail - 2 * reach * density + 2 * reach**2 * tail


def _reach(noise: float) -> float:
    """Return where to clip a cell, in standard deviations: a variance's noise against what clipping hides of tails.

    Tails are taken to be a Laplace law's. `noise` is that of the mean square of a cell clipped at one standard
    deviation.
    """
    hidden = np.exp(-math.sqrt(2.0) * _REACHES) * (1 + math.sqrt(2.0) * _REACHES)
    return float(_REACHES[int(np.argmin((noise * _REACHES**2) ** 2 + hidden**2))])
