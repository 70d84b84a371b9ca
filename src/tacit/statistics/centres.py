"""Centres, as a statistic sees them: already private points, to the nearest of which rows belong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.statistics.components import ROWS_AT_ONCE, Array

Labels = NDArray[np.intp]
_PIECE = 32 * ROWS_AT_ONCE  # rows whose scores are held at a time: they stay near the processor


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
        # x is nearest to the c with the largest <c, x> - |c|^2 / 2: one product, with a one behind each row.
        halves = 0.5 * np.einsum("kd,kd->k", self.points, self.points)
        object.__setattr__(self, "_affine", np.vstack([self.points.T, -halves]))

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
        where in the block it stands, for the reason that ``Components.e_step`` gives.
        """
        labels = np.zeros(len(block), dtype=np.intp)
        if self.count == 1:
            return labels
        lifted = np.ones((_PIECE, self.columns + 1))
        scores = np.empty((_PIECE, self.count))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(block), _PIECE):
                rows = block[start : start + _PIECE]
                whole = -(-len(rows) // ROWS_AT_ONCE) * ROWS_AT_ONCE
                lifted[: len(rows), :-1] = rows
                np.matmul(lifted[:whole], self._affine, out=scores[:whole])  # type: ignore[attr-defined]
                labels[start : start + len(rows)] = scores[: len(rows)].argmax(axis=1)
        return labels
