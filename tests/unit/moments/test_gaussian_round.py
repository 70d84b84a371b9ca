"""Rounds that measure one Gaussian: they end near it, with and without gaps, and on columns of a wider table."""

import numpy as np
import pytest

from tacit.fitting.column_view import ColumnView
from tacit.moments.estimates import PublicFacts
from tacit.moments.gaussian_round import GaussianEstimate, measure_gaussian, numbers_in_round
from tacit.privacy import Budget, Gaussian
from tacit.release import Curator, calibrated_plan
from tacit.sources import as_source

MEAN, COVARIANCE = np.array([0.3, -0.2]), np.array([[0.02, 0.012], [0.012, 0.03]])
ROUNDS = 6


def rows(count=20_000, seed=0):
    return np.random.default_rng(seed).multivariate_normal(MEAN, COVARIANCE, count)


def curator(table, neighbors="replace_one"):
    steps = [Gaussian("moments", 1.0, ROUNDS, numbers_in_round(2))]
    return Curator(as_source(table), calibrated_plan(steps, Budget(2.0, 1e-6), neighbors), random_state=0)


def measured(asked, n_rows, missing=False):
    facts = PublicFacts(2, n_rows)
    estimate = GaussianEstimate.of_bounds(facts)
    for _ in range(ROUNDS):
        estimate = measure_gaussian(asked, "moments", estimate, facts, missing=missing)
    return estimate


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_rounds_end_near_the_gaussian(neighbors):
    estimate = measured(curator(rows(), neighbors), 20_000 if neighbors == "replace_one" else None)
    assert estimate.mean == pytest.approx(MEAN, abs=0.01)
    assert estimate.covariance == pytest.approx(COVARIANCE, abs=0.003)
    assert estimate.rows == pytest.approx(20_000, rel=0.05)


def test_cells_that_are_missing_are_expected():
    table = rows()
    table[np.random.default_rng(1).random(table.shape) < 0.1] = np.nan
    estimate = measured(curator(table), 20_000, missing=True)
    assert estimate.mean == pytest.approx(MEAN, abs=0.02)
    assert estimate.covariance == pytest.approx(COVARIANCE, abs=0.006)


def test_a_view_of_columns_is_a_narrower_table_to_the_last_bit():
    table = rows()
    wide = np.column_stack([np.full(len(table), np.nan), table[:, 1], np.ones(len(table)), table[:, 0]])
    narrow, view = measured(curator(table), 20_000), measured(ColumnView(curator(wide), (3, 1)), 20_000)
    assert narrow.covariance.tobytes() == view.covariance.tobytes()
    assert narrow.mean.tobytes() == view.mean.tobytes()


def test_a_release_that_is_all_noise_moves_nothing():
    facts = PublicFacts(2, 3)
    before = GaussianEstimate.of_bounds(facts)
    after = measure_gaussian(curator(rows(3)), "moments", before, facts)
    assert after.covariance.tolist() == before.covariance.tolist()
