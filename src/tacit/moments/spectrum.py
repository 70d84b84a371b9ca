"""The largest eigenvalues of a symmetric matrix, and which of them stand out of noise of a known size."""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Array
from tacit.fitting.shrinkage import noise_eigenvalue, positive_mean, shrink_eigenvalues

# How eigenvalues are computed. benchmarks/factor_analysis.py measures time and memory at 4,096 columns.
_MOST_EXACT = 400  # Up to this many columns, all eigenvalues are computed.
_POWER_ROUNDS = 30  # Rounds of subspace iteration beyond that: enough for what stands out of the noise by a tenth.
_SPARE_VECTORS = 10  # Vectors carried along, so that those wanted converge sooner.

# Which of them are kept. benchmarks/factor_analysis.py measures what these numbers give.
_EDGE_MARGIN = 1.5  # Margin above the edge of pure noise, in units of how far the largest eigenvalue strays from it.
_COMMUNALITY_ROUNDS = 30  # Most rounds that compute the diagonal which goes with the loadings.
_ROUNDS_IF_INEXACT = 2  # The same where eigenvalues are not computed exactly.
_COMMUNALITY_TOLERANCE = 1e-3  # They end when no number on the diagonal changes by more.
_MOST_COMMUNALITY = 0.95  # No column's variance is common to others altogether.


def top_eigenpairs(matrix: Array, count: int) -> tuple[Array, Array]:
    """Return the `count` largest eigenvalues, falling, and their vectors (d, count); always the same ones.

    They are exact up to a few hundred columns. Beyond, subspace iteration from a fixed start takes a few matrix
    products.

    Examples
    --------
    >>> values, vectors = top_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)
    >>> values, abs(vectors).round(9).T
    (array([3., 2.]), array([[0., 1., 0.],
           [0., 0., 1.]]))
    """
    columns = len(matrix)
    if columns <= _MOST_EXACT:
        values, vectors = np.linalg.eigh(matrix)
        return values[::-1][:count], vectors[:, ::-1][:, :count]
    basis = np.random.default_rng(0).normal(size=(columns, min(columns, count + _SPARE_VECTORS)))
    for _ in range(_POWER_ROUNDS):
        basis = np.linalg.qr(matrix @ basis)[0]
    values, rotation = np.linalg.eigh(basis.T @ (matrix @ basis))
    return values[::-1][:count], (basis @ rotation)[:, ::-1][:, :count]


def common_factors(correlations: Array, noise: float, most: int) -> Array:
    """Return loadings (d, k), k <= `most`, of what stands out of the noise in a noisy correlation matrix.

    The noise has the standard deviation `noise` / sqrt(2) on each number off the diagonal. Eigenvalues beyond the edge
    of pure noise are shrunk as is best in squared error, and others are left out. The diagonal is not used: it is 1,
    and which part of that is common, the communality, is computed along with the loadings.

    Examples
    --------
    >>> loading = np.array([0.9, 0.8, 0.7, 0.6])
    >>> matrix = np.outer(loading, loading)
    >>> np.fill_diagonal(matrix, 1.0)
    >>> abs(common_factors(matrix, noise=1e-3, most=2)[:, 0]).round(1)
    array([0.9, 0.8, 0.7, 0.6])
    >>> common_factors(matrix, noise=5.0, most=2).shape
    (4, 0)
    """
    columns = len(correlations)
    unit = noise_eigenvalue(noise, columns)
    edge = 2 * unit * (1 + _EDGE_MARGIN * columns ** (-2 / 3))
    matrix = correlations.copy()
    communalities = np.zeros(columns)
    for _ in range(_COMMUNALITY_ROUNDS if columns <= _MOST_EXACT else _ROUNDS_IF_INEXACT):
        np.fill_diagonal(matrix, communalities)
        values, vectors = top_eigenpairs(matrix, min(most, columns - 1))
        clear = values > edge
        kept = shrink_eigenvalues(values[clear], unit)
        loadings = vectors[:, clear] * np.sqrt(kept)
        loading_noise = noise * math.sqrt(np.sum(0.5 / np.maximum(kept, unit)))
        last = communalities
        loadings, communalities = _shorten(loadings, loading_noise)
        if np.abs(communalities - last).max() < _COMMUNALITY_TOLERANCE:
            break
    return loadings


def _shorten(loadings: Array, noise: float) -> tuple[Array, Array]:
    """Shorten loadings so that each column, of variance 1, keeps some variance of its own; also return communalities.

    How much of its own is the posterior mean, given that it is positive, with this noise in the length of the column's
    loadings. Too little would cost far more likelihood than too much.
    """
    lengths2 = np.einsum("dk,dk->d", loadings, loadings)
    noises = np.maximum(2 * np.sqrt(lengths2) * noise, 1e-12)
    own = positive_mean((1.0 - lengths2) / noises, 1.0) * noises
    communalities = np.minimum(1.0 - np.minimum(own, 1.0), _MOST_COMMUNALITY)
    return loadings * np.sqrt(communalities / np.maximum(lengths2, 1e-300))[:, None], communalities
