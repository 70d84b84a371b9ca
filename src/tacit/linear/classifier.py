"""What linear classifiers share: classes that are public knowledge, and predictions of them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from tacit.arrays import Array
from tacit.fitting import check_budget, float_array
from tacit.fitting.published import find_published
from tacit.fitting.target import Classes, check_target_given, open_with_target, score_predictions
from tacit.linear.coordinates import Coordinates, Scatter, target_map
from tacit.linear.evidence import evidence_of_solution
from tacit.linear.linear_fit import linear_predictions, restore_predictor, stored_predictor
from tacit.linear.risk import Risk, RiskFit, in_units, minimise_risk, start_at_zero
from tacit.messages import describe
from tacit.privacy import Budget
from tacit.release import RoundTarget, RowMap
from tacit.sources import Source
from tacit.tables import Boolean, Categorical, Domain, Schema

# benchmarks/arena.py measures what this number gives, on real tables. Where a class is rarer, Newton steps from its
# frequency overshoot, as the loss is far less curved there than where groups of rows have the class more often.
_MOST_CERTAIN = 0.8  # Largest difference of the frequencies of two classes that the intercept starts from.


def check_classifier(estimator: Any) -> Any:
    """Refuse, in a sentence, parameters that make no sense; return the budget."""
    find_published(estimator)
    if not isinstance(estimator.C, numbers.Real) or isinstance(estimator.C, bool) or not estimator.C > 0:
        raise ValueError(f"C must be a positive number, and it is {describe(estimator.C)}.")
    return check_budget(estimator)


def public_classes(estimator: Any, y: Any) -> Any:
    """Return all labels that could occur, in ascending order: from the schema, or from the parameter."""
    if isinstance(estimator.bounds, Schema) and isinstance(y, str) and y in estimator.bounds.used:
        column = estimator.bounds.columns[y]
        if isinstance(column, Categorical):
            return np.array(column.levels)
        if isinstance(column, Boolean):
            return np.array([False, True])
        raise ValueError(f"The schema says that {y!r} is a number; a class must be a category or true or false.")
    if estimator.classes is None:
        raise ValueError(
            "classes is missing. List all labels that could occur, from what is known without looking at the rows; "
            "or pass a tacit.Schema as bounds, and the name of a column with levels as y."
        )
    classes = np.unique(np.asarray(estimator.classes))
    if classes.ndim != 1 or len(classes) < 2 or len(classes) != len(estimator.classes):
        raise ValueError(f"classes must be two or more different labels, and they are {describe(estimator.classes)}.")
    return classes


def class_weights(estimator: Any, labels: Any) -> tuple[float, ...]:
    """Return what rows of each class count for."""
    if estimator.class_weight is None:
        return (1.0,) * len(labels)
    if not isinstance(estimator.class_weight, Mapping):
        raise ValueError(
            'class_weight must be None or a dictionary of weights by class. Weights such as "balanced" would have '
            f"to be worked out from the rows; it is {describe(estimator.class_weight)}."
        )
    known = labels.tolist()
    if any(label not in known for label in estimator.class_weight):
        raise ValueError("class_weight has weights of labels that are none of the classes.")
    weights = float_array([estimator.class_weight.get(label, 1.0) for label in known])
    if weights is None or weights.ndim != 1 or not ((weights > 0) & (weights < math.inf)).all():
        raise ValueError("Weights of classes must be positive, finite numbers.")
    return tuple(weights.tolist())


def open_with_classes(estimator: Any, X: Any, y: Any) -> tuple[Domain, Source, tuple[float, ...]]:
    """Set ``classes_``; return the domain, the rows with the number of the class last, and the weights of classes."""
    check_target_given(estimator, y)
    estimator.classes_ = public_classes(estimator, y)
    weights = class_weights(estimator, estimator.classes_)
    return *open_with_target(estimator, X, y, Classes(estimator.classes_)), weights


def fit_classifier(
    estimator: Any, loss: Any, smooth: bool, domain: Domain, rows: Source, n_rows: int | None, budget: Budget
) -> RiskFit:
    """Minimise the mean loss and the ridge of strength 1 / C, and set the estimator's coefficients."""

    def to_codes(scatter: Scatter) -> list[RowMap]:
        """Return what makes targets the number of the class; private bounds may have moved them."""
        centre, scale = estimator._target
        unit = 2.0 / (scale * (len(estimator.classes_) - 1))
        return [target_map(estimator._domain.columns, -(1.0 + centre) / scale, unit), RoundTarget()]

    def log_odds(scatter: Scatter, coordinates: Coordinates) -> tuple[float, Array]:
        """Return the intercept that the frequencies of two classes imply, and no slopes."""
        centre, scale = estimator._target
        mean = float(np.clip(centre + scale * scatter.mean[-1], -_MOST_CERTAIN, _MOST_CERTAIN))
        return math.log((1 + mean) / (1 - mean)), np.zeros(coordinates.columns)

    risk = Risk(
        loss,
        to_codes,
        target_unit=1.0,
        ridge=lambda rows: 1 / (estimator.C * rows) if math.isfinite(estimator.C) else 0.0,
        start=log_odds if len(estimator.classes_) == 2 else start_at_zero,
        smooth=smooth,
    )
    fit = minimise_risk(estimator, estimator.solver, risk, domain, rows, n_rows, budget)
    estimator.n_iter_, estimator._coefficients, estimator._spread = fit.iterations, fit.coefficients, fit.spread
    estimator._evidence, estimator._known_rows = evidence_of_solution(fit.solution, fit.scatter), fit.problem.rows
    estimator._mean_class = estimator._target[0] + estimator._target[1] * float(fit.scatter.mean[-1])
    estimator.intercept_, estimator.coef_ = in_units(estimator._coefficients, estimator._domain)
    return fit


class LinearClassifierMixin(ClassifierMixin):
    """Predictions of classes, and how a classifier is stored, for estimators with ``classes_``."""

    def decision_function(self, X: Any) -> Array:
        """Return predictions: one for each row with two classes, of the second; one for each class with more."""
        scores = linear_predictions(self, X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """Return the likeliest class of each row."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[places]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the proportion of rows whose class is predicted."""
        return score_predictions("accuracy_score", y, self.predict(X), sample_weight)

    def _stored(self) -> dict[str, Any]:
        return {"classes": self.classes_.tolist(), "predictor": stored_predictor(self)}

    def _restore(self, values: dict[str, Any]) -> None:
        check_classifier(self)
        names = self._joint.names
        self.classes_ = public_classes(self, None if names is None else names[-1])
        if values["classes"] != self.classes_.tolist():
            raise ValueError("classes are not those that the parameters or the schema have")
        class_weights(self, self.classes_)
        restore_predictor(self, values["predictor"], 1 if len(self.classes_) == 2 else len(self.classes_))
        self.intercept_, self.coef_ = in_units(self._coefficients, self._domain)
