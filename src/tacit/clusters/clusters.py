"""Private estimates of clusters, and how to split and regroup them.

These functions read no rows and cost no privacy, so that the k-means on a private summary can have many starts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.statistics.centres import Centres

# A plane through the mean of a Gaussian cuts it into halves. The mean of each half is sqrt(2 / pi) standard deviations
# away from the plane, and each half keeps the proportion 1 - 2 / pi of the variance along that axis.
_SPLIT_DISTANCE = math.sqrt(2 / math.pi)

# Effort of the k-means on the summary, which costs time and no privacy. benchmarks/kmeans.py measures the distances and
# the time that these numbers give, on seven shapes of generated tables.
_STARTS = 32  # Number of k-means++ starts.
_BEST_STARTS = 4  # Number of those that also run on the sampled points.
_ITERATIONS = 8  # Lloyd iterations of each run.
_POINTS_PER_CLUSTER = 32  # Number of points that represent a cluster's rows.


@dataclass(frozen=True, eq=False)
class Clusters:
    """Private estimates of K clusters.

    Parameters
    ----------
    centres : (K, d) array
    sizes : (K,) array
        Estimated number of rows of each cluster, positive.
    covariances : (K, d, d) array
        Covariance of each cluster's rows about its centre.

    Examples
    --------
    >>> one = Clusters(np.zeros((1, 2)), np.array([100.0]), np.diag([1.0, 0.25])[None])
    >>> two = one.split(2)
    >>> np.abs(two.centres).round(2), two.sizes
    (array([[0.8, 0. ],
           [0.8, 0. ]]), array([50., 50.]))
    """

    centres: Array
    sizes: Array
    covariances: Array

    @property
    def number(self) -> int:
        """Number of clusters."""
        return len(self.centres)

    @property
    def variances(self) -> Array:
        """Within-cluster variances (K,): mean squared distances of rows from their centre."""
        return np.einsum("kii->k", self.covariances)

    def split(self, number: int) -> Clusters:
        """Return `number` clusters: halve the cluster with the most variance along one axis, again and again.

        The next cluster to halve is the one with the largest product of size and variance along its longest axis. A
        half can be halved again.
        """
        centres, sizes = list(self.centres), list(self.sizes)
        eigenvalues, eigenvectors = np.linalg.eigh(self.covariances)
        variances, axes = list(eigenvalues), list(eigenvectors)  # A half keeps the axes of the whole.
        while len(centres) < number:
            k = int(np.argmax([size * along_axes.max() for size, along_axes in zip(sizes, variances)]))
            longest = int(np.argmax(variances[k]))
            shift = _SPLIT_DISTANCE * math.sqrt(variances[k][longest]) * axes[k][:, longest]
            centres.append(centres[k] - shift)
            centres[k] = centres[k] + shift
            sizes[k] /= 2
            sizes.append(sizes[k])
            halved = (1 - _SPLIT_DISTANCE**2) * variances[k]
            variances[k] = np.where(np.arange(len(shift)) == longest, halved, variances[k])
            variances.append(variances[k])
            axes.append(axes[k])
        all_variances, all_axes = np.stack(variances), np.stack(axes)
        covariances = (all_axes * all_variances[:, None, :]) @ all_axes.transpose(0, 2, 1)
        return Clusters(np.stack(centres), np.array(sizes), covariances)

    def regroup(self, number: int) -> Clusters:
        """Return `number` clusters, from ordinary k-means on points sampled from these clusters.

        Many starts run on the centres alone. The best of them then run on points sampled from Gaussians with the
        clusters' centres and covariances.
        """
        rng = np.random.default_rng(0)  # The seed is fixed so that equal clusters give equal results.
        columns = self.centres.shape[1]
        starts = k_means_plus_plus(self.centres, self.sizes, number, _STARTS, rng)
        starts, losses = lloyd(self.centres, self.sizes, starts, _ITERATIONS)
        best_starts = starts[np.argsort(losses, kind="stable")[:_BEST_STARTS]]
        factors = np.linalg.cholesky(self.covariances + 1e-9 * np.eye(columns))
        deviations = rng.normal(size=(self.number, _POINTS_PER_CLUSTER, columns)) @ factors.transpose(0, 2, 1)
        points = (self.centres[:, None] + deviations).reshape(-1, columns)
        weights = np.repeat(self.sizes / _POINTS_PER_CLUSTER, _POINTS_PER_CLUSTER)
        results, losses = lloyd(points, weights, best_starts, _ITERATIONS)
        centres = results[int(np.argmin(losses))]
        labels = Centres(centres).nearest(points)
        sizes = np.maximum(np.bincount(labels, weights, number), 1.0)
        squared_distances = np.sum((points - centres[labels]) ** 2, axis=1)
        variances = np.bincount(labels, weights * squared_distances, number) / sizes
        return Clusters(centres, sizes, spherical_covariances(variances, columns))


def spherical_covariances(variances: Array, columns: int) -> Array:
    """Return covariances (K, d, d) that are equal in all directions and have the traces `variances` (K,)."""
    return variances[:, None, None] * np.eye(columns) / columns


def largest_first(centres: Array, sizes: Array) -> Array:
    """Return the centres (K, d) in order of falling cluster size."""
    return centres[np.argsort(-sizes, kind="stable")]


def k_means_plus_plus(points: Array, weights: Array, number: int, starts: int, rng: np.random.Generator) -> Array:
    """Draw starting centres (starts, number, d) from weighted points (P, d) by k-means++.

    The probability of a point to be the next centre is proportional to its weight times its squared distance from the
    centres drawn so far. With fewer points than centres, some points come more than once.
    """
    differences = points[:, None] - points
    squared_distances = np.einsum("pqd,pqd->pq", differences, differences)
    nearest = np.ones((starts, len(points)))
    chosen = np.empty((starts, number), dtype=np.intp)
    for k in range(number):
        totals = np.cumsum(weights * nearest, axis=1)
        drawn = rng.uniform(size=(starts, 1)) * totals[:, -1:]
        chosen[:, k] = np.minimum(np.sum(totals <= drawn, axis=1), len(points) - 1)
        from_chosen = squared_distances[chosen[:, k]]
        nearest = from_chosen if k == 0 else np.minimum(nearest, from_chosen)
    return points[chosen]


def lloyd(points: Array, weights: Array, centres: Array, iterations: int) -> tuple[Array, Array]:
    """Run Lloyd iterations on weighted points (P, d), from several starts (S, k, d) at once.

    Returns
    -------
    centres : (S, k, d) array
    losses : (S,) array
        Weighted sum of squared distances from the nearest centres, of the centres before the last iteration.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [10.0]])
    >>> centres, losses = lloyd(points, np.ones(3), np.array([[[0.0], [1.0]]]), iterations=3)
    >>> centres[0].ravel(), losses
    (array([ 0.5, 10. ]), array([0.5]))
    """
    squared_lengths = np.einsum("pd,pd->p", points, points)
    weighted = np.column_stack([weights, weights[:, None] * points])
    losses = np.empty(len(centres))
    for _ in range(iterations):
        # The nearest centre c of a point x has the largest <c, x> - |c|^2 / 2.
        scores = centres @ points.T - 0.5 * np.einsum("skd,skd->sk", centres, centres)[:, :, None]
        best = scores.max(axis=1, keepdims=True)
        losses = (squared_lengths - 2 * best[:, 0]) @ weights
        totals = (scores == best).astype(np.float64) @ weighted  # A point as near to two centres counts for both.
        sizes, sums = totals[:, :, :1], totals[:, :, 1:]
        centres = np.where(sizes > 0, sums / np.where(sizes > 0, sizes, 1.0), centres)
    return centres, losses
