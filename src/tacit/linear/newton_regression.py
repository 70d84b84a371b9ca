"""Linear regression of tables with categories: filtered Newton steps on Huber's loss.

Levels of categories are many columns of zeros and ones, most of them rare: they are not like white normal inputs, which
:mod:`tacit.linear.score_regression` reckons with. So such inputs are measured as for classifiers
(:mod:`tacit.linear.input_moments`: levels are counted, and directions that hardly vary are left short), and
coefficients are found by the same Newton steps (:mod:`tacit.linear.newton`). The loss turns linear where that makes
errors least, by what the noise is: with less noise farther out, so the estimate tends to least squares. In the end the
mean residual is released by itself (:mod:`tacit.linear.residuals`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import count_shares, split_budget
from tacit.fitting.clipping import least_variance_radius
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import kalman_gain
from tacit.linear import newton
from tacit.linear.coordinates import Coordinates, Scatter, target_map
from tacit.linear.input_moments import InputSchedule, measure_inputs
from tacit.linear.linear_fit import LinearFit
from tacit.linear.problem import Problem, Solution, noise_of_one_release, widen_rare_levels
from tacit.linear.residuals import LEVEL, SQUARES, Residuals
from tacit.privacy import Budget, Relation, Step
from tacit.release import Curator
from tacit.statistics import TableLayout
from tacit.statistics.losses import HuberLoss

# benchmarks/linear_regression.py measures what these numbers give, on tables with levels, Adult among them.
# How the budget is split, in squared signal-to-noise.
_MOMENTS_BUDGET, _GRADIENTS_BUDGET = 0.15, 0.78
_RESIDUALS_BUDGETS = {SQUARES: 0.02, LEVEL: 0.05}

_SIGNAL = 1.0  # Standard deviation of predictions before anything is known, in units of residuals.
_SKEW = 0.1  # How far off the level of predictions may be where residuals are skewed, in residual scales.
_THRESHOLDS = (0.7, 0.85, 1.0, 1.35, 1.7, 2.0, 2.5, 3.0, 4.0, 6.0)
_CLIP_RADIUS = 0.5  # Gradient clip radius, in typical row lengths, when noise dominates.


@dataclass(frozen=True, eq=False)
class NewtonSchedule:
    """What a fit releases, from public numbers alone.

    Parameters
    ----------
    layout : TableLayout
        Where numbers and levels are found in rows; the target, last, is a number.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    budget : Budget
        It decides how many shares rows are dealt out into.
    """

    layout: TableLayout
    neighbors: Relation
    rows: int | None
    budget: Budget

    @property
    def columns(self) -> int:
        """Columns of inputs, without the target."""
        return self.layout.numbers[-1]

    @property
    def iterations(self) -> int:
        """How many gradients are released."""
        return newton.default_iterations(self.columns)

    @cached_property
    def inputs(self) -> InputSchedule:
        """What is released about inputs and target."""
        shares = count_shares(self.rows, 1 + self.columns, self.budget, self.neighbors)
        return InputSchedule(self.layout, self.neighbors, self.rows, _MOMENTS_BUDGET, shares)

    @property
    def releases(self) -> int:
        """How many releases a fit makes."""
        return self.inputs.releases + self.iterations + len(_RESIDUALS_BUDGETS)

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        gradients = newton.steps(self.iterations, 1 + self.columns, _GRADIENTS_BUDGET, self.inputs.shares)
        ones = dict.fromkeys(_RESIDUALS_BUDGETS, 1)
        residuals = split_budget(_RESIDUALS_BUDGETS, ones, ones)
        return [*self.inputs.steps(), *gradients, *residuals]


def fit_by_newton(
    curator: Curator,
    schedule: NewtonSchedule,
    origin: Array | None,
    least_variances: Array,
    watch: Watch = lambda done, total: None,
) -> LinearFit:
    """Regress the last column on the others, and return the fit in standard coordinates.

    Parameters
    ----------
    curator : Curator
        Its plan must be the schedule's steps, calibrated.
    schedule : NewtonSchedule
    origin : (1 + d,) array or None
        Where all inputs and the target are zero, in standard coordinates: the regression passes through it. Without it
        there is an intercept.
    least_variances : (1 + d,) array
        Public knowledge of how narrow a column can be.
    watch : callable, optional
        Called as ``watch(done, total)`` after each part of the fit, for a progress bar.
    """
    total = schedule.releases
    scatter = measure_inputs(curator, schedule.inputs, math.nan, least_variances)
    watch(schedule.inputs.releases, total)
    problem = _problem(scatter, noise_of_one_release(curator.plan, schedule.steps(), _GRADIENTS_BUDGET), origin)
    problem = replace(problem, shares=schedule.inputs.shares)
    middle = float(scatter.mean[-1] if origin is None else origin[-1])
    curator.map_rows(problem.coordinates.row_map)
    curator.map_rows(target_map(schedule.columns, middle, scatter.residual_scale))

    solution = newton.solve(problem, curator, schedule.iterations)
    watch(total - len(_RESIDUALS_BUDGETS), total)
    solution = widen_rare_levels(solution, problem, scatter, schedule.layout.levels, _SIGNAL)
    residuals = Residuals(solution.coefficients[0], 1.0, problem.rows)
    variance = residuals.measure_variance(curator)
    level, level_error = residuals.measure_mean(curator, variance)
    watch(total, total)
    return _linear_fit(problem, scatter, solution, middle, variance, level, level_error)


def _problem(scatter: Scatter, noise: float, origin: Array | None) -> Problem:
    """Return Huber's regression on inputs that are about white."""
    coordinates = Coordinates.white(scatter, _SIGNAL, noise)
    wide = 1 + coordinates.columns
    begin = np.zeros((1, wide))
    begin[0, 1:] = scatter.slopes(coordinates)
    if origin is not None:
        coordinates = coordinates.about(origin[:-1])
    loss = HuberLoss(best_threshold(_CLIP_RADIUS * noise * coordinates.length / math.sqrt(scatter.rows)))
    intercept = float(origin is None)
    ridge = np.zeros((wide, wide))
    return Problem(loss, coordinates, begin, intercept, ridge, noise, most_rows=scatter.most_rows, steady=True)


