"""The scale-free mixture for tables with levels: categories, and columns of true and false.

It grows as a Gaussian mixture of encoded rows does, in which a level is a column of zeros and ones: covariances there
show which levels go together with which, and with which numbers. Then each component becomes a product, of a Gaussian
of the numbers and of shares of the levels of every other column, and is refined as that.

Shares of levels are known up to noise of a size that the plan fixes. Round by round they are averaged with what was
known before (Kalman), level by level: how far a level's share in one component may be from its share in all rows is in
proportion to the latter, so noise does not make rare levels frequent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.fitting.engine import Noise
from tacit.fitting.moment_weights import block_weights, clipping_radius, kept_by_clipping, nats_to_noise
from tacit.mixture.mixture import Mixture
from tacit.mixture.prior import MixturePrior
from tacit.mixture.scale_free import GROWING, REFINING, TAILS, Fit, ScaleFree, constrained, floored
from tacit.mixture.table_mixture import TableMixture, shares_of_one
from tacit.privacy import Gaussian, Relation, Step
from tacit.statistics import (
    ComponentMoments,
    CovarianceType,
    TableLayout,
    TableMoments,
    TableSquares,
    least_radius,
    moment_sensitivity,
    numbers_in_second_moment,
)
from tacit.statistics.components import Array

_REFINING_ROUNDS = 12  # twice as many as without levels: products are further from where growing ends
_SHARES = {REFINING: 2.0, TAILS: 2.0}  # of the budget, beside 1 for a growing round
_LEVEL_LOSS = 2.0  # nats, for unit noise on the share of one level
_SPREAD = 0.25  # variance of a level's share among components, relative to that of the level among rows
_DRIFT = 0.02  # by how much of the same it may change from round to round
_LEAST_OF_ALL = 0.05  # least share of a level in a component, relative to its share in all rows
_LEAST_ROWS = 0.5  # and in rows


@dataclass(frozen=True, eq=False)
class TableFit(Fit):
    """Where a fit stands, once components are products."""

    mixture: TableMixture
    level_doubts: Array = field(default_factory=lambda: np.empty(0))  # how far off shares may be: variances (K, levels)


@dataclass
class TableScaleFree:
    """Scale-free EM for a mixture of products.

    Parameters
    ----------
    n_components, covariance_type, neighbors, rows, n_iter, means, prior, least_variances, missing, beside
        As for ``ScaleFree``; `means` and `least_variances` are of encoded rows.
    layout : TableLayout
        Where columns are found in encoded rows, at least one of them with levels.
    """

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
    beside: tuple[str, ...] = ()
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        encoded = self._encoded()
        growing = encoded.rounds.count(GROWING)
        refining = _REFINING_ROUNDS if self.n_iter == "auto" else encoded.rounds.count(REFINING)
        last = TAILS if self.layout.numbers else REFINING
        self.rounds = [GROWING] * growing + [REFINING] * refining + [last]

    def _encoded(self) -> ScaleFree:
        """Return the model that grows the mixture, of encoded rows."""
        common = self.n_components, self.layout.width, "full", self.neighbors, self.rows, self.n_iter
        return self._grown_by(*common, self.means, None, self.least_variances, self.missing, self.beside)

    def _grown_by(self, *options: Any) -> ScaleFree:
        return ScaleFree(*options)

    def _numbers(self) -> ScaleFree:
        """Return the model that refines what is known of the numbers."""
        places = list(self.layout.numbers)
        least = np.broadcast_to(self.least_variances, self.layout.width)[places]
        start = np.zeros((self.n_components, len(places)))  # it does not grow
        common = self.n_components, len(places), self.covariance_type, self.neighbors, self.rows, "auto"
        return ScaleFree(*common, start, self.prior, least, self.missing)

    def steps(self) -> list[Step]:
        """Return the plan's steps: growing rounds get more noise than refining ones."""
        numbers, kind = len(self.layout.numbers), self.covariance_type
        seconds = numbers_in_second_moment(kind, numbers) * (1 if kind == "tied" else self.n_components)
        sizes = {
            REFINING: self.n_components * (1 + numbers + sum(self.layout.sizes)) + seconds,
            TAILS: self.n_components * numbers,
        }
        steps = [step for step in self._encoded().steps() if step.name == GROWING]
        for name, size in sizes.items():
            if count := self.rounds.count(name):
                steps.append(Gaussian(name, 1.0 / math.sqrt(_SHARES[name]), count, size))
        return steps

    def start(self) -> Fit:
        """Return one component as large as the bounds, or the given means."""
        return self._encoded().start()

    def statistic(
        self, state: Fit, index: int, noise: Noise
    ) -> tuple[Fit, ComponentMoments | TableMoments | TableSquares]:
        """Return what the next round releases: moments of encoded rows while growing, of the table from then on."""
        name = self.rounds[index]
        if name == GROWING:
            return self._encoded().statistic(state, index, noise)
        state = self._product(state, self._most())
        components = state.mixture.components()
        if name == TAILS:
            return state, TableSquares(components, self.missing)
        columns, kind = len(self.layout.numbers), self.covariance_type
        count, mean, level = table_weights(self.layout, kind, self.neighbors)
        radius = 1.0
        if columns:
            unit = noise(TableMoments(components, 1.0, count, mean, 1.0, level, kind))
            share = None if state.rows is None else state.rows / state.mixture.count
            radius = clipping_radius(columns, kind, None if share is None else unit / share)
        radius = max(radius, least_radius(columns, kind)) if self.missing else radius
        fill = kept_by_clipping(columns, radius)
        return state, TableMoments(components, radius, count, mean, 1.0, level, kind, self.missing, fill)

    def _product(self, state: Fit, count: int) -> TableFit:
        """Return the state with components that are products, so many at most."""
        if isinstance(state, TableFit):
            return state
        mixture = self._merged(state.mixture, count)
        return self._afresh(state, replace(mixture, covariances=constrained(mixture, self.covariance_type).covariances))

    def _merged(self, encoded: Mixture, count: int) -> TableMixture:
        return TableMixture.of(encoded.merge(count), self.layout)

    def _most(self) -> int:
        return self.n_components

    def _afresh(self, state: Fit, mixture: TableMixture) -> TableFit:
        """Return the state with components of which nothing is known yet but what they are."""
        doubts = np.broadcast_to(_SPREAD * _scatter(mixture), mixture.probabilities.shape)
        return TableFit(mixture, state.rows, np.ones((2, mixture.count)), doubts)

    def update(
        self,
        state: Fit,
        index: int,
        statistic: ComponentMoments | TableMoments | TableSquares,
        released: Array,
        noise: float,
    ) -> Fit:
        """Move each component by what its moments and levels say, less what is noise."""
        if not isinstance(state, TableFit):
            return self._encoded().update(state, index, statistic, released, noise)
        if self.layout.numbers:
            moved = self._numbers().update(state, index, statistic, released, noise)
        else:
            moved = self._counted(state, statistic, released, noise)
        if moved.mixture is state.mixture:  # the release said nothing worth listening to
            return moved
        new, probabilities, doubts = moved.mixture, state.mixture.probabilities, state.level_doubts
        if isinstance(statistic, TableMoments):
            probabilities, doubts = self._levels(state, statistic, released, noise, new.weights * moved.rows)
        mixture = TableMixture(new.weights, new.means, new.covariances, self.layout, probabilities)
        return TableFit(mixture, moved.rows, moved.doubts, doubts)

    def _counted(self, state: TableFit, statistic: TableMoments, released: Array, noise: float) -> Fit:
        """Return the state with new weights: all there is to update where there are no numbers."""
        counts = self._numbers().balanced(statistic.parts(released)[0])
        counts, rows = floored(counts, noise / statistic.count)
        weights = counts if self.prior is None else counts + self.prior.concentration - 1
        old = state.mixture
        return Fit(Mixture(weights / weights.sum(), old.means, old.covariances), rows, state.doubts)

    def _levels(
        self, state: TableFit, statistic: TableMoments, released: Array, noise: float, counts: Array
    ) -> tuple[Array, Array]:
        """Return shares of levels, and what is left of doubts about them."""
        old, counts = state.mixture.probabilities, np.maximum(counts, 1.0)
        observed = statistic.level_sums(released) / counts[:, None]
        unsure = (noise * math.sqrt(len(self.layout.levels)) / statistic.level / counts[:, None]) ** 2
        scatter = _scatter(state.mixture)
        doubts = np.minimum(state.level_doubts + _DRIFT * scatter, _SPREAD * scatter)
        shares = old + doubts / (doubts + unsure) * (observed - old)
        doubts = doubts * unsure / (doubts + unsure)
        for where in self.layout.slices:  # they add up to 1: what is over is taken from those known least
            over = shares[:, where].sum(axis=1, keepdims=True) - 1
            shares[:, where] -= over * doubts[:, where] / doubts[:, where].sum(axis=1, keepdims=True)
        least = np.maximum(_LEAST_OF_ALL * (state.mixture.weights @ old), _LEAST_ROWS / counts[:, None])
        shares = shares_of_one(shares, self.layout, least)
        if self.prior is not None:
            shares = self.prior.level_mode(counts, shares, np.repeat(self.layout.sizes, self.layout.sizes))
        return shares, doubts

    def finish(self, state: Fit) -> Mixture:
        """Return the final mixture, with as many components as asked for, heaviest first."""
        return state.mixture.repeated(self.n_components).by_weight()


