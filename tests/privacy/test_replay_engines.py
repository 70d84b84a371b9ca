"""Replay where rows live in frames, in files and on clusters: the engine adds no way out.

Every model of the registry is fitted as usual, within a schema if it takes one.
"""

from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import tacit
from tacit.audit import replay
from tacit.audit.stand_ins import stand_ins
from tacit.models import CARDS
from tacit.published import SGD
from usual_fits import PEOPLE, REFUSED, SCHEMA, usual_fit


class Case(NamedTuple):
    """What is fitted to what; the target is a column of the table."""

    model: Any
    table: pa.Table
    target: str | None = None


def usual_case(name):
    """Return the usual fit of a model to a table with names; in a box, if the model takes no schema."""
    card = CARDS[name]
    if (name, "schema") not in REFUSED:
        table, settings = usual_fit(card, "schema")
        return Case(card.estimator(**settings), *table)
    (rows,), settings = usual_fit(card, "box")
    return Case(card.estimator(**settings), pa.table({f"number {j + 1}": column for j, column in enumerate(rows.T)}))


CASES = {name: usual_case(name) for name in CARDS}
CASES["three classes"] = Case(tacit.LogisticRegression(bounds=SCHEMA), PEOPLE, "region")
CASES["sampled rows"] = Case(tacit.LogisticRegression(bounds=SCHEMA, solver=SGD(n_iter=2)), PEOPLE, "smoker")
SOME = ("GaussianMixture", "KMeans", "TableModel", "LinearRegression", "three classes", "sampled rows")
every_case = pytest.mark.parametrize("name", CASES)
some_cases = pytest.mark.parametrize("name", SOME)
RELATIONS = ("replace_one", "add_remove")
both_relations = pytest.mark.parametrize("relation", RELATIONS)


def check(name, relation, engine, most=None):
    """Replay a model on an engine: `engine` moves a table there, by its number; at most `most` of a kind."""
    model, table, target = CASES[name]
    model = clone(model).set_params(neighbors=relation)
    made = stand_ins(model, table, target, relation)
    places = iter(range(100))
    others = (made.unrelated[:most], made.neighboring[:most])
    moved = [[engine(table.X, next(places)) for table in tables] for tables in others]
    outcome = replay(model, engine(made.first.X, next(places)), target, unrelated=moved[0], neighboring=moved[1])
    assert outcome.passed, str(outcome)
    assert max(release.ratio for release in outcome.releases) > 0.5


@some_cases
@both_relations
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames(name, relation, kind):
    frames = {"pandas": pa.Table.to_pandas, "polars": _polars}
    check(name, relation, lambda table, number: frames[kind](table))


@some_cases
@both_relations
def test_csv_files(name, relation, tmp_path):
    check(name, relation, _files(tmp_path, "csv", pa.csv.write_csv))


@every_case
@both_relations
def test_parquet_files(name, relation, tmp_path):
    check(name, relation, _files(tmp_path, "parquet", pq.write_table))


def on_dask():
    """Yield every case with both relations; Dask takes its time, so most cases with the second are slow tests."""
    for name in CASES:
        for relation in RELATIONS:
            slow = relation == "add_remove" and name not in SOME
            yield pytest.param(name, relation, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(("name", "relation"), list(on_dask()))
def test_dask(name, relation):
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    with dask.config.set(scheduler="synchronous"):
        check(name, relation, lambda table, number: frames.from_pandas(table.to_pandas(), npartitions=3, sort=False))


@pytest.mark.slow
@every_case
@both_relations
def test_spark(name, relation, spark):
    check(name, relation, lambda table, number: spark.createDataFrame(table.to_pandas()), most=1)


def _files(folder, ending, write):
    """Return what writes a table to a file of its own."""

    def engine(table, number):
        path = folder / str(number) / f"people.{ending}"
        path.parent.mkdir()
        write(table, path)
        return path

    return engine


def _polars(table):
    return pytest.importorskip("polars").from_arrow(table)
