"""Encoding: always bounded, and decoded back to what it was."""

import copy
import math
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from tacit.sources import has_missing
from tacit.tables import Boolean, Categorical, Ignored, Integer, Numeric, Schema

PEOPLE = Schema(
    {
        "file": Ignored(),
        "age": Integer(0, 120),
        "weight": Numeric(0, 200),
        "smoker": Categorical(["never", "former", "current"]),
        "region": Categorical([3, 1, 2]),
        "insured": Boolean(),
    }
)
ROWS = {
    "age": [30, 120],
    "weight": [50.0, 150.0],
    "smoker": ["never", "current"],
    "region": [1, 3],
    "insured": [True, False],
}
ENCODED = [
    [-0.5, -0.5, 1, 0, 0, 0, 1, 0, 1],
    [1.0, 0.5, 0, 0, 1, 1, 0, 0, -1],
]


def test_shape_of_the_encoding():
    assert PEOPLE.names == ("file", "age", "weight", "smoker", "region", "insured")
    assert PEOPLE.used == PEOPLE.names[1:]
    assert PEOPLE.width == 9
    assert PEOPLE.feature_names == (
        *("age", "weight", "smoker=never", "smoker=former", "smoker=current"),
        *("region=3", "region=1", "region=2", "insured"),
    )
    assert PEOPLE.slices["smoker"] == slice(2, 5)
    assert list(PEOPLE.slices) == list(PEOPLE.used)
    assert PEOPLE.radius == math.sqrt(5)
    assert math.isclose(PEOPLE.log_jacobian, -math.log(60) - math.log(100))


@pytest.mark.parametrize("frame", [dict, pa.table, pd.DataFrame, pl.DataFrame])
def test_tables_of_every_kind(frame):
    shuffled = frame({name: ROWS[name] for name in ("insured", "smoker", "age", "region", "weight")})
    encoded = PEOPLE.encode(shuffled)
    np.testing.assert_array_equal(encoded, ENCODED)
    decoded = PEOPLE.decode(encoded)
    assert decoded.to_pydict() == ROWS
    assert [str(type_) for type_ in decoded.schema.types] == ["int64", "double", "string", "int64", "bool"]


def test_text_is_read_as_what_the_schema_says():
    text = {
        "age": [" 30", "120.0"],
        "weight": ["5e1", "150"],
        "smoker": [" never", "current"],
        "region": ["1.0", "3"],
        "insured": ["Yes", "f"],
        "file": ["x", "y"],
    }
    np.testing.assert_array_equal(PEOPLE.encode(text), ENCODED)


def test_categories_in_other_types():
    codes = Schema({"code": Categorical([1, 2])})
    expected = [[1, 0], [0, 1]]
    for cells in ([1, 2], [1.0, 2.0], ["1", "2"], pd.Categorical([1, 2]), pl.Series(["1", "2"], dtype=pl.Categorical)):
        np.testing.assert_array_equal(codes.encode({"code": cells}), expected)
    np.testing.assert_array_equal(
        Schema({"code": Categorical(["true", "false"])}).encode({"code": [True, False]}), expected
    )


def test_a_level_may_look_like_a_missing_value():
    countries = Schema({"country": Categorical(["NA", "ZA"])})
    np.testing.assert_array_equal(countries.encode({"country": ["NA", "N/A"]}), [[1, 0], [np.nan, np.nan]])
    zips = Schema({"zip": Categorical(["01", "1"])})
    np.testing.assert_array_equal(zips.encode({"zip": ["1", "01"]}), [[0, 1], [1, 0]])


@pytest.mark.parametrize("word", ["true", "TRUE", "True", "t", "Y", "yes", "1", 1, 1.0, True])
def test_ways_to_say_true(word):
    assert Schema({"answer": Boolean()}).encode({"answer": [word]}) == [[1]]


def test_arrays_are_taken_in_the_order_of_the_schema():
    schema = Schema({"age": Numeric(0, 100), "region": Categorical([1, 2])})
    np.testing.assert_array_equal(
        schema.encode(np.array([[75, 2.0], [500, np.nan]])), [[0.5, 0, 1], [1, np.nan, np.nan]]
    )
    with pytest.raises(ValueError, match=r"array of 2 columns \('age', 'region'\), got an array .* of another shape"):
        schema.encode(np.zeros((1, 3)))


