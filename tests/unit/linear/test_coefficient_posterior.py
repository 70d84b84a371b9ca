"""What releases say of coefficients together."""

import numpy as np
import pytest

from tacit.linear.coefficient_posterior import CoefficientPosterior
from tacit.linear.white_inputs import WhiteInputs


def white(columns=6):
    wide = 1 + columns
    return WhiteInputs(np.eye(wide), np.eye(wide), np.zeros((wide, wide)), np.eye(wide), 10.0)


def learn(truth, noises, seed=0):
    """Return what is known after mean scores at zero whose numbers have errors of these standard deviations."""
    rng, known = np.random.default_rng(seed), CoefficientPosterior.flat(white(len(truth) - 1))
    for noise in noises:
        mean = truth + noise * rng.normal(size=len(truth))
        known = known.learn(np.zeros(len(truth)), mean, np.eye(len(truth)), np.full(len(truth), noise**2))
    return known


def test_all_releases_count_each_by_its_noise():
    truth = np.array([0.0, 1.0, -1.0, 0.5, 0.3, -0.2, 0.8])
    known = learn(truth, [0.01, 0.1, 0.1])
    assert known.coefficients == pytest.approx(truth, abs=0.04)
    assert np.sqrt(np.diag(known.covariance)) == pytest.approx(0.01, rel=0.05)


def test_what_is_drowned_is_drawn_to_no_slopes():
    known = [learn(np.zeros(40), [3.0], seed) for seed in range(10)]
    assert np.mean([np.abs(each.coefficients[1:]).max() for each in known]) < 0.3
    assert np.median([each.prior_variance for each in known]) < 0.1


def test_errors_hold_the_truth_also_where_slopes_are_shrunk():
    held = []
    for seed in range(60):
        truth = np.random.default_rng(100 + seed).normal(size=9) * 0.2
        known = learn(truth, [0.3], seed)
        errors = known.errors(known.coefficients, np.zeros((9, 9)))
        held.append(np.abs(known.coefficients - truth) < 1.645 * np.sqrt(np.diag(errors)))
    assert np.mean(held) > 0.85


def test_a_long_step_leaves_doubt():
    known = learn(np.array([0.0, 1.0, -1.0, 0.5, 0.3, -0.2, 0.8]), [0.01])
    after = known.forget(np.zeros(7))
    assert np.diag(after.covariance).min() > 4 * np.diag(known.covariance).max()
    assert after.coefficients == pytest.approx(known.coefficients, abs=0.1)
