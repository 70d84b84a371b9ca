"""Solvers that follow gradients alone.

- *gradient*: momentum, and the mean of the second half of the way;
- *accmd*: accelerated mirror descent with the Euclidean distance. As printed it returns a point that was moved by a
  gradient without noise; here, as its proof allows, by the mean of points that noisy gradients moved.
- *sgd*: gradients of rows sampled afresh for each step.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.linear.newton import GRADIENT
from tacit.linear.problem import Problem, keep_finite, measure_gradient
from tacit.linear.solver import AfterRelease, Solution, Solver, ignore
from tacit.privacy import Gaussian, Sampled, Step
from tacit.release import Curator

_MOMENTUM = 0.5
RATE = 0.05  # Probability with which a row is in a sample.
_GRADIENT_ITERATIONS, _SAMPLED_ITERATIONS = 20, 200


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
    """Return the plan's step; a start for its noise, as the accountant knows no closed form."""
    return [Sampled(RATE, Gaussian(GRADIENT, RATE * noise_multiplier(power, iterations), iterations, size))]


GRADIENT_DESCENT = Solver(descend, gradient_steps, lambda columns: _GRADIENT_ITERATIONS)
ACCELERATED_MIRROR_DESCENT = Solver(descend_accelerated, gradient_steps, lambda columns: _GRADIENT_ITERATIONS)
STOCHASTIC_GRADIENT = Solver(descend_stochastically, sampled_steps, lambda columns: _SAMPLED_ITERATIONS)
