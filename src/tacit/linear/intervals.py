"""Intervals for coefficients: sampling error and privacy noise together."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from tacit.arrays import Array
from tacit.messages import describe


@dataclass(frozen=True, eq=False)
class CoefficientIntervals:
    """Standard errors and intervals of coefficients, in the units of the rows.

    Attributes
    ----------
    level : float
        How often intervals should hold the truth.
    coef : (n_features, 2) or (n_classes, n_features, 2) array
        Lower and upper ends.
    intercept : (2,) or (n_classes, 2) array
    coef_errors, intercept_errors : arrays
        Standard errors, of sampling and of noise, in the shapes of ``coef_`` and ``intercept_``.
    """

    level: float
    coef: Array
    intercept: Array
    coef_errors: Array
    intercept_errors: Array

    @classmethod
    def normal(
        cls, coef: Array, intercept: Any, coef_errors: Array, intercept_errors: Any, level: float
    ) -> CoefficientIntervals:
        """Return intervals of a normal law, from standard errors.

        Examples
        --------
        >>> CoefficientIntervals.normal(np.array([1.0]), 0.0, np.array([0.1]), 0.2, 0.9).coef.round(2)
        array([[0.84, 1.16]])
        """
        if not isinstance(level, numbers.Real) or not 0 < level < 1:
            raise ValueError(f"level must be a number between 0 and 1, such as 0.9, and it is {describe(level)}.")
        reach = float(ndtri(0.5 + level / 2)) * np.array([-1.0, 1.0])

        def ends(middle: Any, error: Any) -> Array:
            return np.asarray(middle)[..., None] + np.asarray(error)[..., None] * reach

        found = ends(coef, coef_errors), ends(intercept, intercept_errors)
        return cls(float(level), *found, coef_errors, np.asarray(intercept_errors))
