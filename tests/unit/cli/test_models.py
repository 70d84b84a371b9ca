"""Clusters, moments and factors from the command line: fitted, charged, reported and refused as a mixture is."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import tacit
from tacit.privacy import Budget, Ledger
from tacit.storage import load_model

PUBLIC = ("--schema", "schema.toml")
FITS = {
    "mixture": ("mixture", "people.csv", "-k", 2),
    "kmeans": ("kmeans", "people.csv", "-k", 2),
    "moments": ("moments", "people.csv"),
    "factors": ("factors", "people.csv", "-k", 2),
}
KINDS = {"kmeans": tacit.KMeans, "moments": tacit.Moments, "factors": tacit.FactorAnalysis}
LEDGER = ("--ledger", "study.db", "--dataset", "people")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def account(folder):
    return Ledger(folder / "study.db").create("people", Budget(1.0, 1e-6))


def test_a_fit_is_saved_reported_and_charged(run, run_json, folder, account, kind):
    said = run("fit", *FITS[kind], *PUBLIC, *LEDGER, "--epsilon", 0.4, "--report", "r.html", "-o", "m.tacit").stdout
    assert "people.csv at epsilon 0.4" in said
    assert all(words in said for words in ("region=north", "m.tacit", "r.html", "Left"))
    model = load_model(folder / "m.tacit")
    assert type(model) is KINDS[kind]
    assert not model.privacy_.seeded
    assert model.privacy_.budget == Budget(0.4, 1e-6)
    assert len(account.history()) == 1
    assert (folder / "r.html").read_text().startswith("<!doctype html>")
    assert run("certificate", "m.tacit").stdout == model.privacy_.text() + "\n"
    assert run_json("report", "m.tacit", "-o", "again.html")["path"] == "again.html"


def test_wide_tables_do_not_flood_the_screen(run, folder, kind):
    table = {f"c{j}": np.random.default_rng(j).normal(size=300) for j in range(90)}
    pa.parquet.write_table(pa.table(table), folder / "wide.parquet")
    size = () if kind == "moments" else ("-k", 2)
    said = run("fit", kind, "wide.parquet", *size, "--bounds", -9, 9).stdout
    assert "more lines; --json and the model file have them" in said
    assert "c89" not in said
    assert "c79" in said or kind == "factors"  # Factors have one line more, of what they explain.


def test_fits_in_json(run_json):
    values = {kind: run_json("fit", *FITS[kind], *PUBLIC, "--force") for kind in KINDS}
    columns = ["age", "income", "smoker", "region=north", "region=south", "region=west"]
    for each in values.values():
        assert each["columns"] == columns
        assert each["certificate"]["rows"] == 1500
        assert each["remaining"] is None
    assert np.shape(values["kmeans"]["centres"]) == np.shape(values["factors"]["loadings"]) == (2, 6)
    assert np.shape(values["moments"]["covariance"]) == (6, 6)
    assert values["moments"]["count"] == 1500


@pytest.mark.parametrize(
    ("fit", "options", "note"),
    [
        ("kmeans", ("--method", "dplloyd", "--delta", 0), "method dplloyd"),
        ("kmeans", ("--bounds", 0, 200, "--neighbors", "add_remove"), "method adaptive"),
        ("moments", ("--method", "staged", "--bounds", "private"), "method staged"),
        ("moments", ("--radius", 300, "--missing", "ignore"), "Rows with missing cells were left out"),
        ("factors", ("--method", "paper", "--radius", 300), "method paper"),
    ],
)
def test_options_reach_the_estimators(run_json, fit, options, note):
    bounds = () if {"--bounds", "--radius"} & set(options) else ("--bounds", 0, 200)
    components = () if fit == "moments" else ("-k", 1)
    values = run_json("fit", fit, "numbers.csv", *components, *bounds, *options)
    assert note in " ".join(values["certificate"]["notes"])


def test_a_seed_is_reproducible_and_said_to_be_not_private(run, folder, kind):
    for name in ("a.tacit", "b.tacit"):
        assert "NOT PRIVATE" in run("fit", *FITS[kind], *PUBLIC, "--seed", 3, "-o", name).stderr
    assert (folder / "a.tacit").read_bytes() == (folder / "b.tacit").read_bytes()


def test_factors_of_stored_moments_cost_nothing_more(run, run_json, folder, account):
    run("fit", "moments", "people.csv", *PUBLIC, *LEDGER, "-o", "moments.tacit")
    free = ("fit", "factors", "--from-moments", "moments.tacit", "-k")
    said = run(*free, 2, "-o", "two.tacit", "--report", "two.html").stdout
    assert "No row was read and nothing further was spent" in " ".join(said.split())
    values = run_json(*free, 1, "-o", "one.tacit")
    assert len(account.history()) == 1
    moments, two = load_model(folder / "moments.tacit"), load_model(folder / "two.tacit")
    expected = tacit.FactorAnalysis.from_moments(moments, 2)
    np.testing.assert_array_equal(two.components_, expected.components_)
    assert values["certificate"]["plan"] == json.loads(moments.privacy_.to_json())["plan"]
    assert "at no further cost" in values["certificate"]["notes"][0]
    assert "already a file" in run(*free, 2, "-o", "two.tacit", code=1).stderr
    assert "from 1 to the number of columns, 6" in run(*free, 7, "-o", "x.tacit", code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-k", 2), "Pass DATA or --from-moments MODEL, one of them"),
        (("people.csv", "-k", 2, "--from-moments", "m.tacit"), "Pass DATA or --from-moments MODEL, one of them"),
        (("-k", 2, "--from-moments", "m.tacit", "--epsilon", 2), "leave out --epsilon"),
        (("-k", 2, "--from-moments", "m.tacit", *PUBLIC, "--seed", 1), "leave out --schema, --seed"),
        (("--from-moments", "m.tacit"), "Missing option"),
    ],
)
def test_what_means_nothing_beside_stored_moments_is_refused(run, arguments, words):
    refused = run("fit", "factors", *arguments, code=2)
    assert refused.stdout == ""
    assert words in " ".join(refused.stderr.replace("│", " ").split())


def test_a_seed_of_moments_is_not_forgotten(run):
    run("fit", "moments", "people.csv", *PUBLIC, "--seed", 1, "-o", "m.tacit")
    assert "NOT PRIVATE" in run("fit", "factors", "--from-moments", "m.tacit", "-k", 1).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--epsilon", 1.5), 3, "its budget is epsilon 1"),
        (("--epsilon", 0), 1, "epsilon must be a positive"),
        (("--delta", 2), 1, "delta must be at least 0"),
        (("--neighbors", "add_remove"), 1, "neighbors='replace_one'"),
        (("-o", "none/m.tacit"), 1, "does not exist"),
        (("-o", "people.csv"), 1, "already a file"),
        (("--report", "r.pdf"), 1, "must be named .html"),
        (("--radius", 3), 2, "Pass one of --schema and --radius"),
        (("--method", "magic"), 2, "magic"),
        (("--missing", "model"), 2, "model"),
    ],
)
def test_refusals_cost_nothing(run, folder, account, kind, arguments, code, words):
    before = sorted(folder.iterdir())
    result = run("fit", *FITS[kind], *PUBLIC, *LEDGER, *arguments, code=code)
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""
    assert account.history() == []
    assert sorted(folder.iterdir()) == before


def test_the_ledger_may_be_named_once_for_all(run, account, kind, monkeypatch):
    monkeypatch.setenv("TACIT_LEDGER", "study.db")
    run("fit", *FITS[kind], *PUBLIC, "--dataset", "people", "--epsilon", 0.5)
    assert len(account.history()) == 1
    refused = run("fit", *FITS[kind], *PUBLIC, "--force", code=2).stderr
    assert "belong together" in " ".join(refused.replace("│", " ").split())


def test_columns_and_bounds_that_are_wrong(run, kind):
    size = () if kind == "moments" else ("-k", 2)
    assert "--schema FILE" in run("fit", kind, "numbers.csv", *size, code=1).stderr
    assert "the table lacks" in run("fit", kind, "numbers.csv", *size, *PUBLIC, code=1).stderr
    assert "There is no file" in run("fit", kind, "none.csv", *size, *PUBLIC, code=1).stderr
    if size:
        assert "must be a whole number" in run("fit", kind, "people.csv", "-k", 0, *PUBLIC, code=1).stderr


def test_samples_of_factors_have_the_schemas_types(run, run_json, folder):
    run("fit", *FITS["factors"], *PUBLIC, "-o", "f.tacit")
    assert run_json("sample", "f.tacit", "-n", 200, "-o", "s.csv")["columns"] == ["age", "income", "smoker", "region"]
    run("schema", "check", "schema.toml", "s.csv")
    assert set(pa.csv.read_csv(folder / "s.csv")["region"].to_pylist()) <= {"north", "south", "west"}


@pytest.mark.parametrize("kind", ["kmeans", "moments"], indirect=True)
def test_what_has_no_density_is_not_sampled(run, folder, kind):
    run("fit", *FITS[kind], *PUBLIC, "-o", "m.tacit")
    assert "has no density to draw rows from" in run("sample", "m.tacit", "-o", "s.csv", code=1).stderr
    assert not (folder / "s.csv").exists()


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
@pytest.mark.parametrize("fit", ["mixture", "kmeans", "factors"])
def test_predictions_are_those_of_the_model_and_labelled(run, folder, fit, name):
    run("fit", *FITS[fit], *PUBLIC, "-o", "m.tacit")
    result = run("predict", "m.tacit", "people.csv", "-o", name)
    assert result.stderr.startswith("NOT PRIVATE")
    path = folder / name
    written = pa.csv.read_csv(path) if path.suffix == ".csv" else pa.parquet.read_table(path)
    model, people = load_model(folder / "m.tacit"), "people.csv"
    if fit == "factors":
        expected = {f"factor_{k + 1}": model.transform(people)[:, k] for k in range(2)}
        expected["log_density"] = model.score_samples(people)
    elif fit == "kmeans":
        expected = {"cluster": model.predict(people) + 1}
        expected |= {f"distance_{k + 1}": model.transform(people)[:, k] for k in range(2)}
    else:
        expected = {"component": model.predict(people) + 1}
        expected |= {f"probability_{k + 1}": model.predict_proba(people)[:, k] for k in range(2)}
        expected["log_density"] = model.score_samples(people)
    assert written.column_names == list(expected)
    for column, values in expected.items():
        np.testing.assert_allclose(written[column].to_numpy(), values, rtol=1e-12, atol=1e-300)


def test_predictions_in_json_and_with_other_columns(run, run_json, folder):
    run("fit", "kmeans", "numbers.csv", "-k", 2, "--bounds", 0, 200, "-o", "m.tacit")
    values = run_json("predict", "m.tacit", "people.csv", "-o", "p.csv")  # More columns than the model has.
    assert (values["private"], values["warning"][:11], values["rows"]) == (False, "NOT PRIVATE", 1500)
    np.testing.assert_array_equal(
        pa.csv.read_csv(folder / "p.csv")["cluster"].to_numpy(),
        load_model(folder / "m.tacit").predict(folder / "numbers.csv") + 1,
    )


def test_predictions_that_are_refused(run, folder):
    run("fit", *FITS["kmeans"], *PUBLIC, "-o", "k.tacit")
    run("fit", *FITS["moments"], *PUBLIC, "-o", "m.tacit")
    (folder / "gaps.csv").write_text("age,income,smoker,region\n40,,true,north\n")
    before = sorted(folder.iterdir())
    for arguments, words in (
        (("m.tacit", "people.csv", "-o", "p.csv"), "says nothing about single rows"),
        (("k.tacit", "numbers.csv", "-o", "p.csv"), "the table lacks"),
        (("k.tacit", "none.csv", "-o", "p.csv"), "There is no file"),
        (("k.tacit", "gaps.csv", "-o", "p.csv"), "fill them in first"),
        (("k.tacit", "people.csv", "-o", "people.csv"), "already a file"),
        (("k.tacit", "people.csv", "-o", "p.xlsx"), "must be named .csv or .parquet"),
        (("people.csv", "people.csv", "-o", "p.csv"), "is not a model file"),
    ):
        assert words in " ".join(run("predict", *arguments, code=1).stderr.split())
    assert sorted(folder.iterdir()) == before


def test_missing_cells_are_predicted_where_they_are_modelled(run, folder):
    run("fit", *FITS["mixture"], *PUBLIC, "--missing", "model", "-o", "m.tacit")
    (folder / "gaps.csv").write_text("age,income,smoker,region\n40,,true,north\n,,,\n")
    run("predict", "m.tacit", "gaps.csv", "-o", "p.csv")
    written = pa.csv.read_csv(folder / "p.csv")
    np.testing.assert_allclose(written["log_density"][1].as_py(), 0.0, atol=1e-9)  # nothing is known of nothing
