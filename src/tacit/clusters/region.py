"""The region that rows lie in, in the coordinates in which k-means measures distances."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from tacit.arrays import Array
from tacit.tables import Domain

# The seed of the Halton points is any fixed number: the points must be the same in every fit.
_HALTON_SEED = 20170


@dataclass(frozen=True, eq=False)
class Region:
    """The public bounds as a box around the origin or as the unit ball, in the rows' own units up to one factor.

    In standard coordinates every column has the same range. k-means measures distances in the rows' own units, so the
    region rescales the columns: the widest has the range [-1, 1] and the others keep their proportion to it. The
    columns of a schema have no common unit; there, k-means measures distances in standard coordinates.

    Parameters
    ----------
    scales : (d,) array
        A row in the region is its standard coordinates times `scales`.
    ball : bool
        Whether the region is the unit ball. Otherwise it is the box from -scales to scales.
    unit : float
        Length of a distance of 1, in the rows' own units (1 under a schema).

    Examples
    --------
    >>> region = Region.of(Domain.from_bounds(([0.0, 0.0], [10.0, 100.0]), 2))
    >>> region.scales, region.unit
    (array([0.1, 1. ]), 50.0)
    """

    scales: Array
    ball: bool
    unit: float

    @classmethod
    def of(cls, domain: Domain) -> Region:
        """Return the region of a domain."""
        if domain.schema is not None:
            return cls(np.ones(domain.columns), False, 1.0)
        unit = float(domain.scale.max())
        if domain.ball:
            root = math.sqrt(domain.columns)
            return cls(np.full(domain.columns, 1 / root), True, unit * root)
        return cls(domain.scale / unit, False, unit)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.scales)

    @property
    def half_widths(self) -> Array:
        """Largest absolute value in each column, (d,)."""
        return np.ones(self.columns) if self.ball else self.scales

    @property
    def radius(self) -> float:
        """Largest distance of a row from the origin."""
        return 1.0 if self.ball else float(np.linalg.norm(self.scales))

    def project(self, points: Array) -> Array:
        """Return the points (..., d), with those outside the region moved to its surface."""
        if self.ball:
            return points / np.maximum(np.linalg.norm(points, axis=-1, keepdims=True), 1.0)
        return np.clip(points, -self.half_widths, self.half_widths)

    def halton_points(self, number: int) -> Array:
        """Return points (number, d) that cover the region evenly, the same in every fit."""
        points = qmc.Halton(self.columns, scramble=True, seed=_HALTON_SEED).random(number)
        return self.project((2 * points - 1) * self.half_widths)
