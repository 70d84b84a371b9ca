"""Forecasts tell what happens: they agree with a fit of such a table, and get better with budget and rows."""

import numpy as np
import pytest

from tacit.cli.forecast import _errors, _Truth, forecast


@pytest.fixture(scope="module")
def expected():
    return forecast(4000, 3, 3, [0.2, 1.0, 5.0], tables=2)


def test_more_budget_means_less_error(expected):
    for name in ("gap", "worst_gap", "mean_error", "weight_error"):
        values = [getattr(each, name) for each in expected]
        assert values[0] > values[2], name
    assert expected[-1].found == 3
    noises = [each.plan.steps[0].noise_multiplier for each in expected]
    assert noises == sorted(noises, reverse=True)


def test_with_a_great_budget_privacy_costs_next_to_nothing(expected):
    assert expected[-1].gap < 0.05
    assert expected[-1].mean_error < 0.1
    assert expected[-1].weight_error < 0.02


def test_plans_are_those_of_the_fit(expected):
    for each in expected:
        assert each.plan.epsilon(1e-6) == pytest.approx(each.epsilon, rel=1e-3)


def test_the_same_seed_gives_the_same_figures():
    first, second, other = (forecast(500, 2, 2, [1.0], tables=1, seed=seed)[0].gap for seed in (3, 3, 4))
    assert first == second != other


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_simulated_mixtures_have_the_shape_that_is_fitted(kind):
    rng = np.random.default_rng(0)
    truth = _Truth.draw(3, 4, kind, rng)
    X = truth.rows(20_000, rng)
    assert abs(X).max() <= 1
    ordinary = truth.ordinary_fit(X)
    assert ordinary.covariance_type == kind
    np.testing.assert_allclose(ordinary.weights_, truth.weights, atol=0.02)
    assert (np.abs(ordinary.means_ - truth.means) < 0.2 * truth.deviations + 0.02).all()


def test_errors_do_not_depend_on_the_order_of_components():
    rng = np.random.default_rng(1)
    truth = _Truth.draw(3, 2, "full", rng)
    ordinary = truth.ordinary_fit(truth.rows(5000, rng))

    class Turned:
        means_, weights_ = ordinary.means_[[2, 0, 1]], ordinary.weights_[[2, 0, 1]]

    assert _errors(ordinary, Turned, truth.deviations) == (0.0, 0.0, 3.0)


def test_one_component_and_one_column_will_do():
    each = forecast(300, 1, 1, [1.0], tables=1)[0]
    assert each.weight_error == 0
    assert np.isfinite([each.gap, each.mean_error]).all()
