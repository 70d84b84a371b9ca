"""Published methods of linear regression: least squares on inputs in their own units."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tacit.fitting.published import PublishedMethod
from tacit.linear.coordinates import Coordinates
from tacit.linear.linear_fit import LinearFit
from tacit.linear.linear_model import RegressionMethod
from tacit.linear.problem import Problem
from tacit.privacy import Budget
from tacit.statistics.losses import SquaredLoss

SMOOTH_NOISE = (
    "Noise is relative to bounds that were found in the rows, smooth ones, which is accounted for. Stated here are the "
    "least that sensitivity and noise could have been, as what they were is not told."
)


class PublishedRegression(PublishedMethod):
    """A published method of :class:`tacit.LinearRegression`."""

    needs_public_rows: ClassVar[bool] = True  # Whether the number of rows must be public, and all rows complete.
    notes: ClassVar[tuple[str, ...]] = ()  # Sentences for the certificate.

    def regression(self, columns: int, n_rows: int | None, intercept: bool, budget: Budget) -> RegressionMethod:
        """Return the plan's steps and the fit, for `columns` inputs and `n_rows` rows, or None where that is secret."""
        raise NotImplementedError


def least_squares_problem(columns: int, rows: int | None, intercept: bool) -> Problem:
    """Return the problem of least squares, beginning at zero."""
    coordinates = Coordinates.as_they_are(columns, math.nan if rows is None else float(rows))
    wide = 1 + columns
    return Problem(SquaredLoss(), coordinates, np.zeros((1, wide)), float(intercept), np.zeros((wide, wide)), 0.0)


def plain_fit(coefficients: Any, rows: float) -> LinearFit:
    """Return coefficients, the intercept first, of which nothing else is known."""
    level, slopes = float(coefficients[0]), np.asarray(coefficients[1:])
    return LinearFit(np.zeros(len(slopes)), level, slopes, None, rows, None)
