"""Within-cluster variances and covariances from clipped, noisy moments. These functions read no rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tacit.arrays import Array
from tacit.clusters.clusters import Clusters, spherical_covariances
from tacit.fitting.clipping import clipped_normal_variance
from tacit.fitting.shrinkage import james_stein_factor

# Smallest ratio of a within-cluster variance to the one before, and of a variance along an axis to the mean over axes.
# It was chosen on the seven shapes of generated tables in benchmarks/kmeans.py.
_LEAST_RATIO = 0.02

# The limits below keep extreme cases within reason. benchmarks/kmeans.py measures what they give, on the same tables.
# Smallest within-cluster variance, in standard deviations of its noise.
_LEAST_IN_NOISE = 0.5
# Largest factor by which undoing the clipping stretches the shape of a covariance.
_MOST_STRETCH = 3.0
# Largest mean squared length that is told from its clipped value, in squared clip radii. Clipping hides what is beyond.
_MOST_UNCLIPPED = 4.0


def within_cluster_variances(
    before: Clusters, second_moments: Array, radii: Array, shifts: Array, noise: Array, most: float
) -> Array:
    """Return mean squared distances (K,) from the new centres, never next to nothing.

    Parameters
    ----------
    before : Clusters
        The clusters that rows were measured from.
    second_moments : (K,) array
        Noisy mean squared distances from those centres, of rows clipped at `radii`.
    radii : (K,) array
        Clip radii.
    shifts : (K, d) array
        Differences between new and old centres.
    noise : (K,) array
        Standard deviations of the noise on `second_moments`.
    most : float
        Largest possible value.
    """
    least = _LEAST_IN_NOISE * noise
    if before.number > 1:  # A single cluster is the whole table, and its clip radius holds all rows.
        second_moments = radii**2 * _undo_clipping(second_moments / radii**2, shifts.shape[1])
        least = np.maximum(_LEAST_RATIO * before.variances, least)
    return np.minimum(np.maximum(second_moments - np.sum(shifts**2, axis=1), least), most)


def shrink_to_spherical(covariances: Array, variances: Array, noise: Array, numbers: int) -> Array:
    """Return covariances with traces `variances`, and the shape of noisy ones as far as it stands out of the noise.

    Parameters
    ----------
    covariances : (K, d, d) array
        Noisy and clipped.
    variances : (K,) array
        Within-cluster variances.
    noise : (K,) array
        Standard deviations of the noise on each number of a covariance.
    numbers : int
        How many numbers of each covariance were released.
    """
    columns = covariances.shape[1]
    traces = np.einsum("kii->k", covariances)
    shapes = covariances - spherical_covariances(traces, columns)
    factors = james_stein_factor((numbers - 1) * noise**2, np.einsum("kij,kij->k", shapes, shapes))
    # Clipping shortens shape and trace alike, so the shape is stretched as the trace was.
    factors *= np.clip(variances / np.maximum(traces, 1e-300), 0.0, _MOST_STRETCH)
    shrunk = spherical_covariances(variances, columns) + factors[:, None, None] * shapes
    along_axes, axes = np.linalg.eigh(shrunk)
    along_axes = np.maximum(along_axes, (_LEAST_RATIO * variances / columns)[:, None])
    along_axes *= (variances / along_axes.sum(axis=1))[:, None]
    return (axes * along_axes[:, None, :]) @ axes.transpose(0, 2, 1)


def _undo_clipping(clipped: Array, columns: int) -> Array:
    """Return mean squared lengths of spherical Gaussian rows from those of the same rows clipped at length 1.

    Examples
    --------
    >>> _undo_clipping(np.array([0.0, 0.1, 0.5, 0.9, 1.0]), 2).round(2)
    array([0.  , 0.1 , 0.63, 4.  , 4.  ])
    """
    lengths, clipped_lengths = _clipping_table(columns)
    interpolated = np.interp(clipped, clipped_lengths, lengths)
    return np.where(clipped < clipped_lengths[0], np.maximum(clipped, 0.0), interpolated)


@lru_cache(maxsize=8)
def _clipping_table(columns: int) -> tuple[Array, Array]:
    """Return mean squared lengths of spherical Gaussian rows, and those of the same rows clipped at length 1."""
    lengths = np.geomspace(1e-3, _MOST_UNCLIPPED, 400)
    return lengths, lengths * clipped_normal_variance(np.sqrt(columns / lengths), columns)
