"""What must be believed to believe the guarantee, in lines of code: ``python docs/trusted_core.py``.

Rows are read by some rooms alone. A mistake there can break the promise. A mistake anywhere else cannot, because what
is outside sees released values only, and replay tests prove that by machine. The script counts the lines of these rooms
(without blank lines, comments and docstrings), and of these the ones in modules that default estimators run through
while they are fitted: it fits each of them and watches.
"""

from __future__ import annotations

import ast
import sys
import warnings
from pathlib import Path

import tacit

PACKAGE = Path(tacit.__file__).parent
ROOMS = {
    "privacy": "what a plan costs, and what was spent",
    "release": "the door: sums, noise, choices, minima, row maps",
    "statistics": "the bound of every statistic",
    "sources": "every row once, in blocks, the same on retry",
    "tables": "encoding, row by row",
}
MODULES = {
    "kernels.py": "that linear algebra computes a row alike everywhere",
    "rounding.py": "how far floating point may be off",
    "published/em_gradients.py": "values of rows that published methods alone sum",
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
    """Fit every estimator once, with its defaults."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=400)
    both = {"bounds": 5.0, "target_bounds": 10.0}
    for model in (tacit.GaussianMixture(2, bounds=5.0), tacit.KMeans(2, bounds=5.0), tacit.Moments(bounds=5.0)):
        model.fit(X)
    for model in (tacit.FactorAnalysis(1, bounds=5.0), tacit.TableModel(bounds=5.0), tacit.RobustMean()):
        model.fit(X)
    tacit.SymmetricMixture(bounds=5.0).fit(X)
    for kind in (tacit.LinearRegression, tacit.Ridge, tacit.Lasso, tacit.ElasticNet, tacit.HuberRegressor):
        kind(**both).fit(X, y)
    for kind in (tacit.MixtureOfRegressions, tacit.MissingCovariateRegression):
        kind(**both).fit(X, y)
    for kind in (tacit.LogisticRegression, tacit.LinearSVC):
        kind(bounds=5.0, classes=[0, 1]).fit(X, (y > 0).astype(int))


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
        found[room] = (
            sum(map(lines_of_code, files)),
            sum(lines_of_code(path) for path in files if path in entered),
        )
    return found


def table() -> str:
    """Return the counts as a table in Markdown."""
    rows = ["| what | what is believed | lines | of these, default estimators run through |", "|---|---|---|---|"]
    found = counts()
    for room, (lines, used) in found.items():
        rows.append(f"| `{room}` | {(ROOMS | MODULES)[room]} | {lines:,} | {used:,} |")
    total = [sum(column) for column in zip(*found.values())]
    return "\n".join([*rows, f"| all | | {total[0]:,} | {total[1]:,} |"])


if __name__ == "__main__":
    print(table())
