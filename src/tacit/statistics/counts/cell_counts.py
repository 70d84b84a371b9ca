"""Counts of cells: how many rows fall into each bin of each column, and into each pair of bins of two columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import OPERATION_SLACK

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Bins:
    """Where the cells of one column are counted: intervals of a number or the levels of a category, put into groups.

    Parameters
    ----------
    places : tuple of int
        The places of the column in a row of numbers: one, or one for each level. The largest number gives the level.
    groups : (bins,) array of int
        The group that each bin belongs to, from 0 up; cells in bins of group -1 are not counted.
    edges : (bins + 1,) array, optional
        The edges, increasing. Bin b of a number is edges[b] <= x < edges[b + 1]; the first and the last one take all
        beyond them. Levels have none.
    missing : bool
        Whether missing cells, which are NaN, have a group of their own, behind the others. Else they are not counted.

    Examples
    --------
    >>> import numpy as np
    >>> young = Bins((0,), groups=np.array([0, 1, 1]), edges=np.array([0.0, 18.0, 65.0, 120.0]))
    >>> young.codes(np.array([[10.0], [18.0], [99.0], [float("nan")]]))
    array([ 0,  1,  1, -1])
    """

    places: tuple[int, ...]
    groups: Codes
    edges: Array | None = None
    missing: bool = False

    def __post_init__(self) -> None:
        bins = max(2, len(self.places))
        if self.edges is not None:
            bins = len(self.edges) - 1
            if len(self.places) != 1 or not np.all(np.diff(self.edges) > 0):
                raise ValueError("The bins of a number need one place and increasing edges.")
        if len(self.groups) != bins:
            raise ValueError(f"There must be a group for each of {bins} bin(s), and there are {len(self.groups)}.")

    @property
    def n_groups(self) -> int:
        """How many groups there are, that of missing cells included."""
        return int(self.groups.max()) + 1 + self.missing

    def codes(self, block: Array) -> Codes:
        """Return the group of each row's cell, -1 where it is not counted."""
        return self.groups_of(self.bins(block))

    def bins(self, block: Array) -> Codes:
        """Return the bin of each row's cell, -1 where it is missing: a yes or no is 1 where it is positive."""
        cells = block[:, self.places]
        if self.edges is not None:
            bins = np.searchsorted(self.edges[1:-1], cells[:, 0], side="right")
        elif len(self.places) == 1:
            bins = (cells[:, 0] > 0).astype(np.intp)
        else:
            bins = cells.argmax(axis=1)
        return np.where(np.isnan(cells).any(axis=1), -1, bins)

    def groups_of(self, bins: Codes) -> Codes:
        """Return the groups of bins; those of -1, missing, are the last group if there is one."""
        last = self.n_groups - 1 if self.missing else -1
        return np.append(self.groups, last)[bins]


@dataclass(frozen=True, eq=False)
class CellCounts:
    """How many rows fall into each group of bins, column by column.

    Parameters
    ----------
    columns : tuple of Bins

    Notes
    -----
    A row is one indicator vector for each of m columns, each with at most one 1. **add_remove**: it has l2 norm at most
    sqrt(m) and l1 norm at most m. **replace_one**: in each column at most two entries change, by 1 each, so l2 at most
    sqrt(2 m) and l1 at most 2 m. The counts of a block are whole numbers, so exact.

    Examples
    --------
    >>> import numpy as np
    >>> sex = Bins((0,), np.arange(2))
    >>> CellCounts((sex,)).block_sum(np.array([[1.0], [-1.0], [1.0]]))
    array([1., 2.])
    """

    columns: tuple[Bins, ...]

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return sum(column.n_groups for column in self.columns)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding of a root."""
        return _of_indicators(len(self.columns), neighbors, norm)

    def block_sum(self, block: Array) -> Array:
        """Return the counts of a block."""
        return np.concatenate([_tally(column.codes(block), column.n_groups) for column in self.columns])

    def parts(self, total: Array) -> list[Array]:
        """Return a (noisy) total column by column."""
        return np.split(total, np.cumsum([column.n_groups for column in self.columns])[:-1])


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How many rows fall into each pair of groups, for all pairs of columns.

    Parameters
    ----------
    columns : tuple of Bins
        At least two columns.

    Notes
    -----
    Of c columns there are m = c (c - 1) / 2 pairs. A row is one indicator vector for each of them, each with at most
    one 1: where the cell of either column is not counted, with none. So the bounds of :class:`CellCounts` hold with
    this m.

    Examples
    --------
    >>> import numpy as np
    >>> both = PairCounts((Bins((0,), np.arange(2)), Bins((1,), np.arange(2))))
    >>> [table] = both.parts(both.block_sum(np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, 1.0]]))).values()
    >>> table
    array([[0., 1.],
           [0., 2.]])
    """

    columns: tuple[Bins, ...]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The columns that are counted together, the lower one first."""
        return [(i, j) for j in range(len(self.columns)) for i in range(j)]

    @property
    def size(self) -> int:
        """How many numbers are released."""
        sizes = [column.n_groups for column in self.columns]
        return sum(sizes[i] * sizes[j] for i, j in self.pairs)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding of a root."""
        return _of_indicators(len(self.pairs), neighbors, norm)

    def block_sum(self, block: Array) -> Array:
        """Return the counts of a block."""
        codes = [column.codes(block) for column in self.columns]
        sizes = [column.n_groups for column in self.columns]
        return np.concatenate(
            [
                _tally(np.where(codes[j] < 0, -1, codes[i] * sizes[j] + codes[j]), sizes[i] * sizes[j])
                for i, j in self.pairs
            ]
        )

    def parts(self, total: Array) -> dict[tuple[int, int], Array]:
        """Return a (noisy) total as tables, by pair."""
        sizes = [column.n_groups for column in self.columns]
        ends = np.cumsum([sizes[i] * sizes[j] for i, j in self.pairs])[:-1]
        tables = zip(self.pairs, np.split(total, ends))
        return {(i, j): table.reshape(sizes[i], sizes[j]) for (i, j), table in tables}


def _of_indicators(vectors: int, neighbors: Relation, norm: Norm) -> float:
    entries = vectors * (2 if neighbors == "replace_one" else 1)
    return float(entries) if norm == "l1" else math.sqrt(entries) * OPERATION_SLACK


def _tally(codes: Codes, size: int) -> Array:
    """Count codes from 0 up; negative ones are not counted."""
    return np.bincount(codes[codes >= 0], minlength=size).astype(np.float64)
