"""Nothing about a model can be forgotten: every public estimator has a card, and every card is complete and true.

A card says how a model is shown, stored, offered on the command line, forecast and used for predictions; where it lacks
something, it says why in a sentence. Beside the card a model needs a page of the documentation, a line in the list of
commands and in the changelog, an audit and the checks of scikit-learn. What is missing is told in a sentence.
"""

import ast
import inspect
import re
import runpy
import warnings
from dataclasses import replace
from enum import EnumMeta
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli.app import app
from tacit.cli.forecast import forecast
from tacit.models import CARDS, Without, card_named, find_card, register
from tacit.models.command import REQUIRED
from tacit.models.registry import commands, forecast_cards
from tacit.models.reports import step_meanings
from tacit.models.trials.simulation import Setting
from tacit.report import report_html
from tacit.sources import as_source
from usual_fits import BOUNDS, REFUSED, REFUSED_HINT, X, usual_fit

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "tests"
PRIVACY = TESTS / "privacy"
PUBLIC = {name for name in tacit.__all__ if hasattr(getattr(tacit, name), "fit")}
NAMES = list(CARDS)
COMMANDS = commands()
SENTENCE = re.compile(r"[A-Z].+\.")


def having(what):
    return [card.name for card in CARDS.values() if not isinstance(getattr(card, what), Without)]


