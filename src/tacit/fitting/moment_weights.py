"""How moments are best released: with which weights and clipped where, from what noise costs in likelihood.

All of it is arithmetic on public numbers: columns, relation, and noise beside the rows of a component.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import chi2

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.statistics import CovarianceType, moment_sensitivity

# Clip radii to choose from, as quantiles of a Gaussian row's length. benchmarks/mixture.py measures what they give.
_QUANTILES = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999])


def clipping_radius(columns: int, kind: CovarianceType, noise: float | None) -> float:
    """Return the clip radius of rows, in a component's own standard deviations, that loses least likelihood.

    The loss from noise grows with the fourth power of the radius. What clipping hides of rows that are not Gaussian
    costs at most about a nat for each row clipped. `noise` is that of one number released, divided by the rows of a
    component. None stands for an unknown number of rows.

    Examples
    --------
    >>> [round(float(clipping_radius(10, "full", noise)), 2) for noise in (1e-4, 1e-2, 1.0)]
    [5.44, 3.67, 3.06]
    """
    squares = _squared_lengths(columns)
    if noise is None:
        return math.sqrt(squares[-4])
    loss = _second_moment_loss(columns, kind) * (squares * noise) ** 2 + (1 - _QUANTILES)
    return math.sqrt(squares[int(np.argmin(loss))])


@lru_cache(maxsize=64)
def _squared_lengths(columns: int) -> Array:
    """Return quantiles of a Gaussian row's squared length."""
    squares: Array = chi2.ppf(_QUANTILES, columns)
    squares.setflags(write=False)
    return squares


@lru_cache(maxsize=64)
def block_weights(columns: int, kind: CovarianceType, neighbors: Relation) -> tuple[float, float]:
    """Return the weights of counts and means, beside a weight of 1 for second moments, that lose least likelihood.

    With noise e on each number, an error E in a (whitened) covariance costs |E|^2 / 4 nats, an error in a mean half its
    squared length, and one in a count shifts a weight and the covariance's size. The weights trade these off against
    the sensitivity that they cause. Rows are taken to be of length sqrt(d), as Gaussian ones are.

    Examples
    --------
    >>> [round(weight, 2) for weight in block_weights(10, "full", "add_remove")]
    [0.22, 0.45]
    """
    count, mean = np.meshgrid(np.geomspace(0.02, 4.0, 81), np.geomspace(0.02, 4.0, 81), indexing="ij")
    loss = nats_to_noise(columns, kind, count, mean)
    sensitivity = np.vectorize(lambda c, m: moment_sensitivity(c, m, 1.0, neighbors))(count, mean)
    best = np.unravel_index(np.argmin(loss * sensitivity**2), loss.shape)
    return float(count[best]), float(mean[best])


def nats_to_noise(columns: int, kind: CovarianceType, count: Any, mean: Any) -> Any:
    """Return the nats lost per row to unit noise, relative to the rows, on all numbers released of a component.

    `count` and `mean` are their weights in the release; see ``block_weights``.
    """
    return (
        _second_moment_loss(columns, kind) * columns**2
        + columns / 2 * columns / mean**2
        + (0.5 + columns / 4) / count**2
    )


def _second_moment_loss(columns: int, kind: CovarianceType) -> float:
    """Return the nats lost to unit noise on each number of a second moment."""
    return {"full": columns * (columns + 1) / 8, "tied": columns * (columns + 1) / 8, "diag": columns / 4}.get(
        kind, 1 / (4 * columns)
    )
