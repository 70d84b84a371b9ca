"""The parameters and attributes that all estimators have, documented once.

A class documents its own parameters. What it has in common with all others is added to its docstring when the class is
made, at the end of the sections ``Parameters`` and ``Attributes``. An entry that a class writes itself stays as it is.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection

_PARAMETERS = """
epsilon : float, default 1.0
delta : float, default 1e-6
    The privacy budget. delta should be well below 1 / number of rows.
bounds : float, (low, high), Schema or "private"
    What is publicly known about rows: a number r (every row is within r of the origin), a pair of numbers or of arrays,
    a :class:`tacit.Schema`, or "private" to spend a tenth of the budget on finding a range. Bounds may be coarse. They
    are never read from the rows.
target_bounds : float or (low, high)
    The same for the target: a number r (it is within r of zero), or a pair of numbers.
neighbors : {"replace_one", "add_remove"}, default "replace_one"
    What may differ about one person: with "replace_one" the values in her row, and the number of rows is public; with
    "add_remove" whether her row is there, and the number of rows is secret (though not that there are any).
missing : {"error", "ignore"}, default "error"
    What to do about missing cells: refuse, before anything is spent, or leave such rows out. A refusal tells that there
    are some. How many rows were left out is not told.
ledger : Account, optional
    The account that pays for the fit: ``tacit.Ledger("budget.db").account("my data")``.
random_state : int, optional
    Makes the noise reproducible, for tests and examples alone. Such a fit is *not* private, and its certificate says
    so.
verbose : bool, default False
    Show a progress bar.
"""

_INPUT_BOUNDS = """
bounds : float, (low, high), Schema or "private"
    What is publicly known about the inputs: a number r (each is within r of zero), a pair of numbers or of arrays, a
    :class:`tacit.Schema` (`y` is then the name of one of its columns), or "private" to spend a tenth of the budget on
    finding ranges. Bounds may be coarse. They are never read from the rows.
"""

_ATTRIBUTES = """
n_features_in_ : int
feature_names_in_ : array
    Where the columns of the rows have names.
privacy_ : Certificate
    What was released, with how much noise, and what that guarantees.
"""

_ENTRY = re.compile(r"^(?=[A-Za-z])", re.MULTILINE)
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def _entries(text: str) -> dict[str, str]:
    """Return the entries of a numpydoc section, by the names they document."""
    entries = {}
    for entry in _ENTRY.split(text):
        if entry.strip():
            entries[re.split(r"[ ,:\n]", entry, maxsplit=1)[0]] = entry.strip("\n") + "\n"
    return entries


def complete_docstring(docstring: str, parameters: Collection[str]) -> str:
    r"""Return an estimator's docstring with the entries of those of its parameters that all estimators have.

    Examples
    --------
    >>> own = "Do it.\n\nParameters\n----------\nrate : float\n"
    >>> complete_docstring(own, ["rate", "verbose"]).splitlines()[4:]
    ['rate : float', 'verbose : bool, default False', '    Show a progress bar.']
    """
    common = _entries(_PARAMETERS)
    if {"target_bounds", "classes"} & set(parameters):
        common |= _entries(_INPUT_BOUNDS)
    common = {name: entry for name, entry in common.items() if name in parameters}
    docstring = _extend(inspect.cleandoc(docstring), "Parameters", common)
    return _extend(docstring, "Attributes", _entries(_ATTRIBUTES)).rstrip("\n")


def _extend(docstring: str, section: str, common: dict[str, str]) -> str:
    """Return the docstring with these entries at the end of a section, less those that it has already."""
    headings = list(_SECTION.finditer(docstring))
    for heading, following in zip(headings, [*headings[1:], None]):
        if heading[1] == section:
            end = len(docstring) if following is None else following.start()
            body = docstring[heading.end() : end].strip("\n")
            own = _entries(body)
            added = "".join(entry for name, entry in common.items() if name not in own)
            return f"{docstring[: heading.end()]}{body}\n{added}\n{docstring[end:]}"
    return docstring
