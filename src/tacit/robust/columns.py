"""Public knowledge about columns: numbers for each of them, and the bounds they are brought inside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import float_array
from tacit.messages import describe
from tacit.tables import Domain


def box(domain: Domain, centre: Array, anywhere: bool = False) -> tuple[Array, Array]:
    """Return the bounds of each column, measured from the centre, which must lie within them unless `anywhere`."""
    if domain.unbounded:
        return np.full(domain.columns, -np.inf), np.full(domain.columns, np.inf)
    half_width = domain.scale * (math.sqrt(domain.columns) if domain.ball else 1.0)
    low, high = domain.centre - half_width - centre, domain.centre + half_width - centre
    if not anywhere and not ((low <= 0) & (high >= 0)).all():
        raise ValueError("centre must lie within the bounds; it is a guess of where values are.")
    return low, high


def within(low: Array, high: Array, least: Array, most: Array) -> tuple[Array, Array]:
    """Return an interval brought inside the bounds, or the bounds where the two do not meet."""
    inner, outer = np.maximum(low, least), np.minimum(high, most)
    apart = inner >= outer
    return np.where(apart, least, inner), np.where(apart, most, outer)


def per_column(name: str, value: Any, columns: int, positive: bool = False) -> Array:
    """Return a number, or one for each column, as an array."""
    wanted = f"{name} must be a {'positive, ' if positive else ''}finite number, or one for each column"
    array = float_array(value)
    if array is None:
        raise ValueError(f"{wanted}, and it is {describe(value)}.")
    if array.ndim > 1 or array.size not in (1, columns):
        raise ValueError(f"{wanted}, and it is {describe(value)} of another shape, with {columns} column(s).")
    if not np.isfinite(array).all() or (positive and not (array > 0).all()):
        raise ValueError(f"{wanted}, and it is {describe(value)}.")
    return np.broadcast_to(array.ravel(), (columns,)).copy()
