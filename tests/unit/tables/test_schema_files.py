"""Schemas in files: written, read, filled in from a template; every mistake gets a sentence."""

import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from test_schema_encoding import SCHEMAS

from tacit.sources import as_source
from tacit.tables import Boolean, Categorical, Date, Ignored, Integer, Numeric, Schema
from tacit.tables.toml_text import to_toml_text


@given(SCHEMAS)
def test_toml_round_trip(schema):
    text = to_toml_text(schema.to_dict()["columns"])
    assert Schema.from_dict(tomllib.loads(text)) == schema


def test_files(tmp_path):
    schema = Schema(
        {
            "age": Integer(0, 120, description="in years"),
            'odd "name"\n': Numeric(-1e16, 0.1),
            "sex": Categorical(["f", "m"]),
            "id": Ignored(),
            "é": Boolean(),
        }
    )
    schema.to_toml(tmp_path / "schema.toml")
    assert Schema.from_toml(tmp_path / "schema.toml") == schema
    assert Schema.from_dict(schema.to_dict()) == schema


def test_written_by_hand(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(
        """
        [columns]
        age = {type = "numeric", low = 0, high = 120}
        [columns.plan]
        type = "categorical"
        levels = ["free", "paid"]  # as of 2020
        """
    )
    assert Schema.from_toml(path) == Schema({"age": Numeric(0, 120), "plan": Categorical(["free", "paid"])})


# -- mistakes


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"type": "numeric", "low": 5, "high": 5},
            "Column 'x': low must be less than high, got low = 5.0 and high = 5.0",
        ),
        ({"type": "integer", "low": 5, "high": 3}, "Column 'x': low must be less than high, got low = 5 and high = 3"),
        ({"type": "numeric", "low": 0, "high": float("inf")}, "high must be finite"),
        ({"type": "numeric", "low": float("nan"), "high": 1}, "low must be finite"),
        ({"type": "numeric", "low": "", "high": 1}, "Column 'x': low is blank. Fill in the smallest value"),
        ({"type": "numeric", "low": 0}, "Column 'x': high is blank. Fill in the largest value"),
        ({"type": "numeric", "low": 0, "high": 5e-324}, "too close"),
        ({"type": "numeric", "low": "0", "high": 1}, "low must be a number, got '0'"),
        ({"type": "numeric", "low": False, "high": 1}, "low must be a number, got False"),
        ({"type": "integer", "low": 0.5, "high": 3}, "low must be a whole number, got 0.5"),
        ({"type": "integer", "low": 0, "high": 2**60}, "within ±2**48"),
        ({"type": "categorical", "levels": []}, "Column 'x': levels is blank"),
        ({"type": "categorical"}, "Column 'x': levels is blank"),
        ({"type": "categorical", "levels": ["a", "b", "a"]}, "one is there more than once"),
        ({"type": "categorical", "levels": ["a", " "]}, "empty text"),
        ({"type": "categorical", "levels": ["a"]}, "single level"),
        ({"type": "categorical", "levels": "ab"}, "levels must be a list"),
        ({"type": "categorical", "levels": ["a", 1]}, "all text or all whole numbers"),
        ({"type": "categorical", "levels": [True, False]}, "use the type 'boolean'"),
        ({"type": "categorical", "levels": [0.5, 1.5]}, "'numeric'"),
        (
            {"type": "number", "low": 0, "high": 1},
            "unknown type 'number'; the types are 'numeric', .* Did you mean 'numeric'",
        ),
        ({"type": 3}, "unknown type 3"),
        ({"low": 0, "high": 1}, "Column 'x' needs a type"),
        ("numeric", "Column 'x' needs a type"),
        ({"type": "numeric", "low": 0, "hihg": 1}, "unknown settings 'hihg'; .* Did you mean 'high' for 'hihg'"),
        ({"type": "boolean", "levels": ["a"]}, "unknown settings 'levels'; the type 'boolean' has 'description'"),
        ({"type": "boolean", "description": 3}, "description must be text"),
    ],
)
def test_mistakes_in_a_column(settings, words):
    pattern = words.replace("(", r"\(").replace("**", r"\*\*")
    with pytest.raises((ValueError, TypeError), match=pattern):
        Schema.from_dict({"columns": {"x": settings}})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds columns and nothing else"),
        ("columns = 3", "holds columns and nothing else"),
        ("[column.age]\ntype = 'boolean'", "holds columns and nothing else.*found 'column'"),
        ("[columns.age\n", "In the schema .*schema.toml: "),
        ("[columns.age]\ntype = 'ignored'", "at least one column that is not ignored"),
        (
            "[columns.age]\ntype = 'numeric'\nlow = ''\nhigh = 3",
            "In the schema .*schema.toml: Column 'age': low is blank",
        ),
    ],
)
def test_mistakes_in_a_file(tmp_path, text, words):
    (tmp_path / "schema.toml").write_text(text)
    with pytest.raises(ValueError, match=words):
        Schema.from_toml(tmp_path / "schema.toml")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no schema file"):
        Schema.from_toml(tmp_path / "schema.toml")
    (tmp_path / "latin.toml").write_bytes("[columns.é]".encode("latin-1"))
    with pytest.raises(ValueError, match="In the schema"):
        Schema.from_toml(tmp_path / "latin.toml")


