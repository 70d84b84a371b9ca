"""Each command does what its help says, for people and, with --json, for machines."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import tacit
from tacit.cli.app import app
from tacit.cli.fit_options import _save
from tacit.storage import load_model
from tacit.tables import Schema

FIT = ("fit", "mixture", "people.csv", "--schema", "schema.toml", "-k", 2)
SMALL_PLAN = ("plan", "-n", 400, "-d", 2, "-k", 2, "--tables", 1, "--epsilon", 0.5, "--epsilon", 4)


def test_version(run):
    assert run("--version").stdout == f"tacit {tacit.__version__}\n"


@pytest.mark.parametrize(
    "command",
    [
        *("", "demo", "plan", "sample", "compare", "predict", "report", "certificate", "fit"),
        *("fit mixture", "fit kmeans", "fit table", "fit moments", "fit factors"),
        *("schema", "schema init", "schema check"),
        *("budget", "budget create", "budget show", "budget list", "budget history", "budget verify"),
    ],
)
def test_every_command_has_help(run, command):
    text = run(*command.split(), "--help").stdout
    assert "Usage: " in text
    if command.startswith("fit ") or command in (
        "",
        "plan",
        "predict",
        "sample",
        "compare",
        "budget create",
        "schema init",
    ):
        assert "Examples" in text


def test_demo_prints_the_certificate_and_writes_the_report(run, folder):
    result = run("demo", "--components", 2, "--output", "page.html")
    assert "Privacy certificate" in result.stdout
    assert "SEEDED" not in result.stdout
    assert "page.html" in result.stdout.splitlines()[-1]
    assert (folder / "page.html").read_text().lower().startswith("<!doctype html>")


def test_demo_in_json(run_json):
    values = run_json("demo", "--components", 1, "--epsilon", 0.5, "--seed", 3)
    assert values["report"] == "demo-report.html"
    assert values["certificate"]["seeded"]
    assert values["certificate"]["budget"]["epsilon"] == 0.5


def test_without_a_seed_noise_is_fresh(run_json):
    first, second = (run_json(*FIT, "--force")["means"] for _ in range(2))
    assert first != second


def test_the_number_of_components_is_chosen(run, folder):
    said = run("fit", "mixture", "numbers.csv", "--bounds", 0, 120, "-k", "auto", "--epsilon", 4, "--seed", 0).stdout
    model = load_model(folder / "model.tacit")
    assert model.n_components_ == 2
    assert "Fitted 2 component(s)" in said
    assert "chosen privately from 1 to 10" in run("certificate", "model.tacit").stdout
    refused = run("fit", "mixture", "numbers.csv", "--bounds", 0, 120, "-k", "several", code=2).stderr
    assert "neither a whole number nor auto" in " ".join(refused.replace("│", " ").split())


def test_a_template_is_filled_in_and_checked(run, run_json, folder):
    values = run_json("schema", "init", "people.csv", "-o", "new.toml")
    assert values == {
        "path": "new.toml",
        "columns": ["id", "age", "income", "smoker", "region"],
        "blanks": 5,  # types: a CSV file declares none
        "read_from_rows": False,
    }
    problems = run("schema", "check", "new.toml", code=1).stderr
    assert all(f"Column {name!r}: type is blank" in problems for name in ("id", "age", "income", "smoker", "region"))


def test_a_template_of_a_parquet_file_has_its_types(run, run_json, folder):
    pa.parquet.write_table(pa.csv.read_csv(folder / "people.csv"), folder / "people.parquet")
    assert run_json("schema", "init", "people.parquet", "-o", "new.toml")["blanks"] == 7
    text = (folder / "new.toml").read_text()
    problems = run("schema", "check", "new.toml", code=1).stderr
    assert all(f"Column {name!r}" in problems for name in ("id", "age", "income", "region"))
    assert "'smoker'" not in problems
    filled = text.replace('low = ""', "low = 0").replace('high = ""', "high = 2000")
    (folder / "new.toml").write_text(filled.replace("levels = []", 'levels = ["north", "south", "west"]'))
    assert "people.csv can be read with it." in run("schema", "check", "new.toml", "people.csv").stdout
    assert run_json("schema", "check", "new.toml", "people.csv")["missing_cells"] is False


def test_a_template_holds_nothing_of_the_rows_unless_asked(run, folder):
    run("schema", "init", "people.csv", "-o", "blank.toml")
    run("schema", "init", "people.csv", "-o", "peeked.toml", "--peek")
    assert '"north"' not in (folder / "blank.toml").read_text()
    peeked = (folder / "peeked.toml").read_text()
    assert '"north"' in peeked
    assert "NOT PRIVATE" in peeked


def test_what_was_peeked_is_said_by_every_command(run, run_json, folder):
    said = run("schema", "init", "people.csv", "-o", "peeked.toml", "--peek").stderr
    assert 'delete the lines source = "peeked"' in " ".join(said.split())
    text = (folder / "peeked.toml").read_text()
    assert text.count('source = "peeked"  # NOT PRIVATE') == 5  # types too were read from the rows
    peeked = ["id", "age", "income", "smoker", "region"]
    assert run_json("schema", "check", "peeked.toml")["peeked"] == peeked
    assert "was read from the rows" in run("schema", "check", "peeked.toml").stderr
    options = ("--schema", "peeked.toml", "-k", 1, "--report", "page.html")
    assert (
        "Warning: The schema says that it was read from the rows"
        in run("fit", "mixture", "people.csv", *options).stderr
    )
    assert "BOUNDS READ FROM THE ROWS" in run("certificate", "model.tacit").stdout
    assert run_json("certificate", "model.tacit")["peeked"] == peeked
    assert "BOUNDS READ FROM THE ROWS" in (folder / "page.html").read_text()


def test_no_cell_changes_what_schema_init_prints(run, folder):
    """One cell used to turn an integer into a number, and the file was said not to be read from rows."""
    (folder / "one.csv").write_text("age\n31\n45\n")
    (folder / "other.csv").write_text("age\n31.5\n45\n")
    assert run("schema", "init", "one.csv", "-o", "-").stdout == run("schema", "init", "other.csv", "-o", "-").stdout


def test_a_template_can_be_printed(run, run_json):
    assert "[columns.age]" in run("schema", "init", "people.csv", "-o", "-").stdout
    assert "[columns.age]" in run_json("schema", "init", "people.csv", "-o", "-")["schema"]


def test_a_filled_in_schema_is_not_overwritten(run, folder):
    before = (folder / "schema.toml").read_text()
    assert "already a file" in run("schema", "init", "people.csv", code=1).stderr
    assert (folder / "schema.toml").read_text() == before
    run("schema", "init", "people.csv", "--force")
    assert (folder / "schema.toml").read_text() != before


def test_check_says_that_cells_are_missing(run_json, folder):
    (folder / "gaps.csv").write_text("age,income,smoker,region\n40,,true,north\n")
    assert run_json("schema", "check", "schema.toml", "gaps.csv")["missing_cells"] is True


def test_plan_shows_errors_and_noise(run):
    text = run(*SMALL_PLAN).stdout
    assert "Error to expect from privacy" in text
    assert "moments" in text


def test_plan_in_json(run_json):
    values = run_json(*SMALL_PLAN)
    assert [each["epsilon"] for each in values["expected"]] == [0.5, 4.0]
    assert values["expected"][0]["gap"] > values["expected"][1]["gap"]
    assert all(each["plan"]["steps"] for each in values["expected"])
    assert values["columns"] == 2


@pytest.mark.parametrize(
    ("model", "parts", "figures"),
    [
        ("mixture", "components", ["gap", "worst_gap", "mean_error", "level_error", "weight_error", "found"]),
        ("kmeans", "clusters", ["excess", "worst_excess", "centre_error", "found"]),
        ("factors", "factors", ["gap", "worst_gap", "factors_kept"]),
        ("moments", None, ["mean_error", "deviation_error", "correlation_error"]),
    ],
)
def test_plan_simulates_tables_of_the_schemas_kinds(run, run_json, model, parts, figures):
    size = () if parts is None else (f"--{parts}", 2)
    arguments = ("plan", "--model", model, "--schema", "schema.toml", "-n", 400, *size, "--tables", 1, "--epsilon", 1)
    values = run_json(*arguments)
    assert (values["columns"], values["numbers"]) == (4, 6)
    (expected,) = values["expected"]
    assert [name for name in expected if name not in ("epsilon", "plan")] == figures
    assert parts is None or values[parts] == 2
    assert all(np.isfinite(expected[name]) for name in figures)
    assert "Error to expect from privacy" in run(*arguments).stdout


def test_plan_shows_steps_that_depend_on_epsilon(run):
    text = run(
        "plan", "--model", "moments", "-d", 40, "-n", 9000, "--tables", 1, "--epsilon", 0.05, "--epsilon", 3
    ).stdout
    lines = [line.split() for line in text.splitlines() if "moments" in line]
    assert [line[0] for line in lines] == ["second", "refining"]
    assert (lines[0][-1], lines[1][-2]) == ("-", "-")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "moments", "-d", 3, "-n", 99, "-k", 2), "--model moments has no parts"),
        (("--model", "kmeans", "-d", 3, "-n", 99), "Pass --clusters NUMBER"),
        (("-d", 3, "-n", 99), "Pass --components NUMBER"),
        (("--model", "factors", "-d", 3, "-n", 99, "-k", 1, "--covariance", "diag"), "--covariance is for mixture;"),
        (("--model", "forest", "-d", 3, "-n", 99, "-k", 1), "forest"),
    ],
)
def test_plans_that_make_no_sense(run, arguments, words):
    assert words in " ".join(run("plan", *arguments, code=2).stderr.replace("│", " ").split())


def test_plan_warns_of_a_large_delta_once(run):
    assert run(*SMALL_PLAN, "--delta", 0.01).stderr.count("one over the number of rows") == 1


def test_fit_saves_a_model_and_a_report(run, folder):
    result = run(*FIT, "-o", "m.tacit", "--report", "r.html")
    model = load_model(folder / "m.tacit")
    assert model.privacy_.budget == tacit.Budget(1.0, 1e-6)
    assert not model.privacy_.seeded
    assert model.bounds == Schema.from_toml(folder / "schema.toml")
    assert (folder / "r.html").stat().st_size > 1000
    assert "m.tacit" in result.stdout
    assert "region=north" in result.stdout


def test_fit_in_json(run_json):
    values = run_json(*FIT, "--epsilon", 4, "--neighbors", "add_remove", "--covariance", "diag")
    assert values["model"] == "model.tacit"
    assert sum(values["weights"]) == pytest.approx(1)
    assert np.shape(values["means"]) == np.shape(values["standard_deviations"]) == (2, len(values["columns"]))
    assert values["certificate"]["plan"]["neighbors"] == "add_remove"
    assert values["certificate"]["rows"] is None


def test_fit_finds_the_groups_that_there_are(run_json):
    values = run_json("fit", "mixture", "numbers.csv", "--bounds", 0, 200, "-k", 2, "--epsilon", 20)
    young, old = sorted(values["means"])
    np.testing.assert_allclose(young, [30, 60], atol=3)
    np.testing.assert_allclose(old, [65, 25], atol=3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--bounds", 0, 200), "a box"),
        (("--bounds", -1e3, 200), "from -1000 to 200"),
        (("--radius", 300), "a ball of radius 300"),
        (("--bounds", "private"), "found privately"),
        (("--private-bounds",), "found privately"),
    ],
)
def test_bounds_of_tables_of_numbers(run_json, options, words):
    values = run_json("fit", "mixture", "numbers.csv", "-k", 1, *options)
    assert words in values["certificate"]["bounds"]
    assert values["columns"] == ["age", "income"]


@pytest.mark.parametrize("method", ["joint", "per_parameter"])
def test_methods(run_json, method):
    values = run_json("fit", "mixture", "numbers.csv", "-k", 1, "--radius", 300, "--method", method)
    assert f"method {method}" in values["certificate"]["notes"][0]


def test_a_seed_is_reproducible_and_said_to_be_not_private(run, folder):
    texts = []
    for name in ("a.tacit", "b.tacit"):
        assert "NOT PRIVATE" in run(*FIT, "--seed", 5, "-o", name).stderr
        texts.append((folder / name).read_text())
    assert texts[0] == texts[1]
    assert "SEEDED: NOT PRIVATE" in run("certificate", "a.tacit").stdout


def test_a_model_that_was_paid_for_is_not_overwritten(run, fitted):
    before = fitted.read_bytes()
    assert "already a file" in run(*FIT, code=1).stderr
    assert fitted.read_bytes() == before


def test_a_model_that_was_paid_for_is_not_lost(fitted, tmp_path, capsys):
    model = load_model(fitted)
    path = _save(model, tmp_path / "gone" / "model.tacit")
    np.testing.assert_array_equal(load_model(path).means_, model.means_)
    assert str(path) in capsys.readouterr().err.replace("\n", "")


@pytest.mark.parametrize("name", ["synthetic.csv", "synthetic.parquet"])
def test_samples_have_the_types_and_categories_of_the_schema(run, folder, fitted, name):
    run("sample", fitted, "-n", 300, "-o", name)
    path = folder / name
    table = pa.csv.read_csv(path) if path.suffix == ".csv" else pa.parquet.read_table(path)
    assert table.column_names == ["age", "income", "smoker", "region"]
    assert [str(field.type) for field in table.schema] == ["int64", "double", "bool", "string"]
    assert set(table["region"].to_pylist()) <= {"north", "south", "west"}
    assert all(0 <= age <= 120 for age in table["age"].to_pylist())
    assert table.num_rows == 300
    run("schema", "check", "schema.toml", name)


def test_samples_of_many_parts_are_whole_mixed_and_reproducible(run_json, folder, monkeypatch):
    run_json("fit", "mixture", "numbers.csv", "--bounds", 0, 200, "-k", 2, "--epsilon", 20)
    monkeypatch.setattr("tacit.cli.model._PART_ROWS", 700)
    assert run_json("sample", "model.tacit", "-n", 2000, "-o", "a.csv", "--seed", 1)["rows"] == 2000
    run_json("sample", "model.tacit", "-n", 2000, "-o", "b.csv", "--seed", 1)
    run_json("sample", "model.tacit", "-n", 2000, "-o", "c.csv")
    a, b, c = ((folder / f"{name}.csv").read_text() for name in "abc")
    assert a == b != c
    ages = np.array(pa.csv.read_csv(folder / "a.csv")["age"])
    assert len(ages) == 2000
    first, second = ages[:350].mean(), ages[350:700].mean()
    assert abs(first - second) < 8  # 35 years apart if they came component by component


def test_samples_without_a_schema_keep_the_names(run, run_json, folder):
    run("fit", "mixture", "numbers.csv", "-k", 1, "--bounds", 0, 200, "-o", "n.tacit")
    assert run_json("sample", "n.tacit", "-n", 10, "-o", "n.csv")["columns"] == ["age", "income"]
    assert max(pa.csv.read_csv(folder / "n.csv")["age"].to_pylist()) <= 200


def test_compare_says_first_that_it_is_not_private(run, run_json, fitted):
    run("sample", fitted, "-n", 1500, "-o", "synthetic.csv")
    command = ("compare", "people.csv", "synthetic.csv", "--schema", "schema.toml", "--target", "smoker")
    text = run(*command).stdout
    assert text.startswith("NOT PRIVATE")
    assert all(words in text for words in ("1,500 real and 1,500 synthetic rows", "income", "age and income", "AUC"))
    values = run_json(*command)
    assert (values["private"], values["warning"][:11]) == (False, "NOT PRIVATE")
    assert [each["column"] for each in values["columns"]] == ["age", "income", "smoker", "region"]
    assert len(values["pairs"]) == 6
    assert [each["measure"] for each in values["scores"]] == ["accuracy", "AUC"]


def test_compare_of_a_table_with_itself(run_json):
    values = run_json("compare", "people.csv", "people.csv", "--schema", "schema.toml")
    assert values["column_error"] == values["pair_error"] == values["association_error"] == 0
    assert values["scores"] == []


def test_compare_refuses_in_sentences(run, folder):
    (folder / "part.csv").write_text("age,income\n40,20\n")
    assert (
        "lacks: 'smoker', 'region'"
        in run("compare", "people.csv", "part.csv", "--schema", "schema.toml", code=1).stderr
    )
    wrong = ("compare", "people.csv", "people.csv", "--schema", "schema.toml", "--target", "smokes")
    assert "Did you mean 'smoker'" in run(*wrong, code=1).stderr


def test_report_of_a_model(run, run_json, folder, fitted):
    assert run("report", fitted).stdout.strip().endswith("report.html")
    path = run_json("report", fitted, "-o", "r.html", "--title", "Our people", "--pair", "age,income")["path"]
    assert "Our people" in (folder / path).read_text()


def test_certificate_of_a_model(run, run_json, fitted):
    certificate = load_model(fitted).privacy_
    assert run("certificate", fitted).stdout == certificate.text() + "\n"
    assert tacit.Certificate.from_json(json.dumps(run_json("certificate", fitted))) == certificate


def test_a_ledger_from_creation_to_verification(run, run_json):
    state = run_json("budget", "create", "study.db", "people", "--epsilon", 2)
    assert (state["epsilon"], state["remaining"], state["charges"]) == (2.0, 2.0, 0)
    values = run_json(*FIT, "--ledger", "study.db", "--dataset", "people")
    assert 1.0 < values["remaining"] < 2.0
    shown = run_json("budget", "show", "study.db", "people")
    assert shown["remaining"] == values["remaining"]
    assert shown["spent"] == pytest.approx(1.0, rel=1e-6)
    assert run_json("budget", "list", "study.db") == [shown]
    (receipt,) = run_json("budget", "history", "study.db", "people")
    assert receipt["purpose"].startswith("GaussianMixture(2")
    assert json.loads(receipt["plan_json"])["steps"]
    assert run_json("budget", "verify", "study.db") == {"whole": True, "charges": {"people": 1}}
    for command in ("show", "history", "verify"):
        assert run("budget", command, "study.db", "people").stdout
    assert "people" in run("budget", "list", "study.db").stdout


def test_messages_about_budgets_show_no_password(run):
    result = run("budget", "list", "postgresql://ana:secret@localhost:1/none", code=1)
    assert "secret" not in result.stdout + result.stderr


def test_the_order_of_commands_lists_all_of_them():
    from typer.main import get_command

    command = get_command(app)
    assert sorted(command.list_commands(None)) == sorted(command.commands)


def test_a_folder_and_dask_workers(run, run_json, folder):
    """The same table in two files; on workers noise is drawn for a hair more. Unknown engines are named."""
    pytest.importorskip("distributed")
    table = pa.csv.read_csv(folder / "people.csv")
    (folder / "people").mkdir()
    for part in range(2):
        pa.parquet.write_table(table.slice(part * 750, 750), folder / "people" / f"{part}.parquet")
    options = ["--schema", "schema.toml", "--seed", 0, "--epsilon", 4, "--force"]
    file, local, there = (
        run_json("fit", "moments", *each, *options)
        for each in (["people.csv"], ["people"], ["people", "--engine", "dask://local"])
    )
    assert file["mean"] == local["mean"]
    assert there["mean"][:2] == pytest.approx(local["mean"][:2], rel=0.1)
    refused = run("fit", "moments", "people", *options, "--engine", "abacus", code=1)
    assert "The engine must be one of local, dask" in refused.stderr
