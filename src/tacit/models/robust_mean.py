"""Robust means, as storage, reports and commands know them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tacit.models.card import ModelCard, Results, Without
from tacit.models.command import Command, Option
from tacit.models.options import MISSING
from tacit.models.printed import Block, Table, column_names, format_mean

if TYPE_CHECKING:
    from tacit.robust import RobustMean

__all__ = ["CARDS"]


class MeanMethod(StrEnum):
    """Ways to bound values before they are summed."""

    adaptive = "adaptive"
    clipped = "clipped"
    trimmed = "trimmed"


_COMMAND = Command(
    "mean",
    "RobustMean",
    """Means of columns under differential privacy, however heavy their tails.

Nothing need be known about the columns: part of the budget finds a range for each. For columns with bounds and for
covariances there is tacit fit moments.""",
    (
        "tacit fit mean incomes.csv --epsilon 1",
        "tacit fit mean incomes.csv --method clipped --moment-bound 1e10",
        "tacit fit mean data.csv --schema schema.toml --ledger study.db --dataset patients",
    ),
    (
        Option(
            "method",
            MeanMethod,
            "adaptive (finds a range), clipped (to the bounds, or by --moment-bound) or trimmed (between quantiles).",
            MeanMethod.adaptive,
            metavar="NAME",
        ),
        Option("moment_bound", float | None, "A public bound on the mean square, for --method clipped.", None),
        Option("centre", float | None, "A public guess of where values are.", None),
        MISSING,
    ),
    needs_bounds=False,
)


def _blocks(model: RobustMean) -> list[Block]:
    names = model._domain.names or [f"column {j + 1}" for j in range(len(model.mean_))]
    rows = [(str(name), format_mean(*each)) for name, *each in zip(names, model.mean_, model.noise_std_)]
    return [Table(("column", "mean"), rows), "\n± is the standard deviation of the noise alone."]


def _summary(model: RobustMean) -> dict[str, Any]:
    return {**column_names(model), "mean": model.mean_.tolist(), "noise_std": model.noise_std_.tolist()}


CARDS = (
    ModelCard(
        name="RobustMean",
        room="tacit.robust",
        kind="means",
        docs="robust-mean.md",
        steps={
            "search": "how large the cells of each column are, to find roughly where they lie",
            "location": "a first mean of each column, to measure from",
            "magnitudes": "how far the cells of each column are from there, to find where to clip",
            "mean": "the sum of each column, clipped",
            "rows": "how many rows there are",
        },
        usual=lambda: {"bounds": None},
        stored={"mean": '{"mean": [d], "noise_std": [d], "centre": [d], "scale": [d]}, in the units of the rows'},
        command=_COMMAND,
        results=Results(lambda model: f"Measured the mean of {len(model.mean_)} column(s) of", _blocks, _summary),
        predictions=Without("It says nothing about single rows."),
        trial=Without("Its error depends on how heavy the tails are, which nobody knows beforehand."),
    ),
)