def test_mistakes_in_python():
    with pytest.raises(TypeError, match="dictionary of columns"):
        Schema([Numeric(0, 1)])
    with pytest.raises(TypeError, match="Column 'age' must be Numeric"):
        Schema({"age": (0, 120)})
    with pytest.raises(TypeError, match="Names of columns must be text"):
        Schema({0: Numeric(0, 1)})
    with pytest.raises(ValueError, match="at least one"):
        Schema({})


# -- templates


FRAME = pd.DataFrame(
    {
        "age": [31, 45, 7],
        "weight": [70.125, np.nan, 81.5],
        "sex": ["fem", "masc", None],
        "smokes": [True, False, True],
        "born": pd.to_datetime(["2001-01-01", "2002-02-02", "2003-03-03"]),
    }
)
READ_FROM_DATA = ("31", "45", "7", "70.125", "81.5", "fem", "masc", "2001", "2002", "2003")


@pytest.fixture(params=["frame", "parquet", "csv"])
def table(request, tmp_path):
    if request.param == "frame":
        return FRAME
    path = tmp_path / f"people.{request.param}"
    FRAME.to_csv(path, index=False) if request.param == "csv" else FRAME.to_parquet(path)
    return path


def test_a_template_holds_names_and_types_and_no_value(table):
    text = Schema.template(table)
    parsed = tomllib.loads(text)["columns"]
    if as_source(table).types.field("age").type == pa.null():  # CSV
        assert parsed == {name: {"type": ""} for name in FRAME.columns}
        assert "does not declare the types" in text
    else:
        assert {name: settings["type"] for name, settings in parsed.items()} == {
            "age": "integer",
            "weight": "numeric",
            "sex": "" if str(FRAME.dtypes["sex"]) == "object" and table is FRAME else "categorical",
            "smokes": "boolean",
            "born": "date",
        }
        assert parsed["age"] == {"type": "integer", "low": "", "high": ""}
    assert not [value for value in READ_FROM_DATA if value in text]
    assert "NOT PRIVATE" not in text
    assert "peeked" not in text


@pytest.mark.parametrize("other", ["7.5", "x", "", "true"])
def test_no_cell_changes_a_template(tmp_path, other):
    """One cell used to turn an integer into a number, in a file said to be made without reading rows."""
    (tmp_path / "one.csv").write_text("age,sex\n31,f\n45,m\n")
    (tmp_path / "other.csv").write_text(f"age,sex\n{other},f\n45,m\n")
    assert Schema.template(tmp_path / "one.csv") == Schema.template(tmp_path / "other.csv")


def test_a_column_of_objects_declares_no_type():
    for cells in ([31, 45], [31, 4.5], ["a", None]):
        for table in (pd.DataFrame({"age": pd.Series(cells, dtype=object)}), {"age": cells}):
            assert tomllib.loads(Schema.template(table))["columns"] == {"age": {"type": ""}}
            assert as_source(table).select(["age"]).types.field("age").type == pa.null()
    declared = Schema.template({"age": np.array([31, 45]), "size": pa.array([1.5, None])})
    assert [each["type"] for each in tomllib.loads(declared)["columns"].values()] == ["integer", "numeric"]


