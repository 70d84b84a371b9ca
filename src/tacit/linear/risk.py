"""Empirical risk minimisation: from rows with a target to the coefficients with the least mean loss.

This is what estimators that minimise a mean loss of linear predictions share. An estimator says in a :class:`Risk` what
it minimises, and :func:`minimise_risk` spends its budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import progress
from tacit.fitting.allocation import count_shares
from tacit.fitting.published import find_published
from tacit.linear.accelerated_descent import AcceleratedDescent
from tacit.linear.coordinates import Coordinates, Scatter
from tacit.linear.input_moments import InputSchedule, input_layout, measure_inputs, public_scatter
from tacit.linear.linear_fit import InputSpread
from tacit.linear.newton import SIGNAL, Newton, default_iterations
from tacit.linear.problem import (
    Penalty,
    Problem,
    Solution,
    Solver,
    count_releases,
    noise_of_one_release,
    widen_rare_levels,
)
from tacit.privacy import Budget, Relation, Sampled, Step
from tacit.release import Curator, RowMap
from tacit.sources import Source
from tacit.tables import Domain

# What the parameter ``solver`` of an estimator may be: words for the library's own solvers, and for published ones.
OWN_SOLVERS = ("newton", "accmd")
PUBLISHED_SOLVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gradient": ("GradientDescent", {}),
    "sgd": ("SGD", {}),
    "svrg": ("SVRG", {}),
    "katyusha": ("Katyusha", {}),
    "svrg++": ("SVRGPlusPlus", {}),
    "robust": ("RobustSGD", {}),
    "output": ("OutputPerturbation", {}),
    "objective": ("ObjectivePerturbation", {}),
    "frank_wolfe": ("FrankWolfe", {}),
}

# Part of the budget for the moments of inputs, as squared signal-to-noise ratio. benchmarks/logistic_regression.py
# measures what it gives.
_MOMENTS_PART = 0.15


def start_at_zero(scatter: Scatter, coordinates: Coordinates) -> tuple[float, Array]:
    """Return no intercept and no slopes."""
    return 0.0, np.zeros(coordinates.columns)


@dataclass(frozen=True, eq=False)
class Risk:
    """A mean loss of linear predictions, what is added to it, and what is known of it.

    Parameters
    ----------
    loss : PredictionLoss
    target_maps : callable
        Of a :class:`Scatter`: what targets in standard coordinates pass through once inputs and target are measured.
    target_unit : float
        The public unit of the target, or NaN.
    ridge : callable
        Of the number of rows: what half of the squared coefficients are multiplied by, beside the mean loss.
    start : callable, optional
        Of a :class:`Scatter` and :class:`Coordinates`: the intercept and the slopes to start with.
    signal : callable, optional
        Of a :class:`Scatter`: how large predictions are expected to be, as a standard deviation.
    penalty : Penalty, optional
        What else is added to the mean loss, of coefficients on inputs in standard coordinates.
    proven : bool, default True
        Whether the loss is convex, and as steep and curved as it says, by proof and not by declaration.
    smooth : bool, default False
        Whether the loss has two continuous derivatives.
    """

    loss: Any
    target_maps: Callable[[Scatter], Sequence[RowMap]]
    target_unit: float
    ridge: Callable[[float], float]
    start: Callable[[Scatter, Coordinates], tuple[float, Array]] = start_at_zero
    signal: Callable[[Scatter], float] = lambda scatter: SIGNAL
    penalty: Penalty | None = None
    proven: bool = True
    smooth: bool = False


@dataclass(frozen=True, eq=False)
class RiskFit:
    """What minimising a risk came to: all of it private values.

    Parameters
    ----------
    curator : Curator
    problem : Problem
    scatter : Scatter
        Where inputs and target lie.
    solution : Solution
        In the coordinates of the problem.
    iterations : int
    spread : InputSpread or None
        Where inputs lie in the units of the rows, where it was measured.
    """

    curator: Curator
    problem: Problem
    scatter: Scatter
    solution: Solution
    iterations: int
    spread: InputSpread | None

    @property
    def coefficients(self) -> Array:
        """Coefficients (K, 1 + d) on inputs in standard coordinates."""
        return np.ascontiguousarray(self.problem.coordinates.to_standard(self.solution.coefficients))

    def covariance_in_units(self, domain: Domain) -> Array | None:
        """Return the covariance of all coefficients in the units of the rows, intercepts first, where it is known."""
        if self.solution.covariance is None:
            return None
        outputs, wide = self.problem.begin.shape
        intercepts, slopes = in_units(self.problem.coordinates.to_standard(np.eye(wide)), domain)
        change = np.kron(np.eye(outputs), np.column_stack([intercepts, slopes]).T)
        return change @ self.solution.covariance @ change.T


def minimise_risk(
    estimator: Any, own: str, risk: Risk, domain: Domain, rows: Source, n_rows: int | None, budget: Budget
) -> RiskFit:
    """Spend the budget of an estimator that has ``solver``, ``n_iter`` and ``fit_intercept``.

    `own` is the word for the library's own solver, which is used unless the estimator asks for a published one.
    """
    columns, outputs, layout = domain.columns - 1, risk.loss.outputs, input_layout(domain)
    published = find_published(estimator)
    solver = _own_solver(own, estimator.n_iter, columns) if published is None else published
    word = own if published is None else estimator.solver
    if refusal := solver.refusal(risk):
        raise ValueError(f"solver={word!r} {refusal}")
    size = outputs * (1 + columns)
    shares = count_shares(n_rows, size, budget, estimator.neighbors)
    inputs = InputSchedule(layout, estimator.neighbors, n_rows, _MOMENTS_PART, shares)
    power = 1 - _MOMENTS_PART
    steps = [*(inputs.steps() if solver.measures_inputs else []), *solver.steps(size, power, shares)]
    steps = [_to_scale(step, estimator.neighbors) for step in steps]
    name = type(estimator).__name__
    curator = estimator._curator(rows, domain, steps, budget, f"{name}(solver={word!r})")
    least_variances = domain.least_variances
    estimator._enter(curator, domain)
    known = estimator._domain
    with progress(estimator.verbose, f"Fitting {name}") as watch:
        scatter, spread = public_scatter(columns, n_rows), None
        if solver.measures_inputs:
            scatter = measure_inputs(curator, inputs, risk.target_unit, least_variances)
            spread = scatter.inputs.in_units(known.centre, known.scale)
        noise = noise_of_one_release(curator.plan, steps, power)
        problem = _problem(risk, scatter, known, bool(estimator.fit_intercept), noise, shares)
        curator.map_rows(problem.coordinates.row_map)
        for row_map in risk.target_maps(scatter):
            curator.map_rows(row_map)
        solution = solver.solve(problem, curator, count_releases(watch, solver.releases))
    solution = widen_rare_levels(solution, problem, scatter, layout.levels, risk.signal(scatter))
    return RiskFit(curator, problem, scatter, solution, solver.rounds, spread)


def _own_solver(word: str, n_iter: int | str, columns: int) -> Solver:
    """Return one of the library's own solvers."""
    if word == "newton":
        return Newton(default_iterations(columns) if n_iter == "auto" else int(n_iter))
    return AcceleratedDescent() if n_iter == "auto" else AcceleratedDescent(int(n_iter))


