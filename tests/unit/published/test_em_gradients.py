"""Gradients of gradient EM: those of the log-likelihood, with the posterior of Bayes, inside their boxes."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal, norm

from tacit.published.statistics.em_gradients import (
    MissingCovariateGradient,
    SymmetricMixtureGradient,
    SymmetricRegressionGradient,
)
from tacit.statistics import RobustSum, RowCount

KINDS = [SymmetricMixtureGradient, SymmetricRegressionGradient, MissingCovariateGradient]
BETA, SCALE = np.array([0.6, -0.8, 0.3]), 0.7
every_kind = pytest.mark.parametrize("kind", KINDS)


def table(kind, rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    if kind is SymmetricMixtureGradient:
        return X
    y = rng.normal(size=rows)
    if kind is MissingCovariateGradient:
        X[rng.random(X.shape) < 0.3] = np.nan
    return np.column_stack([X, y])


def log_likelihood(kind, row, beta):
    if kind is SymmetricMixtureGradient:
        return np.log(sum(multivariate_normal(side * beta, SCALE**2 * np.eye(3)).pdf(row) for side in (1, -1)) / 2)
    x, y = row[:-1], row[-1]
    if kind is SymmetricRegressionGradient:
        return np.log(sum(norm(side * (x @ beta), SCALE).pdf(y) for side in (1, -1)) / 2)
    gone = np.isnan(x)
    return norm(np.where(gone, 0.0, x) @ beta, np.sqrt(SCALE**2 + np.sum(beta[gone] ** 2))).logpdf(y)


@every_kind
def test_they_are_the_gradients_of_the_log_likelihood(kind):
    rows = table(kind, 12)
    found = kind(BETA, SCALE)(rows) / SCALE**2
    expected = [approx_fprime(BETA, lambda beta, row=row: log_likelihood(kind, row, beta), 1e-7) for row in rows]
    assert found == pytest.approx(np.array(expected), abs=1e-5)


@every_kind
def test_a_truncation_that_cuts_nothing_changes_nothing(kind):
    rows = table(kind)
    assert kind(BETA, SCALE, 1e6)(rows) == pytest.approx(kind(BETA, SCALE)(rows), abs=1e-12)


def test_rows_are_weighed_by_bayes():
    rows = table(SymmetricMixtureGradient)
    plus, minus = (multivariate_normal(side * BETA, SCALE**2 * np.eye(3)).pdf(rows) for side in (1, -1))
    sides = (plus - minus) / (plus + minus)
    assert SymmetricMixtureGradient(BETA, SCALE)(rows) == pytest.approx(sides[:, None] * rows - BETA)
    rows = table(SymmetricRegressionGradient)
    x, y = rows[:, :-1], rows[:, -1]
    plus, minus = (norm(side * (x @ BETA), SCALE).pdf(y) for side in (1, -1))
    weighed = ((plus - minus) / (plus + minus) * y - x @ BETA)[:, None] * x
    assert SymmetricRegressionGradient(BETA, SCALE)(rows) == pytest.approx(weighed)


def test_missing_cells_have_the_moments_of_their_posterior():
    """The gradient is y m - K beta, with m and K = E[x x'] of many draws of the missing cells."""
    row, rng = np.array([np.nan, 0.4, np.nan, 1.3]), np.random.default_rng(0)
    gone = np.isnan(row[:-1])
    variance = SCALE**2 + np.sum(BETA[gone] ** 2)
    mean = (row[-1] - 0.4 * BETA[1]) / variance * BETA[gone]
    covariance = np.eye(2) - np.outer(BETA[gone], BETA[gone]) / variance
    x = np.tile(row[:-1], (400_000, 1))
    x[:, gone] = rng.multivariate_normal(mean, covariance, len(x))
    expected = row[-1] * x.mean(axis=0) - x.T @ x / len(x) @ BETA
    assert MissingCovariateGradient(BETA, SCALE)(row[None])[0] == pytest.approx(expected, abs=0.01)


def test_as_printed_a_factor_of_two_is_missing():
    rows = table(SymmetricMixtureGradient)
    printed = SymmetricMixtureGradient(BETA, SCALE, as_printed=True)(rows)
    weights = 1 / (1 + np.exp(-(rows @ BETA) / SCALE**2))
    assert printed == pytest.approx((2 * weights - 1)[:, None] * rows - BETA)
    rows = table(SymmetricRegressionGradient)
    x, y = rows[:, :-1], rows[:, -1]
    weights = 1 / (1 + np.exp(-y * (x @ BETA) / SCALE**2))
    printed = SymmetricRegressionGradient(BETA, SCALE, as_printed=True)(rows)
    assert printed == pytest.approx(((2 * weights - 1) * y - x @ BETA)[:, None] * x)
    cut = SymmetricRegressionGradient(BETA, SCALE, 1e6, as_printed=True)(rows)
    assert cut == pytest.approx((2 * weights * y - x @ BETA)[:, None] * x)


def test_as_printed_missing_cells_are_right_on_average_at_the_truth_alone():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100_000, 3))
    y = x @ BETA + SCALE * rng.normal(size=len(x))
    rows = np.column_stack([np.where(rng.random(x.shape) < 0.3, np.nan, x), y])
    m_and_k = MissingCovariateGradient(BETA, SCALE, as_printed=True)
    assert m_and_k(rows).mean(axis=0) == pytest.approx(np.zeros(3), abs=0.01)
    away = BETA + np.array([0.5, 0.5, 0.0])
    both = [MissingCovariateGradient(away, SCALE, as_printed=printed)(rows).mean(axis=0) for printed in (True, False)]
    assert np.abs(both[0] - both[1]).max() > 0.03
    # The printed formula itself, for one row.
    row = rows[np.isnan(rows).sum(axis=1) == 2][0]
    z = ~np.isnan(row[:-1])
    seen = np.where(z, row[:-1], 0.0)
    m = seen + (row[-1] - BETA @ seen) / (SCALE**2 + np.sum(((1 - z) * BETA) ** 2)) * (1 - z) * BETA
    K = np.diag(1.0 - z) + np.outer(m, m) - np.outer((1 - z) * m, (1 - z) * m)
    assert m_and_k(row[None])[0] == pytest.approx(row[-1] * m - K @ BETA)


