"""How an attacker tells two data sets apart: scores learned from outputs of both.

Each distinguisher maps outputs, one row a run, to scores that are higher where the neighbour looks more likely. Any
score gives a valid audit; a score near the likelihood ratio gives a sharp one. Three are tried: a linear discriminant
(best for Gaussian noise), one with squares (the neighbours differ in spread), and boosted trees (discrete outputs,
exact values that noise should have hidden, kinks).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier

from tacit.arrays import Array

Score = Callable[[Array], Array]


def learn_scores(data_outputs: Array, neighbor_outputs: Array) -> dict[str, Score]:
    """Learn one score of each kind from outputs on the data set and on its neighbour.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = learn_scores(rng.normal(0, 1, (500, 1)), rng.normal(2, 1, (500, 1)))
    >>> sorted(scores)
    ['linear', 'quadratic', 'trees']
    >>> low, high = scores["linear"](np.array([[0.0], [2.0]]))
    >>> bool(low < high)
    True
    """
    outputs = np.concatenate([data_outputs, neighbor_outputs])
    labels = np.repeat([0, 1], [len(data_outputs), len(neighbor_outputs)])
    standardise = _standardiser(outputs)
    # Trees cannot learn from a column without numbers, so they see whether it has any.
    unseen = np.isnan(outputs).all(axis=0)

    def with_squares(rows: Array) -> Array:
        features = standardise(rows)
        return np.hstack([features, features**2])

    return {
        "linear": _fit(LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), standardise, outputs, labels),
        "quadratic": _fit(LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), with_squares, outputs, labels),
        # Trees see the raw outputs: they need no scale, and standardising could merge different values.
        "trees": _fit(
            HistGradientBoostingClassifier(
                max_iter=40, early_stopping=False, random_state=0, min_samples_leaf=max(2, min(20, len(outputs) // 6))
            ),
            lambda rows: np.where(unseen, ~np.isnan(rows), np.clip(rows, -1e300, 1e300)),
            outputs,
            labels,
        ),
    }


def _fit(model: Any, features: Score, outputs: Array, labels: NDArray[np.int64]) -> Score:
    def quietly(function: Callable[[Array], Any], rows: Array) -> Any:
        # Constant or collinear outputs make a discriminant useless, but not wrong. Its score is judged like any other.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(rows)

    quietly(lambda rows: model.fit(rows, labels), features(outputs))
    return lambda rows: np.nan_to_num(quietly(model.decision_function, features(rows)))


def _standardiser(outputs: Array) -> Score:
    """Return a function that standardises columns that vary, and flags values that are not finite in extra columns."""
    finite = np.where(np.isfinite(outputs), outputs, np.nan)
    flagged = np.isnan(finite).any(axis=0)
    finite[:, np.isnan(finite).all(axis=0)] = 0.0
    low, centre, high = np.nanquantile(finite, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(high > low, high - low, np.nanstd(finite, axis=0))
    varying = (spread > 0) & np.isfinite(spread)

    def standardise(rows: Array) -> Array:
        known = np.isfinite(rows)
        scaled = ((np.where(known, rows, centre) - centre)[:, varying] / spread[varying]).clip(-20.0, 20.0)
        # The constant column is there for outputs in which nothing varies.
        return np.hstack([scaled, ~known[:, flagged], np.ones((len(rows), 1))])

    return standardise
