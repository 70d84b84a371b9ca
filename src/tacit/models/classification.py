"""Classifiers and losses of one's own, as storage, reports and commands know them."""

from __future__ import annotations

import re
from typing import Any

from tacit.models.card import ModelCard, Results, Without, later
from tacit.models.command import Command, FitRequest, Option, OptionError
from tacit.models.linear import LINEAR_INPUTS
from tacit.models.options import CHECKED_FIRST, INTERCEPT, MISSING, TARGET, fit_request
from tacit.models.stored_parameters import MAY_BE_INFINITE, WEIGHTS_BY_CLASS

__all__ = ["CARDS"]

_WHOLE = re.compile(r"-?\d+")


def _labels(words: list[str] | None) -> list[Any] | None:
    """Return labels as the table has them: whole numbers and truth values, if they all are, or text."""
    if not words:
        return None
    if all(map(_WHOLE.fullmatch, words)):
        return list(map(int, words))
    return [word == "true" for word in words] if set(words) == {"false", "true"} else list(words)


_OPTIONS = (
    TARGET,
    Option(
        "classes",
        list[str] | None,
        "All labels that could occur, the last before another option.",
        None,
        metavar="LABEL LABEL ...",
    ),
    Option(
        "inverse_penalty",
        float,
        "C in scikit-learn: the less, the smaller coefficients; inf for no penalty.",
        1.0,
        ("--inverse-penalty", "-C"),
        parameter="C",
    ),
    INTERCEPT,
    MISSING,
)


def _request(values: dict[str, Any], has_schema: bool) -> FitRequest:
    if values["classes"] and has_schema:
        raise OptionError("--classes is for tables of numbers; the schema has the levels of the target.")
    return fit_request("LogisticRegression", _OPTIONS)(values | {"classes": _labels(values["classes"])}, has_schema)


_COMMAND = Command(
    "logistic",
    f"""Logistic regression under differential privacy: which of two or more classes a row is of.

Bounds are those of the inputs. Classes are the levels of the target in the schema, or what --classes lists; they
are never read from the data.

{CHECKED_FIRST}""",
    (
        "tacit fit logistic data.csv --schema schema.toml --target smoker",
        "tacit fit logistic numbers.csv --bounds -10 10 --target answer --classes no yes",
    ),
    _OPTIONS,
    _request,
)

_NO_FORECAST = Without("Nobody has simulated tables for it yet.")
_STORED = {
    "classes": "[C], all labels",
    "predictor": '{"coefficients": [K][1 + d]} in coordinates of z, K being 1 for two classes, and "inputs": '
    f"{LINEAR_INPUTS}",
}
_PARAMETERS = {"C": MAY_BE_INFINITE, "class_weight": WEIGHTS_BY_CLASS}

CARDS = (
    ModelCard(
        name="LogisticRegression",
        room="tacit.linear",
        kind="a classifier",
        docs="classification.md",
        stored=_STORED | {"covariance": "of all K (1 + d) coefficients or null, in the units of the rows"},
        presentation=later(
            "tacit.report.linear_models",
            "present",
            name="Logistic regression",
            why_no_errors="Of all solvers, newton alone keeps account of how far off they may be.",
        ),
        command=_COMMAND,
        results=Results(
            lambda model: f"Fitted a logistic regression of {len(model.classes_)} classes to",
            later("tacit.models.results.linear", "class_blocks"),
            later("tacit.models.results.linear", "summary"),
        ),
        trial=_NO_FORECAST,
        predictions=later("tacit.models.predictions", "probabilities"),
        parameters=_PARAMETERS,
    ),
    ModelCard(
        name="LinearSVC",
        room="tacit.linear",
        kind="a classifier",
        docs="classification.md",
        stored=_STORED,
        presentation=later(
            "tacit.report.linear_models",
            "present",
            name="Linear support vector classifier",
            why_no_errors="How far off they may be is not known with this loss. LogisticRegression has intervals.",
        ),
        command=Without("Nobody has written one yet; tacit fit logistic has probabilities and intervals."),
        results=Without("No command fits it."),
        trial=_NO_FORECAST,
        predictions=later("tacit.models.predictions", "scores"),
        parameters=_PARAMETERS,
    ),
    ModelCard(
        name="ERM",
        room="tacit.linear",
        kind="a loss of one's own",
        docs="classification.md",
        stored=Without("Its loss is a Python function, which no file that executes nothing can hold."),
        presentation=Without("What its coefficients mean depends on a loss that the library does not know."),
        command=Without("Its loss is a Python function, which no option can name."),
        results=Without("No command fits it."),
        trial=Without("No command fits it."),
        predictions=Without("No file holds it."),
    ),
)
