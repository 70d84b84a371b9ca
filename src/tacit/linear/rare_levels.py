"""How little is known of levels that are rare: what Newton's covariance does not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.linear.coordinates import Scatter
from tacit.linear.newton import Stand
from tacit.linear.problem import Problem


def raised(found: Stand, problem: Problem, scatter: Scatter, levels: Sequence[Sequence[int]], signal: float) -> Stand:
    """Return a fit whose covariance is no less than there would be if other columns had no say in its coefficients.

    Directions in which inputs hardly vary cannot be told from noise, and are taken to say more than they do. But how
    often levels occur was counted. So it is known what gradients say of levels that are rare, beside noise and chance
    and what is expected of slopes, from predictions about as large as `signal`: that is little.
    """
    if found.covariance is None or not levels:
        return found
    whitener, rows = problem.coordinates.whitener, problem.rows
    scatters = np.diag(scatter.scales[:-1] ** 2)
    for places, shares in zip(levels, scatter.least_shares):
        one = len(places) == 1  # encoded as -1 and 1
        scatters[np.ix_(places, places)] = 4 * shares.prod() if one else np.diag(shares) - np.outer(shares, shares)
    white = whitener @ scatters @ whitener.T
    expected = signal**2 / max(float(np.trace(scatter.second[:-1, :-1])), 1e-12) / scatter.units[:-1] ** 2
    before = (whitener / expected) @ whitener.T
    noise = (problem.noise * problem.radius) ** 2 * np.eye(len(white))
    ordinary = found.coefficients[:, :1]  # predictions for a row in the middle
    curvatures = problem.loss.expected_curvature(ordinary)[:, :, 0]
    squares = problem.loss.expected_square(ordinary)[:, :, 0]
    covariance, wide = found.covariance.copy(), 1 + len(white)
    for output in range(len(ordinary)):
        slopes = slice(output * wide + 1, (output + 1) * wide)
        change = rows * curvatures[output, output] * white  # of gradients with coefficients
        chance = rows * squares[output, output] * white
        least = np.linalg.inv(before + change @ np.linalg.solve(noise + chance, change))
        values, axes = np.linalg.eigh(least - covariance[slopes, slopes])
        covariance[slopes, slopes] += (axes * np.maximum(values, 0.0)) @ axes.T
    return replace(found, covariance=covariance)
