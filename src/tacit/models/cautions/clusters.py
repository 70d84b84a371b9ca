"""What clusters must be warned of: copies of centres, clusters that may be empty, centres drowned in noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.cautions import Caution
from tacit.report.cautions import join_numbers

__all__ = ["cluster_cautions"]

_SEEN = 2.0  # A cluster with fewer rows, in standard deviations of the noise of a count, may have none.
_DROWNED = 1.0  # A centre that noise may have moved farther than rows are from it, on average, says nothing.


def cluster_cautions(model: Any) -> list[Caution]:
    """Return what a fitted :class:`tacit.KMeans` must be warned of."""
    cautions, found = _copies(model), model._found
    if found is None:
        return cautions
    empty = np.flatnonzero(found.size_ratios < _SEEN).tolist()
    if empty:
        text = (
            f"Cluster {join_numbers(empty)} may have no rows at all: so few cannot be told from none beside the noise. "
            "Find fewer clusters, or fit with more budget or more rows."
        )
        cautions.append(Caution("warning", "Some clusters may be empty", text))
    drowned = [k for k in np.flatnonzero(found.centre_errors > _DROWNED).tolist() if k not in empty]
    if drowned:
        text = (
            f"The noise may have moved centre {join_numbers(drowned)} farther than the cluster's own rows are from it. "
            "Find fewer clusters, or fit with more budget or more rows."
        )
        cautions.append(Caution("warning", "Some centres are drowned in noise", text))
    return cautions


def _copies(model: Any) -> list[Caution]:
    groups: dict[bytes, list[int]] = {}
    for k, centre in enumerate(model.cluster_centers_):
        groups.setdefault(centre.tobytes(), []).append(k)
    repeated = [group for group in groups.values() if len(group) > 1]
    if not repeated:
        return []
    named = "; ".join(join_numbers(group) for group in repeated)
    text = f"Centres {named} are the same: the noise was too large to tell so many apart. Fewer clusters say as much."
    return [Caution("warning", "Some centres are copies", text)]
