"""Influence functions: what a value counts for in a robust sum, however large it is.

Invariants
----------
- ``unit_influence(u)`` is f(u) / sup |f|, in [-1, 1] for every float64 there is: NaN counts for 0, an infinity for 1.
- It is computed with operations that IEEE 754 rounds in one way only (comparison, bits, sums, products, quotients,
  square roots), element by element or in a fixed order within a row. So a row counts for the same to the last bit
  wherever it stands, whatever the processor does to speed up exponentials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.arrays import Array
from tacit.messages import describe
from tacit.release.statistic import Norm
from tacit.rounding import OPERATION_SLACK


class Influence(Protocol):
    """What a value, in units of a scale, counts for."""

    @property
    def bound(self) -> float:
        """The supremum of |f|."""

    def unit_influence(self, u: Array) -> Array:
        """Return f(u) / bound for rows (rows, columns)."""

    def row_norm(self, columns: int, norm: Norm) -> float:
        """Return the largest norm of the unit influences of a row."""

    def bias(self, order: float) -> float:
        """Return the supremum of |u - f(u)| / |u|^order, for the bias that a moment of that order allows."""


class ByColumn:
    """Each column is bounded for itself: d entries in [-1, 1] have l2 norm at most sqrt(d) and l1 norm at most d."""

    def row_norm(self, columns: int, norm: Norm) -> float:
        """Return the largest norm of the unit influences of a row, enlarged by the rounding of the square root."""
        if norm == "linf":
            return 1.0
        return float(columns) if norm == "l1" else math.sqrt(columns) * OPERATION_SLACK


@dataclass(frozen=True)
class Clip(ByColumn):
    """Values beyond 1 count for 1: f(u) = u within [-1, 1].

    Of all odd functions with the same bound, none is nearer to the identity.

    Examples
    --------
    >>> import numpy as np
    >>> Clip().unit_influence(np.array([[0.5, -3.0, np.inf, np.nan]]))
    array([[ 0.5, -1. ,  1. ,  0. ]])
    >>> Clip().bias(2)
    0.25
    """

    @property
    def bound(self) -> float:
        """1."""
        return 1.0

    def unit_influence(self, u: Array) -> Array:
        """Return the values brought inside [-1, 1]."""
        return np.clip(np.where(np.isnan(u), 0.0, u), -1.0, 1.0)

    def bias(self, order: float) -> float:
        """Return (k - 1)^(k - 1) / k^k, the largest (u - 1) / u^k: it is at u = k / (k - 1)."""
        check_order(order)
        return float((order - 1) ** (order - 1) / order**order)


def check_order(order: float) -> None:
    """Refuse the order of a moment that says nothing about a bias."""
    if not 1 < order < 100:
        raise ValueError(
            f"The order of a moment must be over 1, such as 2 for the mean square, and it is {describe(order)}."
        )