def test_missing_cells_are_nan_in_all_their_columns():
    missing = {
        "age": [None, 1],
        "weight": [np.inf, np.nan],
        "smoker": [None, "never"],
        "region": [np.nan, 1.0],
        "insured": ["", "NA"],
    }
    expected = np.isnan(PEOPLE.encode(missing))
    np.testing.assert_array_equal(expected, [[True] * 9, [False, True, *[False] * 6, True]])
    decoded = PEOPLE.decode(PEOPLE.encode(missing)).to_pydict()
    assert decoded["smoker"] == [None, "never"]
    assert decoded["age"] == [None, 1]
    assert decoded["insured"] == [None, None]


def test_no_rows():
    empty = pa.table(ROWS).slice(0, 0)
    assert PEOPLE.encode(empty).shape == (0, 9)
    assert PEOPLE.decode(np.empty((0, 9))).num_rows == 0


def test_decoding_samples_from_a_model():
    samples = np.array([[-7, 7, 0.2, 0.9, 0.3, -1, -2, -3, 0.01], [1e308, -np.inf, 0, 0, 0, 0, 0, 0, 0]])
    assert PEOPLE.decode(samples).to_pydict() == {
        "age": [0, 120],
        "weight": [200.0, 0.0],
        "smoker": ["former", "never"],
        "region": [3, 3],
        "insured": [True, False],
    }
    with pytest.raises(ValueError, match="matrix of 9 columns"):
        PEOPLE.decode(samples[:, :8])


# -- refusals


def refused(function, words, kind=ValueError):
    with pytest.raises(kind) as caught:
        function()
    assert re.search(words, str(caught.value)), caught.value
    assert "s3cret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_unknown_categories():
    rows = ROWS | {"smoker": ["never", "s3cret"]}
    refused(lambda: PEOPLE.encode(rows), "Column 'smoker' holds values that are not among its categories")
    np.testing.assert_array_equal(np.isnan(PEOPLE.encode(rows, unknown="missing"))[1, 2:5], True)
    refused(lambda: PEOPLE.encode(ROWS | {"insured": ["yes", "s3cret"]}), "Column 'insured' holds values")
    refused(lambda: PEOPLE.encode(ROWS, unknown="ignore"), "unknown must be 'error' or 'missing'")


def test_a_category_listed_by_the_frame_but_absent_from_the_rows_is_no_matter():
    cells = pd.Categorical(["never", "current"], categories=["never", "current", "pipe"])
    np.testing.assert_array_equal(PEOPLE.encode(ROWS | {"smoker": cells}), ENCODED)


def test_cells_that_cannot_be_read():
    refused(lambda: PEOPLE.encode(ROWS | {"age": ["30", "s3cret"]}), "Column 'age' holds text that cannot be read")
    dates = pd.to_datetime(["2020-01-01", "2021-01-01"])
    refused(lambda: PEOPLE.encode(ROWS | {"age": dates}), "Column 'age' holds timestamp")
    refused(lambda: PEOPLE.encode(ROWS | {"smoker": dates}), "Column 'smoker' holds timestamp")


def test_names_that_do_not_match():
    renamed = {("Smoker" if name == "smoker" else name): cells for name, cells in ROWS.items()}
    refused(lambda: PEOPLE.encode(renamed), "table lacks: 'smoker'.*Did you mean 'Smoker' for 'smoker'")
    refused(lambda: PEOPLE.encode(ROWS | {"height": [1, 2]}), "does not mention: 'height'.*'ignored'")


# -- in a stream


def test_a_source_is_encoded_block_by_block(tmp_path):
    path = tmp_path / "people.csv"
    lines = "1,30,50,never,1,true\n2,120,150,current,3,false\n" * 10_000
    path.write_text("file,age,weight,smoker,region,insured\n" + lines)
    encoded = PEOPLE.encode_source(path)
    assert encoded.columns == PEOPLE.feature_names
    assert encoded.n_rows == 20_000
    assert not has_missing(encoded)
    total = encoded.sum(lambda block: np.rint(2 * block.sum(axis=0)).astype(np.int64))
    np.testing.assert_array_equal(total, 2 * 10_000 * np.sum(ENCODED, axis=0))


