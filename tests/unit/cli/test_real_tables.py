"""From a real file to a schema, every model, its report, a synthetic table and a comparison, as users go."""

import itertools
from pathlib import Path

import pyarrow.csv
import pytest

from tacit.storage import load_model

SHARED = Path(__file__).parents[4] / "shared" / "data"
COLUMNS = (
    "age,workclass,fnlwgt,education,education_num,marital,occupation,relationship,race,sex,capital_gain,capital_loss,"
    "hours,country,income"
)
LEVELS = {
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "marital": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
    "sex": "Female Male",
    "income": "<=50K >50K",
}
RANGES = {"age": (0, 120), "education_num": (1, 16), "hours": (0, 100)}
FITS = {
    "mixture": ("mixture", "-k", 2, "--missing", "model"),
    "kmeans": ("kmeans", "-k", 3, "--missing", "ignore"),
    "moments": ("moments", "--missing", "ignore"),
    "factors": ("factors", "-k", 2, "--missing", "ignore"),
}


@pytest.fixture
def adult(folder):
    """The first rows of the census table as it is distributed, with a line of names; a schema from its code book."""
    source = SHARED / "adult.data"
    if not source.is_file():
        pytest.skip("the Adult table is not beside the project")
    with source.open() as lines:
        (folder / "adult.csv").write_text("\n".join([COLUMNS, *map(str.strip, itertools.islice(lines, 4000))]))
    parts = []
    for name in COLUMNS.split(","):
        kind = "integer" if name in RANGES else "categorical" if name in LEVELS else "ignored"
        parts.append(f'[columns.{name}]\ntype = "{kind}"')
        if name in RANGES:
            parts.append("low = {}\nhigh = {}".format(*RANGES[name]))
        if name in LEVELS:
            parts.append(f"levels = {LEVELS[name].split()}")
    (folder / "adult.toml").write_text("\n".join(parts))
    return folder


@pytest.mark.parametrize("fit", FITS)
def test_the_census_table_from_file_to_comparison(run, run_json, adult, fit):
    assert run_json("schema", "check", "adult.toml", "adult.csv")["missing_cells"] is True
    refused = run("fit", *FITS[fit][:-2], "adult.csv", "--schema", "adult.toml", code=1).stderr
    assert "missing cells" in refused
    public = ("--schema", "adult.toml")
    said = run("fit", *FITS[fit], "adult.csv", *public, "--epsilon", 2, "--report", "fit.html").stdout
    assert "income=>50K" in said
    assert "Traceback" not in (adult / "fit.html").read_text()
    if fit in ("mixture", "factors"):
        run("sample", "model.tacit", "-n", 500, "-o", "synthetic.parquet")
        compared = run_json("compare", "adult.csv", "synthetic.parquet", *public, "--target", "income")
        assert compared["column_error"] < 0.5
    if fit == "mixture":
        run("predict", "model.tacit", "adult.csv", "-o", "p.csv")  # the gaps included
        assert pyarrow.csv.read_csv(adult / "p.csv").num_rows == 4000


def test_measurements_without_names(run, folder):
    source = SHARED / "lifesci.csv"
    if not source.is_file():
        pytest.skip("the Life Sciences table is not beside the project")
    with source.open() as lines:
        rows = list(itertools.islice(lines, 3000))
    (folder / "life.csv").write_text("".join(rows))
    assert "must name the columns" in run("fit", "moments", "life.csv", "--bounds", -20, 20, code=1).stderr
    (folder / "life.csv").write_text("".join([",".join(f"v{j}" for j in range(11)) + "\n", *rows]))
    run("fit", "moments", "life.csv", "--bounds", -20, 20, "-o", "m.tacit")
    run("fit", "factors", "--from-moments", "m.tacit", "-k", 2, "-o", "f.tacit", "--report", "f.html")
    run("fit", "kmeans", "life.csv", "--bounds", -20, 20, "-k", 4, "-o", "k.tacit", "--report", "k.html")
    assert load_model(folder / "k.tacit").cluster_centers_.shape == (4, 11)
    run("predict", "k.tacit", "life.csv", "-o", "clusters.csv")
    run("predict", "f.tacit", "life.csv", "-o", "factors.csv")
