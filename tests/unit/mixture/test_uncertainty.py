"""Intervals hold the truth as often as they say, noise and sampling error together; and cost nothing."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import tacit
from tacit.mixture import uncertainty
from tacit.mixture.mixture import Mixture
from tacit.mixture.uncertainty import Replica, intervals_from_fits, match_components, overlap
from tacit.privacy import Budget, Ledger
from tacit.storage import load_model, save_model

WEIGHTS, MEANS = np.array([0.65, 0.35]), np.array([[-2.0], [2.0]])


def rows(count, seed=0, weights=WEIGHTS, means=MEANS):
    rng = np.random.default_rng(seed)
    return means[rng.choice(len(weights), count, p=weights)] + rng.normal(size=(count, means.shape[1]))


def fit(X, n_components=2, **options):
    options = {"bounds": (-10, 10), "epsilon": 1.0, "random_state": 0, **options}
    return tacit.GaussianMixture(n_components, **options).fit(X)


def covered(fits, count, bootstrap, **options):
    """Return how often 90% intervals for weights and means held the truth."""
    held = []
    for seed in range(fits):
        model = fit(rows(count, seed), random_state=seed, **options)
        intervals = model.confidence_intervals(0.9, n_bootstrap=bootstrap, random_state=seed)
        order = linear_sum_assignment(np.abs(intervals.means.mean(axis=2) - MEANS.T))[1]
        weights, means = WEIGHTS[order, None], MEANS[order]
        held.append(np.concatenate([_inside(weights, intervals.weights), _inside(means, intervals.means[:, 0])]))
    return np.mean(held)


def _inside(truth, ends):
    return (ends[:, :1] <= truth) & (truth <= ends[:, 1:])


def test_intervals_hold_the_truth():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert covered(6, 1000, 10) >= 0.75


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"epsilon": 0.5}, {"epsilon": 4.0}, {"neighbors": "add_remove"}], ids=str)
def test_intervals_hold_the_truth_over_many_fits(options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert 0.85 <= covered(200, 3000, 40, **options) <= 0.95


def test_without_much_noise_it_is_the_textbook_standard_error():
    X = rows(2000, weights=np.ones(1), means=np.zeros((1, 2)))
    intervals = fit(X, 1, epsilon=500.0).confidence_intervals(n_bootstrap=60, random_state=0)
    assert intervals.means_se[0] == pytest.approx(1 / math.sqrt(2000), rel=0.3)
    assert intervals.weights_se == pytest.approx([0.0])
    assert intervals.found == pytest.approx([1.0])


def test_less_budget_is_more_doubt():
    X = rows(3000)
    tight, loose = (
        fit(X, epsilon=epsilon).confidence_intervals(n_bootstrap=15, random_state=0) for epsilon in (4.0, 0.4)
    )
    assert (loose.weights_se > 1.5 * tight.weights_se).all()
    assert (loose.means_se > 1.5 * tight.means_se).all()
    assert (np.diff(loose.means) > np.diff(tight.means)).all()


def test_a_higher_level_is_a_wider_interval():
    model = fit(rows(2000))
    narrow, wide = (model.confidence_intervals(level, n_bootstrap=10, random_state=0) for level in (0.5, 0.99))
    assert (wide.weights[:, 1] > narrow.weights[:, 1]).all()
    assert (wide.means[..., 0] < narrow.means[..., 0]).all()
    assert (wide.means[..., 0] < model.means_).all()
    assert ((wide.weights >= 0) & (wide.weights <= 1)).all()


def test_smaller_tables_stand_in_for_large_ones(monkeypatch):
    """Standard errors by stand-ins of a quarter of the rows are those of the whole table, to the bootstrap's error."""
    model = fit(rows(4000), epsilon=2.0)
    model._released = None
    whole = model.confidence_intervals(n_bootstrap=25, random_state=0)
    monkeypatch.setattr(uncertainty, "MOST_ROWS", 1000)
    stand_in = model.confidence_intervals(n_bootstrap=25, random_state=1)
    assert stand_in.means_se == pytest.approx(whole.means_se, rel=0.5)
    assert stand_in.weights_se == pytest.approx(whole.weights_se, rel=0.5)


def test_stand_ins_keep_the_bias():
    """What a fit without noise has wrong at any size is not made smaller with the sampling error."""
    mixture = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))

    class Biased(Replica):
        def errors(self, rng):
            off = 0.3 + 0.1 * rng.normal()  # A bias, and sampling error.
            return np.zeros(1), np.zeros((1, 1)), np.zeros(1), np.full((1, 1), off), np.ones(1)

    replica = Biased(mixture, None, None, None, 400 * uncertainty.MOST_ROWS)
    found = intervals_from_fits(replica, 0.9, 200, np.random.default_rng(0), lambda done, total: None)
    assert found.means_se == pytest.approx(math.hypot(0.3, 0.1 / 20), rel=0.05)


def test_intervals_are_in_the_units_of_the_rows():
    X = rows(2000)
    plain, scaled = fit(X), fit(1024 * X, bounds=(-10_240, 10_240))
    first, second = (model.confidence_intervals(n_bootstrap=10, random_state=0) for model in (plain, scaled))
    assert second.means == pytest.approx(1024 * first.means)
    assert second.means_se == pytest.approx(1024 * first.means_se)


def test_they_cost_nothing_and_survive_a_file(tmp_path):
    account = Ledger(tmp_path / "study.db").create("people", Budget(1.0, 1e-6))
    for options in ({"n_components": (1, 2)}, {"neighbors": "add_remove"}, {"missing": "ignore", "bounds": "private"}):
        model = fit(rows(1500), ledger=account if "n_components" in options else None, **options)
        again = load_model(save_model(model, tmp_path / "model.tacit"))
        first, second = (each.confidence_intervals(n_bootstrap=10, random_state=0) for each in (model, again))
        assert (first.means == second.means).all()
        assert first.means.shape == (model.n_components_, 1, 2)
    assert len(account.history()) == 1


def test_components_that_noise_cannot_tell_apart_are_pointed_out():
    for X, epsilon in ((rows(1500, means=np.array([[-0.4], [0.4]])), 0.02), (rows(300), 0.2)):
        with pytest.warns(UserWarning, match="too much to tell them apart"):
            fit(X, epsilon=epsilon).confidence_intervals(n_bootstrap=10, random_state=0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 1.0}, "between 0 and 1"),
        ({"level": "high"}, "between 0 and 1"),
        ({"n_bootstrap": 5}, "at least 10"),
        ({"n_bootstrap": 20.0}, "at least 10"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        fit(rows(200), 1).confidence_intervals(**options)


def test_a_secret_number_of_rows_that_nothing_tells():
    model = fit(rows(200), 1, method="joint", neighbors="add_remove")
    with pytest.raises(ValueError, match="number of rows is secret"):
        model.confidence_intervals()
    public = fit(rows(2000), 1, method="joint").confidence_intervals(n_bootstrap=10, random_state=0)
    assert (public.means_se > 0).all()


def test_components_are_matched_by_overlap_and_not_by_weight():
    means = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    reference = Mixture(np.array([0.5, 0.3, 0.2]), means, np.stack([np.eye(2)] * 3))
    moved = Mixture(np.array([0.4, 0.35, 0.25]), means[[2, 0, 1]] + 0.1, np.stack([np.eye(2)] * 3))
    ordered = match_components(reference, moved)
    assert ordered.weights.tolist() == [0.35, 0.25, 0.4]
    assert overlap(reference, ordered) == pytest.approx(np.exp(-0.02 / 8))
