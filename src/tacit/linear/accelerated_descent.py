"""Accelerated mirror descent with the Euclidean distance: the default solver where there is a penalty or a constraint.

As printed it returns a point that was moved by a gradient without noise. Here, as its proof allows, it returns the
weighted mean of points that noisy gradients moved.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.fitting.allocation import noise_multiplier
from tacit.linear.newton import GRADIENT
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver, ignore, keep_finite, measure_gradient
from tacit.privacy import Gaussian, Step
from tacit.release import Curator


@dataclass(frozen=True)
class AcceleratedDescent(Solver):
    """Accelerated mirror descent, corrected.

    Parameters
    ----------
    n_iter : int, default 20
        Number of gradients. No script is recorded that chose the default.
    """

    n_iter: int = 20

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's step."""
        return [Gaussian(GRADIENT, noise_multiplier(power, self.n_iter), self.n_iter, size)]

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Move z by noisy gradients released between y and z, and return y, a weighted mean of z's."""
        smoothness, point = problem.smoothness, problem.begin
        z = y = problem.begin
        for index in range(self.n_iter):
            gradient = measure_gradient(problem, curator, GRADIENT, point)
            weight, step = 2 / (index + 2), (index + 2) / (4 * smoothness)
            z = keep_finite(problem.prox(z - step * gradient, step))
            y = weight * z + (1 - weight) * y
            ahead = 2 / (index + 3)
            point = ahead * z + (1 - ahead) * y
            after(GRADIENT, y)
        return Solution(y)
