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

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.fitting.measurement import measure
from tacit.linear.problem import Problem, keep_finite, measure_gradient
from tacit.linear.solver import AfterRelease, Solution, Solver, ignore
from tacit.privacy import Gaussian, Sampled, Step
from tacit.release import Curator
from tacit.statistics import LossGradients

SNAPSHOT, DIFFERENCE = "snapshot gradient", "sampled difference"
RATE = 0.05  # Probability with which a row is in a sample.
_SNAPSHOTS_BUDGET = 0.8  # Part of the budget for snapshots, in squared signal-to-noise.
_CLIP_RADIUS = 2.0  # Row length beyond which differences are clipped, in typical row lengths. Clipped steps overshoot.
_LEAST_RADIUS = 1e-9  # Smallest clip radius of differences.


@dataclass(frozen=True)
class EpochRule:
    """How epochs are made.

    Parameters
    ----------
    epochs : int
        How many there are by default.
    inner : int, default 20
        Steps of an epoch; of the last one where epochs double.
    longest_step : float, default 1
        In units of one over the largest curvature of the mean.
    doubling : bool
        Whether each epoch is twice as long as the last one.
    lookahead : float, default 1
        How far from the snapshot towards the moving point gradients are released.
    carried : bool
        Whether an epoch starts where the last one ended, not at its mean.
    """

    epochs: int
    inner: int = 20
    longest_step: float = 1.0
    doubling: bool = False
    lookahead: float = 1.0
    carried: bool = False

    def epoch_lengths(self, epochs: int) -> list[int]:
        """Return how many steps each epoch has."""
        if not self.doubling:
            return [self.inner] * epochs
        return [max(2, round(self.inner * 2.0 ** (epoch - epochs + 1))) for epoch in range(epochs)]

    def solve(self, problem: Problem, curator: Curator, iterations: int, after: AfterRelease = ignore) -> Solution:
        """Release gradients at snapshots and differences from them; return the mean of the last epoch's second half."""
        point = mean = problem.begin
        for inner in self.epoch_lengths(iterations):
            snapshot = mean
            point = point if self.carried else snapshot
            gradient = measure_gradient(problem, curator, SNAPSHOT, snapshot)
            after(SNAPSHOT, point)
            for index in range(inner):
                statistic = differences(problem, snapshot + self.lookahead * (point - snapshot), snapshot)
                released = measure(curator, DIFFERENCE, statistic)
                difference = problem.mean_gradient(statistic, released.value, RATE * problem.rows)
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
        per_distance = _CLIP_RADIUS * problem.loss.smoothness * length * noise / (RATE * problem.rows)
        steady = 1 / (per_distance * math.sqrt(problem.begin.size * inner))
        return min(self.longest_step / problem.smoothness, steady)

    def steps(self, iterations: int, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps: most of the budget for snapshots, and about what is left for differences."""
        inner, rest = sum(self.epoch_lengths(iterations)), 1 - _SNAPSHOTS_BUDGET
        return [
            Gaussian(SNAPSHOT, noise_multiplier(_SNAPSHOTS_BUDGET * power, iterations), iterations, size),
            Sampled(RATE, Gaussian(DIFFERENCE, RATE * noise_multiplier(rest * power, inner), inner, size)),
        ]

    def releases(self, iterations: int) -> int:
        """Return how many releases there are."""
        return iterations + sum(self.epoch_lengths(iterations))

    @property
    def solver(self) -> Solver:
        """The solver by this rule."""
        return Solver(self.solve, self.steps, lambda columns: self.epochs, self.releases)


def differences(problem: Problem, point: Array, snapshot: Array) -> LossGradients:
    """Return the statistic of differences of gradients, between a point and the snapshot."""
    apart = float(np.linalg.norm(point - snapshot))
    # |difference| <= curvature |z| |<z, point - snapshot>|: for ordinary rows, curvature |z| |point - snapshot|.
    radius = min(2 * problem.radius, _CLIP_RADIUS * problem.loss.smoothness * problem.coordinates.length * apart)
    return LossGradients(problem.loss, point, max(radius, _LEAST_RADIUS), 0.0, problem.intercept, anchor=snapshot)


SVRG = EpochRule(5)
KATYUSHA = EpochRule(4, longest_step=2.0, lookahead=0.5, carried=True)
"""One-parameter Katyusha: it asks half way to the snapshot, and epochs go on where the last one ended."""
SVRG_PLUS_PLUS = EpochRule(4, inner=40, doubling=True, carried=True)
"""SVRG++: each epoch is twice as long as the last one, and goes on where that ended."""
