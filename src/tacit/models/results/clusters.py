"""The centres of clusters, for people and for machines."""

from __future__ import annotations

from typing import Any

from tacit.clusters import KMeans
from tacit.models.results.blocks import Block, NumberedTable
from tacit.models.results.cells import column_names, feature_values
from tacit.report.feature_views import ClusterView

__all__ = ["blocks", "summary"]


def blocks(model: KMeans) -> list[Block]:
    """Return the centre of each cluster, column by column."""
    view = ClusterView.of(model)
    rows = {each.label: feature_values(each, view.centres[:, j]) for j, each in enumerate(view.features)}
    return [NumberedTable("cluster", rows, "smaller than these")]


def summary(model: KMeans) -> dict[str, Any]:
    """Return centres for machines."""
    return {**column_names(model), "centres": model.cluster_centers_.tolist()}
