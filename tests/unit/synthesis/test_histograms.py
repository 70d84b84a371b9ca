"""Bins follow the rows: fine where many are, alone where many share a value, wide where noise is all there is."""

import numpy as np
import pytest

from tacit.statistics import CellCounts
from tacit.synthesis.columns import LEAST_IN_COARSE_GROUP, LEAST_IN_GROUP, group_bins, most_groups
from tacit.synthesis.histograms import NARROW, PARTS, Histogram, first_edges


def counts(bins, values):
    return CellCounts((bins,)).block_sum(np.asarray(values, dtype=np.float64)[:, None])


def refined(values, unit=0.0, noise=5.0, rounds=2, seed=0):
    """Count values as a fit does, with noise, and refine."""
    rng = np.random.default_rng(seed)

    def noisy(bins):
        exact = counts(bins, values)
        return exact + rng.normal(0, noise, len(exact))

    found = Histogram.empty(first_edges(unit, 1.0), unit)
    found = found.with_counts(noisy(found.bins(False)), noise)
    for _ in range(rounds):
        heavy = found.heavy(noise)
        split = found.split(heavy)
        found = found.with_parts(heavy, split, noisy(split), noise)
    return found


def test_whole_numbers_are_in_the_middle_of_their_bins():
    unit = 1 / 45  # from 0 to 90
    edges = first_edges(unit, 1.0)
    years = (np.arange(91) - 45) / 45
    assert len(edges) == 92
    np.testing.assert_allclose((edges[1:] + edges[:-1]) / 2, years, atol=1e-12)


def test_whole_numbers_are_never_cut():
    unit = 1 / 50_000
    values = (np.repeat([0, 1, 7, 99_999], 1000) - 50_000) * unit
    found = refined(values, unit)
    steps = (found.edges + 1) / unit + 0.5
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
    narrow = np.diff(found.edges) < 1.5 * unit
    alone = (found.edges[:-1][narrow] + 1) / unit + 0.5
    assert {0, 1, 7} <= set(np.round(alone).astype(int))


def test_a_value_that_many_share_has_a_bin_of_its_own():
    rng = np.random.default_rng(1)
    values = np.concatenate([np.full(3000, 0.25), rng.uniform(-1, 1, 3000), np.full(500, 1.0)])
    found = refined(values)
    heaviest = found.counts.argmax()
    assert found.edges[heaviest] <= 0.25 < found.edges[heaviest + 1]
    assert np.diff(found.edges)[heaviest] < 1e-3
    assert np.diff(found.edges)[-1] < NARROW  # the upper end, which stands for all beyond it
    assert abs(found.counts[-1] - 500) < 50


def test_counts_add_up_to_the_rows():
    values = np.random.default_rng(2).normal(0, 0.1, 20_000).clip(-1, 1)
    assert abs(refined(values).counts.sum() - 20_000) < 400


def test_bins_are_finer_where_rows_are():
    found = refined(np.random.default_rng(3).uniform(0.5, 0.51, 20_000), noise=3.0)
    inside = (found.edges > 0.5) & (found.edges < 0.51)
    assert inside.sum() > 20
    assert len(found.counts) - inside.sum() < 20


def test_noise_alone_makes_few_bins():
    assert len(refined([], noise=20.0).counts) < 4


@pytest.mark.parametrize("unit", [0.0, 1 / 500])
def test_parts_of_a_bin_cover_it(unit):
    found = Histogram.empty(first_edges(unit, 1.0), unit)
    heavy = np.array([1, 5])
    split = found.split(heavy)
    assert split.edges[0] == found.edges[0]
    assert split.edges[-1] == found.edges[-1]
    assert set(found.edges) <= set(split.edges)
    assert (split.groups >= 0).sum() <= 2 * PARTS
    parts = np.random.default_rng(0).uniform(0, 100, split.n_groups)
    whole = found.with_parts(heavy, split, parts, 0.1)
    assert set(whole.edges) <= set(split.edges)


def test_groups_have_enough_rows_and_are_not_too_many():
    rng = np.random.default_rng(0)
    for seed in range(50):
        shares = rng.dirichlet(np.full(200, 10.0 ** rng.uniform(-2, 1)))
        for ordered in (True, False):
            groups = group_bins(shares, ordered, LEAST_IN_GROUP)
            sums = np.bincount(groups, shares)
            assert len(sums) <= most_groups(200)
            assert set(groups) == set(range(len(sums)))
            if ordered:
                assert (np.diff(groups) >= 0).all()
                assert (sums >= LEAST_IN_GROUP / 2).all(), seed
            coarse = group_bins(shares, ordered, LEAST_IN_COARSE_GROUP)
            finer = group_bins(shares, ordered, LEAST_IN_GROUP, coarse)
            assert finer.max() < most_groups(200)
            assert all(len(set(coarse[finer == group])) == 1 for group in range(finer.max() + 1))
