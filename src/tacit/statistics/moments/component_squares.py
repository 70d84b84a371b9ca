"""Squared deviations of rows in public coordinates: what clipping in a component's own coordinates hides."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.components import Components
from tacit.statistics.table_components import TableComponents

_PIECE = 2048  # The number of rows that are worked on at a time, so that they stay in the cache.


class SquaredDeviations:
    """What :class:`ComponentSquares` and :class:`TableSquares` have in common. The notes of each have its proof."""

    components: Components | TableComponents

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return self.components.count * self.components.columns

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding within a row."""
        row = 1.0 if norm == "l2" else math.sqrt(self.components.columns)
        replaced = math.sqrt(2.0) if norm == "l2" else 2.0
        return row * (replaced if neighbors == "replace_one" else 1.0) * ROW_SLACK

    def parts(self, total: Array) -> Array:
        """Return a (noisy) total as sums of squared deviations (K, d)."""
        return total.reshape(self.components.count, -1) * math.sqrt(self.components.columns)


@dataclass(frozen=True, eq=False)
class ComponentSquares(SquaredDeviations):
    """Squared deviations from the mean, for each column and component, in coordinates where columns lie in [-1, 1].

    Row x with responsibilities r_k contributes r_k min((x_j - mu_kj)^2, 1) / sqrt(d) for all k and j.

    Parameters
    ----------
    components : Components
        The current, already private parameters.

    Notes
    -----
    For each k, write s_k for the vector of min((x_j - mu_kj)^2, 1) / sqrt(d): its d entries are in [0, 1 / sqrt(d)], so
    |s_k| <= 1. **add_remove**: the row's contribution (r_k s_k) has squared length sum_k r_k^2 |s_k|^2 <= 1.
    **replace_one**: contributions have no negative entries, so the inner product of two is at least 0 and
    |t - t'|^2 <= |t|^2 + |t'|^2 <= 2. **l1**: sum_k r_k sum_j s_kj <= sqrt(d), and twice that for a replaced row. Rows
    that belong to no component (``Components.e_step``) contribute nothing.

    Examples
    --------
    >>> import numpy as np
    >>> one = Components(np.ones(1), np.array([[0.0, 0.5]]), np.eye(2)[None])
    >>> squares = ComponentSquares(one)
    >>> squares.parts(squares.block_sum(np.array([[0.5, -1.0], [0.1, 0.7]]))).round(2)
    array([[0.26, 1.04]])
    """

    components: Components

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        total = np.zeros((self.components.count, self.components.columns))
        for start in range(0, len(block), _PIECE):
            rows = block[start : start + _PIECE]
            responsibilities = self.components.e_step(rows)[2]
            kept = np.where(responsibilities.sum(axis=0)[:, None] > 0, rows, 0.0)  # NaN times 0 is NaN.
            with np.errstate(over="ignore"):
                for k, mean in enumerate(self.components.means):
                    total[k] += responsibilities[k] @ np.minimum((kept - mean) ** 2, 1.0)
        return total.ravel() / math.sqrt(self.components.columns)
