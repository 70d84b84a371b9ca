"""Moment perturbation for Gaussian mixtures: DP-EM as published, and one release of all moments in an iteration.

Both work in the public ball of radius sqrt(d): noise is sized for the bounds, not for the components. They start from
public points, unless the user gives means.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting.parameters import check_count, check_positive, check_word
from tacit.fitting.progress import Watch
from tacit.fitting.published import PublishedMethod, keep_stated_noise
from tacit.mixture.mixture import Mixture, public_means
from tacit.mixture.prior import MixturePrior
from tacit.privacy import Budget, Gaussian, Laplace, Plan, Relation, Step
from tacit.published.compositions import COMPOSITIONS, noise_multipliers
from tacit.release import Curator
from tacit.statistics import ComponentMoments, CovarianceType, numbers_in_second_moment

# Names of the steps of the plans.
WEIGHTS, MEANS, COVARIANCES, MOMENTS = "weights", "means", "covariances", "moments"

# Least eigenvalue of a covariance, in units of the squared radius. The paper says "some value near zero".
_LEAST_EIGENVALUE = 1e-3


@dataclass(frozen=True, kw_only=True)
class JointMoments(PublishedMethod):
    """One release of all moments in an iteration of EM, which costs what a single mechanism of :class:`DPEM` does.

    Parameters
    ----------
    n_iter : int, default 10
        Number of iterations.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal([-2, 0], 0.5, (4000, 2)), rng.normal([2, 1], 0.5, (6000, 2))])
    >>> method = tacit.published.JointMoments(n_iter=5)
    >>> options = {"bounds": (-4, 4), "init": [[-1.0, 0.0], [1.0, 0.0]], "random_state": 0}
    >>> tacit.GaussianMixture(2, method=method, **options).fit(X).weights_.round(1)
    array([0.6, 0.4])
    """

    n_iter: int = 10

    def __post_init__(self) -> None:
        check_count("n_iter", self.n_iter)

    def schedule(
        self, n_components: int, columns: int, covariance_type: CovarianceType, budget: Budget
    ) -> JointSchedule:
        """Return the releases of a fit."""
        return JointSchedule(n_components, columns, covariance_type, self.n_iter)

    def fit_mixture(self, *arguments: Any) -> Mixture:
        """Return a private mixture, as :func:`fit_joint` does."""
        return fit_joint(*arguments)


@dataclass(frozen=True, kw_only=True)
class DPEM(PublishedMethod):
    """DP-EM for Gaussian mixtures: weights, each mean and each covariance are mechanisms of their own.

    Park, Foulds, Chaudhuri and Welling (2017). There are 2K + 1 mechanisms in an iteration, with noise from one of four
    compositions (:mod:`tacit.published.compositions`). Four things are corrected. Sums are divided by the *noisy*
    count. Covariances are centred with the *noisy* mean. Counts are at least their noise. Nothing is scaled by the
    data. Where the paper states the sensitivity 2 for weights and second moments, sqrt(2) is proved and used.

    Parameters
    ----------
    noise : {"GGG", "LLG"}, default "GGG"
        Gaussian noise throughout, or Laplace noise on weights and means.
    composition : {"linear", "advanced", "zcdp", "moments"}, default "zcdp"
        How the paper divides the budget among mechanisms.
    delta_each : float, optional
        The delta of one Gaussian mechanism. By default the budget's delta / 10^4, as in the paper's Figure 3.
    n_iter : int, default 10
        Number of iterations.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal([-2, 0], 0.5, (4000, 2)), rng.normal([2, 1], 0.5, (6000, 2))])
    >>> method = tacit.published.DPEM(composition="zcdp", n_iter=5)
    >>> options = {"bounds": (-4, 4), "init": [[-1.0, 0.0], [1.0, 0.0]], "random_state": 0}
    >>> model = tacit.GaussianMixture(2, method=method, epsilon=4.0, **options).fit(X)
    >>> model.weights_.round(1), model.n_iter_
    (array([0.6, 0.4]), 25)
    """

    noise: str = "GGG"
    composition: str = "zcdp"
    delta_each: float | None = None
    n_iter: int = 10

    def __post_init__(self) -> None:
        check_word("noise", self.noise, ("GGG", "LLG"))
        check_word("composition", self.composition, COMPOSITIONS)
        if self.delta_each is not None:
            check_positive("delta_each", self.delta_each, most=1.0)
        check_count("n_iter", self.n_iter)

    def schedule(
        self, n_components: int, columns: int, covariance_type: CovarianceType, budget: Budget
    ) -> PerParameterSchedule:
        """Return the releases of a fit that spends this budget."""
        multipliers = noise_multipliers(
            self.composition, self.noise, budget, n_components, self.n_iter, self.delta_each
        )
        return PerParameterSchedule(
            n_components, columns, covariance_type, self.n_iter, self.noise == "LLG", multipliers
        )

    def plan(self, steps: list[Step], budget: Budget, neighbors: Relation) -> Plan:
        """Return the plan, with the paper's noise where exact accounting admits it."""
        return keep_stated_noise(steps, budget, neighbors)

    def fit_mixture(self, *arguments: Any) -> Mixture:
        """Return a private mixture, as :func:`fit_per_parameter` does."""
        return fit_per_parameter(*arguments)


