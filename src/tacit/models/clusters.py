"""k-means, as storage, reports and commands know it."""

from __future__ import annotations

from enum import StrEnum

from tacit.models.card import ModelCard, Results, Trial, later
from tacit.models.command import Command, Option
from tacit.models.options import CHECKED_FIRST, MISSING, count_option, fit_request
from tacit.models.stored_parameters import ARRAY_OR_WORD

__all__ = ["CARDS"]


class Method(StrEnum):
    """Algorithms for k-means."""

    adaptive = "adaptive"
    dplloyd = "dplloyd"
    dplloyd_zcdp = "dplloyd_zcdp"
    dpem = "dpem"


_OPTIONS = (
    count_option("clusters", "How many clusters to find.", "n_clusters"),
    Option(
        "method",
        Method,
        "adaptive (the most accurate), dplloyd, dplloyd_zcdp or dpem, as published.",
        Method.adaptive,
        metavar="NAME",
    ),
    MISSING,
)

_COMMAND = Command(
    "kmeans",
    f"""Find the centres of clusters under differential privacy, and save them with their certificate.

Distances are in the units of the columns; with a schema every range counts alike, from -1 to 1.

{CHECKED_FIRST}""",
    (
        "tacit fit kmeans data.csv --schema schema.toml --clusters 5 --epsilon 1",
        "tacit fit kmeans numbers.csv --bounds -10 10 --clusters 5 --delta 0",
        "tacit fit kmeans data.csv --schema s.toml -k 5 --ledger study.db --dataset patients",
    ),
    _OPTIONS,
    fit_request("KMeans", _OPTIONS),
)

CARDS = (
    ModelCard(
        name="KMeans",
        room="tacit.clusters",
        kind="clusters",
        docs="kmeans.md",
        stored={"clusters": '{"centres": [K][d]}, in coordinates of z'},
        presentation=later("tacit.report.centres", "present"),
        command=_COMMAND,
        results=Results(
            lambda model: f"Found {model.n_clusters} cluster(s) in",
            later("tacit.models.results.clusters", "blocks"),
            later("tacit.models.results.clusters", "summary"),
        ),
        trial=Trial(
            later("tacit.models.trials.clusters", "draw"),
            "on simulated tables of clusters that can be told apart. Distance²: of new rows from their nearest centre. "
            "Centres: mean distances of rows from their centre. Found: centres that are within one.",
            parts="clusters",
        ),
        predictions=later("tacit.models.predictions", "distances"),
        parameters={"init": ARRAY_OR_WORD},
    ),
)
