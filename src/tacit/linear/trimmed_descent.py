"""Gradient descent with trimmed mean gradients, as published where the range of mean gradients is known; made private.

Wang, Xiao, Devadas and Xu (2020), Algorithm 3: each column of the mean gradient is a trimmed mean with noise relative
to its smooth sensitivity. As printed it is not private, because the bound that noise is relative to is not smooth; and
with as many rows trimmed as it says, noise is hundreds of times the range. Here are the smooth sensitivity itself,
noise that needs to trim less (Laplace times log-normal), and a trim that follows from public numbers
(:class:`tacit.statistics.TrimmedMeans`).
"""

from __future__ import annotations

import numpy as np

from tacit.linear.newton import GRADIENT
from tacit.linear.problem import AfterRelease, Problem, Solution, ignore
from tacit.linear.robust_descent import descend_once
from tacit.privacy import SmoothLaplace, Step
from tacit.release import Curator
from tacit.statistics import PredictionGradients, TrimmedMeans


def descend_by_trimmed_means(
    problem: Problem,
    curator: Curator,
    iterations: int,
    after: AfterRelease = ignore,
    *,
    learning_rate: float,
    gradient_bounds: tuple[float, float],
) -> Solution:
    """Descend on a problem whose number of rows is public, and return the last point.

    Parameters
    ----------
    problem, curator, iterations, after
        As every solver has them.
    learning_rate : float
        The length of a step.
    gradient_bounds : (low, high)
        What each column of the mean gradient lies within, wherever the descent may come.
    """
    point = problem.begin
    for _ in range(iterations):
        values = PredictionGradients(problem.loss, point, problem.intercept)
        low, high = (np.full(values.size, end) for end in gradient_bounds)
        released = curator.measure(GRADIENT, TrimmedMeans(values, low, high, int(problem.rows)))
        point = descend_once(problem, point, values.among_all(released.value), learning_rate)
        after(GRADIENT, point)
    return Solution(point)


def steps(iterations: int, size: int) -> list[Step]:
    """Return the plan's step."""
    return [SmoothLaplace(GRADIENT, 1.0, iterations, size)]
