"""Bounds that nobody knows, found privately: from noisy counts of how large the cells are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from tacit.arrays import Array
from tacit.fitting.allocation import noise_multiplier
from tacit.privacy import Gaussian, Step
from tacit.release import Curator
from tacit.statistics import Magnitudes

STEP = "magnitudes"
# tests/unit/fitting/test_private_bounds.py tries these numbers on columns of sizes from 1e-6 to 1e9.
_PART = 0.1  # Part of the whole budget for finding bounds, as squared signal-to-noise ratio.
_FALSE_ALARM = 1e-3  # Probability that noise alone makes any count stand out, which would ruin the bounds.
_WIDTHS = (1, 2, 4, 8)  # Widths of groups of neighbouring bins: rows too few to stand out in one bin may in several.


def bounds_step(others: list[Step], columns: int) -> Gaussian:
    """Return the step that finds the bounds, with its part of the budget beside the model's own steps."""
    part = sum(step.weight for step in others) * _PART / (1 - _PART)
    return Gaussian(STEP, noise_multiplier(part), 1, Magnitudes(columns).size)


def private_bounds(curator: Curator, columns: int) -> tuple[Array, Array]:
    """Release magnitudes and return (low, high), a power of two or a few around where nearly all cells are.

    Bins whose count stands out of the noise are believed, and so are groups of bins whose counts do together. What lies
    beyond the outermost of them is clipped later.
    """
    statistic = Magnitudes(columns)
    noise = curator.noise(STEP, statistic)
    counts = statistic.parts(curator.release(STEP, statistic))
    edges = Magnitudes.edges()
    clear = -float(ndtri(_FALSE_ALARM / (counts.size * len(_WIDTHS)))) * noise
    low, high = np.empty(columns), np.empty(columns)
    for column, column_counts in enumerate(counts):
        believed = np.flatnonzero(_bins_with_rows(column_counts, clear))
        if not len(believed):
            believed = np.array([int(np.argmax(column_counts))])
        low[column], high[column] = edges[believed[0], 0], edges[believed[-1], 1]
    # A column that is all zeros has no width; any will do.
    return np.where(low < high, low, -1.0), np.where(low < high, high, 1.0)


def _bins_with_rows(counts: Array, clear: float) -> NDArray[np.bool_]:
    """Return which bins hold rows beyond doubt: narrow groups first, wider ones where no narrower one stands out."""
    believed = np.zeros(len(counts), dtype=bool)
    for width in _WIDTHS:
        sums = np.convolve(counts, np.ones(width), "valid")
        for start in np.argsort(-sums):
            if sums[start] <= clear * np.sqrt(width):
                break
            if not believed[start : start + width].any():
                believed[start : start + width] = True
    return believed
