"""Rows as a linear regression sees them: inputs in coordinates of their own, and their scores.

A row (x, y), the target being the last column, has inputs v = matrix (1, x). Rows far from all others are weighed down:
with w = min(1, reach / |v|) both v and the residual are multiplied by w. That is weighted least squares with weights
that depend on inputs alone, so it has no bias where the model is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.release.row_maps import pad_rows
from tacit.statistics.ranges import check_numbers, check_sizes
from tacit.statistics.row_vectors import RowVectors, VectorModel, measurable_vectors


@dataclass(frozen=True, eq=False)
class InputVectors:
    """Weighed inputs w v of rows, as a :class:`VectorModel`.

    Parameters
    ----------
    matrix : (m, 1 + d) array
        Public, or private already.
    reach : float, default infinity
        Rows with inputs v longer than this are weighed down.

    Examples
    --------
    >>> import numpy as np
    >>> inputs = InputVectors(np.array([[1.0, 0.0], [-1.0, 1.0]]), reach=5.0)
    >>> vectors = inputs.e_step(np.array([[1.0, 9.0], [11.0, 9.0]]))
    >>> vectors.lifted[0].T.round(3)
    array([[1.   , 1.   , 0.   ],
           [1.   , 0.498, 4.975]])
    """

    matrix: Array
    reach: float = math.inf

    def __post_init__(self) -> None:
        check_numbers("matrix", self.matrix)
        if self.reach != math.inf:
            check_sizes("reach", self.reach)
        widened = np.hstack([self.matrix[:, 1:], np.zeros((len(self.matrix), 1))])  # The target counts for nothing.
        object.__setattr__(self, "_slopes", np.ascontiguousarray(widened))

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def columns(self) -> int:
        """How many numbers a vector has."""
        return len(self.matrix)

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, w v) as (1, 1 + m, rows), squared lengths (1, rows), and 1 for each row (1, rows)."""
        lifted, lengths2, weights, _ = self.measure(block)
        with np.errstate(over="ignore", invalid="ignore"):
            lifted[0, 1:] *= weights
        return measurable_vectors(lifted, lengths2 * weights * weights, np.ones(len(lengths2)), len(block))

    def measure(self, block: Array) -> tuple[Array, Array, Array, Array]:
        """Return (1, v) as (1, 1 + m, rows), squared lengths of v, w, and the targets, of rows filled up."""
        columns = pad_rows(block.T)
        lifted = np.ones((1, 1 + len(self.matrix), columns.shape[1]))
        vectors = lifted[0, 1:]
        with np.errstate(over="ignore", invalid="ignore"):
            # A target that is not finite makes the product NaN: such a row cannot be measured.
            np.matmul(self._slopes, columns, out=vectors)  # type: ignore[attr-defined]
            vectors += self.matrix[:, :1]
            lengths2 = (vectors * vectors).sum(axis=0)
            weights = np.minimum(1.0, self.reach / np.sqrt(lengths2))
        return lifted, lengths2, weights, columns[-1]


@dataclass(frozen=True, eq=False)
class ResidualScores:
    """Scores (w r) (w v) of a regression, as a :class:`VectorModel`, with residuals r = (y - level) / unit - <b, v>.

    Their mean is the direction in which coefficients b should move, their second moment how much it varies from one
    sample to another.

    Parameters
    ----------
    inputs : InputVectors
    coefficients : (m,) array
    level, unit : float
        Where targets are measured from and in which unit.

    Examples
    --------
    >>> import numpy as np
    >>> scores = ResidualScores(InputVectors(np.eye(2)), np.array([0.0, 2.0]), 0.0, 1.0)
    >>> scores.e_step(np.array([[1.0, 2.5], [2.0, 3.0]])).lifted[0].T
    array([[ 1. ,  0.5,  0.5],
           [ 1. , -1. , -2. ]])
    """

    inputs: InputVectors
    coefficients: Array
    level: float
    unit: float

    def __post_init__(self) -> None:
        check_sizes("The unit of targets", self.unit)
        check_numbers("coefficients and level", np.append(self.coefficients, self.level))

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def columns(self) -> int:
        """How many numbers a score has."""
        return self.inputs.columns

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, scores) as (1, 1 + m, rows), squared lengths (1, rows), and 1 for each row (1, rows)."""
        lifted, lengths2, weights, targets = self.inputs.measure(block)
        with np.errstate(over="ignore", invalid="ignore"):
            residuals = (targets - self.level) / self.unit - (self.coefficients[:, None] * lifted[0, 1:]).sum(axis=0)
            residuals *= weights * weights
            lifted[0, 1:] *= residuals
            lengths2 = lengths2 * residuals * residuals
        return measurable_vectors(lifted, lengths2, np.ones(len(lengths2)), len(block))


@dataclass(frozen=True, eq=False)
class VectorTails:
    """What clipping at a radius takes from the vectors of a model: a :class:`VectorModel`.

    Parameters
    ----------
    vectors : VectorModel
        One vector for each row.
    radius : float

    Examples
    --------
    >>> import numpy as np
    >>> tails = VectorTails(InputVectors(np.eye(2)), 4.0)
    >>> tails.e_step(np.array([[3.0, 9.0], [24.0, 9.0]])).lengths2.round(3)
    array([[  0.   , 400.833]])
    """

    vectors: VectorModel
    radius: float

    def __post_init__(self) -> None:
        check_sizes("The radius", self.radius)

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def columns(self) -> int:
        """How many numbers a vector has."""
        return self.vectors.columns

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, tail) as (1, 1 + m, rows), squared lengths (1, rows), and 1 for each row (1, rows)."""
        lifted, lengths2, weights = self.vectors.e_step(block)
        lengths = np.sqrt(lengths2[0])
        left = np.maximum(lengths - self.radius, 0.0)
        lifted[0, 1:] *= left / np.maximum(lengths, self.radius)
        return RowVectors(lifted, (left * left)[None], weights)
