"""Accounting against independent computations: exact arithmetic, brute force, and dp_accounting itself."""

import math

import dp_accounting
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from tacit.privacy import Gaussian, Laplace, Sampled, Selection, TiltedGaussian
from tacit.privacy.accounting import calibration_factor, delta, epsilon, profile
from tacit.privacy.composition import MixedProfile, selection_delta, tilted_delta
from tacit.privacy.gaussian_profile import gaussian_delta, gaussian_epsilon, gaussian_mu, log_gaussian_delta
from tacit.privacy.plan import Plan
from tacit.privacy.terms import Term

AddRemove = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
ReplaceOne = dp_accounting.NeighboringRelation.REPLACE_ONE


# ------------------------------------------------------------------------------------------------- the Gaussian profile


def exact_log_delta(epsilon, mu):
    """The textbook formula, with enough digits for its cancellations."""
    with mpmath.workdps(500):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        tail = lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2  # noqa: E731
        return float(mpmath.log(tail(e / m - m / 2) - mpmath.exp(e) * tail(e / m + m / 2)))


@pytest.mark.parametrize("mu", [1e-6, 1e-4, 3e-3, 0.1, 1.0, 7.0, 50.0, 1e3])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0, 1e3])
def test_gaussian_delta_is_exact_to_many_digits(mu, epsilon):
    found = log_gaussian_delta(epsilon, mu)
    x = epsilon / mu - mu / 2
    if abs(x) < 38:  # delta is a normal float
        assert found == pytest.approx(exact_log_delta(epsilon, mu), abs=1e-11)
    else:
        assert math.isfinite(found)
        assert 0 <= gaussian_delta(epsilon, mu) <= 1


@settings(max_examples=200, deadline=None)
@given(st.floats(-6, 3), st.floats(-300, -0.01))
def test_gaussian_mu_inverts_delta_and_never_favours_us(log_epsilon, log_delta):
    epsilon, delta = 10**log_epsilon, 10**log_delta
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(epsilon, mu) <= delta
    assert log_gaussian_delta(epsilon, mu) == pytest.approx(math.log(delta), abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.floats(-6, 3), st.floats(-300, -0.01))
def test_gaussian_epsilon_inverts_delta_and_never_favours_us(log_mu, log_delta):
    mu, delta = 10**log_mu, 10**log_delta
    epsilon = gaussian_epsilon(delta, mu)
    assert gaussian_delta(epsilon, mu) <= delta
    if epsilon:
        assert log_gaussian_delta(epsilon, mu) == pytest.approx(math.log(delta), abs=1e-9)


# --------------------------------------------------------------------------------------- against dp_accounting, to 0.5%

GRID = {
    "one Gaussian": [Gaussian("a", 4.0)],
    "many Gaussians": [Gaussian("a", 30.0, count=50)],
    "unequal Gaussians": [Gaussian("a", 5.0, count=2), Gaussian("b", 20.0, count=9), Gaussian("c", 2.5)],
    "one Laplace": [Laplace("a", 1.0)],
    "many Laplaces": [Laplace("a", 12.0, count=20)],
    "unequal Laplaces": [Laplace("a", 3.0, count=3), Laplace("b", 10.0)],
    "Gaussian and Laplace": [Gaussian("a", 10.0, count=8), Laplace("b", 5.0), Laplace("c", 8.0, count=2)],
    "tiny": [Gaussian("a", 500.0), Laplace("b", 400.0)],
    "large": [Gaussian("a", 0.5), Laplace("b", 0.3)],
    "subsampled": [Sampled(0.02, Gaussian("a", 1.2, count=200))],
    "subsampled and more": [
        Sampled(0.1, Gaussian("a", 2.0, count=50)),
        Gaussian("b", 4.0),
        Laplace("c", 6.0),
    ],
}


def reference(steps, neighbors, interval):
    """dp_accounting's own PLD accountant, event by event, told about sensitivities in its own convention."""
    accountant = dp_accounting.pld.PLDAccountant(neighbors, value_discretization_interval=interval)
    for step in steps:
        if isinstance(step, Sampled):
            event = dp_accounting.PoissonSampledDpEvent(step.rate, dp_accounting.GaussianDpEvent(step.noise_multiplier))
        elif isinstance(step, Laplace):
            event = dp_accounting.LaplaceDpEvent(step.noise_multiplier)
        else:
            event = dp_accounting.GaussianDpEvent(step.noise_multiplier)
        accountant.compose(event, step.count)
    return accountant


