"""Rows of a symmetric mixture, folded over: each is turned to the side that it most likely comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.release.row_maps import pad_rows
from tacit.statistics.ranges import check_sizes
from tacit.statistics.row_vectors import RowVectors


@dataclass(frozen=True, eq=False)
class FoldedScores:
    """Two equally likely components at origin +- half, round and of the same scale, as a :class:`VectorModel`.

    A row x, y = x - origin away from the point between them, has the score (t y - half) / scale with
    t = tanh(<half, y> / scale^2), which is P(+ | y) - P(- | y). Its mean over rows is the step of EM.

    Parameters
    ----------
    origin, half : (d,) arrays
    scale : float
        The standard deviation of each column within a component.

    Examples
    --------
    >>> import numpy as np
    >>> scores = FoldedScores(np.zeros(1), np.array([2.0]), 0.5)
    >>> scores.e_step(np.array([[2.5], [-2.5], [1.0]]))[0][0, 1:].round(6)
    array([[ 1.,  1., -2.]])
    """

    origin: Array
    half: Array
    scale: float

    count = 1

    def __post_init__(self) -> None:
        check_sizes("scale", self.scale)

    @property
    def columns(self) -> int:
        """How many numbers a score has."""
        return len(self.half)

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, scores) as (1, 1 + d, rows), their squared lengths (1, rows) and weights (1, rows): 1 or 0.

        Sums over columns are taken one column after the other, so that a row's score does not depend on its place.
        """
        rows, columns = len(block), pad_rows(block.T)
        lifted = np.ones((1, 1 + self.columns, columns.shape[1]))
        scores = lifted[0, 1:]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(columns, self.origin[:, None], out=scores)
            scores *= np.tanh((scores * self.half[:, None]).sum(axis=0) / self.scale**2)
            scores -= self.half[:, None]
            scores /= self.scale
            lengths = (scores * scores).sum(axis=0)
            lost = ~np.isfinite(lengths)
        lifted[:, :, lost] = 0.0
        lengths[lost] = 0.0
        return RowVectors(lifted[:, :, :rows], lengths[None, :rows], np.where(lost, 0.0, 1.0)[None, :rows])
