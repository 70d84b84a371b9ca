"""Regression on columns with missing cells, as storage, reports and commands know it."""

from __future__ import annotations

from tacit.models.card import ModelCard, Results, Without, later
from tacit.models.command import Command
from tacit.models.options import CHECKED_FIRST, TARGET, TARGET_BOUNDS, fit_request

__all__ = ["CARDS"]

_OPTIONS = (TARGET, TARGET_BOUNDS)

_COMMAND = Command(
    "missing-regression",
    f"""Linear regression on columns with missing cells, under differential privacy.

Every row says what it can; whether cells are missing, and which, is protected too.

{CHECKED_FIRST}""",
    (
        "tacit fit missing-regression data.csv --schema schema.toml --target cost",
        "tacit fit missing-regression numbers.csv --bounds -10 10 --target y",
    ),
    _OPTIONS,
    fit_request("MissingCovariateRegression", _OPTIONS),
)

CARDS = (
    ModelCard(
        name="MissingCovariateRegression",
        room="tacit.regressions",
        kind="a regression",
        docs="regressions.md",
        stored={
            "gaussian": '{"mean": [d + 1], "covariance": [d + 1][d + 1], "errors": [d][d] or null}, of z, the target '
            "last"
        },
        presentation=later("tacit.report.regressions", "present"),
        command=_COMMAND,
        results=Results(
            lambda model: "Fitted a regression on inputs with gaps to",
            later("tacit.models.results.regressions", "blocks"),
            later("tacit.models.results.regressions", "summary"),
        ),
        trial=Without("How accurate it is depends on which cells are missing, which no schema tells."),
        predictions=later("tacit.models.predictions", "values"),
    ),
)
