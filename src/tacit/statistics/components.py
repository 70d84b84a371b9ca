"""Gaussian components, as a statistic sees them: already private parameters that weigh rows."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE
from tacit.release.row_maps import pad_rows
from tacit.statistics.ranges import MOST_UNSQUARED, check_numbers, check_sizes
from tacit.statistics.row_vectors import RowVectors

_LINES_AT_ONCE = 4  # Matrix products are quickest if the number of lines is a multiple of this.


class Workspace(threading.local):
    """Arrays that are used again for every piece of a block, so that memory need not be allocated; one set per thread.

    The system clears memory that is given back between pieces before it is used again. On workers that give it back
    at once, as Dask's do, that took two thirds of the time.

    Examples
    --------
    >>> room = Workspace()
    >>> np.shares_memory(room("rows", 2, 3), room("rows", 2, 2))
    True
    """

    def __init__(self) -> None:
        self._rooms: dict[str, Array] = {}

    def __call__(self, name: str, *shape: int) -> Array:
        """Return an array of this shape. It holds old numbers, from the last use of that name."""
        size = math.prod(shape)
        room = self._rooms.get(name)
        if room is None or room.size < size:
            room = self._rooms[name] = np.empty(size)
        return room[:size].reshape(shape)


def _fresh(name: str, *shape: int) -> Array:
    return np.empty(shape)


@dataclass(frozen=True, eq=False)
class Components:
    """A mixture of K Gaussians in d columns, in the form that the E-step needs.

    Parameters
    ----------
    weights : (K,) array
        Mixing weights, positive.
    means : (K, d) array
    factors : (K, d, d) array
        Lower-triangular L_k with positive diagonals and Sigma_k = L_k L_k'. A factor of one component alone need not be
        triangular, because its density is compared with no other.

    Examples
    --------
    >>> import numpy as np
    >>> two = Components(np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.full((2, 1, 1), 0.5))
    >>> distances, responsibilities = two.e_step(np.array([[-1.0], [0.0]]))[1:]
    >>> responsibilities.round(3)
    array([[1. , 0.5],
           [0. , 0.5]])
    """

    weights: Array
    means: Array
    factors: Array

    def __post_init__(self) -> None:
        if not ((self.weights > 0) & (self.weights < math.inf)).all():
            raise ValueError("The weights of components must be positive and finite.")
        if not np.isfinite(self.means).all():
            raise ValueError("The means of components must be finite.")
        check_sizes("The diagonals of factors", np.einsum("kii->ki", self.factors), most=MOST_UNSQUARED)
        check_numbers("Factors", self.factors, most=MOST_UNSQUARED)
        identity = np.broadcast_to(np.eye(self.columns), self.factors.shape)
        whiteners = np.linalg.solve(self.factors, identity)
        log_det = np.log(np.einsum("kii->ki", self.factors)).sum(axis=1)
        # One product gives (1, y, 0) with y = L^-1 x - L^-1 mu, from x with a row of ones under it.
        lines = self.columns + 1 + -(self.columns + 1) % _LINES_AT_ONCE
        affine = np.zeros((self.count, lines, self.columns + 1))
        affine[:, 0, -1] = 1.0
        y = slice(1, 1 + self.columns)
        affine[:, y, :-1] = whiteners
        affine[:, y, -1] = -np.einsum("kij,kj->ki", whiteners, self.means)
        object.__setattr__(self, "_affine", affine.reshape(-1, self.columns + 1))
        object.__setattr__(self, "_log_scales", (np.log(self.weights) - log_det)[:, None])

    @property
    def count(self) -> int:
        """How many components there are."""
        return len(self.weights)

    @property
    def columns(self) -> int:
        """How many columns the rows have."""
        return int(self.means.shape[1])

    def log_joint(self, distances: Array) -> Array:
        """Return log(weight_k N(x; mu_k, Sigma_k)) without d/2 log(2 pi), from squared distances (K, rows)."""
        joint: Array = self._log_scales - 0.5 * distances  # type: ignore[attr-defined]
        return joint

    def e_step(self, block: Array, evidence: Array | None = None, room: Workspace | None = None) -> RowVectors:
        """Return whitened rows (1, y, 0), squared norms of y (K, rows) and responsibilities (K, rows).

        Whitened rows are (K, 1 + d + some more, rows): there are as many zeros behind y as make products quick.
        Responsibilities are at least 0 and add up to 1, up to rounding. A row with a NaN, or so far out that its
        distance overflows, belongs to no component: its whitened values, norms and responsibilities are all 0. What is
        computed for a row does not depend on where in the block it stands; see ``pad_rows``.

        `evidence` (K, rows) is the log likelihood of what else is known of each row, under each component. A row for
        which it is not finite belongs to no component.

        With a `room`, the arrays that are returned belong to it, and are overwritten when it is used again.
        """
        rows = len(block)
        space = _fresh if room is None else room
        lifted, distances, lost = self._distances(block, space)
        if evidence is not None:
            evidence = pad_rows(evidence)
            lost |= ~np.isfinite(evidence.sum(axis=0))
        if lost.any():
            lifted[:, :, lost] = 0.0
            distances[:, lost] = 0.0
        responsibilities = np.multiply(distances, -0.5, out=space("responsibilities", *distances.shape))
        responsibilities += self._log_scales  # type: ignore[attr-defined]
        if evidence is not None:
            responsibilities += np.where(lost, 0.0, evidence)
        responsibilities -= responsibilities.max(axis=0)
        np.exp(responsibilities, out=responsibilities)
        responsibilities /= responsibilities.sum(axis=0)
        if lost.any():
            responsibilities[:, lost] = 0.0
        return RowVectors(lifted[:, :, :rows], distances[:, :rows], responsibilities[:, :rows])

    def log_density(self, block: Array, evidence: Array | None = None) -> Array:
        """Return the log density of the mixture at each row, without d/2 log(2 pi), as (rows,).

        NaN for rows that belong to no component; see ``e_step``, also for `evidence`.
        """
        _, distances, lost = self._distances(block, _fresh)
        if evidence is not None:
            evidence = pad_rows(evidence)
            lost |= ~np.isfinite(evidence.sum(axis=0))
        distances[:, lost] = 0.0
        joint = self.log_joint(distances)
        if evidence is not None:
            joint += np.where(lost, 0.0, evidence)
        return log_total(joint, lost)[: len(block)]

    def _distances(self, block: Array, space: Callable[..., Array]) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return (1, y, 0) with y = L_k^-1 (x - mu_k) for all rows x of a block, padded, and all k (K, lines, rows).

        Also squared lengths of y, and which rows are too far for either.
        """
        affine: Array = self._affine  # type: ignore[attr-defined]
        wide = len(block) + -len(block) % ROWS_AT_ONCE  # This is the width that pad_rows returns.
        rows = space("rows", self.columns + 1, wide)
        rows[:-1, : len(block)] = block.T
        rows[:-1, len(block) :] = 0.0
        rows[-1] = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            lifted = np.matmul(affine, rows, out=space("lifted", len(affine), wide))
            lifted = lifted.reshape(self.count, len(affine) // self.count, wide)
            y = lifted[:, 1 : 1 + self.columns]
            distances = np.einsum("kdr,kdr->kr", y, y, out=space("distances", self.count, wide))
            lost = ~np.isfinite(distances.sum(axis=0))
        return lifted, distances, lost


def log_total(joint: Array, lost: NDArray[np.bool_]) -> Array:
    """Return the log of the sum of exp(joint), finite numbers (K, rows), over components: NaN for rows that are lost.

    Examples
    --------
    >>> log_total(np.array([[0.0, 0.0], [0.0, -800.0]]), np.array([False, False])).round(3)
    array([0.693, 0.   ])
    """
    top = joint.max(axis=0)
    total: Array = np.where(lost, np.nan, top + np.log(np.exp(joint - top).sum(axis=0)))
    return total


@dataclass(frozen=True, eq=False)
class DiagonalComponent:
    """One Gaussian with independent columns: as :class:`Components` with K = 1, without matrices, for many columns.

    Parameters
    ----------
    mean, scales : (d,) arrays
        Scales are positive.

    Examples
    --------
    >>> import numpy as np
    >>> one = DiagonalComponent(np.zeros(2), np.array([1.0, 2.0]))
    >>> distances, responsibilities = one.e_step(np.array([[1.0, 2.0], [np.nan, 0.0]]))[1:]
    >>> distances, responsibilities
    (array([[2., 0.]]), array([[1., 0.]]))
    """

    mean: Array
    scales: Array

    count = 1

    def __post_init__(self) -> None:
        check_sizes("scales", self.scales, most=MOST_UNSQUARED)

    @property
    def columns(self) -> int:
        """How many columns the rows have."""
        return len(self.mean)

    def e_step(self, block: Array) -> RowVectors:
        """Return what :meth:`Components.e_step` returns, for K = 1; every row that can be measured has the weight 1."""
        rows, columns = len(block), pad_rows(block.T)
        lifted = np.ones((1, self.columns + 1, columns.shape[1]))
        y = lifted[:, 1:]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(columns, self.mean[:, None], out=y[0])
            y /= self.scales[:, None]
            distances = np.einsum("kdr,kdr->kr", y, y)
            lost = ~np.isfinite(distances[0])
        if lost.any():
            lifted[:, :, lost] = 0.0
            distances[:, lost] = 0.0
        return RowVectors(lifted[:, :, :rows], distances[:, :rows], np.where(lost, 0.0, 1.0)[None, :rows])
