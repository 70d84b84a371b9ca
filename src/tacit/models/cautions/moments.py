"""What moments and factors must be warned of: columns whose spread noise hides, and factors that are noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.cautions import Caution
from tacit.report.cautions import join_numbers, join_some
from tacit.tables.features import features

__all__ = ["factor_cautions", "moment_cautions"]

_FAINT = 0.01  # A factor that explains a smaller part of the variance of all columns did not stand out of the noise.


def moment_cautions(model: Any) -> list[Caution]:
    """Return what fitted :class:`tacit.Moments` must be warned of."""
    if model._spread is None or not model._spread.hidden.any():
        return []
    found = features(model._domain)
    hidden = list(dict.fromkeys(each.column for each, is_hidden in zip(found, model._spread.hidden) if is_hidden))
    everywhere = len(hidden) == len({each.column for each in found})
    text = (
        f"How widely {'the columns' if everywhere else join_some(hidden)} scatter{'s' * (len(hidden) == 1)} cannot be "
        "told beside the noise, nor how that goes with other columns: variances and correlations there are noise. Fit "
        "with more budget or more rows, or state narrower bounds if they are public."
    )
    if everywhere:
        return [Caution("danger", "The moments are drowned in noise", text.replace("scatters", "scatter"))]
    return [Caution("warning", "The spread of some columns is not seen", text)]


def factor_cautions(model: Any) -> list[Caution]:
    """Return what a fitted :class:`tacit.FactorAnalysis` must be warned of: the moments have warned for themselves."""
    variances = (model.components_**2).sum(axis=0) + model.noise_variance_
    explained = np.mean(model.components_**2 / variances, axis=1)
    faint = np.flatnonzero(explained < _FAINT).tolist()
    if not faint:
        return []
    text = (
        f"Factor {join_numbers(faint)} explain{'s' * (len(faint) == 1)} less than 1% of the variance of the columns. "
        "That much did not stand out of the noise; fewer factors say as much."
    )
    return [Caution("warning", "Some factors explain next to nothing", text)]
