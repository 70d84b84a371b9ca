"""The filter against those who choose plans in the light of releases, computed exactly on a grid of privacy losses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm

from tacit.privacy import (
    Budget,
    BudgetExceeded,
    Gaussian,
    Laplace,
    Ledger,
    Plan,
    PlanError,
    Sampled,
    Selection,
    SmoothGaussian,
    SmoothLaplace,
    Split,
    TiltedGaussian,
)
from tacit.privacy.domination import closed_cost, dominating_mu, numeric_cost
from tacit.privacy.filter import Filter, has_slack
from tacit.privacy.gaussian_profile import gaussian_delta, gaussian_mu
from tacit.privacy.ledger_books import Books
from tacit.privacy.terms import terms_of
from tacit.release import calibrated_plan

BUDGET = Budget(1.0, 1e-6)
B = gaussian_mu(1.0, 1e-6)


def gaussian_profile(e, mu):
    return ndtr(mu / 2 - e / mu) - np.exp(e) * ndtr(-mu / 2 - e / mu)


def mirrored(e, delta):
    """Return a symmetric profile at any threshold from what it is at positive ones."""
    below = np.minimum(e, 0.0)
    return np.where(e >= 0, delta(np.abs(e)), -np.expm1(below) + np.exp(below) * delta(np.abs(e)))


def laplace_profile(e, size):
    return mirrored(e, lambda x: np.maximum(0.0, -np.expm1((np.minimum(x, size) - size) / 2)))


# ------------------------------------------------------------------------------------- the attack on the former ledger


def composed_as_if_fixed(budget, plans):
    """Return what the ledger of version 0.1 asked: are all plans together, had they been fixed, within the budget?"""
    return sum(plans[1:], plans[0]).delta(budget.epsilon) <= budget.delta


def proved(budget, plans):
    return Filter(budget, tuple(plans)).holds()


def largest_after(rule, first, plan):
    """Return the largest epsilon of a plan that a rule allows after the first one."""
    return float(brentq(lambda e: 1.0 if rule(BUDGET, (first, plan(e))) else -1.0, 1e-3, 1.0, xtol=1e-5)) - 2e-5


@pytest.mark.parametrize(
    ("rule", "least", "most"), [(composed_as_if_fixed, 1.9e-6, 2e-6), (proved, 0.9e-6, 1.00001e-6)]
)
def test_to_choose_between_gaussian_and_laplace_noise_by_the_first_release(rule, least, most):
    """Gaussian noise where the first release tells much, Laplace where it tells little; both as much as is allowed."""
    mu = B * math.sqrt(0.1)
    first = Plan((Gaussian("first", 1 / mu),))
    size = largest_after(rule, first, lambda e: Plan((Laplace("second", 1 / e),)))
    z = np.linspace(-12, 12, 200_001)
    thresholds = 1.0 - mu * mu / 2 - mu * z
    best = np.maximum(gaussian_profile(thresholds, B * math.sqrt(0.9)), laplace_profile(thresholds, size))
    assert least < np.sum(norm.pdf(z) * best) * (z[1] - z[0]) <= most


# --------------------------------------------------------------------------- every strategy, by dynamic programming

STEP = 2e-3
LOSSES = np.arange(-2000, 2001) * STEP


def masses(plan):
    """Return the law of a plan's privacy loss, one mechanism after the other, on the grid."""
    law = np.array([1.0])
    edges = (np.arange(-2000, 2002) - 0.5) * STEP
    for step in plan.steps:
        inverse = 1 / step.noise_multiplier
        if isinstance(step, Gaussian):
            one = np.diff(norm.cdf(edges, inverse**2 / 2, inverse))
        else:  # the Laplace pair: loss e with probability 1/2, -e with e^-e / 2, and a density e^((x - e) / 2) / 4
            inside = np.clip(edges, -inverse, inverse)
            one = np.diff(0.5 * np.exp((inside - inverse) / 2))
            one[np.searchsorted(edges, inverse) - 1] += 0.5
            one[np.searchsorted(edges, -inverse) - 1] += math.exp(-inverse) / 2
        for _ in range(step.count):
            law = np.convolve(law, one)[len(law) // 2 : len(law) // 2 + len(one)] if len(law) > 1 else one
    return law


def value(rule, menu, epsilon=1.0):
    """Return the largest delta at epsilon that any adaptive choice from the menu reaches, under a rule."""
    laws = {plan: masses(plan) for plan in menu}
    stop = np.maximum(0.0, -np.expm1(epsilon - LOSSES))
    memory = {}

    def best(history):
        key = (history[:1], tuple(sorted(history[1:], key=repr)), all(_is_pure(plan) for plan in history))
        if key not in memory:
            found = stop.copy()
            for plan in menu:
                if rule(Budget(epsilon, 1e-6), (*history, plan)):
                    after = best((*history, plan))
                    padded = np.pad(after, 2000, mode="edge")
                    found = np.maximum(found, np.convolve(padded, laws[plan][::-1], mode="valid"))
            memory[key] = found
        return memory[key]

    return best(())[2000]


def _is_pure(plan):
    return all(isinstance(step, Laplace) for step in plan.steps)


def share(part):
    return Plan((Gaussian("part of the budget", 1 / (B * math.sqrt(part))),))


def laplace(e):
    return Plan((Laplace("count", 1 / e),))


def both(part, e):
    return Plan((*share(part).steps, *laplace(e).steps))


MENUS = {
    "Gaussian first": [share(0.1), share(0.45), share(0.88), laplace(0.3), laplace(0.7)],
    "mixed": [both(0.2, 0.1), share(0.3), laplace(0.2), laplace(0.35)],
    "pure": [laplace(0.25), laplace(0.5), share(0.5), share(0.8)],
}


@pytest.mark.parametrize("name", MENUS)
def test_no_adaptive_choice_from_a_menu_exceeds_the_budget(name):
    assert 0.0 < value(proved, MENUS[name]) <= 1e-6 * 1.002  # what the grid adds


def test_the_game_finds_the_attack_on_the_former_ledger():
    first = share(0.1)
    size = largest_after(composed_as_if_fixed, first, laplace)
    assert value(composed_as_if_fixed, [first, share(0.8999), laplace(size)]) > 1.9e-6


def response(h, e):
    """Return the profile of randomised response."""
    return mirrored(h, lambda x: np.maximum(0.0, (math.exp(e) - np.exp(x)) / (1 + math.exp(e))))


@settings(max_examples=100, deadline=None)
@given(st.floats(0.01, 2.0), st.floats(0.0, 1.0), st.floats(0.02, 2.0))
def test_pure_plans_keep_both_ways_of_counting_open(total, part, mu):
    """The lemma of the filter: max(P(p), G(b)) dominates an e-private plan with max(P(p - e), G(b')) after it."""
    e = part * total
    own = 2 * norm.ppf(1 / (1 + math.exp(-e)))
    h = np.linspace(-3 - total, 3 + total, 4001)
    high = math.exp(e) / (1 + math.exp(e))

    def left(x):
        return np.maximum(response(x, total - e), gaussian_profile(x, mu))

    together = high * left(h - e) + (1 - high) * left(h + e)
    assert (together <= np.maximum(response(h, total), gaussian_profile(h, math.hypot(mu, own))) + 1e-12).all()


# ---------------------------------------------------------------------------------------------------------- domination

KINDS = {
    "gaussian": Gaussian("a", 30.0, 3, 5),
    "laplace": Laplace("a", 40.0, 3),
    "selection": Selection("a", 25.0, 4, 9),
    "split gaussian": Split(8, Gaussian("a", 30.0, 2, 5)),
    "split selection": Split(8, Selection("a", 25.0, 2, 5)),
    "sampled": Sampled(0.05, Gaussian("a", 2.0, 20, 3)),
    "smooth laplace": SmoothLaplace("a", 60.0, 5, 12),
    "smooth gaussian": SmoothGaussian("a", 60.0, 2, 12, smoothness=0.003),
    "tilted": TiltedGaussian("a", 50.0, 1, 4),
}


@pytest.mark.parametrize("names", [*([name] for name in KINDS), ["gaussian", "laplace"], ["selection", "sampled"]])
def test_the_dominating_gaussian_is_above_the_plan_everywhere(names):
    plan = Plan(tuple(KINDS[name] for name in names))
    terms = terms_of(plan.steps, plan.neighbors)
    numeric = numeric_cost(terms, plan.neighbors, 1e-11)
    rng = np.random.default_rng(0)
    for cost, slack in ((numeric, 1e-11), (closed_cost(terms), 0.0)):
        for e in [*rng.uniform(0, 8 * math.sqrt(numeric), 60), 0.0]:
            # 1e-12 for the rounding that accountants charge and closed forms do not need
            assert math.isinf(cost) or plan.delta(e) <= gaussian_delta(e, math.sqrt(cost)) + slack + 1e-12
    assert numeric >= 0.99 * (2 * norm.ppf((1 + plan.delta(0.0)) / 2)) ** 2


def test_domination_is_close_to_the_least_there_is():
    for count in (1, 3, 50):
        terms = terms_of((Gaussian("a", 20.0, count),), "replace_one")
        assert numeric_cost(terms, "replace_one", 1e-12) == pytest.approx(count / 400, rel=1e-3)
        assert closed_cost(terms) == pytest.approx(count / 400)
    grid = np.linspace(0.0, 1.0, 50)
    assert dominating_mu(grid, np.full(50, 0.1)) == math.inf  # a delta that never falls is no Gaussian


# ------------------------------------------------------------------------------------------------- what the ledger says


def books_of(plans, budget=BUDGET):
    books = Books.open("patients", budget, plans[0].neighbors)
    for plan in plans:
        receipt = books.admit(plan, "")
        books = Books("patients", budget, books.neighbors, books.opened, receipt.hash, (*books.receipts, receipt))
    return books


@pytest.mark.parametrize("error", [0.0, 1e-14])
@pytest.mark.parametrize("name", KINDS)
def test_one_charge_is_spent_as_its_receipt_says(name, error):
    plan = Plan((KINDS[name],), sampling_error=error)
    books = books_of([plan])
    assert books.spent().epsilon >= books.receipts[0].epsilon
    assert books.spent().epsilon == books.receipts[0].epsilon == pytest.approx(plan.epsilon(1e-6), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3), min_size=1, max_size=3), st.booleans()
)
def test_what_is_spent_is_never_below_a_receipt(charges, exact):
    plans = []
    for names in charges:
        steps = tuple(KINDS[name].scaled(2.0) for name in names)
        plans.append(Plan(steps, sampling_error=0.0 if exact else 1e-15))
    try:
        books = books_of(plans, Budget(20.0, 1e-6))
    except PlanError:
        assert plans[0].gaussian
        assert any(map(has_slack, plans))
        return
    assert books.spent().epsilon >= max(receipt.epsilon for receipt in books.receipts) * (1 - 1e-12)
    assert books.spent().epsilon <= 20.0


