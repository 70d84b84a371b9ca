"""Plans: what they promise, what they refuse, and that calibration spends the budget and no more."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.privacy import (
    Budget,
    Gaussian,
    Laplace,
    Mechanism,
    Plan,
    PlanError,
    Sampled,
    Selection,
    Split,
    TiltedGaussian,
)
from tacit.privacy.steps import step_from_dict

gaussian_plans = st.lists(
    st.builds(Gaussian, st.just("s"), st.floats(0.01, 100), st.integers(1, 1000)), min_size=1, max_size=4
).map(Plan)
budgets = st.builds(lambda e, d: Budget(10**e, 10**d), st.floats(-4, 2), st.floats(-100, -1))

MIXED = {
    "laplace": (Laplace("a", 1.0, count=5),),
    "one laplace": (Laplace("a", 1.0),),
    "selection": (Selection("a", 1.0, count=3), Selection("b", 3.0)),
    "gaussian and laplace": (Gaussian("a", 1.0, count=10), Laplace("b", 5.0, count=3)),
    "all": (Gaussian("a", 1.0, count=10), Laplace("b", 5.0), Selection("c", 3.0, count=2)),
    "sampled": (Sampled(0.05, Gaussian("a", 1.0, count=100)), Gaussian("b", 20.0)),
    "tilted": (TiltedGaussian("a", 1.0, size=5), Gaussian("b", 8.0)),
}


# ---------------------------------------------------------------------------------------------------------- calibration


@settings(max_examples=150, deadline=None)
@given(gaussian_plans, budgets)
def test_all_gaussian_calibration_spends_the_budget_and_no_more(plan, budget):
    spent = plan.calibrate(budget).delta(budget.epsilon)
    assert spent <= budget.delta
    assert spent == pytest.approx(budget.delta, rel=1e-6)


@settings(max_examples=100, deadline=None)
@given(gaussian_plans, budgets)
def test_calibration_keeps_the_shares(plan, budget):
    calibrated = plan.calibrate(budget)
    factors = [after.noise_multiplier / before.noise_multiplier for before, after in zip(plan.steps, calibrated.steps)]
    assert factors == pytest.approx([factors[0]] * len(factors))
    assert [(s.name, s.count, s.size) for s in calibrated.steps] == [(s.name, s.count, s.size) for s in plan.steps]


@settings(max_examples=100, deadline=None)
@given(gaussian_plans, budgets)
def test_calibration_forgets_the_scale_it_started_from(plan, budget):
    again = plan.scaled(7.3).calibrate(budget)
    assert again.steps[0].noise_multiplier == pytest.approx(plan.calibrate(budget).steps[0].noise_multiplier, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(gaussian_plans, budgets)
def test_two_halves_make_a_whole(plan, budget):
    """A calibrated plan's steps with twice the variance, made twice, cost what the plan costs."""
    half = plan.calibrate(budget).scaled(math.sqrt(2))
    assert (half + half).delta(budget.epsilon) == pytest.approx(budget.delta, rel=1e-6)
    assert half.delta(budget.epsilon) < budget.delta


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", MIXED)
def test_mixed_calibration_spends_the_budget_and_no_more(name, neighbors):
    budget = Budget(1.0, 1e-6)
    calibrated = Plan(MIXED[name], neighbors).calibrate(budget)
    assert calibrated.delta(1.0) <= 1e-6
    assert calibrated.epsilon(1e-6) <= 1.0
    assert calibrated.scaled(0.999).delta(1.0) > 1e-6


def test_equal_questions_get_equal_answers():
    plan = Plan(MIXED["sampled"])
    assert plan.calibrate(Budget(0.7, 1e-7)) == plan.calibrate(Budget(0.7, 1e-7))


def test_pure_calibration():
    calibrated = Plan((Laplace("a", 2.0, count=3), Selection("b", 1.0))).calibrate(Budget(0.5))
    assert calibrated.epsilon(0.0) <= 0.5
    assert calibrated.epsilon(0.0) == pytest.approx(0.5, rel=1e-12)
    assert calibrated.delta(0.5) == 0.0


def test_pure_calibration_refuses_gaussian_noise():
    with pytest.raises(ValueError, match="Gaussian noise has no finite epsilon at delta=0; ask for a positive delta"):
        Plan((Gaussian("a", 1.0),)).calibrate(Budget(1.0))


