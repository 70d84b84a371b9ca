"""The scale-free mixture for tables with levels: categories, and columns of true and false.

It grows as a Gaussian mixture of encoded rows does, in which a level is a column of zeros and ones: their covariance
shows which levels go together with which, and with which numbers. Once as many components are there as asked for, each
becomes a product, of a Gaussian of the numbers and shares of the levels of every other column, and that is refined.

Shares of levels are known up to noise of a size that the plan fixes. Round by round they are averaged with what was
known before (Kalman), level by level: how far a level's share in one component may be from its share in all rows is in
proportion to that share, so rare levels are not made frequent by noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.latent.engine import Noise
from tacit.latent.mixture import Mixture
from tacit.latent.prior import MixturePrior
from tacit.latent.scale_free import (
    GROWING,
    REFINING,
    SHARES,
    TAILS,
    Fit,
    ScaleFree,
    block_weights,
    clipping_radius,
    constrained,
    second_moment_loss,
)
from tacit.latent.shrinkage import clipped_variances
from tacit.latent.table_mixture import TableMixture, shares_of_one
from tacit.privacy import Gaussian, Relation, Step
from tacit.statistics import (
    CovarianceType,
    TableLayout,
    TableMoments,
    TableSquares,
    least_radius,
    moment_sensitivity,
    numbers_in_second_moment,
)
from tacit.statistics.components import Array

_LEVEL_LOSS = 4.0
_SPREAD = 0.25  # variance of a level's share among components, beforehand, relative to that of the level itself
_DRIFT = 0.02  # and by how much of it components move from round to round
_LEAST_OF_POOLED = 0.05
_HALF_ROW = 0.5


@dataclass(frozen=True, eq=False)
class TableFit(Fit):
    """Where a fit stands, with how far off shares of levels may be, as variances (K, all levels)."""

    level_doubts: Array | None = None


@dataclass
class TableScaleFree:
    """Scale-free EM for a mixture of products. Parameters as for ``ScaleFree``, in encoded columns, and a layout."""

    n_components: int
    layout: TableLayout
    covariance_type: CovarianceType
    neighbors: Relation
    rows: int | None
    n_iter: int | str = "auto"
    means: Array | None = None
    prior: MixturePrior | None = None
    least_variances: Array | float = 1e-8
    missing: bool = False
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self._set_up()

    def _set_up(self) -> None:
        common = (self.neighbors, self.rows, self.n_iter)
        self.encoded = ScaleFree(
            self.n_components, self.layout.width, "full", *common, self.means, None, self.least_variances, self.missing
        )
        numbers = np.array(self.layout.numbers, dtype=np.intp)
        least = np.broadcast_to(self.least_variances, self.layout.width)[numbers]
        start = np.zeros((self.n_components, len(numbers)))
        self.numbers = ScaleFree(
            self.n_components, len(numbers), self.covariance_type, *common[:2], "auto", start, self.prior, least
        )
        self.rounds = self.encoded.rounds if len(numbers) else self.encoded.rounds[:-1]

    def steps(self) -> list[Step]:
        """Return the plan's steps: growing rounds get more noise than refining ones."""
        numbers, levels = len(self.layout.numbers), sum(self.layout.sizes)
        seconds = numbers_in_second_moment(self.covariance_type, numbers)
        seconds *= 1 if self.covariance_type == "tied" else self.n_components
        sizes = {
            REFINING: self.n_components * (1 + numbers + levels) + seconds,
            TAILS: self.n_components * numbers,
        }
        steps = [step for step in self.encoded.steps() if step.name == GROWING]
        for name, size in sizes.items():
            if count := self.rounds.count(name):
                steps.append(Gaussian(name, 1.0 / math.sqrt(SHARES[name]), count, size))
        return steps

    def start(self) -> Fit:
        """Return one component as large as the bounds, or the given means."""
        return self.encoded.start()

    def statistic(
        self, state: Fit, index: int, noise: Noise
    ) -> tuple[Fit, object]:
        name = self.rounds[index]
        if name == GROWING:
            return self.encoded.statistic(state, index, noise)
        state = self._product(state)
        components = state.mixture.components()
        if name == TAILS:
            return state, TableSquares(components, self.missing)
        columns, kind = len(self.layout.numbers), self.covariance_type
        count, mean, level = table_weights(self.layout, kind, self.neighbors)
        unit = noise(TableMoments(components, 1e3, count, mean, 1.0, level, kind))
        radius = 1.0
        if columns:
            known = None if state.rows is None else unit / (state.rows / state.mixture.count)
            radius = clipping_radius(columns, kind, known)
        radius = max(radius, least_radius(columns, kind)) if self.missing else radius
        fill = float(clipped_variances(np.ones(columns), radius).mean()) if columns else 1.0
        return state, TableMoments(components, radius, count, mean, 1.0, level, kind, self.missing, fill)

    def _product(self, state: Fit) -> TableFit:
        """Return the state with components that are products, as many as asked for."""
        if isinstance(state, TableFit):
            return state
        mixture = TableMixture.of(state.mixture.merge(self.n_components), self.layout)
        mixture = replace(mixture, covariances=constrained(mixture, self.covariance_type).covariances)
        pooled = mixture.weights @ mixture.probabilities
        doubts = np.broadcast_to(_SPREAD * pooled * (1 - pooled), mixture.probabilities.shape)
        return TableFit(mixture, state.rows, np.ones((2, mixture.count)), doubts)

    def update(self, state: Fit, index: int, statistic: object, released: Array, noise: float) -> Fit:
        """Move each component by what its moments and levels say, less what is noise."""
        if self.rounds[index] == GROWING:
            return self.encoded.update(state, index, statistic, released, noise)
        old = state.mixture
        moved = self.numbers.update(state, index, statistic, released, noise) if self.layout.numbers else self._counted(state, statistic, released, noise)
        new = moved.mixture
        if moved.mixture is old:  # nothing worth listening to
            return moved
        probabilities, doubts = old.probabilities, state.level_doubts
        if isinstance(statistic, TableMoments):
            counts = moved.mixture.weights * moved.rows
            probabilities, doubts = self._levels(state, statistic, released, noise, counts)
        new = TableMixture(new.weights, new.means, new.covariances, self.layout, probabilities)
        return TableFit(new, moved.rows, moved.doubts, doubts)

    def _counted(self, state, statistic, released, noise):
        counts = statistic.parts(released)[0]
        if self.rows is not None:
            counts = counts + (self.rows - counts.sum()) / len(counts)
        rows = max(counts.sum(), noise / statistic.count)
        counts = np.maximum(counts, max(0.01 * rows / len(counts), noise / statistic.count))
        old = state.mixture
        return Fit(Mixture(counts / counts.sum(), old.means, old.covariances), rows, state.doubts)

    def _levels(self, state: TableFit, statistic: TableMoments, released: Array, noise: float, counts: Array):
        old = state.mixture.probabilities
        observed = statistic.level_sums(released) / counts[:, None]
        unsure = (noise * math.sqrt(len(self.layout.levels)) / statistic.level / counts[:, None]) ** 2
        pooled = state.mixture.weights @ old
        spread = pooled * (1 - pooled)
        doubts = np.minimum(state.level_doubts + _DRIFT * spread, _SPREAD * spread)
        gain = doubts / (doubts + unsure)
        shares = old + gain * (observed - old)
        left = doubts * unsure / (doubts + unsure)
        for where in self.layout.slices:  # they add up to 1: what is over is taken from the least certain
            over = shares[:, where].sum(axis=1, keepdims=True) - 1
            shares[:, where] -= over * left[:, where] / left[:, where].sum(axis=1, keepdims=True)
        least = np.maximum(_LEAST_OF_POOLED * pooled, _HALF_ROW / counts[:, None].clip(1))
        if self.prior is not None:
            raise NotImplementedError
        return shares_of_one(shares, self.layout, least), left

    def finish(self, state: Fit) -> TableMixture:
        """Return the final mixture, with as many components as asked for, heaviest first."""
        mixture = state.mixture.repeated(self.n_components).by_weight()
        return mixture


def table_weights(layout: TableLayout, kind: CovarianceType, neighbors: Relation) -> tuple[float, float, float]:
    """Return the weights of counts, means and levels, beside a weight of 1 for second moments.

    An error e in a share costs about e^2 / (2 share) nats; ...
    """
    columns = len(layout.numbers)
    levels = len(layout.levels)
    count, mean = block_weights(columns, kind, neighbors) if columns else (1.0, 1.0)
    numeric = 0.5 / count**2
    base = count**2 * (2 if neighbors == "replace_one" else 1)
    if columns:
        numeric = (
            second_moment_loss(columns, kind) * columns**2
            + columns / 2 * columns / mean**2
            + (0.5 + columns / 4) / count**2
        )
        base = moment_sensitivity(count, mean, 1.0, neighbors) ** 2
    loss = _LEVEL_LOSS / 2 * levels * sum(size - 1 for size in layout.sizes)
    times = 2 if neighbors == "replace_one" else 1
    return count, mean, (loss * base / numeric / times) ** 0.25 if levels else 1.0
