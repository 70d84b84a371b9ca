"""Parts of a budget become steps, and the steps have these parts."""

import pytest

from tacit.fitting.allocation import deal, noise_multiplier, rescale, selection_step, split_budget, weigh_releases
from tacit.privacy import Budget, Gaussian
from tacit.release import calibrated_plan

PARTS = {"first": 0.3, "second": 0.7}
SIZES = {"first": 5, "second": 9}


def test_releases_of_a_step_share_its_part():
    steps = split_budget(PARTS, {"first": 4, "second": 1}, SIZES)
    assert [step.weight for step in steps] == pytest.approx(list(PARTS.values()))
    assert [(step.name, step.count, step.size) for step in steps] == [("first", 4, 5), ("second", 1, 9)]


def test_each_release_has_its_weight():
    steps = weigh_releases(PARTS, {"first": 4, "second": 1}, SIZES)
    assert [step.weight for step in steps] == pytest.approx([4 * 0.3, 0.7])


def test_steps_without_releases_are_left_out():
    for allocate in (split_budget, weigh_releases):
        assert [step.name for step in allocate(PARTS, {"second": 2}, SIZES)] == ["second"]


def test_choices_cost_what_gaussian_releases_of_the_same_part_cost():
    assert selection_step("column", 0.3, 7, 100).weight == pytest.approx(0.3)


@pytest.mark.parametrize("shares", [1, 8, 32])
def test_dealing_rows_out_and_scaling_keep_parts(shares):
    step = Gaussian("gradient", noise_multiplier(0.4, 9), 9)
    assert deal(step, shares).weight == pytest.approx(0.4)
    assert sum(each.weight for each in rescale([step, Gaussian("last", 2.0)], 0.1)) == pytest.approx(0.1)


def test_a_plan_keeps_proportions():
    steps = split_budget(PARTS, {"first": 2, "second": 3}, SIZES)
    first, second = calibrated_plan(steps, Budget(1.0, 1e-6)).steps
    assert first.weight / second.weight == pytest.approx(0.3 / 0.7)
