"""The generalised method of moments: what all releases of a fit say together about the mixture, and how certain it is.

Every release is a noisy sum of a bounded function t of the rows. The function is known, the law of the noise is known,
and for a mixture theta so are the mean and the covariance of t(row). So the releases S are data, with a law. By the
central limit theorem S ~ N(n m(theta), n C(theta) + noise^2 I). Matching all of them at once (Hansen, 1982) gives an
estimate and its standard errors, sampling error and noise together, at no cost to privacy. Expectation-maximisation
need not have converged. Where components overlap it moves by small steps and the last mixture is still on its way, so
that simulating the same fit from there would not show how far it is from the truth.

**Weights.** Each release gets the weights that would be best if it were the only one: Omega^-1 G, where Omega is its
covariance and G = n Cov(t, score) the gradient of its mean. The rounds saw the same rows, so that their sampling errors
are correlated. The standard errors allow for that ("sandwich"): the weighted numbers of all releases are added up row
by row.

**Integrals** are sums over evenly spread points, the same number for each component (quasi-Monte Carlo). The points are
the same each time.

**Starts.** A fit may have mistaken two components for one. So the equations are solved from several starts, all of them
private values, and the solution with the highest likelihood of the releases is taken.

In a table with levels, releases made while the mixture grew are of encoded rows. They are matched too, unless they have
too many numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.mixture.mixture import Mixture
from tacit.mixture.mixture_coordinates import Points, move, row_values
from tacit.statistics import ComponentMoments, CovarianceType, TableMoments

# Tuned numbers. experiments/interval_coverage.py measures how often intervals hold the truth.

# Number of points for each component. With fewer, the weights fit the points, and standard errors come out too small.
_POINTS = 4096
# The same for simulations, and while starts are compared.
_FEW_POINTS = 256
# Newton's method.
_ROUNDS = 12  # Most rounds.
_LONGEST_STEP = 0.5  # The most that a coordinate moves in one round.
_LAST_STEP = 0.01  # Longest step after which the solution counts as found. Standard errors are seldom as small.
# Information that is added about every coordinate: what the releases say nothing about is known to a few units.
_LEAST_INFORMATION = 0.05


@dataclass(frozen=True, eq=False)
class Release:
    """A statistic, what was released of it, and the standard deviation of the noise."""

    statistic: ComponentMoments | TableMoments
    value: Array
    noise: float


Simulate = Callable[[Callable[[ComponentMoments | TableMoments, float], Array]], list[Release]]
"""Simulates a fit: given a function that answers a statistic with noise of some size, it returns all releases."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The releases of a fit.

    Parameters
    ----------
    releases : sequence of Release
    covariance_type : {"full", "tied", "diag", "spherical"}
        Type of the covariances that are estimated.
    rows : int or None
        Number of rows, where it is public.
    points : int
        Number of points for each component.

    Examples
    --------
    A mean of 0.3 and a variance of 1, released with a little noise, from 1,000 rows:

    >>> from tacit.statistics import Components
    >>> one = Components(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> moments = ComponentMoments(one, radius=50.0)
    >>> release = Release(moments, np.array([1000, 1000 * 0.3 / 50, 1000 * 1.09 / 2500]), 0.1)
    >>> start = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> solution = Evidence([release], "full", 1000).solve([start])
    >>> solution.mixture.means.round(2), solution.mixture.covariances.round(2)
    (array([[0.3]]), array([[[1.]]]))
    >>> float(solution.standard_errors()[1][0, 0].round(3))  # Of the mean: sqrt(1 / 1000 + (0.1 * 50 / 1000)^2)
    0.032
    """

    releases: Sequence[Release]
    covariance_type: CovarianceType
    rows: int | None
    points: int = _POINTS

    def solve(self, starts: Sequence[Mixture]) -> MomentSolution:
        """Return the most likely of the mixtures that several starts lead to."""
        last = self.releases[-1]
        rows = float(self.rows or max(1.0, last.statistic.parts(last.value)[0].sum()))
        rough = replace(self, points=_FEW_POINTS)
        best = max((rough._solve_from(start, rows) for start in starts), key=lambda found: found.log_likelihood)
        return self._solve_from(best.mixture, best.rows)

    def _solve_from(self, mixture: Mixture, rows: float) -> MomentSolution:
        here, step = self.at(mixture, rows)
        for _ in range(_ROUNDS):
            if np.abs(step).max() < _LAST_STEP:
                break
            here, step = self.at(*self.step_from(here.mixture, here.rows, step))
        return here

    def at(self, mixture: Mixture, rows: float) -> tuple[MomentSolution, Array]:
        """Return what the releases say at a mixture, and the Newton step from there."""
        points = Points(mixture, self.covariance_type, self.points)
        information, pull, by_point, of_noise, misfit, size, numbers = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
        for release in self.releases:
            law = _Law(points, release, rows, self.rows is None)
            off = release.value - rows * law.mean
            information += law.weights.T @ law.gradient
            pull += law.weights.T @ off
            by_point += law.values @ law.weights
            of_noise += release.noise**2 * law.weights.T @ law.weights
            misfit += float(off @ np.linalg.solve(law.covariance, off))
            size += float(np.linalg.slogdet(law.covariance)[1])
            numbers += len(off)
        spread = of_noise + rows * (by_point * points.proportions[:, None]).T @ by_point
        least = _LEAST_INFORMATION * np.eye(len(spread))
        inverse = np.linalg.inv(information + least)
        covariance, fit = inverse @ (spread + least) @ inverse.T, -0.5 * (misfit + size)
        return MomentSolution(self, mixture, rows, inverse, covariance, misfit / numbers, fit), inverse @ pull

    def step_from(self, mixture: Mixture, rows: float, step: Array) -> tuple[Mixture, float]:
        """Return the mixture and the number of rows after a step, which is shortened if it is too long."""
        if self.rows is None:
            rows, step = rows * math.exp(float(np.clip(step[-1], -_LONGEST_STEP, _LONGEST_STEP))), step[:-1]
        longest = np.abs(step).max(initial=_LONGEST_STEP)
        return move(mixture, step * (_LONGEST_STEP / longest), self.covariance_type), rows


class _Law:
    """The law of a release: its centred values at the points, mean, covariance, gradient and best weights."""

    def __init__(self, points: Points, release: Release, rows: float, secret: bool) -> None:
        self.values = row_values(release.statistic, points.places)
        self.mean = points.proportions @ self.values
        self.values -= self.mean
        weighted = rows * (self.values * points.proportions[:, None]).T
        self.gradient = weighted @ points.scores
        if secret:  # The number of rows is estimated as well, as a logarithm.
            self.gradient = np.hstack([self.gradient, rows * self.mean[:, None]])
        self.covariance = weighted @ self.values
        self.covariance[np.diag_indices(len(self.covariance))] += release.noise**2
        self.weights = np.linalg.solve(self.covariance, self.gradient)


@dataclass(frozen=True, eq=False)
class MomentSolution:
    """A mixture, how certain it is, and how far the releases are from what it predicts.

    Parameters
    ----------
    evidence : Evidence
    mixture : Mixture
    rows : float
    inverse : array
        Inverse of the information, which Newton's method multiplies by.
    covariance : array
        Covariance of the coordinates, and of the logarithm of the number of rows where that is not public.
    misfit : float
        Mean squared distance of a number released from what is predicted, in standard deviations: 1 or less if rows
        follow such a mixture.
    log_likelihood : float
        Log-likelihood of the releases up to a constant, as if they were independent.
    """

    evidence: Evidence
    mixture: Mixture
    rows: float
    inverse: Array
    covariance: Array
    misfit: float
    log_likelihood: float

    def standard_errors(self) -> tuple[Array, Array]:
        """Return the standard errors of the logits of weights, (K,), and of means, (K, d)."""
        weights, columns = self.mixture.weights, self.mixture.means.shape[1]
        free = len(weights) - 1
        by_logs = (np.diag(weights) - np.outer(weights, weights))[:, :free]
        of_weights = np.sqrt(np.einsum("ki,ij,kj->k", by_logs, self.covariance[:free, :free], by_logs))
        factors = np.linalg.cholesky(self.mixture.covariances)
        of_means = np.empty_like(self.mixture.means)
        for k, factor in enumerate(factors):
            place = slice(free + k * columns, free + (k + 1) * columns)
            of_means[k] = np.sqrt(np.diag(factor @ self.covariance[place, place] @ factor.T))
        return of_weights / np.maximum(weights * (1 - weights), 1e-12), of_means

    def simulate(self, simulate: Simulate, rng: np.random.Generator) -> tuple[Mixture, MomentSolution]:
        """Return a mixture that may as well be the truth, and what would be found then, with new noise and rows.

        The fit is replayed, because what it measures depends on what it released before.
        """
        evidence, number = replace(self.evidence, points=_FEW_POINTS), self.rows
        truth = self._draw_truth(rng)
        points = Points(truth, evidence.covariance_type, _FEW_POINTS)
        rows = number * points.proportions + np.sqrt(number * points.proportions) * rng.normal(
            size=len(points.proportions)
        )
        rows += points.proportions * (number - rows.sum())  # They add up to the number of rows.

        def release(statistic: ComponentMoments | TableMoments, noise: float) -> Array:
            return rows @ row_values(statistic, points.places) + noise * rng.normal(size=statistic.size)

        return truth, replace(evidence, releases=simulate(release))._solve_from(truth, number)

    def _draw_truth(self, rng: np.random.Generator) -> Mixture:
        """Return a mixture drawn from the law that the truth has, as far as it is known."""
        known = len(self.covariance) - (self.evidence.rows is None)
        variances, axes = np.linalg.eigh(self.covariance[:known, :known])
        step = axes @ (np.sqrt(np.maximum(variances, 0.0)) * rng.normal(size=known))
        return self.evidence.step_from(
            self.mixture, self.rows, np.append(step, 0.0) if self.evidence.rows is None else step
        )[0]
