"""Trimmed means: exactly what they say, and a bound that is the smooth sensitivity and no more."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.published.statistics import TrimmedMeans
from tacit.published.statistics.trimmed_means import smooth_sensitivity


class Cells:
    """The first column, as it is."""

    size = 1

    def __call__(self, block):
        return block[:, :1]


def means(x, m, low=-100.0, high=100.0):
    return TrimmedMeans(Cells(), np.array([low]), np.array([high]), len(x), trim=m)


def answered(x, m, smoothness, low=-100.0, high=100.0):
    rows = np.asarray(x, dtype=float)[:, None]
    values, bounds = means(x, m, low, high).answer(
        [(part, np.zeros(len(part), int)) for part in np.array_split(rows, 3)], smoothness
    )
    return float(values[0]), bounds[0]


def trimmed(x, m):
    return sum(sorted(x)[m : len(x) - m]) / (len(x) - 2 * m)


def local(x, m, k):
    """L_k as in the notes, infinite where an index leaves the rows."""
    n, x = len(x), sorted(x)
    ends = []
    for q in range(k + 2):
        i, j = m + 1 - q, n - m + (k + 1 - q)
        ends.append(math.inf if i < 1 or j > n else (x[j - 1] - x[i - 1]) / (n - 2 * m))
    return max(ends)


def directly(x, m, width, t):
    return max(math.exp(-t * k) * min(width, local(x, m, k)) for k in range(m + 1))


@pytest.mark.parametrize(("n", "m"), [(5, 1), (5, 2), (4, 1)])
def test_local_sensitivity_at_a_distance_is_that_of_all_tables(n, m):
    """Every table of some values, k rows of which may become anything and then one more."""
    domain = (0, 1, 3, 7)
    anything = (-(10**6), *domain, 10**6)
    one = {}  # the most that one row does, by table
    for y in itertools.combinations_with_replacement(anything, n):
        here = trimmed(y, m)
        one[y] = max(abs(trimmed((*y[:i], z, *y[i + 1 :]), m) - here) for i in range(n) for z in anything)
    for x in itertools.combinations_with_replacement(domain, n):
        near = {x}
        for k in range(m):
            assert max(one[y] for y in near) == pytest.approx(local(x, m, k))
            near |= {tuple(sorted((*y[:i], z, *y[i + 1 :]))) for y in near for i in range(n) for z in anything}
        assert math.isinf(local(x, m, m))


@pytest.mark.parametrize("seed", range(12))
def test_halving_finds_the_largest_term(seed):
    rng = np.random.default_rng(seed)
    n, scale = int(rng.integers(3, 300)), (1, 10, 10**6)[seed % 3]
    x = np.sort(np.rint(scale * rng.standard_t(1 + seed % 3, n))).astype(np.int64)
    m, t = int(rng.integers(0, (n - 1) // 2 + 1)), float(rng.choice([0.001, 0.03, 0.5]))
    for width in (3.0, 1e9):
        found = smooth_sensitivity(x[: m + 1], x[n - m - 1 :], n, width, t)
        assert found == pytest.approx(directly(x.tolist(), m, width, t), rel=1e-12)


def test_means_are_exact():
    x = [0.5, -3.0, 2.0, 1e300, -np.inf, 4.0, 1.0]
    parts = np.array(x)[:3, None], np.array(x)[3:, None]
    values, _ = means(x, 2).answer([(part, np.zeros(len(part), int)) for part in parts], 0.5)
    assert values == [Fraction(7, 6)]  # 0.5, 1 and 2
    assert answered([7.0] * 9, 2, 0.5, -1.0, 5.0)[0] == 5.0
    assert answered([np.nan] * 9, 2, 0.5, -1.0, 5.0)[0] == 2.0  # the middle of the range


UGLY = st.one_of(
    st.floats(-10, 10),
    st.sampled_from([0.0, 1e308, -1e308, math.inf, -math.inf, math.nan, 5e-324, 1e6, -1e6, 99.0, -99.0]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(UGLY, min_size=3, max_size=25), UGLY, st.data())
def test_neighbours_keep_to_the_bound(x, other, data):
    m = data.draw(st.integers(0, (len(x) - 1) // 2))
    t = data.draw(st.sampled_from([0.01, 0.3, 1.0]))
    place = data.draw(st.integers(0, len(x) - 1))
    y = [*x[:place], other, *x[place + 1 :]]
    (f, s), (g, r) = answered(x, m, t), answered(y, m, t)
    assert abs(f - g) <= min(s, r)
    assert abs(math.log(s / r)) <= t
    assert min(s, r) >= means(x, m).least(t)


def test_the_published_bound_is_not_smooth_and_this_one_is():
    """One row as far away as it likes: the counterexample to what was printed, which has its range for a bound."""
    n, m, t = 40, 4, 0.5
    zeros, far = [0.0] * n, [0.0] * (n - 1) + [1e9]
    printed = [max((max(x) - min(x)) / (n - 2 * m), math.exp(-m * t) * 200.0) for x in (zeros, far)]
    assert math.log(printed[1] / printed[0]) > 10
    ours = [answered(x, m, t)[1] for x in (zeros, far)]
    assert 0 <= math.log(ours[1] / ours[0]) <= t
    assert ours[0] == pytest.approx(printed[0])  # nowhere more than what was printed


@pytest.mark.parametrize("seed", range(5))
def test_never_more_than_what_was_published(seed):
    rng = np.random.default_rng(seed)
    x, m, t = rng.standard_t(2, 60), 10, 0.2
    printed = max((x.max() - x.min()) / 40, math.exp(-m * t) * 200.0)
    assert answered(x, m, t)[1] <= printed * (1 + 1e-9)


def test_more_rows_are_trimmed_where_budgets_are_small():
    statistic = TrimmedMeans(Cells(), np.array([-1.0]), np.array([1.0]), 10_000)
    assert statistic.n_trimmed(0.01) == 1382
    assert statistic.n_trimmed(0.1) == 139
    assert statistic.n_trimmed(1e-6) == 4999
    assert statistic.least(0.1) < 2 / 10_000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"low": np.zeros(2)}, "1 number"),
        ({"low": np.array([2.0])}, "low below high"),
        ({"high": np.array([np.inf])}, "finite"),
        ({"trim": 5}, "less than half"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        TrimmedMeans(**{"values": Cells(), "low": np.zeros(1), "high": np.ones(1), "rows": 10, **options})
