import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit.release.generator import generator
from tacit.release.noise import (
    discrete_gaussian,
    discrete_laplace,
    discretisation_error,
    exponential_select,
    laplace_discretisation_error,
)

N = 1_000_000


def close(estimate, truth, standard_error):
    return abs(estimate - truth) < 4.5 * standard_error


@pytest.mark.parametrize("sigma", [2.0**10, 2.0**30, 2.0**40])
def test_gaussian_moments(sigma):
    x = discrete_gaussian(sigma, N, generator(1)) / sigma
    # The moments of the discrete law are those of the Gaussian to within exp(-2 pi^2 sigma^2).
    assert close(x.mean(), 0, math.sqrt(1 / N))
    assert close((x**2).mean(), 1, math.sqrt(2 / N))
    assert close((x**3).mean(), 0, math.sqrt(15 / N))
    assert close((x**4).mean(), 3, math.sqrt(96 / N))


@pytest.mark.parametrize("scale", [2.0**10, 2.0**30, 2.0**40])
def test_laplace_moments(scale):
    x = discrete_laplace(scale, N, generator(2)) / scale
    a = mpmath.exp(-1 / mpmath.mpf(scale))
    variance = float(2 * a / (1 - a) ** 2 / mpmath.mpf(scale) ** 2)
    assert close(x.mean(), 0, math.sqrt(2 / N))
    assert close((x**2).mean(), variance, math.sqrt(20 / N))
    assert close((x**3).mean(), 0, math.sqrt(720 / N))
    assert close((x**4).mean(), 24, math.sqrt((40320 - 24**2) / N))


@pytest.mark.parametrize("log2_scale", [10, 30, 40])
@pytest.mark.parametrize(("draw", "law"), [(discrete_gaussian, stats.norm), (discrete_laplace, stats.laplace)])
def test_large_scales_follow_the_distribution_function_and_have_uniform_low_bits(draw, law, log2_scale):
    draws = draw(2.0**log2_scale, N, generator(3))
    edges = np.arange(1, 200) / 200
    # A cell's exact probability: its edges fall between integers.
    cuts = np.floor(law.ppf(edges) * 2.0**log2_scale + 0.5) / 2.0**log2_scale - 0.5 / 2.0**log2_scale
    observed = np.bincount(np.searchsorted(cuts, draws / 2.0**log2_scale), minlength=200)
    expected = np.diff(np.concatenate([[0], law.cdf(cuts), [1]])) * N
    assert stats.chisquare(observed, expected).pvalue > 1e-4
    assert stats.chisquare(np.bincount(draws & 63, minlength=64)).pvalue > 1e-4


@pytest.mark.parametrize("draw", [discrete_gaussian, discrete_laplace])
def test_shapes_types_and_seeds(draw):
    assert draw(1.0, 0, generator(0)).shape == (0,)
    assert draw(1.0, (), generator(0)).shape == ()
    assert draw(1.0, (3, 4), generator(0)).shape == (3, 4)
    assert draw(1.0, 3, generator(0)).dtype == np.int64
    np.testing.assert_array_equal(draw(9.0, 40_000, generator(5)), draw(9.0, 40_000, generator(5)))
    assert (draw(1e9, 100, generator(5)) != draw(1e9, 100, generator(6))).any()
    with pytest.raises(ValueError, match="lattice steps"):
        draw(0.0, 1, generator(0))


# --- How far from the continuous laws ------------------------------------------------------------------------------


def gaussian_distance(sigma):
    """Return the total variation between the discrete and the rounded Gaussian, summed with 50 digits."""
    with mpmath.workdps(50):
        s = mpmath.mpf(sigma)
        reach = int(sigma * 14) + 3
        normaliser = 1 + 2 * mpmath.fsum(mpmath.exp(-2 * (mpmath.pi * s * j) ** 2) for j in range(1, 12))
        density = [mpmath.exp(-((k / s) ** 2) / 2) / s / mpmath.sqrt(2 * mpmath.pi) for k in range(reach)]
        cdf = [mpmath.ncdf((k - mpmath.mpf(1) / 2) / s) for k in range(reach + 1)]
        gaps = [abs(cdf[k + 1] - cdf[k] - density[k] / normaliser) for k in range(reach)]
        return gaps[0] / 2 + mpmath.fsum(gaps[1:])


@pytest.mark.parametrize("sigma", [0.25, 0.5, 0.7, 1.0, 1.5, 3.7, 10.0, 100.0])
def test_the_discretisation_error_is_a_bound_and_a_tight_one(sigma):
    truth = gaussian_distance(sigma)
    assert truth <= discretisation_error(sigma)
    if sigma >= 3:
        assert discretisation_error(sigma) < truth * (1.001 + 0.4 / sigma)


