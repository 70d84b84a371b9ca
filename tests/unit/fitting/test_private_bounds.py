"""Bounds found privately: as wide as the rows need, hardly ever wider, and paid for."""

import numpy as np
import pytest

import tacit
from tacit.fitting.private_bounds import STEP, bounds_step, private_bounds
from tacit.privacy import Budget, Gaussian, Plan
from tacit.release import Curator, calibrated_plan
from tacit.sources import as_source
from tacit.statistics import Magnitudes


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def found(rows, epsilon=1.0, seed=0, neighbors="replace_one"):
    columns = rows.shape[1]
    plan = calibrated_plan([Gaussian(STEP, 1.0, 1, Magnitudes(columns).size)], Budget(epsilon, 1e-6), neighbors)
    return private_bounds(Curator(as_source(rows), plan, random_state=seed), columns)


# ---------------------------------------------------------------------------------------------------------- magnitudes


def test_cells_are_counted_by_sign_and_power_of_two(rng):
    cells = np.concatenate([rng.normal(size=300) * 10.0 ** rng.integers(-15, 22, 300), 2.0 ** np.arange(-45, 70)])
    cells = np.concatenate([cells, -cells, [0.0, -0.0, 5e-324, np.inf, -np.inf, 1e308]])
    edges = Magnitudes.edges()
    counts = Magnitudes(1).parts(Magnitudes(1).block_sum(cells[:, None]))[0]
    low, high = edges.T
    positive, negative = low > 0, high < 0
    expected = np.where(
        positive,
        ((cells[:, None] >= low) & (cells[:, None] < high)).sum(axis=0),
        ((cells[:, None] <= high) & (cells[:, None] > low)).sum(axis=0),
    )
    expected[-1] += (cells >= high[-1]).sum()  # the outermost bins have no end
    expected[0] += (cells <= low[0]).sum()
    (zero,) = np.flatnonzero(~positive & ~negative)
    expected[zero] = (np.abs(cells) < 2.0**-40).sum()
    assert counts.tolist() == expected.tolist()
    assert counts.sum() == len(cells)


def test_each_column_is_counted_for_itself_and_missing_cells_not_at_all():
    block = np.array([[3.0, -3.0], [np.nan, 0.0], [3.5, np.nan]])
    counts = Magnitudes(2).parts(Magnitudes(2).block_sum(block))
    assert counts.sum(axis=1).tolist() == [2.0, 2.0]
    assert Magnitudes.edges()[np.argmax(counts[0])].tolist() == [2.0, 4.0]
    assert (Magnitudes(2).block_sum(np.empty((0, 2))) == 0).all()


@pytest.mark.parametrize("columns", [1, 3])
def test_no_row_exceeds_the_sensitivity(rng, columns):
    statistic = Magnitudes(columns)
    rows = np.concatenate([rng.standard_cauchy((50, columns)), np.full((1, columns), np.nan)])
    contributions = np.stack([statistic.block_sum(row[None]) for row in rows])
    apart = contributions[:, None] - contributions
    for norm, order in (("l1", 1), ("l2", 2)):
        assert np.linalg.norm(contributions, order, axis=1).max() == pytest.approx(
            statistic.sensitivity("add_remove", norm)
        )
        assert np.linalg.norm(apart, order, axis=-1).max() == pytest.approx(statistic.sensitivity("replace_one", norm))


# ----------------------------------------------------------------------------------------------------------- the range


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_nearly_all_rows_are_inside_and_the_range_is_not_much_wider(rng, scale, neighbors):
    rows = scale * np.stack([rng.normal(size=20_000), rng.uniform(3.0, 7.0, 20_000), -rng.exponential(size=20_000)]).T
    low, high = found(rows, neighbors=neighbors)
    inside = ((rows >= low) & (rows <= high)).mean(axis=0)
    assert (inside > 0.97).all()
    assert (high - low < 8 * np.ptp(np.quantile(rows, [0.01, 0.99], axis=0), axis=0)).all()
    assert low[1] > 0  # rows on one side of zero have bounds on that side
    assert high[2] <= 0


def test_noise_alone_does_not_widen_the_range(rng):
    """There are 4180 bins, and in 100 fits the noise has 418,000 chances to stand out."""
    rows = rng.normal(size=(20_000, 20))
    widest = max(np.abs(found(rows, epsilon=0.5, seed=seed)).max() for seed in range(100))
    assert widest <= 8.0


@pytest.mark.parametrize("rows", [np.zeros((5000, 2)), np.full((5000, 2), 1e300), np.full((10, 2), 3.0)], ids=repr)
@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_a_range_is_found_whatever_the_rows(rows, epsilon):
    low, high = found(rows, epsilon)
    assert np.isfinite([low, high]).all()
    assert (low < high).all()


def test_its_share_of_the_budget_is_a_tenth():
    others = [Gaussian("a", 3.0, 4), Gaussian("b", 1.0, 2)]
    step = bounds_step(others, 3)
    budget = Budget(1.0, 1e-6)
    everything = Plan((step, *others)).calibrate(budget)
    power = [each.count / each.noise_multiplier**2 for each in everything.steps]
    assert power[0] / sum(power) == pytest.approx(0.1)
    assert step.size == Magnitudes(3).size


# ------------------------------------------------------------------------------------------------------- the estimator


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_a_fit_without_public_bounds(rng, neighbors):
    rows = np.concatenate([rng.normal([300.0, 0.01], [20.0, 0.001], (8000, 2))])
    options = {"delta": 1e-5, "neighbors": neighbors, "random_state": 0}
    model = tacit.GaussianMixture(bounds="private", **options).fit(rows)
    known = tacit.GaussianMixture(bounds=([0, -0.1], [1000, 0.1]), **options).fit(rows)
    assert model.score(rows) == pytest.approx(known.score(rows), abs=0.05)
    assert model.privacy_.plan.steps[0].name == STEP
    assert [record.name for record in model.privacy_.releases] == [step.name for step in model.privacy_.plan.steps]
    assert model.privacy_.delta(1.0) <= 1e-5
    assert "found privately" in model.privacy_.bounds
    assert model.privacy_.epsilon() == pytest.approx(known.privacy_.epsilon(), rel=1e-3)


def test_starting_means_are_in_the_units_of_the_rows(rng):
    rows = np.concatenate([rng.normal(5.0, 0.1, (3000, 1)), rng.normal(9.0, 0.1, (3000, 1))])
    model = tacit.GaussianMixture(2, bounds="private", init=[[5.0], [9.0]], delta=1e-5, epsilon=5.0, random_state=0)
    assert np.sort(model.fit(rows).means_.ravel()) == pytest.approx([5.0, 9.0], abs=0.5)


@pytest.mark.parametrize("method", ["joint", "per_parameter"])
def test_every_method_can_do_without_public_bounds(rng, method):
    rows = rng.normal(100.0, 5.0, (5000, 2))
    model = tacit.GaussianMixture(bounds="private", method=method, delta=1e-5, random_state=0).fit(rows)
    assert model.means_ == pytest.approx(np.array([[100.0, 100.0]]), rel=0.2)
    assert model.privacy_.delta(1.0) <= 1e-5


def test_rows_with_missing_cells_may_be_left_out(rng):
    rows = rng.normal(100.0, 5.0, (5000, 2))
    rows[::10, 0] = np.nan
    model = tacit.GaussianMixture(bounds="private", missing="ignore", delta=1e-5, random_state=0).fit(rows)
    assert model.means_ == pytest.approx(np.array([[100.0, 100.0]]), rel=0.05)
