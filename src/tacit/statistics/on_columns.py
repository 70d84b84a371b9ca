"""A statistic of some columns, asked of rows that have more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm, Statistic
from tacit.statistics.robust.robust_sum import RowValues


@dataclass(frozen=True, eq=False)
class OnColumns:
    """A statistic of rows that have these columns alone, in this order.

    Parameters
    ----------
    statistic : Statistic
    columns : sequence of int
        Public, or private already.

    Notes
    -----
    A row that is cut down to some columns is a row, and the statistic's bounds hold for every row. Neighbouring tables,
    cut down, are neighbours or the same.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import RobustSum
    >>> OnColumns(RobustSum(np.zeros(1), np.ones(1)), (2,)).block_sum(np.array([[9.0, 9.0, 0.5]]))
    array([0.5])
    """

    statistic: Statistic
    columns: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers the sum has."""
        return self.statistic.size

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the statistic's bound."""
        return self.statistic.sensitivity(neighbors, norm)

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block, cut down to the columns."""
        return self.statistic.block_sum(np.take(block, self.columns, axis=1))


@dataclass(frozen=True, eq=False)
class SomeValues:
    """Some of the values of rows: those of columns that were chosen, say.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import ScreeningValues
    >>> values = SomeValues(ScreeningValues("association", np.zeros(3), unit=2.0, target=4.0), (1,))
    >>> values(np.array([[0.5, 0.25, 1.0]]))
    array([[0.125]])
    """

    values: RowValues
    places: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many values a row has."""
        return len(self.places)

    def __call__(self, block: Array) -> Array:
        """Return the values of a block, (rows, size)."""
        return np.take(self.values(block), self.places, axis=1)
