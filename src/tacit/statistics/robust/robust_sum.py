"""Sums of values that may be anything: each row is bounded by an influence function before it is added."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import OPERATION_SLACK
from tacit.statistics.influence import Clip, Influence
from tacit.statistics.ranges import check_sizes


class RowValues(Protocol):
    """What is computed of each row and then summed, such as the gradient of a loss.

    Each row's values must depend on nothing but the row and on parameters that are public or private already, and be
    computed alike wherever the row stands. They may be anything: infinite, or NaN, which leaves the row out.
    """

    @property
    def size(self) -> int:
        """How many values a row has."""

    def __call__(self, block: Array) -> Array:
        """Return the values of a block, (rows, size)."""


@dataclass(frozen=True, eq=False)
class RobustSum:
    """Sums of values, each row bounded by an influence function; and how many rows there were.

    A row with values v contributes f((v - centre) / scale) / sup |f| and, if `count` is not 0, the number `count` in
    front of it. A row with a value that is NaN contributes nothing.

    Parameters
    ----------
    centre, scale : (size,) arrays
        The origin and the units of values; public or private already.
    influence : Influence
        :class:`Clip` or :class:`Smoothed` for each value by itself, :class:`Shorten` for the row as a whole.
    values : RowValues, optional
        What to sum; by default the cells of rows as they are.
    count : float, default 0
        The weight of the number of rows beside the sums; 0 leaves it out.

    Notes
    -----
    Write r for the largest norm of the bounded values of a row (``Influence.row_norm``): they are in [-1, 1], so
    r = sqrt(d) in l2 and d in l1 for d values bounded each by itself; for rows shortened to length 1, r = 1 in l2 and,
    by Cauchy-Schwarz, sqrt(d) in l1. Write w for `count`. **add_remove**: a row contributes (w, u) with |u| <= r, or
    nothing: at most sqrt(w^2 + r^2) in l2 and w + r in l1. **replace_one**: if both rows contribute, the counts cancel
    and |u - u'| <= 2 r; if one of them is left out, the change is that of the row added: the larger of 2 r and that.
    **linf**: r = 1, as every bounded value is in [-1, 1], and a row that is added moves the count by w and a sum by at
    most 1.

    Examples
    --------
    >>> import numpy as np
    >>> total = RobustSum(np.array([10.0]), np.array([5.0]), Clip(), count=1.0)
    >>> rows = total.block_sum(np.array([[12.0], [9.0], [1e300], [np.nan]]))
    >>> total.parts(rows)
    (3.0, array([1.2]))
    >>> total.sensitivity("replace_one", "l1"), total.sensitivity("add_remove", "l1")
    (2.0, 2.0)
    """

    centre: Array
    scale: Array
    influence: Influence = field(default_factory=Clip)
    values: RowValues | None = None
    count: float = 0.0

    def __post_init__(self) -> None:
        centre, scale = np.asarray(self.centre, dtype=np.float64), np.asarray(self.scale, dtype=np.float64)
        object.__setattr__(self, "centre", centre)
        object.__setattr__(self, "scale", scale)
        if centre.ndim != 1 or not len(centre) or scale.shape != centre.shape:
            raise ValueError(
                f"centre and scale must have one number for each value, and their shapes are {centre.shape} and "
                f"{scale.shape}."
            )
        if self.values is not None and self.values.size != len(centre):
            raise ValueError(f"centre must have {self.values.size} number(s), one for each value, not {len(centre)}.")
        if not np.isfinite(centre).all() or not ((scale > 0) & np.isfinite(scale)).all():
            raise ValueError("centre must be finite, and scale positive and finite.")
        check_sizes("count", self.count, or_zero=True)

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return len(self.centre) + (self.count > 0)

    @property
    def half_width(self) -> Array:
        """How far from the centre the mean of bounded values can be: scale times the bound of the influence."""
        return self.scale * self.influence.bound

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes."""
        row = self.influence.row_norm(len(self.centre), norm)
        added = self.count + row if norm == "l1" else math.hypot(self.count, row) * OPERATION_SLACK
        if norm == "linf":
            added = max(self.count, row)
        return max(2 * row, added) if neighbors == "replace_one" else added

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        with np.errstate(all="ignore"):
            values = block if self.values is None else self.values(block)
            units = (values - self.centre) / self.scale
        there: NDArray[np.bool_] = ~np.any(np.isnan(units), axis=1)
        total = self.influence.unit_influence(np.where(there[:, None], units, 0.0)).sum(axis=0)
        return np.append(self.count * there.sum(), total) if self.count > 0 else total

    def parts(self, total: Array) -> tuple[float | None, Array]:
        """Return a (noisy) total as the number of rows, None if it was not counted, and the sums."""
        if self.count > 0:
            return float(total[0] / self.count), total[1:]
        return None, total


@dataclass(frozen=True)
class RowCount:
    """How many rows there are that miss no cell, or none of whose `values` are NaN.

    Parameters
    ----------
    values : RowValues, optional
        What rows must have: those that :class:`RobustSum` leaves out with the same values are not counted.

    Notes
    -----
    A row contributes 1 or 0, so a row that comes, goes or is replaced changes the count by at most 1, in either norm.

    Examples
    --------
    >>> import numpy as np
    >>> RowCount().block_sum(np.array([[1.0, 2.0], [np.nan, 1.0]]))
    array([1.])
    """

    values: RowValues | None = None

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return 1

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return 1."""
        return 1.0

    def block_sum(self, block: Array) -> Array:
        """Return the number of complete rows of a block."""
        with np.errstate(all="ignore"):
            values = block if self.values is None else self.values(block)
        return np.array([float((~np.isnan(values).any(axis=1)).sum())])