def _linear_fit(
    problem: Problem,
    scatter: Scatter,
    solution: Solution,
    middle: float,
    variance: float,
    level: float,
    level_error: float,
) -> LinearFit:
    """Return the fit in standard coordinates, with the mean residual added to its level as far as it is trusted."""
    scale, coordinates = scatter.residual_scale, problem.coordinates
    slopes = solution.coefficients[0, 1:] @ coordinates.whitener
    across = np.linalg.inv(coordinates.whitener)
    errors = solution.covariance.copy()
    predicted = float(solution.coefficients[0, 0])
    if problem.intercept:
        before = float(solution.noise_covariance[0, 0]) + _SKEW**2
        kept = kalman_gain(before, level_error)
        predicted += kept * level
        errors[0] = errors[:, 0] = 0.0
        errors[0, 0] = kept * level_error
    turn = np.eye(len(errors))
    turn[1:, 1:] = coordinates.whitener.T
    return LinearFit(
        coordinates.centre,
        middle + scale * predicted,
        scale * slopes,
        across @ across.T,
        problem.rows,
        scale**2 * variance,
        scale**2 * turn @ errors @ turn.T,
        scatter.inputs,
    )


def best_threshold(noise: float) -> float:
    """Return where the loss turns linear, for the least variance of coefficients: chance and noise.

    `noise` is that of a coefficient with a threshold of 1, in standard errors; residuals are taken to be normal.

    Examples
    --------
    >>> [best_threshold(noise) for noise in (3.0, 0.3, 0.001)]
    [0.7, 1.35, 4.0]
    """

    def clipped_moments(threshold: float) -> tuple[float, float]:
        loss = HuberLoss(threshold)
        return loss.within, loss.square

    return least_variance_radius(_THRESHOLDS, noise, clipped_moments)
