"""What a method that measures moments is given, and what it returns.

A method is two functions. The first turns public numbers into the steps of a plan: which releases, how many of each and
of what size. The second walks through these steps: it asks the curator, and returns :class:`MomentEstimates`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.arrays import Array
from tacit.tables import Domain


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
    """

    mean: Array
    covariance: Array
    count: float
    covariance_error: float | None = None
