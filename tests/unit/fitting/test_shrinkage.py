"""Noise is taken out of values, variances and covariances, and never more than there is."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm

from tacit.fitting.shrinkage import (
    james_stein_factor,
    kalman_gain,
    positive_mean,
    posterior_variance,
    shrink,
    shrink_covariance,
    shrink_to_identity,
)


def test_gain_and_what_is_left_are_of_one_update():
    """The mean of N(0, v) given a value with noise s is g times the value, and its variance is g s^2 = (1 - g) v."""
    for v, s2 in ((1.0, 1.0), (0.2, 5.0), (30.0, 0.01)):
        gain = kalman_gain(v, s2)
        assert posterior_variance(v, s2) == pytest.approx(gain * s2)
        assert posterior_variance(v, s2) == pytest.approx((1 - gain) * v)


def test_james_steins_factor_is_from_0_to_1():
    factors = james_stein_factor(np.array([0.0, 1.0, 2.0, 1.0]), np.array([1.0, 2.0, 1.0, 0.0]))
    assert factors.tolist() == [1.0, 0.5, 0.0, 0.0]


def test_the_mean_of_what_is_positive():
    for noise in (0.01, 1.0, 30.0):
        for z in (-30.0, -5.0, -1.0, 0.0, 0.5, 4.0, 20.0):
            value, scale = z * noise, noise * max(1e-3, 1 / max(1.0, -z))
            grid = np.linspace(0.0, 40 * scale + max(0.0, value + 10 * noise), 40_001)
            weights = np.exp(norm.logpdf(grid, value, noise) - norm.logpdf(grid, value, noise).max())
            expected = trapezoid(grid * weights, grid) / trapezoid(weights, grid)
            assert positive_mean(np.array([value]), noise)[0] == pytest.approx(expected, rel=1e-4)


def test_without_noise_a_positive_mean_is_the_value():
    assert positive_mean(np.array([-1.0, 2.0]), 0.0).tolist() == [0.0, 2.0]
    assert (positive_mean(np.linspace(-1e6, 1e6, 101), 1.0) >= 0).all()


def test_shrinking_loses_less_than_it_saves():
    """Over many truths and noises, shrunk values are nearer to the truth than noisy ones, and than nothing."""
    rng = np.random.default_rng(0)
    for spread in (0.1, 1.0, 3.0):
        truths = spread * rng.normal(size=(500, 10))
        noisy = truths + rng.normal(size=truths.shape)
        estimates = np.stack([shrink(row, 1.0, spread**2)[0] for row in noisy])
        error = np.mean((estimates - truths) ** 2)
        assert error < min(1.0, 1.25 * spread**2 / (1 + spread**2) + 0.02)


@pytest.mark.parametrize("prior_variance", [0.05, 1.0])
def test_shrinking_at_the_ends(prior_variance):
    values = np.array([1.0, -2.0, 3.0])
    assert shrink(values, 0.0, prior_variance)[1] == 1.0
    assert shrink(values, 1e6, prior_variance)[1] == pytest.approx(0.0, abs=1e-9)
    assert shrink(np.zeros(3), 1.0, prior_variance)[1] == 0.0
    assert shrink(values[:2], 1.0, prior_variance)[1] == pytest.approx(
        prior_variance / (prior_variance + 1)
    )  # nothing for James-Stein to go on


def test_a_covariance_is_recovered_from_clipped_rows():
    rng = np.random.default_rng(2)
    root = np.eye(4) + 0.3 * rng.normal(size=(4, 4))
    truth = root @ root.T
    y = rng.normal(size=(200_000, 4)) @ root.T
    y *= np.minimum(1.0, 4.0 / np.linalg.norm(y, axis=1))[:, None]
    estimate, left = shrink_covariance(y.T @ y / len(y), 1e-9, 1.0, 4.0, 0.02, "full")
    assert estimate == pytest.approx(truth, abs=0.03 * truth.max())
    assert left < 1e-9


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("noise", [0.1, 1.0, 30.0])
def test_covariances_are_positive_whatever_the_noise(kind, noise):
    rng = np.random.default_rng(4)
    for _ in range(20):
        bump = rng.normal(size=(5, 5)) * noise
        moment = np.eye(5) + (bump + bump.T) / 2
        moment = moment if kind == "full" else np.diag(np.diag(moment))
        moment = np.eye(5) * np.trace(moment) / 5 if kind == "spherical" else moment
        covariance, left = shrink_covariance(moment, noise, 1.0, 3.0, 0.02, kind)
        variances = np.linalg.eigvalsh(covariance)
        assert variances[0] > 0.01 * variances.mean()
        assert 0 <= left < np.inf
        if kind != "full":
            assert covariance == pytest.approx(np.diag(np.diag(covariance)), abs=1e-9)


def test_with_much_noise_a_covariance_loses_its_shape_before_its_size():
    rng = np.random.default_rng(6)
    truth = np.diag([1.5, 1.2, 0.9, 0.6, 0.3])
    bump = 0.5 * rng.normal(size=(5, 5))
    covariance, _ = shrink_covariance(truth + (bump + bump.T) / 2, 0.5, 1.0, 10.0, 0.02, "full")
    correlations = covariance[np.triu_indices(5, 1)]
    assert np.abs(correlations).max() < np.abs((bump + bump.T)[np.triu_indices(5, 1)] / 2).max()
    assert np.trace(covariance) == pytest.approx(5.0, rel=0.4)


def test_noise_is_taken_out_of_matrices():
    rng = np.random.default_rng(0)
    truth = np.diag([0.9, 0.5, 0.5, 0.5, 0.5])
    noisy = truth + np.diag(rng.normal(0.0, 0.01, 5))
    assert shrink_to_identity(noisy, 0.01, 0.5, 0.06, 0.1) == pytest.approx(truth, abs=0.04)
    wild = rng.normal(size=(5, 5))
    smooth = shrink_to_identity(wild + wild.T, 2.0, 0.5, 0.06, 0.1)
    assert np.linalg.eigvalsh(smooth).min() > 0
    assert np.abs(smooth - 0.5 * np.eye(5)).max() < 0.5
