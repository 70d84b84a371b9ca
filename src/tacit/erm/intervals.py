"""Intervals for coefficients: sampling error and privacy noise together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tacit.statistics.components import Array


@dataclass(frozen=True, eq=False)
class CoefficientIntervals:
    """Standard errors and intervals of coefficients, in the units of the rows.

    Attributes
    ----------
    level : float
    coef : (K, d, 2) array
        Lower and upper ends.
    intercept : (K, 2) array
    coef_errors : (K, d) array
        Standard errors, of sampling and of noise.
    intercept_errors : (K,) array
    """

    level: float
    coef: Array
    intercept: Array
    coef_errors: Array
    intercept_errors: Array

    @classmethod
    def normal(cls, coef: Array, intercept: Array, errors: Array, level: float) -> CoefficientIntervals:
        """Return intervals of a normal law, from standard errors (K, 1 + d), those of intercepts first."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, such as 0.9, and it is {level!r}.")
        reach = float(ndtri(0.5 + level / 2)) * np.array([-1.0, 1.0])
        slopes, intercepts = errors[:, 1:], errors[:, 0]
        return cls(
            level,
            coef[:, :, None] + slopes[:, :, None] * reach,
            intercept[:, None] + intercepts[:, None] * reach,
            slopes,
            intercepts,
        )
