"""Statistics of tables are what their formulas say: against sums over rows one by one, and with cells filled in."""

import numpy as np
import pytest

from tacit.statistics import (
    ComponentMoments,
    Components,
    ComponentSquares,
    TableComponents,
    TableLayout,
    TableMoments,
    TableSquares,
)

KINDS = ("full", "tied", "diag", "spherical")
RNG = np.random.default_rng(0)
ROOTS = RNG.normal(size=(2, 3, 3)) * 0.3 + np.eye(3)
COVARIANCES = ROOTS @ ROOTS.transpose(0, 2, 1)
GAUSSIANS = Components(np.array([0.4, 0.6]), RNG.normal(size=(2, 3)), np.linalg.cholesky(COVARIANCES))
LAYOUT = TableLayout((0, 4, 5), ((1, 2, 3), (6,)))
SHARES = np.array([[0.5, 0.3, 0.2, 0.9, 0.1], [0.1, 0.1, 0.8, 0.4, 0.6]])
TABLE = TableComponents(LAYOUT, GAUSSIANS, SHARES)


def rows(count=300, gaps=0.0, seed=1):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(count, 3)) * 1.5
    levels = np.eye(3)[rng.integers(3, size=count)]
    numbers[rng.random(numbers.shape) < gaps] = np.nan
    levels[rng.random(count) < gaps] = np.nan
    truth = np.where(rng.random(count) < gaps, np.nan, rng.choice([-1.0, 1.0], count))
    return np.column_stack([numbers[:, 0], levels, numbers[:, 1:], truth])


def by_hand(row):
    """Responsibilities, conditional mean and covariance, and expected levels of one row, by the textbook."""
    numbers, levels, truth = row[[0, 4, 5]], row[1:4], row[6]
    o = ~np.isnan(numbers)
    found = []
    for k in range(2):
        mean, covariance = GAUSSIANS.means[k], COVARIANCES[k]
        known = covariance[np.ix_(o, o)]
        apart = numbers[o] - mean[o]
        log = np.log(GAUSSIANS.weights[k])
        expected, scatter = numbers.copy(), np.zeros((3, 3))
        gain = covariance[np.ix_(~o, o)] @ np.linalg.inv(known)
        expected[~o] = mean[~o] + gain @ apart
        scatter[np.ix_(~o, ~o)] = covariance[np.ix_(~o, ~o)] - gain @ covariance[np.ix_(o, ~o)]
        log -= 0.5 * apart @ np.linalg.solve(known, apart) + 0.5 * np.linalg.slogdet(2 * np.pi * known)[1]
        one = [SHARES[k, :3] if np.isnan(levels).any() else levels]
        one += [SHARES[k, 3:] if np.isnan(truth) else np.array([truth < 0, truth > 0], float)]
        if not np.isnan(levels).any():
            log += np.log(SHARES[k, :3][levels > 0][0])
        if not np.isnan(truth):
            log += np.log(SHARES[k, 3 + int(truth > 0)])
        found.append((log, expected, scatter, np.concatenate(one)))
    return found


def second(matrices, kind):
    if kind == "tied":
        return matrices.sum(axis=0)
    return {"full": matrices, "diag": np.einsum("kii->ki", matrices)}.get(kind, np.einsum("kii->k", matrices))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_moments_are_those_of_the_textbook(kind, gaps):
    block, radius = rows(gaps=gaps), 1e3  # nothing is clipped
    counts, sums, squares, levels = np.zeros(2), np.zeros((2, 3)), np.zeros((2, 3, 3)), np.zeros((2, 5))
    for row in block:
        found = by_hand(row)
        joint = np.array([log for log, *_ in found])
        shares = np.exp(joint - joint.max()) / np.exp(joint - joint.max()).sum()
        for k, (_, expected, scatter, one) in enumerate(found):
            whitener = np.linalg.inv(GAUSSIANS.factors[k])
            y = whitener @ (expected - GAUSSIANS.means[k])
            counts[k] += shares[k]
            sums[k] += shares[k] * y
            squares[k] += shares[k] * (np.outer(y, y) + whitener @ scatter @ whitener.T)
            levels[k] += shares[k] * one
    statistic = TableMoments(TABLE, radius, 0.7, 1.2, 0.9, 1.4, kind, missing=True)
    total = statistic.block_sum(block)
    assert total.shape == (statistic.size,)
    for found, expected in zip(statistic.parts(total), (counts, sums, second(squares, kind))):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(statistic.level_sums(total), levels, rtol=1e-9)


