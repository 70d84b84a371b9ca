"""Mean and covariance of inputs and target together: where a regression by scores starts, and its white inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Array
from tacit.fitting.progress import Watch
from tacit.linear.score_schedule import ScoreSchedule
from tacit.moments.estimates import PublicFacts
from tacit.moments.iterated_moments import iterated_moments
from tacit.moments.two_stage_moments import two_stage_moments
from tacit.release import Curator


@dataclass(frozen=True, eq=False)
class JointMoments:
    """Mean and covariance of all columns, the target last, and coordinates in which inputs are white.

    Parameters
    ----------
    mean : (1 + d,) array
    covariance : (1 + d, 1 + d) array
    rows : float
        How many rows there are, as far as is known.
    doubt : float or None
        Relative variance of the covariance's error; None where its correlations are not measured well enough to start
        from.
    origin : (1 + d,) array or None
        Where all inputs and the target are zero, for a regression without an intercept.
    """

    mean: Array
    covariance: Array
    rows: float
    doubt: float | None
    origin: Array | None

    @property
    def centre(self) -> Array:
        """Where columns are measured from: their mean, or the origin."""
        return self.mean if self.origin is None else self.origin

    @cached_property
    def factor(self) -> Array:
        """The Cholesky factor of second moments about the centre.

        Its last row is the regression on white inputs, and the residual scale.
        """
        if self.origin is None:
            return np.linalg.cholesky(self.covariance)
        apart = self.mean - self.origin
        return np.linalg.cholesky(self.covariance + np.outer(apart, apart))

    def in_columns(self, coefficients: Array) -> Array:
        """Return coefficients on inputs in standard coordinates, from those on white inputs; intercepts first."""
        slopes = np.linalg.solve(self.factor[:-1, :-1].T, coefficients[1:])
        return np.concatenate([[coefficients[0] - slopes @ self.centre[:-1]], slopes])


def measure_moments(
    curator: Curator, schedule: ScoreSchedule, origin: Array | None, least_variances: Array | float, watch: Watch
) -> JointMoments:
    """Release the moments of all columns."""
    measure = iterated_moments if schedule.iterates_moments else two_stage_moments
    facts = PublicFacts(1 + schedule.columns, schedule.rows_released, least_variances)
    moments = measure(curator, schedule.moment_steps, facts, watch)
    rows = float(schedule.rows) if schedule.rows is not None else max(moments.count, 1.0)
    return JointMoments(moments.mean, moments.covariance, rows, moments.covariance_error, origin)