def test_sources_that_do_not_fit():
    refused(lambda: PEOPLE.encode_source(ROWS | {"height": [1, 2]}), "does not mention: 'height'")
    unknown = PEOPLE.encode_source(ROWS | {"smoker": ["never", "s3cret"]}, unknown="missing")
    assert has_missing(unknown)
    ages = Schema({"age": Numeric(0, 100), "weight": Numeric(0, 200)})
    np.testing.assert_array_equal(next(ages.encode_source([[50, 100], [75, 300]]).blocks()), [[0, 0], [0.5, 1]])


# -- as a value


def test_schemas_are_values():
    twin = pickle.loads(pickle.dumps(PEOPLE))
    assert twin == PEOPLE
    assert hash(twin) == hash(PEOPLE)
    assert copy.deepcopy(PEOPLE) == PEOPLE
    assert eval(repr(PEOPLE)) == PEOPLE
    reversed_order = Schema(dict(reversed(PEOPLE.columns.items())))
    assert reversed_order != PEOPLE  # the columns of the matrix come in another order
    PEOPLE.columns["more"] = Boolean()
    assert "more" not in PEOPLE.names


def test_schemas_are_parameters_of_estimators():
    class Bounded(BaseEstimator):
        def __init__(self, bounds=None):
            self.bounds = bounds

    estimator = clone(Bounded(PEOPLE))
    assert estimator.bounds == PEOPLE
    assert "Integer" in repr(estimator)


# -- properties


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(str.strip)
WHOLE = st.integers(-(2**48), 2**48)
DESCRIPTIONS = st.one_of(st.just(""), st.text(st.characters(exclude_categories=["Cs"]), max_size=10))


def numeric(pair, description):
    low, high = sorted(pair)
    try:
        return Numeric(low, high, description=description)
    except ValueError:  # equal, or too close
        return Numeric(-1, 1, description=description)


COLUMNS = st.one_of(
    st.builds(numeric, st.tuples(NUMBERS, NUMBERS), DESCRIPTIONS),
    st.lists(WHOLE, min_size=2, max_size=2, unique=True).map(sorted).map(lambda pair: Integer(*pair)),
    st.lists(TEXTS, min_size=2, max_size=5, unique=True).map(Categorical),
    st.lists(WHOLE, min_size=2, max_size=5, unique=True).map(Categorical),
    st.builds(Boolean, description=DESCRIPTIONS),
    st.just(Ignored()),
)
SCHEMAS = (
    st.dictionaries(NAMES, COLUMNS, min_size=1, max_size=4)
    .filter(lambda columns: any(not isinstance(column, Ignored) for column in columns.values()))
    .map(Schema)
)


def cells(column):
    if isinstance(column, Integer):
        return st.integers(column.low, column.high)
    if isinstance(column, Numeric):
        return st.floats(column.low, column.high)
    return st.sampled_from(column.levels) if isinstance(column, Categorical) else st.booleans()


@given(SCHEMAS, st.data())
def test_decoding_undoes_encoding(schema, data):
    size = data.draw(st.integers(1, 4))
    rows = {
        name: data.draw(st.lists(st.one_of(st.none(), cells(schema.columns[name])), min_size=size, max_size=size))
        for name in schema.used
    }
    decoded = schema.decode(schema.encode(rows)).to_pydict()
    for name, column in schema.columns.items():
        if type(column) is Numeric:
            tolerance = max(2.0**-50 * max(abs(column.low), abs(column.high)), 1e-322)
            for before, after in zip(rows[name], decoded[name]):
                assert (before is None and after is None) or abs(before - after) <= tolerance
        elif not isinstance(column, Ignored):
            assert decoded[name] == rows[name]


ANYTHING = st.one_of(st.floats(), st.sampled_from([1e308, -1e308, 5e-324, -0.0, np.inf, -np.inf, np.nan]))


@given(SCHEMAS, st.data())
def test_every_row_is_bounded(schema, data):
    rows = {name: data.draw(st.lists(ANYTHING, min_size=3, max_size=3)) for name in schema.used}
    encoded = schema.encode(rows, unknown="missing")
    assert encoded.shape == (3, schema.width)
    present = np.nan_to_num(encoded, nan=0.0)
    assert np.abs(present).max() <= 1
    assert np.linalg.norm(present, axis=1).max() <= schema.radius
