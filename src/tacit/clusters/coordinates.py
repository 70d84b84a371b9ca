"""Where rows lie, in the coordinates that k-means measures distances in."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from tacit.statistics.components import Array
from tacit.tables import Domain


@dataclass(frozen=True, eq=False)
class Extent:
    """The bounds as a box around the origin, or as the unit ball, in the rows' own units up to one factor.

    Standard coordinates give every column the same range. Distances between rows are to be those of the rows' own
    units, as in any k-means, so columns are stretched to their ranges again, the widest to [-1, 1]. A schema's columns
    have no common unit; there, distances are those of standard coordinates.

    Parameters
    ----------
    stretch : (d,) array
        A row is stretch times its standard coordinates.
    ball : bool
        Whether rows are in the unit ball, or in the box from -stretch to stretch.
    unit : float
        How long a distance of 1 is in the rows' own units (1 under a schema).

    Examples
    --------
    >>> extent = Extent.of(Domain.from_bounds(([0.0, 0.0], [10.0, 100.0]), 2))
    >>> extent.stretch, extent.unit
    (array([0.1, 1. ]), 50.0)
    """

    stretch: Array
    ball: bool
    unit: float

    @classmethod
    def of(cls, domain: Domain) -> Extent:
        """Return the extent of a domain."""
        if domain.schema is not None:
            return cls(np.ones(domain.columns), False, 1.0)
        unit = float(domain.scale.max())
        if domain.ball:
            root = math.sqrt(domain.columns)
            return cls(np.full(domain.columns, 1 / root), True, unit * root)
        return cls(domain.scale / unit, False, unit)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.stretch)

    @property
    def half_widths(self) -> Array:
        """How far rows reach in each column."""
        return np.ones(self.columns) if self.ball else self.stretch

    @property
    def radius(self) -> float:
        """How far rows reach."""
        return 1.0 if self.ball else float(np.linalg.norm(self.stretch))

    def inside(self, points: Array) -> Array:
        """Return points (..., d) brought inside."""
        if self.ball:
            return points / np.maximum(np.linalg.norm(points, axis=-1, keepdims=True), 1.0)
        return np.clip(points, -self.half_widths, self.half_widths)

    def spread_points(self, count: int) -> Array:
        """Return `count` points spread evenly inside, the same each time."""
        points = qmc.Halton(self.columns, scramble=True, seed=20170).random(count)
        return self.inside((2 * points - 1) * self.half_widths)
