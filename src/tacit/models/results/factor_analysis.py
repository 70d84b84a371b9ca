"""Factors, for people and for machines."""

from __future__ import annotations

from typing import Any

from tacit.models.results.blocks import Block, NumberedTable
from tacit.models.results.cells import column_names
from tacit.moments import FactorAnalysis
from tacit.report.feature_views import FactorView

__all__ = ["blocks", "summary"]


def blocks(model: FactorAnalysis) -> list[Block]:
    """Return what factors explain, and the correlations of columns with them."""
    view = FactorView.of(model)
    rows = {"explains": [f"{share:.0%}" for share in view.explained]}
    rows |= {each.label: [f"{r:+.2f}" for r in view.loadings[j]] for j, each in enumerate(view.features)}
    own = ["", *(f"{share:.0%}" for share in view.unique)]
    return [
        NumberedTable("factor", rows, "more factors", last=("own", own)),
        "\nCorrelations of columns with factors. A factor explains so much of the columns' variances, each in its own "
        "units; own is what no factor explains.",
    ]


def summary(model: FactorAnalysis) -> dict[str, Any]:
    """Return factors for machines."""
    own = {"noise_variance": model.noise_variance_.tolist(), "explained": FactorView.of(model).explained.tolist()}
    return {**column_names(model), "mean": model.mean_.tolist(), "loadings": model.components_.tolist(), **own}
