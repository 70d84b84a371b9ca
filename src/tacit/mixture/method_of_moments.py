"""What all releases of a fit say together about the mixture, and how surely.

Every release is a noisy sum of a bounded function t of the rows. The function is known, the law of the noise is known,
and for a mixture theta so are the mean and the covariance of t(row): so the releases S are data, with a law. By the
central limit theorem S ~ N(n m(theta), n C(theta) + noise^2 I). Matching all of them at once (generalised method of
moments; Hansen, 1982) gives an estimate and its standard errors, sampling error and noise together, at no cost to
privacy. Expectation-maximisation need not have converged: where components overlap it moves by small steps, the last
mixture is still on its way, and simulating the same fit from there would not show how far it is from the truth.

**Weights.** Each release gets those that would be best if it were the only one, Omega^-1 G with Omega its covariance
and G = n Cov(t, score) how its mean moves with theta. The rounds saw the same rows, so their sampling errors go
together; that is in the standard errors ("sandwich"): the weighted numbers of all releases are added up row by row.

**Integrals** are sums over evenly spread points, as many for each component (quasi-Monte Carlo): the same each time.

**Starts.** A fit may have mistaken two components for one. So the equations are solved from several starts, all made
of private values, and the solution that makes the releases likeliest is taken.

Of a table with levels, releases while it grew are of encoded rows; they are matched too, if they are not too many
numbers.
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

_POINTS = 4096  # for each component: with fewer, the weights fit the points, and standard errors come out too small
_FEW_POINTS = 256  # for simulations, and to try starts
_ROUNDS = 12  # of Newton's method, at most
_LONGEST = 0.5  # that a coordinate moves in a round
_NEAR = 0.01  # where the last step was shorter, the solution is found: standard errors are seldom as small as that
_LEAST_INFORMATION = 0.05  # about any coordinate: what is not known at all is known to a few units


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
        Of the mixtures looked for.
    rows : int or None
        How many rows there are, if that is public.
    points : int
        How many points stand for each component.

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
    >>> float(solution.standard_errors()[1][0, 0].round(3))  # of the mean: sqrt(1 / 1000 + (0.1 * 50 / 1000)^2)
    0.032
    """

    releases: Sequence[Release]
    covariance_type: CovarianceType
    rows: int | None
    points: int = _POINTS

    def solve(self, starts: Sequence[Mixture]) -> Solution:
        """Return the mixture that makes the releases likeliest, of those that several starts lead to."""
        last = self.releases[-1]
        rows = float(self.rows or max(1.0, last.statistic.parts(last.value)[0].sum()))
        rough = replace(self, points=_FEW_POINTS)
        best = max((rough._solve_from(start, rows) for start in starts), key=lambda found: found.log_likelihood)
        return self._solve_from(best.mixture, best.rows)

    def _solve_from(self, mixture: Mixture, rows: float) -> Solution:
        here, step = self.at(mixture, rows)
        for _ in range(_ROUNDS):
            if np.abs(step).max() < _NEAR:
                break
            here, step = self.at(*self.step_from(here.mixture, here.rows, step))
        return here

    def at(self, mixture: Mixture, rows: float) -> tuple[Solution, Array]:
        """Return what the releases say at a mixture, and the step of Newton's method from there."""
        points = Points(mixture, self.covariance_type, self.points)
        information, pull, by_point, of_noise, misfit, size, numbers = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
        for release in self.releases:
            law = _Law(points, release, rows, self.rows is None)
            off = release.value - rows * law.mean
            information += law.weights.T @ law.slope
            pull += law.weights.T @ off
            by_point += law.values @ law.weights
            of_noise += release.noise**2 * law.weights.T @ law.weights
            misfit += float(off @ np.linalg.solve(law.covariance, off))
            size += float(np.linalg.slogdet(law.covariance)[1])
            numbers += len(off)
        spread = of_noise + rows * (by_point * points.shares[:, None]).T @ by_point
        least = _LEAST_INFORMATION * np.eye(len(spread))
        inverse = np.linalg.inv(information + least)
        covariance, fit = inverse @ (spread + least) @ inverse.T, -0.5 * (misfit + size)
        return Solution(self, mixture, rows, inverse, covariance, misfit / numbers, fit), inverse @ pull

    def step_from(self, mixture: Mixture, rows: float, step: Array) -> tuple[Mixture, float]:
        """Return a mixture and a number of rows one step further, no longer than steps may be."""
        if self.rows is None:
            rows, step = rows * math.exp(float(np.clip(step[-1], -_LONGEST, _LONGEST))), step[:-1]
        longest = np.abs(step).max(initial=_LONGEST)
        return move(mixture, step * (_LONGEST / longest), self.covariance_type), rows


