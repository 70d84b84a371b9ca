"""What can be told of a symmetric matrix's largest eigenvalues when noise of known size has been added to it."""

from __future__ import annotations

import math

import numpy as np

from tacit.fitting.shrinkage import positive_mean
from tacit.statistics.components import Array

_EXACT = 400  # columns up to which all eigenvalues are computed
_POWERS = 30  # steps of subspace iteration beyond that: what stands out of the noise by a tenth is found
_SPARE = 10  # vectors carried along, so that the wanted ones settle sooner
_MARGIN = 1.5  # in units of how far the largest eigenvalue of pure noise strays from its edge
_ROUNDS = 30  # of finding the diagonal that goes with the common part
_SETTLED = 1e-3
_MOST_COMMON = 0.95  # of a column's variance: none is the others' image altogether


def top_eigenpairs(matrix: Array, count: int) -> tuple[Array, Array]:
    """Return the `count` largest eigenvalues, falling, and their vectors (d, count); always the same ones.

    Up to a few hundred columns exactly. Beyond, by subspace iteration from a fixed start: a few matrix products.

    Examples
    --------
    >>> values, vectors = top_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)
    >>> values, abs(vectors).round(9).T
    (array([3., 2.]), array([[0., 1., 0.],
           [0., 0., 1.]]))
    """
    columns = len(matrix)
    if columns <= _EXACT:
        values, vectors = np.linalg.eigh(matrix)
        return values[::-1][:count], vectors[:, ::-1][:, :count]
    basis = np.random.default_rng(0).normal(size=(columns, min(columns, count + _SPARE)))
    for _ in range(_POWERS):
        basis = np.linalg.qr(matrix @ basis)[0]
    values, mixing = np.linalg.eigh(basis.T @ (matrix @ basis))
    return values[::-1][:count], (basis @ mixing)[:, ::-1][:, :count]


def common_factors(correlations: Array, noise: float, most: int) -> Array:
    """Return loadings (d, k), k <= `most`, of what stands out of the noise in a noisy correlation matrix.

    With noise of standard deviation `noise` / sqrt(2) on each number off the diagonal, eigenvalues of pure noise end at
    ``2 s``, s = noise * sqrt(d / 2). One that is found at y > 2 s is really y / 2 + sqrt(y^2 / 4 - s^2), and its vector
    is turned by an angle that is known too; what is best kept of it, in squared error, is sqrt(y^2 - 4 s^2) (Benaych-
    Georges and Nadakuditi, 2011; Gavish and Donoho, 2017). The rest is left out. The diagonal is not used: it is 1, and
    which part of that is common is found along with the loadings.

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
    unit = noise * math.sqrt(columns / 2)
    edge = 2 * unit * (1 + _MARGIN * columns ** (-2 / 3))
    matrix = correlations.copy()
    common = np.zeros(columns)
    for _ in range(_ROUNDS if columns <= _EXACT else 2):
        np.fill_diagonal(matrix, common)
        values, vectors = top_eigenpairs(matrix, min(most, columns - 1))
        clear = values > edge
        kept = np.sqrt(np.maximum(values[clear] ** 2 - 4 * unit**2, 0.0))
        loadings = vectors[:, clear] * np.sqrt(kept)
        unsure = noise * math.sqrt(np.sum(0.5 / np.maximum(kept, unit)))
        loadings, found = _within_variance(loadings, unsure)
        if np.abs(found - common).max() < _SETTLED:
            break
        common = found
    return loadings


def _within_variance(loadings: Array, noise: float) -> tuple[Array, Array]:
    """Return loadings shortened so that each column of variance 1 keeps some of its own, and what it has in common.

    How much of its own: the mean of what is known about that, with this noise in the length of its loadings, given that
    it is positive. Too little would cost far more likelihood than too much.
    """
    common = np.einsum("dk,dk->d", loadings, loadings)
    unsure = np.maximum(2 * np.sqrt(common) * noise, 1e-12)
    own = positive_mean((1.0 - common) / unsure, 1.0) * unsure
    kept = np.minimum(1.0 - np.minimum(own, 1.0), _MOST_COMMON)
    return loadings * np.sqrt(kept / np.maximum(common, 1e-300))[:, None], kept