def _scatter(mixture: TableMixture) -> Array:
    """Return the variance of each level's indicator among all rows, (all levels,)."""
    shares: Array = mixture.weights @ mixture.probabilities
    return shares * (1 - shares)


def table_weights(layout: TableLayout, kind: CovarianceType, neighbors: Relation) -> tuple[float, float, float]:
    """Return the weights of counts, means and levels, beside a weight of 1 for second moments, that lose least.

    Those of counts and means are as without levels. Their weights cause a sensitivity s and, with unit noise, a loss of
    likelihood a; levels of weight w make them sqrt(s^2 + c w^2) and a + b / w^2. The product of the squares is least at
    w^4 = b s^2 / (a c).

    Examples
    --------
    >>> [round(weight, 2) for weight in table_weights(TableLayout((0, 1), ((2, 3, 4), (5,))), "full", "replace_one")]
    [0.76, 0.93, 1.43]
    """
    count, mean, losses, sensitivity = _numbers_and_levels(layout, kind, neighbors)
    replaced = 2 if neighbors == "replace_one" else 1
    return count, mean, (losses[1] * sensitivity**2 / (losses[0] * replaced)) ** 0.25


def nats_to_refining(layout: TableLayout, kind: CovarianceType, neighbors: Relation) -> float:
    """Return the nats that a component of one row loses to a refining round, if the plan's noise is 1.

    Examples
    --------
    >>> few, many = (TableLayout((0, 1), (tuple(range(2, 2 + levels)),)) for levels in (3, 12))
    >>> nats_to_refining(few, "full", "replace_one") < nats_to_refining(many, "full", "replace_one")
    True
    """
    count, mean, losses, _ = _numbers_and_levels(layout, kind, neighbors)
    level, there = table_weights(layout, kind, neighbors)[2], 1.0 if layout.numbers else 0.0
    noise = moment_sensitivity(count, mean * there, there, neighbors, level) ** 2 / _SHARES[REFINING]
    return float((losses[0] + losses[1] / level**2) * noise)


def _numbers_and_levels(
    layout: TableLayout, kind: CovarianceType, neighbors: Relation
) -> tuple[float, float, tuple[float, float], float]:
    """Return the weights of counts and means, nats lost to noise in numbers and levels, the former's sensitivity."""
    columns, many = len(layout.numbers), len(layout.levels)
    count, mean = block_weights(columns, kind, neighbors) if columns else (1.0, 1.0)
    loss = nats_to_noise(columns, kind, count, mean) if columns else 0.5 / count**2
    sensitivity = moment_sensitivity(count, mean if columns else 0.0, 1.0 if columns else 0.0, neighbors)
    return count, mean, (loss, _LEVEL_LOSS * many * sum(size - 1 for size in layout.sizes)), sensitivity
