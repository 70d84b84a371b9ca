"""Moment perturbation as published: DP-EM for Gaussian mixtures (Park, Foulds, Chaudhuri and Welling, 2017).

Two methods, kept under their own names beside the default, ``scale_free``:

- ``PerParameter``: the paper's. Weights, each mean and each covariance are mechanisms of their own, 2K + 1 of them an
  iteration, with noise from one of four compositions (:mod:`tacit.mixture.published_compositions`). Corrected: sums are
  divided by the *noisy* count, covariances are centred with the *noisy* mean, counts are floored, and nothing is scaled
  by the data. Where the paper states the sensitivity 2 for weights and second moments, sqrt(2) is proved and used.
- ``Joint``: one release of all moments an iteration, which costs what a single mechanism does.

Both work in the public ball: noise is sized for the bounds, not for the components.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.fitting.engine import Noise
from tacit.mixture.mixture import Mixture
from tacit.mixture.prior import MixturePrior
from tacit.mixture.scale_free import constrained
from tacit.privacy import Gaussian, Laplace, Step
from tacit.statistics import ComponentMoments, CovarianceType, numbers_in_second_moment
from tacit.statistics.components import Array

ITERATIONS = 10
_WEIGHTS, _MEANS, _COVARIANCES, _MOMENTS = "weights", "means", "covariances", "moments"
_LEAST_EIGENVALUE = 1e-3  # of a covariance, in units of the squared radius: "some value near zero"


def public_means(count: int, columns: int) -> Array:
    """Return `count` points spread over the ball of radius sqrt(d) / 2, the same each time.

    Examples
    --------
    >>> public_means(2, 3).shape
    (2, 3)
    """
    directions = np.random.default_rng(20170).normal(size=(count, columns))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True) * (math.sqrt(columns) / 2)


@dataclass
class _BallModel:
    """What the two methods share: rows in the ball of radius sqrt(d), and where they start."""

    n_components: int
    columns: int
    covariance_type: CovarianceType
    n_iter: int | str = "auto"
    means: Array | None = None
    prior: MixturePrior | None = None
    rounds: list[str] = field(init=False)

    @property
    def iterations(self) -> int:
        return ITERATIONS if self.n_iter == "auto" else int(self.n_iter)

    def start(self) -> Mixture:
        means = public_means(self.n_components, self.columns) if self.means is None else self.means
        covariances = np.broadcast_to(np.eye(self.columns), (self.n_components, self.columns, self.columns))
        return Mixture(np.full(self.n_components, 1 / self.n_components), means, covariances)

    def finish(self, state: Mixture) -> Mixture:
        return state.by_weight()

    def _moments(
        self, mixture: Mixture, count: float, mean: float, second: float, only: int | None
    ) -> ComponentMoments:
        kind = "full" if self.covariance_type == "tied" else self.covariance_type
        return ComponentMoments(
            mixture.components(), math.sqrt(self.columns), count, mean, second, kind, whitened=False, only=only
        )

    def _covariance(self, square: Array, count: float, mean: Array) -> Array:
        """Return a covariance from a noisy second moment about the origin, negative eigenvalues lifted."""
        if np.ndim(square) == 2:
            matrix = square / count - np.outer(mean, mean)
        elif np.ndim(square) == 1:
            matrix = np.diag(square / count - mean**2)
        else:
            matrix = np.eye(self.columns) * (square / count - mean @ mean) / self.columns
        values, axes = np.linalg.eigh(matrix)
        return (axes * np.maximum(values, _LEAST_EIGENVALUE * self.columns)) @ axes.T

    def _settled(self, counts: Array, mixture: Mixture) -> Mixture:
        if self.prior is not None:
            mixture = self.prior.posterior_mode(counts, mixture)
        return constrained(mixture, self.covariance_type)


@dataclass
class Joint(_BallModel):
    """All moments of an iteration in one release."""

    def __post_init__(self) -> None:
        self.rounds = [_MOMENTS] * self.iterations

    def steps(self) -> list[Step]:
        """Return one step."""
        kind = "full" if self.covariance_type == "tied" else self.covariance_type
        size = self.n_components * (1 + self.columns + numbers_in_second_moment(kind, self.columns))
        return [Gaussian(_MOMENTS, 1.0, self.iterations, size)]

    def statistic(self, state: Mixture, index: int, noise: Noise) -> tuple[Mixture, ComponentMoments]:
        """Return all three moments of all components."""
        return state, self._moments(state, 1.0, 1.0, 1.0, None)

    def update(self, state: Mixture, index: int, statistic: ComponentMoments, released: Array, noise: float) -> Mixture:
        """M-step on noisy moments."""
        counts, sums, squares = statistic.parts(released)
        counts = _floored(counts, noise)
        means = _inside(sums / counts[:, None])
        covariances = np.stack([self._covariance(*each) for each in zip(squares, counts, means)])
        return self._settled(counts, Mixture(counts / counts.sum(), means, covariances))


@dataclass
class PerParameter(_BallModel):
    """The paper's method: every parameter is a mechanism of its own.

    Parameters
    ----------
    multipliers : dict
        Noise of the steps "weights", "means" and "covariances", relative to sensitivity.
    noise : {"GGG", "LLG"}
        Gaussian noise throughout, or Laplace noise on weights and means.
    """

    multipliers: dict[str, float] = field(default_factory=dict)
    noise: str = "GGG"

    def __post_init__(self) -> None:
        one = [_WEIGHTS] + [_MEANS] * self.n_components + [_COVARIANCES] * self.n_components
        self.rounds = one * self.iterations

    def steps(self) -> list[Step]:
        """Return three steps, with the noise the composition found."""
        kind = "full" if self.covariance_type == "tied" else self.covariance_type
        first = Laplace if self.noise == "LLG" else Gaussian
        many = self.iterations * self.n_components
        return [
            first(_WEIGHTS, self.multipliers[_WEIGHTS], self.iterations, self.n_components),
            first(_MEANS, self.multipliers[_MEANS], many, self.columns),
            Gaussian(_COVARIANCES, self.multipliers[_COVARIANCES], many, numbers_in_second_moment(kind, self.columns)),
        ]

    def start(self) -> _Gathering:
        """Return the starting point, with nothing of an iteration gathered yet."""
        return _Gathering(super().start())

    def finish(self, state: _Gathering) -> Mixture:
        """Return the mixture that the last iteration ended with."""
        return state.at.by_weight()

    def statistic(self, state: _Gathering, index: int, noise: Noise) -> tuple[_Gathering, ComponentMoments]:
        """Return one moment of one component, at the parameters the iteration began with."""
        name, component = self._what(index)
        weights = {_WEIGHTS: (1.0, 0.0, 0.0), _MEANS: (0.0, 1.0, 0.0), _COVARIANCES: (0.0, 0.0, 1.0)}[name]
        return state, self._moments(state.at, *weights, None if name == _WEIGHTS else component)

    def update(
        self, state: _Gathering, index: int, statistic: ComponentMoments, released: Array, noise: float
    ) -> _Gathering:
        """Gather weights, then means, then covariances; with the last of them, the iteration is done."""
        name, component = self._what(index)
        counts, sums, squares = statistic.parts(released)
        if name == _WEIGHTS:
            return replace(state, counts=_floored(counts, noise))
        count = state.counts[component]
        if name == _MEANS:
            return replace(state, means=(*state.means, _inside(sums[0] / count)))
        covariance = self._covariance(squares[0], count, state.means[component])
        state = replace(state, covariances=(*state.covariances, covariance))
        if component < self.n_components - 1:
            return state
        likeliest = Mixture(state.counts / state.counts.sum(), np.stack(state.means), np.stack(state.covariances))
        return _Gathering(self._settled(state.counts, likeliest))

    def _what(self, index: int) -> tuple[str, int]:
        place = index % (2 * self.n_components + 1)
        return self.rounds[index], (place - 1) % self.n_components


@dataclass(frozen=True, eq=False)
class _Gathering:
    """A fit in the middle of an iteration: the mixture rows are weighed at, and what has been gathered."""

    at: Mixture
    counts: Array = field(default_factory=lambda: np.empty(0))
    means: tuple[Array, ...] = ()
    covariances: tuple[Array, ...] = ()


def _floored(counts: Array, noise: float) -> Array:
    """Return counts that can be divided by: a noisy count below its own noise says nothing."""
    return np.maximum(counts, max(1.0, noise))


def _inside(means: Array) -> Array:
    """Return means shortened to the ball of radius sqrt(d), where all rows are."""
    reach = math.sqrt(means.shape[-1])
    return means * np.minimum(1.0, reach / np.maximum(np.linalg.norm(means, axis=-1, keepdims=True), 1e-300))
