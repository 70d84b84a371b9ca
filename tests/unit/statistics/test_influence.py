"""Influence functions: values, bounds and biases against numbers computed in 50 digits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.published.statistics import Shorten, Smoothed, smoothed_bound, smoothed_influence
from tacit.statistics import Clip

BETAS = (1.0, 2.146, 4.605, 9.21)
EXACT = {
    1e-3: (0.000999999333333333, 0.000999999600341721, 0.000999999724755700, 0.000999999779044517),
    0.1: (0.0993333333333333, 0.0996003417210314, 0.0997247557003257, 0.0997790445168295),
    1.0: (0.564087272574384, 0.668796356910556, 0.741505175057313, 0.782528493163089),
    10.0: (0.642734599197547, 0.806426789036693, 0.911258725088482, 0.940101890680011),
    1e2: (0.643636700622796, 0.808025978874636, 0.912738500909126, 0.940535523794843),
    1e4: (0.643645824867383, 0.808042151900303, 0.912753368982598, 0.940539730975213),
    1e8: (0.643645825779912, 0.808042153517789, 0.912753370469475, 0.940539731395801),
}
every_beta = pytest.mark.parametrize("beta", [0.5, *BETAS, 30.0])
numbers = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.parametrize("u", EXACT)
def test_values_to_the_last_digits(u):
    for beta, exact in zip(BETAS, EXACT[u]):
        assert smoothed_influence(np.array([u, -u]), beta) == pytest.approx([exact, -exact], rel=1e-14, abs=1e-14)


@every_beta
def test_pieces_meet(beta):
    for joint in (1e-4, 1.0):
        below, above = smoothed_influence(np.array([joint * (1 - 1e-14), joint * (1 + 1e-14)]), beta)
        assert above - below == pytest.approx(0.0, abs=1e-13)


@every_beta
def test_against_the_definition(beta):
    """E phi(u (1 + eta)) by Gauss-Hermite, which is exact enough where phi's corners are far away."""
    z, weights = np.polynomial.hermite_e.hermegauss(200)
    for u in (0.01, 0.05, 0.1):
        v = u + u * z / math.sqrt(beta)
        phi = np.where(np.abs(v) <= math.sqrt(2), v - v**3 / 6, np.copysign(2 * math.sqrt(2) / 3, v))
        assert smoothed_influence(np.array([u]), beta)[0] == pytest.approx(phi @ weights / weights.sum(), abs=1e-9)


@every_beta
def test_bounded_odd_and_increasing(beta):
    u = np.concatenate([[0.0, 5e-324], np.geomspace(1e-9, 1e300, 20_000), [np.inf]])
    up, down = smoothed_influence(u, beta), smoothed_influence(-u, beta)
    assert (up == -down).all()
    assert up.max() <= smoothed_bound(beta)
    assert (np.diff(up) >= -2e-15).all()
    assert smoothed_influence(np.array([np.nan]), beta).tolist() == [0.0]
    assert up[-1] == smoothed_bound(beta)


def test_bounds_and_biases_as_tabulated():
    for beta, bound, bias in (
        (0.5, 0.49073, 0.5736),
        (1, 0.64365, 0.4360),
        (2, 0.79451, 0.3497),
        (9.21, 0.94054, 0.2749),
    ):
        assert Smoothed(beta).bound == pytest.approx(bound, abs=6e-6)
        assert Smoothed(beta).bias(2) == pytest.approx(bias, abs=6e-5)


@pytest.mark.parametrize("order", [1.2, 1.5, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("influence", [Clip(), Smoothed(1.0), Smoothed(4.605)], ids=str)
def test_no_value_has_more_bias(influence, order):
    u = np.geomspace(1e-6, 1e9, 100_000)
    ratio = np.abs(u - influence.bound * influence.unit_influence(u[:, None])[:, 0]) / u**order
    assert ratio[u > 1e-2].max() <= influence.bias(order) * (1 + 1e-4)
    assert ratio.max() >= influence.bias(order) * (1 - 1e-4)
    assert influence.bias(2) * influence.bound >= 0.25 - 1e-12  # what no odd function can be below


@every_beta
def test_the_table_is_near_the_function(beta):
    rng = np.random.default_rng(0)
    u = rng.normal(size=20_000) * 10.0 ** rng.uniform(-8, 10, 20_000)
    assert (
        np.abs(
            Smoothed(beta).bound * Smoothed(beta).unit_influence(u[:, None])[:, 0] - smoothed_influence(u, beta)
        ).max()
        < 2e-7
    )


@pytest.mark.parametrize("influence", [Clip(), Shorten(), Smoothed(0.5), Smoothed(4.605), Smoothed(30.0)], ids=str)
@given(u=st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_shares_are_shares(influence, u):
    u = np.array(u)
    shares = influence.unit_influence(u)
    assert (np.abs(shares) <= 1).all()
    assert (shares[np.isnan(u)] == 0).all()
    assert (shares * np.where(np.isnan(u), 0.0, u) >= 0).all()
    for norm, order in (("l1", 1), ("l2", 2)):
        assert np.linalg.norm(shares, order, axis=1).max() <= influence.row_norm(3, norm)


def test_long_rows_keep_their_direction():
    rows = np.array([[3e307, 4e307], [3e-320, 4e-320], [30.0, 40.0], [0.3, 0.4]])
    assert Shorten().unit_influence(rows) == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0], [0.6, 0.8], [0.3, 0.4]]))


@pytest.mark.parametrize("beta", [0.4, 31.0, np.nan])
def test_betas_beyond_what_was_checked_are_refused(beta):
    with pytest.raises(ValueError, match="beta must be"):
        Smoothed(beta)


def test_orders_without_a_bias_are_refused():
    with pytest.raises(ValueError, match="over 1"):
        Clip().bias(1.0)
    with pytest.raises(ValueError, match="clip instead"):
        Smoothed(1.0).bias(4.0)
