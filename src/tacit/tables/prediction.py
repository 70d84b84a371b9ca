"""What a model learns from synthetic rows about real ones: trained on synthetic, tested on real. Not private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.sources.names import check_selection
from tacit.tables.columns import Categorical, Numeric
from tacit.tables.differences import ComparedRows
from tacit.tables.schema import Schema

_MOST_LEVELS = 255  # Scikit-learn's trees take categories with at most this many levels.
_LEAST_ROWS = 4  # Fewer rows cannot be divided into rows to train on and rows to test on.
_SETTINGS = {"early_stopping": False, "random_state": 0}  # The same rows give the same trees.


@dataclass(frozen=True)
class Score:
    """How well a column of real rows is predicted from the others.

    Attributes
    ----------
    measure : {"accuracy", "AUC", "R²"}
        AUC is of each level against the others, weighted by how frequent it is.
    from_synthetic, from_real : float
        The scores of a model trained on the synthetic rows, and of one trained on one half of the real rows; both are
        tested on the other half.
    from_nothing : float
        The score of always giving the same answer.
    """

    measure: str
    from_synthetic: float
    from_real: float
    from_nothing: float


def scores(real: ComparedRows, synthetic: ComparedRows, schema: Schema, target: str) -> tuple[Score, ...]:
    """Train gradient boosted trees on both tables and test them on real rows that neither has seen.

    The real rows are halved by lot, always the same; rows without a target are left out.
    """
    check_selection([target], schema.used)
    inputs = [name for name in schema.used if name != target]
    if not inputs:
        raise ValueError(f"There is no column but {target!r}, so that there is nothing to predict it from.")
    (X, y), (X_synthetic, y_synthetic) = (_examples(rows, inputs, target) for rows in (real, synthetic))
    if len(y) < _LEAST_ROWS or not len(y_synthetic):
        raise ValueError(f"There are too few rows with a value of {target!r} to learn from.")
    lot = np.random.default_rng(0).permutation(len(y))
    train, test = lot[: len(y) // 2], lot[len(y) // 2 :]
    tables = ((X_synthetic, y_synthetic), (X[train], y[train]))
    categories = [_is_small_category(schema, name) for name in inputs]
    if isinstance(schema.columns[target], Numeric):
        return (_regression_score(tables, (X[test], y[test]), categories),)
    return _classification_scores(tables, (X[test], y[test].astype(np.intp)), categories)


def _examples(rows: ComparedRows, inputs: list[str], target: str) -> tuple[Array, Array]:
    known = ~np.isnan(rows[target])
    return np.column_stack([rows[name] for name in inputs])[known], rows[target][known]


def _is_small_category(schema: Schema, name: str) -> bool:
    column = schema.columns[name]
    return isinstance(column, Categorical) and len(column.levels) <= _MOST_LEVELS


def _regression_score(tables: Any, test: tuple[Array, Array], categories: list[bool]) -> Score:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.metrics import r2_score

    def score(X: Array, y: Array) -> float:
        model = HistGradientBoostingRegressor(categorical_features=categories, **_SETTINGS)
        return float(r2_score(test[1], model.fit(X, y).predict(test[0])))

    return Score("R²", *(score(*table) for table in tables), 0.0)


def _classification_scores(
    tables: Any, test: tuple[Array, NDArray[np.intp]], categories: list[bool]
) -> tuple[Score, Score]:
    (X_test, y_test), (_, (_, y_train)) = test, tables
    levels = 1 + int(max(y_test.max(), *(y.max() for _, y in tables)))
    probabilities = [_probabilities(X, y.astype(np.intp), X_test, levels, categories) for X, y in tables]
    accuracies = [float((each.argmax(axis=1) == y_test).mean()) for each in probabilities]
    commonest = np.bincount(y_train.astype(np.intp)).argmax()
    return (
        Score("accuracy", *accuracies, float((y_test == commonest).mean())),
        Score("AUC", *(_auc(y_test, each) for each in probabilities), 0.5),
    )


def _probabilities(X: Array, y: NDArray[np.intp], X_test: Array, levels: int, categories: list[bool]) -> Array:
    """Return the probability of each level for the tested rows, (rows, levels); 0 for a level that was never seen."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    probabilities = np.zeros((len(X_test), levels))
    if (y == y[0]).all():
        probabilities[:, y[0]] = 1.0
        return probabilities
    rounds = max(20, min(100, 200 // levels))  # Each round grows a tree for each level.
    model = HistGradientBoostingClassifier(max_iter=rounds, categorical_features=categories, **_SETTINGS).fit(X, y)
    probabilities[:, model.classes_] = model.predict_proba(X_test)
    return probabilities


def _auc(levels: NDArray[np.intp], probabilities: Array) -> float:
    from sklearn.metrics import roc_auc_score

    occurring, counts = np.unique(levels, return_counts=True)
    if len(occurring) < 2:
        return 0.5
    each = [roc_auc_score(levels == level, probabilities[:, level]) for level in occurring]
    return float(np.average(each, weights=counts))
