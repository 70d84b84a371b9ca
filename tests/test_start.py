"""The library and its program start fast: nothing heavy is imported before it is used, and no name is lost by that."""

import ast
import doctest
import importlib
import json
import os
import pickle
import pkgutil
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

HEAVY = {
    *(
        "dp_accounting",
        "joblib",
        "matplotlib",
        "narwhals",
        "numpy",
        "pandas",
        "pyarrow",
        "randomgen",
        "scipy",
        "sklearn",
    ),
    *("threadpoolctl", "tacit.fitting", "tacit.release", "tacit.statistics"),
}
LAZY = ["tacit", "tacit.linear", "tacit.privacy", "tacit.published", "tacit.report", "tacit.tables"]
COMPLETION = {"_TACIT_COMPLETE": "complete_bash", "COMP_WORDS": "tacit fit m", "COMP_CWORD": "2"}
ALL_HELP = """
from typer.main import get_command
from tacit.cli.app import app

def show(command, name):
    context = command.make_context(name, [], resilient_parsing=True)
    assert command.get_help(context) is not None
    for each in getattr(command, "commands", {}).values():
        show(each, f"{name} {each.name}")

show(get_command(app), "tacit")
"""


def python(code, *arguments, **environment):
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def loaded(code, *arguments, **environment):
    """Return the names of all modules that a new process has imported after running code."""
    at_exit = "import atexit, json, sys; atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))"
    return set(json.loads(python(f"{at_exit}\n{code}", *arguments, **environment).stderr.splitlines()[-1]))


def promised(package):
    """Return which module each name of a package comes from, as type checkers read it."""
    stub = Path(importlib.import_module(package).__file__).with_suffix(".pyi")
    imports = [node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.asname: node.module for node in imports for alias in node.names}


def test_importing_the_library_imports_nothing_heavy():
    assert loaded("import tacit") & (HEAVY | {"rich", "typer"}) == set()


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["fit", "--help"], ["budget", "create", "--help"]])
def test_the_program_answers_without_anything_heavy(arguments):
    assert loaded("from tacit.cli import main; main()", *arguments) & HEAVY == set()


def test_completion_of_the_shell_imports_nothing_heavy():
    code = "from tacit.cli import main; main()"
    assert sorted(python(code, **COMPLETION).stdout.split()) == ["mean", "missing-regression", "mixture", "moments"]
    assert loaded(code, **COMPLETION) & HEAVY == set()


def test_no_command_needs_anything_heavy_to_explain_itself():
    """Whoever adds a command imports estimators in its function."""
    assert loaded(ALL_HELP) & HEAVY == set()


def test_an_estimator_brings_only_what_it_needs():
    rooms = {f"tacit.{room}" for room in ("audit", "cli", "report", "storage", "synthesis", "latent.gaussian_mixture")}
    assert loaded("import tacit; tacit.LinearRegression") & {*rooms, "dp_accounting", "matplotlib", "rich"} == set()


def test_a_ledger_needs_no_rows_and_no_estimators():
    assert loaded("import tacit; tacit.Ledger") & {"pyarrow", "randomgen", "scipy.stats", "sklearn"} == set()


@pytest.mark.parametrize("package", LAZY)
def test_python_and_type_checkers_see_the_same_names(package):
    module, names = importlib.import_module(package), promised(package)
    assert {*module.__all__} - {"__version__"} == {*names}
    for name, origin in names.items():
        assert module.__getattr__(name) is getattr(importlib.import_module(origin), name)


@pytest.mark.parametrize("package", LAZY)
def test_no_submodule_hides_a_name(package):
    """Python sets a submodule as an attribute of its package when it is imported, whatever was there."""
    module = importlib.import_module(package)
    assert {*module.__all__} & {each.name for each in pkgutil.iter_modules(module.__path__)} == set()


