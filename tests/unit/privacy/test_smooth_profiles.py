"""Noise whose scale depends on rows: profiles against integrals, and what accountants make of them."""

import math

import numpy as np
import pytest
from scipy.stats import chi2, norm

from tacit.privacy import (
    Budget,
    Gaussian,
    Laplace,
    Plan,
    PlanError,
    Sampled,
    SmoothGaussian,
    SmoothLaplace,
)
from tacit.privacy.smooth_profiles import smooth_gaussian_delta, smooth_laplace_delta

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def laplace_log_normal(z, sigma):
    """The density of Laplace noise times a log-normal number."""
    w = np.exp(-sigma * NODES)
    return (WEIGHTS * w / 2 * np.exp(-np.abs(z)[:, None] * w)).sum(axis=1)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("direction", [-1, 1])
def test_laplace_log_normal_keeps_to_its_profile(epsilon, direction):
    """The release with its number moved and its scale changed, both as far as they may, in all four ways."""
    step = SmoothLaplace("mean", 1 / epsilon)
    z = np.concatenate([-np.geomspace(400, 1e-7, 15_001), np.geomspace(1e-7, 400, 15_001)])
    for factor in (math.exp(direction * step.smoothness), 1.0):
        for shift in (step.shift * min(1.0, factor), 0.0):  # no more than either of the two bounds
            p = laplace_log_normal(z, step.spread)
            q = laplace_log_normal((z - shift) / factor, step.spread) / factor
            for e in (0.0, 0.3 * epsilon, 0.7 * epsilon):
                for one, other in ((p, q), (q, p)):
                    true = np.trapezoid(np.maximum(one - math.exp(e) * other, 0.0), z)
                    stated = smooth_laplace_delta(np.array([e]), epsilon / 2, epsilon / 2)[0]
                    assert true <= stated + 1e-6


def test_shift_alone_is_purely_private():
    step = SmoothLaplace("mean", 1.0)
    z = np.linspace(-60, 60, 20_001)
    ratio = np.log(laplace_log_normal(z, step.spread) / laplace_log_normal(z - step.shift, step.spread))
    assert np.abs(ratio).max() <= 0.5 + 1e-9
    assert np.abs(ratio).max() > 0.45  # there is nothing to gain


def gaussian(epsilon, shift, log_scale, d):
    """The hockey-stick divergence by quadrature over the direction of the shift; d at least 2."""
    z = np.linspace(-13, 13, 10_001)
    wide = math.exp(-2 * log_scale) - 1
    edge = 2 * (epsilon - d * log_scale + z**2 / 2 - (z - shift) ** 2 * (1 + wide) / 2) / wide
    mass = chi2.sf if log_scale < 0 else chi2.cdf
    p = norm.pdf(z) * mass(edge, d - 1)
    q = norm.pdf(z, shift, math.exp(log_scale)) * mass(edge * (1 + wide), d - 1)
    return np.trapezoid(p - math.exp(epsilon) * q, z)


@pytest.mark.parametrize(
    ("shift", "smoothness", "d"), [(0.2, 0.03, 10), (0.09, 0.025, 11), (0.5, 0.3, 2), (0.05, 0.2, 3)]
)
def test_gaussian_profiles_are_the_worst_of_all_scales(shift, smoothness, d):
    for epsilon in (0.0, 0.5, 1.0):
        stated = smooth_gaussian_delta(np.array([epsilon]), shift, smoothness, d)[0]
        scales = [u for u in np.linspace(-smoothness, smoothness, 15) if abs(u) > 1e-9]
        true = max(gaussian(epsilon, part * shift, u, d) for u in scales for part in (0.5, 1.0))
        assert true <= stated + 1e-7
        assert stated == pytest.approx(max(gaussian(epsilon, shift, u, d) for u in (scales[0], scales[-1])), abs=1e-7)


def test_nearly_one_scale_is_nearly_gaussian_noise():
    plain = Plan((Gaussian("sum", 5.0),))
    for epsilon in (0.2, 0.5):
        found = smooth_gaussian_delta(np.array([epsilon]), 0.2, 1e-4, 4)[0]
        assert plain.delta(epsilon) <= found < 1.02 * plain.delta(epsilon)


def test_composition_of_laplace_log_normal_is_a_little_better_than_its_zero_concentrated_bound():
    budget = Budget(1.0, 1e-6)
    smooth = Plan((SmoothLaplace("means", 1.0, 50, 10),)).calibrate(budget).steps[0].noise_multiplier
    gaussian_one = Plan((Gaussian("means", 1.0, 50, 10),)).calibrate(budget).steps[0].noise_multiplier
    assert 0.9 < smooth / gaussian_one < 1.0
    one = Plan((SmoothLaplace("means", 10.0, 4, 3),))
    many = Plan((SmoothLaplace("means", 10.0 * math.sqrt(3), 12, 1),))
    assert one.epsilon(1e-6) == pytest.approx(many.epsilon(1e-6))


def test_everything_composes_with_everything():
    plan = Plan(
        (
            SmoothLaplace("means", 9.0, 2, 3),
            SmoothGaussian("centre", 12.0, size=3, smoothness=0.02),
            Gaussian("sum", 9.0),
            Laplace("count", 9.0),
            Sampled(0.01, Gaussian("gradient", 2.0, 10)),
        )
    )
    alone = max(Plan((step,)).epsilon(1e-6) for step in plan.steps)
    assert alone < plan.epsilon(1e-6) < 3.0
    assert Plan.from_dict(plan.to_dict()) == plan
    assert plan.scaled(2.0).steps[1].smoothness == 0.01
    tight = plan.calibrate(Budget(0.5, 1e-6))
    assert tight.delta(0.5) <= 1e-6


def test_rows_may_not_come_and_go():
    for step in (SmoothLaplace("means", 1.0), SmoothGaussian("centre", 1.0, smoothness=0.1)):
        with pytest.raises(PlanError, match="public number of them"):
            Plan((step,), "add_remove")
    with pytest.raises(ValueError, match="smoothness of step"):
        SmoothGaussian("centre", 1.0, smoothness=0.0)
