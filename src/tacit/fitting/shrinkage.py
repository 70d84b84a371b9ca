"""From noisy, clipped moments to estimates: how much of what was released is noise is known, so it can be taken out.

All of it is post-processing of private values, with a noise level that the plan fixes. Four moves:

- *Shrinking*: a vector of known noise is shrunk towards zero, by how much of its length noise explains (James-Stein)
  and by how much there was left to learn (Kalman). In whitened coordinates zero means "as in the last round", so what
  successive rounds agree on is averaged and the rest is left out.
- *Positive mean*: a variance is positive. The mean of what is known about it given that, for a noisy value of -0.1 say,
  is a small positive number of the noise's own size; a hair above zero would cost far more likelihood.
- *Structure*: a covariance is size + relative variances + correlations, 1, d - 1 and d (d - 1) / 2 numbers. Each part
  is shrunk on its own, so a fit with little budget becomes spherical, then diagonal, then full, as the noise allows.
- *Declipping*: clipping rows at a radius makes a Gaussian look smaller, in a way that can be computed and undone.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import log_ndtr

from tacit.arrays import Array
from tacit.fitting.clipping import mean_clipped_variance, unclip_variances


def shrunk(values: Array, noise: float, doubt: float) -> tuple[Array, float]:
    """Shrink `values`, known up to Gaussian noise of standard deviation `noise` on each, towards zero.

    Parameters
    ----------
    values : array
    noise : float
    doubt : float
        Variance of the values themselves, as far as is known beforehand.

    Returns
    -------
    values : array
    factor : float
        What they were multiplied by: from 0 (all noise) to 1 (no noise).

    Examples
    --------
    >>> values, factor = shrunk(np.array([3.0, -4.0, 0.0, 0.0]), noise=1.0, doubt=100.0)
    >>> round(factor, 2)
    0.92
    >>> round(shrunk(np.array([3.0, -4.0, 0.0, 0.0]), noise=1.0, doubt=1.0)[1], 2)
    0.5
    """
    power = float(np.sum(values * values))
    if power == 0.0:
        return values, 0.0
    kalman = doubt / (doubt + noise**2)
    # With one or two numbers James-Stein has nothing to go on.
    james_stein = max(0.0, 1.0 - (values.size - 2) * noise**2 / power) if values.size > 2 else 1.0
    factor = min(kalman, james_stein)
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
    moment: Array, noise: float, doubt: float, radius: float, floor: float, kind: Literal["full", "diag", "spherical"]
) -> tuple[Array, float]:
    """Estimate a covariance near the identity from its clipped, noisy second moment.

    Parameters
    ----------
    moment : (d, d) array
        Second moment about the mean of rows clipped at `radius`, in coordinates where the last round's covariance is
        the identity.
    noise : float
        Standard deviation of the noise: "full", on diagonal entries, and noise / sqrt(2) on the others; "diag", on each
        variance; "spherical", on the trace.
    doubt : float
        Variance of the covariance's entries about the identity, as far as is known beforehand.
    floor : float
        Least variance, relative to the mean variance.
    kind : {"full", "diag", "spherical"}
        Which parts of the covariance there are.

    Returns
    -------
    covariance : (d, d) array
    doubt : float
        What is left of it, relative to the new covariance.
    """
    columns = len(moment)
    kept = mean_clipped_variance(columns, radius)
    moment, noise = moment / kept, noise / kept
    size = np.trace(moment) / columns
    size_noise = noise / (columns if kind == "spherical" else math.sqrt(columns))
    change, trust = shrunk(np.array([size - 1.0]), size_noise, doubt)
    size_estimate = float(positive_mean(1.0 + change, size_noise * math.sqrt(trust))[0])
    shape, signal = _shrunk_shape(moment - size * np.eye(columns), noise, doubt, kind)
    variances, axes = np.linalg.eigh(size_estimate * np.eye(columns) + shape)
    # What is left of the noise in an eigenvalue: of a full matrix, about half the spread sqrt(2 d) of all of them.
    left = 0.5 * math.sqrt(signal * (columns if kind == "full" else 1)) * noise
    variances = np.maximum(positive_mean(variances, left), floor * size_estimate)
    covariance = (axes * unclip_variances(variances * kept, radius)) @ axes.T
    return covariance, doubt * noise**2 / (doubt + noise**2) / max(size_estimate, 1e-9) ** 2


def _shrunk_shape(deviation: Array, noise: float, doubt: float, kind: str) -> tuple[Array, float]:
    """Shrink relative variances and correlations, each as a group; also return the mean share that was kept."""
    columns = len(deviation)
    shape = np.zeros_like(deviation)
    if kind == "spherical" or columns == 1:
        return shape, 0.0
    shape[np.diag_indices(columns)], share = shrunk(np.diag(deviation), noise, doubt)
    if kind == "diag":
        return shape, share
    rows, cols = np.triu_indices(columns, 1)
    correlations, share_of_correlations = shrunk(math.sqrt(2.0) * deviation[rows, cols], noise, doubt)
    shape[rows, cols] = shape[cols, rows] = correlations / math.sqrt(2.0)
    return shape, np.average([share, share_of_correlations], weights=[columns - 1, len(rows)])
