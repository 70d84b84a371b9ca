"""Choices by sums: what is chosen is planned, paid for, and has the law of the exponential mechanism."""

import numpy as np
import pytest

from tacit.privacy import Budget, Gaussian, Ledger, Plan, PlanError, Selection, Split
from tacit.release import Choice, Curator, calibrated_plan
from tacit.release.lattice import Lattice
from tacit.sources import as_source
from tacit.statistics import RobustSum

ROWS = np.tile([0.1, -0.9, 0.5, 0.0], (400, 1))


def sums(columns=4):
    return RobustSum(np.zeros(columns), np.ones(columns))


def chosen(choice, rows=ROWS, seed=0, epsilon=1.0, neighbors="replace_one", size=4):
    plan = Plan((Selection("columns", choice.count / epsilon, choice.count, size),), neighbors)
    curator = Curator(as_source(rows), plan, random_state=seed)
    places, signs = curator.choose("columns", choice)
    return places.tolist(), signs.tolist(), curator


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_what_stands_out_is_chosen(neighbors):
    assert chosen(Choice(sums(), 2), neighbors=neighbors)[:2] == ([2, 0], [1, 1])
    assert chosen(Choice(sums(), 2, "either"), neighbors=neighbors)[:2] == ([1, 2], [-1, 1])
    assert chosen(Choice(sums(), 1, "middle"), neighbors=neighbors)[:2] == ([3], [1])


def test_places_may_be_excluded_and_sums_moved():
    assert chosen(Choice(sums(), 1, "either", excluded=(1,)))[:2] == ([2], [1])
    offset = np.array([0.0, 360.0, 0.0, -500.0])
    assert chosen(Choice(sums(), 1, "either", offset=offset))[:2] == ([3], [-1])


def test_the_law_is_that_of_the_exponential_mechanism():
    """Replacing a row moves a sum by 2, so weights are exp(epsilon * sum / 4)."""
    rows = np.tile([0.5, -0.5, 0.0, 0.1], (8, 1))
    expected = np.exp(8 * np.array([[0.5, -0.5, 0.0, 0.1], [-0.5, 0.5, 0.0, -0.1]]) / 4).ravel()
    curator = Curator(as_source(rows), Plan((Selection("columns", 1.0, 3000, 4),)), random_state=0)
    found = [curator.choose("columns", Choice(sums(), 1, "either")) for _ in range(3000)]
    counts = np.bincount([place + 4 * (sign < 0) for (place,), (sign,) in found], minlength=8)
    expected = 3000 * expected / expected.sum()
    assert np.sum((counts - expected) ** 2 / expected) < 24.3  # 0.999 of chi-square with 7 degrees of freedom


def test_several_choices_are_made_of_what_is_left():
    places, signs, _ = chosen(Choice(sums(), 4, "either"), epsilon=4.0)
    assert sorted(places) == [0, 1, 2, 3]
    assert dict(zip(places, signs))[1] == -1


def test_choices_are_counted_singly():
    """Of three that are planned, two and then two are one too many, though each time there is one left."""
    plan = Plan((Selection("columns", 3.0, 3, 4),))
    curator = Curator(as_source(ROWS), plan, random_state=0)
    assert len(curator.choose("columns", Choice(sums(), 2))[0]) == 2
    with pytest.raises(PlanError, match="no further release"):
        curator.choose("columns", Choice(sums(), 2))
    assert len(curator.choose("columns", Choice(sums(), 1))[0]) == 1
    with pytest.raises(PlanError, match="no further release"):
        curator.choose("columns", Choice(sums(), 1))
    (record,) = curator.certificate(Budget(1.0, 0.0)).releases
    assert record.count == 3


def test_choices_are_counted_and_stated():
    curator = chosen(Choice(sums(), 2))[2]
    (record,) = curator.certificate(Budget(1.0, 0.0)).releases
    assert (record.count, record.mechanism, record.lattice_step) == (2, "exponential mechanism", None)
    assert record.sensitivity == pytest.approx(2.0, rel=2e-3)
    assert record.noise_scale == pytest.approx(8.0, rel=2e-3)  # 2 sensitivities over epsilon 1/2 of each choice
    assert curator.noise("columns", sums()) == record.noise_scale
    with pytest.raises(PlanError, match="no further release"):
        curator.choose("columns", Choice(sums(), 1))