@pytest.mark.parametrize("package", LAZY)
def test_names_are_listed_imported_by_a_star_and_explained(package):
    code = (
        f"import {package} as room, pydoc; assert {{*room.__all__}} <= {{*dir(room)}}\n"
        f"given = {{}}; exec('from {package} import *', given); assert {{*room.__all__}} <= {{*given}}\n"
    )
    python(code)
    module = importlib.import_module(package)
    page = pydoc.render_doc(module, renderer=pydoc.plaintext)
    assert [name for name in module.__all__ if name.strip("_") not in page] == []
    assert doctest.DocTestFinder(exclude_empty=False).find(module)


def test_a_name_means_the_same_everywhere():
    assert tacit.GaussianMixture is tacit.mixture.GaussianMixture is tacit.mixture.gaussian_mixture.GaussianMixture
    assert isinstance(tacit.Budget(1.0), tacit.privacy.budget.Budget)


def test_submodules_are_attributes_as_before():
    """``import tacit`` was enough to write ``tacit.privacy.steps``."""
    python("import tacit; tacit.privacy.steps.Gaussian; tacit.sources.as_source; tacit.mixture.gaussian_mixture")


def test_pickles_are_read_where_nothing_was_imported(tmp_path):
    things = [tacit.Budget(1.0, 1e-6), tacit.KMeans(3, epsilon=2.0), tacit.Ridge]
    (tmp_path / "things").write_bytes(pickle.dumps(things))
    read = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')))"
    assert python(read, str(tmp_path / "things")).stdout == f"{things}\n"


def test_a_name_that_is_not_there_is_refused_as_usual():
    assert not hasattr(tacit, "GaussianMixtures")
    with pytest.raises(AttributeError, match="module 'tacit' has no attribute 'GaussianMixtures'"):
        tacit.GaussianMixtures  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'GaussianMixtures' from 'tacit'"):
        from tacit import GaussianMixtures  # noqa: F401


@pytest.mark.parametrize(
    ("package", "former", "present"),
    [
        ("release", "planned", "calibrated_plan"),
        ("release", "uncalibrated", "stated_plan"),
        ("sources", "opened", "open_source"),
        ("files", "written_whole", "write_whole"),
    ],
)
def test_former_names_work_with_a_warning(package, former, present):
    module = importlib.import_module(f"tacit.{package}")
    with pytest.warns(DeprecationWarning, match=f"{former} is tacit.{package}.{present} now"):
        assert getattr(module, former) is getattr(module, present)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = module.nonsense


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("erm.LogisticRegression", "linear.LogisticRegression"),
        ("latent.KMeans", "KMeans"),
        ("latent.MixtureIntervals", "mixture.MixtureIntervals"),
    ],
)
def test_former_rooms_answer_with_a_warning(former, present):
    room, name = former.split(".")
    with pytest.warns(DeprecationWarning, match=f"tacit.{former} is tacit.{present} now"):
        found = getattr(importlib.import_module(f"tacit.{room}"), name)
    assert found is pydoc.locate(f"tacit.{present}")
    with pytest.raises(AttributeError, match=f"module 'tacit.{room}' has no attribute 'nonsense'"):
        importlib.import_module(f"tacit.{room}").nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("from tacit.fitting import SupervisedEstimator", "tacit.fitting.SupervisedEstimator is gone: write a Private"),
        ("from tacit.statistics import StatedLoss", "tacit.statistics.StatedLoss is gone: the losses"),
        ("from tacit.statistics import Smoothed", "is tacit.published.statistics.Smoothed now."),
        ("import tacit.statistics; tacit.statistics.Smoothed", "is tacit.published.statistics.Smoothed now."),
        ("import tacit.erm.logistic_regression", "public names are in tacit.linear now. Pickles of models of version"),
        ("from tacit.erm.logistic_regression import LogisticRegression", "public names are in tacit.linear now."),
        ("from tacit.latent.uncertainty import MixtureIntervals", "public names are in tacit now."),
        ("from tacit.latent import k_means", "tacit.latent.k_means is a module of version 0.1"),
    ],
)
def test_names_of_version_0_1_that_are_gone_say_what_to_write(line, words):
    with pytest.raises(ImportError, match=words):
        exec(line, {})


def test_the_help_of_a_former_room_is_shown():
    assert "tacit.linear" in pydoc.render_doc(importlib.import_module("tacit.erm"), renderer=pydoc.plaintext)