@pytest.mark.parametrize("log2_sigma", [12, 16, 20])
def test_the_discretisation_error_is_a_bound_for_large_sigma(log2_sigma):
    """The discrete law exceeds the rounded one where g'' < 0, on |k| < sigma: the distance is the excess there."""
    sigma, one = 2**log2_sigma, 200  # the sum over k by recurrence, in whole numbers of 200 bits
    with mpmath.workprec(240):
        ratio = int(mpmath.exp(-mpmath.mpf(1) / (2 * sigma**2)) * 2**one)
        quotient = int(mpmath.exp(-mpmath.mpf(1) / sigma**2) * 2**one)
        total = term = 2**one
        for _ in range(1, sigma):
            term = term * ratio >> one
            ratio = ratio * quotient >> one
            total += 2 * term
        discrete = mpmath.mpf(total) / 2**one / (sigma * mpmath.sqrt(2 * mpmath.pi))
        excess = discrete - (1 - 2 * mpmath.ncdf(-(sigma - mpmath.mpf(1) / 2) / sigma))
        assert excess <= discretisation_error(float(sigma)) < excess * (1.001 + 0.4 / sigma)


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.7, 100.0])
def test_the_laplace_discretisation_error_is_a_bound(scale):
    with mpmath.workdps(40):
        s = mpmath.mpf(scale)
        discrete = [mpmath.tanh(1 / (2 * s)) * mpmath.exp(-k / s) for k in range(int(60 * scale) + 5)]
        edges = [1 - mpmath.exp(-(k - mpmath.mpf(1) / 2) / s) / 2 for k in range(1, int(60 * scale) + 6)]
        rounded = [2 * edges[0] - 1] + [b - a for a, b in pairwise(edges)]
        truth = abs(rounded[0] - discrete[0]) / 2 + mpmath.fsum(abs(r - d) for r, d in zip(rounded[1:], discrete[1:]))
    assert truth <= laplace_discretisation_error(scale)
    if scale >= 3:
        assert laplace_discretisation_error(scale) < truth * 1.2


@pytest.mark.parametrize(("scale", "shift"), [(3.0, 2), (8.0, 8), (20.0, 5)])
def test_the_discrete_laplace_profile(scale, shift):
    """Exactly epsilon-private at shift / scale, and near the continuous profile 1 - exp((eps - eps0) / 2) below."""
    k = np.arange(-60 * int(scale), 60 * int(scale))
    p, q = (np.tanh(0.5 / scale) * np.exp(-np.abs(k - c) / scale) for c in (0, shift))
    limit = shift / scale
    assert np.maximum(p - np.exp(limit) * q, 0).sum() < 1e-15
    for epsilon in np.linspace(0, limit, 23)[:-1]:
        discrete = np.maximum(p - np.exp(epsilon) * q, 0).sum()
        continuous = -np.expm1((epsilon - limit) / 2)
        assert discrete >= continuous - 1e-12  # so the continuous profile alone would promise too much
        assert discrete <= continuous + (1 + np.exp(epsilon)) * laplace_discretisation_error(scale)


# --- Selection -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0, 2**61, -(2**61)])
def test_selection_follows_its_law(offset):
    utilities = np.array([0, 30, 30, -1000, 70, 5]) + offset
    many = np.array([1, 2, 0, 2**40, 3, 1])
    gen, draws = generator(7), 4000
    picks = np.bincount([exponential_select(utilities, 25.0, gen, many) for _ in range(draws)], minlength=6)
    weight = many * np.exp((utilities - utilities.max()).astype(float) / 25)
    assert picks[2] == 0
    kept = weight > 0
    assert stats.chisquare(picks[kept], draws * weight[kept] / weight.sum()).pvalue > 1e-4


def test_equal_utilities_are_equally_likely_whatever_their_position():
    gen = generator(8)
    picks = np.bincount([exponential_select([5] * 8, 1e-3, gen) for _ in range(4000)], minlength=8)
    assert stats.chisquare(picks).pvalue > 1e-4


class Fixed:
    """A source whose uniform integers are a given part of their range, and whose coins accept."""

    def __init__(self, part):
        self.part = part

    def below(self, bound):
        return self.part(bound)

    def word(self):
        return 0


@pytest.mark.parametrize(
    ("part", "chosen"), [(lambda b: 0, 1), (lambda b: b // 2 - 1, 1), (lambda b: b // 2, 3), (lambda b: b - 1, 3)]
)
def test_every_uniform_integer_has_one_index(part, chosen):
    """The ends of the ranges belong where they should; the absent have no range at all."""
    assert exponential_select([5, 5, 5, 5, 9], 1.0, Fixed(part), [0, 1, 0, 1, 0]) == chosen


def test_a_weight_the_envelope_overstates_is_corrected(monkeypatch):
    """np.exp 40% too high for one candidate: the proposal is wrong, the law of the choice is not."""
    exp = np.exp
    monkeypatch.setattr(np, "exp", lambda x: exp(x) * np.where(np.arange(np.size(x)) == 1, 1.4, 1.0))
    gen = generator(9)
    picks = np.bincount([exponential_select([0, -10, -20], 10.0, gen) for _ in range(3000)], minlength=3)
    assert stats.chisquare(picks, 3000 * exp([0, -1, -2]) / exp([0, -1, -2]).sum()).pvalue > 1e-4


@settings(max_examples=50, deadline=None)
@given(
    utilities=st.lists(st.integers(-(2**62) + 1, 2**62 - 1), min_size=1, max_size=20),
    scale=st.floats(1e-300, 1e300),
    seed=st.integers(0, 2**32),
)
def test_selection_survives_extremes(utilities, scale, seed):
    gap = (max(utilities) - min(utilities)) / scale
    chosen = exponential_select(utilities, scale, generator(seed))
    assert 0 <= chosen < len(utilities)
    if gap and len(utilities) == 2 and gap > 200:
        assert utilities[chosen] == max(utilities)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([1.5, 2.0], 1.0), TypeError, "whole numbers"),
        (([[1, 2]], 1.0), ValueError, "one-dimensional"),
        (([1, 2], 0.0), ValueError, "scale is"),
        (([1, 2], np.nan), ValueError, "scale is"),
        (([2**62], 1.0), ValueError, "2\\*\\*62"),
        (([1, 2], 1.0, [0, 0]), ValueError, "at least one candidate"),
        (([1, 2], 1.0, [-1, 2]), ValueError, "multiplicities"),
        (([1, 2], 1.0, [1]), ValueError, "equally long"),
    ],
)
def test_wrong_candidates_get_a_sentence(arguments, error, words):
    utilities, scale, *many = arguments
    with pytest.raises(error, match=words):
        exponential_select(utilities, scale, generator(0), *many)