UGLY = [0.0, -0.0, 5e-324, 1e-160, 0.3, -2.0, 1e16, -1e160, 1.7e308, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("as_printed", [False, True])
@every_kind
def test_truncated_gradients_lie_in_their_box(kind, as_printed):
    """Whatever is in a row."""
    rng = np.random.default_rng(0)
    for beta, scale in itertools.product((BETA, np.array([5.0, 0.0, -1e-3])), (0.7, 1e-3, 40.0)):
        gradient = kind(beta, scale, 1.5, as_printed)
        columns = 3 + (kind is not SymmetricMixtureGradient)
        rows = rng.choice(np.array(UGLY), (4000, columns))
        rows = np.concatenate([rows, rng.normal(size=(4000, columns)) * 10.0 ** rng.uniform(-2, 3, (4000, 1))])
        if kind is MissingCovariateGradient:
            rows[4000:, :-1][rng.random((4000, 3)) < 0.5] = np.nan
        with np.errstate(all="ignore"):
            found = gradient(rows)
        middle, half_width = gradient.box
        units = np.abs(found[~np.isnan(found).any(axis=1)] - middle) / half_width
        assert units.max() <= 1 + 1e-12
        assert len(units) > 1000


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (SymmetricMixtureGradient, [[9.0, -9.0, 9.0]]),
        (SymmetricRegressionGradient, [[9.0, -9.0, 9.0, 0.0]]),
        (MissingCovariateGradient, [[-9.0, 9.0, -9.0, 9.0], [9.0, -9.0, 9.0, -9.0]]),
    ],
)
def test_no_smaller_box_would_do(kind, rows):
    gradient = kind(BETA, SCALE, 1.5)
    middle, half_width = gradient.box
    for row in rows:
        assert np.abs((gradient(np.array([row]))[0] - middle) / half_width) == pytest.approx(np.ones(3), abs=1e-9)


def test_large_coefficients_make_the_box_of_missing_cells_larger():
    """At -beta, where a cell is missing and all else says nothing."""
    gradient = MissingCovariateGradient(np.array([7.0, -7.0, 0.0]), 100.0, 1.0)
    assert gradient.box[0].tolist() == [-2.5, 2.5, 0.0]
    assert gradient.box[1].tolist() == [4.5, 4.5, 2.0]
    assert gradient(np.array([[np.nan, np.nan, 0.0, 0.0]]))[0] == pytest.approx([-7.0, 7.0, 0.0], rel=0.02)


def test_gradients_that_are_not_cut_off_have_no_box():
    for kind in KINDS:
        with pytest.raises(ValueError, match="give a truncation"):
            _ = kind(BETA, SCALE).box


@pytest.mark.parametrize("truncation", [None, 0.9])
@every_kind
def test_a_row_has_the_same_gradient_wherever_it_stands(kind, truncation):
    """To the last bit."""
    rows = table(kind, 300)
    gradient = kind(BETA, SCALE, truncation)
    found = gradient(rows)
    for place in (0, 1, 63, 64, 299):
        assert gradient(rows[place : place + 1]).tobytes() == found[place].tobytes()
        assert gradient(np.asfortranarray(rows[place::-1]))[0].tobytes() == found[place].tobytes()
        assert gradient(rows[place % 7 :: 7])[place // 7].tobytes() == found[place].tobytes()


@every_kind
def test_rows_that_are_left_out_of_sums_are_not_counted(kind):
    rows = table(kind, 50)
    rows[:3, -1] = np.nan  # a target, or a cell of a row that must have none missing
    gradient = kind(BETA, SCALE)
    count = RowCount(gradient).block_sum(rows)[0]
    assert count == RobustSum(np.zeros(3), np.ones(3), values=gradient, count=1.0).block_sum(rows)[0] == 47
