"""Published descents on the squared error, for inputs in their own units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.linear.coordinates import Coordinates
from tacit.linear.linear_fit import LinearFit
from tacit.linear.problem import Problem
from tacit.linear.robust_descent import RobustDescent, Way
from tacit.privacy import Step
from tacit.statistics.losses import SquaredLoss


@dataclass
class LinearDescent(RobustDescent):
    """:class:`tacit.linear.robust_descent.RobustDescent` for linear regression."""

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return int(self.problem.begin.size - (self.problem.intercept == 0))

    def steps(self) -> list[Step]:  # type: ignore[override]
        """Return the plan's steps."""
        counted = math.isnan(self.problem.rows)
        return RobustDescent.steps(
            self.iterations, self.size, 1.0, sampling_rate=self.sampling_rate, count_rows=counted
        )

    def finish(self, state: Way) -> LinearFit:  # type: ignore[override]
        """Return the coefficients, for inputs in their own units."""
        return plain_fit(state.mean[0], state.rows)


def squares(columns: int, rows: int | None, intercept: bool) -> Problem:
    """Return the problem of least squares, beginning at zero."""
    coordinates = Coordinates.as_they_are(columns, math.nan if rows is None else float(rows))
    wide = 1 + columns
    return Problem(SquaredLoss(), coordinates, np.zeros((1, wide)), float(intercept), np.zeros((wide, wide)), 0.0)


def plain_fit(coefficients: Any, rows: float) -> LinearFit:
    """Return coefficients, the intercept first, of which nothing else is known."""
    level, slopes = float(coefficients[0]), np.asarray(coefficients[1:])
    return LinearFit(np.zeros(len(slopes)), level, slopes, None, rows, None)
