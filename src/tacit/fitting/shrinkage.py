"""From noisy, clipped moments to estimates: noise is taken out as far as its known size allows.

All of it is post-processing of private values, with a noise level that the plan fixes:

- *Shrinking*: a vector of known noise is shrunk towards zero by how much of its length noise explains (James–Stein),
  and by how much there was left to learn (Kalman). In whitened coordinates zero means "as in the last round", so what
  successive rounds agree on is averaged and the rest is left out.
- *Positive mean*: a variance is positive. The mean of what is known about it given that, for a noisy value of -0.1 say,
  is a small positive number of the noise's own size. A number next to zero would cost far more likelihood.
- *Structure*: a covariance is size + relative variances + correlations, 1, d - 1 and d (d - 1) / 2 numbers. Each part
  is shrunk on its own, so a fit with little budget becomes spherical, then diagonal, then full, as the noise allows.
- *Eigenvalues*: those of pure noise end at a known edge, and what stands out of it is shrunk (Gavish and Donoho).
- *Frequencies* add up to 1: noisy ones are moved to the nearest that do.
- *Correction for clipping*: clipped rows look smaller than they are. :mod:`tacit.fitting.clipping` undoes that.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from scipy.special import log_ndtr

from tacit.arrays import Array
from tacit.fitting.clipping import mean_clipped_variance, unclip_variances


def james_stein_factor(noise_square: Any, square: Any) -> Any:
    """Return the positive-part James–Stein factor max(0, 1 - noise_square / square).

    Parameters
    ----------
    noise_square : float or array
        Squared length that noise alone is expected to have.
    square : float or array
        Squared length of signal and noise together.

    Examples
    --------
    >>> james_stein_factor(4.0, np.array([1.0, 8.0, 400.0]))
    array([0.  , 0.5 , 0.99])
    """
    return np.maximum(0.0, 1.0 - noise_square / np.maximum(square, 1e-300))


def kalman_gain(prior_variance: Any, noise_variance: Any) -> Any:
    """Return the part of a measured change to believe, from prior and noise variance: v / (v + s^2)."""
    return prior_variance / (prior_variance + noise_variance)


def posterior_variance(prior_variance: Any, noise_variance: Any) -> Any:
    """Return the variance that is left after a measurement with this noise: v s^2 / (v + s^2).

    Examples
    --------
    >>> posterior_variance(1.0, 1.0), posterior_variance(1.0, 0.0)
    (0.5, 0.0)
    """
    return prior_variance * noise_variance / (prior_variance + noise_variance)


def james_stein_after_kalman(square: float, posterior: float, prior: float, numbers: float = 1.0) -> float:
    """Return the factor by which James–Stein shrinks values that a Kalman gain has shrunk already, instead of the gain.

    The gain was g = 1 - posterior / prior. Divided by it, values have noise of variance posterior / g, and their own
    length tells how large they are. A prior variance that is far too large shrinks too little. It is never undone.

    Parameters
    ----------
    square : float
        Squared length of the values.
    posterior, prior : float
        Variance of a value's error, and of the value before anything was measured.
    numbers : float
        How many values' noise to expect in the squared length.

    Examples
    --------
    >>> round(james_stein_after_kalman(4.0, posterior=0.5, prior=10.0, numbers=3.0), 2)
    0.68
    """
    if not 0 < posterior < prior:
        return 1.0
    gain = 1 - posterior / prior
    return min(1.0, float(james_stein_factor(numbers * posterior / gain, square / gain**2)) / gain)


def shrink(values: Array, noise: float, prior_variance: float) -> tuple[Array, float]:
    """Shrink `values`, known up to Gaussian noise of standard deviation `noise` on each, towards zero.

    Parameters
    ----------
    values : array
    noise : float
    prior_variance : float
        Variance of the values themselves about zero, before anything is measured.

    Returns
    -------
    values : array
    factor : float
        What they were multiplied by: from 0 (all noise) to 1 (no noise).

    Examples
    --------
    >>> values, factor = shrink(np.array([3.0, -4.0, 0.0, 0.0]), noise=1.0, prior_variance=100.0)
    >>> round(factor, 2)
    0.92
    >>> round(shrink(np.array([3.0, -4.0, 0.0, 0.0]), noise=1.0, prior_variance=1.0)[1], 2)
    0.5
    """
    square = float(np.sum(values * values))
    if square == 0.0:
        return values, 0.0
    kalman = kalman_gain(prior_variance, noise**2)
    # With one or two numbers James–Stein has nothing to go on.
    james_stein = james_stein_factor((values.size - 2) * noise**2, square) if values.size > 2 else 1.0
    factor = float(min(kalman, james_stein))
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


def shrink_covariance(
    moment: Array,
    noise: float,
    prior_variance: float,
    radius: float,
    least_variance: float,
    kind: Literal["full", "diag", "spherical"],
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
    prior_variance : float
        Variance of the covariance's entries about the identity, before anything is measured.
    radius : float
        Clip radius of rows.
    least_variance : float
        Least variance in any direction, relative to the mean variance.
    kind : {"full", "diag", "spherical"}
        Which parts the covariance has.

    Returns
    -------
    covariance : (d, d) array
    posterior_variance : float
        Variance of its entries that is left, relative to the new covariance.
    """
    columns = len(moment)
    kept = mean_clipped_variance(columns, radius)
    moment, noise = moment / kept, noise / kept
    size = np.trace(moment) / columns
    size_noise = noise / (columns if kind == "spherical" else math.sqrt(columns))
    change, factor = shrink(np.array([size - 1.0]), size_noise, prior_variance)
    size_estimate = float(positive_mean(1.0 + change, size_noise * math.sqrt(factor))[0])
    shape, shape_factor = _shrink_shape(moment - size * np.eye(columns), noise, prior_variance, kind)
    variances, axes = np.linalg.eigh(size_estimate * np.eye(columns) + shape)
    # The noise left in an eigenvalue. In a full matrix it is about half the spread sqrt(2 d) of all eigenvalues.
    left = 0.5 * math.sqrt(shape_factor * (columns if kind == "full" else 1)) * noise
    variances = np.maximum(positive_mean(variances, left), least_variance * size_estimate)
    covariance = (axes * unclip_variances(variances * kept, radius)) @ axes.T
    return covariance, posterior_variance(prior_variance, noise**2) / max(size_estimate, 1e-9) ** 2


