"""Moments, for people and for machines."""

from __future__ import annotations

from typing import Any

from tacit.models.results.blocks import Block, Table
from tacit.models.results.cells import column_names, spread
from tacit.moments import Moments
from tacit.report.feature_views import MomentsView

__all__ = ["blocks", "summary"]

_MOST_CORRELATIONS = 6
_WORTH_TELLING = 0.05  # Correlations below this are not listed.


def blocks(model: Moments) -> list[Block]:
    """Return means and standard deviations by column, and the strongest correlations."""
    view = MomentsView.of(model)
    rows = [
        (each.label, f"{min(max(mean, 0.0), 1.0):.1%}" if each.is_share else spread(mean, deviation))
        for each, mean, deviation in zip(view.features, view.means, view.deviations)
    ]
    means = Table(("column", "mean ± standard deviation"), rows)
    strong = [pair for pair in view.strongest(_MOST_CORRELATIONS) if abs(pair[2]) >= _WORTH_TELLING]
    if not strong:
        return [means]
    pairs = [(view.features[i].label, view.features[j].label, f"{r:+.2f}") for i, j, r in strong]
    return [means, "", Table(("strongest correlations", "", ""), pairs, words=2)]


def summary(model: Moments) -> dict[str, Any]:
    """Return moments for machines."""
    moments = {"mean": model.mean_.tolist(), "covariance": model.covariance_.tolist()}
    return {**column_names(model), "method": model.method_, "count": model.count_, **moments}
