"""Gaussian components, as a statistic sees them: already private parameters that weigh rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROWS_AT_ONCE = 64  # the e-step works on multiples of so many rows


@dataclass(frozen=True, eq=False)
class Components:
    """A mixture of K Gaussians in d columns, in the form the E-step wants.

    Parameters
    ----------
    weights : (K,) array
        Mixing weights, positive.
    means : (K, d) array
    factors : (K, d, d) array
        Lower-triangular L_k with positive diagonals and Sigma_k = L_k L_k'.

    Examples
    --------
    >>> import numpy as np
    >>> two = Components(np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.full((2, 1, 1), 0.5))
    >>> distances, shares = two.e_step(np.array([[-1.0], [0.0]]))[1:]
    >>> shares.round(3)
    array([[1. , 0.5],
           [0. , 0.5]])
    """

    weights: Array
    means: Array
    factors: Array

    def __post_init__(self) -> None:
        identity = np.broadcast_to(np.eye(self.columns), self.factors.shape)
        whiteners = np.linalg.solve(self.factors, identity)
        log_det = np.log(np.einsum("kii->ki", self.factors)).sum(axis=1)
        # (1, y) with y = L^-1 x - L^-1 mu as one product, with a row of ones under x.
        affine = np.zeros((self.count, self.columns + 1, self.columns + 1))
        affine[:, 0, -1] = 1.0
        affine[:, 1:, :-1] = whiteners
        affine[:, 1:, -1] = -np.einsum("kij,kj->ki", whiteners, self.means)
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

    def whiten(self, block: Array) -> Array:
        """Return (1, y) with y = L_k^-1 (x - mu_k) for all rows x of a block and all k, as (K, 1 + d, rows)."""
        rows = np.empty((self.columns + 1, len(block)))
        rows[:-1] = block.T
        rows[-1] = 1.0
        lifted: Array = self._affine @ rows  # type: ignore[attr-defined]
        return lifted.reshape(self.count, self.columns + 1, len(block))

    def log_joint(self, distances: Array) -> Array:
        """Return log(weight_k N(x; mu_k, Sigma_k)) without d/2 log(2 pi), from squared distances (K, rows)."""
        joint: Array = self._log_scales - 0.5 * distances  # type: ignore[attr-defined]
        return joint

    def e_step(self, block: Array, evidence: Array | None = None) -> tuple[Array, Array, Array]:
        """Return whitened rows (1, y) as (K, 1 + d, rows), squared norms of y (K, rows) and responsibilities (K, rows).

        Responsibilities are at least 0 and add up to 1, up to rounding. A row with a NaN, or so far out that its
        distance overflows, belongs to no component: its whitened values, norms and responsibilities are all 0.

        What is computed for a row does not depend on where in the block it stands. A matrix product takes rows by fours
        or eights and rounds those left over differently; far from narrow components that could decide which of two a
        row belongs to, and one row more or less before it would change that. So blocks are filled up to whole ones.

        `evidence` (K, rows) is the log likelihood of what else is known of each row, under each component. A row for
        which it is not finite belongs to no component.
        """
        if short := -len(block) % ROWS_AT_ONCE:
            if evidence is not None:
                evidence = np.concatenate([evidence, np.zeros((self.count, short))], axis=1)
            lifted, distances, shares = self.e_step(np.concatenate([block, np.zeros((short, self.columns))]), evidence)
            return lifted[:, :, :-short], distances[:, :-short], shares[:, :-short]
        lifted, distances, lost = self._distances(block)
        if evidence is not None:
            lost |= ~np.isfinite(evidence.sum(axis=0))
        if lost.any():
            lifted[:, :, lost] = 0.0
            distances[:, lost] = 0.0
        shares = self.log_joint(distances)
        if evidence is not None:
            shares += np.where(lost, 0.0, evidence)
        shares -= shares.max(axis=0)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=0)
        if lost.any():
            shares[:, lost] = 0.0
        return lifted, distances, shares

    def log_density(self, block: Array, evidence: Array | None = None) -> Array:
        """Return the log density of the mixture at each row, without d/2 log(2 pi), as (rows,).

        NaN for rows that belong to no component; see ``e_step``, also for `evidence` and for why blocks are filled up.
        """
        if short := -len(block) % ROWS_AT_ONCE:
            if evidence is not None:
                evidence = np.concatenate([evidence, np.zeros((self.count, short))], axis=1)
            return self.log_density(np.concatenate([block, np.zeros((short, self.columns))]), evidence)[:-short]
        _, distances, lost = self._distances(block)
        if evidence is not None:
            lost |= ~np.isfinite(evidence.sum(axis=0))
        distances[:, lost] = 0.0
        joint = self.log_joint(distances)
        if evidence is not None:
            joint += np.where(lost, 0.0, evidence)
        return log_total(joint, lost)

    def _distances(self, block: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return whitened rows, squared distances from the components, and which rows are too far for either."""
        with np.errstate(over="ignore", invalid="ignore"):
            lifted = self.whiten(block)
            y = lifted[:, 1:]
            distances = np.einsum("kdr,kdr->kr", y, y)
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
    """One Gaussian with independent columns: what :class:`Components` is, without matrices, for many columns.

    Parameters
    ----------
    mean, scales : (d,) arrays
        Scales are positive.

    Examples
    --------
    >>> import numpy as np
    >>> one = DiagonalComponent(np.zeros(2), np.array([1.0, 2.0]))
    >>> distances, shares = one.e_step(np.array([[1.0, 2.0], [np.nan, 0.0]]))[1:]
    >>> distances, shares
    (array([[2., 0.]]), array([[1., 0.]]))
    """

    mean: Array
    scales: Array

    count = 1

    @property
    def columns(self) -> int:
        """How many columns the rows have."""
        return len(self.mean)

    def e_step(self, block: Array) -> tuple[Array, Array, Array]:
        """Return what :meth:`Components.e_step` returns, for K = 1; every row that can be measured has a share of 1."""
        if short := -len(block) % ROWS_AT_ONCE:
            lifted, distances, shares = self.e_step(np.concatenate([block, np.zeros((short, self.columns))]))
            return lifted[:, :, :-short], distances[:, :-short], shares[:, :-short]
        lifted = np.ones((1, self.columns + 1, len(block)))
        y = lifted[:, 1:]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(block.T, self.mean[:, None], out=y[0])
            y /= self.scales[:, None]
            distances = np.einsum("kdr,kdr->kr", y, y)
            lost = ~np.isfinite(distances[0])
        if lost.any():
            lifted[:, :, lost] = 0.0
            distances[:, lost] = 0.0
        return lifted, distances, np.where(lost, 0.0, 1.0)[None]
