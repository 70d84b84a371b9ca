"""What estimators that minimise a mean loss of linear predictions share: from rows to coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.fitting import SupervisedEstimator, check_shapes, progress
from tacit.linear.coordinates import Coordinates, Scatter
from tacit.linear.input_moments import InputSchedule, input_layout, measure_inputs, public_scatter
from tacit.linear.input_spread import InputSpread
from tacit.linear.newton import SIGNAL
from tacit.linear.problem import Penalty, Problem, noise_of_one_release
from tacit.linear.rare_levels import widen_rare_levels
from tacit.linear.row_shares import shares_of
from tacit.linear.solver import Solution, count_releases
from tacit.linear.solvers import SOLVERS
from tacit.privacy import Budget, Relation, Sampled, Step
from tacit.release import Curator, RowMap
from tacit.sources import Source
from tacit.statistics.components import Array
from tacit.tables import Domain

_MOMENTS_BUDGET = 0.15  # Part of the budget for the moments of inputs, in squared signal-to-noise.


class LinearEstimator(SupervisedEstimator):
    """From rows to coefficients, for subclasses that say what loss they minimise.

    They take ``solver, n_iter, fit_intercept`` beside what supervised estimators take.
    """

    _signal = SIGNAL  # how large predictions are expected to be
    _penalty: Penalty | None = None
    _spread: InputSpread | None = None
    _proven_loss = True  # convex, and as steep and curved as it says, by proof and not by declaration
    _smooth_loss = False  # with two continuous derivatives

    def _fit_rows(
        self,
        domain: Domain,
        rows: Source,
        n_rows: int | None,
        budget: Budget,
        outputs: int,
        loss: Callable[[Scatter], Any],
        target: Callable[[Scatter], Sequence[RowMap]],
        target_unit: float,
    ) -> tuple[Curator, Problem, Solution]:
        """Spend the budget.

        `loss` is made when inputs and target have been measured; `target` is what targets in standard coordinates
        pass through then. `target_unit` is the public unit of the target, or NaN.
        """
        columns, layout = domain.columns - 1, input_layout(domain)
        solver = SOLVERS[self._solver()]
        if refusal := solver.refusal(self):
            raise ValueError(f"solver={self._solver()!r} {refusal}")
        iterations = solver.default_iterations(columns) if self.n_iter == "auto" else int(self.n_iter)
        shares = shares_of(n_rows, outputs * (1 + columns), budget, self.neighbors)
        inputs = InputSchedule(layout, self.neighbors, n_rows, _MOMENTS_BUDGET, shares)
        power = 1 - _MOMENTS_BUDGET
        steps = [
            *(inputs.steps() if solver.measures_inputs else []),
            *solver.steps(iterations, outputs * (1 + columns), power, shares),
        ]
        steps = [_to_scale(step, self.neighbors) for step in steps]
        curator = self._curator(rows, domain, steps, budget, f"{type(self).__name__}(solver={self._solver()!r})")
        least_variances = domain.least_variances
        self._enter(curator, domain)
        with progress(self.verbose, f"Fitting {type(self).__name__}") as watch:
            if solver.measures_inputs:
                scatter = measure_inputs(curator, inputs, target_unit, least_variances)
                self._spread = scatter.inputs.in_units(self._domain.centre, self._domain.scale)
            else:
                scatter, self._spread = public_scatter(columns, n_rows), None
            noise = noise_of_one_release(curator.plan, steps, power)
            problem = self._problem(scatter, loss(scatter), outputs, noise, shares)
            curator.map_rows(problem.coordinates.row_map)
            for row_map in target(scatter):
                curator.map_rows(row_map)
            solution = solver.solve(problem, curator, iterations, count_releases(watch, solver.releases(iterations)))
        solution = widen_rare_levels(solution, problem, scatter, layout.levels, self._signal_of(scatter))
        self.n_iter_ = iterations
        self._coefficients = np.ascontiguousarray(problem.coordinates.to_standard(solution.coefficients))
        return curator, problem, solution

    def _problem(self, scatter: Scatter, loss: Any, outputs: int, noise: float, shares: int) -> Problem:
        inputs = self._domain.scale
        if self._penalty is None:
            coordinates = Coordinates.white(scatter, self._signal_of(scatter), noise)
        else:
            coordinates = Coordinates.standard(scatter, self._signal_of(scatter))
        intercept = float(self.fit_intercept)
        if not self.fit_intercept:  # predictions are zero where all inputs are
            coordinates = coordinates.about(-self._domain.centre / inputs)
        ridge = np.zeros((len(inputs) + 1, len(inputs) + 1))
        if strength := self._ridge(coordinates.rows):
            on_slopes = coordinates.whitener / inputs
            ridge[1:, 1:] = strength * on_slopes @ on_slopes.T
        begin = np.zeros((outputs, 1 + len(inputs)))
        first, slopes = self._first(scatter, coordinates)
        begin[:, 0], begin[:, 1:] = intercept * first, slopes
        return Problem(loss, coordinates, begin, intercept, ridge, noise, self._penalty, shares, scatter.most_rows)

    def _ridge(self, rows: float) -> float:
        """Return what half of the squared coefficients are multiplied by, beside the mean loss."""
        return 1 / (self.C * rows) if math.isfinite(self.C) else 0.0

    def _signal_of(self, scatter: Scatter) -> float:
        return self._signal

    def _first(self, scatter: Scatter, coordinates: Coordinates) -> tuple[float, Array]:
        """Return the intercept and the slopes to start with."""
        return 0.0, np.zeros(coordinates.columns)

    def _solver(self) -> str:
        return str(self.solver)

    def _linear(self, X: Any) -> Array:
        """Return the predictions (rows, K) of rows."""
        check_is_fitted(self)
        beta = self._coefficients
        blocks = [beta[:, 0] + block @ beta[:, 1:].T for block in self._standard_blocks(X)]
        return np.concatenate(blocks)

    def _covariance_in_units(self, problem: Problem, solution: Solution) -> Array | None:
        """Return the covariance of all coefficients in the units of the rows, intercepts first, where it is known."""
        if solution.covariance is None:
            return None
        wide = problem.begin.shape[1]
        intercepts, slopes = self._in_units(problem.coordinates.to_standard(np.eye(wide)))
        change = np.kron(np.eye(len(problem.begin)), np.column_stack([intercepts, slopes]).T)
        return change @ solution.covariance @ change.T

    def _stored(self) -> dict[str, Any]:
        inputs = None if self._spread is None else self._spread.stored()
        return {"predictor": {"coefficients": self._coefficients.tolist(), "inputs": inputs}}

    def _restore_predictor(self, values: dict[str, Any], outputs: int) -> None:
        coefficients = np.array(values["predictor"]["coefficients"], float)
        check_shapes(coefficients=(coefficients, (outputs, 1 + self._domain.columns)))
        self._coefficients = coefficients
        self._spread = InputSpread.restored(values["predictor"].get("inputs"), self._domain.columns)

    def _in_units(self, coefficients: Array) -> tuple[Array, Array]:
        """Return intercepts and slopes in the units of the rows, from those in standard coordinates."""
        slopes = coefficients[:, 1:] / self._domain.scale
        return coefficients[:, 0] - slopes @ self._domain.centre, slopes


def _to_scale(step: Step, neighbors: Relation) -> Step:
    """Return a step with noise that has the right proportion to other steps' under this relation.

    Where a row is replaced, sums move by twice what a row adds. Of all steps, those of sampled rows alone state their
    noise in units of what a row adds under both relations.
    """
    if neighbors == "replace_one" and isinstance(step, Sampled):
        return step.scaled(2.0)
    return step
