"""Rows that lie far out, by how far and in which direction: what clipping hides of a covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE
from tacit.messages import describe
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.components import Components, Workspace
from tacit.statistics.ranges import check_sizes

_ROOM = Workspace()
_PIECE = 32 * ROWS_AT_ONCE  # The number of rows that are worked on at a time, so that they stay in the cache.


@dataclass(frozen=True, eq=False)
class FarRows:
    """Counts of rows by their length, in bins of half powers of two, and how each bin's rows are shared out among axes.

    A row y, in the coordinates of the component, adds `count` to the bin that has its length |y|, and y_j^2 / |y|^2 to
    axis j of that bin. The first bin is from ``least`` to sqrt(2) times that, and so on. The last bin has all that are
    longer, and shorter rows add nothing.

    Parameters
    ----------
    components : Components
        One component, already private.
    least : float
        The length from which rows are far, in its coordinates.
    bins : int
        How many bins there are.
    count : float
        Weight of the count of a bin, beside a weight of 1 for its shares.

    Notes
    -----
    A row adds `count` to one number, and to others numbers from 0 up that add up to 1, or nothing. These have an l2
    norm of at most 1 too. **add_remove**: the sum moves by at most sqrt(count^2 + 1), in l1 count + 1.
    **replace_one**: contributions have no negative numbers, so the inner product of two is at least 0, and
    |t - t'|^2 <= |t|^2 + |t'|^2: sqrt(2) times as much, in l1 twice. A row with a NaN, or one whose length overflows
    (``Components.e_step``), adds nothing.

    Examples
    --------
    >>> import numpy as np
    >>> one = Components(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    >>> far = FarRows(one, least=2.0, bins=3)
    >>> far.parts(far.block_sum(np.array([[0.0, 1.0], [0.0, 2.5], [30.0, 30.0]])))
    (array([1., 0., 1.]), array([[0. , 1. ],
           [0. , 0. ],
           [0.5, 0.5]]))
    """

    components: Components
    least: float
    bins: int
    count: float = 0.7

    def __post_init__(self) -> None:
        check_sizes("The least length", self.least)
        check_sizes("The weight count", self.count)
        if self.components.count != 1:
            raise ValueError(
                f"Far rows are those of one component, and there are {describe(self.components.count)} components."
            )

    @property
    def starts(self) -> Array:
        """The length at which each bin begins, (bins,)."""
        starts: Array = self.least * 2.0 ** (np.arange(self.bins) / 2)
        return starts

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return self.bins * (1 + self.components.columns)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding within a row."""
        row, replaced = (1 + self.count, 2.0) if norm == "l1" else (math.hypot(1.0, self.count), math.sqrt(2.0))
        return row * (replaced if neighbors == "replace_one" else 1.0) * ROW_SLACK

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        total = np.zeros((self.bins, 1 + self.components.columns))
        for start in range(0, len(block), _PIECE):
            lifted, distances, _ = self.components.e_step(block[start : start + _PIECE], room=_ROOM)
            place = np.searchsorted(self.starts**2, distances[0], side="right") - 1
            far = np.flatnonzero(place >= 0)
            shares = lifted[0, : 1 + self.components.columns, far] ** 2
            shares[:, 1:] /= distances[0, far, None]
            np.add.at(total, place[far], shares)
        total[:, 0] *= self.count
        return total.ravel()

    def parts(self, total: Array) -> tuple[Array, Array]:
        """Return a (noisy) total as counts of bins, and shares (bins, axes)."""
        table = total.reshape(self.bins, -1)
        return table[:, 0] / self.count, table[:, 1:]
