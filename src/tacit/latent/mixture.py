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
            first, second = mixture._cheapest_pair()
            rest = np.setdiff1d(np.arange(mixture.count), [first, second])
            weight, mean, covariance = mixture._merged(first, second)
            mixture = Mixture(
                np.append(mixture.weights[rest], weight),
                np.concatenate([mixture.means[rest], mean[None]]),
                np.concatenate([mixture.covariances[rest], covariance[None]]),
            )
        return mixture

    def repeated(self, count: int) -> Mixture:
        """Return the same density with `count` components, the heaviest ones counted in halves."""
        mixture = self
        while mixture.count < count:
            k = int(np.argmax(mixture.weights))
            again = np.append(np.arange(mixture.count), k)
            weights = mixture.weights[again]
            weights[[k, -1]] /= 2
            mixture = mixture._taken(again, weights)
        return mixture

    def by_weight(self) -> Mixture:
        """Return the components in order of falling weight."""
        order = np.argsort(-self.weights, kind="stable")
        return self._taken(order, self.weights[order])

    def _taken(self, which: np.ndarray, weights: Array) -> Mixture:
        return Mixture(weights, self.means[which], self.covariances[which])

    def _merged(self, i: int, j: int) -> tuple[float, Array, Array]:
        weight = self.weights[i] + self.weights[j]
        share = self.weights[i] / weight
        apart = self.means[i] - self.means[j]
        mean = share * self.means[i] + (1 - share) * self.means[j]
        within = share * self.covariances[i] + (1 - share) * self.covariances[j]
        return weight, mean, within + share * (1 - share) * np.outer(apart, apart)

    def _cheapest_pair(self) -> tuple[int, int]:
        volumes = np.linalg.slogdet(self.covariances)[1]
        pairs = [(i, j) for i in range(self.count) for j in range(i)]
        merged = [self._merged(i, j) for i, j in pairs]
        volumes_merged = np.linalg.slogdet(np.stack([covariance for _, _, covariance in merged]))[1]
        costs = [
            weight * volume - self.weights[i] * volumes[i] - self.weights[j] * volumes[j]
            for (i, j), (weight, _, _), volume in zip(pairs, merged, volumes_merged)
        ]
        return pairs[int(np.argmin(costs))]
