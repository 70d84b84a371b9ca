"""k-means, as storage, reports and commands know it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tacit.models.card import Figure, ModelCard, Predictions, Results, Trial, later
from tacit.models.command import Command, Option
from tacit.models.options import MISSING, count_option
from tacit.models.printed import Block, NumberedTable, column_names, format_values, number_columns
from tacit.models.stored_parameters import ARRAY_OR_WORD
from tacit.models.trials.trial import FOUND

if TYPE_CHECKING:
    from tacit.clusters import KMeans
    from tacit.sources import Source

__all__ = ["CARDS"]


class ClusterMethod(StrEnum):
    """Algorithms for k-means."""

    adaptive = "adaptive"
    dplloyd = "dplloyd"
    dplloyd_zcdp = "dplloyd_zcdp"
    dpem = "dpem"


_CLUSTERS = count_option("clusters", "How many clusters to find.", "n_clusters")
_METHOD = Option(
    "method",
    ClusterMethod,
    "adaptive (the most accurate), dplloyd, dplloyd_zcdp or dpem, as published.",
    ClusterMethod.adaptive,
    metavar="NAME",
)

_COMMAND = Command(
    "kmeans",
    "KMeans",
    """Find the centres of clusters under differential privacy, and save them with their certificate.

Distances are in the units of the columns; with a schema every range counts alike, from -1 to 1.""",
    (
        "tacit fit kmeans data.csv --schema schema.toml --clusters 5 --epsilon 1",
        "tacit fit kmeans numbers.csv --bounds -10 10 --clusters 5 --delta 0",
        "tacit fit kmeans data.csv --schema s.toml -k 5 --ledger study.db --dataset patients",
    ),
    (_CLUSTERS, _METHOD, MISSING),
)


def _blocks(model: KMeans) -> list[Block]:
    """Return the centre of each cluster, column by column."""
    from tacit.report.feature_views import ClusterView

    view = ClusterView.of(model)
    rows = {each.label: format_values(each, view.centres[:, j]) for j, each in enumerate(view.features)}
    return [NumberedTable("cluster", rows, "smaller than these")]


def _summary(model: KMeans) -> dict[str, Any]:
    """Return centres for machines."""
    return {**column_names(model), "centres": model.cluster_centers_.tolist()}


def _distances(model: KMeans, block: Source) -> dict[str, Any]:
    """Return the nearest cluster, and the distance from each centre."""
    each = model.transform(block)
    return {"cluster": each.argmin(axis=1) + 1} | number_columns("distance", each)


CARDS = (
    ModelCard(
        name="KMeans",
        room="tacit.clusters",
        kind="clusters",
        docs="kmeans.md",
        steps={
            "growing moments": "size, centre and spread of each cluster, for a start",
            "refining moments": "size, centre and spread of each cluster, measured again from there",
            "summary moments": "size, centre and spread of many small clusters, which the clusters are made of",
            "cluster sums": "size of each cluster, and the sum of its rows",
            "cluster counts": "size of each cluster",
            "cluster means": "the sum of each cluster's rows",
        },
        usual=lambda: {"n_clusters": 2},
        stored={"clusters": '{"centres": [K][d]}, in coordinates of z'},
        command=_COMMAND,
        results=Results(lambda model: f"Found {model.n_clusters} cluster(s) in", _blocks, _summary),
        predictions=Predictions("cluster, and the distance from each centre", _distances),
        presentation=later("tacit.report.centres", "present"),
        trial=Trial(
            later("tacit.models.trials.clusters", "draw"),
            "on simulated tables of clusters that can be told apart. Distance²: of new rows from their nearest centre. "
            "Centres: mean distances of rows from their centre. Found: centres that are within one.",
            {
                "excess": Figure("distance² more", "{value:.1%}", worst=True),
                "centre_error": Figure("centres off by", "{value:.3f}"),
                "found": FOUND,
            },
            (_CLUSTERS, _METHOD),
        ),
        parameters={"init": ARRAY_OR_WORD},
    ),
)
