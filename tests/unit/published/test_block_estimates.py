"""Sample and aggregate: blocks of rows, what they have in common, and how far one row moves that."""

import math

import numpy as np
import pytest

from tacit.published.statistics import BlockCentre, BlockSquares
from tacit.published.statistics.block_estimates import centre

DIAMETER = 2.0**20


def scattered(rng, m):
    """Points that make trouble: clusters, lines, ties, two halves, and one alone."""
    width = int(rng.integers(1, 4))
    kind = rng.integers(0, 5)
    if kind == 0:
        points = rng.normal(0, 100, (m, width))
    elif kind == 1:
        most = m // 2 + rng.integers(0, 6)  # in one of two heaps
        points = np.where(np.arange(m)[:, None] < most, 0, 1) * 1e5 + rng.integers(0, 2) * rng.normal(0, 10, (m, width))
    elif kind == 2:
        points = np.zeros((m, width))
    elif kind == 3:
        points = rng.standard_t(1, (m, width)) * 10
    else:
        points = 1000.0 * np.arange(m)[:, None] * np.ones(width)
    return np.clip(np.rint(points), -1.5e5, 1.5e5).astype(np.int64)


def moved(rng, points):
    """One point goes anywhere, or on top of another, or next to the middle of all."""
    other = points.copy()
    goal = [rng.integers(-(10**5), 10**5, points.shape[1]), points[rng.integers(len(points))], np.median(points, 0)]
    other[rng.integers(len(points))] = np.rint(goal[rng.integers(3)])
    return other


def test_neighbours_keep_to_the_bound():
    rng, worst, farthest = np.random.default_rng(0), 0.0, 0.0
    for _ in range(600):
        m = int(rng.integers(20, 120))
        t = float(rng.uniform(max(4 / (m // 2), 0.08), 1.0))
        points = scattered(rng, m)
        bounds = [centre(each, math.ceil(4 / t), t, DIAMETER)[1] for each in (points, moved(rng, points))]
        worst = max(worst, abs(math.log(bounds[0] / bounds[1])) / t)
    for _ in range(600):
        m = int(rng.integers(9, 60))
        points = scattered(rng, m)
        other = moved(rng, points)
        (i, s), (j, r) = (centre(table, 4, 1.0, DIAMETER) for table in (points, other))
        farthest = max(farthest, np.linalg.norm(points[i] - other[j]) / min(s, r))
    assert 0.45 < worst <= 1
    assert 0.2 < farthest <= 1


def test_with_the_largest_radii_as_printed_the_bound_is_not_smooth():
    def printed(points, t):
        radii = np.sort(np.abs(points[:, None, 0] - points[None, :, 0]), axis=1)
        half = (len(points) + 1) // 2 + 1
        means = np.sort(radii[:, half:], axis=0)[-math.ceil(1 / t) :].mean(axis=0)
        return 2 * max(math.exp(-t * k) * mean for k, mean in enumerate([*means, DIAMETER]))

    points = np.arange(21)[:, None]
    other = points.copy()
    other[0] = 10**5
    assert abs(math.log(printed(other, 1.0) / printed(points, 1.0))) > 1


def table(rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    return np.column_stack([X, X @ [1.0, -2.0] + 0.5 + rng.normal(size=rows)])


def dealt(rows, parts, blocks=1):
    """Rows, dealt out in turn."""
    turns = np.arange(len(rows)) % parts
    return list(zip(np.array_split(rows, blocks), np.array_split(turns, blocks)))


def test_groups_are_least_squares_of_their_rows():
    rows = table()
    points = BlockSquares(2, 2000, 10.0, parts=7).points(dealt(rows, 7, blocks=2), 7)
    for part in range(7):
        mine = rows[part::7]
        inputs = np.column_stack([np.ones(len(mine)), mine[:, :2]])
        expected = np.linalg.lstsq(inputs, mine[:, -1], rcond=None)[0]
        np.testing.assert_allclose(points[part] * 10.0 / 2**40, expected, atol=1e-7)


def test_points_do_not_depend_on_the_order_of_rows():
    """To the last bit: a changed cell may move all rows, where they are kept in order."""
    rows, turns = table(), np.random.default_rng(1).integers(0, 7, 2000)
    order = np.random.default_rng(0).permutation(2000)
    squares = BlockSquares(2, 2000, 10.0, parts=7)
    assert (squares.points([(rows, turns)], 7) == squares.points([(rows[order], turns[order])], 7)).all()


def test_groups_without_rows_have_a_point():
    assert np.isfinite(BlockSquares(2, 100, 3.0, parts=10).points([(table(100), np.zeros(100, int))], 10)).all()


@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf, 1e308, 1e-308, 0.0])
@pytest.mark.parametrize("column", [0, 2])
def test_a_row_has_a_say_in_one_group_whatever_it_holds(cell, column):
    rows = table(400)
    other = rows.copy()
    other[11, column] = cell
    mean = BlockSquares(2, 400, 3.0, parts=20)
    apart = mean.points(dealt(rows, 20), 20) != mean.points(dealt(other, 20), 20)
    assert set(np.flatnonzero(apart.any(axis=1))) <= {11}
    assert (np.linalg.norm(mean.points(dealt(other, 20), 20) / 2.0**40, axis=1) <= 1 + 1e-9).all()
    values = [np.array([float(value) for value in mean.answer(dealt(each, 20), 0.0)[0]]) for each in (rows, other)]
    assert np.linalg.norm(values[0] - values[1]) <= mean.least(0.0)


def test_the_same_rows_everywhere_have_a_solution():
    rows = np.ones((100, 3))
    assert np.isfinite(BlockSquares(2, 100, 3.0, parts=10).points(dealt(rows, 10), 10)).all()
    assert not BlockSquares(2, 100, 3.0, parts=10).points(dealt(np.zeros((100, 3)), 10), 10).any()


def test_centres_need_groups_enough():
    assert BlockCentre(2, 10_000, 3.0).groups(0.1) == 277
    assert BlockCentre(2, 600, 3.0).groups(0.1) == 100
    assert BlockCentre(2, 300, 3.0).least(0.1) == 0.0
    assert BlockCentre(2, BlockCentre(2, 300, 3.0).least_rows(0.1), 3.0).least(0.1) > 0.0


@pytest.mark.parametrize(("options", "words"), [({"parts": 0}, "parts must be"), ({"radius": 0.0}, "radius must be")])
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        BlockSquares(**{"columns": 2, "rows": 100, "radius": 1.0, **options})
    with pytest.raises(ValueError, match="were said to be there"):
        BlockSquares(2, 99, 1.0).points(dealt(table(100), 3), 3)
