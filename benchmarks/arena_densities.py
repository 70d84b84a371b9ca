"""Families of the arena that predict nothing: densities, clusters, moments, mixtures of regressions and whole tables.

See arena_families.py for what a family is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn import cluster, decomposition, mixture
from sklearn.preprocessing import StandardScaler

import tacit
from arena_tables import Problem, Table, predict_column
from tacit.tables import Categorical, Integer, Numeric, Schema, compare

COMPONENTS, CLUSTERS, FACTORS, REGRESSIONS = 4, 8, 2, 2
FEW_COLUMNS, FEW_INPUTS, TABLE_COLUMNS = 8, 5, 12  # Mixtures, clusters and factors; mixtures of regressions; tables.
FLOOR = 1e-3  # A share of a column's variance, or of the target's spread, so that collinear rows have densities.
EM_STEPS, EM_STARTS = 50, 3


# Densities and clusters of rows


def few_columns(table: Table, least: int = 2) -> list[Problem]:
    """Return the first continuous columns, with bounds at 0 and 1."""
    places = table.continuous[:FEW_COLUMNS]
    low, width = table.low[places], (table.high - table.low)[places]
    fit, judge = ((rows[:, places] - low) / width for rows in (table.train, table.test))
    return [Problem("", fit, judge, (0.0, 1.0))] if len(places) >= least else []


def plain_mixture(problem: Problem, components: int = COMPONENTS) -> np.ndarray:
    model = mixture.GaussianMixture(components, n_init=2, random_state=0, reg_covar=1e-6)
    return model.fit(problem.fit).score_samples(problem.judge)


def private_mixture(problem: Problem, budget: dict[str, Any]) -> np.ndarray:
    model = tacit.GaussianMixture(COMPONENTS, bounds=problem.bounds, **budget)
    return model.fit(problem.fit).score_samples(problem.judge)


def mean_density(problem: Problem, answer: np.ndarray) -> float:
    return float(np.mean(answer))


def plain_kmeans(problem: Problem) -> np.ndarray:
    return cluster.KMeans(CLUSTERS, n_init=3, random_state=0).fit(problem.fit).cluster_centers_


def private_kmeans(problem: Problem, budget: dict[str, Any]) -> np.ndarray:
    return tacit.KMeans(CLUSTERS, bounds=problem.bounds, **budget).fit(problem.fit).cluster_centers_


def inertia_explained(problem: Problem, centres: np.ndarray) -> float:
    """Return the share of squared distances from the mean that centres take away."""

    def squares(points: np.ndarray) -> float:
        distances = (np.sum((problem.judge - point) ** 2, axis=1) for point in points)
        return float(np.mean(np.min(list(distances), axis=0)))

    return 1 - squares(centres) / squares(problem.fit.mean(axis=0)[None])


# Means and covariances


def all_columns(table: Table) -> list[Problem]:
    return [Problem("", table.train, table.test, (table.low, table.high))]


def continuous_columns(table: Table) -> list[Problem]:
    """Return the first continuous columns, if there are more than factors explain anyway."""
    places = table.continuous[:FEW_COLUMNS]
    bounds = table.low[places], table.high[places]
    return [Problem("", table.train[:, places], table.test[:, places], bounds)] if len(places) > FACTORS + 1 else []


def plain_moments(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    return problem.fit.mean(axis=0), np.cov(problem.fit.T)


def private_moments(problem: Problem, budget: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    model = tacit.Moments(bounds=problem.bounds, **budget).fit(problem.fit)
    return model.mean_, model.covariance_


def plain_factors(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    scaler = StandardScaler().fit(problem.fit)
    model = decomposition.FactorAnalysis(FACTORS, random_state=0).fit(scaler.transform(problem.fit))
    return scaler.mean_, model.get_covariance() * np.outer(scaler.scale_, scaler.scale_)


def private_factors(problem: Problem, budget: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    model = tacit.FactorAnalysis(FACTORS, bounds=problem.bounds, **budget).fit(problem.fit)
    return model.mean_, model.get_covariance()


def independent_columns(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    return problem.fit.mean(axis=0), np.diag(problem.fit.var(axis=0))


def normal_density(problem: Problem, answer: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the mean log density of a normal law, in standard deviations of columns; FLOOR is added to variances."""
    centre, scale = problem.fit.mean(axis=0), problem.fit.std(axis=0)
    mean, covariance = (answer[0] - centre) / scale, answer[1] / np.outer(scale, scale)
    values, axes = np.linalg.eigh(covariance)
    variances = np.maximum(values, 0.0) + FLOOR
    rows = ((problem.judge - centre) / scale - mean) @ axes
    return float(-0.5 * np.mean(np.sum(rows**2 / variances + np.log(2 * np.pi * variances), axis=1)))


# Mixtures of regressions: answers are weights, coefficients with the intercept first, and scales of residuals


