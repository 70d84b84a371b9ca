"""The curator: nothing unplanned or unpaid leaves it, and what leaves it has the planned noise."""

import math
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import stats

from tacit.privacy import Budget, BudgetExceeded, Gaussian, Laplace, Ledger, Plan, PlanError, Selection, Split
from tacit.release import Affine, Curator, calibrated_plan, stated_plan
from tacit.release.lattice import Lattice
from tacit.release.noise import discretisation_error, laplace_discretisation_error
from tacit.release.planning import FINEST_NOISE
from tacit.release.precision import BLOCK_ROWS, MOST_ROWS
from tacit.sources import ArraySource, as_source

RELATIONS = ("replace_one", "add_remove")
ROWS = np.tile([0.5, -0.25], (1000, 1))


@dataclass(frozen=True)
class BoundedSum:
    """The first columns brought into [-1, 1], summed. A row is no longer than sqrt(d) in l2 norm, d in l1 norm."""

    columns: int

    @property
    def size(self):
        return self.columns

    def block_sum(self, block):
        return np.nan_to_num(np.clip(block[:, : self.columns], -1.0, 1.0)).sum(axis=0)

    def sensitivity(self, neighbors, norm="l2"):
        row = math.sqrt(self.columns) if norm == "l2" else float(self.columns)
        return 2 * row if neighbors == "replace_one" else row


@dataclass(frozen=True)
class Failing(BoundedSum):
    """Fails on rows, or before them."""

    error: BaseException = field(default_factory=RuntimeError)
    early: bool = False

    def block_sum(self, block):
        raise self.error

    def sensitivity(self, neighbors, norm="l2"):
        if self.early:
            raise self.error
        return super().sensitivity(neighbors, norm)


class WatchedRows(ArraySource):
    """Rows that keep count of how often they were read, and what a second reader of the ledger saw then."""

    def __init__(self, array, account=None):
        super().__init__(array)
        self.account = account
        self.reads = 0
        self.charges_when_read = []

    def blocks(self):
        self.reads += 1
        if self.account is not None:
            self.charges_when_read.append(len(Ledger(self.account.ledger.url).history(self.account.dataset)))
        return super().blocks()


@pytest.fixture
def account(tmp_path):
    return Ledger(tmp_path / "study.db").create("people", Budget(1.0, 1e-6))


def plan(epsilon=1.0, neighbors="replace_one", step=Gaussian, count=2, size=2):
    return calibrated_plan([step("sum", 1.0, count, size)], Budget(epsilon, 1e-6), neighbors)


# ------------------------------------------------------------------------------------------------ only what is planned


@pytest.mark.parametrize(
    ("name", "statistic", "words"),
    [
        ("means", BoundedSum(2), "no further release named 'means'"),
        ("sum", BoundedSum(3), "planned for 2 numbers, and the statistic has 3"),
    ],
)
def test_what_is_not_planned_is_not_released(account, name, statistic, words):
    rows = WatchedRows(np.zeros((10, 3)))
    with pytest.raises(PlanError, match=words):
        Curator(rows, plan(), ledger=account).release(name, statistic)
    assert rows.reads == 0
    assert account.history() == []


def test_a_step_is_released_as_often_as_planned_and_no_more(account):
    rows = WatchedRows(ROWS)
    curator = Curator(rows, plan(count=2), ledger=account)
    curator.release("sum", BoundedSum(2))
    curator.release("sum", BoundedSum(1))  # fewer numbers than planned are fine
    with pytest.raises(PlanError, match=r"no further release named 'sum'; it has \{'sum': 0\} left"):
        curator.release("sum", BoundedSum(2))
    assert rows.reads == 2
    assert len(account.history()) == 1


def test_threads_that_ask_at_the_same_time_get_no_more_than_planned(account):
    """Taking a step is looking and counting down: slowed down here, so that all threads look before any counts."""

    class SlowCounter(Counter):
        def __getitem__(self, name):
            left = super().__getitem__(name)
            time.sleep(0.02)
            return left

    def release():
        try:
            return curator.release("sum", BoundedSum(2))
        except PlanError:
            return None

    rows = WatchedRows(ROWS)
    curator = Curator(rows, plan(count=2), ledger=account)
    curator._left = SlowCounter(curator._left)
    with ThreadPoolExecutor(8) as pool:
        released = [answer for answer in pool.map(lambda _: release(), range(8)) if answer is not None]
    assert len(released) == rows.reads == 2
    assert not np.array_equal(*released)
    assert len(account.history()) == 1
    assert curator.certificate(Budget(1.0, 1e-6)).releases[0].count == 2


