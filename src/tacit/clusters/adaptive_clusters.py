"""Adaptive k-means: each cluster's moments are released about its current centre, in units of its own radius.

Noise sized for the whole of the public bounds would drown clusters that are small beside them. So each release measures
rows from the centre they are nearest to, clipped at a radius that shrinks with the cluster. A row is in one cluster
only, so however many there are, one release of all of them costs what that of a single one does.

Where to start is what decides over k-means, and is a leak if taken from rows. Here clusters grow: one release of the
whole table, its clusters split along their longest axes into some three times as many, and so on up to twice as many
as asked for, and 24 at least. What is known of those, counts, centres and covariances, is a private summary of the
table: ordinary k-means on it, from many starts, costs nothing and finds the clusters to refine. A release later, or a
few where rows and budget pay for them, they are done. Where rows are many, those before the summary have a share each.

Constants were chosen on seven kinds of generated tables (blobs apart, overlapping, unequal, heavy-tailed, elongated,
narrow, and none at all), not on any one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.stats import chi2

from tacit.clusters.clusters import Clusters, round_covariances
from tacit.clusters.coordinates import Extent
from tacit.fitting.engine import Noise
from tacit.fitting.shrinkage import shrunk
from tacit.privacy import Gaussian, Laplace, Split, Step
from tacit.statistics import Centres, ClusterMoments, numbers_in_second_moment
from tacit.statistics.components import Array

_GROWING, _SUMMARY, _REFINING = "growing moments", "summary moments", "refining moments"
# Shares of the budget, in squared signal-to-noise, that rounds get.
_SHARES = {_GROWING: 1.0, _SUMMARY: 2.0, _REFINING: 2.0}
# Where rows are many and may be replaced, not added, growing rounds have shares of half of the rows, each its own: all
# of them cost what one would, and take a fraction of the time. They get this share of the budget then.
_SPLIT_SHARE = 10.0
_MANY_ROWS = 50_000
_MANY_FOR_BUDGET = 500  # for each cluster and root of columns, over epsilon
_SUMMARY_CLUSTERS = 2  # in the summary, for each one asked for
# With Laplace noise (True) every round costs in proportion: there are fewer.
_LEAST_SUMMARY = {False: 24, True: 16}  # clusters in a summary that shows how a table is shaped
_GROWTH = {False: 3.5, True: 6.5}  # from one round to the next, at most
_REFINING_ROUNDS = 1  # at least; one more for each of these that epsilon times rows for each column reaches
_MORE_ROUNDS = {False: (1.2e3, 1.2e3, 8e3), True: (1.2e3, 8e3)}
_ASSUMED_ROWS = 100_000  # where their number is secret
_ROUNDS_FROM_CENTRES = 5  # from given centres: how large clusters are must first be found
_GROWING_WEIGHTS, _REFINING_WEIGHTS = (0.5, 1.0, 1.0), (0.5, 1.0, 0.5)  # of counts, means and second moments
_GROWING_RADIUS = 1.3  # times the root mean square distance: directions survive clipping
_LEAST_RADIUS, _MOST_RADIUS = 1.1, 3.0  # of refined clusters, which are to be unbiased
_RADIUS_FOR_NOISE = 0.1
_STRIDE = 1.8  # over-relaxation: where clusters touch, Lloyd's steps are short of where they lead; the last is plain
_CLEAR = 2.0  # times its noise: a spread that is known
_FLOOR = 0.02  # least spread, of the last one, and least variance, of the mean one


@dataclass
class AdaptiveClusters:
    """Adaptive k-means, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    n_clusters : int
    extent : Extent
        Where rows lie.
    rows : int or None
        The number of rows, where it is public.
    pure : bool
        Laplace noise, for a budget without delta; otherwise Gaussian noise.
    n_iter : int or "auto"
        Number of releases.
    centres : (k, d) array, optional
        Where to start. Without it clusters grow from one.
    epsilon : float
        Of the budget: a large one pays for more rounds.
    """

    n_clusters: int
    extent: Extent
    rows: int | None
    pure: bool = False
    n_iter: int | str = "auto"
    centres: Array | None = None
    epsilon: float = 1.0
    sizes: list[int] = field(init=False)
    rounds: list[str] = field(init=False)
    parts: int = field(init=False)

    def __post_init__(self) -> None:
        growing = [] if self.centres is not None else self._growing_sizes()
        if self.n_iter != "auto":
            refining = int(self.n_iter) - len(growing)
        else:
            paid = self.epsilon * (self.rows or _ASSUMED_ROWS) / self.extent.columns
            more = sum(paid >= least for least in _MORE_ROUNDS[self.pure])
            refining = _REFINING_ROUNDS + more if growing else _ROUNDS_FROM_CENTRES
        if refining < 1:
            raise ValueError(
                f"n_iter is {self.n_iter}, and {self.n_clusters} cluster(s) take {len(growing)} release(s) to grow and "
                f'one or more to refine; pass n_iter={len(growing) + 1} or more, "auto", or starting centres as init.'
            )
        self.sizes = growing + [self.n_clusters] * refining
        self.rounds = [_GROWING] * (len(growing) - 1) + [_SUMMARY] * bool(growing) + [_REFINING] * refining
        many = max(_MANY_ROWS, _MANY_FOR_BUDGET / self.epsilon * self.n_clusters * math.sqrt(self.extent.columns))
        self.parts = max(1, 2 * (len(growing) - 1)) if (self.rows or 0) >= many and not self.pure else 1

    def _growing_sizes(self) -> list[int]:
        most = max(_LEAST_SUMMARY[self.pure], _SUMMARY_CLUSTERS * self.n_clusters) if self.n_clusters > 1 else 1
        steps = math.ceil(math.log(most) / math.log(_GROWTH[self.pure]))
        if self.n_iter != "auto":
            steps = min(steps, max(1, int(self.n_iter) - 2)) if most > 1 else 0
        return [round(most ** (step / max(1, steps))) for step in range(steps + 1)]

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        kind = Laplace if self.pure else Gaussian
        steps: list[Step] = []
        for name, share in _SHARES.items():
            if count := self.rounds.count(name):
                largest = max(size for size, taken in zip(self.sizes, self.rounds) if taken == name)
                numbers = 1 + self.extent.columns + numbers_in_second_moment(self._kind(name), self.extent.columns)
                if self._share(name) > 1:
                    step = Gaussian(name, 1.0 / math.sqrt(_SPLIT_SHARE), 1, largest * numbers)
                    steps.append(Split(self.parts, step))
                else:
                    steps.append(kind(name, 1.0 / math.sqrt(share), count, largest * numbers))
        return steps

    def _share(self, name: str) -> int:
        """One in how many rows a release of that name is of."""
        return self.parts if name == _GROWING else 1

    def _kind(self, name: str) -> Literal["full", "diag", "spherical"]:
        if name == _REFINING:
            return "spherical"
        return "diag" if self.pure else "full"  # the l1 norm of a full matrix is too large for Laplace noise

    def start(self) -> Clusters:
        """Return one cluster as large as the bounds, or the given centres with their share of them."""
        columns = self.extent.columns
        if self.centres is None:
            return Clusters(np.zeros((1, columns)), np.ones(1), np.diag(self.extent.half_widths**2 / 3)[None])
        number = len(self.centres)
        spreads = np.full(number, np.sum(self.extent.half_widths**2) / 3 / number ** (2 / columns))
        counts = np.full(number, (self.rows or number) / number)
        return Clusters(self.centres, counts, round_covariances(spreads, columns))

    def statistic(self, state: Clusters, index: int, noise: Noise) -> tuple[Clusters, ClusterMoments]:
        """Split or regroup to this round's size, as far as the noise allows, and measure from the centres."""
        name = self.rounds[index]
        kind = self._kind(name)
        weights = _REFINING_WEIGHTS if name == _REFINING else _GROWING_WEIGHTS
        unit = noise(ClusterMoments(Centres(state.centres), np.ones(state.count), *weights, kind))
        unit = self._share(name) * self._deviation(unit)
        root = math.sqrt(self.extent.columns)
        if name == _REFINING:
            if index and self.rounds[index - 1] != _REFINING:
                state = state.regrouped(self.n_clusters)
            # Little noise allows a wide radius, which clips nobody; much noise wants a narrow one.
            means = unit * root / np.maximum(state.counts, 1.0)
            factors = np.clip(np.sqrt(_RADIUS_FOR_NOISE / means), _LEAST_RADIUS, _MOST_RADIUS)
        else:
            again = index == 1 and name == _GROWING and self._unmeasured(state, unit)
            if index and not again:
                affordable = max(state.count, int(state.counts.sum() / (unit * root)))
                state = state.split(min(self.sizes[index], affordable))
            factors = np.full(state.count, _GROWING_RADIUS)
        state = Clusters(self.extent.inside(state.centres), state.counts, state.covariances)
        reach = self.extent.radius
        whole = index == 0 and self.centres is None
        radii = np.full(1, reach) if whole else np.clip(factors * np.sqrt(state.spreads), 1e-6 * reach, reach)
        return state, ClusterMoments(Centres(state.centres), radii, *weights, kind)

    def _unmeasured(self, state: Clusters, unit: float) -> bool:
        """Whether all rows are in so small a part of the bounds that noise hides how small: measure them once more."""
        noise = unit / _GROWING_WEIGHTS[2] / state.counts.sum() * self.extent.radius**2
        return bool(state.spreads[0] < _CLEAR * noise)

    def update(self, state: Clusters, index: int, statistic: ClusterMoments, released: Array, noise: float) -> Clusters:
        """Move each centre by what its rows say, less what is noise."""
        share, columns, radii = self._share(self.rounds[index]), self.extent.columns, statistic.radii
        noise = share * self._deviation(noise)
        counts, sums, squares = statistic.parts(share * released)
        if self.rows is not None:
            counts = counts + (self.rows - counts.sum()) / len(counts)
        counts = np.maximum(counts, max(1.0, noise / statistic.count))
        doubts = state.spreads / columns
        mean_noise = noise * radii / statistic.mean / counts
        shifts = np.stack([shrunk(*each)[0] for each in zip(sums / counts[:, None], mean_noise, doubts)])
        second_noise = noise * radii**2 / statistic.second / counts
        if statistic.covariance_type == "spherical":
            spreads = self._spreads(state, squares / counts, radii, shifts, second_noise)
            covariances = round_covariances(spreads, columns)
        else:
            moments = squares if squares.ndim == 3 else squares[:, :, None] * np.eye(columns)
            moments = moments / counts[:, None, None]
            spreads = self._spreads(state, np.einsum("kii->k", moments), radii, shifts, second_noise)
            moments = moments - shifts[:, :, None] * shifts[:, None, :]
            numbers = numbers_in_second_moment(statistic.covariance_type, columns)
            covariances = _shaped(moments, spreads, second_noise, numbers)
        if self.rounds[index] == _REFINING and index < len(self.rounds) - 1:
            shifts = _STRIDE * shifts
        return Clusters(self.extent.inside(state.centres + shifts), counts, covariances)

    def _deviation(self, noise: float) -> float:
        return noise * math.sqrt(2.0) if self.pure else noise  # of a Laplace law of that scale

    def _spreads(self, state: Clusters, squares: Array, radii: Array, shifts: Array, noise: Array) -> Array:
        """Return mean squared distances from the new centres, from clipped ones from the old: never next to nothing."""
        if state.count > 1:
            squares = radii**2 * _declipped(squares / radii**2, self.extent.columns)
        least = 0.5 * noise if state.count == 1 else np.maximum(_FLOOR * state.spreads, 0.5 * noise)
        return np.minimum(np.maximum(squares - np.sum(shifts**2, axis=1), least), self.extent.radius**2)

    def finish(self, state: Clusters) -> Clusters:
        """Return the clusters, largest first."""
        return state.by_size()