def _shrink_shape(deviation: Array, noise: float, prior_variance: float, kind: str) -> tuple[Array, float]:
    """Shrink relative variances and correlations, each as a group; also return their mean factor."""
    columns = len(deviation)
    shape = np.zeros_like(deviation)
    if kind == "spherical" or columns == 1:
        return shape, 0.0
    shape[np.diag_indices(columns)], factor = shrink(np.diag(deviation), noise, prior_variance)
    if kind == "diag":
        return shape, factor
    rows, cols = np.triu_indices(columns, 1)
    correlations, correlation_factor = shrink(math.sqrt(2.0) * deviation[rows, cols], noise, prior_variance)
    shape[rows, cols] = shape[cols, rows] = correlations / math.sqrt(2.0)
    return shape, np.average([factor, correlation_factor], weights=[columns - 1, len(rows)])


def shrink_to_identity(
    matrix: Array, noise: float, size: float, prior_variance: float, least_eigenvalue: float
) -> Array:
    """Return a positive definite matrix from a noisy one: about `size` times the identity, and what stands out.

    Parameters
    ----------
    matrix : (d, d) array
        Symmetric.
    noise : float
        Standard deviation of the noise on the diagonal. Off the diagonal it is noise / sqrt(2).
    size : float
        Expected value of the diagonal.
    prior_variance : float
        Variance of the entries about `size` times the identity, relative to size^2.
    least_eigenvalue : float
        Relative to the mean of all.

    Examples
    --------
    >>> shrink_to_identity(np.array([[1.0, 0.5], [0.5, 3.0]]), 1e-9, 1.0, 0.06, 0.1).round(3)
    array([[1. , 0.5],
           [0.5, 3. ]])
    >>> shrink_to_identity(np.array([[1.0, 0.5], [0.5, 3.0]]), 100.0, 1.0, 0.06, 0.1).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    columns, prior_variance = len(matrix), prior_variance * size**2
    measured = float(np.trace(matrix)) / columns
    change = shrink(np.array([measured - size]), noise / math.sqrt(columns), prior_variance)[0][0]
    rows, cols = np.triu_indices(columns)
    units = np.where(rows == cols, 1.0, math.sqrt(2.0))
    shape = shrink((matrix - measured * np.eye(columns))[rows, cols] * units, noise, prior_variance)[0] / units
    estimate = max(size + change, least_eigenvalue * size)
    shrunk = estimate * np.eye(columns)
    shrunk[rows, cols] += shape
    shrunk[cols, rows] = shrunk[rows, cols]
    values, axes = np.linalg.eigh(shrunk)
    shrunk = (axes * np.maximum(values, least_eigenvalue * estimate)) @ axes.T
    return (shrunk + shrunk.T) / 2


def noise_eigenvalue(noise: float, columns: int) -> float:
    """Return s = noise sqrt(d / 2): eigenvalues of a symmetric matrix of pure noise end at 2 s (Wigner).

    The noise has the standard deviation noise / sqrt(2) on each number off the diagonal.
    """
    return noise * math.sqrt(columns / 2)


def shrink_eigenvalues(values: Array, unit: float) -> Array:
    """Return what is best kept of a noisy symmetric matrix's eigenvalues, in squared error: sqrt(y^2 - 4 s^2).

    An eigenvalue that is measured as y > 2 s is really y / 2 + sqrt(y^2 / 4 - s^2), and the angle by which noise turns
    its vector is known too (Benaych-Georges and Nadakuditi, 2011; Gavish and Donoho, 2017). Less is left out. The
    unit s is :func:`noise_eigenvalue`.

    Examples
    --------
    >>> shrink_eigenvalues(np.array([5.0, 1.0, -5.0]), unit=2.0)
    array([ 3.,  0., -3.])
    """
    return np.sign(values) * np.sqrt(np.maximum(values**2 - 4 * unit**2, 0.0))


def simplex_threshold(values: Array, total: float) -> float:
    """Return the t for which the positive parts of values - t add up to `total`.

    They are the nearest numbers to `values` that are not negative and add up to `total`.

    Examples
    --------
    >>> round(float(simplex_threshold(np.array([0.9, 0.5, -0.3]), 1.0)), 9)
    0.2
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    return excess[np.flatnonzero(falling > excess)[-1]]
