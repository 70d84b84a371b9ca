"""The code in README.md and in the documentation runs, as it stands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
RUN = ("python", "sh", "toml")


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """The code blocks that are run: language, file name if there is one, text."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [(language, title, text) for language, title, text in found if language in RUN]


def shell(commands: str) -> None:
    """Run commands as a reader would, with the programs of this environment first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "COLUMNS": "120"}
    done = subprocess.run(["sh", "-e", "-c", commands], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_code_runs(page, tmp_path, monkeypatch):
    """The blocks of a page run in order, in an empty folder: Python in one session, titled ones become files."""
    monkeypatch.chdir(tmp_path)
    session = {"__name__": "__main__"}
    for language, title, text in blocks(page):
        if title:
            Path(title).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, f"{page.name}", "exec"), session)
        elif language == "sh":
            if shutil.which("sh") is None:
                pytest.skip("no shell")
            shell(text)


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
