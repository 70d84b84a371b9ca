"""What :mod:`experiments.convex_erm` runs: penalised logistic regression by the library's solvers, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.optimize import minimize

import tacit
from tacit.linear import ConvexLoss, ElasticNetPenalty
from tacit.linear.accelerated_descent import AcceleratedDescent
from tacit.linear.newton import Newton
from tacit.linear.problem import AfterRelease, Problem, Solution, Solver
from tacit.linear.risk import PUBLISHED_SOLVERS
from tacit.privacy import Budget, Gaussian
from tacit.published.variance_reduced import DIFFERENCE
from tacit.release import Curator, calibrated_plan

STRENGTH, DELTA = 1e-4, 1e-4
Trace = list[tuple[float, np.ndarray]]  # Number of gradients divided by the number of rows, and coefficients.


def objective(theta: np.ndarray, signed: np.ndarray, lasso: bool) -> float:
    """Return the mean loss and what is added to it; rows are times their labels."""
    added = STRENGTH / 2 * float(np.abs(theta).sum() if lasso else theta @ theta)
    return float(np.mean(np.logaddexp(0.0, -(signed @ theta)))) + added


def least(signed: np.ndarray, lasso: bool) -> float:
    """Return the least objective there is."""
    return float(minimum(signed, lasso).fun)


def minimum(signed: np.ndarray, lasso: bool) -> Any:
    """Return where the objective is least; with |theta| written as the sum of two positive parts."""
    n, p = signed.shape

    def smooth(theta: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signed @ theta
        return float(np.mean(np.logaddexp(0.0, -margins))), -(signed.T @ (1 / (1 + np.exp(margins)))) / n

    def ridged(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = smooth(theta)
        return value + STRENGTH / 2 * float(theta @ theta), gradient + STRENGTH * theta

    def parts(both: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = smooth(both[:p] - both[p:])
        return value + STRENGTH / 2 * float(both.sum()), np.concatenate([gradient, -gradient]) + STRENGTH / 2

    options = {"maxiter": 3000, "ftol": 1e-14, "gtol": 1e-9}
    if lasso:
        limits = [(0, None)] * (2 * p)
        return minimize(parts, np.zeros(2 * p), jac=True, method="L-BFGS-B", bounds=limits, options=options)
    return minimize(ridged, np.zeros(p), jac=True, method="L-BFGS-B", options=options)


def perturbed(signed: np.ndarray, epsilon: float, seed: int) -> tuple[float, np.ndarray]:
    """Return passes and coefficients of output perturbation, the thesis's DP-GD: the minimum with ridge, and noise.

    A row that is replaced moves the minimum by 2 / (n lambda) at most, gradients being of length 1 at most. The search
    is taken to be exact, which it is to many digits.
    """
    found = minimum(signed, lasso=False)
    multiplier = calibrated_plan([Gaussian("minimum", 1.0)], Budget(epsilon, DELTA)).steps[0].noise_multiplier
    noise = multiplier * 2 / (len(signed) * STRENGTH)
    return float(found.nfev), found.x + noise * np.random.default_rng(seed).normal(size=len(found.x))


def _sides(labels: np.ndarray) -> np.ndarray:
    return np.where(labels > 0, 1.0, -1.0)


LOGISTIC = ConvexLoss(
    value=lambda prediction, label: np.logaddexp(0.0, -_sides(label) * prediction),
    slope=lambda prediction, label: (np.tanh(prediction / 2) - _sides(label)) / 2,
    lipschitz=1.0,
    smoothness=0.25,
)


def fitted(solver: str, X: np.ndarray, y: np.ndarray, epsilon: float, seed: int, lasso: bool, **options: Any) -> Any:
    """Fit by one of the library's solvers."""
    options = {"solver": solver, "epsilon": epsilon, "delta": DELTA, "random_state": seed, "bounds": 1.0, **options}
    if lasso:
        penalty = ElasticNetPenalty(l1=STRENGTH / 2)
        return tacit.ERM(LOGISTIC, regularizer=penalty, fit_intercept=False, target_bounds=1.0, **options).fit(X, y)
    C = 1 / (STRENGTH * len(X))
    return tacit.LogisticRegression(classes=[-1, 1], C=C, fit_intercept=False, **options).fit(X, y.astype(int))


@contextmanager
def traced(solver: str) -> Iterator[Trace]:
    """Keep passes so far and coefficients after each release of a solver: all of them private values."""
    own: dict[str, type[Solver]] = {"newton": Newton, "accmd": AcceleratedDescent}
    kind = own[solver] if solver in own else getattr(tacit.published, PUBLISHED_SOLVERS[solver][0])
    plain, trace = kind.solve, Trace()

    def solve(self: Any, problem: Problem, curator: Curator, after: AfterRelease) -> Solution:
        def keep(step: str, coefficients: np.ndarray) -> None:
            after(step, coefficients)
            cost = 2 * self.sampling_rate if step == DIFFERENCE else self.sampling_rate if solver == "sgd" else 1.0
            place = problem.coordinates.to_standard(coefficients)[0, 1:]
            trace.append(((trace[-1][0] if trace else 0.0) + cost, place))

        return plain(self, problem, curator, keep)

    kind.solve = solve
    try:
        yield trace
    finally:
        kind.solve = plain
