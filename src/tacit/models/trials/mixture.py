"""A simulated table of components that can be told apart, and how a private mixture of it is judged."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from tacit.arrays import Array
from tacit.mixture import GaussianMixture
from tacit.mixture.table_mixture import TableMixture
from tacit.models.trials.simulation import Setting, log_densities, mixture_rows, ordinary_mixture, random_mixture
from tacit.models.trials.trial import NEAR, TEST_ROWS, SimulatedTable

__all__ = ["draw", "mixture_errors"]


def draw(setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator) -> SimulatedTable:
    """Return a table of a mixture, and what a private fit loses beside expectation-maximisation from the truth."""
    kind = options.get("covariance_type", "full")
    truth = random_mixture(size, kind, setting.domain, rng)
    train, encoded = setting.table(mixture_rows(truth, rows, rng)[0])
    test, encoded_test = setting.table(mixture_rows(truth, TEST_ROWS, rng)[0])
    least = setting.domain.least_variances[list(truth.layout.numbers)]
    ordinary = ordinary_mixture(truth, encoded, kind, least)
    best = float(log_densities(ordinary, encoded_test, setting.domain).mean())
    deviations = np.sqrt(np.einsum("kii->ki", truth.covariances))
    return SimulatedTable(
        train, lambda private: {"gap": best - private.score(test)} | mixture_errors(ordinary, private, deviations)
    )


def mixture_errors(ordinary: TableMixture, private: GaussianMixture, deviations: Array) -> dict[str, float]:
    """Return the errors of means, levels and weights, and how many components were found, the best pairing assumed."""
    found, layout = private._mixture, ordinary.layout
    means = np.abs(found.means[None] - ordinary.means[:, None]) / deviations[:, None]  # (K, K, d)
    probabilities = getattr(found, "probabilities", np.empty((found.count, 0)))
    apart = np.abs(probabilities[None] - ordinary.probabilities[:, None]) / 2
    levels = np.zeros((*apart.shape[:2], len(layout.levels)))
    for j, where in enumerate(layout.slices):
        levels[:, :, j] = apart[:, :, where].sum(axis=2)
    # An even coin has a standard deviation of 1/2, so a proportion that is off by 1/2 is off by one deviation.
    off = np.sqrt(np.mean(np.concatenate([means, 2 * levels], axis=2) ** 2, axis=2))
    at, partners = linear_sum_assignment(np.minimum(off, 1e3))
    weights = ordinary.weights
    errors = {"mean_error": float(np.sqrt(np.mean(means[at, partners] ** 2, axis=1)) @ weights)} if means.size else {}
    if layout.levels:
        errors["level_error"] = float(levels[at, partners].mean(axis=1) @ weights)
    errors["weight_error"] = float(0.5 * np.abs(found.weights[partners] - weights).sum())
    return errors | {"found": float((off[at, partners] < NEAR).sum())}
