"""Components settle: published weights are those that EM converges to on the same rows, as far as noise allows."""

import json

import numpy as np
import pytest

import tacit
from tacit.mixture import gaussian_mixture
from tacit.mixture.scale_free_schedule import SETTLING, scale_free_schedule
from tacit.mixture.settling import with_settling
from tacit.privacy import Budget
from tacit.statistics import TableLayout
from tacit.storage import load_model, save_model
from tacit.tables import Categorical, Numeric, Schema

SCHEMA = Schema({"number": Numeric(-10, 10), "plan": Categorical(["free", "paid"])})


def overlapping(apart, seed, count=6000):
    """Return numbers and levels of two components, the first with 0.6 of the rows."""
    rng = np.random.default_rng(seed)
    first = rng.random(count) < 0.6
    numbers = rng.normal(size=(count, 2)) + np.where(first, -apart / 2, apart / 2)[:, None] * [1.0, 0.0]
    return numbers, rng.random(count) < np.where(first, 0.8, 0.3)


def converged(numbers, free=None):
    """Return the weight of the component with the lower mean, after 500 rounds of EM without privacy."""
    shares = np.stack([numbers[:, 0] < 0, numbers[:, 0] >= 0]) * 0.6 + 0.2
    for _ in range(500):
        sizes = shares.sum(axis=1)
        logs = []
        for share, size in zip(shares, sizes):
            mean = share @ numbers / size
            covariance = (share * (numbers - mean).T) @ (numbers - mean) / size
            distances = np.sum((numbers - mean) @ np.linalg.inv(covariance) * (numbers - mean), axis=1)
            logs.append(np.log(size) - 0.5 * distances - 0.5 * np.linalg.slogdet(covariance)[1])
            if free is not None:
                logs[-1] += np.log(np.where(free, share @ free / size, 1 - share @ free / size))
        shares = np.exp(np.array(logs) - np.logaddexp(*logs))
    return shares[0].mean()


def published(table, **options):
    model = tacit.GaussianMixture(2, epsilon=10.0, **options).fit(table)
    return model.weights_[np.argmin(model.means_[:, 0])]


def differences(kind):
    """Return how far published weights are from those that EM converges to."""
    found = []
    for seed in range(4):
        if kind == "numbers":
            numbers, _ = overlapping(3.0, seed)
            found.append(published(numbers, bounds=(-10, 10), random_state=seed) - converged(numbers))
        else:
            numbers, free = overlapping(2.5, seed)
            table = {"number": numbers[:, 0], "plan": np.where(free, "free", "paid")}
            found.append(published(table, bounds=SCHEMA, random_state=seed) - converged(numbers[:, :1], free))
    return np.array(found)


@pytest.mark.parametrize("kind", ["numbers", "levels"])
def test_published_weights_are_those_of_em(kind):
    assert differences(kind) == pytest.approx(0.0, abs=0.03)


def test_without_settling_numbers_are_still_on_their_way(monkeypatch):
    monkeypatch.setattr(gaussian_mixture, "with_settling", lambda schedule, budget: schedule)
    assert differences("numbers").max() < -0.03


def test_without_softening_levels_are_still_on_their_way(monkeypatch):
    monkeypatch.setattr("tacit.mixture.table_mixture._SOFTENED", 0.0)
    assert differences("levels").mean() < -0.05


def test_noise_leaves_no_room_for_settling():
    for components, epsilon, expected in ((4, 0.05, 0), (1, 10.0, 0), (4, 10.0, 24)):
        schedule = scale_free_schedule((components,), TableLayout((0, 1)), "full", "replace_one", 5000)
        assert with_settling(schedule, Budget(epsilon, 1e-6)).settling_rounds == expected


def test_shares_are_read_from_the_plan():
    schedule = scale_free_schedule((4,), TableLayout((0, 1)), "full", "replace_one", 1_000_000)
    settled = with_settling(schedule, Budget(1.0, 1e-6))
    assert settled.shares == settled.settling_rounds > 1
    assert schedule.as_planned(tacit.privacy.Plan(settled.steps(), "replace_one")) == settled


@pytest.mark.parametrize("kind", ["numbers", "levels"])
def test_files_of_fits_that_did_not_settle_still_give_intervals(kind, tmp_path, monkeypatch):
    """Earlier versions made no settling rounds: what they released is replayed as they made it."""
    numbers, free = overlapping(4.0, 0, 3000)
    levels = {"number": numbers[:, 0], "plan": np.where(free, "free", "paid")}
    table, bounds = (numbers, (-10, 10)) if kind == "numbers" else (levels, SCHEMA)
    with monkeypatch.context() as earlier:
        earlier.setattr(gaussian_mixture, "with_settling", lambda schedule, budget: schedule)
        model = tacit.GaussianMixture(2, epsilon=10.0, bounds=bounds, random_state=0).fit(table)
        path = save_model(model, tmp_path / "model.tacit")
        before = model.confidence_intervals(n_bootstrap=10, random_state=0)
    assert SETTLING not in json.dumps(json.loads(path.read_text()))
    after = load_model(path).confidence_intervals(n_bootstrap=10, random_state=0)
    assert (after.weights == before.weights).all()
    assert (after.means == before.means).all()
