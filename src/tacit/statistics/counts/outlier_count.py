"""How many rows a mixture cannot explain: what a private test of its tails rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.statistics.table_components import TableComponents

_PIECE = 32 * ROWS_AT_ONCE  # The number of rows that are worked on at a time, so that they stay in the cache.


@dataclass(frozen=True, eq=False)
class OutlierCount:
    """The number of rows that a wide density q explains far better than the components' density p.

    With a = `proportion`, row x contributes a q(x) / (p(x) + a q(x)): nearly 1 where q(x) is more than p(x) / a, else
    nearly 0.

    If the rows follow p, the likelihood ratio q(x) / p(x) has a mean of at most 1, whatever q is (it is an e-value).
    The contribution is less than a times that ratio, so at most this proportion of the rows is expected to count. More
    than that, and p has tails that are too light.

    Parameters
    ----------
    components, wide : TableComponents
        p and q, already private, of the same columns.
    missing : bool
        Whether missing cells are modelled: densities are of the cells that are there. If not, rows that have some
        contribute nothing.
    proportion : float
        The largest proportion of rows that is expected to count, between 0 and 1.

    Notes
    -----
    The contribution is from 0 to 1. **add_remove**: the count moves by at most 1. **replace_one**: by the difference of
    two numbers from 0 to 1, at most 1 as well. It is one number, so **l1** and l2 are the same. A row that either can
    say nothing about (``TableComponents.log_density``) contributes 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import Components
    >>> one, wide = (
    ...     TableComponents.of_numbers(Components(np.ones(1), np.zeros((1, 1)), np.full((1, 1, 1), scale)))
    ...     for scale in (1.0, 5.0)
    ... )
    >>> count = OutlierCount(one, wide)
    >>> count.block_sum(np.array([[0.3], [-2.0], [8.0]])).round(2)
    array([1.])
    """

    components: TableComponents
    wide: TableComponents
    missing: bool = False
    proportion: float = 1e-3

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return 1

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes."""
        return 1.0

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        total = np.zeros(1)
        for start in range(0, len(block), _PIECE):
            rows = block[start : start + _PIECE]
            ratio = self.wide.log_density(rows, self.missing) - self.components.log_density(rows, self.missing)
            with np.errstate(over="ignore", invalid="ignore"):
                counted = 1.0 / (1.0 + np.exp(-(ratio + math.log(self.proportion))))
            total += np.where(np.isnan(ratio), 0.0, counted).sum()
        return total
