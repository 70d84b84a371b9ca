"""A simulated table of groups that respond differently, and how private regressions of it are judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp

from tacit.arrays import Array
from tacit.models.trials.simulation import Setting, mixture_rows, random_mixture
from tacit.models.trials.trial import TEST_ROWS, SimulatedTable
from tacit.regressions import MixtureOfRegressions
from tacit.regressions.regressions import Regressions

__all__ = ["draw", "draw_line"]


_SPREAD, _LEFT = 0.25, 0.1  # Standard deviations of what inputs explain, and of residuals, in half ranges.
_RARE = 0.05  # Added to standard deviations, so that rare levels do not decide.
_ROUNDS = 50  # Most rounds of expectation-maximisation.
_SETTLED = 1e-4  # It ends when the log-likelihood per row changes by less.
_RIDGE = 1e-6  # Added to squared residuals, and to second moments of inputs.
_FOUND = 1.0  # A group counts as found if predictions are within this many standard deviations of residuals.


def draw(setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator) -> SimulatedTable:
    """Return a table of groups, and what private regressions lose beside expectation-maximisation from the truth."""
    train, (test, inputs), ordinary, best = _draw_tables(setting, rows, size, TEST_ROWS, rng)
    units = np.log(setting.domain.scale[setting.target_place])

    def judge(private: Any) -> dict[str, float]:
        gap = float(best.mean() - units - private.log_density(*_split(setting, test)).mean())
        return {"gap": gap} | _errors(private, ordinary, inputs)

    return _simulated_table(setting, train, judge)


def draw_line(
    setting: Setting, rows: int, size: None, options: dict[str, Any], rng: np.random.Generator
) -> SimulatedTable:
    """Return a table that one regression explains, and how far a private one is from least squares."""
    train, (test, inputs), ordinary, _ = _draw_tables(setting, rows, 1, TEST_ROWS, rng)
    centre, scale = setting.domain.centre[setting.target_place], setting.domain.scale[setting.target_place]
    table, observed = _split(setting, test)
    best = centre + scale * _predict(ordinary, inputs)[0]

    def judge(private: Any) -> dict[str, float]:
        predicted = private.predict(table)
        lost = np.mean((observed - predicted) ** 2) - np.mean((observed - best) ** 2)
        off = np.sqrt(np.mean((predicted - best) ** 2)) / (scale * ordinary.scales[0])
        return {"prediction_error": float(off), "explained_lost": float(lost / np.var(observed))}

    return _simulated_table(setting, train, judge)


def _split(setting: Setting, table: Any) -> tuple[Any, Any]:
    """Return rows, and the target by itself."""
    if setting.target is not None:
        return table, table[setting.target].to_numpy()
    return table[:, :-1], table[:, -1]


def _simulated_table(setting: Setting, train: Any, judge: Callable[[Any], dict[str, float]]) -> SimulatedTable:
    if setting.target is not None:
        return SimulatedTable(train, judge, (setting.target,))
    X, y = _split(setting, train)
    return SimulatedTable(X, judge, (y,))


def random_regressions(count: int, inputs: Array, rng: np.random.Generator) -> Regressions:
    """Return groups that respond differently to inputs like these."""
    slopes = rng.normal(size=(count, inputs.shape[1])) / (inputs.std(axis=0) + _RARE)
    slopes *= _SPREAD / (slopes @ inputs.T).std(axis=1, keepdims=True)
    intercepts = rng.uniform(-_SPREAD, _SPREAD, count) - slopes @ inputs.mean(axis=0)
    weights = rng.dirichlet(np.full(count, 5.0))
    return Regressions(weights, np.column_stack([intercepts, slopes]), np.full(count, _LEFT))


def _with_target(setting: Setting, truth: Regressions, z: Array, rng: np.random.Generator) -> tuple[Any, Array, Array]:
    """Return rows as an estimator gets them, and inputs and target as it encodes them."""
    place = setting.target_place
    inputs = np.delete(setting.table(z)[1], place, axis=1)
    groups = rng.choice(truth.count, len(z), p=truth.weights)
    predicted = _predict(truth, inputs)[groups, np.arange(len(z))]
    z[:, place] = predicted + truth.scales[groups] * rng.normal(size=len(z))
    rows, encoded = setting.table(z)
    return rows, np.delete(encoded, place, axis=1), encoded[:, place]


def _draw_tables(
    setting: Setting, rows: int, size: int, tests: int, rng: np.random.Generator
) -> tuple[Any, Any, Any, Array]:
    """Return what is fitted, what is judged by, EM's regressions, and what all of the latter's log densities are."""
    wide = setting.domain.columns
    if wide < 2:
        raise ValueError("A regression takes a column to explain and one that explains it: plan for 2 columns or more.")
    shape = random_mixture(1, "full", setting.domain, rng)
    pilot = np.delete(setting.table(mixture_rows(shape, tests, rng)[0])[1], setting.target_place, axis=1)
    truth = random_regressions(size, pilot, rng)
    train, X, y = _with_target(setting, truth, mixture_rows(shape, rows, rng)[0], rng)
    test, X_test, y_test = _with_target(setting, truth, mixture_rows(shape, tests, rng)[0], rng)
    ordinary = ordinary_regressions(truth, X, y)
    return train, (test, X_test), ordinary, logsumexp(_log_joint(ordinary, X_test, y_test), axis=0)


def _errors(private: MixtureOfRegressions, ordinary: Regressions, X: Array) -> dict[str, float]:
    """Return the errors of predictions and of weights, and how many groups were found, the best pairing assumed.

    Predictions and not coefficients, as levels have one in common that no table can tell.
    """
    found = private._regressions
    apart = _predict(found, X)[None] - _predict(ordinary, X)[:, None]
    off = np.sqrt(np.mean(apart**2, axis=2)) / ordinary.scales[:, None]
    at, partners = linear_sum_assignment(np.minimum(off, 1e6))
    return {
        "prediction_error": float(off[at, partners] @ ordinary.weights),
        "weight_error": float(0.5 * np.abs(found.weights[partners] - ordinary.weights).sum()),
        "found": float((off[at, partners] < _FOUND).sum()),
    }


def ordinary_regressions(start: Regressions, X: Array, y: Array) -> Regressions:
    """Fit regressions without privacy, from the truth: what expectation-maximisation finds with the best of luck."""
    design, parts, last = np.column_stack([np.ones(len(X)), X]), start, -np.inf
    for _ in range(_ROUNDS):
        joint = _log_joint(parts, X, y)
        total = logsumexp(joint, axis=0)
        responsibilities = np.exp(joint - total)
        counts = responsibilities.sum(axis=1) + 1e-9
        ridge = _RIDGE * len(X) * np.eye(design.shape[1])
        found = [
            np.linalg.solve((design.T * each) @ design + ridge, (design.T * each) @ y) for each in responsibilities
        ]
        residuals = y - np.stack(found) @ design.T
        scales = np.sqrt(np.sum(responsibilities * residuals**2, axis=1) / counts + _RIDGE)
        parts = Regressions(counts / counts.sum(), np.stack(found), scales)
        if abs(total.mean() - last) < _SETTLED:
            break
        last = total.mean()
    return parts


def _predict(parts: Regressions, X: Array) -> Array:
    return parts.coefficients[:, :1] + parts.coefficients[:, 1:] @ X.T


def _log_joint(parts: Regressions, X: Array, y: Array) -> Array:
    residuals = (y - _predict(parts, X)) / parts.scales[:, None]
    return np.log(parts.weights / parts.scales)[:, None] - 0.5 * np.log(2 * np.pi) - 0.5 * residuals**2
