"""The code in README.md and in the documentation runs, as it stands."""

import re
import shlex
from pathlib import Path

import pytest
import rich
from typer.testing import CliRunner

from tacit.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r'^```(python|sh|toml)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """The code blocks that are tried: language, file name if there is one, text."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


# tests/unit/models/test_worked_example.py runs the model of the map, and takes it out of the registry again.
RUN = [page for page in PAGES if blocks(page) and page.stem != "architecture"]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_code_runs(page, tmp_path, monkeypatch):
    """The blocks of a page run in order, in an empty folder: Python in one session, titled ones become files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rich, "_console", None)  # commands send progress to standard error, for the whole process
    session = {"__name__": "__main__"}
    for language, title, text in blocks(page):
        if title:
            Path(title).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, page.name, "exec"), session)
        else:
            for command in text.splitlines():
                program, *arguments = shlex.split(command)
                done = CliRunner().invoke(app, arguments)
                assert (program, done.exit_code) == ("tacit", 0), f"{command}\n{done.output}"


def test_the_example_in_the_readme_is_ten_lines():
    """It is what people copy first."""
    (example,) = [text for language, _, text in blocks(ROOT / "README.md") if language == "python"]
    assert len([line for line in example.splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_pictures_are_there(page):
    """Links to files of the project lead somewhere."""
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert missing == []
