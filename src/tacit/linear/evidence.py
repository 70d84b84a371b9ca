"""What a linear fit is worth beside its errors, of chance and of noise: plain numerics on private values."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from tacit.arrays import Array
from tacit.linear.coordinates import Scatter
from tacit.linear.linear_fit import LinearFit

__all__ = ["Evidence", "chance_of_slopes", "evidence_of_fit", "evidence_of_solution"]

_LEAST_EIGENVALUE = 1e-9  # A direction whose correlations say less is one that errors have no part in.
_FLAT_LOSS = 40.0  # Sampling variance of a coefficient times rows, for a loss with corners: about.

_SEEN_ROWS = 2.0  # Fewer rows than this many standard deviations of their noise may be none.


class Evidence(NamedTuple):
    """How much of a linear fit may be error.

    Attributes
    ----------
    chance : float
        How often errors alone would make all slopes together as large as they are.
    level_error : float
        Standard error of the prediction for an ordinary row: in standard deviations of residuals, or in log odds. NaN
        for a loss that does not tell.
    """

    chance: float
    level_error: float


def chance_of_slopes(slopes: Array, covariance: Array) -> float:
    """Return how often slopes would be as far from zero together if all were zero (Wald's test).

    `covariance` is that of their errors, of chance and of noise. It may be singular, as that of the levels of a
    category is, which add up to zero. It is made of correlations first, so units do not matter.

    Examples
    --------
    Two slopes of which the sum alone is known to be large, and two that errors explain:

    >>> round(chance_of_slopes(np.array([1.0, 1.0]), np.array([[1.0, -0.99], [-0.99, 1.0]])), 6)
    0.0
    >>> round(chance_of_slopes(np.array([1.0, -1.0]), np.eye(2)), 2)
    0.37
    """
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = errors > 0
    if not known.any():
        return 0.0 if slopes.any() else 1.0
    errors = errors[known]
    values, axes = np.linalg.eigh(covariance[np.ix_(known, known)] / np.outer(errors, errors))
    kept = values > _LEAST_EIGENVALUE * len(values)
    along = axes[:, kept].T @ (slopes[known] / errors)
    return float(chi2.sf(np.sum(along**2 / values[kept]), max(np.count_nonzero(kept), 1)))


def evidence_of_fit(fit: LinearFit, noise: float = 0.0) -> Evidence | None:
    """Return what a least-squares fit is worth, where enough is known of it.

    A regression made of moments has no standard errors. `noise` is then that of their variances, relative to these;
    covariances have 1 / sqrt(2) of it.
    """
    if fit.variance is None:
        return None
    if fit.errors is not None:
        level = math.sqrt(max(float(fit.errors[0, 0]), 0.0) / max(fit.variance, 1e-300))
        return Evidence(chance_of_slopes(fit.slopes, fit.errors[1:, 1:]), level)
    if fit.covariance is None:
        return None
    target = fit.variance + float(fit.slopes @ fit.covariance @ fit.slopes)
    error = fit.variance / max(fit.rows, 1.0) + target * noise**2 / 2
    return Evidence(chance_of_slopes(fit.slopes, error * np.linalg.pinv(fit.covariance)), math.nan)


def evidence_of_solution(solution: Any, scatter: Scatter) -> Evidence | None:
    """Return what a solver's coefficients (K, 1 + d) are worth, where it keeps account of their errors.

    `scatter` is what was measured of the columns. If not even the number of rows can be told from none, all is noise.
    """
    if scatter.rows < _SEEN_ROWS * scatter.row_noise:
        return Evidence(1.0, math.inf)
    covariance, known = solution.covariance, solution.covariance is not None
    if not known and solution.noise_covariance is not None:
        sampling = _FLAT_LOSS / max(scatter.rows, 1.0)
        covariance = solution.noise_covariance + sampling * np.eye(solution.coefficients.size)
    if covariance is None:
        return None
    outputs, wide = solution.coefficients.shape
    places = np.arange(outputs * wide).reshape(outputs, wide)[:, 1:].ravel()
    chance = chance_of_slopes(solution.coefficients[:, 1:].ravel(), covariance[np.ix_(places, places)])
    return Evidence(chance, math.sqrt(max(float(np.diag(covariance)[::wide].mean()), 0.0)) if known else math.nan)