def test_steps_that_are_no_noisy_sums_are_refused():
    curator = Curator(as_source(ROWS), Plan((Selection("sum", 1.0, size=2),)))
    with pytest.raises(PlanError, match="release makes Gaussian and Laplace steps alone"):
        curator.release("sum", BoundedSum(2))


def test_two_steps_of_one_name_are_refused():
    with pytest.raises(PlanError, match="same name"):
        Curator(as_source(ROWS), Plan((Gaussian("sum", 1.0), Gaussian("sum", 2.0))))


@pytest.mark.parametrize("said", [1, 3])
def test_a_statistic_that_misstates_its_size_is_caught(said):
    @dataclass(frozen=True)
    class Misstated(BoundedSum):
        @property
        def size(self):
            return said

    with pytest.raises(PlanError, match=f"has 2 numbers where it says {said}"):
        Curator(as_source(ROWS), plan(size=3), random_state=0).release("sum", Misstated(2))


# ------------------------------------------------------------------------------------------------------------ charging


def test_the_whole_plan_is_charged_before_the_first_row_is_read(account):
    rows = WatchedRows(ROWS, account)
    curator = Curator(rows, plan(), ledger=account, purpose="two looks")
    assert account.history() == []
    curator.release("sum", BoundedSum(2))
    curator.release("sum", BoundedSum(2))
    (receipt,) = account.history()
    assert rows.charges_when_read == [1, 1]
    assert receipt.purpose == "two looks"
    assert receipt.epsilon == pytest.approx(1.0, rel=1e-4)


def test_a_short_budget_releases_nothing_and_reads_nothing(account):
    rows = WatchedRows(ROWS)
    curator = Curator(rows, plan(epsilon=1.5), ledger=account)
    for _ in range(2):
        with pytest.raises(BudgetExceeded):
            curator.release("sum", BoundedSum(2))
    assert rows.reads == 0
    assert account.history() == []


def test_a_plan_for_the_other_relation_is_refused(account):
    rows = WatchedRows(ROWS)
    with pytest.raises(PlanError):
        Curator(rows, plan(neighbors="add_remove"), ledger=account).release("sum", BoundedSum(2))
    assert rows.reads == 0
    assert account.history() == []


def test_what_fails_before_rows_are_read_costs_nothing(account):
    rows = WatchedRows(ROWS)
    with pytest.raises(RuntimeError):
        Curator(rows, plan(), ledger=account).release("sum", Failing(2, early=True))
    assert rows.reads == 0
    assert account.history() == []


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt()], ids=lambda error: type(error).__name__)
def test_what_fails_on_rows_has_been_paid_for(account, error):
    curator = Curator(as_source(ROWS), plan(count=1), ledger=account)
    with pytest.raises(type(error)):
        curator.release("sum", Failing(2, error=error))
    assert len(account.history()) == 1
    with pytest.raises(PlanError, match="no further release"):  # whatever the failure may have shown, it is used up
        curator.release("sum", BoundedSum(2))


@pytest.mark.parametrize(("multiplier", "words"), [(1e-3, "next to no noise"), (1e12, "more noise than can be drawn")])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_noise_that_cannot_be_drawn_is_refused_before_it_is_paid_for(account, multiplier, words, neighbors):
    rows = WatchedRows(ROWS)
    with pytest.raises((PlanError, ValueError), match=f"{words}|protects nobody"):
        Curator(rows, Plan((Gaussian("sum", multiplier, size=2),), neighbors), ledger=account).release(
            "sum", BoundedSum(2)
        )
    assert rows.reads == 0
    assert account.history() == []


