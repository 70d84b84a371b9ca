"""Counts of cells are the counts of cells."""

import numpy as np
import pytest

from tacit.statistics import Bins, CellCounts, PairCounts

AGE = Bins((0,), np.array([0, 1, 1]), np.array([-1.0, -0.5, 0.0, 1.0]))
PLAN = Bins((1, 2, 3), np.arange(3))
SMOKES = Bins((4,), np.arange(2), missing=True)

ROWS = np.array(
    [
        [-0.7, 1, 0, 0, -1],
        [-0.5, 0, 1, 0, 1],
        [9.0, 0, 1, 0, np.nan],
        [-9.0, 0, 0, 1, 1],
        [np.nan, np.nan, np.nan, np.nan, 1],
    ]
)


def test_columns_are_counted():
    statistic = CellCounts((AGE, PLAN, SMOKES))
    age, plan, smokes = statistic.parts(statistic.block_sum(ROWS))
    np.testing.assert_array_equal(age, [2, 2])  # beyond the edges is in the outermost bins
    np.testing.assert_array_equal(plan, [1, 2, 1])
    np.testing.assert_array_equal(smokes, [1, 3, 1])  # the last is missing


def test_pairs_are_counted():
    statistic = PairCounts((AGE, PLAN, SMOKES))
    tables = statistic.parts(statistic.block_sum(ROWS))
    assert statistic.pairs == ((0, 1), (0, 2), (1, 2))
    np.testing.assert_array_equal(tables[0], [[1, 0, 1], [0, 2, 0]])
    np.testing.assert_array_equal(tables[1], [[1, 1, 0], [0, 1, 1]])
    np.testing.assert_array_equal(tables[2], [[1, 0, 0], [0, 1, 1], [0, 1, 0]])
    assert statistic.size == sum(table.size for table in tables)


def test_pairs_can_be_chosen_and_have_groups_of_their_own():
    coarse = PLAN.regrouped(np.array([0, 1, 1]))
    statistic = PairCounts((AGE, PLAN, SMOKES, coarse), ((0, 3), (1, 2)))
    first, second = statistic.parts(statistic.block_sum(ROWS))
    np.testing.assert_array_equal(first, [[1, 1], [0, 2]])
    np.testing.assert_array_equal(second, [[1, 0, 0], [0, 1, 1], [0, 1, 0]])
    assert statistic.size == first.size + second.size


def test_pairs_agree_with_an_independent_count():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.uniform(-1, 1, 1000), np.eye(3)[rng.integers(3, size=1000)], rng.choice([-1, 1], 1000)])
    [table] = PairCounts((AGE, PLAN)).parts(PairCounts((AGE, PLAN)).block_sum(rows))
    old = rows[:, 0] >= -0.5
    expected = [[(is_old & (rows[:, 1 + level] == 1)).sum() for level in range(3)] for is_old in (~old, old)]
    np.testing.assert_array_equal(table, expected)


def test_bins_of_no_group_are_not_counted():
    some = Bins((0,), np.array([-1, 0, 1]), np.array([-1.0, -0.5, 0.0, 1.0]))
    np.testing.assert_array_equal(CellCounts((some,)).block_sum(ROWS), [1, 1])
    np.testing.assert_array_equal(PairCounts((some, PLAN)).block_sum(ROWS), [0, 1, 0, 0, 1, 0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((0,), np.arange(3), np.array([0.0, 1.0, 1.0, 2.0])), "increasing"),
        (((0,), np.arange(2), np.array([0.0, np.nan, 1.0])), "increasing"),
        (((0, 1), np.arange(1), np.array([0.0, 1.0])), "one place"),
        (((0, 1, 2), np.arange(2)), "a group for each of 3"),
        (((0,), np.arange(3)), "a group for each of 2"),
    ],
)
def test_bins_that_make_no_sense(arguments, words):
    with pytest.raises(ValueError, match=words):
        Bins(*arguments)
