"""Centres, as a statistic sees them: already private points, to the nearest of which rows belong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import ROWS_AT_ONCE
from tacit.release.row_maps import filled_up
from tacit.statistics.components import Array

Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Centres:
    """K points in d columns, in the form that finding the nearest wants.

    Parameters
    ----------
    points : (K, d) array
        Finite.

    Examples
    --------
    >>> import numpy as np
    >>> two = Centres(np.array([[-1.0, 0.0], [1.0, 0.0]]))
    >>> two.nearest(np.array([[-3.0, 1.0], [0.1, 5.0]])).tolist()
    [0, 1]
    """

    points: Array

    def __post_init__(self) -> None:
        if self.points.ndim != 2 or not len(self.points) or not np.isfinite(self.points).all():
            raise ValueError("Centres must be finite points, a matrix with one row for each.")
        halves = 0.5 * np.einsum("kd,kd->k", self.points, self.points)
        object.__setattr__(self, "_halves", halves[:, None])

    @property
    def count(self) -> int:
        """How many centres there are."""
        return len(self.points)

    @property
    def columns(self) -> int:
        """How many columns the rows have."""
        return int(self.points.shape[1])

    def nearest(self, block: Array) -> Labels:
        """Return the index of each row's nearest centre.

        Where two are equally near, the first of them. A row with NaN, or so far out that its products overflow, has
        some index too; what it contributes is for the statistic to bound. What is found for a row does not depend on
        where in the block it stands: see ``filled_up``.
        """
        return self.short_labels(block).astype(np.intp)

    def short_labels(self, block: Array) -> NDArray[np.signedinteger]:
        """Return what :meth:`nearest` does, in the shortest type of number that holds it: that is sorted faster."""
        rows, kind = len(block), np.min_scalar_type(-self.count - 1)
        if self.count == 1:
            return np.zeros(rows, dtype=kind)
        columns = filled_up(block.T)
        # An odd multiple: rows of a power of two's length would share too few places in a processor's cache.
        whole = columns.shape[1]
        scores = np.empty((self.count, (whole // ROWS_AT_ONCE | 1) * ROWS_AT_ONCE))[:, :whole]
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(self.points, columns, out=scores)  # x is nearest to the c with the largest <c, x> - |c|^2 / 2
            scores -= self._halves  # type: ignore[attr-defined]
            # The first of the largest, as argmax(axis=0) would find it in four times the time.
            ranks = np.arange(self.count, 0, -1, dtype=kind)[:, None]
            first = ((scores == scores.max(axis=0)).view(np.int8) * ranks).max(axis=0)
        labels: NDArray[np.signedinteger] = np.minimum(self.count - first[:rows], self.count - 1)
        return labels  # the last one for NaN, which is nowhere the largest