# ----------------------------------------------------------------------------------------------------- the noise's law


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("step", [Gaussian, Laplace])
def test_what_is_added_has_the_planned_law(step, neighbors):
    size, seeds = 1000, 20
    the_plan = plan(neighbors=neighbors, step=step, count=1, size=size)
    rows = as_source(np.full((300, size), 0.125))
    scale = Curator(rows, the_plan).noise("sum", BoundedSum(size))
    draws = np.concatenate(
        [Curator(rows, the_plan, random_state=s).release("sum", BoundedSum(size)) - 300 * 0.125 for s in range(seeds)]
    )
    law, variance = (stats.norm, 1.0) if step is Gaussian else (stats.laplace, 2.0)
    norm = "l2" if step is Gaussian else "l1"
    assert scale >= the_plan.steps[0].noise_multiplier * BoundedSum(size).sensitivity(neighbors, norm)
    assert stats.kstest(draws / scale, law.cdf).pvalue > 1e-4
    if step is Gaussian:
        low, high = stats.chi2(draws.size).ppf([1e-6, 1 - 1e-6])
        assert low < np.sum((draws / scale) ** 2) < high
    assert np.mean((draws / scale) ** 2) == pytest.approx(variance, rel=0.1)
    assert np.abs(np.corrcoef(draws.reshape(seeds, size))[np.triu_indices(seeds, 1)]).max() < 6 / math.sqrt(size)


def test_noise_is_fresh_unless_it_is_seeded():
    def release(seed):
        return Curator(as_source(ROWS), plan(), random_state=seed).release("sum", BoundedSum(2))

    assert (release(7) == release(7)).all()
    assert (release(7) != release(8)).all()
    assert (release(None) != release(None)).all()


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("step", [Gaussian, Laplace])
def test_released_numbers_lie_on_a_lattice_that_is_chosen_without_rows(step, neighbors):
    steps = set()
    for rows in (ROWS, np.pi * ROWS[:10], np.full((5, 2), 1e300)):
        curator = Curator(as_source(rows), plan(neighbors=neighbors, step=step), random_state=0)
        released = curator.release("sum", BoundedSum(2))
        (record,) = curator.certificate(Budget(1.0, 1e-6)).releases
        steps.add(record.lattice_step)
        assert (np.rint(released / record.lattice_step) * record.lattice_step == released).all()
    (step_size,) = steps
    assert math.frexp(step_size)[0] == 0.5
    assert record.noise_scale >= FINEST_NOISE * step_size


# --------------------------------------------------------------------------------------------------------- sensitivity


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("step", [Gaussian, Laplace])
def test_sensitivity_includes_summation_and_rounding(step, neighbors):
    statistic, norm = BoundedSum(3), "l2" if step is Gaussian else "l1"
    curator = Curator(as_source(np.zeros((5, 3))), plan(neighbors=neighbors, step=step, size=3), random_state=0)
    curator.release("sum", statistic)
    (record,) = curator.certificate(Budget(1.0, 1e-6)).releases
    blocks = MOST_ROWS // BLOCK_ROWS  # whatever moves: one changed row may take all others to other places
    unit, largest = 2.0**-53, statistic.sensitivity("add_remove", norm)
    summation = 2 * blocks * (BLOCK_ROWS + 64) * unit * BLOCK_ROWS * largest
    steps = blocks * Lattice.for_sums(largest).step + record.lattice_step
    rounding = steps * (math.sqrt(3) if norm == "l2" else 3)
    stated = statistic.sensitivity(neighbors, norm)
    assert record.sensitivity == pytest.approx(stated + summation + rounding, rel=1e-10)
    assert stated < record.sensitivity < 1.004 * stated
    assert record.noise_scale == curator.noise("sum", statistic)
    assert record.noise_scale >= curator.plan.steps[0].noise_multiplier * record.sensitivity
    assert record.noise_scale == pytest.approx(curator.plan.steps[0].noise_multiplier * record.sensitivity, rel=1e-14)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_computed_sums_of_neighbours_differ_by_no_more_than_the_sensitivity_used(neighbors):
    """Rounding takes them further apart than the exact sums are; what was added to the sensitivity covers that."""
    statistic, rng = BoundedSum(1), np.random.default_rng(0)
    curator = Curator(as_source(ROWS), plan(neighbors=neighbors, size=1), random_state=0)
    curator.release("sum", statistic)
    (record,) = curator.certificate(Budget(1.0, 1e-6)).releases
    lattice = Lattice(record.lattice_step)

    def computed(rows):
        return as_source(rows).sum(lambda block: lattice.quantise(statistic.block_sum(block))) * lattice.step

    worst = 0.0
    for _ in range(40):
        rows = rng.uniform(0.3, 1.0, (2 * BLOCK_ROWS + 100, 1))
        rows[5] = 1.0
        if neighbors == "replace_one":
            other = rows.copy()
            other[5] = -1.0
        else:
            other = np.delete(rows, 5, axis=0)
        worst = max(worst, float(np.abs(computed(rows) - computed(other)).max()))
    assert worst <= record.sensitivity
    if neighbors == "add_remove":  # all blocks behind the row are rounded anew
        assert worst > statistic.sensitivity(neighbors)