@pytest.mark.parametrize("name", GRID)
def test_within_half_a_percent_of_dp_accounting(name):
    steps = tuple(GRID[name])
    accountant = reference(steps, AddRemove, 1e-5 if name == "tiny" else 2e-4)
    for target in (1e-3, 1e-6, 1e-9):
        expected = accountant.get_epsilon(target)
        assert epsilon(steps, "add_remove", target) == pytest.approx(expected, rel=5e-3)
        if not any(isinstance(step, Sampled) for step in steps):
            # the multiplier is relative to the sensitivity of the relation, so the relation changes nothing
            assert epsilon(steps, "replace_one", target) == epsilon(steps, "add_remove", target)


def test_subsampled_replace_one_within_half_a_percent_of_dp_accounting():
    steps = (Sampled(0.02, Gaussian("a", 2.0, count=200)),)
    accountant = reference(steps, ReplaceOne, 2e-4)
    for target in (1e-3, 1e-6):
        assert epsilon(steps, "replace_one", target) == pytest.approx(accountant.get_epsilon(target), rel=5e-3)


def test_a_sample_of_all_rows_is_no_sample():
    full = (Sampled(1.0, Gaussian("a", 8.0, count=3)),)
    assert delta(full, "add_remove", 1.0) == delta((Gaussian("a", 8.0, count=3),), "add_remove", 1.0)
    assert delta(full, "replace_one", 1.0) == delta((Gaussian("a", 4.0, count=3),), "replace_one", 1.0)


def test_mixed_machinery_is_an_upper_bound_that_meets_the_closed_form():
    """Push a plan with a closed form through the PLD path."""
    for count in (1, 30, 3000):
        mixed = MixedProfile((Term("gaussian", 4.0 * math.sqrt(count), 1.0, count),), "add_remove")
        for e in (0.0, 0.3, 1.0, 1.4):
            exact = gaussian_delta(e, 0.25)
            assert exact <= mixed.delta(e) <= exact * 1.005


def test_one_laplace_meets_the_closed_form_from_above():
    for e in (0.0, 0.2, 0.5, 0.9):
        exact = -math.expm1((e - 1.0) / 2)
        found = delta((Laplace("a", 1.0),), "replace_one", e)
        assert exact <= found <= exact * (1 + 1e-4) + 1e-9


# -------------------------------------------------------------------------------------------------------- selections


def two_point_pair(epsilon, t):
    """The extreme pair of outcomes with privacy losses in {t, t - epsilon}."""
    p = (math.exp(epsilon) - math.exp(t)) / math.expm1(epsilon)
    first = np.array([p, 1 - p])
    return first, first * np.exp([-t, epsilon - t])


def hockey_stick(first, second, e):
    return np.maximum(first - math.exp(e) * second, 0).sum()


def test_extreme_pairs_are_distributions():
    first, second = two_point_pair(1.3, 0.4)
    assert first.sum() == pytest.approx(1)
    assert second.sum() == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 3), st.floats(0.001, 0.999), st.floats(0, 0.99))
def test_no_bounded_range_choice_beats_its_delta(epsilon, place, share):
    e = share * epsilon
    exact = float(selection_delta(np.array([e]), epsilon)[0])
    assert hockey_stick(*two_point_pair(epsilon, place * epsilon), e) <= exact * (1 + 1e-12)
    worst = two_point_pair(epsilon, (epsilon + e) / 2)
    assert hockey_stick(*worst, e) == pytest.approx(exact, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4), st.floats(0, 0.9))
def test_no_adaptive_pair_of_choices_beats_the_bound(places, share):
    """The second choice may depend on the first: every branch picks its own extreme pair."""
    size = 0.7
    first, second = two_point_pair(size, places[0] * size)
    branches = [two_point_pair(size, place * size) for place in places[1:3]]
    joint_first = np.concatenate([w * branch[0] for w, branch in zip(first, branches)])
    joint_second = np.concatenate([w * branch[1] for w, branch in zip(second, branches)])
    e = share * 2 * size
    bound = delta((Selection("a", 1 / size, count=2),), "replace_one", e)
    assert hockey_stick(joint_first, joint_second, e) <= bound
    assert hockey_stick(joint_second, joint_first, e) <= bound


