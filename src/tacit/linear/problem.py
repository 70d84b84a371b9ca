"""What solvers are given, and what they return.

Once inputs are known, an estimator states a :class:`Problem`: a loss, coordinates, a start, and what is added to the
mean loss. A :class:`Solver` plans steps and makes these releases, and returns a :class:`Solution`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import radius_within_noise
from tacit.fitting.progress import Watch
from tacit.linear.coordinates import Coordinates, Scatter
from tacit.privacy import Plan, Step
from tacit.release import Curator
from tacit.statistics import LossGradients

# benchmarks/logistic_regression.py measures what these numbers give, on simulated tables and on Adult.
_LEAST_RADIUS, _MOST_RADIUS = 0.5, 1.5  # Gradient clip radius, in lengths of the longest gradient of an ordinary row.
_SMALL_NOISE = 0.12  # Noise, relative to sampling error, below which a shorter clip radius does not pay.
SAMPLING = 0.4  # Standard deviation of an ordinary row's slope, in units of the longest slope.
_LARGEST = 1e4  # Coefficients are kept below this, as noise may be anything.

AfterRelease = Callable[[str, Array], None]
"""What is called after each release: with the name of its step, and the coefficients if the search ended there."""


class Penalty(Protocol):
    """What is added to the mean loss, of coefficients (K, d) on inputs in standard coordinates."""

    def prox(self, slopes: Array, step: float) -> Array:
        """Return the minimum over v of |v - slopes|^2 / 2 + step * penalty(v)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A mean loss to be minimised, on rows in `coordinates`.

    Parameters
    ----------
    loss : PredictionLoss
        With ``lipschitz``, ``redundant`` and ``expected_curvature``; see :mod:`tacit.statistics.losses`.
    coordinates : Coordinates
    begin : (K, 1 + d) array
        Where to start.
    intercept : float
        1, or 0 for predictions without intercepts.
    ridge : (1 + d, 1 + d) array
        Half of what its quadratic form has for the coefficients of a prediction is added to the mean loss.
    noise : float
        Of the sum of gradients, as if all of the solver's budget were spent on one release of rows of length 1.
    penalty : Penalty, optional
        What else is added, for solvers that go by proximal steps.
    shares : int, default 1
        How many shares the rows are dealt out into.
    most_rows : float
        There are no more rows than this.
    steady : bool, default False
        Whether curvature is hardly larger anywhere than where a step begins, as in regression: steps do not overshoot.
    """

    loss: Any
    coordinates: Coordinates
    begin: Array
    intercept: float
    ridge: Array
    noise: float
    penalty: Penalty | None = None
    shares: int = 1
    most_rows: float = math.inf
    steady: bool = False

    @property
    def rows(self) -> float:
        """How many rows there are, as far as is known."""
        return self.coordinates.rows

    @property
    def radius(self) -> float:
        """Gradient clip radius: half of an ordinary row's longest gradient, and more where noise is small anyway."""
        ordinary = self.loss.lipschitz * self.coordinates.length
        relative = self.noise * self.coordinates.length / (SAMPLING * math.sqrt(self.rows))
        return ordinary * float(radius_within_noise(relative, _SMALL_NOISE, 1, _LEAST_RADIUS, _MOST_RADIUS))

    def gradients(self, coefficients: Array, curvature: float = 0.0) -> LossGradients:
        """Return the statistic at these coefficients."""
        return LossGradients(self.loss, coefficients, self.radius, curvature, self.intercept)

    def mean_gradient(self, statistic: LossGradients, released: Array, rows: float | None = None) -> Array:
        """Return the gradient of mean loss and ridge, from what was released of `rows` rows, by default all."""
        mean = statistic.gradient(released) / (self.rows if rows is None else rows)
        if not self.intercept:
            mean[:, 0] = 0.0
        return self.with_ridge(self.remaining_curvature(statistic) * statistic.coefficients, mean)

    def remaining_curvature(self, statistic: LossGradients) -> float:
        """Return the part of the mean loss's curvature that the statistic's weights leave, for Gaussian inputs.

        The ridge is multiplied by the same part. Otherwise it would weigh more beside a loss that was weighed down.
        """
        if statistic.anchor is not None or not self.ridge.any():  # Differences have no weights.
            return 1.0
        beta, coordinates = statistic.coefficients, self.coordinates
        values, axes = np.linalg.eigh((beta[:, 1:] * coordinates.variances) @ beta[:, 1:].T)
        predictions = (axes * np.sqrt(np.maximum(values, 0.0))) @ _normals(len(beta)) + self.intercept * beta[:, :1]
        steepest = self.loss.derivatives(predictions, np.zeros(predictions.shape[1]))[1]
        weights = np.minimum(1.0, statistic.radius / np.maximum(coordinates.length * steepest, 1e-300))
        curvatures = np.einsum("aan->n", self.loss.expected_curvature(predictions))
        return float(weights @ curvatures) / max(float(curvatures.sum()), 1e-300) if curvatures.any() else 1.0

    def with_ridge(self, coefficients: Array, mean: Array) -> Array:
        """Return the gradient of mean loss and ridge, from that of the mean loss, in directions that matter."""
        return self.free_outputs @ mean + coefficients @ self.ridge

    @property
    def free_outputs(self) -> Array:
        """The directions (K, K) in which predictions matter: with one for each class, all but that they all grow."""
        outputs = len(self.begin)
        return np.eye(outputs) - (1 / outputs if self.loss.redundant else 0.0)

    def prox(self, coefficients: Array, step: float) -> Array:
        """Return the proximal point of the penalty; intercepts have none."""
        if self.penalty is None:
            return coefficients
        moved = coefficients.copy()
        moved[:, 1:] = self.penalty.prox(coefficients[:, 1:], step)
        return moved

    @property
    def smoothness(self) -> float:
        """The largest curvature of the mean."""
        spread = max(self.intercept, self.coordinates.largest)
        return self.loss.smoothness * spread + float(np.linalg.eigvalsh(self.ridge)[-1])


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver returns.

    Parameters
    ----------
    coefficients : (K, 1 + d) array
        In the coordinates of the problem, the intercept of each prediction first.
    noise_covariance : (p, p) array, optional
        Of the error that noise has caused in the coefficients, where the solver knows it.
    covariance : (p, p) array, optional
        Of the error of the coefficients, by sampling and noise together, where the solver knows it.
    """

    coefficients: Array
    noise_covariance: Array | None = None
    covariance: Array | None = None


def ignore(step: str, coefficients: Array) -> None:
    """Do nothing after a release."""


class Solver:
    """A way to minimise a mean loss: subclasses are frozen dataclasses whose fields are its options."""

    n_iter: int
    measures_inputs: ClassVar[bool] = True  # Whether moments of inputs are released first.

    @property
    def rounds(self) -> int:
        """The number that an estimator publishes as ``n_iter_``."""
        return self.n_iter

    @property
    def releases(self) -> int:
        """How many releases :meth:`solve` makes."""
        return self.rounds

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps, with noise relative to each other.

        Parameters
        ----------
        size : int
            Number of coefficients.
        power : float
            Part of the budget for the solver, as squared signal-to-noise ratio.
        shares : int, default 1
            Number of shares that the rows are dealt out into.
        """
        raise NotImplementedError

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Make the releases, call `after` after each of them, and return the coefficients."""
        raise NotImplementedError

    def refusal(self, risk: Any) -> str | None:
        """Return why this solver cannot minimise this :class:`tacit.linear.risk.Risk`; None if it can."""
        return None


def count_releases(watch: Watch, total: int) -> AfterRelease:
    """Return what moves a progress bar after each release."""
    done = itertools.count(1)
    return lambda step, coefficients: watch(next(done), total)


def noise_of_one_release(plan: Plan, steps: Sequence[Step], power: float) -> float:
    """Return the noise that one release would have with all that the plan has for the solver, on rows of length 1.

    The plan is of these steps, and maybe of others before them. The solver's have the part `power` of the budget, in
    squared signal-to-noise.
    """
    scaled = plan.steps[-len(steps)].noise_multiplier / steps[0].noise_multiplier
    return scaled / math.sqrt(power) * (2.0 if plan.neighbors == "replace_one" else 1.0)


def measure_gradient(
    problem: Problem, curator: Curator, step: str, coefficients: Array, rows: float | None = None
) -> Array:
    """Release the gradient of mean loss and ridge at these coefficients, of `rows` rows, by default all."""
    statistic = problem.gradients(coefficients)
    return problem.mean_gradient(statistic, curator.measure(step, statistic).value, rows)


def keep_finite(coefficients: Array) -> Array:
    """Return coefficients that are finite numbers of some reasonable size."""
    return np.clip(np.nan_to_num(coefficients), -_LARGEST, _LARGEST)


def widen_rare_levels(
    solution: Solution, problem: Problem, scatter: Scatter, levels: Sequence[Sequence[int]], signal: float
) -> Solution:
    """Return a solution whose covariance is no less than if other columns had no influence on its coefficients.

    Directions in which inputs hardly vary cannot be told from noise, and are taken to say more than they do. But how
    often levels occur was counted. So it is known what gradients say of levels that are rare, beside noise and chance
    and what is expected of slopes, from predictions about as large as `signal`: that is little.
    """
    if solution.covariance is None or not levels:
        return solution
    whitener, rows = problem.coordinates.whitener, problem.rows
    scatters = np.diag(scatter.scales[:-1] ** 2)
    for places, each in zip(levels, scatter.least_frequencies):
        one = len(places) == 1  # Its two levels are encoded as -1 and 1.
        scatters[np.ix_(places, places)] = 4 * each.prod() if one else np.diag(each) - np.outer(each, each)
    white = whitener @ scatters @ whitener.T
    expected = signal**2 / max(float(np.trace(scatter.second[:-1, :-1])), 1e-12) / scatter.units[:-1] ** 2
    before = (whitener / expected) @ whitener.T
    noise = (problem.noise * problem.radius) ** 2 * np.eye(len(white))
    ordinary = solution.coefficients[:, :1]  # Predictions for a row in the middle.
    curvatures = problem.loss.expected_curvature(ordinary)[:, :, 0]
    squares = problem.loss.expected_square(ordinary)[:, :, 0]
    covariance, wide = solution.covariance.copy(), 1 + len(white)
    for output in range(len(ordinary)):
        slopes = slice(output * wide + 1, (output + 1) * wide)
        change = rows * curvatures[output, output] * white  # The change of gradients with the coefficients.
        chance = rows * squares[output, output] * white
        least = np.linalg.inv(before + change @ np.linalg.solve(noise + chance, change))
        values, axes = np.linalg.eigh(least - covariance[slopes, slopes])
        covariance[slopes, slopes] += (axes * np.maximum(values, 0.0)) @ axes.T
    return replace(solution, covariance=covariance)


@lru_cache(maxsize=8)
def _normals(outputs: int) -> Array:
    """Return normal numbers (K, 1024), the same each time, and as many of each sign."""
    half = np.random.default_rng(0).normal(size=(outputs, 512))
    return np.concatenate([half, -half], axis=1)