# ----------------------------------------------------------------------------------------------------- planned budgets


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("budget", [Budget(0.1, 1e-9), Budget(1.0, 1e-6), Budget(8.0, 1e-4)])
def test_planned_meets_the_budget_with_the_least_noise(budget, neighbors):
    steps = [Gaussian("a", 1.0, 10, 66), Gaussian("b", 2.0, 3, 5)]
    the_plan = calibrated_plan(steps, budget, neighbors)
    assert the_plan.neighbors == neighbors
    assert the_plan.delta(budget.epsilon) <= budget.delta
    assert the_plan.scaled(0.999).delta(budget.epsilon) > budget.delta
    assert the_plan.steps[1].noise_multiplier == pytest.approx(2 * the_plan.steps[0].noise_multiplier)


def test_planned_charges_for_every_discrete_number():
    steps = [Gaussian("a", 1.0, 10, 66), Laplace("b", 2.0, 3, 5)]
    expected = 660 * discretisation_error(FINEST_NOISE) + 15 * laplace_discretisation_error(FINEST_NOISE)
    assert calibrated_plan(steps, Budget(1.0, 1e-6)).sampling_error == pytest.approx(expected, rel=1e-9, abs=0.0)
    assert stated_plan(steps, Budget(1.0, 1e-6)).steps == tuple(steps)
    assert stated_plan(steps, Budget(1.0, 1e-6)).sampling_error == pytest.approx(expected, rel=1e-9, abs=0.0)


def test_pure_budgets_are_met_by_laplace_noise():
    the_plan = calibrated_plan([Laplace("sum", 1.0, 4, 2)], Budget(0.5))
    assert the_plan.sampling_error == 0
    assert the_plan.epsilon(0.0) <= 0.5
    assert the_plan.steps[0].noise_multiplier == pytest.approx(8.0)
    assert Curator(as_source(ROWS), the_plan, random_state=0).release("sum", BoundedSum(2)).shape == (2,)


# -------------------------------------------------------------------------------------------------------- certificates


def test_the_certificate_says_what_was_planned_and_what_was_made():
    budget = Budget(1.0, 1e-6)
    the_plan = calibrated_plan([Gaussian("sum", 1.0, 3, 2), Gaussian("spare", 1.0)], budget)
    curator = Curator(as_source(ROWS), the_plan, random_state=0)
    curator.release("sum", BoundedSum(2))
    curator.release("sum", BoundedSum(2))
    certificate = curator.certificate(budget, rows=1000, bounds="a box", notes=["a note"])
    (record,) = certificate.releases
    assert (record.name, record.mechanism, record.size, record.count) == ("sum", "discrete Gaussian", 2, 2)
    assert certificate.plan == the_plan
    assert certificate.budget == budget
    assert (certificate.rows, certificate.bounds, certificate.notes) == (1000, "a box", ("a note",))
    assert certificate.seeded
    assert not Curator(as_source(ROWS), the_plan).certificate(budget).seeded


def test_the_certificate_never_tells_a_secret_number_of_rows():
    budget = Budget(1.0, 1e-6)
    assert Curator(as_source(ROWS), plan(neighbors="add_remove")).certificate(budget, rows=1000).rows is None


