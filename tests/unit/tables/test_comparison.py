"""Comparing synthetic with real tables: figures with known answers, and the warning that comes before them."""

import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from tacit.tables import Boolean, Categorical, Ignored, Integer, Numeric, Schema, compare

SCHEMA = Schema(
    {
        "name": Ignored(),
        "age": Integer(0, 120),
        "income": Numeric(0.0, 100.0),
        "region": Categorical(["north", "south", "west"]),
        "smokes": Boolean(),
    }
)


def people(rows=4000, seed=0):
    """Rows in which everything depends on age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    region = np.where(rng.random(rows) < age / 100, "north", np.where(rng.random(rows) < 0.5, "south", "west"))
    return pa.table(
        {
            "age": age,
            "income": (age + rng.normal(0, 5, rows)).clip(0, 100),
            "region": region,
            "smokes": rng.random(rows) < np.where(age > 50, 0.9, 0.1),
        }
    )


def shuffled(table, seed=0):
    """The same columns, with nothing in common."""
    rng = np.random.default_rng(seed)
    return pa.table({name: table[name].take(rng.permutation(table.num_rows)) for name in table.column_names})


def by_columns(comparison):
    return {pair.columns: pair for pair in comparison.pairs}


# ------------------------------------------------------------------------------------------------------- known answers


def test_a_table_beside_itself_differs_in_nothing():
    comparison = compare(people(), people(), schema=SCHEMA)
    assert [column.column for column in comparison.columns] == ["age", "income", "region", "smokes"]
    assert [column.total_variation for column in comparison.columns] == [0.0] * 4
    assert [column.wasserstein for column in comparison.columns] == [0.0, 0.0, None, None]
    assert all(pair.difference == pair.total_variation == 0 for pair in comparison.pairs)
    assert len(comparison.pairs) == 6
    assert comparison.column_error == comparison.pair_error == comparison.association_error == 0


def test_the_order_of_rows_does_not_matter():
    table = people()
    comparison = compare(table, table.take(np.random.default_rng(1).permutation(table.num_rows)), schema=SCHEMA)
    assert comparison.pair_error == 0
    assert comparison.association_error == pytest.approx(0, abs=1e-12)


def test_shuffled_columns_keep_their_distributions_and_lose_their_associations():
    comparison = compare(people(), shuffled(people()), schema=SCHEMA)
    assert comparison.column_error == 0
    for pair in comparison.pairs:
        assert abs(pair.real) > 0.2
        assert abs(pair.synthetic) < 0.05
        assert pair.total_variation > 0.1
        assert pair.difference == pair.synthetic - pair.real


def test_tables_with_nothing_in_common_are_one_apart():
    schema = Schema({"x": Numeric(0, 100), "c": Categorical(["a", "b"])})
    comparison = compare({"x": [1.0, 2.0], "c": ["a", "a"]}, {"x": [90.0, 91.0], "c": ["b", "b"]}, schema=schema)
    assert [column.total_variation for column in comparison.columns] == [1.0, 1.0]
    assert comparison.pairs[0].total_variation == 1.0
    assert comparison.columns[0].wasserstein == pytest.approx(89.0)


def test_shares_of_levels():
    schema = Schema({"c": Categorical(["a", "b", "c"]), "yes": Boolean()})
    real = {"c": ["a", "a", "b", "b"], "yes": [True, True, True, False]}
    synthetic = {"c": ["a", "b", "c", "c"], "yes": [True, False]}
    letters, yes = compare(real, synthetic | {"yes": [True, False] * 2}, schema=schema).columns
    assert letters.total_variation == pytest.approx(0.5)
    assert letters.labels == ("a", "b", "c")
    assert letters.real.tolist() == [0.5, 0.5, 0.0]
    assert letters.synthetic.tolist() == [0.25, 0.25, 0.5]
    assert yes.total_variation == pytest.approx(0.25)
    assert yes.labels == ("false", "true")


def test_a_shift_of_numbers():
    schema = Schema({"x": Numeric(-1000, 1000)})  # however generous the bounds
    x = np.arange(1000.0) / 10
    (column,) = compare({"x": x}, {"x": x + 10.0}, schema=schema).columns
    assert column.wasserstein == pytest.approx(10.0)
    assert column.total_variation == pytest.approx(0.1, abs=0.002)  # tenths of uniform rows, one of them moved out


def test_a_value_that_many_rows_share_is_told_from_its_neighbours():
    schema = Schema({"hours": Numeric(0, 100)})
    rng = np.random.default_rng(0)
    spread = rng.uniform(0, 100, 5000)
    real = np.where(rng.random(5000) < 0.5, 40.0, spread)
    near = np.where(real == 40.0, 40.0 - rng.random(5000), real)
    (column,) = compare({"hours": real}, {"hours": near}, schema=schema).columns
    assert column.total_variation == pytest.approx((real == 40.0).mean())


def test_numbers_beyond_bounds_count_as_the_bound():
    schema = Schema({"x": Numeric(0, 10)})
    (column,) = compare({"x": [-5.0, 20.0]}, {"x": [0.0, 10.0]}, schema=schema).columns
    assert column.total_variation == column.wasserstein == 0


def test_missing_cells_are_one_more_level():
    schema = Schema({"x": Numeric(0, 10), "c": Categorical(["a", "b"])})
    real = {"x": [1.0, 2.0, 3.0, None], "c": ["a", "b", None, None]}
    comparison = compare(real, {"x": [1.0, 2.0, 3.0, 3.0], "c": ["a", "b", "a", "b"]}, schema=schema)
    numbers, letters = comparison.columns
    assert numbers.total_variation == pytest.approx(0.25)
    assert letters.total_variation == pytest.approx(0.5)
    assert letters.labels == ("a", "b", "missing")
    assert numbers.wasserstein == pytest.approx(0.25, abs=1e-12)


def test_a_column_that_is_missing_throughout():
    schema = Schema({"x": Numeric(0, 10), "y": Numeric(0, 10)})
    empty = {"x": [None, None], "y": [1.0, 2.0]}
    comparison = compare(empty, {"x": [1.0, 2.0], "y": [1.0, 2.0]}, schema=schema)
    assert comparison.columns[0].total_variation == 1.0
    assert comparison.columns[0].wasserstein is None
    assert comparison.pairs[0].real == 0.0
    json.dumps(comparison.to_dict(), allow_nan=False)


# -------------------------------------------------------------------------------------------------------- associations


def test_associations_of_numbers_are_correlations():
    x = np.random.default_rng(0).normal(size=(1000, 2)) @ [[1, 0.6], [0, 0.8]]
    schema = Schema({"a": Numeric(-10, 10), "b": Numeric(-10, 10)})
    (pair,) = compare(x, -x * [1, -1], schema=schema).pairs
    assert pair.measure == "correlation"
    assert pair.real == pytest.approx(np.corrcoef(x.T)[0, 1])
    assert pair.synthetic == pytest.approx(-pair.real)


def test_associations_with_categories():
    schema = Schema(
        {"x": Numeric(0, 10), "same": Categorical(["l", "r"]), "other": Categorical(["u", "v", "w"]), "yes": Boolean()}
    )
    real = {
        "x": [1.0, 1.0, 5.0, 5.0],
        "same": ["l", "l", "r", "r"],
        "other": ["u", "v", "u", "v"],
        "yes": [False, False, True, True],
    }
    found = by_columns(compare(real, real, schema=schema))
    assert found["x", "same"].measure == "correlation ratio"
    assert found["x", "same"].real == pytest.approx(1.0)
    assert found["x", "other"].real == pytest.approx(0.0, abs=1e-12)
    assert found["same", "other"].measure == "Cramér's V"
    assert found["same", "other"].real == pytest.approx(0.0, abs=1e-12)
    assert found["same", "yes"].real == pytest.approx(1.0)
    assert (found["x", "yes"].measure, found["x", "yes"].real) == ("correlation", pytest.approx(1.0))


def test_cramers_v_is_that_of_the_textbook():
    from scipy.stats import chi2_contingency
    from scipy.stats.contingency import association

    rng = np.random.default_rng(0)
    first = rng.choice(4, 2000)
    second = np.where(rng.random(2000) < 0.4, first % 3, rng.choice(3, 2000))
    schema = Schema({"a": Categorical(list("pqrs")), "b": Categorical(list("xyz"))})
    table = {"a": np.array(list("pqrs"))[first], "b": np.array(list("xyz"))[second]}
    counts = np.histogram2d(first, second, (4, 3))[0].astype(int)
    assert chi2_contingency(counts).pvalue < 1e-6
    assert compare(table, table, schema=schema).pairs[0].real == pytest.approx(association(counts, method="cramer"))


def test_a_column_that_never_varies_goes_with_nothing():
    schema = Schema(
        {"x": Numeric(0, 10), "y": Numeric(0, 10), "c": Categorical(["a", "b"]), "d": Categorical(["a", "b"])}
    )
    table = {"x": [3.0] * 4, "y": [1.0, 2.0, 3.0, 4.0], "c": ["a"] * 4, "d": ["a", "a", "b", "b"]}
    found = by_columns(compare(table, table, schema=schema))
    assert [found[pair].real for pair in (("x", "y"), ("x", "c"), ("y", "c"), ("c", "d"))] == [0.0] * 4


# ---------------------------------------------------------------------------------------------------------- prediction


def test_a_good_copy_teaches_what_real_rows_teach():
    for target, measure in (("income", "R²"), ("smokes", "AUC"), ("region", "AUC")):
        comparison = compare(people(2000), people(2000, seed=1), schema=SCHEMA, target=target)
        score = comparison.scores[-1]
        assert score.measure == measure
        assert score.from_real == pytest.approx(score.from_synthetic, abs=0.05)
        assert score.from_synthetic > score.from_nothing + 0.1


def test_shuffled_columns_teach_nothing():
    comparison = compare(people(), shuffled(people()), schema=SCHEMA, target="smokes")
    accuracy, auc = comparison.scores
    assert accuracy.from_real == pytest.approx(0.9, abs=0.02)
    assert accuracy.from_synthetic < 0.65
    assert auc.from_synthetic == pytest.approx(0.5, abs=0.1)
    assert accuracy.from_nothing == pytest.approx(0.5, abs=0.05)
    (number,) = compare(people(), shuffled(people()), schema=SCHEMA, target="income").scores
    assert number.from_real > 0.8
    assert number.from_synthetic < 0.1


def test_synthetic_rows_of_one_level_predict_that_level():
    table = people()
    same = table.set_column(3, "smokes", pa.array([True] * table.num_rows))
    accuracy, auc = compare(table, same, schema=SCHEMA, target="smokes").scores
    assert accuracy.from_synthetic == pytest.approx(np.mean(table["smokes"]), abs=0.03)
    assert auc.from_synthetic == 0.5


def test_missing_cells_are_no_obstacle_to_prediction():
    table = people()
    gaps = np.arange(table.num_rows) % 3 == 0
    for name in ("age", "region", "smokes"):
        values = table[name].combine_chunks()
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(values.to_pylist(), values.type, mask=gaps))
    accuracy, _ = compare(table, people(seed=1), schema=SCHEMA, target="smokes").scores
    assert accuracy.from_synthetic > 0.85


def test_bad_targets_get_a_sentence():
    with pytest.raises(ValueError, match="Did you mean 'smokes' for 'smoke'"):
        compare(people(), people(), schema=SCHEMA, target="smoke")
    with pytest.raises(ValueError, match="nothing to predict it from"):
        compare({"x": [1.0]}, {"x": [1.0]}, schema=Schema({"x": Numeric(0, 2)}), target="x")
    with pytest.raises(ValueError, match="too few rows"):
        compare(people(2), people(2), schema=SCHEMA, target="age")
    with pytest.raises(TypeError, match=r"must be a tacit\.Schema"):
        compare(people(), people(), schema=(0, 1))


# ------------------------------------------------------------------------------------------- where rows live, and words


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv", "parquet", "dict"])
def test_rows_may_live_anywhere(kind, tmp_path):
    table = people(300)
    other = {
        "pandas": lambda: table.to_pandas().assign(name="Ann"),
        "polars": lambda: pl.from_arrow(table),
        "csv": lambda: pa.csv.write_csv(table, tmp_path / "t.csv") or str(tmp_path / "t.csv"),
        "parquet": lambda: pa.parquet.write_table(table, tmp_path / "t.parquet") or tmp_path / "t.parquet",
        "dict": lambda: table.to_pydict(),
    }[kind]()
    assert isinstance(other, pd.DataFrame) == (kind == "pandas")
    comparison = compare(other, table, schema=SCHEMA)
    assert comparison.rows == (300, 300)
    assert comparison.pair_error == 0


def test_the_warning_comes_first():
    comparison = compare(people(), shuffled(people()), schema=SCHEMA, target="smokes")
    for text in (comparison.text(), repr(comparison), str(comparison)):
        assert text.startswith("NOT PRIVATE: ")
        assert "do not publish" in " ".join(text.split()[:25])
    assert max(map(len, comparison.text().splitlines())) <= 92
    values = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert values["private"] is False
    assert values["warning"].startswith("NOT PRIVATE")
    assert values["pair_error"] == comparison.pair_error


def test_the_picture_shows_both_tables_and_says_what_it_is():
    pytest.importorskip("matplotlib", reason="matplotlib, the extra 'plot', is not installed")
    table = people()
    figure = compare(table, shuffled(table), schema=SCHEMA).plot()
    assert "NOT PRIVATE" in figure.get_suptitle()
    top, bottom = figure.subfigs
    assert [axes.get_title().split(":")[0] for axes in top.axes if axes.get_title()] == [*SCHEMA.used]
    drawn = np.ma.filled(bottom.axes[0].images[0].get_array(), np.nan)
    assert np.nanmin(drawn) == pytest.approx(-np.corrcoef(table["age"], table["income"])[0, 1], abs=0.1)
    assert (np.isnan(drawn) == np.eye(4, dtype=bool)).all()
    one = Schema({"age": Integer(0, 120)})
    assert len(compare(table.select(["age"]), table.select(["age"]), schema=one).plot().subfigs) == 1


def test_without_matplotlib(monkeypatch):
    comparison = compare(people(100), people(100), schema=SCHEMA)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tacit\[plot\]'"):
        comparison.plot()