def _shaped(moments: Array, spreads: Array, noise: Array, numbers: int) -> Array:
    """Return covariances with traces `spreads` and the shape of noisy moments (K, d, d), as far as it is not noise."""
    columns = moments.shape[1]
    traces = np.einsum("kii->k", moments)
    shapes = moments - round_covariances(traces, columns)
    power = np.maximum(np.einsum("kij,kij->k", shapes, shapes), 1e-300)
    kept = np.maximum(0.0, 1.0 - (numbers - 1) * noise**2 / power)  # James-Stein
    kept *= np.clip(spreads / np.maximum(traces, 1e-300), 0.0, 3.0)  # undo what clipping has taken from both
    variances, axes = np.linalg.eigh(round_covariances(spreads, columns) + kept[:, None, None] * shapes)
    variances = np.maximum(variances, (_FLOOR * spreads / columns)[:, None])
    variances *= (spreads / variances.sum(axis=1))[:, None]
    return (axes * variances[:, None, :]) @ axes.transpose(0, 2, 1)


def _declipped(squares: Array, columns: int) -> Array:
    """Return mean squared lengths whose clipped values, at length 1, are `squares`: those of round Gaussian clusters.

    Examples
    --------
    >>> _declipped(np.array([0.0, 0.1, 0.5, 0.9, 1.0]), 2).round(2)
    array([0.  , 0.1 , 0.63, 4.  , 4.  ])
    """
    lengths, clipped = _clipped_lengths(columns)
    return np.where(squares < clipped[0], np.maximum(squares, 0.0), np.interp(squares, clipped, lengths))


@lru_cache(maxsize=8)
def _clipped_lengths(columns: int) -> tuple[Array, Array]:
    """Mean squared lengths up to 4, as clipping hides what is beyond, and what clipping at 1 makes of them."""
    lengths = np.geomspace(1e-3, 4.0, 400)
    cut = columns / lengths
    return lengths, lengths * chi2.cdf(cut, columns + 2) + chi2.sf(cut, columns)