class _Law:
    """The law of a release: its values at the points less their mean, its covariance, slope and best weights."""

    def __init__(self, points: Points, release: Release, rows: float, secret: bool) -> None:
        self.values = row_values(release.statistic, points.places)
        self.mean = points.shares @ self.values
        self.values -= self.mean
        weighted = rows * (self.values * points.shares[:, None]).T
        self.slope = weighted @ points.scores
        if secret:  # the number of rows is to be found as well, as a logarithm
            self.slope = np.hstack([self.slope, rows * self.mean[:, None]])
        self.covariance = weighted @ self.values
        self.covariance[np.diag_indices(len(self.covariance))] += release.noise**2
        self.weights = np.linalg.solve(self.covariance, self.slope)


@dataclass(frozen=True, eq=False)
class Solution:
    """A mixture, how surely it is known, and how far the releases are from what it makes expected.

    Parameters
    ----------
    evidence : Evidence
    mixture : Mixture
    rows : float
    inverse : array
        Of the information, by which Newton's method steps.
    covariance : array
        Of the coordinates, and of the logarithm of the number of rows where that is not public.
    misfit : float
        Squared distance of the releases from what is expected, by number released: 1 or less if the rows do follow such
        a mixture.
    log_likelihood : float
        Of the releases, each taken by itself, but for a constant.
    """

    evidence: Evidence
    mixture: Mixture
    rows: float
    inverse: Array
    covariance: Array
    misfit: float
    log_likelihood: float

    def standard_errors(self) -> tuple[Array, Array]:
        """Return those of the logits of weights, (K,), and of means, (K, d)."""
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

    def simulate(self, simulate: Simulate, rng: np.random.Generator) -> tuple[Mixture, Solution]:
        """Return a mixture that may as well be the truth, and what would be found then, noise and rows drawn anew.

        The fit is gone through again, as what it measures depends on what it released before.
        """
        evidence, number = replace(self.evidence, points=_FEW_POINTS), self.rows
        truth = self._draw_truth(rng)
        points = Points(truth, evidence.covariance_type, _FEW_POINTS)
        rows = number * points.shares + np.sqrt(number * points.shares) * rng.normal(size=len(points.shares))
        rows += points.shares * (number - rows.sum())  # as many as there are

        def release(statistic: ComponentMoments | TableMoments, noise: float) -> Array:
            return rows @ row_values(statistic, points.places) + noise * rng.normal(size=statistic.size)

        return truth, replace(evidence, releases=simulate(release))._solve_from(truth, number)

    def _draw_truth(self, rng: np.random.Generator) -> Mixture:
        """Return a mixture as far from this one as the truth may be."""
        known = len(self.covariance) - (self.evidence.rows is None)
        variances, axes = np.linalg.eigh(self.covariance[:known, :known])
        step = axes @ (np.sqrt(np.maximum(variances, 0.0)) * rng.normal(size=known))
        return self.evidence.step_from(
            self.mixture, self.rows, np.append(step, 0.0) if self.evidence.rows is None else step
        )[0]
