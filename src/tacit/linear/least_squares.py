"""Least squares on inputs in their own units: what published methods of linear regression solve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.linear.coordinates import Coordinates
from tacit.linear.linear_fit import LinearFit
from tacit.linear.problem import Problem
from tacit.statistics.losses import SquaredLoss


def least_squares_problem(columns: int, rows: int | None, intercept: bool) -> Problem:
    """Return the problem of least squares, beginning at zero."""
    coordinates = Coordinates.as_they_are(columns, math.nan if rows is None else float(rows))
    wide = 1 + columns
    return Problem(SquaredLoss(), coordinates, np.zeros((1, wide)), float(intercept), np.zeros((wide, wide)), 0.0)


def plain_fit(coefficients: Any, rows: float) -> LinearFit:
    """Return coefficients, the intercept first, of which nothing else is known."""
    level, slopes = float(coefficients[0]), np.asarray(coefficients[1:])
    return LinearFit(np.zeros(len(slopes)), level, slopes, None, rows, None)
