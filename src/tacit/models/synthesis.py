"""Models of whole tables, for synthetic rows, as storage, reports and commands know them."""

from __future__ import annotations

from typing import Any

from tacit.models.card import ModelCard, Results, Without, later
from tacit.models.command import Command, FitRequest, OptionError
from tacit.models.options import CHECKED_FIRST, MISSING_OR_MODEL, fit_request

__all__ = ["CARDS"]

_OPTIONS = (MISSING_OR_MODEL,)


def _request(values: dict[str, Any], has_schema: bool) -> FitRequest:
    if not has_schema:
        raise OptionError("A model of a table needs --schema FILE; tacit schema init makes one.")
    return fit_request("TableModel", _OPTIONS)(values, has_schema)


_COMMAND = Command(
    "table",
    f"""Fit a model of a table with columns of all kinds under differential privacy, for drawing synthetic rows.

{CHECKED_FIRST}""",
    (
        "tacit fit table data.csv --schema schema.toml --epsilon 1",
        "tacit fit table data.csv --schema schema.toml --missing model --ledger study.db --dataset patients",
    ),
    _OPTIONS,
    _request,
)

CARDS = (
    ModelCard(
        name="TableModel",
        room="tacit.synthesis",
        kind="a table",
        docs="synthetic.md",
        stored={"table": "see tacit.synthesis.stored_table"},
        presentation=later("tacit.report.table_columns", "present"),
        command=_COMMAND,
        results=Results(
            lambda model: f"Fitted {len(model.probabilities_)} column(s) of",
            later("tacit.models.results.synthesis", "blocks"),
            later("tacit.models.results.synthesis", "summary"),
        ),
        trial=Without("What synthetic rows are worth depends on what they are for; tacit compare measures it."),
        predictions=Without("It says nothing about single rows."),
        draws_rows=True,
    ),
)
