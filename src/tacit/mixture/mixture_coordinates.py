"""A mixture as a point in space: its coordinates near another one, its scores, and points that stand for its rows.

The coordinates of a mixture are, in this order:

- the logarithms of weights relative to the last weight;
- the shifts of means in units of each component's own factor L;
- the logarithm of L^-1 Sigma L^-T, packed as second moments are;
- in a table with levels, for each component and column, the logarithms of probabilities relative to the last level's.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from tacit.arrays import Array
from tacit.mixture.mixture import Mixture
from tacit.mixture.table_mixture import TableMixture
from tacit.statistics import ComponentMoments, Components, CovarianceType, TableComponents, TableLayout, TableMoments
from tacit.statistics.moments.component_moments import numbers_in_second_moment, triangle

_NO_LEVELS = TableLayout(())


class Points:
    """Evenly spread points of all components.

    ``places`` (points, d) are encoded rows, ``proportions`` (points,) of rows what each of them stands for, and
    ``scores`` (points, coordinates) the gradients of the log density there.

    Parameters
    ----------
    mixture : Mixture
    kind : {"full", "tied", "diag", "spherical"}
    count : int
        Number of points for each component.
    """

    def __init__(self, mixture: Mixture, kind: CovarianceType, count: int) -> None:
        columns, levels = mixture.means.shape[1], len(_layout(mixture).levels)
        even = _even_points(columns + levels, count)
        factors = np.linalg.cholesky(mixture.covariances)
        places = mixture.means[:, None] + np.einsum("kij,nj->kni", factors, ndtri(even[:, :columns]))
        self.places = places.reshape(-1, columns)
        if isinstance(mixture, TableMixture):
            labels = np.repeat(np.arange(mixture.count), count)
            self.places = mixture.encode(labels, self.places, np.tile(even[:, columns:], (mixture.count, 1)))
        self.proportions = np.repeat(mixture.weights / count, count)
        self.scores = _scores(mixture, self.places, kind)


def row_values(statistic: ComponentMoments | TableMoments, rows: Array) -> Array:
    """Return what each row adds to the statistic's sum, (rows, size). No cell is missing.

    Examples
    --------
    >>> parts = Components(np.array([0.4, 0.6]), np.array([[0.0, 1.0], [1.0, 0.0]]), np.stack([np.eye(2)] * 2))
    >>> moments = ComponentMoments(parts, radius=1.5, covariance_type="diag")
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> np.allclose(row_values(moments, rows).sum(axis=0), moments.block_sum(rows))
    True
    """
    y, distances, responsibilities, codes = _e_step(statistic.components, rows)
    clipped = y / np.maximum(np.sqrt(distances), statistic.radius)[:, None]
    counts, sums, seconds = _parts(clipped, responsibilities, statistic.covariance_type)
    values = [statistic.count * counts, statistic.mean * sums, statistic.second * seconds]
    if isinstance(statistic, TableMoments):
        layout = statistic.components.layout
        levels = responsibilities[:, None] * _indicators(codes, layout)
        weight = statistic.level_weight / math.sqrt(max(1, len(layout.levels)))
        values.append(weight * levels.reshape(-1, len(rows)).T)
    return np.hstack(values)


def move(mixture: Mixture, step: Array, kind: CovarianceType) -> Mixture:
    """Return the mixture at these coordinates near another one.

    Examples
    --------
    >>> two = Mixture(np.array([0.5, 0.5]), np.zeros((2, 1)), np.full((2, 1, 1), 4.0))
    >>> near = move(two, np.array([np.log(3), 0.5, 0.0, 0.0, np.log(2)]), "full")
    >>> near.weights, near.means.ravel(), near.covariances.ravel()
    (array([0.75, 0.25]), array([1., 0.]), array([4., 8.]))
    """
    count, columns = mixture.means.shape
    numbers = numbers_in_second_moment(kind, columns) * (1 if kind == "tied" else count)
    ends = np.cumsum([count - 1, count * columns, numbers])
    logs, shifts, shapes, levels = np.split(step, ends)
    weights = mixture.weights * np.exp(np.append(logs, 0.0))
    factors = np.linalg.cholesky(mixture.covariances)
    shapes = np.broadcast_to(shapes, (count, len(shapes))) if kind == "tied" else shapes.reshape(count, -1)
    exponents = np.zeros((count, columns, columns))
    if kind in ("full", "tied"):
        rows, cols, scale = triangle(columns)
        exponents[:, rows, cols] = exponents[:, cols, rows] = shapes / scale
    else:
        exponents[:, np.arange(columns), np.arange(columns)] = shapes
    values, axes = np.linalg.eigh(exponents)
    shapes = np.einsum("kij,kj,klj->kil", axes, np.exp(values), axes)
    near = replace(
        mixture,
        weights=weights / weights.sum(),
        means=mixture.means + np.einsum("kij,kj->ki", factors, shifts.reshape(count, columns)),
        covariances=factors @ shapes @ factors.transpose(0, 2, 1),
    )
    if isinstance(near, TableMixture):
        near = replace(near, probabilities=_move_levels(near, levels.reshape(count, -1)))
    return near


def _move_levels(mixture: TableMixture, logs: Array) -> Array:
    probabilities = mixture.probabilities.copy()
    probabilities[:, _free(mixture.layout)] *= np.exp(logs)
    for where in mixture.layout.slices:
        probabilities[:, where] /= probabilities[:, where].sum(axis=1, keepdims=True)
    return np.maximum(probabilities, 1e-12)


def _scores(mixture: Mixture, rows: Array, kind: CovarianceType) -> Array:
    """Return the gradient of the log density at each row in the coordinates of the mixture, (rows, coordinates)."""
    y, _, responsibilities, codes = _e_step(mixture.components(), rows)
    counts, sums, seconds = _parts(y, responsibilities, kind)
    corners = np.broadcast_to(np.eye(y.shape[1])[:, :, None], (len(y), y.shape[1], y.shape[1], 1))
    expected = _pack(corners, responsibilities, kind)
    scores = [(counts - mixture.weights)[:, :-1], sums, 0.5 * (seconds - expected)]
    if isinstance(mixture, TableMixture):
        over = _indicators(codes, mixture.layout)[None] - mixture.probabilities[:, :, None]
        over = responsibilities[:, None] * over[:, _free(mixture.layout)]
        scores.append(over.reshape(-1, len(rows)).T)
    return np.hstack(scores)


def _e_step(components: Components | TableComponents, rows: Array) -> tuple[Array, Array, Array, NDArray[np.intp]]:
    """Return whitened numbers (K, d, rows), their squared lengths and responsibilities (K, rows), levels (rows, J)."""
    if isinstance(components, Components):
        lifted, distances, responsibilities = components.e_step(rows)
        return (
            lifted[:, 1 : 1 + components.columns],
            distances,
            responsibilities,
            np.empty((len(rows), 0), dtype=np.intp),
        )
    pieces = list(components.e_step(rows, missing=False))
    lifted, distances, responsibilities = (
        np.concatenate([getattr(piece, name) for piece in pieces], axis=-1)
        for name in ("lifted", "distances", "responsibilities")
    )
    return lifted[:, 1:], distances, responsibilities, np.concatenate([piece.codes for piece in pieces])


def _layout(mixture: Mixture) -> TableLayout:
    return mixture.layout if isinstance(mixture, TableMixture) else _NO_LEVELS


def _free(layout: TableLayout) -> list[int]:
    """Return the places of all levels but the last of each column."""
    return [level for where in layout.slices for level in range(where.start, where.stop - 1)]


def _indicators(codes: NDArray[np.intp], layout: TableLayout) -> Array:
    """Return 1 where a row has a level, (all levels, rows)."""
    levels = [codes[:, j] == level for j, size in enumerate(layout.sizes) for level in range(size)]
    return np.array(levels, dtype=np.float64).reshape(-1, len(codes))


def _parts(y: Array, responsibilities: Array, kind: CovarianceType) -> tuple[Array, Array, Array]:
    """Return what each row adds to counts (rows, K), sums (rows, K d) and second moments of y (K, d, rows)."""
    sums = (responsibilities[:, None] * y).reshape(-1, y.shape[2]).T
    return responsibilities.T, sums, _pack(y[:, :, None] * y[:, None], responsibilities, kind)


def _pack(squares: Array, responsibilities: Array, kind: CovarianceType) -> Array:
    """Return squares (K, d, d, rows or 1), weighted by responsibilities (K, rows), row by row and packed."""
    if kind == "spherical":
        return (responsibilities * np.einsum("kiir->kr", squares)).T
    if kind == "diag":
        return (responsibilities[:, None] * np.einsum("kiir->kir", squares)).reshape(-1, responsibilities.shape[1]).T
    rows, cols, scale = triangle(squares.shape[1])
    upper = responsibilities[:, None] * squares[:, rows, cols] * scale[:, None]
    return (upper.sum(axis=0) if kind == "tied" else upper.reshape(-1, responsibilities.shape[1])).T


@lru_cache(maxsize=8)
def _even_points(columns: int, count: int) -> Array:
    points: Array = np.clip(qmc.Sobol(columns, scramble=True, seed=0).random(count), 1e-9, 1 - 1e-9)
    points.setflags(write=False)
    return points
