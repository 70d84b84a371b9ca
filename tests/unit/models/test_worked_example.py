"""The model in docs/architecture.md is complete: what the page shows runs as it stands, in a process of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"
SECTION = PAGE.read_text(encoding="utf-8").split("\n## Adding a model\n")[1]
MODEL, CHECK = re.findall(r"^```python\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
(SESSION,) = re.findall(r"^```console\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)


@pytest.fixture
def run(tmp_path):
    """Return a function that runs Python in a folder with the module and a table, and returns what it prints.

    A warning is an error there.
    """
    (tmp_path / "quantiles.py").write_text(MODEL, encoding="utf-8")
    rows = np.random.default_rng(0).gamma(3.0, 10.0, size=(5000, 2))
    np.savetxt(tmp_path / "numbers.csv", rows, delimiter=",", header="age,cost", comments="")

    def python(code, *arguments):
        command = [sys.executable, "-W", "error", "-c", code, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return python


def test_the_example_is_short():
    assert len((MODEL + CHECK).splitlines()) < 150


def test_it_is_attacked_replayed_fitted_stored_and_reported(run):
    run(CHECK)


def test_its_command_prints_what_the_page_shows(run, tmp_path):
    first, *shown = SESSION.splitlines()
    program = "import quantiles; from tacit.cli import main; main()"
    printed = run(program, *first.removeprefix("$ tacit ").split())
    digits = re.compile(r"[\d.]+|\s+")
    assert [digits.sub(" ", line).strip() for line in printed.splitlines()] == [
        digits.sub(" ", line).strip() for line in shown
    ]
    assert "how many rows are in each part" in (tmp_path / "quantiles.html").read_text(encoding="utf-8")
    assert "quantiles" in run(program, "fit", "--help")
    values = json.loads(run(program, "fit", "quantiles", "numbers.csv", "--bounds", "0", "100", "--json", "--force"))
    assert np.shape(values["quantiles"]) == (3, 2)


def test_it_passes_the_checks_of_scikit_learn(run):
    run(
        "import warnings; from sklearn.utils.estimator_checks import check_estimator; from quantiles import Quantiles\n"
        "warnings.simplefilter('ignore', UserWarning)\n"  # Checks fit few rows with a large delta.
        "check_estimator(Quantiles(bounds=(-100, 100), delta=1e-3))"
    )
