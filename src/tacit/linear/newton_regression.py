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
from typing import Any

import numpy as np

from tacit.fitting.engine import Watch, run
from tacit.linear.coordinates import Coordinates, Scatter, target_map
from tacit.linear.input_moments import InputMoments
from tacit.linear.linear_fit import LinearFit
from tacit.linear.newton import GRADIENT, Newton, Stand
from tacit.linear.problem import Problem, noise_of
from tacit.linear.rare_levels import raised
from tacit.linear.residuals import LEVEL, SQUARES, Residuals
from tacit.linear.row_shares import shares_of
from tacit.privacy import Budget, Gaussian, Relation, Step
from tacit.release import Curator
from tacit.statistics import TableLayout
from tacit.statistics.components import Array
from tacit.statistics.losses import HuberLoss

_SHARES = {"moments": 0.15, "gradients": 0.78, SQUARES: 0.02, LEVEL: 0.05}  # of the budget
_SIGNAL = 1.0  # how large predictions are expected to be, in units of residuals
_SKEW = 0.1  # how far off the level of predictions may be where residuals are skewed, in their scale
_THRESHOLDS = (0.7, 0.85, 1.0, 1.35, 1.7, 2.0, 2.5, 3.0, 4.0, 6.0)
_SHORTENED = 0.5  # as long as rows are, that their gradients are cut off at where noise is large


@dataclass
class NewtonRegression:
    """Linear regression of the last column on the others.

    Parameters
    ----------
    layout : TableLayout
        Where numbers and levels are found in rows; the target, last, is a number.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    budget : Budget
        What decides how many shares rows are dealt out into.
    origin : (1 + d,) array or None
        Where all inputs and the target are zero, in standard coordinates: the regression passes through it. Without it
        there is an intercept.
    least_variances : (1 + d,) array
        Public knowledge of how narrow a column can be.
    """

    layout: TableLayout
    neighbors: Relation
    rows: int | None
    budget: Budget
    origin: Array | None
    least_variances: Array

    def __post_init__(self) -> None:
        self.columns = self.layout.numbers[-1]
        self._shares = shares_of(self.rows, 1 + self.columns, self.budget, self.neighbors)
        self._iterations = Newton.default_iterations(self.columns)
        self._moments = InputMoments(
            self.layout, self.neighbors, self.rows, _SHARES["moments"], math.nan, self.least_variances, self._shares
        )

    @property
    def rounds(self) -> list[str]:
        """What each round releases, in order."""
        return [*self._moments.rounds, *[GRADIENT] * self._iterations, SQUARES, LEVEL]

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        last = [Gaussian(name, _SHARES[name] ** -0.5, 1, 1) for name in (SQUARES, LEVEL)]
        return [*self._moments.steps(), *self._gradients(), *last]

    def _gradients(self) -> list[Step]:
        return Newton.steps(self._iterations, 1 + self.columns, _SHARES["gradients"], self._shares)

    def fitted(self, curator: Curator, watch: Watch) -> LinearFit:
        """Return the fit, in standard coordinates, of rows that only the curator sees."""
        scatter = run(self._moments, curator)
        problem = self._problem(scatter, noise_of(curator.plan, self.steps(), _SHARES["gradients"]))
        middle = float(scatter.mean[-1] if self.origin is None else self.origin[-1])
        scale, coordinates = scatter.residual_scale, problem.coordinates

        curator.map_rows(coordinates.row_map)
        curator.map_rows(target_map(self.columns, middle, scale))
        newton = Newton(problem, self._iterations)
        found = raised(newton.finish(run(newton, curator, watch)), problem, scatter, self.layout.levels, _SIGNAL)
        found = _as_long_as_likely(found, problem)
        slopes = found.coefficients[0, 1:] @ coordinates.whitener
        across = np.linalg.inv(coordinates.whitener)
        variance, level, unsure = self._residuals(curator, found.coefficients[0], problem.rows)
        errors = found.covariance.copy()
        predicted = float(found.coefficients[0, 0])
        if self.origin is None:
            before = float(found.doubt[0, 0]) + _SKEW**2
            kept = before / (before + unsure)
            predicted += kept * level
            errors[0] = errors[:, 0] = 0.0
            errors[0, 0] = kept * unsure
        turn = np.eye(1 + self.columns)
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

    def _problem(self, scatter: Scatter, noise: float) -> Problem:
        coordinates = Coordinates.white(scatter, _SIGNAL, noise)
        begin = np.zeros((1, 1 + self.columns))
        begin[0, 1:] = scatter.slopes(coordinates)
        if self.origin is not None:
            coordinates = coordinates.about(self.origin[:-1])
        loss = HuberLoss(best_threshold(_SHORTENED * noise * coordinates.length / math.sqrt(scatter.rows)))
        ridge = np.zeros((1 + self.columns, 1 + self.columns))
        intercept = float(self.origin is None)
        return Problem(loss, coordinates, begin, intercept, ridge, noise, None, self._shares, scatter.most_rows)

    def _residuals(self, curator: Curator, coefficients: Array, rows: float) -> tuple[float, float, float]:
        """Return the mean square of residuals, their mean, and the variance of what that is off by."""
        residuals = Residuals(coefficients, 1.0, rows)

        def released(name: str, statistic: Any) -> tuple[Any, Array, float]:
            return statistic, curator.release(name, statistic), curator.noise(name, statistic)

        squares = residuals.squares(lambda statistic: curator.noise(SQUARES, statistic))
        variance = residuals.variance(*released(SQUARES, squares))
        level = residuals.level(lambda statistic: curator.noise(LEVEL, statistic), variance)
        return variance, *residuals.mean(*released(LEVEL, level), variance)


def _as_long_as_likely(found: Stand, problem: Problem) -> Stand:
    """Return slopes shrunk by how much of their predictions noise explains (James-Stein), where that is much.

    Steps were damped as if predictions were as large as was expected before. Undone, what was measured is signal and
    noise; its size then tells how large the signal is.
    """
    variances, slopes = problem.coordinates.variances, found.coefficients[:, 1:]
    prior = float(variances @ problem.coordinates.prior)
    unsure = float(variances @ np.diag(found.doubt)[1:])
    if not 0 < unsure < prior:
        return found
    damped = 1 - unsure / prior
    measured = float(np.sum(variances * slopes**2)) / damped**2
    kept = max(0.0, 1.0 - unsure / damped / max(measured, 1e-300))
    factor = min(1.0, kept / damped)
    return replace(found, coefficients=np.column_stack([found.coefficients[:, :1], factor * slopes]))


def best_threshold(noise: float) -> float:
    """Return where the loss turns linear, for the least variance of coefficients: chance and noise.

    `noise` is that of a coefficient with a threshold of 1, in standard errors; residuals are taken to be normal.

    Examples
    --------
    >>> [best_threshold(noise) for noise in (3.0, 0.3, 0.001)]
    [0.7, 1.35, 4.0]
    """

    def variance(threshold: float) -> float:
        loss = HuberLoss(threshold)
        return (loss.square + (noise * threshold) ** 2) / loss.within**2

    return min(_THRESHOLDS, key=variance)