def test_a_template_must_be_filled_in(table, tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(Schema.template(table))
    with pytest.raises(ValueError, match=r"Column 'age': (low|type) is blank"):
        Schema.from_toml(path)
    text = path.read_text()
    for kind in ("integer", "numeric", "categorical", "boolean", "ignored"):  # the columns, in order
        blanks = {
            "integer": 'low = ""\nhigh = ""\n',
            "numeric": 'low = ""\nhigh = ""\n',
            "categorical": "levels = []\n",
        }
        blank = 'type = ""  # numeric, integer, date, categorical, boolean or ignored\n'
        text = text.replace(blank, f'type = "{kind}"\n{blanks.get(kind, "")}', 1)
    text = text.replace('low = ""', "low = 0").replace('high = ""', "high = 200")
    text = text.replace('first = ""', "first = 2000-01-01").replace('last = ""', "last = 2020-12-31")
    path.write_text(text.replace("levels = []", 'levels = ["fem", "masc"]'))
    schema = Schema.from_toml(path)
    assert schema.columns["weight"] == Numeric(0, 200)
    assert schema.columns["sex"] == Categorical(["fem", "masc"])


def test_a_template_of_a_parquet_file_reads_no_row(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": np.arange(1000)}), path, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[4:5000] = bytes(4996)  # the pages, not the footer
    path.write_bytes(content)
    assert 'type = "integer"' in Schema.template(path)
    with pytest.raises(ValueError, match="damaged"):
        list(as_source(path).blocks())


def test_peeking_says_so_at_every_line(table):
    text = Schema.template(table, peek=True)
    assert "NOT PRIVATE" in text[: text.index("[columns")]
    for line in text[text.index("[columns") :].splitlines():
        if any(value in line for value in READ_FROM_DATA):
            assert line.endswith("# NOT PRIVATE: read from the data")
    assert "born" in text
    schema = Schema.from_dict(tomllib.loads(text))
    assert schema.columns["age"] == Integer(7, 45, source="peeked")
    assert schema.columns["weight"] == Numeric(70.125, 81.5, decimals=3, source="peeked")
    assert schema.columns["sex"] == Categorical(["fem", "masc"], source="peeked")
    assert set(schema.peeked) >= {"age", "weight", "sex"}
    # Types are read from rows where the table does not declare them.
    guessed = as_source(table).types.field("smokes").type == pa.null()
    assert ("smokes" in schema.peeked) == guessed
    if not guessed:
        assert schema.columns["born"] == Date("2001-01-01", "2003-03-03", form="timestamp", source="peeked")


def test_what_was_peeked_is_kept_and_what_was_stated_needs_no_mention(tmp_path):
    columns = {
        "age": Integer(7, 45, source="peeked"),
        "sex": Categorical(["f", "m"], source="peeked"),
        "ill": Boolean(source="peeked", description="Yes or no"),
        "name": Ignored(source="peeked"),
        "weight": Numeric(0, 300),
    }
    schema = Schema(columns)
    assert schema.peeked == ("age", "sex", "ill", "name")
    schema.to_toml(tmp_path / "schema.toml")
    assert (tmp_path / "schema.toml").read_text().count('source = "peeked"') == 4
    for again in (Schema.from_toml(tmp_path / "schema.toml"), Schema.from_dict(schema.to_dict())):
        assert again == schema
        assert again.peeked == schema.peeked
    assert "source" not in schema.to_dict()["columns"]["weight"]
    assert Schema({"weight": Numeric(0, 300)}) != Schema({"weight": Numeric(0, 300, source="peeked")})
    assert Schema.from_dict({"columns": {"age": {"type": "integer", "low": 0, "high": 9}}}).peeked == ()
    with pytest.raises(ValueError, match=r"source must be 'stated'.*got 'guessed'"):
        Numeric(0, 1, source="guessed")


def test_a_table_named_as_a_schema_is_not_quoted(tmp_path):
    for content in (b"age,name\n47.1,secret-4711\n", b"secret-4711 = 1\nsecret-4711 = 2\n", b"\xff\xfesecret-4711"):
        (tmp_path / "people.csv").write_bytes(content)
        with pytest.raises(ValueError, match="not a TOML file") as caught:
            Schema.from_toml(tmp_path / "people.csv")
        assert "4711" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_peeking_reads_every_row_and_keeps_its_doubts(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{i % 5},1,name{i},only,\n" for i in range(10_000)]
    path.write_text("n,constant,name,level,empty\n" + "".join(lines) + "7.5,1,x,only,\n")
    parsed = tomllib.loads(Schema.template(path, peek=True))["columns"]
    peeked = {"source": "peeked"}
    assert (
        parsed["n"] == {"type": "numeric", "low": 0.0, "high": 7.5, "decimals": 1} | peeked
    )  # whole in the first block
    assert parsed["constant"] == {"type": "integer", "low": "", "high": ""} | peeked
    assert parsed["name"] == {"type": "ignored"} | peeked
    assert parsed["level"] == {"type": "categorical", "levels": []} | peeked
    assert parsed["empty"] == {"type": ""}


def test_arrays_have_no_template():
    with pytest.raises(TypeError, match="no names"):
        Schema.template(np.zeros((2, 2)))