def test_smooth_fits_are_counted_with_all_their_numbers(tmp_path):
    """In version 0.1 the ledger took each for a single number, and let twelve of these pass."""
    account = Ledger(tmp_path / "ledger.db").create("rows", BUDGET)
    plan = calibrated_plan([SmoothGaussian("centre", 12.0, 1, 30, 0.02)], Budget(0.4, 1e-6))
    charged = 0
    while Filter(BUDGET, (plan,) * (charged + 1)).holds():
        account.charge(plan)
        charged += 1
    with pytest.raises(BudgetExceeded):
        account.charge(plan)
    together = Plan(tuple(step for _ in range(charged) for step in plan.steps)).epsilon(1e-6)
    assert together <= account.spent().epsilon <= 1.0
    assert charged >= 4


@pytest.mark.parametrize("names", [["laplace", "gaussian"], ["smooth laplace"], ["sampled", "gaussian"], ["tilted"]])
def test_a_first_plan_may_fill_the_budget_and_then_nothing_follows(names):
    plan = calibrated_plan([KINDS[name] for name in names], BUDGET)
    books = books_of([plan])
    assert books.spent().epsilon == pytest.approx(1.0, rel=1e-3)
    assert books.remaining().epsilon < 0.05
    for more in (
        plan,
        calibrated_plan([Gaussian("a", 1.0)], Budget(0.1, 1e-6)),
        calibrated_plan([Laplace("a", 1.0)], Budget(0.1, 1e-6)),
    ):
        with pytest.raises(BudgetExceeded):
            books.admit(more, "")


