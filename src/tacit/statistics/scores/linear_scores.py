"""Rows as one linear regression sees them: scores, curvature and residuals. All are bounded elsewhere.

A row (x, y), the target being the last column, has u = factor^-1 (x - centre), z = (1, u), and the residual
e = (y - <beta, z>) / scale. Rows far from all others are weighed down: with w = min(1, reach / |z|) both z and e are
multiplied by w, which is weighted least squares with weights that depend on inputs alone, so it has no bias where the
model is right. Residuals are those of the whole row, however long it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.release.row_maps import pad_rows
from tacit.statistics.ranges import check_numbers, check_sizes
from tacit.statistics.row_vectors import RowVectors, measurable_vectors


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores (w e) (w z) of one linear regression, as a :class:`VectorModel`.

    Their mean is the direction in which coefficients should move, their second moment how much it varies from one
    sample to another.

    Parameters
    ----------
    coefficients : (1 + d,) array
        The intercept first, for inputs (1, u).
    scale : float
        The scale of residuals, positive.
    centre : (d,) array
    factor : (d, d) array
        Lower-triangular, with a positive diagonal: the covariance of x is about factor factor'.
    reach : float
        Rows with (1, u) longer than this are weighed down; at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> scores = LinearScores(np.array([0.0, 2.0]), 1.0, np.zeros(1), np.eye(1), 9.0)
    >>> lifted, lengths, weights = scores.e_step(np.array([[1.0, 2.5], [2.0, 3.0]]))
    >>> lifted[0].T
    array([[ 1. ,  0.5,  0.5],
           [ 1. , -1. , -2. ]])
    """

    coefficients: Array
    scale: float
    centre: Array
    factor: Array
    reach: float

    def __post_init__(self) -> None:
        check_sizes("scale and reach", (self.scale, self.reach))
        check_sizes("The diagonal of the factor", np.diag(self.factor))
        check_numbers("coefficients, centre and factor", np.concatenate([*self.factor, self.coefficients, self.centre]))
        whitener = np.linalg.solve(self.factor, np.eye(len(self.centre)))
        object.__setattr__(self, "_whitener", np.hstack([whitener, np.zeros((len(self.centre), 1))]))
        object.__setattr__(self, "_shift", (whitener @ self.centre)[:, None])

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def columns(self) -> int:
        """How many numbers a score has."""
        return len(self.coefficients)

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, scores) as (1, 2 + d, rows), their squared lengths (1, rows), and 1 for each row (1, rows).

        As with ``Components.e_step``, what is computed for a row does not depend on where in the block it stands. A row
        that cannot be measured has 0 for 1.
        """
        lifted, weights, residuals, lengths = self.measure(block)
        with np.errstate(over="ignore", invalid="ignore"):
            lifted[0, 1:] *= weights * residuals
            lengths = lengths * residuals * residuals
        return measurable_vectors(lifted, lengths, np.ones(len(lengths)), len(block))

    def measure(self, block: Array) -> tuple[Array, Array, Array, Array]:
        """Return (1, z) as (1, 2 + d, rows), and w, w e and the squared lengths of w z, of padded rows."""
        columns = pad_rows(block.T)
        lifted = np.ones((1, 1 + self.columns, columns.shape[1]))
        z = lifted[0, 1:]
        with np.errstate(over="ignore", invalid="ignore"):
            # The target counts for 0 in this product; where it is not finite, the row cannot be measured anyway.
            np.matmul(self._whitener, columns, out=z[1:])  # type: ignore[attr-defined]
            z[1:] -= self._shift  # type: ignore[attr-defined]
            residuals = (columns[-1] - self.coefficients @ z) / self.scale
            lengths = (z * z).sum(axis=0)
            weights = np.minimum(1.0, self.reach / np.sqrt(lengths))
            return lifted, weights, residuals * weights, lengths * weights * weights


@dataclass(frozen=True, eq=False)
class LinearCurvature:
    """Weighed inputs w z of rows whose scores are shorter than `radius`, as a :class:`VectorModel`.

    Their second moment is by how much the mean of scores clipped at `radius` changes as coefficients do: scores within
    the radius move by it, and those beyond do not.

    Parameters
    ----------
    scores : LinearScores
    radius : float

    Examples
    --------
    >>> import numpy as np
    >>> scores = LinearScores(np.array([0.0, 2.0]), 1.0, np.zeros(1), np.eye(1), 9.0)
    >>> lifted, lengths, weights = LinearCurvature(scores, 2.0).e_step(np.array([[1.0, 2.5], [2.0, 3.0]]))
    >>> lifted[0].T, weights
    (array([[1., 1., 1.],
           [1., 1., 2.]]), array([[1., 0.]]))
    """

    scores: LinearScores
    radius: float

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def columns(self) -> int:
        """How many numbers (1, u) has."""
        return self.scores.columns

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, w z) as (1, 2 + d, rows), squared lengths (1, rows), and which rows count (1, rows)."""
        lifted, weights, residuals, lengths = self.scores.measure(block)
        with np.errstate(over="ignore", invalid="ignore"):
            lifted[0, 1:] *= weights
            inside = residuals * residuals * lengths < self.radius**2
        return measurable_vectors(lifted, lengths, inside.astype(np.float64), len(block))


@dataclass(frozen=True, eq=False)
class LinearResiduals:
    """Residuals y - <beta, (1, x)> of rows, or their squares: values for :class:`RobustSum`.

    Parameters
    ----------
    coefficients : (1 + d,) array
        The intercept first.
    squared : bool, default False

    Examples
    --------
    >>> import numpy as np
    >>> LinearResiduals(np.array([1.0, 2.0]))(np.array([[1.0, 2.5], [2.0, 7.0]])).T
    array([[-0.5,  2. ]])
    """

    coefficients: Array
    squared: bool = False

    @property
    def size(self) -> int:
        """One."""
        return 1

    def __call__(self, block: Array) -> Array:
        """Return residuals or their squares, (rows, 1)."""
        residuals = _residuals(self.coefficients, block)
        return (residuals * residuals if self.squared else residuals)[:, None]


@dataclass(frozen=True, eq=False)
class ResidualVectors:
    """Residuals in a unit, as vectors of one number: a :class:`VectorModel`.

    Parameters
    ----------
    residuals : LinearResiduals
    unit : float

    Examples
    --------
    >>> import numpy as np
    >>> ResidualVectors(LinearResiduals(np.array([1.0, 2.0])), 2.0).e_step(np.array([[2.0, 7.0]])).lifted[0].T
    array([[1., 1.]])
    """

    residuals: LinearResiduals
    unit: float

    def __post_init__(self) -> None:
        check_sizes("The unit of residuals", self.unit)

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def columns(self) -> int:
        """One."""
        return 1

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, residual) as (1, 2, rows), squared residuals (1, rows), and 1 for each row (1, rows)."""
        lifted = np.ones((1, 2, len(block)))
        with np.errstate(over="ignore", invalid="ignore"):
            lifted[0, 1] = self.residuals(block)[:, 0] / self.unit
            lengths2 = lifted[0, 1] * lifted[0, 1]
        return measurable_vectors(lifted, lengths2, np.ones(len(block)))


def _residuals(coefficients: Array, block: Array) -> Array:
    """Return y - <beta, (1, x)>, summed in one order whatever the block's layout."""
    predicted = np.full(len(block), coefficients[0])
    for coefficient, column in zip(coefficients[1:], block.T):
        predicted += coefficient * column
    residuals: Array = block[:, -1] - predicted
    return residuals