def test_densities_are_those_of_the_textbook():
    block, units = rows(gaps=0.3), np.log([2.0, 3.0, 5.0])
    joint = TABLE.log_joint(block, True, units)
    for row, found in zip(block, joint.T):
        observed = units[~np.isnan(row[[0, 4, 5]])].sum()
        assert found == pytest.approx([log - observed for log, *_ in by_hand(row)])


def test_squares_are_those_expected():
    block = rows(gaps=0.4) * 0.1
    means = np.zeros((2, 3))
    table = TableComponents(LAYOUT, Components(GAUSSIANS.weights, means, 0.1 * GAUSSIANS.factors), SHARES)
    whole = TableSquares(table, missing=True)
    expected = np.zeros((2, 3))
    for row in block:
        [part] = table.e_step(row[None], missing=True)
        numbers = row[[0, 4, 5]]
        o = ~np.isnan(numbers)
        for k in range(2):
            covariance = 0.01 * COVARIANCES[k]
            gain = covariance[np.ix_(~o, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
            filled = np.where(o, numbers, 0.0)
            filled[~o] = gain @ numbers[o]
            spread = np.zeros(3)
            spread[~o] = np.diag(covariance[np.ix_(~o, ~o)] - gain @ covariance[np.ix_(o, ~o)])
            expected[k] += part.responsibilities[k, 0] * np.minimum(filled**2 + spread, 1.0)
    np.testing.assert_allclose(whole.parts(whole.block_sum(block)), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_numbers_without_gaps_is_an_array(kind):
    block = np.random.default_rng(2).normal(size=(500, 3)) * 3
    plain = ComponentMoments(GAUSSIANS, 2.6, 0.5, 0.8, 1.0, kind)
    table = TableMoments(TableComponents.of_numbers(GAUSSIANS), 2.6, 0.5, 0.8, 1.0, 1.0, kind, missing=True)
    np.testing.assert_allclose(table.block_sum(block), plain.block_sum(block), rtol=1e-10)
    assert table.sensitivity("replace_one") == plain.sensitivity("replace_one")
    squares = TableSquares(TableComponents.of_numbers(GAUSSIANS))
    np.testing.assert_allclose(squares.block_sum(block), ComponentSquares(GAUSSIANS).block_sum(block), rtol=1e-10)


def test_rows_with_gaps_are_left_out_unless_they_are_modelled():
    block = rows(gaps=0.3)
    complete = block[~np.isnan(block).any(axis=1)]
    for statistic in (TableMoments(TABLE, 2.0), TableSquares(TABLE)):
        np.testing.assert_allclose(statistic.block_sum(block), statistic.block_sum(complete), rtol=1e-10)


def test_a_row_without_any_cell_counts_as_what_is_expected():
    statistic = TableMoments(TABLE, 3.0, missing=True)
    total = statistic.block_sum(np.full((1, LAYOUT.width), np.nan))
    counts, sums, squares = statistic.parts(total)
    np.testing.assert_allclose(counts, GAUSSIANS.weights)
    np.testing.assert_allclose(sums, 0.0, atol=1e-12)
    np.testing.assert_allclose(squares, GAUSSIANS.weights[:, None, None] * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(statistic.level_sums(total), GAUSSIANS.weights[:, None] * SHARES)