def test_the_exponential_mechanism_itself_stays_below():
    rng = np.random.default_rng(0)
    steps = (Selection("a", 1 / 1.5),)
    for _ in range(200):
        utility = rng.uniform(-3, 3, size=6)
        first, second = (np.exp(0.75 * (utility + rng.choice([-1, 0, 1], size=6) * k)) for k in (0, 1))
        for e in (0.0, 0.3, 1.0):
            assert hockey_stick(first / first.sum(), second / second.sum(), e) <= delta(steps, "add_remove", e)


def test_selections_are_never_worse_than_either_known_bound():
    for count, size in ((1, 1.0), (10, 0.2), (200, 0.04)):
        found = epsilon((Selection("a", 1 / size, count=count),), "replace_one", 1e-6)
        accountant = dp_accounting.rdp.RdpAccountant()
        accountant.compose(dp_accounting.GaussianDpEvent(2 / size), count)  # size^2 / 8 zCDP
        assert found <= accountant.get_epsilon(1e-6) * (1 + 1e-6)
        assert found < count * size


# ------------------------------------------------------------------------------------------ sampling, replacing one row


def sampled_hockey_stick(x, other, sigma, rate, e):
    t = np.linspace(-9, 9, 20001)
    here, there = ((1 - rate) * norm.pdf(t, 0, sigma) + rate * norm.pdf(t, c, sigma) for c in (x, other))
    return hockey_stick(here, there, e) * (t[1] - t[0])


@settings(max_examples=50, deadline=None)
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.05, 0.9), st.floats(0, 1.5))
def test_no_replaced_row_beats_the_sampled_pair(x, other, rate, e):
    step = Sampled(rate, Gaussian("a", 0.8))
    assert sampled_hockey_stick(x, other, 0.8, rate, e) <= delta((step,), "replace_one", e) + 1e-6


def test_the_sampled_pair_is_met_by_opposite_rows():
    step = Sampled(0.3, Gaussian("a", 0.8))
    assert sampled_hockey_stick(1, -1, 0.8, 0.3, 0.5) == pytest.approx(delta((step,), "replace_one", 0.5), rel=5e-3)


# --------------------------------------------------------------------------------------------------- every kind of plan

steps_of_any_kind = st.lists(
    st.builds(
        lambda kind, noise, count, rate: (
            Sampled(rate, Gaussian("s", noise, count)) if kind is Sampled else kind("s", noise, count)
        ),
        st.sampled_from([Gaussian, Laplace, Selection, Sampled]),
        st.floats(1.0, 50.0),
        st.integers(1, 20),
        st.floats(0.01, 0.5),
    ),
    min_size=1,
    max_size=3,
).map(tuple)
relations = st.sampled_from(["replace_one", "add_remove"])


@settings(max_examples=30, deadline=None)
@given(steps_of_any_kind, relations, st.floats(0, 3), st.floats(0, 3))
def test_delta_falls_with_epsilon(steps, neighbors, one, other):
    low, high = sorted((one, other))
    assert delta(steps, neighbors, high) <= delta(steps, neighbors, low) * (1 + 1e-9)
    assert 0 <= delta(steps, neighbors, low) <= 1


@settings(max_examples=30, deadline=None)
@given(steps_of_any_kind, relations, st.floats(-8, -1))
def test_epsilon_inverts_delta(steps, neighbors, log_delta):
    target = 10**log_delta
    found = epsilon(steps, neighbors, target)
    assert delta(steps, neighbors, found) <= target
    if found > 1e-6:
        assert delta(steps, neighbors, found * (1 - 1e-6)) > target


@settings(max_examples=20, deadline=None)
@given(steps_of_any_kind, relations, st.floats(0, 2))
def test_more_noise_and_fewer_steps_never_cost_more(steps, neighbors, e):
    here = delta(steps, neighbors, e)
    noisier = tuple(step.scaled(1.1) for step in steps)
    assert delta(noisier, neighbors, e) <= here * 1.005 + 1e-12
    assert delta(steps[1:], neighbors, e) <= here * 1.005 + 1e-12


