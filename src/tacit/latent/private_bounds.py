"""Bounds that nobody knows, found privately: from noisy counts of how large the cells are."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from tacit.privacy import Gaussian, Step
from tacit.release import Curator
from tacit.statistics.components import Array
from tacit.statistics.magnitudes import Magnitudes

STEP = "magnitudes"
_SHARE = 0.05  # of the budget, in squared signal-to-noise
_FALSE_ALARM = 1e-4  # chance that noise alone makes a count of any column stand out: it would ruin the bounds


def bounds_step(others: list[Step], columns: int) -> Gaussian:
    """Return the step that finds the bounds, with its share of the budget beside the model's own steps."""
    power = sum(step.count / step.noise_multiplier**2 for step in others)
    multiplier = (power * _SHARE / (1 - _SHARE)) ** -0.5
    return Gaussian(STEP, multiplier, 1, Magnitudes(columns).size)


def private_bounds(curator: Curator, columns: int) -> tuple[Array, Array]:
    """Release magnitudes and return (low, high), a power of two around where nearly all cells are.

    Bins whose count stands out of the noise are believed; what lies beyond the outermost of them is clipped later.
    """
    statistic = Magnitudes(columns)
    noise = curator.noise(STEP, statistic)
    counts = statistic.parts(curator.release(STEP, statistic))
    edges = Magnitudes.edges()
    clear = -float(ndtri(_FALSE_ALARM / counts.size)) * noise
    low, high = np.empty(columns), np.empty(columns)
    for column, column_counts in enumerate(counts):
        believed = np.flatnonzero(column_counts > clear)
        if not len(believed):
            believed = np.array([int(np.argmax(column_counts))])
        low[column], high[column] = edges[believed[0], 0], edges[believed[-1], 1]
    # A column that is all zeros has no width; any will do.
    return np.where(low < high, low, -1.0), np.where(low < high, high, 1.0)
