"""Where scores are clipped, and how noisy matrices of them are smoothed. Plain numerics: no data, no privacy."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import clipped_score_moments, least_variance_radius
from tacit.fitting.shrinkage import shrunk

# Clip radii to choose from, in typical lengths of scores.
_RADII = (0.7, 0.85, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)
SHAPE_DOUBT = 0.06  # Prior variance of the Hessian and the second moment of scores about those of Gaussian rows.
_LEAST_SIZE = 0.1  # Least eigenvalue of a matrix, relative to their mean.


def typical_length(columns: int) -> float:
    """Return a length that (1, u) has in next to no row, if u is standard normal.

    Examples
    --------
    >>> round(typical_length(10), 2)
    5.24
    """
    return math.sqrt(4 + columns + 3 * math.sqrt(2 * columns))


@lru_cache(maxsize=64)
def best_radius(columns: int, noise: float) -> float:
    """Return where to clip scores, in ordinary lengths, for the least variance of coefficients: chance and noise.

    `noise` is that of a coefficient if scores are clipped at one ordinary length, in standard errors. Errors are taken
    to be normal; the less noise there is, the farther out rows are believed, and the nearer to least squares it is.

    Examples
    --------
    >>> [best_radius(10, noise) for noise in (1.0, 0.1, 0.001)]
    [0.7, 2.0, 5.0]
    """

    def clipped_moments(radius: float) -> tuple[float, float]:
        return clipped_score_moments(columns, typical_length(columns), radius * math.sqrt(1 + columns))

    return least_variance_radius(_RADII, noise, clipped_moments)


def smooth_matrix(matrix: Array, noise: float, usual: float) -> Array:
    """Return a positive definite matrix of known noise: about `usual` times the identity, and what stands out.

    The noise is `noise` on the diagonal and noise / sqrt(2) off it.

    Examples
    --------
    >>> import numpy as np
    >>> smooth_matrix(np.array([[1.0, 0.5], [0.5, 3.0]]), 1e-9, 1.0).round(3)
    array([[1. , 0.5],
           [0.5, 3. ]])
    >>> smooth_matrix(np.array([[1.0, 0.5], [0.5, 3.0]]), 100.0, 1.0).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    wide, doubt = len(matrix), SHAPE_DOUBT * usual**2
    size = float(np.trace(matrix)) / wide
    change = shrunk(np.array([size - usual]), noise / math.sqrt(wide), doubt)[0][0]
    rows, cols = np.triu_indices(wide)
    units = np.where(rows == cols, 1.0, math.sqrt(2.0))
    apart = shrunk((matrix - size * np.eye(wide))[rows, cols] * units, noise, doubt)[0] / units
    size = max(usual + change, _LEAST_SIZE * usual)
    smooth = size * np.eye(wide)
    smooth[rows, cols] += apart
    smooth[cols, rows] = smooth[rows, cols]
    values, axes = np.linalg.eigh(smooth)
    smooth = (axes * np.maximum(values, _LEAST_SIZE * size)) @ axes.T
    return (smooth + smooth.T) / 2
