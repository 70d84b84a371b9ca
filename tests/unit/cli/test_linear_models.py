"""Linear and logistic regressions from the command line: fitted, charged, predicted and refused as other models are."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import tacit
from tacit.privacy import Budget, Ledger
from tacit.storage import load_model

SCHEMA = ("--schema", "schema.toml")
LEDGER = ("--ledger", "study.db", "--dataset", "people")
TARGETS = {"linear": "income", "logistic": "smoker"}
PENALTIES = {
    "none": tacit.LinearRegression,
    "ridge": tacit.Ridge,
    "lasso": tacit.Lasso,
    "elastic-net": tacit.ElasticNet,
}


@pytest.fixture
def account(folder):
    return Ledger(folder / "study.db").create("people", Budget(1.0, 1e-6))


def words_of(text):
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize("kind", TARGETS)
def test_a_fit_is_saved_and_charged(run, folder, account, kind):
    target = TARGETS[kind]
    said = run(
        *("fit", kind, "people.csv", *SCHEMA, "--target", target, *LEDGER, "--epsilon", 0.4),
        *("-o", "m.tacit", "--report", "r.html"),
    ).stdout
    for words in ("people.csv at epsilon 0.4", "region=north", "age", "(intercept)", "± one standard error", "Left"):
        assert words in said
    model = load_model(folder / "m.tacit")
    assert type(model) is {"linear": tacit.LinearRegression, "logistic": tacit.LogisticRegression}[kind]
    assert model.privacy_.budget == Budget(0.4, 1e-6)
    assert len(account.history()) == 1
    run("report", "m.tacit", "-o", "again.html", "--title", "people.csv")
    first, again = ((folder / name).read_text() for name in ("r.html", "again.html"))
    assert re.sub(r"page made on [^;.]+", "", first) == re.sub(r"page made on [^;.]+", "", again)
    assert target in first


def test_what_is_printed_adds_up_to_predictions(run, folder):
    said = run("fit", "linear", "people.csv", *SCHEMA, "--target", "income", "--epsilon", 50).stdout
    model, people = load_model(folder / "model.tacit"), pa.csv.read_csv("people.csv")
    printed = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.strip()}
    place = list(model._domain.names).index("smoker")
    assert float(printed["smoker"][0]) == pytest.approx(2 * model.coef_[place], abs=0.06)
    changed = people.set_column(people.column_names.index("smoker"), "smoker", pa.array([True] * len(people)))
    other = people.set_column(people.column_names.index("smoker"), "smoker", pa.array([False] * len(people)))
    np.testing.assert_allclose(model.predict(changed) - model.predict(other), 2 * model.coef_[place])
    names = ("age", "smoker", "region=north", "region=south", "region=west", "(intercept)")
    age, smoker, north, south, west, intercept = (float(printed[name][0]) for name in names)
    assert north + south + west == pytest.approx(0.0, abs=0.05)
    first = people.slice(0, 400).to_pylist()
    row = next(each for each in first if each["region"] == "north" and each["smoker"])
    predicted = intercept + age * row["age"] + smoker + north
    assert predicted == pytest.approx(model.predict(pa.Table.from_pylist([row]))[0], abs=0.8)  # It prints few digits.


def test_linear_fits_in_json(run_json):
    values = run_json("fit", "linear", "people.csv", *SCHEMA, "--target", "income")
    assert values["target"] == "income"
    assert values["columns"] == ["age", "smoker", "region=north", "region=south", "region=west"]
    assert np.shape(values["coefficients"]) == np.shape(values["errors"]) == (1, 5)
    assert np.shape(values["intercepts"]) == np.shape(values["intercept_errors"]) == (1,)
    assert values["noise_variance"] > 0
    assert values["certificate"]["rows"] == 1500


@pytest.mark.parametrize("penalty", PENALTIES)
def test_penalties_intercepts_and_bounds_reach_the_estimator(run, run_json, folder, penalty):
    options = ("--bounds", 0, 200, "--target", "income", "--target-bounds", -100, 100, "--no-intercept")
    alpha = () if penalty == "none" else ("--alpha", 0.25)
    ratio = ("--l1-ratio", 0.75) if penalty == "elastic-net" else ()
    values = run_json("fit", "linear", "numbers.csv", *options, "--penalty", penalty, *alpha, *ratio)
    assert (values["errors"] is None) == (penalty != "none")
    model = load_model(folder / "model.tacit")
    assert type(model) is PENALTIES[penalty]
    assert (model.fit_intercept, model.bounds, model.target_bounds) == (False, (0, 200), (-100, 100))
    assert getattr(model, "alpha", 0.25) == 0.25
    assert getattr(model, "l1_ratio", 0.75) == 0.75
    said = run(
        "fit", "linear", "numbers.csv", "--bounds", "private", "--target", "age", "--penalty", penalty, "--force"
    )
    assert ("standard error" in said.stdout) == (penalty == "none")


def test_predictions_with_and_without_the_target(run, folder):
    run("fit", "linear", "people.csv", *SCHEMA, "--target", "income", "-o", "m.tacit")
    model, people = load_model(folder / "m.tacit"), pa.csv.read_csv("people.csv")
    assert run("predict", "m.tacit", "people.csv", "-o", "p.csv").stderr.startswith("NOT PRIVATE")
    written = pa.csv.read_csv("p.csv")
    assert written.column_names == ["prediction"]
    np.testing.assert_allclose(written["prediction"], model.predict(people), rtol=1e-12)
    pa.csv.write_csv(people.drop_columns(["income"]), folder / "new.csv")
    run("predict", "m.tacit", "new.csv", "-o", "n.csv")
    np.testing.assert_array_equal(pa.csv.read_csv("n.csv")["prediction"], written["prediction"])


@pytest.mark.parametrize(("target", "classes"), [("smoker", [False, True]), ("region", ["north", "south", "west"])])
def test_classes_are_the_levels_of_the_schema(run, run_json, folder, target, classes):
    values = run_json("fit", "logistic", "people.csv", *SCHEMA, "--target", target, "-C", "inf", "-o", "m.tacit")
    assert (values["classes"], values["target"]) == (classes, target)
    predictions = 1 if len(classes) == 2 else len(classes)
    assert np.shape(values["coefficients"]) == np.shape(values["errors"]) == (predictions, len(values["columns"]))
    model, people = load_model(folder / "m.tacit"), pa.csv.read_csv("people.csv")
    assert np.inf == model.C
    run("predict", "m.tacit", "people.csv", "-o", "p.parquet")
    written = pa.parquet.read_table("p.parquet")
    assert written.column_names == ["prediction", *(f"probability_{label}" for label in classes)]
    assert written["prediction"].to_pylist() == model.predict(people).tolist()
    each = np.column_stack([written[name] for name in written.column_names[1:]])
    np.testing.assert_allclose(each, model.predict_proba(people), rtol=1e-12)
    pa.csv.write_csv(people.drop_columns([target]), folder / "new.csv")
    run("predict", "m.tacit", "new.csv", "-o", "n.parquet")
    assert pa.parquet.read_table("n.parquet").equals(written)


@pytest.mark.parametrize(
    ("words", "classes"),
    [
        (["low", "high"], ["high", "low"]),
        (["-1", "1"], [-1, 1]),
        (["0", "1"], [0, 1]),
        (["true", "false"], [False, True]),
        (["2", "0", "1"], [0, 1, 2]),
    ],
)
def test_classes_can_be_listed(run, run_json, folder, words, classes):
    ages = pa.csv.read_csv("numbers.csv")["age"].to_numpy()
    groups = np.digitize(ages, np.quantile(ages, np.arange(1, len(words)) / len(words)))
    columns = {"side": np.array(words)[groups], "age": ages}
    pa.csv.write_csv(pa.table(columns), folder / "sides.csv", pa.csv.WriteOptions(quoting_style="none"))
    options = ("--bounds", 0, 120, "--target", "side", "--epsilon", 5)
    values = run_json("fit", "logistic", "sides.csv", *options, "--classes", *words, "--no-intercept", "-o", "m.tacit")
    assert (values["classes"], values["columns"]) == (classes, ["age"])
    assert load_model(folder / "m.tacit").fit_intercept is False
    said = run("fit", "logistic", "--classes", *words, "--target", "side", "sides.csv", "--bounds", 0, 120, "--force")
    assert ("(label)" in said.stdout) == (len(words) > 2)
    run("predict", "model.tacit", "sides.csv", "-o", "p.csv")
    written = pa.csv.read_csv("p.csv")
    right = np.array(written["prediction"].to_pylist()) == np.array(pa.csv.read_csv("sides.csv")["side"].to_pylist())
    assert right.mean() > (0.9 if len(words) == 2 else 0.6)


@pytest.mark.parametrize("kind", [tacit.LinearSVC, tacit.HuberRegressor])
def test_models_that_no_command_fits_predict_too(run, folder, kind):
    schema = tacit.Schema.from_toml("schema.toml")
    people = pa.csv.read_csv("people.csv")
    model = kind(bounds=schema, epsilon=5.0).fit(people, "smoker" if kind is tacit.LinearSVC else "income")
    tacit.save_model(model, "m.tacit")
    run("predict", "m.tacit", "people.csv", "-o", "p.csv")
    written = pa.csv.read_csv("p.csv")
    assert written["prediction"].to_pylist() == pytest.approx(model.predict(people).tolist())
    assert written.column_names == (["prediction", "score"] if kind is tacit.LinearSVC else ["prediction"])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("linear", *SCHEMA, "--target", "income", "--epsilon", 1.5), 3, "its budget is epsilon 1"),
        (("linear", *SCHEMA, "--target", "region"), 1, "must be a column of numbers"),
        (("linear", *SCHEMA, "--target", "income", "--target-bounds", 0, 5), 1, "the schema has the target's bounds"),
        (("linear", *SCHEMA, "--target", "income", "-o", "people.csv"), 1, "already a file"),
        (("linear", *SCHEMA, "--target", "income", "--alpha", 1), 2, "pass --penalty ridge"),
        (("linear", *SCHEMA, "--target", "income", "--penalty", "lasso", "--alpha", -1), 1, "alpha must be a number"),
        (("linear", *SCHEMA, "--target", "income", "--penalty", "ridge", "--l1-ratio", 1), 2, "--penalty elastic-net"),
        (("linear", *SCHEMA, "--target", "income", "--report", "r.pdf"), 1, "must be named .html"),
        (("logistic", *SCHEMA, "--target", "smoker", "--report", "none/r.html"), 1, "does not exist"),
        (("logistic", *SCHEMA, "--target", "smoker", "--epsilon", 1.5), 3, "its budget is epsilon 1"),
        (("logistic", *SCHEMA, "--target", "wages"), 1, "classes is missing"),
        (("logistic", *SCHEMA, "--target", "income"), 1, "is a number; a class must be a category"),
        (("logistic", *SCHEMA, "--target", "smoker", "--classes", "no", "yes"), 2, "the schema has the levels"),
        (("logistic", *SCHEMA, "--target", "smoker", "-C", 0), 1, "C must be a positive number"),
        (("logistic", "--bounds", 0, 9, "--target", "smoker"), 1, "classes is missing"),
        (("logistic", "--bounds", 0, 9, "--target", "smoker", "--classes", "yes"), 1, "two or more different labels"),
        (("logistic", "--bounds", 0, 9, "--target", "wages", "--classes", "a", "b"), 1, "no column of that name"),
    ],
)
def test_refusals_cost_nothing(run, folder, account, arguments, code, words):
    before = sorted(folder.iterdir())
    result = run("fit", arguments[0], "people.csv", *LEDGER, *arguments[1:], code=code)
    assert words in words_of(result.stderr)
    assert account.history() == []
    assert sorted(folder.iterdir()) == before


def test_labels_that_are_not_listed_are_refused(run, folder, account):
    pa.csv.write_csv(pa.csv.read_csv("people.csv").select(["age", "region"]), folder / "regions.csv")
    options = ("--bounds", 0, 120, "--target", "region", "--classes", "north", "south", *LEDGER)
    run("fit", "logistic", "regions.csv", *options, code=1)
    assert account.history() == []
    assert not (folder / "model.tacit").exists()


def test_there_are_no_samples_of_them_nor_pairs_of_columns(run, folder):
    run("fit", "logistic", "people.csv", *SCHEMA, "--target", "smoker", "-o", "m.tacit")
    assert "has no density to draw rows from" in run("sample", "m.tacit", "-o", "s.csv", code=1).stderr
    assert "leave them out for this model" in run("report", "m.tacit", "--pair", "age,region", code=1).stderr
    assert "there are age, income, region." in words_of(run("report", "m.tacit", "--pair", "age,id", code=1).stderr)
    assert json.loads((folder / "m.tacit").read_text())["estimator"] == "LogisticRegression"
