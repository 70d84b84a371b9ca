"""What statistics of moments take from a model: each row as a vector, with its squared length and a weight.

A mixture sees a row in the coordinates of each component, weighed by its responsibilities. A regression sees it as its
score, of weight 1. :class:`tacit.statistics.ComponentMoments` clips such vectors and sums their moments, and need not
know which of the two it has.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from tacit.arrays import Array


class RowVectors(NamedTuple):
    """The rows of a block, as each of K components sees them."""

    lifted: Array  # (K, 1 + d or more, rows): 1, then the vector y of the row, then zeros if there is more.
    lengths2: Array  # (K, rows): the squared length of y.
    weights: Array  # (K, rows): responsibilities, or 1 for every row; 0 for a row that cannot be measured.


class VectorModel(Protocol):
    """A model with public or already private parameters that turns rows into weighted vectors.

    Formal guarantees
    -----------------
    1. Weights of a row are at least 0 and add up to at most 1 over the components, up to rounding.
    2. What is computed for a row depends on nothing but the row and the parameters: neither on its place in the block
       nor on other rows.
    3. Both hold for every block of float64. A row that cannot be measured (with a NaN, or so large that its squared
       length overflows) has the weight 0 and the squared length 0.
    """

    @property
    def count(self) -> int:
        """K, the number of components."""

    @property
    def columns(self) -> int:
        """d, the number of numbers in a vector."""

    def e_step(self, block: Array) -> RowVectors:
        """Return the rows of a block as vectors, with squared lengths and weights."""


def measurable_vectors(lifted: Array, lengths2: Array, weights: Array, rows: int | None = None) -> RowVectors:
    """Return the vectors of the first `rows` rows; rows that cannot be measured have the weight 0 and the length 0."""
    lost = ~np.isfinite(lengths2)
    if lost.any():
        lifted[:, 1:, lost] = 0.0
        lengths2 = np.where(lost, 0.0, lengths2)
        weights = np.where(lost, 0.0, weights)
    return RowVectors(lifted[:, :, :rows], lengths2[None, :rows], weights[None, :rows])
