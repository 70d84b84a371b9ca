"""A chain of logits: what it says, what it draws, and how well it agrees with counts."""

import numpy as np
import pytest

from tacit.synthesis.chain import Chain
from tacit.synthesis.fitted_chain import fit_chain
from tacit.synthesis.pair_tables import PairTable

SIZES = (3, 2, 4)


def quiet(done, total):
    pass


def some_rows(rng, count=20_000):
    """Three columns that depend on each other, the third on both others."""
    first = rng.choice(3, count, p=[0.5, 0.3, 0.2])
    second = (rng.random(count) < np.array([0.1, 0.5, 0.9])[first]).astype(int)
    third = (first + 2 * second + rng.integers(0, 2, count)) % 4
    return np.column_stack([first, second, third])


def counted(rows, noise=0.0, rng=None):
    tables, margins = {}, [np.bincount(rows[:, j], minlength=size) / len(rows) for j, size in enumerate(SIZES)]
    for j in range(3):
        for i in range(j):
            table = np.zeros((SIZES[i], SIZES[j]))
            np.add.at(table, (rows[:, i], rows[:, j]), 1)
            tables[i, j] = table if rng is None else table + rng.normal(0, noise, table.shape)
    return margins, tables


def fitted(margins, tables, noise, rows):
    every = [np.arange(size) for size in SIZES]
    pairs = {(i, j): PairTable((every[i], every[j]), table, noise) for (i, j), table in tables.items()}
    return fit_chain(margins, pairs, rows, quiet)


def total_variation(one, other):
    return max(0.5 * np.abs(one[pair] / one[pair].sum() - other[pair] / other[pair].sum()).sum() for pair in one)


def random_chain(rng):
    order = (2, 0, 1)
    starts = np.cumsum([1, *(SIZES[column] for column in order)])
    return Chain(SIZES, order, tuple(rng.normal(size=(start, SIZES[j])) for start, j in zip(starts, order)))


def every_row():
    return np.array(list(np.ndindex(*SIZES)))


def test_probabilities_add_up_to_one():
    chain = random_chain(np.random.default_rng(0))
    assert np.exp(chain.log_probabilities(every_row())).sum() == pytest.approx(1.0, abs=1e-5)


def test_rows_are_drawn_as_often_as_their_probabilities_say():
    chain = random_chain(np.random.default_rng(1))
    drawn = chain.draw(200_000, np.random.default_rng(2))
    found = np.bincount(np.ravel_multi_index(drawn.T, SIZES), minlength=24) / len(drawn)
    np.testing.assert_allclose(found, np.exp(chain.log_probabilities(every_row())), atol=0.005)


def test_the_pairs_are_those_that_were_counted():
    rows = some_rows(np.random.default_rng(3))
    margins, tables = counted(rows)
    chain = fitted(margins, tables, 1.0, len(rows))
    drawn = chain.draw(100_000, np.random.default_rng(4))
    assert total_variation(counted(drawn)[1], tables) < 0.02


def test_much_noise_leaves_columns_independent_and_does_no_harm():
    rng = np.random.default_rng(5)
    rows = some_rows(rng)
    margins, tables = counted(rows, noise=1e6, rng=rng)
    drawn = fitted(margins, tables, 1e6, len(rows)).draw(100_000, rng)
    found, _ = counted(drawn)
    for one, other in zip(found, margins):
        np.testing.assert_allclose(one, other, atol=0.02)
    table = counted(drawn)[1][0, 1] / len(drawn)
    np.testing.assert_allclose(table, np.outer(table.sum(axis=1), table.sum(axis=0)), atol=0.02)


def test_shrinking_is_better_than_believing_the_counts():
    rng = np.random.default_rng(6)
    rows = some_rows(rng, 2000)
    truth = counted(some_rows(rng, 200_000))[1]
    margins, tables = counted(rows, noise=60.0, rng=rng)
    raw = {pair: np.maximum(table, 0) for pair, table in tables.items()}
    drawn = fitted(margins, tables, 60.0, len(rows)).draw(100_000, rng)
    assert total_variation(counted(drawn)[1], truth) < total_variation(raw, truth)


def test_the_same_counts_give_the_same_chain():
    margins, tables = counted(some_rows(np.random.default_rng(7), 1000))
    one, other = (fitted(margins, tables, 5.0, 1000.0) for _ in range(2))
    assert one.order == other.order
    for first, second in zip(one.weights, other.weights):
        np.testing.assert_array_equal(first, second)
