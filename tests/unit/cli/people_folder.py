"""A folder with a small table and its schema, and a way to run commands in it."""

import inspect
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from tacit.cli.app import app

SCHEMA = """\
[columns.id]
type = "ignored"

[columns.age]
type = "integer"
low = 0
high = 120

[columns.income]
type = "numeric"
low = 0.0
high = 500.0

[columns.smoker]
type = "boolean"

[columns.region]
type = "categorical"
levels = ["north", "south", "west"]
"""


def people(rows: int = 1500, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    return pa.table(
        {
            "id": np.arange(rows),
            "age": rng.normal(np.array([30, 65])[group], 6).round().astype(int),
            "income": rng.normal(np.array([60, 25])[group], 8).round(2),
            "smoker": rng.random(rows) < np.array([0.2, 0.6])[group],
            "region": np.array(["north", "south", "west"])[rng.integers(0, 3, rows)],
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with people.csv, schema.toml and numbers.csv in it."""
    monkeypatch.chdir(tmp_path)
    table = people()
    pa.csv.write_csv(table, tmp_path / "people.csv")
    pa.csv.write_csv(table.select(["age", "income"]), tmp_path / "numbers.csv")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


@pytest.fixture
def run(folder):
    """Run a command in the folder; `run(..., code=1)` expects that exit code."""
    # Old versions mix the two streams unless told otherwise, new ones never do.
    separate = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    runner = CliRunner(**separate)

    def run(*arguments, code=0):
        result = runner.invoke(app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code == code, result.stdout + result.stderr
        assert "Traceback" not in result.stderr
        return result

    return run


@pytest.fixture
def run_json(run):
    """Run a command with --json and return what it printed, which must be JSON and nothing else."""
    return lambda *arguments: json.loads(run(*arguments, "--json").stdout)


@pytest.fixture
def fitted(run, folder):
    """A model of people.csv."""
    run("fit", "mixture", "people.csv", "--schema", "schema.toml", "-k", 2, "-o", "model.tacit")
    return folder / "model.tacit"
