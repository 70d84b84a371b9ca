"""Solvers that follow gradients alone.

- *gradient*: momentum, and the mean of the second half of the way.
- *accmd*: accelerated mirror descent with the Euclidean distance. As printed it returns a point that a gradient without
  noise has moved. Here, as its proof allows, it returns the mean of points that noisy gradients have moved.
- *sgd*: gradients of rows sampled afresh for each step.
- *svrg, katyusha, svrg++*: sampled gradients, corrected by the gradient of all rows at a snapshot. As printed, one of
  them has no noise at all, and the noise of the others is far too small for samples of one row. Here each epoch
  releases the gradient of all rows at the snapshot, and each step, of rows sampled afresh, the *difference* of
  gradients between the point and the snapshot. By smoothness a difference is no longer than the distance between the
  two allows, which is known. So it is clipped there, and its noise shrinks with the distance.

What is wrong with the gradient of the last snapshot stays wrong, however many steps follow, while noise on differences
averages out. So snapshots are few and have most of the budget. Noise on differences is relative to how far the point
has moved: steps are so short that the noise of an epoch, added up, moves the point no farther than it has moved itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.linear.newton import GRADIENT
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore, keep_finite, measure_gradient
from tacit.privacy import Gaussian, Sampled, Step
from tacit.release import Curator
from tacit.statistics import LossGradients

SNAPSHOT, DIFFERENCE = "snapshot gradient", "sampled difference"

# Numbers of the methods. experiments/convex_erm.py measures what they give.
RATE = 0.05  # Probability with which a row is in a sample.
_GRADIENT_ITERATIONS, _SAMPLED_ITERATIONS = 20, 200
_MOMENTUM = 0.5
_SNAPSHOTS_PART = 0.8  # Part of the budget for snapshots, as squared signal-to-noise ratio.
_CLIP_RADIUS = 2.0  # Row length beyond which differences are clipped, in typical row lengths. Clipped steps overshoot.
_LEAST_RADIUS = 1e-9  # Smallest clip radius of differences. It only keeps radii positive.


def descend(problem: Problem, curator: Curator, iterations: int, after: AfterRelease = ignore) -> Solution:
    """Gradient descent with momentum; return the mean of the second half of the way."""
    step, point = 1 / problem.smoothness, problem.begin
    momentum, mean = np.zeros_like(point), np.zeros_like(point)
    for index in range(iterations):
        gradient = measure_gradient(problem, curator, GRADIENT, point)
        momentum = _MOMENTUM * momentum + gradient
        point = keep_finite(problem.prox(point - step * momentum, step))
        mean = _mean_of_second_half(mean, point, index, iterations)
        after(GRADIENT, mean if index >= iterations // 2 else point)
    return Solution(mean)


def descend_accelerated(problem: Problem, curator: Curator, iterations: int, after: AfterRelease = ignore) -> Solution:
    """Accelerated mirror descent, corrected: z is moved by the noisy gradient, and y is a weighted mean of z's.

    Each gradient is released between y and z.
    """
    smoothness, point = problem.smoothness, problem.begin
    z = y = problem.begin
    for index in range(iterations):
        gradient = measure_gradient(problem, curator, GRADIENT, point)
        weight, step = 2 / (index + 2), (index + 2) / (4 * smoothness)
        z = keep_finite(problem.prox(z - step * gradient, step))
        y = weight * z + (1 - weight) * y
        ahead = 2 / (index + 3)
        point = ahead * z + (1 - ahead) * y
        after(GRADIENT, y)
    return Solution(y)


def descend_stochastically(
    problem: Problem, curator: Curator, iterations: int, after: AfterRelease = ignore
) -> Solution:
    """Gradient descent on rows that are sampled for each step, by Poisson's law, with steps that fall as 1/sqrt(t).

    A gradient is divided by how many rows a sample has on average, not by how many there were. Return the mean of the
    second half of the way.
    """
    smoothness, point, mean = problem.smoothness, problem.begin, np.zeros_like(problem.begin)
    for index in range(iterations):
        gradient = measure_gradient(problem, curator, GRADIENT, point, RATE * problem.rows)
        step = 1 / (smoothness * math.sqrt(1 + index / 10))
        point = keep_finite(problem.prox(point - step * gradient, step))
        mean = _mean_of_second_half(mean, point, index, iterations)
        after(GRADIENT, mean if index >= iterations // 2 else point)
    return Solution(mean)


def _mean_of_second_half(mean: Array, point: Array, index: int, iterations: int) -> Array:
    """Return the mean of points so far, if this point is of the second half; the mean as it is, if not."""
    number = index - iterations // 2 + 1.0
    return mean + (point - mean) * (1.0 / number) if number >= 1 else mean


def gradient_steps(iterations: int, size: int, power: float, shares: int = 1) -> list[Step]:
    """Return the plan's step."""
    return [Gaussian(GRADIENT, noise_multiplier(power, iterations), iterations, size)]


def sampled_steps(iterations: int, size: int, power: float, shares: int = 1) -> list[Step]:
    """Return the plan's step. Its noise is a start only, because what samples cost has no closed form."""
    return [Sampled(RATE, Gaussian(GRADIENT, RATE * noise_multiplier(power, iterations), iterations, size))]


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
                released = curator.measure(DIFFERENCE, statistic)
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
        """Return the plan's steps: most of the budget is for snapshots, and about the rest for differences."""
        inner, rest = sum(self.epoch_lengths(iterations)), 1 - _SNAPSHOTS_PART
        return [
            Gaussian(SNAPSHOT, noise_multiplier(_SNAPSHOTS_PART * power, iterations), iterations, size),
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


GRADIENT_DESCENT = Solver(descend, gradient_steps, lambda columns: _GRADIENT_ITERATIONS)
ACCELERATED_MIRROR_DESCENT = Solver(descend_accelerated, gradient_steps, lambda columns: _GRADIENT_ITERATIONS)
STOCHASTIC_GRADIENT = Solver(descend_stochastically, sampled_steps, lambda columns: _SAMPLED_ITERATIONS)
SVRG = EpochRule(5)
KATYUSHA = EpochRule(4, longest_step=2.0, lookahead=0.5, carried=True)
"""One-parameter Katyusha: it asks half way to the snapshot, and epochs go on where the last one ended."""
SVRG_PLUS_PLUS = EpochRule(4, inner=40, doubling=True, carried=True)
"""SVRG++: each epoch is twice as long as the last one, and goes on where that ended."""