def test_laplace_releases_are_recorded_as_such():
    curator = Curator(as_source(ROWS), plan(step=Laplace), random_state=0)
    curator.release("sum", BoundedSum(2))
    (record,) = curator.certificate(Budget(1.0, 1e-6)).releases
    assert record.mechanism == "discrete Laplace"


# ---------------------------------------------------------------------------------------------------------------- rows


def test_rows_pass_through_a_map_first(account):
    rows = WatchedRows(ROWS)
    curator = Curator(rows, plan(epsilon=0.99), ledger=account, random_state=0)
    before = curator.release("sum", BoundedSum(2))
    curator.map_rows(Affine(-np.ones(2), np.zeros(2)))
    assert rows.reads == 1
    after = curator.release("sum", BoundedSum(2))
    assert after - before == pytest.approx([-1000.0, 500.0], abs=20 * curator.noise("sum", BoundedSum(2)))
    assert abs(after[0] - before[0]) > 500


def test_numpy_neither_warns_nor_raises_because_of_rows():
    class Overflowing(BoundedSum):
        def block_sum(self, block):
            return np.clip(np.exp(block), 0.0, 1.0).sum(axis=0)

    rows = np.array([[1e4], [0.0]])
    curator = Curator(as_source(rows), plan(size=1), random_state=0)
    with np.errstate(all="raise"):
        curator.map_rows(Affine(np.full(1, 1e305), np.zeros(1)))
        assert np.isfinite(curator.release("sum", Overflowing(1))).all()


def test_rows_pass_through_known_maps_alone():
    curator = Curator(as_source(ROWS), plan())
    with pytest.raises(TypeError, match=r"maps of tacit\.release\.row_maps alone, and this is a function"):
        curator.map_rows(lambda block: block)


# Rows dealt out by secret bits


def shares_of(rows, parts, count=1, seed=0, budget=200.0):
    """What is released of rows dealt out, next to no noise."""
    plan = calibrated_plan([Split(parts, Gaussian("shares", 1.0, count, 2))], Budget(budget, 0.1))
    curator = Curator(as_source(rows), plan, random_state=seed)
    return np.array([curator.release("shares", BoundedSum(2)) for _ in range(count * parts)]), curator


def test_each_release_is_of_the_next_share_and_all_of_them_are_of_all_rows():
    rows = np.random.default_rng(0).uniform(-1, 1, (2 * BLOCK_ROWS + 77, 2))
    found, curator = shares_of(rows, 7, count=2)
    assert found[:7] == pytest.approx(found[7:], abs=8)  # in the second round, the same shares again
    assert found[:7].sum(axis=0) == pytest.approx(rows.sum(axis=0), abs=15)
    assert np.abs(np.diff(found[:7], axis=0)).max() > 30
    with pytest.raises(PlanError, match="no further release"):
        curator.release("shares", BoundedSum(2))
    assert "14 releases" in repr(curator.certificate(Budget(200.0, 0.1)))


def test_shares_are_equally_large_and_drawn_anew_for_every_curator():
    rows = np.ones((20_000, 2))
    sizes = np.array([shares_of(rows, 5, seed=seed)[0][:, 0] for seed in range(6)])
    assert sizes == pytest.approx(4000, abs=5 * math.sqrt(20_000 * 0.16) + 5)
    assert (sizes.std(axis=0) > 10).all()


def test_a_replaced_row_changes_the_release_of_its_share_alone():
    """To the last bit, as the noise is the same: what the price of one release rests on."""
    rows = np.random.default_rng(0).uniform(-1, 1, (BLOCK_ROWS + 40, 2))
    other = rows.copy()
    other[BLOCK_ROWS + 3] = [1e300, np.nan]
    released, neighbour = shares_of(rows, 6)[0], shares_of(other, 6)[0]
    assert (released != neighbour).any(axis=1).sum() == 1


