"""Regressions whose targets are now and then far from what they predict: widened by what clipping hides.

Scores are clipped, so that scales are those of most rows. Where the target is nearly always one value, or has heavy
tails, rows with other targets would be impossible. A release of how many residuals are far out, by size and component,
tells how much variance is theirs (:mod:`tacit.moments.far_variances`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.column_view import ColumnView
from tacit.moments.estimates import PublicFacts
from tacit.moments.far_variances import MOST_BINS, variances_beyond
from tacit.regressions.regressions import Regressions
from tacit.release import Curator
from tacit.statistics import FarResiduals, RegressionScores

# Residuals are far beyond this many standard deviations. Tuned on the arena's tables whose names have an even crc32
# (benchmarks/arena.py --kinds regressions).
_FAR = 4.0


def widen_by_residuals(
    curator: Curator | ColumnView,
    step: str,
    scores: RegressionScores,
    regressions: Regressions,
    rows: float | None,
    facts: PublicFacts,
) -> Regressions:
    """Return regressions on white inputs, with scales that allow for residuals that are far out.

    Parameters
    ----------
    curator : Curator or ColumnView
    step : str
        The plan's step: Gaussian, with ``MOST_BINS`` numbers for each component.
    scores : RegressionScores
        Those of the regressions.
    regressions : Regressions
    rows : float or None
    facts : PublicFacts
        Of inputs and target.
    """
    statistic = FarResiduals(scores, _FAR, MOST_BINS)
    measured = curator.measure(step, statistic)
    counts = statistic.parts(measured.value)
    counts[statistic.starts[:, None] > _largest(scores, facts)] = 0.0
    weighted = np.maximum(regressions.weights * max(rows or 1.0, 1.0), 1.0)
    widths = np.sqrt(1.0 + variances_beyond(statistic.starts, counts, measured.noise, weighted))
    return replace(regressions, scales=regressions.scales * widths)


def _largest(scores: RegressionScores, facts: PublicFacts) -> Array:
    """Return how large residuals may be by the public bounds, in units of scales (K,)."""
    slopes = np.linalg.solve(scores.factor.T, scores.coefficients[:, 1:].T).T
    intercepts = scores.coefficients[:, 0] - slopes @ scores.centre
    predicted = np.abs(intercepts) + np.abs(slopes).sum(axis=1) * facts.farthest
    largest: Array = (facts.farthest + predicted) / scores.scales
    return largest
