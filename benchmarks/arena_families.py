"""The families of the arena: the problems that each has in a table, and fits to be judged by rows held out.

Every family has a plain fit, a private one, and an answer that says nothing: the mean of the target, the frequencies of
classes, independent columns, one cluster. A score is better the higher it is. Defaults everywhere: nothing is set by
what a table is like, beyond its bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn import linear_model, svm
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import log_loss, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import arena_densities as densities
import tacit
from arena_tables import Problem, Table, predict_column

DELTA = 1e-6
RARE = 30  # Labels that fewer rows have are no target.
SURE = 1e-9  # Probabilities are at least this far from 0 and 1.


class Family(NamedTuple):
    """How a family takes part. `plain`, `private` and `nothing` return answers, which `score` judges."""

    about: str
    unit: str
    problems: Callable[[Table], list[Problem]]
    plain: Callable[[Problem], Any]
    private: Callable[[Problem, dict[str, Any]], Any]
    nothing: Callable[[Problem], Any]
    score: Callable[[Problem, Any], float]


# Numbers as targets


def number_targets(table: Table) -> list[Problem]:
    """Return up to two continuous columns, to be predicted from all others."""
    places = table.continuous
    if not places:
        return []
    chosen = [places[table.code % len(places)], places[(table.code // 7 + 1) % len(places)]]
    return [predict_column(table, place, None) for place in dict.fromkeys(chosen)]


def predictions(model: Any, problem: Problem) -> np.ndarray:
    """Return what a model predicts for the rows to judge by, after being fitted."""
    return np.asarray(model.fit(problem.fit, problem.fit_target).predict(problem.judge))


def regressor(kind: type, **options: Any) -> Callable[[Problem, dict[str, Any]], np.ndarray]:
    """Return the private fit of a regression."""

    def private(problem: Problem, budget: dict[str, Any]) -> np.ndarray:
        model = kind(bounds=problem.bounds, target_bounds=problem.target_bounds, **options, **budget)
        return predictions(model, problem)

    return private


def explained(problem: Problem, answer: np.ndarray) -> float:
    """Return R squared."""
    return float(r2_score(problem.judge_target, answer))


def explained_absolutely(problem: Problem, answer: np.ndarray) -> float:
    """Return the share of the absolute error about the median that predictions take away."""
    errors = [np.abs(problem.judge_target - said).mean() for said in (answer, np.median(problem.fit_target))]
    return float(1 - errors[0] / errors[1])


def everywhere(statistic: Callable[[np.ndarray], float]) -> Callable[[Problem], np.ndarray]:
    """Return the prediction that is the same for all rows."""
    return lambda problem: np.full(len(problem.judge), statistic(problem.fit_target))


def plain_huber(problem: Problem) -> np.ndarray:
    model = make_pipeline(StandardScaler(), linear_model.HuberRegressor(max_iter=1000))
    return predictions(TransformedTargetRegressor(model, transformer=StandardScaler()), problem)


# Classes


def class_targets(table: Table) -> list[Problem]:
    """Return a column of two values, to be predicted from all others."""
    if not table.labels:
        return []
    name = sorted(table.labels)[table.code % len(table.labels)]
    rest = [j for j, other in enumerate(table.columns) if other != name and not other.startswith(f"{name}=")]
    fit_target, judge_target = table.labels[name]
    if len(rest) < 2 or min(np.bincount(fit_target, minlength=2)) < RARE:
        return []
    bounds = table.low[rest], table.high[rest]
    return [Problem(name, table.train[:, rest], table.test[:, rest], bounds, fit_target, judge_target, (0, 1))]


def plain_logistic(problem: Problem) -> np.ndarray:
    model = make_pipeline(StandardScaler(), linear_model.LogisticRegression(max_iter=3000))
    return model.fit(problem.fit, problem.fit_target).predict_proba(problem.judge)[:, 1]


def private_logistic(problem: Problem, budget: dict[str, Any]) -> np.ndarray:
    model = tacit.LogisticRegression(bounds=problem.bounds, classes=[0, 1], **budget)
    return model.fit(problem.fit, problem.fit_target).predict_proba(problem.judge)[:, 1]


def likelihood_of_labels(problem: Problem, answer: np.ndarray) -> float:
    """Return the log-loss of probabilities of class 1, below 0."""
    return -float(log_loss(problem.judge_target, np.clip(answer, SURE, 1 - SURE), labels=[0, 1]))


def plain_svc(problem: Problem) -> np.ndarray:
    return predictions(make_pipeline(StandardScaler(), svm.LinearSVC(dual=False, max_iter=3000)), problem)


def private_svc(problem: Problem, budget: dict[str, Any]) -> np.ndarray:
    return predictions(tacit.LinearSVC(bounds=problem.bounds, classes=[0, 1], **budget), problem)


def accuracy(problem: Problem, answer: np.ndarray) -> float:
    return float(np.mean(problem.judge_target == answer))


FAMILIES = {
    "linear": Family(
        "Up to two continuous columns of a table, each from all others.",
        "R²",
        number_targets,
        lambda problem: predictions(linear_model.LinearRegression(), problem),
        regressor(tacit.LinearRegression),
        everywhere(np.mean),
        explained,
    ),
    "ridge": Family(
        "Up to two continuous columns of a table, each from all others.",
        "R²",
        number_targets,
        lambda problem: predictions(linear_model.Ridge(), problem),
        regressor(tacit.Ridge),
        everywhere(np.mean),
        explained,
    ),
    "huber": Family(
        "Up to two continuous columns of a table, each from all others; saying nothing is the median.",
        "share of absolute error",
        number_targets,
        plain_huber,
        regressor(tacit.HuberRegressor),
        everywhere(np.median),
        explained_absolutely,
    ),
    "logistic": Family(
        "A column of two values from all others; saying nothing is the frequencies.",
        "log-loss",
        class_targets,
        plain_logistic,
        private_logistic,
        everywhere(np.mean),
        likelihood_of_labels,
    ),
    "svc": Family(
        "A column of two values from all others; saying nothing is the more frequent one.",
        "accuracy",
        class_targets,
        plain_svc,
        private_svc,
        everywhere(lambda y: float(np.mean(y) > 0.5)),
        accuracy,
    ),
    "mixture": Family(
        "Four components, for up to eight continuous columns; saying nothing is one Gaussian.",
        "nats per row",
        densities.few_columns,
        densities.plain_mixture,
        densities.private_mixture,
        lambda problem: densities.plain_mixture(problem, 1),
        densities.mean_density,
    ),
    "kmeans": Family(
        "Eight clusters, for up to eight continuous columns; saying nothing is their mean.",
        "share of inertia",
        densities.few_columns,
        densities.plain_kmeans,
        densities.private_kmeans,
        lambda problem: problem.fit.mean(axis=0)[None],
        densities.inertia_explained,
    ),
    "factors": Family(
        "Two factors, for up to eight continuous columns; saying nothing is independent ones.",
        "nats per row",
        densities.continuous_columns,
        densities.plain_factors,
        densities.private_factors,
        densities.independent_columns,
        densities.normal_density,
    ),
    "moments": Family(
        "The normal law of all columns, 0 and 1 included; saying nothing is independent ones.",
        "nats per row",
        densities.all_columns,
        densities.plain_moments,
        densities.private_moments,
        densities.independent_columns,
        densities.normal_density,
    ),
    "regressions": Family(
        "Two regressions of a continuous column on up to five others; saying nothing is its normal law.",
        "nats per row",
        densities.few_inputs,
        densities.plain_regressions,
        densities.private_regressions,
        densities.normal_target,
        densities.density_of_target,
    ),
    "table": Family(
        "Synthetic rows of up to twelve columns beside real ones; saying nothing is shuffled columns.",
        "total variation of pairs",
        densities.whole_table,
        lambda problem: problem.fit,
        densities.private_table,
        densities.shuffled,
        densities.agreement_of_pairs,
    ),
}
