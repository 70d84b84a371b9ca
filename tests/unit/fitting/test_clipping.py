"""What clipping does to a normal law, by simulation and quadrature; where to clip."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from tacit.fitting.clipping import (
    clipped_normal_variance,
    clipped_score_moments,
    clipped_variances,
    laplace_variance_beyond,
    least_variance_radius,
    radius_within_noise,
    unclip_variances,
)
from tacit.statistics.losses import HuberLoss


def clipped_second_moments(variances, radius, count=400_000):
    y = np.random.default_rng(5).normal(size=(count, len(variances))) * np.sqrt(variances)
    y *= np.minimum(1.0, radius / np.linalg.norm(y, axis=1))[:, None]
    return (y**2).mean(axis=0)


@pytest.mark.parametrize("radius", [1.5, 2.5, 4.0, 20.0])
@pytest.mark.parametrize("variances", [[1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 0.5], [0.7] * 10], ids=str)
def test_clipping_and_declipping_agree_with_simulation(variances, radius):
    variances = np.array(variances)
    simulated = clipped_second_moments(variances, radius)
    assert clipped_variances(variances, radius) == pytest.approx(simulated, rel=0.015)
    if simulated.sum() < 0.8 * radius**2:  # beyond that, hardly a row is left unclipped
        assert unclip_variances(simulated, radius) == pytest.approx(variances, rel=0.05)


def test_one_clipped_column_agrees_with_quadrature():
    for radius in (0.5, 1.0, 3.0):
        exact = quad(lambda x, r=radius: min(x * x, r * r) * norm.pdf(x), -np.inf, np.inf)[0]
        assert clipped_variances(np.ones(1), radius)[0] == pytest.approx(exact, rel=5e-3)


def test_declipping_never_runs_away():
    """More than clipped rows can have: the radius is a limit, not an asymptote to divide by."""
    for moments in (np.full(3, 5.0), np.array([100.0, 1e-6, 1e-6])):
        declipped = unclip_variances(moments, 2.0)
        assert np.isfinite(declipped).all()
        assert (declipped > 0).all()
        assert declipped.max() < 40


def test_one_law_has_one_clipped_variance():
    """Three places compute it: exactly for rows of any length, by points for any variances, and in Huber's loss."""
    for radius in (0.5, 1.0, 3.0):
        exact = quad(lambda x, r=radius: min(x * x, r * r) * norm.pdf(x), -np.inf, np.inf)[0]
        assert clipped_normal_variance(radius) == pytest.approx(exact, rel=1e-9)
        assert HuberLoss(radius).square == pytest.approx(exact, rel=1e-9)
        for columns in (2, 7):
            by_points = clipped_variances(np.ones(columns), radius).mean()
            assert clipped_normal_variance(radius, columns) == pytest.approx(by_points, rel=5e-3)


def test_what_a_laplace_law_has_beyond_a_radius():
    law = laplace(scale=np.sqrt(0.5))
    for radius in (0.3, 1.0, 4.0):
        inside = quad(lambda x: x * x * law.pdf(x), 0, radius)[0]
        within = 2 * (inside + radius**2 * law.sf(radius))
        assert laplace_variance_beyond(radius) == pytest.approx(1 - within, rel=1e-9)


def test_less_noise_allows_a_wider_radius():
    radii = (0.7, 1.0, 1.5, 2.0, 3.0, 5.0)

    def best(noise):
        return least_variance_radius(radii, noise, lambda radius: clipped_score_moments(5, 1e9, radius * np.sqrt(6)))

    found = [best(noise) for noise in (3.0, 0.3, 0.03, 0.003)]
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_the_noise_at_a_radius_is_within_its_limit():
    for power in (1, 2):
        for noise in (1e-6, 0.01, 0.5):
            radius = radius_within_noise(noise, 0.1, power, 0.0, np.inf)
            assert noise * radius**power == pytest.approx(0.1)
        assert radius_within_noise(0.0, 0.1, power, 1.0, 5.0) == 5.0
