"""A Gaussian mixture's parameters, and how to split and merge its components. Plain numerics: no data, no privacy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.statistics.components import Array, Components

# A component is split along its longest axis, of variance v: the halves lie 0.75 standard deviations to either side,
# and along that axis each keeps 0.4 of the variance. 0.75^2 + 0.4 is 0.96: together they look much as the whole did.
_SPLIT_DISTANCE = 0.75
_SPLIT_VARIANCE = 0.6


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
        """How many components there are."""
        return len(self.weights)

    def components(self) -> Components:
        """Return the mixture in the form a statistic wants."""
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
            mixture = mixture._merged(*mixture._cheapest_pair())
        return mixture

    def repeated(self, count: int) -> Mixture:
        """Return the same density with `count` components, the heaviest ones counted in halves."""
        mixture = self
        while mixture.count < count:
            k = int(np.argmax(mixture.weights))
            again = np.append(np.arange(mixture.count), k)
            weights = mixture.weights[again]
            weights[[k, -1]] /= 2
            mixture = mixture.taken(again, weights)
        return mixture

    def by_weight(self) -> Mixture:
        """Return the components in order of falling weight."""
        order = np.argsort(-self.weights, kind="stable")
        return self.taken(order, self.weights[order])

    def taken(self, which: np.ndarray, weights: Array) -> Mixture:
        """Return the components at these places, with these weights."""
        return Mixture(weights, self.means[which], self.covariances[which])

    def _merged(self, i: int, j: int) -> Mixture:
        """Return the mixture with one component, the last, in place of two."""
        rest = np.setdiff1d(np.arange(self.count), [i, j])
        weight, mean, covariance = self._moments_of_both(np.array([i]), np.array([j]))
        return Mixture(
            np.append(self.weights[rest], weight),
            np.concatenate([self.means[rest], mean]),
            np.concatenate([self.covariances[rest], covariance]),
        )

    def _moments_of_both(self, i: np.ndarray, j: np.ndarray) -> tuple[Array, Array, Array]:
        """Return weights, means and covariances of pairs of components taken together."""
        weight = self.weights[i] + self.weights[j]
        share = self._shares(i, j)
        apart = self.means[i] - self.means[j]
        mean = share[:, None] * self.means[i] + (1 - share[:, None]) * self.means[j]
        within, between = share[:, None, None], (share * (1 - share))[:, None, None]
        covariance = within * self.covariances[i] + (1 - within) * self.covariances[j]
        return weight, mean, covariance + between * apart[:, :, None] * apart[:, None, :]

    def _shares(self, i: np.ndarray, j: np.ndarray) -> Array:
        return self.weights[i] / (self.weights[i] + self.weights[j])

    def _cheapest_pair(self) -> tuple[int, int]:
        i, j = np.tril_indices(self.count, -1)
        weights, entropies = self.weights, self._entropies()
        costs = self._entropies_of_both(i, j) * (weights[i] + weights[j])
        cheapest = int(np.argmin(costs - weights[i] * entropies[i] - weights[j] * entropies[j]))
        return int(i[cheapest]), int(j[cheapest])

    def _entropies(self) -> Array:
        """Return the entropies of the components, (K,), but for what is the same for all."""
        return 0.5 * np.linalg.slogdet(self.covariances)[1]

    def _entropies_of_both(self, i: np.ndarray, j: np.ndarray) -> Array:
        """Return the entropies that pairs of components would have as one."""
        return 0.5 * np.linalg.slogdet(self._moments_of_both(i, j)[2])[1]