def few_inputs(table: Table) -> list[Problem]:
    """Return one continuous column, to be predicted from a few others."""
    places = table.continuous
    if len(places) < 2:
        return []
    target = places[table.code % len(places)]
    return [predict_column(table, target, [j for j in places if j != target][:FEW_INPUTS])]


def plain_regressions(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the likeliest of several runs of EM from random starts."""
    centre, width = problem.fit.mean(axis=0), problem.fit.std(axis=0)
    inputs = np.column_stack([np.ones(len(problem.fit)), (problem.fit - centre) / width])
    target, least = problem.fit_target, FLOOR * problem.fit_target.std()
    best: tuple[float, Any] = (-np.inf, None)
    for seed in range(EM_STARTS):
        shares = np.random.default_rng(seed).dirichlet(np.ones(REGRESSIONS), len(inputs)).T
        for _ in range(EM_STEPS):
            weights = shares.mean(axis=1)
            coefficients = np.array([_least_squares(inputs, target, share) for share in shares])
            squares = (target - coefficients @ inputs.T) ** 2
            scales = np.sqrt(np.sum(shares * squares, axis=1) / np.maximum(shares.sum(axis=1), 1e-9))
            joint = _log_joint(squares, weights, np.maximum(scales, least))
            density = logsumexp(joint, axis=0)
            shares = np.exp(joint - density)
        if density.mean() > best[0]:
            slopes = coefficients[:, 1:] / width
            intercepts = coefficients[:, 0] - slopes @ centre
            best = density.mean(), (weights, np.column_stack([intercepts, slopes]), scales)
    return best[1]


def _least_squares(inputs: np.ndarray, target: np.ndarray, share: np.ndarray) -> np.ndarray:
    weighted = inputs * share[:, None]
    return np.linalg.lstsq(weighted.T @ inputs, weighted.T @ target, rcond=None)[0]


def _log_joint(squares: np.ndarray, weights: np.ndarray, scales: np.ndarray) -> np.ndarray:
    constants = np.log(np.maximum(weights, 1e-300) / scales) - 0.5 * np.log(2 * np.pi)
    return constants[:, None] - 0.5 * squares / scales[:, None] ** 2


def private_regressions(problem: Problem, budget: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    model = tacit.MixtureOfRegressions(
        REGRESSIONS, bounds=problem.bounds, target_bounds=problem.target_bounds, **budget
    ).fit(problem.fit, problem.fit_target)
    return model.weights_, np.column_stack([model.intercept_, model.coef_]), model.scales_


def normal_target(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    coefficients = np.zeros((1, problem.fit.shape[1] + 1))
    coefficients[0, 0] = problem.fit_target.mean()
    return np.ones(1), coefficients, np.array([problem.fit_target.std()])


def density_of_target(problem: Problem, answer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> float:
    """Return the mean log density of targets, in their standard deviations; scales are FLOOR of it at least."""
    weights, coefficients, scales = answer
    said = coefficients[:, :1] + coefficients[:, 1:] @ problem.judge.T
    spread = problem.fit_target.std()
    squares = ((problem.judge_target - said) / spread) ** 2
    return float(logsumexp(_log_joint(squares, weights, np.maximum(scales / spread, FLOOR)), axis=0).mean())


# Tables with columns of all kinds: answers are rows


def whole_table(table: Table) -> list[Problem]:
    """Return the first columns as they came, with a schema."""
    frames = [frame.iloc[:, :TABLE_COLUMNS].dropna(axis=1).rename(columns=str) for frame in table.frames]
    names = [name for name in frames[0] if name in frames[1]]
    both = pd.concat([frame[names] for frame in frames])
    bounds = dict(zip(table.columns, zip(table.low, table.high)))
    schema = Schema({name: _column(both[name], bounds.get(name)) for name in names})
    return [Problem("", frames[0][names], frames[1][names], schema)] if len(names) > 1 else []


def _column(values: pd.Series, bounds: tuple[float, float] | None) -> Categorical | Integer | Numeric:
    if bounds is None:
        return Categorical(sorted(values.unique()))
    if not np.allclose(values, np.round(values)):
        return Numeric(*bounds)
    return Integer(0, 1) if set(values.unique()) <= {0.0, 1.0} else Integer(*map(int, bounds))


def private_table(problem: Problem, budget: dict[str, Any]) -> Any:
    seed = budget["random_state"]
    return tacit.TableModel(bounds=problem.bounds, **budget).fit(problem.fit).sample(len(problem.fit), seed)


def shuffled(problem: Problem) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({name: rng.permutation(problem.fit[name]) for name in problem.fit})


def agreement_of_pairs(problem: Problem, answer: Any) -> float:
    """Return the mean total variation of pairs of columns from that of the rows held out, below 0."""
    return -compare(problem.judge, answer, schema=problem.bounds).pair_error
