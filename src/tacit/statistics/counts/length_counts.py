"""How long the vectors are that a model makes of rows: what choosing a clip radius rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import OPERATION_SLACK
from tacit.statistics.ranges import check_sizes
from tacit.statistics.row_vectors import VectorModel


@dataclass(frozen=True, eq=False)
class LengthCounts:
    """Counts of rows by the length of their vectors, in bins that end at half powers of two.

    Bin k has the rows whose vectors are longer than ``ends[k - 1]`` and no longer than ``ends[k]``. The first has all
    that are shorter, and the last all that are longer than the last end.

    Parameters
    ----------
    vectors : VectorModel
        One vector for each row. A row whose weight is 0 is not counted.
    unit : float
        The length in the middle of the bins.

    Notes
    -----
    A row adds 1 to at most one bin. **add_remove**: the counts move by at most 1 in l2 and in l1. **replace_one**: a 1
    goes and another comes, so sqrt(2) and 2. Counts are whole numbers, so their sums are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import InputVectors
    >>> counts = LengthCounts(InputVectors(np.array([[0.0, 1.0]])), unit=1.0)
    >>> total = counts.block_sum(np.array([[1.0, 0.0], [-1.0, 0.0], [3.0, 0.0]]))
    >>> counts.ends[np.flatnonzero(total)], total[total > 0]
    (array([1., 4.]), array([2., 1.]))
    """

    vectors: VectorModel
    unit: float

    POWERS: ClassVar[int] = 20  # Bins reach from 2^-10 to 2^10 units.
    BINS: ClassVar[int] = 2 * 20 + 2

    def __post_init__(self) -> None:
        check_sizes("The unit of lengths", self.unit)
        if self.vectors.count != 1:
            raise ValueError("Lengths are counted of models that make one vector of each row.")

    @property
    def ends(self) -> Array:
        """The longest length in each bin; the last bin has none, and the next half power stands for it."""
        powers: Array = self.unit * 2.0 ** (np.arange(-self.POWERS, self.POWERS + 2) / 2)
        return powers

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return self.BINS

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes."""
        moved = 1 if neighbors == "add_remove" else 2
        return float(moved) if norm == "l1" else math.sqrt(moved) * OPERATION_SLACK

    def block_sum(self, block: Array) -> Array:
        """Return the counts of a block."""
        _, lengths2, weights = self.vectors.e_step(block)
        bins = np.searchsorted(self.ends[:-1] ** 2, lengths2[0], side="left")
        return np.bincount(bins[weights[0] > 0], minlength=self.BINS).astype(np.float64)
