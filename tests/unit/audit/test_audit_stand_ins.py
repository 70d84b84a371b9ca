"""Tables that stand in for another: the same public shape, other rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.audit.stand_ins import stand_ins
from tacit.sources import as_table
from tacit.tables import Categorical, Integer, Schema

X = np.random.default_rng(0).normal(size=(60, 3))
FRAME = pa.table({"age": np.arange(60), "sex": ["f", "m"] * 30, "weight": X[:, 0]})
SCHEMA = Schema({"age": Integer(0, 100), "sex": Categorical(["f", "m"])})


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_neighbours_differ_in_the_last_row_alone(relation):
    tables = stand_ins(tacit.Moments(), X, None, relation)
    np.testing.assert_array_equal(tables.first.X, X)
    for table in tables.neighboring:
        np.testing.assert_array_equal(table.X[:59], X[:59])
    assert [len(table.X) for table in tables.neighboring] == [59] * (relation == "add_remove") + [60] * 4
    largest = max(np.abs(table.X).max() for table in tables.neighboring)
    assert largest > 1e5 * np.abs(X).max()


def test_unrelated_tables_are_unlike_each_other_and_have_another_size_where_it_is_secret():
    for relation, sizes in (("replace_one", [60, 60]), ("add_remove", [51, 61])):
        low, high = stand_ins(tacit.Moments(), X, None, relation).unrelated
        assert [len(low.X), len(high.X)] == sizes
        assert (low.X.max(axis=0) <= np.median(X, axis=0)).all()
        assert (high.X.min(axis=0) >= np.median(X, axis=0)).all()


def test_labels_stay_labels_and_targets_may_be_far():
    labels = (X[:, 0] > 0).astype(int)
    classes = stand_ins(tacit.LogisticRegression(classes=[0, 1]), X, labels, "replace_one")
    assert {label for table in classes.neighboring for label in table.y} == {0, 1}
    line = stand_ins(tacit.LinearRegression(), X, X[:, 0], "replace_one")
    assert max(np.abs(table.y).max() for table in line.neighboring) > 1e5


@pytest.mark.parametrize("missing", ["error", "ignore", "model"])
def test_gaps_only_where_they_are_allowed(missing):
    tables = stand_ins(tacit.GaussianMixture(missing=missing), X, None, "replace_one")
    last = np.array([table.X[-1] for table in tables.neighboring])
    assert np.isnan(last).any() == (missing != "error")
    assert np.isinf(last).any() == (missing == "ignore")


@pytest.mark.parametrize("kind", [lambda table: table, pa.Table.to_pandas, pl.from_arrow])
def test_frames_keep_their_kind_types_and_levels(kind):
    frame = kind(FRAME)
    tables = stand_ins(tacit.KMeans(bounds=SCHEMA), frame, None, "replace_one")
    for table in (*tables.unrelated, *tables.neighboring):
        assert type(table.X) is type(frame)
        assert as_table(table.X).schema.types == as_table(frame).schema.types
        assert set(as_table(table.X)["sex"].to_pylist()) <= {"f", "m"}


def test_small_types_do_not_overflow():
    frame = pd.DataFrame({"a": np.arange(5, dtype=np.int8), "b": np.arange(5, dtype=np.float16)})
    last = [table.X.iloc[-1] for table in stand_ins(tacit.Moments(), frame, None, "replace_one").neighboring]
    assert np.isfinite(np.array(last, dtype=float)).all()
    assert {-128, 127} <= {int(row["a"]) for row in last}


def test_what_is_not_in_memory_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="unrelated and neighboring"):
        stand_ins(tacit.Moments(), "rows.csv", None, "replace_one")
