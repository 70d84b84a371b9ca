"""From noisy, clipped moments to estimates: how much of what was released is noise is known, so it can be taken out.

All of it is post-processing of private values, with a noise level that the plan fixes. Four moves:

- *James-Stein*: shrink a vector of known noise towards zero by how much of its length noise explains. In whitened
  coordinates zero means "as in the last round", so what successive rounds agree on is averaged and the rest left out.
- *Positive mean*: a variance is positive. The mean of what is known about it given that, for a noisy value of -0.1 say,
  is a small positive number of the noise's own size; a hair above zero would cost far more likelihood.
- *Structure*: a covariance is size + relative variances + correlations, 1, d - 1 and d (d - 1) / 2 numbers. Each part is
  shrunk on its own, so a fit with little budget becomes spherical, then diagonal, then full, as the noise allows.
- *Declipping*: clipping rows at a radius makes a Gaussian look smaller, in a way that can be computed and undone.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.special import log_ndtr, ndtri
from scipy.stats import qmc

from tacit.statistics.components import Array

_DECLIP_ROUNDS = 8
_DECLIP_MOST = 3.0  # clipped moments say little about a variance this many times larger than they are
_FULL_CLIP = 0.98  # as rows at the very radius would have infinite variance


def james_stein(values: Array, noise: float) -> tuple[Array, float]:
    """Shrink `values`, known up to Gaussian noise of standard deviation `noise` on each, towards zero.

    Returns the shrunk values and the factor, from 0 (all noise) to 1 (no noise).

    Examples
    --------
    >>> values, factor = james_stein(np.array([3.0, -4.0, 0.0, 0.0]), noise=1.0)
    >>> round(factor, 2)
    0.92
    """
    power = float(np.sum(values * values))
    if power == 0.0:
        return values, 0.0
    excess = values.size - 2
    # With one or two numbers James-Stein has nothing to go on: there, the share of power that is not noise.
    factor = max(0.0, 1.0 - excess * noise**2 / power) if excess > 0 else power / (power + noise**2)
    return values * factor, factor


def positive_mean(values: Array, noise: float) -> Array:
    """Return the mean of N(value, noise^2) given that it is positive.

    Examples
    --------
    >>> positive_mean(np.array([-1.0, 0.0, 1.0]), 0.1).round(3)
    array([0.01, 0.08, 1.  ])
    """
    if noise == 0.0:
        return np.maximum(values, 0.0)
    z = values / noise
    return np.maximum(values + noise * np.exp(-0.5 * z * z - 0.5 * math.log(2 * math.pi) - log_ndtr(z)), 0.0)


def shrunk_covariance(
    moment: Array, noise: float, radius: float, floor: float, kind: Literal["full", "diag", "spherical"]
) -> Array:
    """Estimate a covariance near the identity from its clipped, noisy second moment.

    Parameters
    ----------
    moment : (d, d) array
        Second moment about the mean of rows clipped at `radius`, in coordinates where the last round's covariance is
        the identity.
    noise : float
        Standard deviation of the noise: "full", on diagonal entries, and noise / sqrt(2) on the others; "diag", on each
        variance; "spherical", on the trace.
    floor : float
        Least variance, relative to the mean variance.
    kind : {"full", "diag", "spherical"}
        Which parts of the covariance there are.
    """
    columns = len(moment)
    kept = clipped_variances(np.ones(columns), radius).mean()
    moment, noise = moment / kept, noise / kept
    size = np.trace(moment) / columns
    size_noise = noise / (columns if kind == "spherical" else math.sqrt(columns))
    # The size is about 1 if the last round was right, and beforehand known to no better than a factor: prior N(1, 1).
    trust = 1.0 / (1.0 + size_noise**2)
    size_estimate = float(positive_mean(np.array([1.0 + trust * (size - 1.0)]), size_noise * math.sqrt(trust))[0])
    shape, signal = _shrunk_shape(moment - size * np.eye(columns), noise, kind)
    variances, axes = np.linalg.eigh(size_estimate * np.eye(columns) + shape)
    # What is left of the noise in an eigenvalue: of a full matrix, about half the spread sqrt(2 d) of all of them.
    left = 0.5 * math.sqrt(signal * (columns if kind == "full" else 1)) * noise
    variances = np.maximum(positive_mean(variances, left), floor * size_estimate)
    return (axes * declipped_variances(variances * kept, radius)) @ axes.T


def _shrunk_shape(deviation: Array, noise: float, kind: str) -> tuple[Array, float]:
    """Shrink relative variances and correlations, each as a group; also return the mean share that was kept."""
    columns = len(deviation)
    shape = np.zeros_like(deviation)
    if kind == "spherical" or columns == 1:
        return shape, 0.0
    shape[np.diag_indices(columns)], share = james_stein(np.diag(deviation), noise)
    if kind == "diag":
        return shape, share
    rows, cols = np.triu_indices(columns, 1)
    correlations, share_of_correlations = james_stein(math.sqrt(2.0) * deviation[rows, cols], noise)
    shape[rows, cols] = shape[cols, rows] = correlations / math.sqrt(2.0)
    return shape, np.average([share, share_of_correlations], weights=[columns - 1, len(rows)])


def clipped_variances(variances: Array, radius: float) -> Array:
    """Return the second moments of clip(y, radius), y ~ N(0, diag(variances)), one for each axis.

    Examples
    --------
    >>> clipped_variances(np.array([1.0, 1.0]), 10.0).round(6), clipped_variances(np.array([1.0, 1.0]), 1.0).round(2)
    (array([1., 1.]), array([0.39, 0.39]))
    """
    squares = _normal_squares(len(variances))
    factors = np.minimum(1.0, radius**2 / np.maximum(squares @ variances, 1e-300))
    return variances * (squares * factors[:, None]).mean(axis=0)


def declipped_variances(moments: Array, radius: float) -> Array:
    """Return the variances whose clipped second moments are `moments`: the inverse of ``clipped_variances``.

    Examples
    --------
    >>> truth = np.array([2.0, 1.0, 0.5])
    >>> declipped_variances(clipped_variances(truth, 2.0), 2.0).round(1)
    array([2. , 1. , 0.5])
    """
    total = moments.sum()
    if total > _FULL_CLIP * radius**2:
        moments = moments * (_FULL_CLIP * radius**2 / total)
    most = _DECLIP_MOST * np.maximum(moments, moments.mean())
    variances = moments
    for _ in range(_DECLIP_ROUNDS):
        variances = np.clip(variances * moments / clipped_variances(variances, radius), moments, most)
    return variances


@lru_cache(maxsize=8)
def _normal_squares(columns: int) -> Array:
    """Squares of standard normal vectors, evenly spread: integrals over them are fixed and good to three digits."""
    points = qmc.Sobol(columns, scramble=True, seed=0).random(1024)
    squares = ndtri(np.clip(points, 1e-9, 1 - 1e-9)) ** 2
    squares /= squares.mean(axis=0)
    squares.setflags(write=False)
    return squares
