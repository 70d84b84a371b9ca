"""The bundled table is what it says, and its schema fits it without having been made from it."""

import math

import numpy as np
import pytest

from tacit.data import load_randhie
from tacit.sources import has_missing
from tacit.tables import Boolean, Integer, Numeric


def test_it_is_the_table_that_statsmodels_has():
    randhie = pytest.importorskip("statsmodels.datasets.randhie")
    frame = randhie.load_pandas().data
    table, _ = load_randhie()
    assert table.column_names == list(frame.columns)
    for name in table.column_names:
        np.testing.assert_array_equal(np.asarray(table[name].to_pylist(), dtype=float), frame[name].to_numpy(float))


def test_the_schema_describes_it():
    table, schema = load_randhie()
    assert table.num_rows == 20_190
    assert schema.names == tuple(table.column_names)
    assert not has_missing(schema.encode_source(table))
    assert {type(column) for column in schema.columns.values()} == {Numeric, Integer, Boolean}
    assert all(column.description for column in schema.columns.values())


def test_bounds_are_those_of_the_definitions():
    columns = load_randhie()[1].columns
    assert columns["lncoins"].high == math.log(101)
    assert columns["fmde"].high == math.log(1000 / 0.25)
    # Bounds read from rows would be touched by rows; of these, only the ends of the definitions are.
    table, _ = load_randhie()
    touched = {name for name in ("mdvis", "lpi", "disea") if max(table[name].to_pylist()) >= columns[name].high}
    assert not touched


def test_nothing_is_lost_by_encoding_and_decoding():
    table, schema = load_randhie()
    decoded = schema.decode(schema.encode(table))
    for name in table.column_names:
        np.testing.assert_allclose(
            np.asarray(decoded[name].to_pylist(), float), np.asarray(table[name].to_pylist(), float), atol=1e-12
        )