def _problem(risk: Risk, scatter: Scatter, domain: Domain, intercept: bool, noise: float, shares: int) -> Problem:
    """Return what the solver is given: in white coordinates, or in standard ones where there is a penalty."""
    if risk.penalty is None:
        coordinates = Coordinates.white(scatter, risk.signal(scatter), noise)
    else:
        coordinates = Coordinates.standard(scatter, risk.signal(scatter))
    if not intercept:  # Predictions are zero where all inputs are.
        coordinates = coordinates.about(-domain.centre / domain.scale)
    wide = 1 + len(domain.scale)
    ridge = np.zeros((wide, wide))
    if strength := risk.ridge(coordinates.rows):
        on_slopes = coordinates.whitener / domain.scale
        ridge[1:, 1:] = strength * on_slopes @ on_slopes.T
    begin = np.zeros((risk.loss.outputs, wide))
    first, slopes = risk.start(scatter, coordinates)
    begin[:, 0], begin[:, 1:] = float(intercept) * first, slopes
    return Problem(
        risk.loss, coordinates, begin, float(intercept), ridge, noise, risk.penalty, shares, scatter.most_rows
    )


def in_units(coefficients: Array, domain: Domain) -> tuple[Array, Array]:
    """Return intercepts and slopes in the units of the rows, from coefficients (K, 1 + d) in standard coordinates."""
    slopes = coefficients[:, 1:] / domain.scale
    return coefficients[:, 0] - slopes @ domain.centre, slopes


def _to_scale(step: Step, neighbors: Relation) -> Step:
    """Return a step with noise that has the right proportion to other steps' under this relation.

    Where a row is replaced, sums move by twice what a row adds. Of all steps, those of sampled rows alone state their
    noise in units of what a row adds under both relations.
    """
    if neighbors == "replace_one" and isinstance(step, Sampled):
        return step.scaled(2.0)
    return step
