"""Within-cluster variances and covariances from clipped, noisy moments, and the region that rows lie in."""

import numpy as np
import pytest

from tacit.clusters.cluster_covariances import shrink_to_spherical, within_cluster_variances
from tacit.clusters.clusters import Clusters, spherical_covariances
from tacit.clusters.region import Region
from tacit.tables import Domain


@pytest.mark.parametrize("columns", [1, 3, 10])
def test_variances_are_those_before_clipping(columns):
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 0.5, (200_000, columns))
    radii = np.full(2, 0.6 * np.sqrt(columns))
    lengths = np.linalg.norm(rows, axis=1)
    clipped = np.full(2, np.mean(np.minimum(lengths, radii[0]) ** 2))
    before = Clusters(np.zeros((2, columns)), np.ones(2), spherical_covariances(np.ones(2), columns))
    variances = within_cluster_variances(before, clipped, radii, np.zeros((2, columns)), np.zeros(2), most=100.0)
    assert clipped[0] < 0.95 * np.mean(lengths**2)
    assert variances == pytest.approx(np.full(2, np.mean(lengths**2)), rel=0.02)


def test_variances_are_never_next_to_nothing():
    before = Clusters(np.zeros((2, 3)), np.ones(2), spherical_covariances(np.array([1.0, 1e-3]), 3))
    noise = np.array([1e-4, 0.2])
    variances = within_cluster_variances(before, np.full(2, -1.0), np.ones(2), np.zeros((2, 3)), noise, most=9.0)
    assert variances == pytest.approx([0.02, 0.1])


def test_covariances_keep_their_shape_without_noise_and_lose_it_in_noise():
    covariance = np.array([[[2.0, 0.5], [0.5, 1.0]]])
    assert shrink_to_spherical(covariance, np.array([3.0]), np.zeros(1), 3) == pytest.approx(covariance)
    in_noise = shrink_to_spherical(covariance, np.array([3.0]), np.full(1, 10.0), 3)
    assert in_noise == pytest.approx(1.5 * np.eye(2)[None])


def test_covariances_are_positive_definite_whatever_the_noise():
    rng = np.random.default_rng(0)
    noisy = rng.normal(size=(50, 4, 4))
    noisy = noisy + noisy.transpose(0, 2, 1)
    variances = rng.uniform(0.1, 2.0, 50)
    covariances = shrink_to_spherical(noisy, variances, np.full(50, 0.1), 10)
    assert (np.linalg.eigvalsh(covariances) > 0).all()
    assert np.einsum("kii->k", covariances) == pytest.approx(variances)


@pytest.mark.parametrize("bounds", [2.0, ([-1.0, 0.0], [1.0, 10.0])])
def test_the_region_holds_all_that_is_projected_into_it(bounds):
    region = Region.of(Domain.from_bounds(bounds, 2))
    points = region.project(np.random.default_rng(0).normal(0, 10, (100, 2)))
    assert np.linalg.norm(points, axis=1).max() <= region.radius * (1 + 1e-12)
    assert (np.abs(points) <= region.half_widths).all()
    assert region.project(region.halton_points(20)) == pytest.approx(region.halton_points(20))
