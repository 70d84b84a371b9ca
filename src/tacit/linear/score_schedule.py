"""The releases of a regression by scores: how often, of how many numbers and with which part of the budget.

The first of them are the moments of inputs and target together. The regression starts from these, on white inputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import MOST_SHARES, count_shares, deal, rescale, weigh_releases
from tacit.fitting.progress import Watch
from tacit.linear.residuals import LEVEL, SQUARES
from tacit.moments.estimates import PublicFacts
from tacit.moments.iterated_moments import iterated_moments, iterated_steps
from tacit.moments.two_stage_moments import two_stage_moments, two_stage_steps
from tacit.privacy import Budget, Gaussian, Relation, Step
from tacit.release import Curator, calibrated_plan
from tacit.statistics import numbers_in_second_moment

REFINING, HESSIAN, FINAL = "refining scores", "curvature", "final scores"

# Parts of the budget, as squared signal-to-noise ratios: of all moments together, and of each release after them.
# benchmarks/linear_regression.py measures what they give.
_MOMENTS_PART = 0.2
_PARTS = {REFINING: 0.055, HESSIAN: 0.04, SQUARES: 0.02, FINAL: 0.47, LEVEL: 0.05}
FIRST_REFINEMENTS, LATER_REFINEMENTS = 3, 1  # Newton steps before and after the Hessian is measured.
_RELEASES = {REFINING: FIRST_REFINEMENTS + LATER_REFINEMENTS, HESSIAN: 1, SQUARES: 1, FINAL: 1, LEVEL: 1}

# How the moments of all columns are measured.
_MOMENT_ROUNDS = 8
_FEW_MOMENT_ROUNDS = 6  # The same where rows suffice for the most shares.
_MOST_NOISE = 0.16  # Largest noise of a covariance, in its own units, with which it is measured repeatedly.
_MOST_COLUMNS = 400  # With more columns, measuring a covariance repeatedly takes too long.
_USUAL_ROWS = 10_000  # Number of rows that plans assume where it is secret.


@dataclass(frozen=True)
class ScoreSchedule:
    """What a fit releases, from public numbers alone.

    Parameters
    ----------
    columns : int
        Columns of inputs, without the target.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    budget : Budget
        It decides how moments are measured, and how many shares rows are dealt out into.
    """

    columns: int
    neighbors: Relation
    rows: int | None
    budget: Budget

    @cached_property
    def shares(self) -> int:
        """How many shares the rows are dealt out into."""
        return count_shares(self.rows, 1 + self.columns, self.budget, self.neighbors)

    @property
    def rows_released(self) -> int | None:
        """How many rows a release of moments is of, where their number is public."""
        return None if self.rows is None else self.rows // self.shares

    @property
    def releases(self) -> int:
        """How many releases a fit makes."""
        return sum(step.count for step in self.moment_steps) + sum(_RELEASES.values())

    @cached_property
    def iterates_moments(self) -> bool:
        """Whether moments are measured repeatedly, in their own units: the noise decides."""
        part = Budget(self.budget.epsilon * math.sqrt(_MOMENTS_PART), self.budget.delta)
        multiplier = calibrated_plan([Gaussian("moments", 1.0)], part, self.neighbors).steps[0].noise_multiplier
        replaced = math.sqrt(2.0) if self.neighbors == "replace_one" else 1.0
        noise = multiplier * replaced * (1 + self.columns) / (self.rows_released or _USUAL_ROWS)
        return self.columns < _MOST_COLUMNS and noise < _MOST_NOISE

    @cached_property
    def moment_steps(self) -> list[Step]:
        """The steps of the moments of all columns, as if nothing else were released."""
        rounds = _FEW_MOMENT_ROUNDS if self.shares == MOST_SHARES else _MOMENT_ROUNDS
        steps = iterated_steps if self.iterates_moments else two_stage_steps
        return steps(1 + self.columns, rounds)

    def steps(self) -> list[Step]:
        """Return the plan's steps. All but the last two are of shares of the rows, where these are dealt out."""
        numbers = 2 + self.columns + numbers_in_second_moment("full", 1 + self.columns)
        sizes = {REFINING: numbers, HESSIAN: numbers, SQUARES: 1, FINAL: numbers, LEVEL: 1}
        early = [*rescale(self.moment_steps, _MOMENTS_PART), *weigh_releases(_PARTS, _RELEASES, sizes)]
        return [step if step.name in (FINAL, LEVEL) else deal(step, self.shares) for step in early]

    @property
    def final_noise(self) -> float:
        """The noise of the final scores, relative to that of the Hessian."""
        multipliers = {step.name: step.noise_multiplier for step in self.steps()}
        return multipliers[FINAL] / multipliers[HESSIAN]


@dataclass(frozen=True, eq=False)
class JointMoments:
    """Mean and covariance of all columns, the target last, and coordinates in which inputs are white.

    Parameters
    ----------
    mean : (1 + d,) array
    covariance : (1 + d, 1 + d) array
    rows : float
        How many rows there are, as far as is known.
    covariance_error : float or None
        Relative variance of the covariance's error. None where correlations are too noisy to start from.
    origin : (1 + d,) array or None
        Where all inputs and the target are zero, for a regression without an intercept.
    """

    mean: Array
    covariance: Array
    rows: float
    covariance_error: float | None
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