@cache
def fitted(name, bounds=None):
    rows, options = usual_fit(card_named(name), bounds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return getattr(tacit, name)(**options, random_state=0).fit(*rows)


def test_every_public_estimator_is_registered_once():
    for name in sorted(PUBLIC - {*NAMES}):
        pytest.fail(
            f"{name} is public and has no card: write one in src/tacit/models/, and name its family in registry.py."
        )
    for name in sorted({*NAMES} - PUBLIC):
        pytest.fail(f"{name} has a card and is not public: add it to src/tacit/__init__.pyi.")
    assert len(NAMES) == len({*NAMES})


@pytest.mark.parametrize("name", NAMES)
def test_a_card_is_found_by_name_by_model_and_by_a_class_derived_from_it(name):
    card, estimator = card_named(name), getattr(tacit, name)
    derived = type("Derived", (estimator,), {})
    assert card.estimator is estimator
    assert find_card(object.__new__(estimator)) is find_card(object.__new__(derived)) is card


def test_what_only_has_the_name_of_an_estimator_has_no_card():
    assert find_card(type("Ridge", (), {})()) is None


@pytest.mark.parametrize("name", NAMES)
def test_what_a_model_lacks_has_a_reason(name):
    lacks = [value.reason for value in vars(card_named(name)).values() if isinstance(value, Without)]
    assert [reason for reason in lacks if not SENTENCE.fullmatch(reason)] == []


@pytest.mark.parametrize("name", NAMES)
def test_functions_that_are_imported_later_are_there(name):
    card = card_named(name)
    for part in (card.presentation, getattr(card.trial, "draw", None)):
        if callable(part):
            assert callable(getattr(import_module(part.__module__), part.__name__))


@pytest.mark.parametrize("name", having("presentation"))
def test_a_model_has_a_page_of_its_own(name):
    page = report_html(fitted(name))
    assert "Before you rely on it" in page
    assert "Seeded noise protects nobody" in page  # its cautions are those of the certificate, and more


@pytest.mark.parametrize("name", having("presentation"))
def test_a_page_says_what_each_release_measures(name):
    meanings, steps = step_meanings(card_named(name)), {each.name for each in fitted(name).privacy_.releases}
    unsaid = sorted(steps - {*meanings})
    assert not unsaid, f"The card of {name} must say in `steps` what these measure: {', '.join(unsaid)}."
    page = report_html(fitted(name))
    assert [step for step in steps if escape(meanings[step]) not in page] == []


@pytest.mark.parametrize("name", sorted({*NAMES} - {*having("presentation")}))
def test_a_model_without_a_page_is_refused(name):
    with pytest.raises(TypeError, match="A report is about a fitted model"):
        report_html(fitted(name))


@pytest.mark.parametrize("name", having("stored"))
def test_an_estimator_has_what_a_file_needs(name):
    model = fitted(name)
    lacks = [member for member in ("_about", "_stored", "_restore", "n_iter_") if not hasattr(model, member)]
    complaints = (
        [f"{name} lacks {', '.join(lacks)}; the docstring of PrivateEstimator says what they are."] if lacks else []
    )
    about = getattr(model, "_about", "nothing else.")
    if not about.endswith(".") or re.match(r"(A|An|The|It|They)\b", about):
        complaints.append(f'_about of {name} must end the sentence "A row is centre + scale * z, and ...".')
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("name", having("stored"))
def test_a_stored_model_reads_back_exactly(name, bounds, tmp_path):
    if (name, bounds) in REFUSED:
        return
    try:
        model, card = fitted(name, bounds), card_named(name)
    except ValueError as refusal:
        pytest.fail(f"{name} with {bounds} bounds was refused: {refusal}\n{REFUSED_HINT}")
    first = tacit.save_model(model, tmp_path / "first.tacit")
    again = tacit.load_model(first)
    assert type(again) is type(model)
    assert tacit.save_model(again, tmp_path / "second.tacit").read_bytes() == first.read_bytes()
    unsaid = {*model._stored()} - {*card.stored}
    assert not unsaid, f"The card of {name} must say in `stored` what {unsaid} hold."
    assert {*card.parameters} <= {*inspect.signature(card.estimator).parameters}
    for key, value in vars(model).items():
        if key.endswith("_") and isinstance(value, np.ndarray | float | int):
            np.testing.assert_array_equal(getattr(again, key), value)


@pytest.mark.parametrize("name", sorted({*NAMES} - {*having("stored")}))
def test_a_model_that_no_file_holds_is_refused(name, tmp_path):
    with pytest.raises(TypeError, match="A model file holds one of"):
        tacit.save_model(fitted(name), tmp_path / "model.tacit")


def requests(command):
    """Yield what a command fits, with each word that each of its options takes."""
    usual = {each.name: "y" if each.default is REQUIRED else each.default for each in command.options}
    for option in command.options:
        words = list(option.type) if isinstance(option.type, EnumMeta) else [usual[option.name]]
        for word in words:
            yield command.to_fit(usual | {option.name: word}, True)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_fits_the_models_that_have_it_with_options_they_know(command):
    fits = list(requests(command))
    assert {each.estimator for each in fits} == {card.name for card in CARDS.values() if card.command is command}
    for estimator, parameters in fits:
        known = {*inspect.signature(getattr(tacit, estimator)).parameters, "target"}
        assert {*parameters} <= known


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_is_offered_and_explained(command):
    shown = CliRunner().invoke(app, ["fit", command.name, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert command.help.split(".")[0] in re.sub(r"\s+", " ", shown.stdout)
    for option in command.options:
        assert (option.flags or (f"--{option.name.replace('_', '-')}",))[0] in shown.stdout
    assert all(example.startswith("tacit fit ") for example in command.examples)


@pytest.mark.parametrize("name", having("results"))
def test_what_a_command_fits_is_shown_and_summarised(name):
    results, model = card_named(name).results, fitted(name)
    assert re.fullmatch(r"[A-Z].* (to|in|of)", results.words(model))
    assert list(results.blocks(model))
    assert results.summary(model)


def test_every_model_has_a_command_a_page_and_a_stored_form_but_a_loss_of_ones_own():
    for what in ("command", "results", "presentation", "stored"):
        for name in sorted({*NAMES} - {*having(what)} - {"ERM"}):
            pytest.fail(f"The card of {name} has no `{what}`; only a loss of one's own may do without.")


def test_no_model_or_command_takes_the_name_of_another():
    card = card_named("KMeans")
    for other in (card, replace(card, name="Other", command=replace(card.command))):
        with pytest.raises(ValueError, match="already; choose another"):
            register(other)
    assert list(CARDS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_has_a_plan_that_its_budget_covers(name):
    certificate = fitted(name).privacy_
    assert certificate.plan.steps
    assert certificate.delta(certificate.budget.epsilon) <= certificate.budget.delta


@pytest.mark.parametrize("kind", forecast_cards())
def test_a_forecast_has_figures_with_names(kind):
    card, trial = forecast_cards()[kind], forecast_cards()[kind].trial
    (expected,) = forecast(kind, Setting.of(None, 3), 500, None if trial.size is None else 2, [20.0], tables=1)
    worst = {f"worst_{name}" for name, figure in trial.figures.items() if figure.worst}
    assert {*expected.figures} <= {*trial.figures} | worst
    assert {each.parameter or each.name for each in trial.options} <= {*inspect.signature(card.estimator).parameters}
    assert {*trial.options} <= {*card.command.options}


@pytest.mark.parametrize("name", having("predictions"))
def test_predictions_are_columns_with_a_cell_for_each_row(name):
    columns = card_named(name).predictions.columns(fitted(name), as_source(X))
    assert columns
    assert {np.shape(column) for column in columns.values()} == {(len(X),)}


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_draws_rows_does(name):
    if card_named(name).draws_rows:
        assert fitted(name).sample(5, 0) is not None
    assert not card_named(name).draws_rows or name in having("command")


@cache
def attacked():
    """The names that code, not comments, uses in files of tests/privacy that run an audit or an attack."""
    names, tools = set(), {"audit_estimator", "audit_outputs", "attack_sensitivity", "Transcript"}
    for path in (path for kind in ("audit*", "*attacked", "transcript*") for path in PRIVACY.glob(f"test_{kind}.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        called = {getattr(each.func, "id", None) for each in nodes if isinstance(each, ast.Call)}
        if called & tools:
            names |= {getattr(each, "attr", None) or getattr(each, "id", None) for each in nodes}
    return names


@cache
def checked_by_scikit_learn():
    """The estimators that scikit-learn's checks are run on, anywhere in the tests."""
    names = set()
    for path in (TESTS / "unit").rglob("test_*.py"):
        if "@parametrize_with_checks" in path.read_text(encoding="utf-8") and path != Path(__file__):
            for each in runpy.run_path(str(path)).values():
                marks = getattr(each, "pytestmark", []) if inspect.isfunction(each) else []
                cases = [case for mark in marks if mark.args[:1] == ("estimator, check",) for case in mark.args[1]]
                names |= {card.name for case in cases if (card := find_card(getattr(case, "values", case)[0]))}
    return names


def lacking(card):
    """Yield a sentence for each thing that a model lacks beside its card."""
    page = ROOT / "docs" / card.docs
    if not (page.is_file() and re.search(rf"\b{card.name}\b", page.read_text(encoding="utf-8"))):
        yield f"Write docs/{card.docs}, which the card of {card.name} names, and name the estimator there."
    if not re.search(rf"\b{card.name}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        yield f"Tell users in CHANGELOG.md that there is {card.name}."
    commands_page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    if not isinstance(card.command, Without) and f"`tacit fit {card.command.name} " not in commands_page:
        yield f"Add `tacit fit {card.command.name} DATA` to the table in docs/cli.md."
    if card.name not in attacked():  # Beside the audit that tests/privacy/test_audit_every_model.py gives it.
        yield (
            f"Audit tacit.{card.name} in a file tests/privacy/test_audit_*.py by audit_estimator, with neighbours that "
            "are hard for it and options that are its own; tests/privacy/test_audit_kmeans.py is an example."
        )
    if card.name not in checked_by_scikit_learn():
        yield (
            f"Run scikit-learn's checks on tacit.{card.name} in tests/unit/: a test with "
            "@parametrize_with_checks([...]) of sklearn.utils.estimator_checks."
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_model_has_its_pages_an_audit_of_its_own_and_the_checks_of_scikit_learn(name):
    complaints = list(lacking(card_named(name)))
    assert not complaints, "\n".join(complaints)


def test_all_that_a_model_lacks_is_told_at_once():
    command = replace(card_named("KMeans").command, name="unwritten")
    told = list(lacking(replace(card_named("KMeans"), name="Unwritten", docs="unwritten.md", command=command)))
    assert len(told) == 5
    assert [sentence for sentence in told if not SENTENCE.fullmatch(sentence)] == []


@pytest.mark.parametrize("room", ["storage", "cli"])
def test_a_room_has_no_list_of_models_of_its_own(room):
    """``tacit demo`` shows one model, of its choice."""
    named = set()
    for path in (ROOT / "src" / "tacit" / room).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "id", None) or getattr(node, "attr", None)
            names = {name} | {alias.name for alias in getattr(node, "names", []) if isinstance(alias, ast.alias)}
            if names & PUBLIC and path.name != "demo.py":
                named.add(path.name)
    assert named == set()


@pytest.mark.parametrize(
    "options", [("huber", "--target", "b"), ("svc", "--target", "c", "--classes", "0", "1"), ("mean",), ("symmetric",)]
)
def test_a_command_fits_saves_reports_and_predicts(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("a", "b", "c") if "--classes" in options else ("a", "b")
    columns = [X, (X[:, :1] > 0).astype(int)][: len(names) - 1]
    np.savetxt("rows.csv", np.hstack(columns), delimiter=",", header=",".join(names), comments="", fmt="%.6g")
    known = () if options == ("mean",) else ("--bounds", "-1", "1")
    run = CliRunner().invoke(app, ["fit", options[0], "rows.csv", *known, *options[1:], "--report", "page.html"])
    assert run.exit_code == 0, run.output
    model = tacit.load_model("model.tacit")
    assert "What was found" in Path("page.html").read_text(encoding="utf-8")
    if not isinstance(find_card(model).predictions, Without):
        run = CliRunner().invoke(app, ["predict", "model.tacit", "rows.csv", "-o", "out.csv"])
        assert run.exit_code == 0, run.output
        assert len(Path("out.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(X)
