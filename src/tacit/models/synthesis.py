"""Models of whole tables, for synthetic rows, as storage, reports and commands know them."""

from __future__ import annotations

from typing import Any

from tacit.models.card import ModelCard, Results, Without, later
from tacit.models.command import Command, FitRequest, OptionError, fit_request
from tacit.models.options import MISSING_OR_MODEL

__all__ = ["CARDS"]


def _request(values: dict[str, Any], has_schema: bool) -> FitRequest:
    if not has_schema:
        raise OptionError("A model of a table needs --schema FILE; tacit schema init makes one.")
    return fit_request("TableModel", (MISSING_OR_MODEL,), values)


_COMMAND = Command(
    "table",
    "TableModel",
    "Fit a model of a table with columns of all kinds under differential privacy, for drawing synthetic rows.",
    (
        "tacit fit table data.csv --schema schema.toml --epsilon 1",
        "tacit fit table data.csv --schema schema.toml --missing model --ledger study.db --dataset patients",
    ),
    (MISSING_OR_MODEL,),
    _request,
)

CARDS = (
    ModelCard(
        name="TableModel",
        room="tacit.synthesis",
        kind="a table",
        docs="synthetic.md",
        steps={
            "cell counts": "how many rows are in each bin or level of each column",
            "finer cell counts": "the same, where many rows share a bin",
            "pair counts": "how many rows are in each pair of groups of bins or levels of two columns",
            "finer pair counts": "the same in smaller groups, for pairs that are strongly related",
        },
        stored={"table": "see tacit.synthesis.stored_table"},
        command=_COMMAND,
        results=Results(
            lambda model: f"Fitted {len(model.probabilities_)} column(s) of",
            lambda model: [
                f"Columns: {', '.join(map(str, model.probabilities_))}. Draw synthetic rows with tacit sample."
            ],
            lambda model: {"columns": list(model.probabilities_)},
        ),
        predictions=Without("It says nothing about single rows."),
        presentation=later("tacit.report.table_columns", "present"),
        cautions=later("tacit.models.cautions.synthesis", "table_cautions"),
        trial=Without("What synthetic rows are worth depends on what they are for; tacit compare measures it."),
        draws_rows=True,
    ),
)
