"""How large numbers are, to a power of two: what finding a range privately rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm
from tacit.rounding import OPERATION_SLACK

_LEAST, _MOST = -40, 63  # The powers of two that have bins. Smaller numbers count as zero, larger ones as the largest.
_POWERS = _MOST - _LEAST + 1  # The number of bins on each side of zero.


@dataclass(frozen=True)
class Magnitudes:
    """Counts of cells by sign and power of two, column by column.

    A cell x falls into one bin of its column: x <= -2^63, ..., [-2^-39, -2^-40), zero, [2^-40, 2^-39), ..., x >= 2^63.

    Parameters
    ----------
    columns : int

    Notes
    -----
    A row is d indicator vectors in a row, one for each column, each with a single 1 (none for NaN). **add_remove**: it
    has l2 norm at most sqrt(d) and l1 norm at most d. **replace_one**: in each column at most two entries change, by 1
    each, so l2 at most sqrt(2 d) and l1 at most 2 d.

    Examples
    --------
    >>> import numpy as np
    >>> counts = Magnitudes(1).parts(Magnitudes(1).block_sum(np.array([[3.0], [2.5], [-0.1], [float("nan")]])))
    >>> Magnitudes.edges()[np.flatnonzero(counts[0])]
    array([[-0.125 , -0.0625],
           [ 2.    ,  4.    ]])
    """

    columns: int

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return self.columns * (2 * _POWERS + 1)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes, enlarged by the rounding of a root."""
        entries = self.columns * (2 if neighbors == "replace_one" else 1)
        return float(entries) if norm == "l1" else math.sqrt(entries) * OPERATION_SLACK

    def block_sum(self, block: Array) -> Array:
        """Return the counts of a block."""
        bins = 2 * _POWERS + 1
        with np.errstate(invalid="ignore"):
            powers = np.frexp(np.where(np.isinf(block), np.finfo(np.float64).max, np.abs(block)))[1] - 1
            steps = np.clip(powers - _LEAST + 1, 0, _POWERS)
            places = np.where(block < 0, _POWERS - steps, _POWERS + steps)
        places = np.where((block == 0) | (np.abs(block) < 2.0**_LEAST), _POWERS, places)
        places = places + bins * np.arange(self.columns)
        return np.bincount(places[~np.isnan(block)].ravel(), minlength=self.size).astype(np.float64)

    def parts(self, total: Array) -> Array:
        """Return a (noisy) total as (columns, bins)."""
        return total.reshape(self.columns, -1)

    @staticmethod
    def edges() -> Array:
        """Return the lower and upper ends of the bins, (bins, 2), the lowest first."""
        powers = 2.0 ** np.arange(_LEAST, _MOST + 1)
        positive = np.stack([powers, 2 * powers], axis=1)
        return np.concatenate([-positive[::-1, ::-1], [[0.0, 0.0]], positive])
