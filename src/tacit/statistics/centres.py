"""Cluster centres: points that are already private. A row belongs to the nearest of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE
from tacit.release.row_maps import pad_rows

Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Centres:
    """K centres in d columns, which find the nearest centre of each row.

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
        half_squares = 0.5 * np.einsum("kd,kd->k", self.points, self.points)
        object.__setattr__(self, "_half_squares", half_squares[:, None])

    @property
    def count(self) -> int:
        """Number of centres."""
        return len(self.points)

    @property
    def columns(self) -> int:
        """Number of columns of the rows."""
        return int(self.points.shape[1])

    def nearest(self, block: Array) -> Labels:
        """Return the index of each row's nearest centre.

        Of two that are equally near, it is the first. A row with NaN, or so far out that its products overflow, has an
        index too; the statistic must bound what such a row contributes. The index of a row does not depend on where in
        the block the row stands: see ``pad_rows``.
        """
        return self.short_labels(block).astype(np.intp)

    def short_labels(self, block: Array) -> NDArray[np.signedinteger]:
        """Return what :meth:`nearest` does, in the smallest integer type that holds it, because that sorts faster."""
        rows, kind = len(block), np.min_scalar_type(-self.count - 1)
        if self.count == 1:
            return np.zeros(rows, dtype=kind)
        columns = pad_rows(block.T)
        # Each centre's scores take an odd multiple of ROWS_AT_ONCE numbers. With a power of two, the scores of all
        # centres would compete for the same few places in the processor's cache.
        padded = columns.shape[1]
        scores = np.empty((self.count, (padded // ROWS_AT_ONCE | 1) * ROWS_AT_ONCE))[:, :padded]
        with np.errstate(over="ignore", invalid="ignore"):
            # The nearest centre c of a row x has the largest <c, x> - |c|^2 / 2.
            np.matmul(self.points, columns, out=scores)
            scores -= self._half_squares  # type: ignore[attr-defined]
            # This finds the first of the largest, as argmax(axis=0) would, in a quarter of the time.
            ranks = np.arange(self.count, 0, -1, dtype=kind)[:, None]
            first = ((scores == scores.max(axis=0)).view(np.int8) * ranks).max(axis=0)
        # No score of a row with NaN equals the largest, so that row gets the last label.
        labels: NDArray[np.signedinteger] = np.minimum(self.count - first[:rows], self.count - 1)
        return labels