def test_names_sizes_and_order_do_not_matter():
    one = (Gaussian("a", 3.0, count=2, size=5), Laplace("b", 2.0), Gaussian("c", 4.0))
    other = (Gaussian("x", 4.0), Gaussian("y", 3.0), Laplace("z", 2.0, size=9), Gaussian("y", 3.0))
    assert profile(one, "replace_one") is profile(other, "replace_one")


def test_pure_plans_at_delta_zero():
    steps = (Laplace("a", 4.0, count=2), Selection("b", 2.0))
    assert epsilon(steps, "add_remove", 0.0) == 1.0
    assert delta(steps, "add_remove", 1.0) == 0.0
    assert calibration_factor(steps, "add_remove", 0.25, 0.0) == pytest.approx(4.0)


@pytest.mark.parametrize("step", [Gaussian("a", 1.0), Sampled(0.1, Gaussian("a", 1.0))])
def test_gaussian_noise_is_not_pure(step):
    for steps in ((step,), (step, Laplace("b", 1.0))):
        with pytest.raises(
            ValueError, match="Gaussian noise has no finite epsilon at delta=0; ask for a positive delta"
        ):
            epsilon(steps, "add_remove", 0.0)
        with pytest.raises(ValueError, match="Gaussian noise has no finite epsilon at delta=0"):
            calibration_factor(steps, "add_remove", 1.0, 0.0)


def test_deltas_below_what_transforms_resolve_come_from_the_renyi_bound():
    steps = (Gaussian("a", 20.0), Laplace("b", 30.0))
    tiny = epsilon(steps, "add_remove", 1e-40)
    assert epsilon(steps, "add_remove", 1e-10) < tiny < math.inf
    assert delta(steps, "add_remove", tiny) <= 1e-40


def test_a_billionth_sampling_rate_is_not_free():
    """At such rates Renyi divergences round to zero, which must not read as perfect privacy."""
    steps = (Sampled(1e-9, Gaussian("a", 1.0, count=10)),)
    assert Plan(steps, "add_remove").delta(0.0) > 1e-9


def test_no_releases_give_nothing_away():
    assert delta((), "replace_one", 0.0) == 0.0
    assert epsilon((), "replace_one", 0.0) == 0.0
    assert calibration_factor((), "replace_one", 1.0, 1e-6) == 1.0


# ------------------------------------------------------------------------------------------------------- tilted minima


@pytest.mark.parametrize(("neighbors", "rows"), [("add_remove", 1), ("replace_one", 2)])
@pytest.mark.parametrize(("multiplier", "bend"), [(5.0, 0.5), (0.7, 0.1), (40.0, 2.0)])
def test_tilted_minima_have_the_profile_of_their_largest_loss(neighbors, rows, multiplier, bend):
    """The mean of (1 - e^(epsilon - U))_+ by quadrature: T is where the tail 2 rows P(Z > t) has fallen to a level."""
    mu = 1 / multiplier
    levels = (np.arange(2_000_000) + 0.5) / 2_000_000
    largest = bend * mu + mu * mu / 2 + mu * norm.isf(levels / (2 * rows))
    epsilons = mu * np.array([0.0, 0.5, 1.0, 2.0, 3.0])
    by_hand = [np.maximum(-np.expm1(each - largest), 0.0).mean() for each in epsilons]
    np.testing.assert_allclose(tilted_delta(epsilons, mu, bend, rows), by_hand, rtol=2e-3)
    step = TiltedGaussian("tilt", multiplier, bend=bend)
    for each, stated in zip(epsilons, tilted_delta(epsilons, mu, bend, rows)):
        assert stated <= delta((step,), neighbors, float(each)) <= 1.001 * stated + 1e-12


def test_a_tilted_minimum_costs_more_than_gaussian_noise_and_less_than_twice_as_much():
    gaussian, tilted = (kind("a", 5.0) for kind in (Gaussian, TiltedGaussian))
    for neighbors in ("add_remove", "replace_one"):
        least, most = (epsilon(steps, neighbors, 1e-6) for steps in ((gaussian,), (gaussian, gaussian)))
        assert least < epsilon((tilted,), neighbors, 1e-6) < most
        assert epsilon((tilted,), neighbors, 1e-6) < epsilon((tilted, gaussian), neighbors, 1e-6)
    with pytest.raises(ValueError, match="no finite epsilon at delta=0"):
        epsilon((tilted,), "replace_one", 0.0)
