"""The bounds an audit rests on hold exactly, and invert the known trade-offs."""

import numpy as np
import pytest
from scipy import stats

from tacit.audit.bounds import epsilon_bound, error_bound, mu_bound, plan_forbids
from tacit.privacy import Gaussian, Laplace, Plan
from tacit.privacy.gaussian_profile import gaussian_mu


@pytest.mark.parametrize("failure", [0.05, 0.001])
@pytest.mark.parametrize("rate", [1e-4, 0.01, 0.3, 0.5, 0.9, 0.9999])
def test_error_bound_fails_no_more_often_than_it_says(rate, failure):
    counts = np.arange(201)
    too_low = error_bound(counts, 200, failure) < rate
    assert stats.binom.pmf(counts, 200, rate)[too_low].sum() <= failure * (1 + 1e-9)


def test_error_bound_is_sharp():
    """Where a bound can fail at all it nearly uses up what it is allowed."""
    counts = np.arange(2001)
    too_low = error_bound(counts, 2000, 0.05) < 0.3
    assert stats.binom.pmf(counts, 2000, 0.3)[too_low].sum() > 0.04


def test_error_bound_of_all_errors_is_one():
    assert error_bound([10], 10, 0.05) == [1.0]


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_epsilon_bound_of_randomised_response(delta):
    """Tell the truth with probability e^eps / (1 + e^eps), after saying it outright with probability delta."""
    lie = (1 - delta) / (1 + np.exp(1.3))
    assert epsilon_bound(lie, lie, delta) == pytest.approx(1.3)


def test_epsilon_bound_takes_the_better_direction():
    assert epsilon_bound(0.1, 0.6, 0.0) == epsilon_bound(0.6, 0.1, 0.0) == pytest.approx(np.log(4))


def test_useless_tests_bound_nothing():
    assert epsilon_bound(0.6, 0.6, 1e-6) == 0
    assert mu_bound(0.6, 0.6) == 0
    np.testing.assert_array_equal(epsilon_bound([1.0, 0.0], [0.0, 1.0], 1e-6), 0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_mu_bound_inverts_the_gaussian_trade_off(epsilon):
    mu = gaussian_mu(epsilon, 1e-5)
    thresholds = np.linspace(-2, 2 + mu, 9)
    assert mu_bound(stats.norm.sf(thresholds), stats.norm.cdf(thresholds - mu)) == pytest.approx(np.full(9, mu))


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
def test_a_gaussian_plan_forbids_just_what_its_trade_off_does(mu):
    plan = Plan((Gaussian("sum", noise_multiplier=1 / mu),))
    for false_positive in (0.02, 0.3, 0.7):
        allowed = stats.norm.cdf(stats.norm.isf(false_positive) - mu)
        assert not plan_forbids(plan, false_positive, allowed * 1.0001)
        assert plan_forbids(plan, false_positive, allowed * 0.97)


def test_a_laplace_plan_forbids_just_what_its_trade_off_does():
    plan = Plan((Laplace("count", noise_multiplier=0.5),))
    threshold = 1.2  # The score has scale 1/2, and is about 0 or about 1.
    false_positive, allowed = stats.laplace.sf(threshold, 0, 0.5), stats.laplace.cdf(threshold, 1, 0.5)
    assert not plan_forbids(plan, false_positive, allowed * 1.001)
    assert plan_forbids(plan, false_positive, allowed * 0.9)
