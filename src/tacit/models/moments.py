"""Moments, as storage, reports and commands know them."""

from __future__ import annotations

from enum import StrEnum

from tacit.models.card import ModelCard, Results, Trial, Without, later
from tacit.models.command import Command, Option
from tacit.models.options import CHECKED_FIRST, MISSING, fit_request

__all__ = ["CARDS"]


class Method(StrEnum):
    """Ways to measure moments."""

    adaptive = "adaptive"
    iterated = "iterated"
    staged = "staged"
    published = "published"


_OPTIONS = (
    Option(
        "method",
        Method,
        "adaptive (by what the noise would be), iterated, staged or published.",
        Method.adaptive,
        metavar="NAME",
    ),
    MISSING,
)

_COMMAND = Command(
    "moments",
    f"""Measure mean and covariance under differential privacy, once, and save them with their certificate.

What is computed from them later costs nothing more: see tacit fit factors --from-moments.

{CHECKED_FIRST}""",
    (
        "tacit fit moments data.csv --schema schema.toml --epsilon 1 --output moments.tacit",
        "tacit fit factors --from-moments moments.tacit --factors 2",
    ),
    _OPTIONS,
    fit_request("Moments", _OPTIONS),
)

CARDS = (
    ModelCard(
        name="Moments",
        room="tacit.moments",
        kind="moments",
        docs="factor-analysis.md",
        stored={
            "moments": '{"method": "staged", "count": n, "mean": [d], "covariance": [d][d]}, in the units of the rows'
        },
        presentation=later("tacit.report.correlations", "present"),
        command=_COMMAND,
        results=Results(
            lambda model: "Measured mean and covariance of",
            later("tacit.models.results.moments", "blocks"),
            later("tacit.models.results.moments", "summary"),
        ),
        trial=Trial(
            later("tacit.models.trials.moments", "draw_moments"),
            "on simulated tables whose columns have about half of their variance in common. Means: standard deviations "
            "of a column. All are root mean squares.",
        ),
        predictions=Without("They say nothing about single rows."),
    ),
)
