"""How many cells of each column are there: what a correction for missing ones rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import OPERATION_SLACK


@dataclass(frozen=True)
class ObservedCells:
    """The number of rows in which each column is not missing.

    Parameters
    ----------
    columns : int

    Notes
    -----
    A row contributes d numbers, each 0 or 1. **add_remove**: d in l1, sqrt(d) in l2. **replace_one**: two such rows
    differ by at most 1 in each number, so the same.

    Examples
    --------
    >>> import numpy as np
    >>> ObservedCells(2).block_sum(np.array([[0.5, np.nan], [np.inf, 1.0]]))
    array([2., 1.])
    """

    columns: int

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return self.columns

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding of a root."""
        return float(self.columns) if norm == "l1" else math.sqrt(self.columns) * OPERATION_SLACK

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        there: Array = (~np.isnan(block)).sum(axis=0).astype(np.float64)
        return there