def test_shares_do_not_depend_on_where_rows_stand():
    """In a table that is kept sorted one changed cell moves all rows: shares by place would all change by hundreds."""
    rows = np.tile([[0.9, 0.0], [-0.9, 0.0], [0.9, 0.0], [-0.9, 0.0]], (5000, 1))
    moved = np.concatenate([rows[1:], [[-0.9, 0.5]]])  # one row changed, from the first place to the last
    released, neighbour = (
        np.array([shares_of(each, 4, seed=seed)[0][:, 0] for seed in range(10)]) for each in (rows, moved)
    )
    spread = 0.9 * math.sqrt(20_000 * 0.25)
    assert np.abs(released.mean(axis=0)).max() < 5 * spread / math.sqrt(10)  # by place: 4500 and -4500
    assert np.abs(neighbour.mean(axis=0)).max() < 5 * spread / math.sqrt(10)


def test_more_shares_than_rows():
    found = shares_of(np.ones((3, 2)), 5)[0][:, 0]
    assert found.sum() == pytest.approx(3.0, abs=15)
    assert np.isfinite(found).all()


def test_rows_are_not_mapped_between_releases_of_their_shares():
    curator = Curator(as_source(ROWS), calibrated_plan([Split(4, Gaussian("shares", 1.0, 1, 2))], Budget(1.0, 1e-6)))
    curator.release("shares", BoundedSum(2))
    curator.map_rows(Affine(np.ones(2), np.zeros(2)))
    with pytest.raises(PlanError, match="before they were mapped"):
        curator.release("shares", BoundedSum(2))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_fork_of_a_curator_refuses():
    curator = Curator(as_source(ROWS), plan(count=2))
    curator.release("sum", BoundedSum(2))
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            curator.release("sum", BoundedSum(2))
            words = b"released"
        except PlanError as error:
            words = str(error).encode()
        os.write(writing, words)
        os._exit(0)
    os.waitpid(child, 0)
    assert b"in the process that made it" in os.read(reading, 1000)
    curator.release("sum", BoundedSum(2))


def test_more_rows_than_sums_have_room_for_are_refused_before_anything_is_charged(account):
    class Crowd(WatchedRows):
        n_rows = MOST_ROWS + 1

    with pytest.raises(PlanError, match="more rows than"):
        Curator(Crowd(ROWS), plan(), ledger=account).release("sum", BoundedSum(2))
    assert account.history() == []


def test_more_blocks_than_sums_have_room_for_are_refused_where_the_number_of_rows_is_secret():
    class Blocks(WatchedRows):
        def sum(self, function, *, finish):
            return (MOST_ROWS // BLOCK_ROWS + 1) * finish(function(ROWS))

    with pytest.raises(PlanError, match="more rows than"):
        Curator(Blocks(ROWS), plan(neighbors="add_remove")).release("sum", BoundedSum(2))


def test_discrete_noise_is_charged_for_in_every_share():
    step = Split(8, Gaussian("shares", 1.0, 2, 10))
    plan = stated_plan([step], Budget(1.0, 1e-6))
    assert plan.sampling_error == pytest.approx(160 * discretisation_error(FINEST_NOISE))


def test_sampled_releases_are_of_samples():
    """About as many rows as the rate says, other ones each time, and noise for what one row adds."""
    from tacit.privacy import Sampled
    from tacit.statistics import RowCount

    rows = as_source(np.zeros((20_000, 1)))
    for neighbors in ("replace_one", "add_remove"):
        plan = calibrated_plan([Sampled(0.1, Gaussian("count", 1.0, 8, 1))], Budget(2.0, 1e-5), neighbors)
        curator = Curator(rows, plan, random_state=0)
        counts = [curator.release("count", RowCount())[0] for _ in range(8)]
        assert np.std(counts) > 10.0
        assert np.mean(counts) == pytest.approx(2000.0, abs=5 * math.sqrt(1800 / 8))
        assert curator.noise("count", RowCount()) == pytest.approx(plan.steps[0].noise_multiplier, rel=0.01)
        with pytest.raises(PlanError, match="no further release"):
            curator.release("count", RowCount())


def test_a_sample_of_everything_is_everything():
    from tacit.privacy import Sampled
    from tacit.statistics import RowCount

    plan = calibrated_plan([Sampled(1.0, Gaussian("count", 1.0, 1, 1))], Budget(8.0, 1e-5))
    released = Curator(as_source(np.zeros((5000, 1))), plan, random_state=0).release("count", RowCount())
    assert released[0] == pytest.approx(5000.0, abs=5.0)