def test_a_delta_beyond_the_accountant_is_refused_not_guessed():
    sampled = Plan((Sampled(0.1, Gaussian("a", 1.0)),), "replace_one")
    with pytest.raises(PlanError, match="smaller than what the accountant can resolve"):
        sampled.calibrate(Budget(1.0, 1e-15))


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 30.0, 1e3, 1e6])
def test_extreme_budgets(epsilon):
    calibrated = Plan((Gaussian("a", 1.0, count=10),)).calibrate(Budget(epsilon, 1e-9))
    assert calibrated.delta(epsilon) == pytest.approx(1e-9, rel=1e-6)


# ------------------------------------------------------------------------------------------------------- sampling error


@settings(max_examples=60, deadline=None)
@given(gaussian_plans, st.floats(-3, 3), st.floats(-9, -2), st.floats(-18, -1))
def test_sampling_error_is_paid_for(plan, log_epsilon, log_delta, log_share):
    budget = Budget(10**log_epsilon, 10**log_delta)
    error = 0.24 * budget.delta * 10**log_share
    charged = Plan(plan.steps, sampling_error=error).calibrate(budget)
    assert charged.delta(budget.epsilon) <= budget.delta
    assert charged.epsilon(budget.delta) <= budget.epsilon * (1 + 1e-12)
    assert charged.steps[0].noise_multiplier >= plan.calibrate(budget).steps[0].noise_multiplier * (1 - 1e-12)
    if (1 + math.exp(min(budget.epsilon, 700))) * error < budget.delta / 2:
        exact = Plan(charged.steps).delta(budget.epsilon)
        assert charged.delta(budget.epsilon) <= exact + (1 + math.exp(budget.epsilon)) * error
        assert charged.delta(budget.epsilon) == pytest.approx(budget.delta, rel=0.5)


def test_sampling_error_adds_what_the_contract_says():
    clean = Plan((Gaussian("a", 4.0),))
    charged = Plan(clean.steps, sampling_error=1e-9)
    assert charged.delta(0.5) == pytest.approx(clean.delta(0.5) + (1 + math.exp(0.5)) * 1e-9)
    assert charged.epsilon(1e-12) == math.inf
    assert charged.epsilon(0.0) == math.inf


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    "steps", [(Gaussian("a", 4.0),), (Laplace("a", 2.0),), (Gaussian("a", 4.0), Laplace("b", 2.0))]
)
def test_a_sampling_error_costs_one_plus_e_to_the_epsilon_times_as_much(steps, epsilon):
    """What it adds is measured by itself: beside a larger delta, a factor that is missing would not be seen."""
    error = 1e-5
    clean, charged = Plan(steps), Plan(steps, sampling_error=error)
    added = charged.delta(epsilon) - clean.delta(epsilon)
    stated = clean.delta(epsilon) + (1 + math.exp(epsilon)) * error
    # Past the cheapest epsilon, what holds there is told: less than the contract's sum, and no less than its delta.
    cheaper = min(clean.delta(e) + (1 + math.exp(e)) * error for e in np.linspace(0, epsilon, 401))
    assert cheaper * (1 - 1e-4) <= charged.delta(epsilon) <= stated * (1 + 1e-9)
    if clean.delta(epsilon) > 100 * error:
        assert added == pytest.approx((1 + math.exp(epsilon)) * error, rel=1e-3)
        # And the other way around: that epsilon is what its own delta allows.
        assert charged.epsilon(stated * (1 + 1e-9)) == pytest.approx(epsilon, abs=1e-4)


def test_delta_never_rises_with_epsilon_although_the_charge_does():
    deltas = Plan((Gaussian("a", 4.0),), sampling_error=1e-10).curve(np.linspace(0, 100, 301))[1]
    assert (np.diff(deltas) <= 0).all()


def test_a_large_epsilon_is_no_obstacle_to_a_sampling_error():
    calibrated = Plan((Gaussian("a", 1.0),), sampling_error=1e-14).calibrate(Budget(1000.0, 1e-6))
    assert calibrated.delta(1000.0) <= 1e-6
    assert calibrated.steps[0].noise_multiplier < 1.0


def test_a_sampling_error_beyond_the_budget_is_a_sentence():
    for budget in (Budget(1.0, 1e-6), Budget(1.0)):
        with pytest.raises(
            PlanError, match=r"The sampling error alone costs a delta of 2e-06 or more, and the budget has"
        ):
            Plan((Laplace("a", 4.0),), sampling_error=1e-6).calibrate(budget)


