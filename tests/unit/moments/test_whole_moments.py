"""Moments of all rows, far ones included: a normal law with them is no worse than one with independent columns."""

import numpy as np
import pytest

import tacit
from tacit.moments.far_variances import expected_counts


def nats_lost(moments, X, mean, covariance):
    """Return how many nats per row a normal law with these moments is below another one, over the rows."""

    def density(centre, matrix):
        deviations = X - centre
        squares = np.einsum("nd,nd->n", deviations @ np.linalg.inv(matrix), deviations)
        return -0.5 * (squares.mean() + np.linalg.slogdet(matrix)[1])

    return density(mean, covariance) - density(moments.mean_, moments.covariance_)


def rare(rng):
    """Columns that are 1 in one row of a hundred to one in two thousand, and some that are not rare."""
    proportions = [0.01, 0.004, 0.002, 0.001, 0.0005]
    return np.hstack([(rng.uniform(size=(20_000, 5)) < proportions).astype(float), rng.normal(0.5, 0.1, (20_000, 2))])


def heavy(rng):
    """Columns whose few long rows have most of the variance."""
    return np.clip(rng.lognormal(-4.0, 1.5, (20_000, 4)), 0, 1)


def collinear(rng):
    """A column that is the sum of two others, all of them nearly always zero."""
    parts = (rng.uniform(size=(20_000, 2)) < 0.1) * rng.exponential(0.1, (20_000, 2))
    return np.clip(np.hstack([parts, parts.sum(axis=1, keepdims=True), rng.uniform(size=(20_000, 1))]), 0, 1)


def narrow(rng):
    """Normal columns that are a thousandth of the bounds wide, one of them with wrong codes in one row of a hundred."""
    X = 0.3 + 0.001 * rng.normal(size=(20_000, 3))
    X[:200, 0] = 0.999
    return X


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
@pytest.mark.parametrize(("table", "most"), [(rare, 4.0), (heavy, 0.2), (collinear, 0.5), (narrow, 1.5)])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_no_worse_than_independent_columns(table, most, epsilon, neighbors):
    X = table(np.random.default_rng(0))
    for seed in range(3):
        moments = tacit.Moments(bounds=(0, 1), epsilon=epsilon, neighbors=neighbors, random_state=seed).fit(X)
        lost = nats_lost(moments, X, X.mean(axis=0), np.diag(X.var(axis=0)))
        assert lost < most / epsilon


def test_rules_between_columns_are_found_although_rows_are_far_out():
    X = collinear(np.random.default_rng(0))
    moments = tacit.Moments(bounds=(0, 1), epsilon=10.0, random_state=0).fit(X)
    broken = np.array([1.0, 1.0, -1.0, 0.0])
    independent = broken @ np.diag(np.diag(moments.covariance_)) @ broken
    assert broken @ moments.covariance_ @ broken < 0.5 * independent


@pytest.mark.parametrize("times", [1.0, 10.0])
def test_normal_rows_hide_nothing(times):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5)) @ rng.normal(size=(5, 5)) / 20
    for seed in range(3):
        moments = tacit.Moments(bounds=(-times, times), epsilon=1.0, random_state=seed).fit(X)
        assert nats_lost(moments, X, X.mean(axis=0), np.cov(X.T)) < 0.15


def test_the_same_whatever_the_units_of_columns():
    X = collinear(np.random.default_rng(0))
    units = np.array([1e-6, 1.0, 50.0, 1e4])
    plain = tacit.Moments(bounds=(np.zeros(4), np.ones(4)), random_state=0).fit(X)
    other = tacit.Moments(bounds=(np.zeros(4), units), random_state=0).fit(X * units)
    np.testing.assert_allclose(other.covariance_, plain.covariance_ * np.outer(units, units), rtol=1e-6)


def test_counts_far_above_the_noise_are_believed_and_others_are_not():
    counts = expected_counts(np.array([-30.0, 0.0, 10.0, 100.0]), 10.0, np.full(4, 1e-3))
    assert counts[3] == pytest.approx(100.0, rel=1e-3)
    assert (counts[:3] < 0.2).all()
    assert (np.diff(counts) > 0).all()
