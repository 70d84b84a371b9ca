"""Ordinary k-means on a private summary: no rows, no privacy, and as many starts as one likes."""

from __future__ import annotations

import numpy as np

from tacit.statistics.components import Array


def starting_centres(points: Array, weights: Array, number: int, starts: int, rng: np.random.Generator) -> Array:
    """Draw centres (starts, number, d) by k-means++: each next one in proportion to weight times squared distance.

    Where there are fewer points than centres, some come more than once.
    """
    away = points[:, None] - points
    apart = np.einsum("pqd,pqd->pq", away, away)
    nearest = np.ones((starts, len(points)))
    chosen = np.empty((starts, number), dtype=np.intp)
    for k in range(number):
        totals = np.cumsum(weights * nearest, axis=1)
        drawn = rng.uniform(size=(starts, 1)) * totals[:, -1:]
        chosen[:, k] = np.minimum(np.sum(totals <= drawn, axis=1), len(points) - 1)
        nearest = apart[chosen[:, k]] if k == 0 else np.minimum(nearest, apart[chosen[:, k]])
    return points[chosen]


def lloyd(points: Array, weights: Array, centres: Array, rounds: int) -> tuple[Array, Array]:
    """Run Lloyd's iteration on weighted points (P, d), from several starts (S, k, d) at once.

    Returns the centres, and how much each start loses: the weighted sum of squared distances one iteration earlier.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [10.0]])
    >>> centres, losses = lloyd(points, np.ones(3), np.array([[[0.0], [1.0]]]), rounds=3)
    >>> centres[0].ravel(), losses
    (array([ 0.5, 10. ]), array([0.5]))
    """
    squares = np.einsum("pd,pd->p", points, points)
    lifted = np.column_stack([weights, weights[:, None] * points])
    losses = np.empty(len(centres))
    for _ in range(rounds):
        scores = centres @ points.T - 0.5 * np.einsum("skd,skd->sk", centres, centres)[:, :, None]
        best = scores.max(axis=1, keepdims=True)
        losses = (squares - 2 * best[:, 0]) @ weights
        totals = (scores == best).astype(np.float64) @ lifted  # a point that two centres are nearest to counts for both
        held = totals[:, :, :1] > 0
        centres = np.where(held, totals[:, :, 1:] / np.where(held, totals[:, :, :1], 1.0), centres)
    return centres, losses