# ---------------------------------------------------------------------------------------------- composition and storage


def test_plans_compose_on_the_same_rows():
    one = Plan((Gaussian("a", 3.0),), sampling_error=1e-12)
    other = Plan((Gaussian("b", 4.0), Laplace("c", 9.0)), sampling_error=2e-12)
    both = one + other
    assert both.steps == one.steps + other.steps
    assert both.sampling_error == pytest.approx(3e-12)
    assert both.epsilon(1e-6) < one.epsilon(5e-7) + other.epsilon(5e-7)
    assert both.epsilon(1e-6) > max(one.epsilon(1e-6), other.epsilon(1e-6))
    assert one + Plan(()) == one


def test_plans_of_different_relations_do_not_compose():
    with pytest.raises(PlanError, match="under 'replace_one' and 'add_remove'"):
        Plan((Gaussian("a", 3.0),)) + Plan((Gaussian("a", 3.0),), "add_remove")
    with pytest.raises(TypeError):
        Plan(()) + 1.0


@pytest.mark.parametrize("name", MIXED)
def test_storage_is_exact(name):
    plan = Plan(MIXED[name], "add_remove", 1.1e-17).scaled(math.pi)
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert hash(Plan.from_dict(plan.to_dict())) == hash(plan)


def test_unknown_storage_is_refused():
    values = Plan(MIXED["all"]).to_dict()
    with pytest.raises(ValueError, match=r"A stored plan has the format .*, and this one has 'tacit\.plan/9'"):
        Plan.from_dict({**values, "format": "tacit.plan/9"})
    with pytest.raises(ValueError, match="kind of a step must be one of"):
        step_from_dict({"kind": "cauchy", "name": "a"})
    with pytest.raises(ValueError, match="has the fields"):
        step_from_dict({"kind": "gaussian", "name": "a", "noise_multiplier": 1.0})


def test_curves():
    epsilons, deltas = Plan(MIXED["gaussian and laplace"]).calibrate(Budget(1.0, 1e-6)).curve()
    assert epsilons.shape == deltas.shape == (101,)
    assert epsilons[0] == 0
    assert (np.diff(deltas) <= 0).all()
    assert deltas[-1] <= 1e-12
    assert np.interp(1.0, epsilons, np.log(deltas)) == pytest.approx(math.log(1e-6), rel=0.01)
    assert (Plan(()).curve()[1] == 0).all()


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("noise", [0, -1.0, math.inf, math.nan, "1", None, True])
def test_noise_must_be_positive_and_finite(noise):
    with pytest.raises(ValueError, match="The noise_multiplier of step 'a' must be a positive, finite number"):
        Gaussian("a", noise)


@pytest.mark.parametrize("count", [0, -1, 1.5, "1", None, True])
def test_counts_and_sizes_are_whole(count):
    with pytest.raises(ValueError, match="The count of step 'a' must be a whole number, at least 1"):
        Laplace("a", 1.0, count=count)
    with pytest.raises(ValueError, match="The size of step 'a' must be a whole number, at least 1"):
        Laplace("a", 1.0, size=count)


def test_other_bad_steps_and_plans():
    assert Gaussian("a", np.float64(2), np.int64(3)) == Gaussian("a", 2.0, 3)
    with pytest.raises(ValueError, match="name must be a non-empty string"):
        Gaussian("", 1.0)
    with pytest.raises(ValueError, match="rate of step 'a' must be at most 1"):
        Sampled(1.5, Gaussian("a", 1.0))
    with pytest.raises(ValueError, match="bend of step 'a' must be a positive"):
        TiltedGaussian("a", 1.0, bend=0.0)
    with pytest.raises(TypeError, match="A Mechanism is abstract"):
        Mechanism("a", 1.0)
    with pytest.raises(ValueError, match="one of them is a float"):
        Plan((1.0,))
    with pytest.raises(ValueError, match="neighbors must be"):
        Plan((), "neighbour")
    for error in (-1e-9, 2.0, math.nan, "0", True):
        with pytest.raises(ValueError, match="sampling_error is a total-variation distance"):
            Plan((), sampling_error=error)


def test_questions_outside_the_range():
    plan = Plan((Gaussian("a", 1.0),))
    for epsilon in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="epsilon must be at least 0 and finite"):
            plan.delta(epsilon)
    for delta in (-1e-9, 1.0, math.nan):
        with pytest.raises(ValueError, match="delta must be at least 0 and less than 1"):
            plan.epsilon(delta)


