"""What must be believed to believe the guarantee, in lines of code.

``python docs/trusted_core.py`` prints the table, and ``python docs/trusted_core.py --write`` puts it into
``docs/architecture.md``.

Rows are read by some rooms alone. A mistake there can break the promise. A mistake anywhere else cannot, because what
is outside sees released values only, and replay tests prove that by machine. The script counts the lines of these rooms
(without blank lines, comments and docstrings), and of these the ones in modules that default estimators run through
while they are fitted: it fits each of them and watches.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from pathlib import Path

import tacit
from tacit.models import CARDS, Without

PACKAGE = Path(tacit.__file__).parent
PAGE = Path(__file__).with_name("architecture.md")
ROOMS = {
    "privacy": "what a plan costs, and what was spent",
    "release": "the door: sums, noise, choices, minima, row maps",
    "statistics": "the bound of every statistic",
    "published/statistics": "the bound of statistics that published methods alone use",
    "sources": "every row once, in blocks, the same on retry",
    "tables": "encoding, row by row",
}
MODULES = {
    "kernels.py": "that linear algebra computes a row alike everywhere",
    "rounding.py": "how far floating point may be off",
}


def lines_of_code(path: Path) -> int:
    """Return the number of lines that hold code: no blank line, comment or docstring."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    documented = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            string = node.body[0]
            documented.update(range(string.lineno, (string.end_lineno or string.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and line.strip()[0] != "#" for number, line in lines if number not in documented)


def default_fits() -> None:
    """Fit every model of the registry that has a command, as its card says is usual."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=400)
    targets = {None: (), "number": (y,), "class": ((y > 0).astype(int),)}
    public = {None: {}, "number": {"target_bounds": 10.0}, "class": {"classes": [0, 1]}}
    for card in CARDS.values():
        if not isinstance(card.command, Without):
            card.estimator(**{"bounds": 5.0, **public[card.target], **card.usual()}).fit(X, *targets[card.target])


def modules_entered() -> set[Path]:
    """Return the files of this package that a function was called in while default estimators were fitted."""
    entered: set[str] = set()

    def watch(frame, event, argument):  # called for every call of a function
        entered.add(frame.f_code.co_filename)

    for name in tacit.__all__:  # Import all estimators now: a module that is only imported does not count.
        getattr(tacit, name)
    sys.setprofile(watch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            default_fits()
    finally:
        sys.setprofile(None)
    return {Path(name) for name in entered if name.startswith(str(PACKAGE))}


def counts() -> dict[str, tuple[int, int]]:
    """Return, for each room, its lines of code, and those in modules that default estimators run through."""
    entered = modules_entered()
    found = {}
    for room in (*ROOMS, *MODULES):
        files = sorted((PACKAGE / room).rglob("*.py")) if room in ROOMS else [PACKAGE / room]
        used = [path for path in files if path in entered or room in MODULES]  # Constants run through no function.
        found[room] = (sum(map(lines_of_code, files)), sum(map(lines_of_code, used)))
    return found


def table() -> str:
    """Return the counts as a table in Markdown."""
    rows = ["| what | what is believed | lines | of these, default estimators run through |", "|---|---|---|---|"]
    found = counts()
    for room, (lines, used) in found.items():
        rows.append(f"| `{room}` | {(ROOMS | MODULES)[room]} | {lines:,} | {used:,} |")
    total = [sum(column) for column in zip(*found.values())]
    return "\n".join([*rows, f"| all | | {total[0]:,} | {total[1]:,} |"])


def with_table(page: str, table: str) -> str:
    """Return the page with this table in the place of the one that it has."""
    return re.sub(r"\| what \| what is believed \|.*?\| all \|[^\n]*", lambda _: table, page, flags=re.DOTALL)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table()), encoding="utf-8")
    else:
        print(table())