def test_the_plan_is_charged_before_a_choice(tmp_path):
    account = Ledger(tmp_path / "budget.db").create("rows", Budget(1.0, 1e-6))
    plan = calibrated_plan([Selection("columns", 1.0, 2, 4), Gaussian("sums", 1.0, 1, 4)], Budget(1.0, 1e-6))
    curator = Curator(as_source(ROWS), plan, ledger=account, random_state=0)
    curator.choose("columns", Choice(sums(), 1))
    assert account.spent().epsilon == pytest.approx(1.0, rel=1e-3)
    curator.choose("columns", Choice(sums(), 1))
    with pytest.raises(PlanError, match="no further release"):
        curator.choose("columns", Choice(sums(), 1))
    with pytest.raises(PlanError, match="is a gaussian step"):
        curator.choose("sums", Choice(sums(), 1))
    with pytest.raises(PlanError, match="release makes Gaussian and Laplace steps alone"):
        curator.release("columns", sums())


@pytest.mark.parametrize("count", [0, 4])
def test_no_more_can_be_chosen_than_there_are(count):
    with pytest.raises(ValueError, match="cannot be chosen of 4 candidates, 1 of which"):
        Choice(sums(), count, excluded=(2,))


@pytest.mark.parametrize("offset", [np.zeros(3), np.array([0.0, np.nan, 0.0, 0.0])])
def test_offsets_are_finite_and_one_for_each(offset):
    with pytest.raises(ValueError, match="offset must be 4 finite"):
        Choice(sums(), 1, offset=offset)


def test_utilities_move_no_further_than_sums():
    """Whatever sums and offsets are, also where they are cut off."""
    rng = np.random.default_rng(0)
    for side in ("largest", "either", "middle"):
        for size in (10, 2**40, 2**62):
            total = rng.integers(-size, size, 4)
            moved = np.clip(total + rng.integers(-5, 6, 4), -(2**62), 2**62)
            choice = Choice(sums(), 1, side, offset=rng.normal(size=4) * rng.choice([1.0, 1e30]))
            before, after = (choice.utilities(each, Lattice(0.5)) for each in (total, moved))
            assert np.abs(after - before).max() <= 5
            assert np.abs(before).max() < 2**62


def test_choices_of_shares_of_the_rows():
    rows = np.zeros((300, 4))
    rows[0, 1] = rows[0, 2] = 1.0  # in one of the shares
    plan = Plan((Split(3, Selection("columns", 1e-3, 1, 4)),))
    found = []
    for seed in range(9):
        curator = Curator(as_source(rows), plan, random_state=seed)
        found.append([int(curator.choose("columns", Choice(sums(), 1))[0][0]) in (1, 2) for _ in range(3)])
    assert np.sum(found, axis=1).min() >= 1  # the row is in one of the shares, and chance may help
    assert (np.mean(found, axis=0) < 1).all()  # not in the same one for every deal
    with pytest.raises(PlanError, match="no further release"):
        curator.choose("columns", Choice(sums(), 1))
    curator = Curator(as_source(rows), Plan((Split(3, Selection("columns", 0.1, 2, 4)),)), random_state=0)
    with pytest.raises(PlanError, match="has 2 choices of each share, and 1 are asked for"):
        curator.choose("columns", Choice(sums(), 1))
    assert [len(curator.choose("columns", Choice(sums(), 2))[0]) for _ in range(3)] == [2, 2, 2]


def test_choices_of_shares_cost_what_those_of_one_share_cost():
    split, once = Plan((Split(8, Selection("a", 3.0, 2, 9)),)), Plan((Selection("a", 3.0, 2, 9),))
    assert split.delta(0.3) == once.delta(0.3)
    assert split.epsilon(0.0) == pytest.approx(2 / 3)
    assert Plan.from_dict(split.to_dict()) == split
    assert Plan(split.steps, "add_remove").delta(0.3) == Plan(once.steps, "add_remove").delta(0.3)
