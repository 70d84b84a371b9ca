"""The report about a model of a table: every column, as it is spread."""

import numpy as np
import pytest

import tacit
from tacit.data import load_randhie
from tacit.report import write_report
from tacit.report.table_columns import TableView
from tacit.tables import Boolean, Categorical, Integer, Numeric, Schema

SCHEMA = Schema(
    {"age": Integer(0, 99), "dose": Numeric(-10, 10), "smokes": Boolean(), "plan": Categorical(["<free>", "paid"])}
)


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    rows = {
        "age": rng.integers(20, 80, 20_000),
        "dose": rng.normal(2.0, 1.0, 20_000),
        "smokes": rng.random(20_000) < 0.3,
        "plan": np.where(rng.random(20_000) < 0.8, "paid", "<free>"),
    }
    return tacit.TableModel(epsilon=2.0, bounds=SCHEMA, random_state=0).fit(rows)


def test_the_view_is_that_of_the_rows(model):
    view = TableView.of(model)
    low, high, bars = view.histogram("dose")
    assert bars.sum() == pytest.approx(1.0, abs=0.03)
    middles = low + (high - low) * (np.arange(len(bars)) + 0.5) / len(bars)
    assert bars @ middles / bars.sum() == pytest.approx(2.0, abs=0.1)
    assert view.levels == {"smokes": ["false", "true"], "plan": ["<free>", "paid"]}
    assert view.missing("age") == 0.0
    assert list(view.numbers) == ["age", "dose"]


def test_the_page_has_every_column_and_nothing_unescaped(model, tmp_path):
    page = write_report(model, tmp_path / "report.html").read_text()
    for words in ("Model of a table of 4 columns", "age", "dose", "smokes", "&lt;free&gt;", "pair counts"):
        assert words in page
    assert "<free>" not in page
    assert any(f"{share}%" in page for share in (79, 80, 81))


def test_pairs_are_not_drawn(model, tmp_path):
    with pytest.raises(ValueError, match="mixtures and of clusters"):
        write_report(model, tmp_path / "report.html", pairs=[("age", "dose")])


def test_a_real_table(tmp_path):
    table, schema = load_randhie()
    fitted = tacit.TableModel(epsilon=1.0, bounds=schema, random_state=0).fit(table)
    assert write_report(fitted, tmp_path / "report.html").stat().st_size > 10_000
