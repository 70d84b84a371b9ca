"""What columns are screened by: values of rows, from -1 to 1, whose sums stand out for the columns that matter.

All are computed with comparisons, sums, products and quotients alone, cell by cell or one column after the other, so
that a row's values do not depend on its place. A cell that is missing counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Array

# experiments/sparse_em.py measures how many of the columns that matter are found with these two.
_SLOPE = 2.0  # Numbers that are not squared are cut off at half a unit: the sums of columns that matter stand out more.
_MIDDLE = 0.54  # For a standard normal y the mean of c(y^2 / 0.54 - 1) is 0.001, so that it tells large y from small.
Screen = Literal["spread", "interaction", "association", "folding", "crossing"]


@dataclass(frozen=True, eq=False)
class ScreeningValues:
    """One value for each column of inputs: a weight of the row times a function of the cell.

    With x a cell from its origin in units of `unit`, y the target likewise in those of `target`, c for cutting off at
    1, and f the row's inputs along `direction`, for a length of 1:

    - "spread": c(x^2 - 1). Its mean is largest for the columns in which clusters are furthest apart.
    - "interaction": c(y^2 / 0.54 - 1) c(x^2 - 1): which columns the target depends on, be it with either sign.
    - "association": c(2 y) c(2 x), for linear regression.
    - "crossing": c(y^2 / 0.54 - 1) c(2 f) c(2 x): the same, given the direction in which some columns act. Targets are
      far from 0 where what other columns do has the same sign as f.
    - "folding": c(2 f) c(2 x), or with a target c(2 y f) c(2 y) c(2 x). The first factor tells on which of two opposite
      sides a row is, as far as the direction knows. Turned to the same side, columns that matter have means other
      than 0.

    Parameters
    ----------
    screen : {"spread", "interaction", "association", "folding", "crossing"}
    origin : array
        The origin of each column. If there is a target, which is the last column, it has an origin too.
    unit : float
        The typical distance of inputs from their origin.
    target : float, optional
        The typical distance of the target from its origin. Without it there is no target.
    direction : (d,) array, optional
        The direction f, for "folding" and "crossing".

    Examples
    --------
    >>> import numpy as np
    >>> ScreeningValues("association", np.zeros(3), unit=2.0, target=4.0)(np.array([[0.5, np.nan, 1.0]]))
    array([[0.25, 0.  ]])
    >>> ScreeningValues("folding", np.zeros(2), unit=1.0, direction=np.array([1.0, 0.0]))(np.array([[-3.0, 0.2]]))
    array([[ 1. , -0.4]])
    """

    screen: Screen
    origin: Array
    unit: float
    target: float | None = None
    direction: Array | None = None

    @property
    def size(self) -> int:
        """How many values a row has: one for each column of inputs."""
        return len(self.origin) - (self.target is not None)

    def __call__(self, block: Array) -> Array:
        """Return the values of a block, (rows, size)."""
        cells = (block[:, : self.size] - self.origin[: self.size]) / self.unit
        weights = self._weights(cells, block)
        cells = cells * cells - 1.0 if self.screen in ("spread", "interaction") else _SLOPE * cells
        return _clip(_clip(cells) * weights[:, None])

    def _weights(self, cells: Array, block: Array) -> Array:
        if self.screen == "spread":
            return np.ones(len(block))
        along = np.ones(len(block)) if self.direction is None else _SLOPE * _along(cells, self.direction)
        if self.target is None:
            return _clip(along)
        target = (block[:, -1] - self.origin[-1]) / self.target
        if self.screen in ("interaction", "crossing"):
            return _clip(along) * _clip(target * target / _MIDDLE - 1.0)
        linear = _clip(_SLOPE * target)
        return linear if self.screen == "association" else _clip(target * along) * linear


@dataclass(frozen=True, eq=False)
class CellRanks:
    """How many of a row's cells are at most as large as each of some numbers, from -1 if none is to 1 if all are.

    Summed, it is 0 at the median. A cell that is missing is none of them, and a row without cells has the value 0.

    Parameters
    ----------
    numbers : array
        Ascending.
    columns : sequence of int
        The columns whose cells are ranked.
    origin : array
        The origin of these columns.
    absolute : bool
        Whether the distance of cells from their origin is ranked, and not the cells themselves.

    Examples
    --------
    >>> import numpy as np
    >>> CellRanks(np.array([0.5, 2.0]), (0, 2), np.zeros(2), absolute=True)(np.array([[-1.0, 7.0, 0.1]]))
    array([[0., 1.]])
    """

    numbers: Array
    columns: tuple[int, ...]
    origin: Array
    absolute: bool

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.numbers)

    def __call__(self, block: Array) -> Array:
        """Return the values of a block, (rows, size): quotients of counts of cells."""
        cells = np.take(block, self.columns, axis=1) - self.origin
        if self.absolute:
            cells = np.abs(cells)
        places = np.searchsorted(self.numbers, cells)  # Missing cells lie beyond all numbers.
        rows = np.arange(len(block))[:, None] * (self.size + 1)
        counts = np.bincount((rows + places).ravel(), minlength=len(block) * (self.size + 1))
        below = np.cumsum(counts.reshape(len(block), self.size + 1), axis=1)[:, : self.size]
        there = np.sum(~np.isnan(cells), axis=1)[:, None]
        ranks: Array = np.where(there > 0, 2.0 * below / np.maximum(there, 1) - 1.0, 0.0)
        return ranks


def _along(cells: Array, direction: Array) -> Array:
    """Return inputs along a direction, for a length of 1; a missing cell is one at the origin."""
    total = np.zeros(len(cells))
    length = float(np.sqrt(np.sum(direction**2)))
    for j in np.flatnonzero(direction):
        total += np.where(np.isnan(cells[:, j]), 0.0, cells[:, j]) * (direction[j] / length)
    return total


def _clip(values: Array) -> Array:
    return np.clip(np.where(np.isnan(values), 0.0, values), -1.0, 1.0)
