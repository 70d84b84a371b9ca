"""What a method that measures moments is given, and what it returns.

A method is two functions. The first turns public numbers into the steps of a plan: which releases, how many of each and
of what size. The second walks through these steps: it asks the curator, and returns :class:`MomentEstimates`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.tables import Domain

_HIDING_NOISE = 0.5  # Relative noise of a variance from which two standard deviations of it could explain it all.


@dataclass(frozen=True, eq=False)
class PublicFacts:
    """What is public about rows, in coordinates where no row is longer than sqrt(d).

    Parameters
    ----------
    columns : int
    rows : int or None
        The number of rows, where it is public.
    least_variances : (d,) array or float
        No column is narrower than this.
    farthest : float
        No cell lies farther than this from the centre: 1 in a box, sqrt(d) in a ball.
    """

    columns: int
    rows: int | None
    least_variances: Array | float = 1e-8
    farthest: float = 1.0

    @classmethod
    def of_domain(cls, domain: Domain, rows: int | None) -> PublicFacts:
        """Return what the public bounds and the number of rows say."""
        farthest = math.sqrt(domain.columns) if domain.ball else 1.0
        return cls(domain.columns, rows, domain.least_variances, farthest)


@dataclass(frozen=True, eq=False)
class ColumnSpread:
    """Standard deviations of columns as they were measured, and the noise in them.

    Methods may keep what they compute with above a floor. These are for people to read.

    Parameters
    ----------
    deviations : (d,) array
    noise : (d,) array
        Standard deviation of the noise in the variance of each column, relative to that variance.

    Examples
    --------
    >>> import numpy as np
    >>> spread = ColumnSpread(np.array([1.0, 0.1]), np.array([0.1, 5.0]))
    >>> spread.hidden, spread.at_most.round(2)
    (array([False,  True]), array([1.1 , 0.33]))
    """

    deviations: Array
    noise: Array

    @property
    def hidden(self) -> Array:
        """Which columns have a spread that cannot be told from none beside the noise, as truth values."""
        return np.asarray(self.noise > _HIDING_NOISE)

    @property
    def at_most(self) -> Array:
        """What standard deviations hardly exceed, (d,)."""
        return np.asarray(self.deviations * np.sqrt(1 + 2 * self.noise))

    def in_units(self, scale: Array) -> ColumnSpread:
        """Return the same in units of which the present ones have so many."""
        return ColumnSpread(scale * self.deviations, self.noise)

    def widened(self, least: Array, noise: float) -> ColumnSpread:
        """Return deviations that are `least` at least: those of a release whose variances have this noise."""
        wider = least > self.deviations
        relative = noise / np.maximum(least**2, 1e-300)
        return ColumnSpread(np.where(wider, least, self.deviations), np.where(wider, relative, self.noise))


@dataclass(frozen=True, eq=False)
class MomentEstimates:
    """Private estimates of moments, in the same coordinates.

    Parameters
    ----------
    mean : (d,) array
    covariance : (d, d) array
    count : float
        The number of rows.
    covariance_error : float or None
        Relative variance of the error of the covariance, where the method knows it.
    spread : ColumnSpread, optional
        The columns' own standard deviations, where the method measures them.
    """

    mean: Array
    covariance: Array
    count: float
    covariance_error: float | None = None
    spread: ColumnSpread | None = None
