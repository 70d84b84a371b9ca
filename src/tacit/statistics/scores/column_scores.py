"""Scores of columns by themselves: how far means and variances are off."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.statistics.ranges import check_numbers, check_sizes
from tacit.statistics.row_vectors import RowVectors, measurable_vectors


@dataclass(frozen=True, eq=False)
class ColumnScores:
    """The vector (u, (u^2 - 1) / sqrt(2)) of a row, u_j = (x_j - centre_j) / scale_j, as a :class:`VectorModel`.

    It has mean 0 if centres are the means and scales the standard deviations. For normal columns its numbers have
    variance 1.

    Parameters
    ----------
    centre, scale : (d,) arrays
        Public, or private already; scales are positive.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = ColumnScores(np.zeros(1), np.array([2.0])).e_step(np.array([[2.0], [-4.0]]))
    >>> vectors.lifted[0].T.round(3), vectors.lengths2.round(3)
    (array([[ 1.   ,  1.   ,  0.   ],
           [ 1.   , -2.   ,  2.121]]), array([[1. , 8.5]]))
    """

    centre: Array
    scale: Array

    def __post_init__(self) -> None:
        check_sizes("scale", self.scale)
        check_numbers("centre", self.centre)

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def columns(self) -> int:
        """How many numbers a vector has."""
        return 2 * len(self.centre)

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, vector) as (1, 1 + 2 d, rows), squared lengths (1, rows), and 1 for each row (1, rows)."""
        number = len(self.centre)
        lifted = np.ones((1, 1 + 2 * number, len(block)))
        vectors = lifted[0, 1:]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(block.T, self.centre[:, None], out=vectors[:number])
            vectors[:number] /= self.scale[:, None]
            np.multiply(vectors[:number], vectors[:number], out=vectors[number:])
            vectors[number:] -= 1.0
            vectors[number:] /= math.sqrt(2.0)
            lengths2 = (vectors * vectors).sum(axis=0)
        return measurable_vectors(lifted, lengths2, np.ones(len(block)))
