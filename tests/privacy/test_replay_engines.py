"""Replay where rows live in frames, in files and on clusters: the engine adds no way out."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import tacit
from tacit.audit import replay
from tacit.audit.stand_ins import stand_ins
from tacit.published import SGD
from tacit.tables import Boolean, Categorical, Integer, Numeric, Schema

ROWS = 400
RNG = np.random.default_rng(0)
PEOPLE = pa.table(
    {
        "age": RNG.integers(18, 90, ROWS),
        "income": RNG.normal(40, 10, ROWS),
        "smoker": RNG.random(ROWS) < 0.3,
        "region": np.array(["north", "south", "west"])[RNG.integers(0, 3, ROWS)],
    }
)
SCHEMA = Schema(
    {
        "age": Integer(0, 120),
        "income": Numeric(0.0, 100.0),
        "smoker": Boolean(),
        "region": Categorical(["north", "south", "west"]),
    }
)
MODELS = {
    "mixture": (tacit.GaussianMixture(2, bounds=SCHEMA), None),
    "table": (tacit.TableModel(bounds=SCHEMA), None),
    "line": (tacit.LinearRegression(bounds=SCHEMA), "income"),
    "classes": (tacit.LogisticRegression(bounds=SCHEMA), "region"),
    "sampled": (tacit.LogisticRegression(bounds=SCHEMA, solver=SGD(n_iter=2)), "smoker"),
    "clusters": (tacit.KMeans(2, bounds=SCHEMA), None),
}
every_model = pytest.mark.parametrize("name", MODELS)
both_relations = pytest.mark.parametrize("relation", ["replace_one", "add_remove"])


def check(name, relation, engine):
    """Replay a model on an engine: `engine` moves a table there, by its number."""
    model, target = MODELS[name]
    model = clone(model).set_params(neighbors=relation)
    made = stand_ins(model, PEOPLE, target, relation)
    places = iter(range(100))
    moved = [[engine(table.X, next(places)) for table in tables] for tables in (made.unrelated, made.neighboring)]
    outcome = replay(model, engine(made.first.X, next(places)), target, unrelated=moved[0], neighboring=moved[1])
    assert outcome.passed, str(outcome)
    assert max(release.ratio for release in outcome.releases) > 0.5


@every_model
@both_relations
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames(name, relation, kind):
    frames = {"pandas": pa.Table.to_pandas, "polars": _polars}
    check(name, relation, lambda table, number: frames[kind](table))


@every_model
@both_relations
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files(name, relation, ending, tmp_path):
    def engine(table, number):
        path = tmp_path / str(number) / f"people.{ending}"
        path.parent.mkdir()
        pa.csv.write_csv(table, path) if ending == "csv" else pq.write_table(table, path)
        return path

    check(name, relation, engine)


@every_model
@both_relations
def test_dask(name, relation):
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    with dask.config.set(scheduler="synchronous"):
        check(name, relation, lambda table, number: frames.from_pandas(table.to_pandas(), npartitions=3, sort=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clusters"])
@both_relations
def test_spark(name, relation, spark):
    check(name, relation, lambda table, number: spark.createDataFrame(table.to_pandas()))


def _polars(table):
    return pytest.importorskip("polars").from_arrow(table)
