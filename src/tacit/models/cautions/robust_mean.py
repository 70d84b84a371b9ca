"""What means must be warned of: noise as large as what was averaged."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.cautions import Caution
from tacit.report.cautions import join_some

__all__ = ["mean_cautions"]

_DROWNED = 0.5  # Noise of a mean, in scales at which values were bounded: values spread evenly there have 0.58.

_FEW = 300  # With fewer rows times epsilon than this, an interval is hardly ever found.


def mean_cautions(model: Any) -> list[Caution]:
    """Return what a fitted :class:`tacit.RobustMean` must be warned of."""
    cautions, rows, epsilon = [], model.privacy_.rows, model.privacy_.budget.epsilon
    if model.method in ("adaptive", "trimmed") and rows is not None and rows * epsilon < _FEW:
        text = (
            f"{rows} rows are few for finding a range at epsilon={epsilon:g}; the mean may be far off. State bounds or "
            'a moment_bound, with method="clipped".'
        )
        cautions.append(Caution("warning", "Rows are few for finding a range", text))
    drowned = np.flatnonzero(model.noise_std_ > _DROWNED * model.scale_).tolist()
    if not drowned:
        return cautions
    names = model._domain.names or [f"column {j + 1}" for j in range(len(model.mean_))]
    text = (
        f"The noise in the mean of {join_some([str(names[j]) for j in drowned])} is as large as the range that values "
        "were clipped to: the mean could be anywhere in it. Fit with more budget or more rows, or state bounds or a "
        "moment_bound if they are public."
    )
    everywhere = len(drowned) == len(model.mean_)
    title = "The means are drowned in noise" if everywhere else "Some means are drowned in noise"
    return [Caution("danger" if everywhere else "warning", title, text), *cautions]
