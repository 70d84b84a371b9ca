"""A factor model's parameters, and their likeliest values given a covariance. Plain numerics: no data, no privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.moments.spectrum import top_eigenpairs

# benchmarks/factor_analysis.py measures what these numbers give, on five tables.
# When expectation-maximisation ends.
_MOST_ROUNDS = 1000  # Most rounds, however small the matrix is.
_ROUNDS_AT_ANY_SIZE = 30  # This many rounds are allowed however large the matrix is.
_MOST_WORK = 4e11  # Multiplications in all rounds together: about a hundred rounds at 4,096 columns.
_TOLERANCE = 1e-6  # It has converged when no log unique variance changes by more in one round.

# Limits, as proportions of a column's variance.
_LEAST_UNIQUE = 0.005  # No column is explained by its factors altogether.
_LEAST_UNIQUE_AT_START = 0.1  # The same at the start.
_LEAST_LOADING_AT_START = 0.05  # Least squared loading of a factor at the start, in units of the correlations.
_LEAST_REST_AT_START = 0.1  # Least eigenvalue beyond the factors at the start.


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
        precision = -(weighted @ self._posterior_covariance() @ weighted.T)
        precision[np.diag_indices(len(precision))] += 1 / self.unique
        return precision

    def scores(self, rows: Array) -> Array:
        """Return the posterior mean of z given each row (n, q)."""
        return (rows - self.mean) @ (self.loadings / self.unique[:, None]) @ self._posterior_covariance()

    def log_density(self, rows: Array) -> Array:
        """Return the log density at each row."""
        posterior = self._posterior_covariance()
        deviations = rows - self.mean
        common = deviations @ (self.loadings / self.unique[:, None])
        squares = (deviations**2 / self.unique).sum(axis=1) - np.einsum("nk,kl,nl->n", common, posterior, common)
        log_det = np.log(self.unique).sum() - np.linalg.slogdet(posterior)[1]
        return -0.5 * (squares + log_det + len(self.mean) * math.log(2 * math.pi))

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """Return rows drawn from the model."""
        columns, factors = self.loadings.shape
        common = rng.normal(size=(count, factors)) @ self.loadings.T
        return self.mean + common + rng.normal(size=(count, columns)) * np.sqrt(self.unique)

    def _posterior_covariance(self) -> Array:
        return _posterior_covariance(self.loadings, self.unique)


def likeliest_factors(mean: Array, covariance: Array, count: int) -> Factors:
    """Return the factors of highest likelihood for rows with this mean and covariance, by expectation-maximisation.

    The likelihood depends on the rows through mean and covariance alone, so this reads no row. Unique variances are
    kept above a small proportion of the columns' variances.

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
    >>> model = likeliest_factors(truth.mean, truth.covariance(), 1)
    >>> model.loadings.round(2).ravel(), model.unique.round(2)
    (array([ 0.9,  0.8, -0.7,  0.6]), array([0.2, 0.4, 0.5, 0.6]))
    """
    variances = np.diag(covariance).copy()
    floor = _LEAST_UNIQUE * variances
    loadings, unique = _principal_loadings(covariance, variances, count)
    rounds = min(_MOST_ROUNDS, max(_ROUNDS_AT_ANY_SIZE, int(_MOST_WORK / (2 * covariance.size * count))))
    for _ in range(rounds):
        # E-step: moments of z, with the rows' own covariance in place of the rows.
        weighted = loadings / unique[:, None]
        posterior = _posterior_covariance(loadings, unique)
        rows_with_z = covariance @ weighted @ posterior
        second_of_z = posterior + posterior @ weighted.T @ rows_with_z
        # M-step: regress rows on z.
        loadings = np.linalg.solve(second_of_z, rows_with_z.T).T
        last, unique = unique, np.maximum(variances - np.einsum("dk,dk->d", loadings, rows_with_z), floor)
        if np.abs(np.log(unique / last)).max() < _TOLERANCE:
            break
    return Factors(mean, _rotate(loadings, unique), unique)


def _principal_loadings(covariance: Array, variances: Array, count: int) -> tuple[Array, Array]:
    """Return where to start: loadings along the longest axes of the correlations, and the unique variances left."""
    scale = np.sqrt(variances)
    correlations = covariance / scale
    correlations /= scale[:, None]
    values, vectors = top_eigenpairs(correlations, count)
    rest = max((len(scale) - values.sum()) / max(len(scale) - count, 1), _LEAST_REST_AT_START)
    loadings = scale[:, None] * vectors * np.sqrt(np.maximum(values - rest, _LEAST_LOADING_AT_START))
    communalities = np.einsum("dk,dk->d", loadings, loadings)
    return loadings, np.maximum(variances - communalities, _LEAST_UNIQUE_AT_START * variances)


def _rotate(loadings: Array, unique: Array) -> Array:
    """Rotate the factors so that the strongest comes first, each with its largest loading positive."""
    scale = np.sqrt(unique)[:, None]
    vectors, lengths, _ = np.linalg.svd(loadings / scale, full_matrices=False)
    rotated = scale * vectors * lengths
    largest = np.abs(rotated).argmax(axis=0)
    return rotated * np.where(rotated[largest, np.arange(rotated.shape[1])] < 0, -1.0, 1.0)


def _posterior_covariance(loadings: Array, unique: Array) -> Array:
    """Return the covariance of z given a row (q, q)."""
    inner = loadings.T @ (loadings / unique[:, None])
    inner[np.diag_indices(len(inner))] += 1.0
    return np.linalg.inv(inner)
