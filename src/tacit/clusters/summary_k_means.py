"""Ordinary k-means on a private summary. It reads no rows and costs no privacy, so it can have many starts."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Array


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
