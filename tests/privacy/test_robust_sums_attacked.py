"""Sums bounded by influence functions: whatever values rows have, no row moves them further than stated."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit import attack_sensitivity
from tacit.published.statistics import Shorten, Smoothed
from tacit.published.statistics.em_gradients import (
    MissingCovariateGradient,
    SymmetricMixtureGradient,
    SymmetricRegressionGradient,
)
from tacit.statistics import Clip, RobustSum, RowCount

INFLUENCES = [Clip(), Shorten(), *(Smoothed(beta) for beta in (0.5, 1.0, 2.146, 4.605, 9.21, 30.0))]
RELATIONS, NORMS = ("replace_one", "add_remove"), ("l1", "l2")
UGLY = [0.0, -0.0, 5e-324, 1e-308, 1e-160, 1e-16, 1.0, 1e6, 1e16, 1e150, 1e160, 1.7e308, np.inf, np.nan]
cells = st.one_of(
    st.sampled_from([sign * value for value in UGLY for sign in (1, -1)]),
    st.floats(-3, 3),
    st.floats(allow_nan=True, allow_infinity=True),
)
sizes = st.one_of(st.floats(-3, 3), st.floats(-300, 300)).map(lambda power: 10.0**power)
every_influence = pytest.mark.parametrize("influence", INFLUENCES, ids=str)


@dataclass(frozen=True)
class Gradient:
    """Of the squared error of a linear prediction: values that overflow, cancel to NaN, and grow like squares."""

    weights: tuple[float, float]

    @property
    def size(self):
        return 2

    def __call__(self, block):
        off = block[:, 0] * self.weights[0] + block[:, 1] * self.weights[1] - 1.0
        return block * off[:, None]


def moved(statistic, rows, others, norm):
    change = statistic.block_sum(rows) - statistic.block_sum(others)
    assert np.isfinite(change).all()
    return float(np.linalg.norm(change, 1 if norm == "l1" else 2))


@st.composite
def neighbours(draw):
    row = st.lists(cells, min_size=2, max_size=2)
    shared = np.array(draw(st.lists(row, max_size=6)), dtype=np.float64).reshape(-1, 2)
    place = draw(st.integers(0, len(shared)))
    data = np.insert(shared, place, draw(row), axis=0)
    neighbors = draw(st.sampled_from(RELATIONS))
    other = shared if neighbors == "add_remove" else np.insert(shared, place, draw(row), axis=0)
    order = draw(st.sampled_from("CF"))
    return neighbors, np.asarray(data, order=order), np.asarray(other, order=order)


@every_influence
@given(pair=neighbours(), data=st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_no_row_moves_the_sums_further_than_stated(influence, pair, data):
    statistic = RobustSum(
        centre=np.array([data.draw(st.floats(-10, 10)) * data.draw(sizes) for _ in range(2)]),
        scale=np.array([data.draw(sizes) for _ in range(2)]),
        influence=influence,
        values=data.draw(st.sampled_from([None, Gradient((1.0, -2.0)), Gradient((1e200, 1e200))])),
        count=data.draw(st.sampled_from([0.0, 0.1, 1.0, 5.0])),
    )
    neighbors, rows, others = pair
    for norm in NORMS:
        rounding = 2 * len(rows) ** 2 * 2.0**-53 * statistic.sensitivity("add_remove", norm)
        assert moved(statistic, rows, others, norm) <= statistic.sensitivity(neighbors, norm) + rounding


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("norm", NORMS)
@every_influence
def test_search_reaches_the_bound_and_goes_no_further(influence, neighbors, norm):
    statistic = RobustSum(np.zeros(2), np.ones(2), influence, count=0.5)
    attack = attack_sensitivity(statistic, 2, neighbors=neighbors, norm=norm, trials=200, random_state=0)
    assert not attack.exceeds, attack
    assert attack.ratio > 0.99, attack


@pytest.mark.parametrize("neighbors", RELATIONS)
@every_influence
def test_search_through_values_finds_no_counterexample(influence, neighbors):
    statistic = RobustSum(np.zeros(2), np.ones(2), influence, Gradient((3.0, -1.0)))
    attack = attack_sensitivity(statistic, 2, neighbors=neighbors, trials=150, random_state=0)
    assert not attack.exceeds, attack


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("norm", NORMS)
@every_influence
def test_long_search_finds_no_counterexample(influence, neighbors, norm):
    for statistic in (
        RobustSum(np.array([1e5, -3.0]), np.array([1e-3, 40.0]), influence, count=2.0),
        RobustSum(np.zeros(2), np.ones(2), influence, Gradient((1e150, -1e150)), count=0.1),
    ):
        attack = attack_sensitivity(statistic, 2, neighbors=neighbors, norm=norm, trials=3000, random_state=1)
        assert not attack.exceeds, attack


def test_search_finds_the_closed_form_used_where_it_cancels():
    """What the mandatory clip is for: a formula that is exact on paper, and off by millions in floating point."""
    from tacit.published.statistics.influence import _closed_form, smoothed_bound

    class AsPrinted(Smoothed):
        def unit_influence(self, u):
            size = np.maximum(np.abs(np.nan_to_num(u)), 1e-6)
            return np.copysign(_closed_form(size, size / np.sqrt(self.beta)) / smoothed_bound(self.beta), u)

    statistic = RobustSum(np.zeros(1), np.ones(1), AsPrinted(1.0))
    attack = attack_sensitivity(statistic, 1, trials=400, random_state=0)
    assert attack.exceeds


@every_influence
def test_a_row_counts_for_the_same_wherever_it_stands(influence):
    """To the last bit: under add_remove every row behind the one that goes stands elsewhere afterwards."""
    rng = np.random.default_rng(0)
    for columns in (1, 2, 3, 7, 20):
        row = rng.normal(size=columns) * 10.0 ** rng.uniform(-3, 3, columns)
        seen = set()
        for rows in (1, 2, 3, 5, 8, 17, 64, 65, 1000):
            for order in "CF":
                shares = influence.unit_influence(np.asarray(np.tile(row, (rows, 1)), order=order))
                seen |= {shares[place].tobytes() for place in {0, 1, rows // 2, rows - 1} & set(range(rows))}
        assert len(seen) == 1


def test_rows_that_are_no_numbers_are_left_out_whole():
    statistic = RobustSum(np.zeros(2), np.ones(2), count=1.0)
    rows = np.array([[0.5, 0.25], [np.nan, 1.0], [1.0, np.nan], [np.inf, -np.inf]])
    count, sums = statistic.parts(statistic.block_sum(rows))
    assert count == 2.0
    assert sums.tolist() == [1.5, -0.75]
    assert RowCount().block_sum(rows).tolist() == [2.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"scale": [0.0]},
        {"scale": [np.inf]},
        {"centre": [np.nan]},
        {"centre": [0.0, 1.0]},
        {"count": -1.0},
        {"count": np.nan},
        {"values": Gradient((1.0, 1.0))},
    ],
    ids=str,
)
def test_parameters_without_a_bound_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        RobustSum(**{"centre": [0.0], "scale": [1.0], **wrong})


@given(data=st.data(), truncation=st.one_of(st.none(), sizes))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_row_moves_gradients_of_em_further_than_stated(data, truncation):
    """Whatever the coefficients, the scale and the truncation are; rows have two inputs and a target."""
    kind = data.draw(st.sampled_from([SymmetricMixtureGradient, SymmetricRegressionGradient, MissingCovariateGradient]))
    numbers = st.one_of(st.floats(-3, 3), st.floats(-1e100, 1e100))
    columns = 3 if kind is SymmetricMixtureGradient else 2
    beta = np.array([data.draw(numbers) for _ in range(columns)])
    cut = None if truncation is None else float(np.clip(truncation, 1e-100, 1e100))
    gradient = kind(beta, data.draw(sizes), cut, data.draw(st.booleans()))
    box = gradient.box if cut is not None else (np.zeros(columns), np.ones(columns))
    row = st.lists(cells, min_size=3, max_size=3)
    shared = np.array(data.draw(st.lists(row, max_size=6)), dtype=np.float64).reshape(-1, 3)
    rows = np.insert(shared, 0, data.draw(row), axis=0)
    others = np.insert(shared, 0, data.draw(row), axis=0)
    for influence in (Clip(), Shorten(), Smoothed(2.146)):
        statistic = RobustSum(*box, influence, gradient)
        for neighbors, other in (("replace_one", others), ("add_remove", shared)):
            rounding = 2 * len(rows) ** 2 * 2.0**-53 * statistic.sensitivity("add_remove")
            assert moved(statistic, rows, other, "l2") <= statistic.sensitivity(neighbors) + rounding
    assert moved(RowCount(gradient), rows, shared, "l2") <= 1.0


@pytest.mark.parametrize(
    ("gradient", "least"),
    [
        (SymmetricMixtureGradient(np.array([0.8, -0.6]), 0.3, 0.7), 0.99),
        (SymmetricRegressionGradient(np.array([1.2]), 0.3, 0.7), 0.55),  # With one input. Several can do more together.
        (MissingCovariateGradient(np.array([1.2]), 0.3, 0.7), 0.8),
        (MissingCovariateGradient(np.array([-9.0]), 300.0, 0.7), 0.9),  # where it matters whether a cell is missing
    ],
    ids=str,
)
def test_search_comes_near_the_bound_of_truncated_gradients(gradient, least):
    """The box is not much larger than need be."""
    statistic = RobustSum(*gradient.box, Clip(), gradient)
    attack = attack_sensitivity(statistic, 2, neighbors="replace_one", trials=800, random_state=0)
    assert not attack.exceeds, attack
    assert attack.ratio > least, attack
