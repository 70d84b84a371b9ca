"""Wherever rows live, and with a schema: the same fit, answers by the names of columns, synthetic tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.sources import as_source
from tacit.tables import Boolean, Categorical, Ignored, Integer, Numeric

ARRAYS = ("weights_", "means_", "covariances_", "precisions_cholesky_")
SCHEMA = tacit.Schema(
    {
        "id": Ignored(),
        "age": Integer(0, 120),
        "income": Numeric(0.0, 300.0),
        "region": Categorical(["north", "south", "west"]),
        "smokes": Boolean(),
    }
)


def model(n_components=2, **options):
    options = {"epsilon": 2.0, "delta": 1e-5, "bounds": (-1.0, 1.0), "random_state": 0, **options}
    return tacit.GaussianMixture(n_components, **options)


def people(count=2000, seed=0):
    rng = np.random.default_rng(seed)
    old = rng.random(count) < 0.4
    return {
        "smokes": rng.random(count) < np.where(old, 0.7, 0.1),
        "region": np.where(old, "north", np.where(rng.random(count) < 0.5, "south", "west")),
        "id": [f"person {i}" for i in range(count)],
        "income": rng.normal(np.where(old, 60.0, 150.0), 20.0),
        "age": np.clip(rng.normal(np.where(old, 70, 30), 8).round(), 0, 120).astype(int),
    }


def same(first, second):
    return all((getattr(first, name) == getattr(second, name)).all() for name in ARRAYS)


def test_every_kind_of_table_gives_the_same_fit(rows, bounds, tmp_path):
    frame = pd.DataFrame(rows, columns=["weight", "score"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet")
    named = [
        frame,
        frame.set_index(np.arange(len(frame))[::-1]),
        {"weight": rows[:, 0], "score": rows[:, 1]},
        str(tmp_path / "rows.csv"),
        tmp_path / "rows.parquet",
        as_source(frame),
    ]
    # Whether scikit-learn knows the names of the first two depends on its version and theirs.
    others = [pl.from_pandas(frame), pa.Table.from_pandas(frame), as_source(rows), rows.tolist(), rows.copy("F")]
    expected = model(bounds=bounds).fit(rows)
    for table in named + others:
        fitted = model(bounds=bounds).fit(table)
        assert same(fitted, expected), type(table)
        assert fitted.n_features_in_ == 2
        assert fitted.score(table) == pytest.approx(expected.score(rows)), type(table)
    for table in named:
        assert model(bounds=bounds).fit(table).feature_names_in_.tolist() == ["weight", "score"]


def test_files_are_scored_by_the_names_of_their_columns(rows, bounds, tmp_path):
    frame = pd.DataFrame(rows, columns=["weight", "score"])
    fitted = model(bounds=bounds).fit(frame)
    frame[["score", "weight"]].to_csv(tmp_path / "turned.csv", index=False)
    frame[["weight"]].to_csv(tmp_path / "narrow.csv", index=False)
    assert fitted.score(tmp_path / "turned.csv") == pytest.approx(fitted.score(frame))
    with pytest.raises(ValueError, match="There is no column 'score'"):
        fitted.score(tmp_path / "narrow.csv")
    unnamed = model(bounds=bounds).fit(rows)
    with pytest.raises(ValueError, match=r"X has 1 column\(s\), and the model was fitted to 2"):
        unnamed.score(tmp_path / "narrow.csv")


def test_tables_with_a_schema(tmp_path):
    table = people()
    fitted = model(bounds=SCHEMA).fit(table)
    frame = pd.DataFrame(table)
    frame.to_csv(tmp_path / "people.csv", index=False)
    assert same(fitted, model(bounds=SCHEMA).fit(frame))
    assert same(fitted, model(bounds=SCHEMA).fit(pl.DataFrame(table)))
    assert same(fitted, model(bounds=SCHEMA).fit(tmp_path / "people.csv"))
    assert fitted.means_.shape == (2, 2)
    ages = fitted.means_[:, 0]
    assert np.sort(ages) == pytest.approx([30.0, 70.0], abs=10.0)  # in years, not in encoded units
    assert fitted.score(frame) == pytest.approx(fitted.score(table))
    assert "age" in fitted.privacy_.bounds


def test_synthetic_tables_keep_to_the_schema():
    table = people()
    drawn, labels = model(bounds=SCHEMA).fit(table).sample(5000, random_state=0)
    assert isinstance(drawn, pa.Table)
    assert drawn.column_names == ["age", "income", "region", "smokes"]
    assert labels.shape == (5000,)
    assert [str(kind) for kind in drawn.schema.types] == ["int64", "double", "string", "bool"]
    columns = drawn.to_pydict()
    assert set(columns["region"]) == {"north", "south", "west"}
    assert set(columns["smokes"]) == {True, False}
    assert min(columns["age"]) >= 0
    assert max(columns["age"]) <= 120
    assert 0.0 <= min(columns["income"]) <= max(columns["income"]) <= 300.0
    assert None not in columns["income"]
    assert np.mean(columns["smokes"]) == pytest.approx(np.mean(table["smokes"]), abs=0.1)
    older = np.array(columns["age"]) > 50
    assert np.mean(np.array(columns["region"])[older] == "north") > 0.6  # columns go together as in the table


def test_a_schema_of_numbers_alone_is_a_box():
    rows = np.random.default_rng(0).normal([30.0, 5.0], [5.0, 1.0], (2000, 2))
    schema = tacit.Schema({"a": Numeric(0.0, 100.0), "b": Numeric(-10.0, 10.0)})
    box = model(bounds=([0.0, -10.0], [100.0, 10.0])).fit(rows)
    fitted = model(bounds=schema).fit(rows)
    assert fitted.means_ == pytest.approx(box.means_)
    assert fitted.score(rows) == pytest.approx(box.score(rows))
