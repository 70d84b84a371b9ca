"""Rows that several tests fit: two clusters, away from the origin, in columns of different units."""

import numpy as np
import pytest

LOW, HIGH = np.array([0.0, -3.0]), np.array([400.0, 3.0])


@pytest.fixture(scope="session")
def rows():
    rng = np.random.default_rng(0)
    clusters = [rng.normal([100.0, -1.0], [20.0, 0.3], (1200, 2)), rng.normal([250.0, 1.0], [30.0, 0.2], (1800, 2))]
    return rng.permutation(np.concatenate(clusters))


@pytest.fixture(scope="session")
def bounds():
    return LOW, HIGH