def test_pure_fits_add_up_to_the_whole_budget():
    tenth = calibrated_plan([Laplace("count", 1.0)], Budget(0.1, 1e-6))
    books = books_of([tenth] * 10)
    with pytest.raises(BudgetExceeded):
        books.admit(tenth, "")
    assert books.spent().epsilon == pytest.approx(1.0, rel=1e-3)


def test_exact_gaussian_books_are_exact_and_take_no_plan_with_slack():
    books = books_of([share(0.1)] * 9)
    with pytest.raises(PlanError, match="nothing of its delta was kept back"):
        books.admit(calibrated_plan([Gaussian("a", 1.0)], Budget(0.05, 1e-6)), "")
    books.admit(Plan((Gaussian("a", 1 / (B * math.sqrt(0.0999999))),)), "")
    with pytest.raises(BudgetExceeded):
        books.admit(share(0.100001), "")


def test_books_that_version_0_1_let_mix_are_read_with_a_reserve():
    plans = (share(0.2), calibrated_plan([Gaussian("a", 1.0)], Budget(0.3, 1e-6)))
    assert Filter(BUDGET, plans).holds()
    assert not Filter(BUDGET, (*plans, share(0.8 - 0.3**2 / 1.0))).holds()


def test_a_reserve_for_slack_cannot_be_overdrawn():
    careless = Plan((Gaussian("a", 300.0),), sampling_error=4e-9)
    books = books_of([Plan((Gaussian("a", 300.0),), sampling_error=1e-15)])
    with pytest.raises(BudgetExceeded, match="kept back"):
        books.admit(careless, "")
    assert len(books_of([careless] * 4).receipts) == 4


def test_plans_that_nothing_can_be_proved_for_are_refused():
    """The accountant does not resolve deltas as small as this for tilted minima."""
    budget = Budget(1.0, 1e-14)
    tilted = Plan((TiltedGaussian("a", 40.0),))
    assert not Filter(budget, (laplace(0.1), tilted)).holds()
    assert Filter(budget, (laplace(0.1), tilted)).epsilon() == math.inf
    with pytest.raises(BudgetExceeded, match="epsilon inf"):
        books_of([laplace(0.1), tilted], budget)


def test_plans_without_steps_cost_nothing():
    empty = Plan(())
    for plans in ([empty], [empty, empty], [empty, share(0.5)], [share(0.5), empty], [laplace(0.1), empty]):
        books = books_of(plans)
        assert books.spent().epsilon == pytest.approx(sum(receipt.epsilon for receipt in books.receipts), rel=1e-3)
        assert books.remaining().epsilon > 0.5
