"""No command prints a cell: marked rows are given in wrong places, and must not come back on either stream."""

import inspect
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from tacit.cli.app import app
from tacit.models import CARDS, Command
from tacit.models.command import REQUIRED
from usual_fits import REFUSED

MARKS = re.compile(r"(?<![\d.])(4711|4,711)(?!\d)")  # by itself, not among the digits of another number
SCHEMA = """\
[columns.x]
type = "numeric"
low = -5
high = 5

[columns.y]
type = "numeric"
low = -5
high = 5

[columns.kind]
type = "categorical"
levels = ["a", "b"]
"""
TARGETS = {"number": "y", "class": "kind"}
COMMANDS = {card.command.name: card for card in CARDS.values() if isinstance(card.command, Command)}
MODELLED = ("missing-regression", "missing.csv")  # missing cells are what it is for


def needed_options(card):
    """Return the options that the command of a model cannot do without: the target, and how many parts there are."""
    for option in card.command.options:
        if option.default is REQUIRED:
            yield from (option.flag, TARGETS[card.target] if option.name == "target" else 1)


FITS = {name: tuple(needed_options(card)) for name, card in COMMANDS.items()}


@pytest.fixture
def said(folder):
    """Run a command, which must end with one of these codes, and return what it prints; none of the marks is in it."""
    separate = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    runner = CliRunner(**separate)

    def said(*arguments, codes):
        result = runner.invoke(app, [str(argument) for argument in arguments])
        told = result.stdout + result.stderr
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        assert result.exit_code in codes, told
        assert not MARKS.search(told), told
        return told

    return said


@pytest.fixture
def table(folder):
    """4,711 rows that can be fitted, in CSV and Parquet, and their schema."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4711, 2)).clip(-4, 4).round(2)
    held = pa.table({"x": rows[:, 0], "y": rows[:, 1], "kind": np.where(rows[:, 0] > 0, "a", "b")})
    pa.csv.write_csv(held, folder / "rows.csv")
    pa.parquet.write_table(held, folder / "rows.parquet")
    pa.csv.write_csv(held.select(["x", "y"]), folder / "numbers.csv")
    pa.parquet.write_table(held.select(["x", "y"]), folder / "numbers.parquet")
    (folder / "public.toml").write_text(SCHEMA)
    return folder


def broken_files(folder):
    """Files that hold the marks in some way that cannot be read with the schema."""
    good = "x,y,kind\n1,2,a\n1,1,b\n"
    contents = {
        "text.csv": good + "secret-4711,1,a\n",
        "level.csv": good + "1,1,secret-4711\n",
        "ragged.csv": good + "1,secret-4711\n",
        "wide.csv": good + "1,1,a,secret-4711\n",
        "quote.csv": good + '1,1,"secret-4711\n',
        "missing.csv": good + "47.11471147,,a\n",
        "numbers.csv": "1,47.11471147,secret\n1,2,a\n",
        "bytes.csv": good.encode() + b"\xff\xfesecret-4711,1,a\n",
        "damaged.parquet": b"PAR1secret-4711PAR1",
        "damaged.csv.gz": b"\x1f\x8bsecret-4711",
        "named.txt": good + "secret-4711,1,a\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    pa.parquet.write_table(
        pa.table({"x": ["secret-4711"], "y": [[47.11471147]], "kind": ["a"]}), folder / "types.parquet"
    )
    return [*contents, "types.parquet"]


@pytest.mark.parametrize("kind", FITS)
def test_rows_that_cannot_be_fitted(said, table, kind):
    for data in broken_files(table):
        for neighbors in ("replace_one", "add_remove"):
            options = ("--schema", "public.toml", *FITS[kind], "--neighbors", neighbors, "--force")
            said("fit", kind, data, *options, codes=(0, 1) if (kind, data) == MODELLED else (1,))
        said("fit", kind, data, "--bounds", -5, 5, *FITS[kind], codes=(1, 2))


def test_rows_that_cannot_be_looked_at(said, table):
    said("fit", "mixture", "rows.csv", "--schema", "public.toml", "-k", 1, "--neighbors", "add_remove", codes=(0,))
    for data in broken_files(table):
        said("predict", "model.tacit", data, "-o", "out.csv", codes=(1,))
        said("schema", "check", "public.toml", data, codes=(0, 1))
        said("schema", "init", data, "-o", "-", codes=(0, 1))
        said("compare", data, data, "--schema", "public.toml", codes=(0, 1))


@pytest.mark.parametrize("wrong", ["text.csv", "bytes.csv", "quote.csv", "types.parquet", "rows.toml", "rows.json"])
def test_tables_in_the_place_of_other_files(said, table, wrong):
    broken_files(table)
    (table / "rows.toml").write_text('[[people]]\nname = "secret-4711"\nage = 47.11471147\n')
    (table / "rows.json").write_text('{"format": "secret-4711", "estimator": "secret-4711", "age": [47.11471147]}')
    said("schema", "check", wrong, codes=(1,))
    for kind in FITS:
        said("fit", kind, "rows.csv", "--schema", wrong, *FITS[kind], codes=(1,))
    said("fit", "factors", "--from-moments", wrong, "--factors", 1, codes=(1,))
    said("plan", "--schema", wrong, "--rows", 1000, "-k", 1, codes=(1,))
    said("compare", "rows.csv", "rows.csv", "--schema", wrong, codes=(1,))
    for command in (("sample", wrong, "-o", "out.csv"), ("report", wrong), ("certificate", wrong)):
        said(*command, codes=(1,))
    said("predict", wrong, "rows.csv", "-o", "out.csv", codes=(1,))
    for command in (("show", "people"), ("list",), ("history", "people"), ("verify",)):
        said("budget", *command, "--ledger", wrong, codes=(1, 2))
    public = ("--schema", "public.toml", "-k", 1)
    said("fit", "mixture", "rows.csv", *public, "--ledger", wrong, "--dataset", "people", codes=(1,))


@pytest.mark.parametrize("kind", FITS)
def test_no_line_tells_how_many_rows_there_are_where_that_is_secret(said, table, kind):
    takes_schema = (COMMANDS[kind].name, "schema") not in REFUSED
    rows, public = ("rows", ("--schema", "public.toml")) if takes_schema else ("numbers", ("--bounds", -5, 5))
    options = (*FITS[kind], *public, "--neighbors", "add_remove", "--seed", 0)
    assert "model.tacit" in said("fit", kind, f"{rows}.csv", *options, "--report", "page.html", codes=(0,))
    said("fit", kind, f"{rows}.parquet", *options, "--force", "--delta", 0.01, "--epsilon", 0.1, codes=(0,))
    said("certificate", "model.tacit", codes=(0,))
    said("certificate", "model.tacit", "--json", codes=(0,))
    said("report", "model.tacit", "-o", "other.html", codes=(0,))
    said("predict", "model.tacit", f"{rows}.csv", "-o", "out.csv", codes=(0, 1))
    said("predict", "model.tacit", f"{rows}.csv", "-o", "out2.csv", "--json", codes=(0, 1))


def test_no_line_about_a_schema_tells_how_many_rows_there_are(said, table):
    for data in ("rows.csv", "rows.parquet"):
        said("schema", "init", data, "-o", "new.toml", "--force", codes=(0,))
        said("schema", "init", data, "-o", "new.toml", "--force", "--peek", codes=(0,))
        said("schema", "init", data, "-o", "-", "--json", codes=(0,))
        said("schema", "check", "public.toml", data, codes=(0,))
        said("schema", "check", "public.toml", data, "--json", codes=(0,))
