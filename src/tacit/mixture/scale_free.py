"""The scale-free mixture: each component's moments are released in that component's own current coordinates.

Noise sized for the whole of the public bounds would drown components that are small beside them. So round by round each
component is measured with its own last covariance as the unit, starting from the bounds: noise is then relative to the
component, and the unit contracts geometrically, as in CoinPress (Biswas et al., 2020) for a single Gaussian.

The mixture grows by splitting: one Gaussian, then two, four, ... up to twice as many as asked for, which are then
merged down, cheapest pair first, and refined. Neither splitting nor merging costs privacy, and starting with too many
is what keeps the result from depending on luck.

What makes it accurate, beside that, is in :mod:`tacit.fitting.shrinkage` and in three choices made without data:

- the weights of counts, means and second moments in the release, for the least expected loss (``block_weights``);
- the clipping radius: little noise allows a wide one, much noise wants a narrow one (``clipping_radius``);
- how many components the noise can support (``_affordable``). If that is fewer than asked for, the rest are copies.

Clipping in a component's own coordinates has one danger: a column that is the same in nearly all rows (a rare
condition, a cost that is mostly zero) looks narrower each round, until the few rows that differ are impossible under
the model. So the last release, of ``ComponentSquares``, is of plain squared deviations in public coordinates, where
nothing is clipped: where it clearly shows more variance than the model has, the model is widened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from tacit.fitting.engine import Noise
from tacit.fitting.moment_weights import block_weights, clipping_radius, kept_by_clipping
from tacit.fitting.shrinkage import shrunk, shrunk_covariance
from tacit.mixture.mixture import Mixture
from tacit.mixture.prior import MixturePrior
from tacit.privacy import Gaussian, Relation, Step
from tacit.statistics import (
    ComponentMoments,
    ComponentSquares,
    CovarianceType,
    TableComponents,
    TableMoments,
    TableSquares,
    least_radius,
    numbers_in_second_moment,
)
from tacit.statistics.components import Array

GROWING, REFINING, TAILS = "growing moments", "refining moments", "tails"
_ROUNDS_PER_SIZE = 2
_REFINING_ROUNDS = 6
_REFINING_ROUNDS_WITH_GAPS = 14  # where cells are missing, EM goes by smaller steps
# Shares of the budget, in squared signal-to-noise, that rounds get.
SHARES = {GROWING: 1.0, REFINING: 3.0, TAILS: 2.0}
_CLEAR = 3.0  # standard deviations of noise by which tails must stand out
_TAILED = 4.0  # and how many times the variance: less costs under a nat, and widening is not free either
_ROWS_PER_COMPONENT = 1.5  # rows a component needs, per column and per unit of noise
_HOPELESS = 0.1  # share of those rows below which a release says nothing worth listening to
_FLOOR = 0.02  # least variance in one round, relative to the component's mean variance
_LEAST_DOUBT = 0.05  # as components go on moving from round to round


@dataclass(frozen=True, eq=False)
class Fit:
    """Where a fit stands: the mixture, and how many rows there are, as far as is known."""

    mixture: Mixture
    rows: float | None
    doubts: Array | None = None  # of means and covariances (2, K): how far off they may be, as relative variances


@dataclass
class ScaleFree:
    """Scale-free EM for a Gaussian mixture, in coordinates where rows have length at most sqrt(d).

    Parameters
    ----------
    n_components, columns : int
    covariance_type : {"full", "tied", "diag", "spherical"}
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    n_iter : int or "auto"
        Number of releases.
    means : (K, d) array, optional
        Where to start. Without it the mixture grows from one component.
    prior : MixturePrior, optional
    least_variances : (d,) array, optional
        Public knowledge of how narrow a column can be.
    missing : bool
        Whether cells may be missing, and each component marginalises them.
    beside : tuple of str
        Releases that are counted in `n_iter` and made elsewhere.
    """

    n_components: int
    columns: int
    covariance_type: CovarianceType
    neighbors: Relation
    rows: int | None
    n_iter: int | str = "auto"
    means: Array | None = None
    prior: MixturePrior | None = None
    least_variances: Array | float = 1e-8
    missing: bool = False
    beside: tuple[str, ...] = ()
    also: ClassVar[tuple[str, ...]] = (TAILS,)  # releases that neither grow nor refine
    sizes: list[int] = field(init=False)
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        growing = [] if self.means is not None else self._growing_sizes()
        enough = _REFINING_ROUNDS_WITH_GAPS if self.missing else _REFINING_ROUNDS
        others = (*self.also, *self.beside)
        refining = enough if self.n_iter == "auto" else int(self.n_iter) - len(growing) - len(others)
        if refining < 1:
            raise ValueError(
                f"n_iter is {self.n_iter}, and {self.n_components} component(s) take {len(growing)} release(s) to "
                f"grow, one or more to refine and one for {' and one for '.join(others)}; pass "
                f'n_iter={len(growing) + 1 + len(others)} or more, "auto", or starting means as init.'
            )
        self.sizes = growing + [self.n_components] * (refining + 1)
        self.rounds = [GROWING] * len(growing) + [REFINING] * refining + [TAILS]

    def _growing_sizes(self) -> list[int]:
        most = 2 * self.n_components if self.n_components > 1 else 1
        sizes = [1]
        while sizes[-1] < most:
            sizes.append(min(2 * sizes[-1], most))
        enough = _ROUNDS_PER_SIZE * len(sizes) + 1 + len(self.also) + len(self.beside)
        short = self.n_iter != "auto" and int(self.n_iter) < enough
        return [size for size in sizes for _ in range(1 if short else _ROUNDS_PER_SIZE)]

    def steps(self) -> list[Step]:
        """Return the plan's steps: growing rounds get more noise than refining ones."""
        steps: list[Step] = []
        for name, share in SHARES.items():
            if count := self.rounds.count(name):
                largest = max(size for size, step in zip(self.sizes, self.rounds) if step == name)
                steps.append(Gaussian(name, 1.0 / math.sqrt(share), count, self._numbers(largest, name)))
        return steps

    def _numbers(self, components: int, name: str) -> int:
        if name == TAILS:
            return components * self.columns
        kind = self._kind(name)
        seconds = 1 if kind == "tied" else components
        return components * (1 + self.columns) + seconds * numbers_in_second_moment(kind, self.columns)

    def _kind(self, name: str) -> CovarianceType:
        # While growing, the directions in which components are long are wanted, whatever the covariances end up as.
        return "full" if name == GROWING else self.covariance_type

    def start(self) -> Fit:
        """Return one component as large as the bounds, or the given means."""
        means = np.zeros((1, self.columns)) if self.means is None else self.means
        covariances = np.broadcast_to(np.eye(self.columns), (len(means), self.columns, self.columns))
        if len(means) > 1:  # as many balls as components, of the same volume together
            covariances = covariances / len(means) ** (2 / self.columns)
        return Fit(Mixture(np.full(len(means), 1 / len(means)), means, covariances), self.rows)

    def statistic(
        self, state: Fit, index: int, noise: Noise
    ) -> tuple[Fit, ComponentMoments] | tuple[Fit, ComponentSquares]:
        """Split or merge to this round's size, as far as the noise allows, and measure in the components' own units."""
        if self.rounds[index] == TAILS:
            return state, self._squares(state.mixture)
        kind = self._kind(self.rounds[index])
        count, mean = block_weights(self.columns, kind, self.neighbors)
        unit = noise(ComponentMoments(state.mixture.components(), 1.0, count, mean, 1.0, kind))
        size = (
            min(self._target(state, index), self._affordable(state, unit)) if self.means is None else self.n_components
        )
        mixture = state.mixture
        mixture = mixture.split(size) if mixture.count < size else mixture.merge(size)
        doubts = (
            state.doubts if state.doubts is not None and mixture.count == state.mixture.count else np.ones((2, size))
        )
        mixture = constrained(mixture, kind)
        radius = clipping_radius(self.columns, kind, None if state.rows is None else unit / (state.rows / size))
        return Fit(mixture, state.rows, doubts), self._moments(mixture, radius, count, mean, kind)

    def _moments(
        self, mixture: Mixture, radius: float, count: float, mean: float, kind: CovarianceType
    ) -> ComponentMoments | TableMoments:
        if not self.missing:
            return ComponentMoments(mixture.components(), radius, count, mean, 1.0, kind)
        radius = max(radius, least_radius(self.columns, kind))
        numbers = TableComponents.of_numbers(mixture.components())
        fill = kept_by_clipping(self.columns, radius)
        return TableMoments(numbers, radius, count, mean, 1.0, 1.0, kind, missing=True, fill=fill)

    def _squares(self, mixture: Mixture) -> ComponentSquares | TableSquares:
        components = mixture.components()
        return (
            TableSquares(TableComponents.of_numbers(components), True) if self.missing else ComponentSquares(components)
        )

    def _target(self, state: Fit, index: int) -> int:
        return self.sizes[index]

    def _affordable(self, state: Fit, unit: float) -> int:
        if state.rows is None:
            return 1
        most = int(state.rows / (_ROWS_PER_COMPONENT * unit * self.columns))
        return max(1, min(most, 2 * state.mixture.count))

    def update(
        self,
        state: Fit,
        index: int,
        statistic: ComponentMoments | TableMoments | ComponentSquares | TableSquares,
        released: Array,
        noise: float,
    ) -> Fit:
        """Move each component by what its moments say, less what is noise; at the end, widen what has tails."""
        if isinstance(statistic, ComponentSquares | TableSquares):
            return replace(state, mixture=self._widened(state, statistic, released, noise))
        old, radius, kind = state.mixture, statistic.radius, statistic.covariance_type
        counts, sums, squares = statistic.parts(released)
        counts = self.balanced(counts)
        if counts.sum() < _HOPELESS * _ROWS_PER_COMPONENT * noise * self.columns:
            return replace(state, rows=max(counts.sum(), 1.0))  # wide rather than wrong
        counts, rows = floored(counts, noise / statistic.count)
        mean_noise = noise * radius / statistic.mean / counts
        shifts = np.stack([shrunk(*each)[0] for each in zip(sums / counts[:, None], mean_noise, state.doubts[0])])
        covariances, doubts = self._covariances(statistic, counts, shifts, squares, noise * radius**2, state.doubts[1])
        mean_doubts = state.doubts[0] * mean_noise**2 / (state.doubts[0] + mean_noise**2)
        mean_doubts /= np.einsum("kii->k", covariances) / self.columns
        doubts = np.clip(np.stack([mean_doubts, doubts]) + _LEAST_DOUBT, 0.0, 1.0)
        factors = statistic.components.factors
        means = np.clip(
            old.means + np.einsum("kij,kj->ki", factors, shifts), -_reach(self.columns), _reach(self.columns)
        )
        covariances = _within_reach(factors @ covariances @ factors.transpose(0, 2, 1))
        covariances = _at_least(covariances, self.least_variances)
        mixture = Mixture(counts / counts.sum(), means, covariances)
        if self.prior is not None:
            mixture = self.prior.posterior_mode(counts, mixture)
        return Fit(constrained(mixture, kind), rows, doubts)

    def balanced(self, counts: Array) -> Array:
        """Return noisy counts (K,) that add up to the number of rows, where that is public."""
        return counts if self.rows is None else counts + (self.rows - counts.sum()) / len(counts)

    def _widened(
        self, state: Fit, statistic: ComponentSquares | TableSquares, released: Array, noise: float
    ) -> Mixture:
        """Return the mixture with variances that the rows' plain deviations clearly exceed raised to those.

        Correlations are kept: rows and columns of a covariance are scaled.
        """
        mixture = state.mixture
        counts = np.maximum(mixture.weights * state.rows, 1.0)[:, None]
        variances = statistic.parts(released) / counts
        unsure = noise * math.sqrt(self.columns) / counts
        current = np.einsum("kii->ki", mixture.covariances)
        exceeds = variances > np.maximum(current + _CLEAR * unsure, _TAILED * current)
        # By as much as is clear, no more: noise alone exceeds it now and then, and by little.
        wider = np.where(exceeds, np.maximum(variances - _CLEAR * unsure, current), current)
        scale = np.sqrt(wider / current)
        covariances = mixture.covariances * scale[:, :, None] * scale[:, None, :]
        return constrained(replace(mixture, covariances=covariances), self.covariance_type)

    def _covariances(
        self,
        statistic: ComponentMoments | TableMoments,
        counts: Array,
        shifts: Array,
        squares: Array,
        noise: float,
        doubts: Array,
    ) -> tuple[Array, Array]:
        """Return covariances in the components' last coordinates, (K, d, d), and what is left of doubts."""
        radius, kind, identity = statistic.radius, statistic.covariance_type, np.eye(self.columns)
        if kind == "tied":
            between = np.einsum("k,ki,kj->ij", counts, shifts, shifts)
            rows = counts.sum()
            pooled, doubt = shrunk_covariance(
                (squares - between) / rows, noise / rows, float(doubts.mean()), radius, _FLOOR, "full"
            )
            return np.broadcast_to(pooled, (len(counts), *pooled.shape)), np.full(len(counts), doubt)
        estimates = []
        for count, shift, square, doubt in zip(counts, shifts, squares, doubts):
            if kind == "full":
                moment = square / count - np.outer(shift, shift)
            elif kind == "diag":
                moment = np.diag(square / count - shift**2)
            else:
                moment = (square / count - shift @ shift) / self.columns * identity
            estimates.append(shrunk_covariance(moment, noise / count, doubt, radius, _FLOOR, kind))
        covariances, left = zip(*estimates)
        return np.stack(covariances), np.array(left)

    def finish(self, state: Fit) -> Mixture:
        """Return the final mixture, with as many components as asked for, heaviest first."""
        return state.mixture.repeated(self.n_components).by_weight()


