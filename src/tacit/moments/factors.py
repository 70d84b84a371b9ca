"""A factor model's parameters, and their likeliest values given a covariance. Plain numerics: no data, no privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.moments.spectrum import top_eigenpairs
from tacit.statistics.components import Array

_MOST_ROUNDS = 1000
_MOST_WORK = 4e11  # multiplications: at 4096 columns a hundred rounds or so
_SETTLED = 1e-6
_LEAST_UNIQUE = 0.005  # of a column's variance: none is its factors' image altogether
_START = 0.05  # of a column's variance, that each factor starts with at least


@dataclass(frozen=True, eq=False)
class Factors:
    """Rows are mean + loadings z + noise, z standard normal, noise independent with variances `unique`.

    Parameters
    ----------
    mean : (d,) array
    loadings : (d, q) array
    unique : (d,) array

    Notes
    -----
    Densities use the matrix of q by q numbers that the Woodbury identity leaves, never one of d by d.

    Examples
    --------
    >>> model = Factors(np.zeros(2), np.array([[1.0], [1.0]]), np.ones(2))
    >>> model.covariance()
    array([[2., 1.],
           [1., 2.]])
    >>> model.scores(np.array([[1.0, 1.0]])).round(3)
    array([[0.667]])
    """

    mean: Array
    loadings: Array
    unique: Array

    def covariance(self) -> Array:
        """Return the covariance of rows (d, d)."""
        covariance = self.loadings @ self.loadings.T
        covariance[np.diag_indices(len(covariance))] += self.unique
        return covariance

    def precision(self) -> Array:
        """Return the inverse of the covariance (d, d)."""
        weighted = self.loadings / self.unique[:, None]
        precision = -(weighted @ self._posterior() @ weighted.T)
        precision[np.diag_indices(len(precision))] += 1 / self.unique
        return precision

    def scores(self, rows: Array) -> Array:
        """Return what is to be expected of z, given each row."""
        return (rows - self.mean) @ (self.loadings / self.unique[:, None]) @ self._posterior()

    def log_density(self, rows: Array) -> Array:
        """Return the log density at each row."""
        posterior = self._posterior()
        away = rows - self.mean
        common = away @ (self.loadings / self.unique[:, None])
        squares = (away**2 / self.unique).sum(axis=1) - np.einsum("nk,kl,nl->n", common, posterior, common)
        log_det = np.log(self.unique).sum() - np.linalg.slogdet(posterior)[1]
        return -0.5 * (squares + log_det + len(self.mean) * math.log(2 * math.pi))

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """Return rows drawn from the model."""
        columns, factors = self.loadings.shape
        common = rng.normal(size=(count, factors)) @ self.loadings.T
        return self.mean + common + rng.normal(size=(count, columns)) * np.sqrt(self.unique)

    def _posterior(self) -> Array:
        """Return the covariance of z given a row, (q, q)."""
        return _posterior(self.loadings, self.unique)


def likeliest_factors(mean: Array, covariance: Array, count: int) -> Factors:
    """Return the factors of highest likelihood for rows with this mean and covariance, by expectation-maximisation.

    The covariance is all of the rows that the likelihood depends on, so this reads none. Columns' own variances are
    kept above a small share of the whole.

    Parameters
    ----------
    mean : (d,) array
    covariance : (d, d) array
        Positive definite.
    count : int
        How many factors.

    Examples
    --------
    >>> truth = Factors(np.zeros(4), np.array([[0.9], [0.8], [-0.7], [0.6]]), np.array([0.2, 0.4, 0.5, 0.6]))
    >>> found = likeliest_factors(truth.mean, truth.covariance(), 1)
    >>> found.loadings.round(2).ravel(), found.unique.round(2)
    (array([ 0.9,  0.8, -0.7,  0.6]), array([0.2, 0.4, 0.5, 0.6]))
    """
    variances = np.diag(covariance).copy()
    floor = _LEAST_UNIQUE * variances
    loadings, unique = _start(covariance, variances, count)
    rounds = min(_MOST_ROUNDS, max(30, int(_MOST_WORK / (2 * covariance.size * count))))
    for _ in range(rounds):
        weighted = loadings / unique[:, None]
        posterior = _posterior(loadings, unique)
        cross = covariance @ weighted @ posterior  # of rows with z
        second = posterior + posterior @ weighted.T @ cross  # of z
        loadings = np.linalg.solve(second, cross.T).T
        last, unique = unique, np.maximum(variances - np.einsum("dk,dk->d", loadings, cross), floor)
        if np.abs(np.log(unique / last)).max() < _SETTLED:
            break
    return Factors(mean, _turned(loadings, unique), unique)


def _start(covariance: Array, variances: Array, count: int) -> tuple[Array, Array]:
    """Return loadings along the correlations' longest axes."""
    scale = np.sqrt(variances)
    correlations = covariance / scale
    correlations /= scale[:, None]
    values, vectors = top_eigenpairs(correlations, count)
    rest = max((len(scale) - values.sum()) / max(len(scale) - count, 1), 0.1)
    loadings = scale[:, None] * vectors * np.sqrt(np.maximum(values - rest, _START))
    return loadings, np.maximum(variances - np.einsum("dk,dk->d", loadings, loadings), 0.1 * variances)


def _turned(loadings: Array, unique: Array) -> Array:
    """Return the same factors turned so that the strongest comes first, each with its largest loading positive."""
    scale = np.sqrt(unique)[:, None]
    vectors, lengths, _ = np.linalg.svd(loadings / scale, full_matrices=False)
    turned = scale * vectors * lengths
    largest = np.abs(turned).argmax(axis=0)
    return turned * np.where(turned[largest, np.arange(turned.shape[1])] < 0, -1.0, 1.0)


def _posterior(loadings: Array, unique: Array) -> Array:
    inner = loadings.T @ (loadings / unique[:, None])
    inner[np.diag_indices(len(inner))] += 1.0
    return np.linalg.inv(inner)