@dataclass(frozen=True)
class JointSchedule:
    """The releases of :func:`fit_joint`: one of all moments in each iteration.

    Parameters
    ----------
    n_components, columns : int
    covariance_type : {"full", "tied", "diag", "spherical"}
    iterations : int

    Examples
    --------
    >>> JointSchedule(2, 3, "diag", 5).steps()
    [Gaussian(name='moments', noise_multiplier=1.0, count=5, size=14)]
    """

    n_components: int
    columns: int
    covariance_type: CovarianceType
    iterations: int

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return self.iterations

    def steps(self) -> list[Step]:
        """Return the one step of the plan."""
        seconds = numbers_in_second_moment(_measured_kind(self.covariance_type), self.columns)
        return [Gaussian(MOMENTS, 1.0, self.iterations, self.n_components * (1 + self.columns + seconds))]


@dataclass(frozen=True)
class PerParameterSchedule:
    """The releases of :func:`fit_per_parameter`: weights, each mean and each covariance in each iteration.

    Parameters
    ----------
    n_components, columns : int
    covariance_type : {"full", "tied", "diag", "spherical"}
    iterations : int
    laplace : bool
        Whether weights and means have Laplace noise. Otherwise all noise is Gaussian.
    multipliers : dict from str to float
        The noise of each step, relative to its sensitivity.
    """

    n_components: int
    columns: int
    covariance_type: CovarianceType
    iterations: int
    laplace: bool
    multipliers: Mapping[str, float]

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return self.iterations * (2 * self.n_components + 1)

    def steps(self) -> list[Step]:
        """Return three steps, with the noise that the composition allows."""
        first = Laplace if self.laplace else Gaussian
        many = self.iterations * self.n_components
        seconds = numbers_in_second_moment(_measured_kind(self.covariance_type), self.columns)
        return [
            first(WEIGHTS, self.multipliers[WEIGHTS], self.iterations, self.n_components),
            first(MEANS, self.multipliers[MEANS], many, self.columns),
            Gaussian(COVARIANCES, self.multipliers[COVARIANCES], many, seconds),
        ]


def fit_joint(
    curator: Curator,
    schedule: JointSchedule,
    means: Array | None = None,
    prior: MixturePrior | None = None,
    watch: Watch = lambda done, total: None,
) -> Mixture:
    """Return a mixture, heaviest component first, from one release of all moments in each iteration.

    Parameters
    ----------
    curator : Curator
        Its plan must be the steps of the schedule, calibrated.
    schedule : JointSchedule
    means : (K, d) array, optional
        Where to start. Without it, from public points.
    prior : MixturePrior, optional
    watch : callable, optional
        The function calls ``watch(done, total)`` after each release.
    """
    kind = schedule.covariance_type
    mixture = public_mixture(schedule.n_components, schedule.columns, means)
    for done in range(1, schedule.iterations + 1):
        statistic = ball_moments(mixture, kind, 1.0, 1.0, 1.0)
        measurement = curator.measure(MOMENTS, statistic)
        counts, sums, squares = statistic.parts(measurement.value)
        counts = positive_counts(counts, measurement.noise)
        new_means = inside_ball(sums / counts[:, None])
        covariances = [ball_covariance(*each) for each in zip(squares, counts, new_means)]
        mixture = most_probable(counts, new_means, covariances, kind, prior)
        watch(done, schedule.n_releases)
    return mixture.by_weight()


