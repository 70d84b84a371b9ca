"""How little is known of levels that are rare: what Newton's covariance does not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.linear.coordinates import Scatter
from tacit.linear.problem import Problem
from tacit.linear.solver import Solution


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
