"""Regressions from the command line: fitted, charged, reported, predicted and refused as other models are."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import tacit
from tacit.privacy import Budget, Ledger
from tacit.storage import load_model

PUBLIC = ("--schema", "schema.toml", "--target", "income")
LEDGER = ("--ledger", "study.db", "--dataset", "people")
KINDS = {"regressions": tacit.MixtureOfRegressions, "missing-regression": tacit.MissingCovariateRegression}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def account(folder):
    return Ledger(folder / "study.db").create("people", Budget(1.0, 1e-6))


def test_a_fit_is_saved_reported_and_charged(run, run_json, folder, account, kind):
    said = run("fit", kind, "people.csv", *PUBLIC, *LEDGER, "--epsilon", 0.4, "--report", "r.html", "-o", "m.tacit")
    for words in (
        "people.csv at epsilon 0.4",
        "region=north",
        "smoker",
        "(intercept)",
        "(residuals)",
        "m.tacit",
        "Left",
    ):
        assert words in said.stdout
    model = load_model(folder / "m.tacit")
    assert type(model) is KINDS[kind]
    assert model.privacy_.budget == Budget(0.4, 1e-6)
    assert len(account.history()) == 1
    assert "income" in (folder / "r.html").read_text()
    assert run_json("report", "m.tacit", "-o", "again.html")["path"] == "again.html"


def test_fits_in_json(run_json, kind):
    values = run_json("fit", kind, "people.csv", *PUBLIC)
    assert values["target"] == "income"
    assert values["columns"] == ["age", "smoker", "region=north", "region=south", "region=west"]
    assert np.shape(values["coefficients"]) == np.shape(values["errors"]) == (1, 5)
    assert np.shape(values["intercepts"]) == np.shape(values["scales"]) == np.shape(values["weights"]) == (1,)
    assert values["certificate"]["rows"] == 1500


def test_groups_intercepts_and_bounds_reach_the_estimator(run, run_json, folder):
    options = ("--bounds", 0, 200, "--target", "income", "--target-bounds", -100, 100, "-k", 2, "--no-intercept")
    values = run_json("fit", "regressions", "numbers.csv", *options)
    assert np.shape(values["coefficients"]) == (2, 1)
    model = load_model(folder / "model.tacit")
    assert (model.n_components, model.fit_intercept, model.bounds) == (2, False, (0, 200))
    assert model.target_bounds == (-100, 100)
    assert model.intercept_ == pytest.approx([0.0, 0.0], abs=1e-9)
    run("fit", "regressions", "numbers.csv", "--radius", 200, "--target", "age", "-o", "same.tacit")
    assert load_model(folder / "same.tacit").target_bounds == 200  # those of all columns
    run("fit", "missing-regression", "numbers.csv", "--bounds", "private", "--target", "age", "-o", "private.tacit")
    assert load_model(folder / "private.tacit").target_bounds is None


def test_predictions_with_and_without_the_target(run, folder):
    run("fit", "regressions", "people.csv", *PUBLIC, "-k", 2, "-o", "m.tacit")
    model, people = load_model(folder / "m.tacit"), pa.csv.read_csv("people.csv")
    assert run("predict", "m.tacit", "people.csv", "-o", "p.csv").stderr.startswith("NOT PRIVATE")
    written = pa.csv.read_csv("p.csv")
    incomes = people["income"].to_numpy()
    np.testing.assert_allclose(written["prediction"], model.predict(people), rtol=1e-12)
    np.testing.assert_allclose(written["probability_1"], model.predict_proba(people, incomes)[:, 0], rtol=1e-9)
    np.testing.assert_allclose(written["log_density"], model.log_density(people, incomes), rtol=1e-12)
    assert set(written["component"].to_pylist()) <= {1, 2}
    pa.csv.write_csv(people.drop_columns(["income"]), folder / "new.csv")
    run("predict", "m.tacit", "new.csv", "-o", "n.csv")
    without = pa.csv.read_csv("n.csv")
    assert without.column_names == ["prediction", "prediction_1", "prediction_2"]
    np.testing.assert_array_equal(without["prediction"], written["prediction"])


def test_gaps_are_fitted_and_predicted_where_they_may_be(run, folder):
    text = (folder / "people.csv").read_text().splitlines()
    text[1:400] = [without_age(line) for line in text[1:400]]
    (folder / "gaps.csv").write_text("\n".join(text) + "\n")
    assert "missing cells" in run("fit", "regressions", "gaps.csv", *PUBLIC, code=1).stderr
    run("fit", "regressions", "gaps.csv", *PUBLIC, "--missing", "ignore", "-o", "left-out.tacit")
    run("fit", "missing-regression", "gaps.csv", *PUBLIC, "-o", "m.tacit")
    run("predict", "m.tacit", "gaps.csv", "-o", "p.csv")
    assert np.isfinite(pa.csv.read_csv("p.csv")["prediction"].to_numpy()).all()


def without_age(line):
    identity, _, *rest = line.split(",")
    return ",".join([identity, "", *rest])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--epsilon", 1.5), 3, "its budget is epsilon 1"),
        (("--target", "wages"), 1, "y is the name of one of its columns"),
        (("--target", "region"), 1, "must be a column of numbers"),
        (("--target-bounds", 0, 5), 1, "the schema has the target's bounds"),
        (("-o", "people.csv"), 1, "already a file"),
    ],
)
def test_refusals_cost_nothing(run, folder, account, kind, arguments, code, words):
    before = sorted(folder.iterdir())
    result = run("fit", kind, "people.csv", *PUBLIC, *LEDGER, *arguments, code=code)
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert account.history() == []
    assert sorted(folder.iterdir()) == before


def test_a_target_must_be_named_and_there(run, kind):
    assert "--target" in run("fit", kind, "people.csv", "--schema", "schema.toml", code=2).stderr
    refused = run("fit", kind, "numbers.csv", "--bounds", 0, 99, "--target", "wages", code=1).stderr
    assert "no column of that name" in " ".join(refused.split())


def test_regressions_are_not_sampled(run):
    run("fit", "regressions", "people.csv", *PUBLIC, "-o", "m.tacit")
    assert "has no density to draw rows from" in run("sample", "m.tacit", "-o", "s.csv", code=1).stderr


def test_plans_need_a_target_where_there_is_a_schema(run, run_json):
    plan = ("plan", "--model", "regressions", "--rows", 2000, "-k", 1, "--tables", 1, "--epsilon", 1)
    values = run_json(*plan, "--schema", "schema.toml", "--target", "income")
    assert values["components"] == 1
    assert values["expected"][0]["prediction_error"] < 1
    assert "predictions off by" in run(*plan, "--columns", 3).stdout
    for arguments in ((), ("--target", "region")):
        refused = run(*plan, "--schema", "schema.toml", *arguments, code=2).stderr
        assert "a column of numbers: age, income" in " ".join(refused.replace("│", " ").split())
    refused = run("plan", "--columns", 3, "--rows", 2000, "-k", 1, "--target", "income", code=2).stderr
    assert "--target is for models of one column by the others" in " ".join(refused.replace("│", " ").split())