def fit_per_parameter(
    curator: Curator,
    schedule: PerParameterSchedule,
    means: Array | None = None,
    prior: MixturePrior | None = None,
    watch: Watch = lambda done, total: None,
) -> Mixture:
    """Return a mixture, heaviest component first, from a release of each parameter in each iteration.

    Parameters are those of :func:`fit_joint`.
    """
    kind, components = schedule.covariance_type, range(schedule.n_components)
    mixture, done = public_mixture(schedule.n_components, schedule.columns, means), 0
    for _ in range(schedule.iterations):
        statistic = ball_moments(mixture, kind, 1.0, 0.0, 0.0)
        measurement = curator.measure(WEIGHTS, statistic)
        counts = positive_counts(statistic.parts(measurement.value)[0], measurement.noise)
        watch(done := done + 1, schedule.n_releases)
        new_means = []
        for k in components:
            statistic = ball_moments(mixture, kind, 0.0, 1.0, 0.0, only=k)
            sums = statistic.parts(curator.measure(MEANS, statistic).value)[1]
            new_means.append(inside_ball(sums[0] / counts[k]))
            watch(done := done + 1, schedule.n_releases)
        covariances = []
        for k in components:
            statistic = ball_moments(mixture, kind, 0.0, 0.0, 1.0, only=k)
            squares = statistic.parts(curator.measure(COVARIANCES, statistic).value)[2]
            covariances.append(ball_covariance(squares[0], counts[k], new_means[k]))
            watch(done := done + 1, schedule.n_releases)
        mixture = most_probable(counts, np.stack(new_means), covariances, kind, prior)
    return mixture.by_weight()


def public_mixture(n_components: int, columns: int, means: Array | None = None) -> Mixture:
    """Return components of equal weight and unit covariance, at given means or at public points."""
    means = public_means(n_components, columns) if means is None else means
    covariances = np.broadcast_to(np.eye(columns), (n_components, columns, columns))
    return Mixture(np.full(n_components, 1 / n_components), means, covariances)


def ball_moments(
    mixture: Mixture, kind: CovarianceType, count: float, mean: float, second: float, only: int | None = None
) -> ComponentMoments:
    """Return the statistic of moments about the origin, with these weights, of all components or of one alone."""
    radius = math.sqrt(mixture.means.shape[1])
    return ComponentMoments(
        mixture.components(), radius, count, mean, second, _measured_kind(kind), whitened=False, only=only
    )


def positive_counts(counts: Array, noise: float) -> Array:
    """Return counts that can be divided by: a noisy count below its own noise says nothing."""
    return np.maximum(counts, max(1.0, noise))


def inside_ball(means: Array) -> Array:
    """Return means shortened to the ball of radius sqrt(d), where all rows are."""
    radius = math.sqrt(means.shape[-1])
    return means * np.minimum(1.0, radius / np.maximum(np.linalg.norm(means, axis=-1, keepdims=True), 1e-300))


def ball_covariance(square: Array, count: float, mean: Array) -> Array:
    """Return a covariance from a noisy second moment about the origin, with eigenvalues raised to the least."""
    columns = len(mean)
    if np.ndim(square) == 2:
        matrix = square / count - np.outer(mean, mean)
    elif np.ndim(square) == 1:
        matrix = np.diag(square / count - mean**2)
    else:
        matrix = np.eye(columns) * (square / count - mean @ mean) / columns
    values, axes = np.linalg.eigh(matrix)
    return (axes * np.maximum(values, _LEAST_EIGENVALUE * columns)) @ axes.T


def most_probable(
    counts: Array, means: Array, covariances: list[Array], kind: CovarianceType, prior: MixturePrior | None
) -> Mixture:
    """Return the mixture with these moments or, with a prior, the one of highest posterior."""
    mixture = Mixture(counts / counts.sum(), means, np.stack(covariances))
    if prior is not None:
        mixture = prior.posterior_mode(counts, mixture)
    return mixture.constrain(kind)


def _measured_kind(kind: CovarianceType) -> CovarianceType:
    """Return the type of covariances that is measured: tied ones are pooled from full ones."""
    return "full" if kind == "tied" else kind
