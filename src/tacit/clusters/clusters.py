"""What is privately known of clusters, and how to split and regroup them. Plain numerics: no data, no privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.clusters.summary_k_means import lloyd, starting_centres
from tacit.statistics.centres import Centres
from tacit.statistics.components import Array

# A Gaussian cut in two through its middle has its halves' means sqrt(2 / pi), 0.8, standard deviations to either side,
# and each half keeps 1 - 2 / pi of the variance along the cut's axis.
_SPLIT_DISTANCE = math.sqrt(2 / math.pi)
_STARTS, _POLISHED, _ROUNDS = 32, 4, 8
_POINTS = 32  # drawn for each cluster, to stand for its rows


@dataclass(frozen=True, eq=False)
class Clusters:
    """Centres (K, d), how many rows each has (K,), and covariances about them (K, d, d).

    Examples
    --------
    >>> one = Clusters(np.zeros((1, 2)), np.array([100.0]), np.diag([1.0, 0.25])[None])
    >>> two = one.split(2)
    >>> np.abs(two.centres).round(2), two.counts
    (array([[0.8, 0. ],
           [0.8, 0. ]]), array([50., 50.]))
    """

    centres: Array
    counts: Array
    covariances: Array

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return len(self.centres)

    @property
    def spreads(self) -> Array:
        """Mean squared distance of rows from their centre, (K,)."""
        return np.einsum("kii->k", self.covariances)

    def split(self, count: int) -> Clusters:
        """Split what spreads most, rows times largest variance, until there are `count`; halves may be split too."""
        centres, counts = list(self.centres), list(self.counts)
        variances, axes = np.linalg.eigh(self.covariances)
        spreads, turns = list(variances), list(axes)  # halves have the axes of the whole
        while len(centres) < count:
            k = int(np.argmax([rows * along.max() for rows, along in zip(counts, spreads)]))
            longest = int(np.argmax(spreads[k]))
            apart = _SPLIT_DISTANCE * math.sqrt(spreads[k][longest]) * turns[k][:, longest]
            centres.append(centres[k] - apart)
            centres[k] = centres[k] + apart
            counts[k] /= 2
            counts.append(counts[k])
            spreads[k] = np.where(np.arange(len(apart)) == longest, (1 - _SPLIT_DISTANCE**2) * spreads[k], spreads[k])
            spreads.append(spreads[k])
            turns.append(turns[k])
        along, across = np.stack(spreads), np.stack(turns)
        return Clusters(np.stack(centres), np.array(counts), (across * along[:, None, :]) @ across.transpose(0, 2, 1))

    def regrouped(self, count: int) -> Clusters:
        """Return the best `count` clusters that can be told from these: ordinary k-means on points drawn from them.

        First on the centres alone, from many starts; then on points drawn from Gaussians of the clusters' covariances,
        from the best few.
        """
        rng = np.random.default_rng(0)  # the same clusters are regrouped alike
        columns = self.centres.shape[1]
        starts = starting_centres(self.centres, self.counts, count, _STARTS, rng)
        starts, losses = lloyd(self.centres, self.counts, starts, _ROUNDS)
        factors = np.linalg.cholesky(self.covariances + 1e-9 * np.eye(columns))
        points = self.centres[:, None] + rng.normal(size=(self.count, _POINTS, columns)) @ factors.transpose(0, 2, 1)
        points, weights = points.reshape(-1, columns), np.repeat(self.counts / _POINTS, _POINTS)
        found, losses = lloyd(points, weights, starts[np.argsort(losses, kind="stable")[:_POLISHED]], _ROUNDS)
        centres = found[int(np.argmin(losses))]
        labels = Centres(centres).nearest(points)
        counts = np.maximum(np.bincount(labels, weights, count), 1.0)
        squares = np.sum((points - centres[labels]) ** 2, axis=1)
        spreads = np.bincount(labels, weights * squares, count) / counts
        return Clusters(centres, counts, round_covariances(spreads, columns))

    def by_size(self) -> Clusters:
        """Return the clusters in order of falling size."""
        order = np.argsort(-self.counts, kind="stable")
        return Clusters(self.centres[order], self.counts[order], self.covariances[order])


def round_covariances(spreads: Array, columns: int) -> Array:
    """Return covariances (K, d, d) that are alike in all directions and have these traces (K,)."""
    return spreads[:, None, None] * np.eye(columns) / columns