# ------------------------------------------------------------------------------------------------------ rows dealt out


def test_releases_of_shares_of_the_rows_cost_what_one_release_costs():
    """A row is in one share, so that replacing it changes one release: parallel composition."""
    split = Plan((Gaussian("all", 3.0, count=2), Split(8, Gaussian("shares", 2.0, count=3))))
    once = Plan((Gaussian("all", 3.0, count=2), Gaussian("shares", 2.0, count=3)))
    assert split.delta(1.0) == once.delta(1.0)
    assert split.steps[1].releases == 24
    budget = Budget(1.0, 1e-6)
    assert split.calibrate(budget).steps[1].noise_multiplier == once.calibrate(budget).steps[1].noise_multiplier
    assert Plan.from_dict(json.loads(json.dumps(split.to_dict()))) == split


def test_charges_of_shares_add_up_in_the_ledger(tmp_path):
    """Equal releases are merged there; two fits that dealt out rows are two releases, not one of more shares."""
    from tacit.privacy import Ledger

    account = Ledger(tmp_path / "ledger.db").create("rows", Budget(10.0, 1e-6))
    plan = Plan((Split(8, Gaussian("shares", 5.0)),))
    account.charge(plan)
    account.charge(plan)
    assert account.spent().epsilon == pytest.approx(Plan((Gaussian("twice", 5.0, count=2),)).epsilon(1e-6))


def test_rows_that_come_and_go_can_be_dealt_out_too():
    """A row that comes brings its own secret bits; all others stay where they are."""
    split, once = Split(8, Gaussian("shares", 2.0, count=2)), Gaussian("shares", 2.0, count=2)
    assert Plan((split,), "add_remove").delta(1.0) == Plan((once,), "add_remove").delta(1.0)
    with pytest.raises(ValueError, match="parts of step 'shares' must be a whole number"):
        Split(0, Gaussian("shares", 2.0))


# -------------------------------------------------------------------------------------------------------- nested steps


def test_nested_steps_answer_as_the_step_inside():
    inner = Selection("columns", 5.0, 3, 10)
    split = Split(8, inner)
    for name in ("name", "noise_multiplier", "count", "size", "weight", "mechanism"):
        assert getattr(split, name) == getattr(inner, name)
    assert (split.releases, Sampled(0.1, Gaussian("a", 2.0, 7)).releases) == (24, 7)
    assert split.scaled(2.0) == Split(8, inner.scaled(2.0))


@pytest.mark.parametrize("way", [Split, Sampled])
@pytest.mark.parametrize("inner", [Laplace("a", 1.0), TiltedGaussian("a", 1.0), Split(2, Gaussian("a", 1.0)), "a"])
def test_steps_nest_only_where_there_is_a_proof(way, inner):
    with pytest.raises(ValueError, match="takes a Gaussian"):
        way(1, inner)
    with pytest.raises(ValueError, match="Sampled takes a Gaussian step"):
        Sampled(0.5, Selection("a", 1.0))


FLAT = {"name": "a", "noise_multiplier": 3.0, "count": 2, "size": 5}


@pytest.mark.parametrize(
    ("stored", "step"),
    [
        ({"kind": "split_gaussian", **FLAT, "parts": 8}, Split(8, Gaussian(**FLAT))),
        ({"kind": "split_selection", **FLAT, "parts": 8}, Split(8, Selection(**FLAT))),
        ({"kind": "sampled_gaussian", **FLAT, "sampling_rate": 0.1}, Sampled(0.1, Gaussian(**FLAT))),
    ],
)
def test_what_version_0_1_wrote_is_read(stored, step):
    assert step_from_dict(stored) == step
    assert step_from_dict(json.loads(json.dumps(step.to_dict()))) == step
    with pytest.raises(ValueError, match="has the fields"):
        step_from_dict({name: value for name, value in stored.items() if name not in ("parts", "sampling_rate")})


def test_names_of_version_0_1_say_what_to_write():
    with pytest.raises(ImportError, match=r"written Split\(parts, Gaussian"):
        from tacit.privacy import SplitGaussian  # noqa: F401
    with pytest.raises(ImportError, match=r"written Sampled\(rate, Gaussian"):
        pickle.loads(b"ctacit.privacy.steps\nSampledGaussian\n.")
    with pytest.raises(AttributeError, match="has no attribute 'Cauchy'"):
        tacit.privacy.Cauchy  # noqa: B018
