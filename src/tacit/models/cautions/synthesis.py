"""What models of tables must be warned of: columns whose counts are noise."""

from __future__ import annotations

import math
from typing import Any

from tacit.cautions import Caution
from tacit.report.cautions import join_some

__all__ = ["table_cautions"]

_DROWNED = 0.25  # The share of rows that noise alone may have put into wrong bins or levels of a column.
_MEAN_ABSOLUTE = math.sqrt(2 / math.pi)  # Of noise, in standard deviations.
_FIRST_BINS = 64  # A column of numbers that is all one bin was counted in at least as many.


def table_cautions(model: Any) -> list[Caution]:
    """Return what a fitted :class:`tacit.TableModel` must be warned of."""
    rows, noise = getattr(model, "_known_rows", None), getattr(model, "_count_noise", None)
    if not rows or noise is None:
        return []
    drowned = [str(name) for name in model.probabilities_ if _misplaced(model, name, noise / rows) > _DROWNED]
    if not drowned:
        return []
    everywhere = len(drowned) == len(model.probabilities_)
    text = (
        f"In {join_some(drowned)} the noise of the counts is as large as the counts: how rows are spread there, and "
        "what goes with it, is mostly noise in synthetic rows too. Fit with more budget or more rows, or with fewer "
        "columns or levels."
    )
    title = "The table is drowned in noise" if everywhere else "Some columns are drowned in noise"
    return [Caution("danger" if everywhere else "warning", title, text)]


def _misplaced(model: Any, name: Any, noise: float) -> float:
    """Return what share of rows noise has put into wrong cells of a column, about; `noise` is that of a share.

    Bins whose counts cannot be told apart were merged. If none are left, noise may have hidden all there was to see.
    """
    cells = len(model.probabilities_[name])
    if name in model.edges_ and cells <= 1:
        return 0.5 * _MEAN_ABSOLUTE * noise * math.sqrt(_FIRST_BINS)
    return 0.5 * _MEAN_ABSOLUTE * noise * cells
