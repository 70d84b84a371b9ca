"""A simulated table whose columns go together, and how private moments and factors of it are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from tacit.arrays import Array
from tacit.models.trials.simulation import Setting, random_factors
from tacit.models.trials.trial import TEST_ROWS, SimulatedTable
from tacit.moments import FactorAnalysis, Moments
from tacit.moments.factors import Factors, likeliest_factors

__all__ = ["draw_factors", "draw_moments"]


_MOMENT_FACTORS = 3  # Factors that columns have in common, where moments alone are asked for.


def draw_factors(
    setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator
) -> SimulatedTable:
    """Return a table of factors, and what a private fit loses beside the likeliest factors."""
    truth = random_factors(size, setting.domain.columns, rng)
    train, encoded = setting.table(truth.sample(rows, rng))
    test, encoded_test = setting.table(truth.sample(TEST_ROWS, rng))
    ordinary = likeliest_factors(*_moments_of(encoded, setting), size)
    best = float(ordinary.log_density(encoded_test).mean()) + setting.domain.log_jacobian

    def judge(private: FactorAnalysis) -> dict[str, float]:
        angles = subspace_angles(_correlations(private._factors), _correlations(ordinary))
        return {"gap": best - private.score(test), "factors_kept": float(np.mean(np.cos(angles) ** 2))}

    return SimulatedTable(train, judge)


def draw_moments(
    setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator
) -> SimulatedTable:
    """Return a table of factors, and how far private moments are from those of the rows."""
    columns = setting.domain.columns
    train, encoded = setting.table(random_factors(min(_MOMENT_FACTORS, columns), columns, rng).sample(rows, rng))
    mean, covariance = _moments_of(encoded, setting)
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    centre, scale = setting.domain.centre, setting.domain.scale

    def judge(private: Moments) -> dict[str, float]:
        off = ((private.mean_ - centre) / scale - mean) / deviations
        found = np.sqrt(np.diag(private.covariance_))
        apart = private.covariance_ / np.outer(found, found) - correlations
        return {
            "mean_error": _root_mean_square(off),
            "deviation_error": _root_mean_square(found / scale / deviations - 1),
            "correlation_error": _root_mean_square(apart[np.triu_indices(columns, 1)]),
        }

    return SimulatedTable(train, judge)


def _moments_of(encoded: Array, setting: Setting) -> tuple[Array, Array]:
    """Return mean and covariance of rows, with variances no smaller than a private fit finds."""
    covariance = np.atleast_2d(np.cov(encoded.T, bias=True))
    diagonal = np.diag_indices(len(covariance))
    covariance[diagonal] = np.maximum(covariance[diagonal], setting.domain.least_variances)
    return encoded.mean(axis=0), covariance


def _correlations(factors: Factors) -> Array:
    return (
        factors.loadings / np.sqrt(np.einsum("dk,dk->d", factors.loadings, factors.loadings) + factors.unique)[:, None]
    )


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0
