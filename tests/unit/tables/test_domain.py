"""Bounds: what users may pass, and the coordinates that follow from it."""

import math
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.tables import Boolean, Categorical, Domain, Ignored, Integer, Numeric, Schema

BOX = Domain.from_bounds(([0.0, -5.0, 1e3], [10.0, 5.0, 3e3]), columns=3)
BALL = Domain.from_bounds(2.0, columns=3)
SCHEMA = Schema(
    {
        "name": Ignored(),
        "age": Integer(0, 120),
        "income": Numeric(-50.0, 150.0),
        "region": Categorical(["north", "south", "west"]),
        "smokes": Boolean(),
    }
)
any_float = st.floats(width=64)


# --------------------------------------------------------------------------------------------------------- coordinates


def test_a_box_becomes_the_unit_box():
    corners = np.array([[0.0, -5.0, 1e3], [10.0, 5.0, 3e3], [5.0, 0.0, 2e3]])
    assert BOX.standardise(corners).tolist() == [[-1.0] * 3, [1.0] * 3, [0.0] * 3]
    assert BOX.columns == 3
    assert not BOX.ball


def test_a_ball_becomes_the_ball_around_the_unit_box():
    rows = np.array([[2.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    assert np.linalg.norm(BALL.standardise(rows), axis=1) == pytest.approx([math.sqrt(3), math.sqrt(3) / 2])
    assert BALL.ball


@pytest.mark.parametrize("domain", [BOX, BALL], ids=["box", "ball"])
def test_rows_inside_come_back_as_they_were(domain):
    z = np.random.default_rng(0).uniform(-0.99, 0.99, (100, 3))
    rows = domain.restore(z)
    assert domain.standardise(rows) == pytest.approx(z)
    assert domain.restore(domain.standardise(rows)) == pytest.approx(rows)


def test_rows_outside_a_box_are_moved_column_by_column():
    assert BOX.restore(BOX.standardise(np.array([[-7.0, 3.0, 1e9]]))) == pytest.approx(np.array([[0.0, 3.0, 3e3]]))


def test_rows_outside_a_ball_are_moved_along_the_radius():
    moved = BALL.restore(BALL.standardise(np.array([[0.0, 1.5, 2.0], [1.5, 0.0, 0.0]])))
    assert moved == pytest.approx(np.array([[0.0, 1.2, 1.6], [1.5, 0.0, 0.0]]), abs=1e-12)


@given(arrays(np.float64, (4, 3), elements=any_float))
def test_no_row_of_numbers_is_longer_than_the_root_of_the_columns(rows):
    for domain in (BOX, BALL):
        before = rows.copy()
        z = domain.standardise(rows)
        holds_numbers = ~np.isnan(rows).any(axis=1)
        assert (np.linalg.norm(z[holds_numbers], axis=1) <= math.sqrt(3) * (1 + 1e-12)).all()
        assert np.isnan(z[~holds_numbers]).any(axis=1).all()  # a missing cell stays missing
        assert np.array_equal(rows, before, equal_nan=True)  # the caller's rows are left alone


def test_infinite_cells_are_moved_to_the_bounds():
    assert BOX.standardise(np.array([[np.inf, -np.inf, 2e3]])).tolist() == [[1.0, -1.0, 0.0]]
    assert np.linalg.norm(BALL.standardise(np.array([[np.inf, 0.0, 0.0]]))) == pytest.approx(math.sqrt(3))


@pytest.mark.parametrize("domain", [BOX, BALL, Domain.from_schema(SCHEMA)], ids=["box", "ball", "schema"])
def test_the_jacobian_is_the_volume_of_standard_coordinates(domain):
    origin, unit = domain.restore(np.zeros(domain.columns)), domain.restore(np.eye(domain.columns))
    volume = np.linalg.slogdet(unit - origin)[1]
    assert domain.log_jacobian == pytest.approx(-volume)


def test_domains_can_be_pickled():
    again = pickle.loads(pickle.dumps(BOX))
    rows = np.random.default_rng(0).normal(size=(5, 3))
    assert (again.standardise(rows) == BOX.standardise(rows)).all()


# ------------------------------------------------------------------------------------------------------------- schemas


def test_a_schema_keeps_numbers_in_their_units():
    domain = Domain.from_schema(SCHEMA)
    assert domain.columns == SCHEMA.width == 6
    assert domain.names == ("age", "income", "region=north", "region=south", "region=west", "smokes")
    assert domain.restore(np.zeros(6)).tolist() == [60.0, 50.0, 0.0, 0.0, 0.0, 0.0]
    assert domain.restore(np.ones(6)).tolist() == [120.0, 150.0, 1.0, 1.0, 1.0, 1.0]
    encoded = SCHEMA.encode({"age": [30], "income": [100.0], "region": ["south"], "smokes": [True]})
    assert domain.standardise(domain.restore(encoded)) == pytest.approx(encoded)


def test_tables_come_back_in_the_types_of_the_schema():
    domain = Domain.from_schema(SCHEMA)
    table = {"age": [30, 119], "income": [100.0, -50.0], "region": ["south", "west"], "smokes": [True, False]}
    decoded = domain.table(SCHEMA.encode(table))
    assert isinstance(decoded, pa.Table)
    assert decoded.to_pydict() == table


def test_without_a_schema_tables_are_arrays():
    assert BOX.table(np.zeros((1, 3))).tolist() == [[5.0, 0.0, 2000.0]]


def test_how_narrow_a_column_can_be_is_public():
    least = Domain.from_schema(SCHEMA).least_variances
    whole_number, number, *levels, truth = least
    assert whole_number == pytest.approx(1 / 12 / 60**2)  # The variance of rounding to whole years.
    assert number == 1e-8
    assert levels == pytest.approx([0.01 * 0.99] * 3)
    assert truth == pytest.approx(0.01 * 0.99 * 4)
    assert BOX.least_variances.tolist() == [1e-8] * 3


# -------------------------------------------------------------------------------------------------- what may be passed


@pytest.mark.parametrize(
    "bounds",
    [
        (0, 10),
        [0, 10],
        (0.0, [10.0, 10.0]),
        (np.zeros(2), np.full(2, 10)),
        np.array([[0, 0], [10, 10]]),
        ([0], np.float32(10)),
    ],
    ids=repr,
)
def test_pairs_of_numbers_or_arrays(bounds):
    domain = Domain.from_bounds(bounds, columns=2)
    assert domain.standardise(np.array([[0.0, 10.0]])).tolist() == [[-1.0, 1.0]]


@pytest.mark.parametrize("radius", [2, 2.0, np.float32(2.0), np.int64(2)])
def test_radii(radius):
    assert Domain.from_bounds(radius, columns=4).scale.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (None, "bounds is missing.*never read from the data"),
        (0.0, "positive and finite"),
        (-1.0, "positive and finite"),
        (math.inf, "positive and finite"),
        (math.nan, "positive and finite"),
        (True, "a pair"),
        ("wide", "a pair"),
        ((0, 1, 2), "a pair"),
        ({0: 1}, "a pair"),
        ((0, "ten"), "The high end of bounds must be a number"),
        ((None, 1), "The low end of bounds must be"),
        (([0, 0, 0], 1), "The low end of bounds must be a number or one number for each of the 2 column"),
        ((0, [[1, 1]]), "The high end of bounds must be a number or one number for each"),
        ((0, math.inf), "The high end of bounds must be finite"),
        ((math.nan, 1), "The low end of bounds must be finite"),
        ((1, 0), "reversed or empty: low is not below high in column 1"),
        ((0, [1, 0]), "not below high in column 2"),
        ((5, 5), "reversed or empty"),
    ],
    ids=repr,
)
def test_anything_else_is_refused_with_a_sentence(bounds, words):
    with pytest.raises(ValueError, match=words):
        Domain.from_bounds(bounds, columns=2)


# ------------------------------------------------------------------------------------------------------------ in words


def test_bounds_in_words():
    assert str(BALL) == "a ball of radius 2 around the origin"
    assert str(BOX) == "a box: column 1 from 0 to 10, column 2 from -5 to 5, column 3 from 1000 to 3000"
    named = Domain.from_bounds((0, 1), 2, names=("age", "income"))
    assert str(named) == "a box: age from 0 to 1, income from 0 to 1"
    assert str(Domain.from_bounds((0, 1), 100)).endswith("more")
    schema = str(Domain.from_schema(SCHEMA))
    assert "age from 0 to 120" in schema
    assert "region with 3 levels" in schema
    assert "name" not in schema


# ---------------------------------------------------------------------------------------------------------- not yet so


def test_a_radius_may_be_an_array_without_dimensions():
    assert Domain.from_bounds(np.array(2.0), columns=4).scale.tolist() == [1.0] * 4


@pytest.mark.parametrize("bounds", [1e200, 1e-200, (-1e308, 1e308), (0.0, 5e-324), (0.0, 1e-170)], ids=repr)
def test_bounds_whose_squares_are_no_numbers_are_refused(bounds):
    with pytest.raises(ValueError, match="bounds"):
        Domain.from_bounds(bounds, columns=2)


def test_what_is_restored_lies_within_the_bounds():
    domain = Domain.from_bounds((0.1, 0.7), columns=1)
    rows = domain.restore(np.array([[-1.0], [1.0]]))
    assert (rows >= 0.1).all()
    assert (rows <= 0.7).all()


def test_rows_far_outside_a_ball_are_moved_along_the_radius():
    moved = BALL.restore(BALL.standardise(np.array([[0.0, 3.0, 4.0], [3e200, 0.0, 4e200]])))
    assert moved == pytest.approx(np.array([[0.0, 1.2, 1.6], [1.2, 0.0, 1.6]]), abs=1e-12)