def floored(counts: Array, noise: float) -> tuple[Array, float]:
    """Return counts (K,) of which none is below its noise or a hundredth of its share, and how many rows there are."""
    rows = max(float(counts.sum()), noise)
    return np.maximum(counts, max(0.01 * rows / len(counts), noise)), rows


def _within_reach(covariances: Array) -> Array:
    """Return covariances (K, d, d) with no variance, in any direction, above d: rows are no longer than sqrt(d).

    Without this limit what noise adds round by round would grow without one.
    """
    variances, axes = np.linalg.eigh(covariances)
    return (axes * np.minimum(variances, covariances.shape[1])[:, None, :]) @ axes.transpose(0, 2, 1)


def _at_least(covariances: Array, variances: Array | float) -> Array:
    """Return covariances (K, d, d) with diagonals raised to at least `variances`."""
    missing = np.maximum(0.0, variances - np.einsum("kii->ki", covariances))
    # And a hair on all of them, so that nearly singular ones stay positive definite.
    return covariances + (missing + 1e-9)[:, :, None] * np.eye(covariances.shape[1])


def constrained(mixture: Mixture, kind: CovarianceType) -> Mixture:
    """Return the mixture with covariances of the given type that are nearest in likelihood."""
    covariances = mixture.covariances
    columns = covariances.shape[1]
    if kind == "tied":
        pooled = np.einsum("k,kij->ij", mixture.weights, covariances)
        covariances = np.broadcast_to(pooled, covariances.shape)
    elif kind == "diag":
        covariances = covariances * np.eye(columns)
    elif kind == "spherical":
        covariances = np.einsum("kii->k", covariances)[:, None, None] / columns * np.eye(columns)
    return Mixture(mixture.weights, mixture.means, covariances)


def _reach(columns: int) -> float:
    return math.sqrt(columns)
