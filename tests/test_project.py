"""The project keeps its own rules: cheap checks of everything at once."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import tacit
from tacit.models import CARDS

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "src" / "tacit").rglob("*.py"))
PACKAGES = [module.name for module in pkgutil.iter_modules(tacit.__path__) if module.ispkg]
ROOMS = ["tacit", *(f"tacit.{name}" for name in PACKAGES if name != "cli")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Places on somebody's machine, and hosts that packages happen to come from; written so that they are not found here.
FORBIDDEN = re.compile("|".join(["/(?:work|tmp|root|home|opt)" + "/", "py" + "pi", "python" + "hosted"]), re.IGNORECASE)


def tracked_files() -> list[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def documented() -> set[object]:
    """The modules, classes and functions that the pages of the API show; a name that does not exist is an error.

    Estimators of the registry are shown by ``docs/hooks.py``.
    """
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    shown = {pkgutil.resolve_name(name) for name in re.findall(r"^::: (\S+)$", pages, re.MULTILINE)}
    return shown | {card.estimator for card in CARDS.values()}


def test_files_speak_of_the_project_alone():
    """No tracked text names a place on somebody's machine or where packages come from."""
    found = []
    for path in tracked_files():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue  # a picture or a table
        found += [
            f"{path.relative_to(ROOT)}:{number}" for number, line in enumerate(lines, 1) if FORBIDDEN.search(line)
        ]
    assert found == []


def test_every_module_says_what_it_is_for():
    """The first thing to read in a file is a sentence."""
    silent = [path for path in MODULES if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert silent == []


def test_no_file_holds_more_than_one_idea_can_take():
    """400 lines are enough for one idea."""
    long = {path.name: count for path in MODULES if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400}
    assert long == {}


def test_nothing_is_checked_by_assert():
    """Python leaves out ``assert`` where it runs with -O, and the check with it."""
    room = Path(tacit.__file__).parent
    asserting = {
        str(path.relative_to(room))
        for path in room.rglob("*.py")
        if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert asserting == set()


def test_no_two_test_files_have_one_name():
    """They are imported by their names, and the second of two could not be."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_one_version_and_one_licence():
    """The package, its metadata, the changelog and the licence agree."""
    assert tacit.__version__ == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_arrows_between_rooms_point_one_way():
    """The contracts of import-linter hold."""
    pytest.importorskip("importlinter")
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    advice = "Add the room to `layers` in pyproject.toml.\n" if "not listed as layers" in done.stdout else ""
    assert done.returncode == 0, advice + done.stdout + done.stderr


def test_the_map_has_every_room():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    missing = [name for name in PACKAGES if f"| `{name}/` |" not in page]
    assert not missing, f"Add {', '.join(missing)} to the table of rooms in docs/architecture.md."


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_are_there_and_documented(room):
    """Each class and function that a room exports is on a page of the documentation, by itself or with its module."""
    module, shown = importlib.import_module(room), documented()
    exported = [getattr(module, name) for name in module.__all__]
    public = [each for each in exported if inspect.isclass(each) or inspect.isroutine(each)]
    hidden = [f"::: {room}.{each.__name__}" for each in public if not {each, sys.modules[each.__module__]} & shown]
    assert not hidden, f"Add to the page about {room} in docs/api/: {', '.join(hidden)}."


def test_every_make_target_is_explained():
    """`make help` lists whatever CONTRIBUTING.md and the README tell people to make."""
    offered = set(re.findall(r"^(\w+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert set(re.findall(r"(?:^|`)make (\w+)", text, re.MULTILINE)) <= offered
