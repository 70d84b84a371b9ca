"""A simulated table of clusters that can be told apart, and how private centres of it are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans as OrdinaryKMeans

from tacit.clusters import KMeans
from tacit.models.trials.simulation import Setting, mixture_rows, random_mixture
from tacit.models.trials.trial import NEAR, TEST_ROWS, SimulatedTable

__all__ = ["draw"]

_STARTS = 5  # Starts of ordinary k-means, beside the truth.


def draw(setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator) -> SimulatedTable:
    """Return a table of clusters, and how much farther from centres rows are than with ordinary k-means."""
    truth = random_mixture(size, "spherical", setting.domain, rng)
    z, labels = mixture_rows(truth, rows, rng)
    train, encoded = setting.table(z)
    test, encoded_test = setting.table(mixture_rows(truth, TEST_ROWS, rng)[0])
    truth_start = [encoded[labels == k].mean(axis=0) if (labels == k).any() else encoded[k] for k in range(size)]
    found_start = OrdinaryKMeans(size, n_init=_STARTS, random_state=0).fit(encoded[:TEST_ROWS]).cluster_centers_
    fits = [OrdinaryKMeans(size, init=np.asarray(each), n_init=1).fit(encoded) for each in (truth_start, found_start)]
    ordinary = min(fits, key=lambda fit: fit.inertia_)
    least = float(np.mean(ordinary.transform(encoded_test).min(axis=1) ** 2))
    domain = setting.domain

    def judge(private: KMeans) -> dict[str, float]:
        distance = float(np.mean(private.transform(test).min(axis=1) ** 2))
        centres = (private.cluster_centers_ - domain.centre) / domain.scale
        off = np.linalg.norm(centres[None] - ordinary.cluster_centers_[:, None], axis=2) / max(least, 1e-12) ** 0.5
        errors = off[linear_sum_assignment(off)]
        proportions = np.bincount(ordinary.labels_, minlength=size) / rows
        found = float((errors < NEAR).sum())
        return {"excess": distance / max(least, 1e-12) - 1, "centre_error": float(errors @ proportions), "found": found}

    return SimulatedTable(train, judge)
