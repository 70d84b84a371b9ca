"""Solvers that correct sampled gradients by those at a snapshot: SVRG, Katyusha and SVRG++, with noise that falls too.

As printed, one of them has no noise at all, and the noise of the others is too small by far for samples of one row.
Here each epoch releases the gradient of all rows at the snapshot; and each step, of rows sampled afresh, the
*difference* of gradients between here and the snapshot. By smoothness that is no longer than the distance between the
two allows, which is known: so it is clipped there, and its noise shrinks along with it, at a multiplier that the plan
fixes.

What is wrong with the gradient of the last snapshot stays wrong, however many steps follow, while noise on differences
averages out. So snapshots are few, and have most of the budget. Noise on differences is relative to how far the point
has moved: steps are short enough that an epoch's noise, added up, moves it no further than it has moved itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.fitting.parameters import check_count, check_positive
from tacit.fitting.published import PublishedMethod
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore, keep_finite, measure_gradient
from tacit.privacy import Gaussian, Sampled, Step
from tacit.release import Curator
from tacit.statistics import LossGradients

SNAPSHOT, DIFFERENCE = "snapshot gradient", "sampled difference"

# experiments/convex_erm.py measures what these numbers give, on simulated tables, flights and Adult.
_SNAPSHOTS_BUDGET = 0.8  # Part of the budget for snapshots, as squared signal-to-noise ratio.
_CLIP_RADIUS = 2.0  # Row length beyond which differences are clipped, in typical row lengths. Clipped steps overshoot.
_LEAST_RADIUS = 1e-9  # Smallest clip radius of differences.


class VarianceReduced(PublishedMethod, Solver):
    """Epochs of a snapshot and of steps that begin there: what the three solvers share.

    A solver says how long its steps are at most, in units of one over the largest curvature of the mean; how far from
    the snapshot towards the moving point it releases gradients; and whether an epoch starts where the last one ended,
    not at its mean.
    """

    epochs: int
    epoch_length: int
    sampling_rate: float
    longest_step: ClassVar[float] = 1.0
    lookahead: ClassVar[float] = 1.0
    carries_point: ClassVar[bool] = False
    iterations_option: ClassVar[str] = "epochs"

    def __post_init__(self) -> None:
        check_count("epochs", self.epochs)
        check_count("epoch_length", self.epoch_length)
        check_positive("sampling_rate", self.sampling_rate, most=1.0)

    def epoch_lengths(self) -> list[int]:
        """Return how many steps each epoch has."""
        return [self.epoch_length] * self.epochs

    @property
    def rounds(self) -> int:
        """The number of epochs."""
        return self.epochs

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return self.epochs + sum(self.epoch_lengths())

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps: most of the budget for snapshots, and about what is left for differences."""
        inner, rest = sum(self.epoch_lengths()), 1 - _SNAPSHOTS_BUDGET
        multiplier = self.sampling_rate * noise_multiplier(rest * power, inner)
        return [
            Gaussian(SNAPSHOT, noise_multiplier(_SNAPSHOTS_BUDGET * power, self.epochs), self.epochs, size),
            Sampled(self.sampling_rate, Gaussian(DIFFERENCE, multiplier, inner, size)),
        ]

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Release gradients at snapshots and differences from them; return the mean of the last epoch's second half."""
        point = mean = problem.begin
        for inner in self.epoch_lengths():
            snapshot = mean
            point = point if self.carries_point else snapshot
            gradient = measure_gradient(problem, curator, SNAPSHOT, snapshot)
            after(SNAPSHOT, point)
            for index in range(inner):
                statistic = differences(problem, snapshot + self.lookahead * (point - snapshot), snapshot)
                released = curator.measure(DIFFERENCE, statistic)
                difference = problem.mean_gradient(statistic, released.value, self.sampling_rate * problem.rows)
                step = self.step_length(problem, inner, released.noise)
                moved = point - step * (gradient + (difference - snapshot @ problem.ridge))
                point = keep_finite(problem.prox(moved, step))
                if (number := index - inner // 2 + 1.0) >= 1:
                    mean = mean + (snapshot + self.lookahead * (point - snapshot) - mean) / number
                after(DIFFERENCE, mean if number >= 1 else point)
        return Solution(mean)

    def step_length(self, problem: Problem, inner: int, noise: float) -> float:
        """Return how long steps of an epoch are: its noise on differences must not carry the point away."""
        length = problem.coordinates.length
        per_distance = _CLIP_RADIUS * problem.loss.smoothness * length * noise / (self.sampling_rate * problem.rows)
        steady = 1 / (per_distance * math.sqrt(problem.begin.size * inner))
        return min(self.longest_step / problem.smoothness, steady)


@dataclass(frozen=True, kw_only=True)
class SVRG(VarianceReduced):
    """Stochastic variance reduced gradients (Johnson and Zhang, 2013), made private.

    Parameters
    ----------
    epochs : int, default 5
        Number of epochs. Each begins with a gradient of all rows.
    epoch_length : int, default 20
        Number of steps in an epoch, each of rows sampled afresh.
    sampling_rate : float, default 0.05
        Probability with which a row is in a sample.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = (X @ [2.0, -1.0] + rng.logistic(size=20_000) > 0).astype(int)
    >>> solver = tacit.published.SVRG(epochs=3)
    >>> model = tacit.LogisticRegression(solver=solver, classes=[0, 1], bounds=5, random_state=0).fit(X, y)
    >>> model.coef_.round(), model.n_iter_
    (array([[ 2., -1.]]), 3)
    """

    epochs: int = 5
    epoch_length: int = 20
    sampling_rate: float = 0.05


@dataclass(frozen=True, kw_only=True)
class Katyusha(VarianceReduced):
    """One-parameter Katyusha (Allen-Zhu, 2017), made private.

    It releases gradients half way to the snapshot, and epochs go on where the last one ended.

    Parameters
    ----------
    epochs : int, default 4
        Number of epochs. Each begins with a gradient of all rows.
    epoch_length : int, default 20
        Number of steps in an epoch, each of rows sampled afresh.
    sampling_rate : float, default 0.05
        Probability with which a row is in a sample.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.HuberRegressor(solver=tacit.published.Katyusha(epochs=6))
    """

    epochs: int = 4
    epoch_length: int = 20
    sampling_rate: float = 0.05
    longest_step: ClassVar[float] = 2.0
    lookahead: ClassVar[float] = 0.5
    carries_point: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class SVRGPlusPlus(VarianceReduced):
    """SVRG++ (Allen-Zhu and Yuan, 2016), made private: each epoch is twice as long as the last, and goes on from it.

    Parameters
    ----------
    epochs : int, default 4
        Number of epochs. Each begins with a gradient of all rows.
    epoch_length : int, default 40
        Number of steps in the last epoch, each of rows sampled afresh.
    sampling_rate : float, default 0.05
        Probability with which a row is in a sample.

    Examples
    --------
    >>> import tacit
    >>> tacit.published.SVRGPlusPlus(epochs=3).epoch_lengths()
    [10, 20, 40]
    """

    epochs: int = 4
    epoch_length: int = 40
    sampling_rate: float = 0.05
    carries_point: ClassVar[bool] = True

    def epoch_lengths(self) -> list[int]:
        """Return how many steps each epoch has, at least two."""
        return [max(2, round(self.epoch_length * 2.0 ** (epoch - self.epochs + 1))) for epoch in range(self.epochs)]


def differences(problem: Problem, point: Array, snapshot: Array) -> LossGradients:
    """Return the statistic of differences of gradients, between a point and the snapshot."""
    apart = float(np.linalg.norm(point - snapshot))
    # |difference| <= curvature |z| |<z, point - snapshot>|: for ordinary rows, curvature |z| |point - snapshot|.
    radius = min(2 * problem.radius, _CLIP_RADIUS * problem.loss.smoothness * problem.coordinates.length * apart)
    return LossGradients(problem.loss, point, max(radius, _LEAST_RADIUS), 0.0, problem.intercept, anchor=snapshot)
