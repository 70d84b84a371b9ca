"""The parameters of a Gaussian mixture, and how its components are split and merged. It is plain numerics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tacit.arrays import Array
from tacit.statistics import Components, CovarianceType

# A component is split along its longest axis. 0.75^2 + (1 - 0.6) is 0.96, so that the halves together have nearly the
# variance of the whole. benchmarks/mixture.py measures what these numbers give.
_SPLIT_DISTANCE = 0.75  # Distance of each half's mean from that of the whole, in standard deviations.
_SPLIT_VARIANCE = 0.6  # Part of the variance along the axis that each half loses.


@dataclass(frozen=True, eq=False)
class Mixture:
    """Weights (K,), means (K, d) and covariances (K, d, d), in coordinates where the public bounds are a unit box.

    Examples
    --------
    >>> import numpy as np
    >>> one = Mixture(np.ones(1), np.zeros((1, 2)), np.diag([1.0, 0.25])[None])
    >>> two = one.split(2)
    >>> two.means
    array([[ 0.75,  0.  ],
           [-0.75,  0.  ]])
    >>> np.allclose(two.merge(1).covariances, np.diag([0.9625, 0.25]))
    True
    """

    weights: Array
    means: Array
    covariances: Array

    @property
    def count(self) -> int:
        """The number of components."""
        return len(self.weights)

    def components(self) -> Components:
        """Return the mixture in the form that statistics take."""
        return Components(self.weights, self.means, np.linalg.cholesky(self.covariances))

    def split(self, count: int) -> Mixture:
        """Split the components that spread most, weight times largest variance, until there are `count`.

        No component is split twice, so at most twice as many come out.
        """
        variances, axes = np.linalg.eigh(self.covariances)
        order = np.argsort(-self.weights * variances[:, -1], kind="stable")
        chosen = np.sort(order[: count - self.count])
        kept = np.setdiff1d(np.arange(self.count), chosen)
        weights, means, covariances = [self.weights[kept]], [self.means[kept]], [self.covariances[kept]]
        for k in chosen:
            variance, axis = variances[k, -1], axes[k, :, -1]
            axis = axis * np.sign(axis[np.argmax(np.abs(axis))])  # eigh leaves the sign open
            apart = _SPLIT_DISTANCE * np.sqrt(variance) * axis
            halves = self.covariances[k] - _SPLIT_VARIANCE * variance * np.outer(axis, axis)
            weights.append(np.full(2, self.weights[k] / 2))
            means.append(np.stack([self.means[k] + apart, self.means[k] - apart]))
            covariances.append(np.stack([halves, halves]))
        return Mixture(np.concatenate(weights), np.concatenate(means), np.concatenate(covariances))

    def merge(self, count: int) -> Mixture:
        """Merge pairs, each time the one that costs least likelihood, until there are `count` components.

        The cost is Runnalls' (2007) upper bound on the Kullback-Leibler divergence between before and after.
        """
        mixture = self
        while mixture.count > count:
            mixture = mixture._merge_pair(*mixture._cheapest_pair())
        return mixture

    def repeat(self, count: int) -> Mixture:
        """Return the same density with at least `count` components: the heaviest are repeated, with half the weight."""
        mixture = self
        while mixture.count < count:
            k = int(np.argmax(mixture.weights))
            again = np.append(np.arange(mixture.count), k)
            weights = mixture.weights[again]
            weights[[k, -1]] /= 2
            mixture = mixture.take(again, weights)
        return mixture

    def constrain(self, kind: CovarianceType) -> Self:
        """Return the mixture with the covariances of this type that are nearest in likelihood."""
        covariances, columns = self.covariances, self.means.shape[1]
        if kind == "tied":
            pooled = np.einsum("k,kij->ij", self.weights, covariances)
            covariances = np.broadcast_to(pooled, covariances.shape)
        elif kind == "diag":
            covariances = covariances * np.eye(columns)
        elif kind == "spherical":
            covariances = np.einsum("kii->k", covariances)[:, None, None] / columns * np.eye(columns)
        return replace(self, covariances=covariances)

    def by_weight(self) -> Mixture:
        """Return the components in order of falling weight."""
        order = np.argsort(-self.weights, kind="stable")
        return self.take(order, self.weights[order])

    def take(self, which: np.ndarray, weights: Array) -> Mixture:
        """Return the components at these places, with these weights."""
        return Mixture(weights, self.means[which], self.covariances[which])

    def _merge_pair(self, i: int, j: int) -> Mixture:
        """Return the mixture with one component, the last, in place of two."""
        rest = np.setdiff1d(np.arange(self.count), [i, j])
        weight, mean, covariance = self._pair_moments(np.array([i]), np.array([j]))
        return Mixture(
            np.append(self.weights[rest], weight),
            np.concatenate([self.means[rest], mean]),
            np.concatenate([self.covariances[rest], covariance]),
        )

    def _pair_moments(self, i: np.ndarray, j: np.ndarray) -> tuple[Array, Array, Array]:
        """Return the weights, means and covariances that pairs of components have together."""
        weight = self.weights[i] + self.weights[j]
        proportion = self._pair_proportions(i, j)
        apart = self.means[i] - self.means[j]
        mean = proportion[:, None] * self.means[i] + (1 - proportion[:, None]) * self.means[j]
        within, between = proportion[:, None, None], (proportion * (1 - proportion))[:, None, None]
        covariance = within * self.covariances[i] + (1 - within) * self.covariances[j]
        return weight, mean, covariance + between * apart[:, :, None] * apart[:, None, :]

    def _pair_proportions(self, i: np.ndarray, j: np.ndarray) -> Array:
        """Return the part of each pair's weight that its first component has."""
        return self.weights[i] / (self.weights[i] + self.weights[j])

    def _cheapest_pair(self) -> tuple[int, int]:
        i, j = np.tril_indices(self.count, -1)
        weights, entropies = self.weights, self._entropies()
        costs = self._pair_entropies(i, j) * (weights[i] + weights[j])
        cheapest = int(np.argmin(costs - weights[i] * entropies[i] - weights[j] * entropies[j]))
        return int(i[cheapest]), int(j[cheapest])

    def _entropies(self) -> Array:
        """Return the entropies of the components, (K,), up to a constant."""
        return 0.5 * np.linalg.slogdet(self.covariances)[1]

    def _pair_entropies(self, i: np.ndarray, j: np.ndarray) -> Array:
        """Return the entropies that pairs of components would have as one component."""
        return 0.5 * np.linalg.slogdet(self._pair_moments(i, j)[2])[1]


def public_means(count: int, columns: int) -> Array:
    """Return `count` points spread over the ball of radius sqrt(d) / 2, the same each time.

    Examples
    --------
    >>> public_means(2, 3).shape
    (2, 3)
    """
    directions = np.random.default_rng(20170).normal(size=(count, columns))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True) * (math.sqrt(columns) / 2)
