"""Factor analysis, as storage, reports and commands know it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from tacit.models.card import ModelCard, Results, Trial, later
from tacit.models.command import Command, Derivation, Option
from tacit.models.options import CHECKED_FIRST, MISSING, count_option, fit_request

__all__ = ["CARDS"]


class Method(StrEnum):
    """Algorithms for factor analysis."""

    adaptive = "adaptive"
    paper = "paper"


_OPTIONS = (
    count_option("factors", "How many factors there are.", "n_components"),
    Option("method", Method, "adaptive (the most accurate), or paper, as published.", Method.adaptive, metavar="NAME"),
    MISSING,
)


def _from_moments(moments: Any, values: Mapping[str, Any]) -> Any:
    from tacit.moments import FactorAnalysis

    return FactorAnalysis.from_moments(moments, values["factors"])


_FROM_MOMENTS = Derivation(
    Option(
        "from_moments",
        Path | None,
        "Moments that tacit fit moments made: reads no rows, costs nothing more.",
        None,
        metavar="MODEL",
    ),
    source="Moments",
    otherwise="is no set of moments",
    wanted="that tacit fit moments made",
    uses=("factors",),
    derive=_from_moments,
    words=lambda values: f"Computed {values['factors']} factor(s) from the moments in",
    certificate="that of the moments",
    data_help="A .csv or .parquet file, streamed; or --from-moments.",
)

_COMMAND = Command(
    "factors",
    f"""Explain the correlations of columns by a few factors, under differential privacy, and save the model.

Moments are measured and factors computed from them. From moments that are there already it costs nothing more.

{CHECKED_FIRST}""",
    (
        "tacit fit factors data.csv --schema schema.toml --factors 2 --epsilon 1",
        "tacit fit factors numbers.csv --bounds -10 10 --factors 2",
        "tacit fit factors --from-moments moments.tacit --factors 3",
    ),
    _OPTIONS,
    fit_request("FactorAnalysis", _OPTIONS),
    _FROM_MOMENTS,
)

CARDS = (
    ModelCard(
        name="FactorAnalysis",
        room="tacit.moments",
        kind="factors",
        docs="factor-analysis.md",
        stored={"factors": '{"mean": [d], "loadings": [d][q], "unique": [d]}, in coordinates of z'},
        presentation=later("tacit.report.loadings", "present"),
        command=_COMMAND,
        results=Results(
            lambda model: f"Fitted {model.n_components} factor(s) to",
            later("tacit.models.results.factor_analysis", "blocks"),
            later("tacit.models.results.factor_analysis", "summary"),
        ),
        trial=Trial(
            later("tacit.models.trials.moments", "draw_factors"),
            "on simulated tables whose columns have about half of their variance in common. Log-likelihood: nats per "
            "new row. Factors kept: how much of what they span is found again.",
            parts="factors",
        ),
        predictions=later("tacit.models.predictions", "factors"),
        draws_rows=True,
    ),
)
