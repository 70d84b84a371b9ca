"""What linear classifiers share: classes that are public knowledge, and targets that are one of them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from tacit.fitting import check_choices, checked_budget, float_array
from tacit.fitting.supervised import one_column, scored
from tacit.linear.coordinates import Coordinates, Scatter, target_map
from tacit.linear.linear_estimator import LinearEstimator
from tacit.linear.solvers import SOLVERS
from tacit.messages import brief, name_or_kind
from tacit.release import RoundTarget, RowMap
from tacit.sources import Source, as_source
from tacit.sources.numbers import matrix
from tacit.statistics.components import Array
from tacit.tables import Boolean, Categorical, Domain, Ignored, Schema

_MOST_CERTAIN = 0.98


class LinearClassifier(ClassifierMixin, LinearEstimator):
    """Classes, and labels as numbers of classes. Subclasses take ``classes, class_weight, C`` beside the rest."""

    target_bounds = (-1.0, 1.0)  # as what supervised estimators share asks for it

    def _checked(self) -> Any:
        check_choices(self, solver=tuple(SOLVERS))
        if not isinstance(self.C, numbers.Real) or isinstance(self.C, bool) or not self.C > 0:
            raise ValueError(f"C must be a positive number, and it is {brief(self.C)}.")
        return checked_budget(self)

    def _open_both(self, X: Any, y: Any) -> tuple[Domain, Source]:
        """Return the domain of inputs and classes, and the rows with the number of the class, from -1 to 1, last."""
        if y is None:
            return super()._open_both(X, y)
        self.classes_ = self._public_classes(y)
        self._weights = self._class_weights()
        if isinstance(self.bounds, Schema) or isinstance(y, str):
            return super()._open_both(X, y)
        as_source(X)  # which refuses X before y, in scikit-learn's order
        y = one_column(y)
        if self.classes_.dtype.kind not in "biu":  # whole numbers are labels, whatever they are
            # Not asked of y: it counts labels, and warns of many. Twice each, so that it does not warn of classes.
            check_classification_targets(np.repeat(self.classes_, 2))
        places = np.clip(np.searchsorted(self.classes_, y), 0, len(self.classes_) - 1)
        if (self.classes_[places] != y).any():
            raise ValueError(
                "y holds a label that is none of the classes. List all labels that could occur in classes, from what "
                "is known without looking at the rows."
            )
        return super()._open_both(X, self._from_codes(places))

    def _public_classes(self, y: Any) -> Any:
        if isinstance(self.bounds, Schema) and isinstance(y, str) and y in self.bounds.used:
            column = self.bounds.columns[y]
            if isinstance(column, Categorical):
                return np.array(column.levels)
            if isinstance(column, Boolean):
                return np.array([False, True])
            raise ValueError(f"The schema says that {y!r} is a number; a class must be a category or true or false.")
        if self.classes is None:
            raise ValueError(
                "classes is missing. List all labels that could occur, from what is known without looking at the rows; "
                "or pass a tacit.Schema as bounds, and the name of a column with levels as y."
            )
        classes = np.unique(np.asarray(self.classes))
        if classes.ndim != 1 or len(classes) < 2 or len(classes) != len(self.classes):
            raise ValueError(f"classes must be two or more different labels, and they are {brief(self.classes)}.")
        return classes

    def _class_weights(self) -> tuple[float, ...]:
        """Return what rows of each class count for."""
        if self.class_weight is None:
            return (1.0,) * len(self.classes_)
        if not isinstance(self.class_weight, Mapping):
            raise ValueError(
                'class_weight must be None or a dictionary of weights by class. Weights such as "balanced" would have '
                f"to be worked out from the rows; it is {brief(self.class_weight)}."
            )
        known = self.classes_.tolist()
        if any(label not in known for label in self.class_weight):
            raise ValueError("class_weight has weights of labels that are none of the classes.")
        weights = float_array([self.class_weight.get(label, 1.0) for label in known])
        if weights is None or weights.ndim != 1 or not ((weights > 0) & (weights < math.inf)).all():
            raise ValueError("Weights of classes must be positive, finite numbers.")
        return tuple(weights.tolist())

    def _open_schema(self, X: Any, y: Any) -> tuple[Domain, Source]:
        schema = self.bounds
        if not isinstance(y, str) or y not in schema.used:
            raise ValueError(
                f"With a schema, y is the name of one of its columns ({', '.join(schema.used)}), and it is "
                f"{name_or_kind(y)}."
            )
        others = {name: column for name, column in schema.columns.items() if name != y}
        joint = Schema({**others, y: schema.columns[y]})
        self._inputs = Schema({**others, y: Ignored()})  # rows to be predicted may have a class, or not
        inputs = Domain.from_schema(self._inputs)
        self.n_features_in_ = inputs.columns
        domain = Domain(np.append(inputs.centre, 0.0), np.append(inputs.scale, 1.0), False, joint, (*inputs.names, y))
        return domain, joint.encode_source(X).map(self._coded)

    def _coded(self, block: Array) -> Array:
        """Return encoded rows with one number for the class in place of what the schema has."""
        inputs, last = block[:, : self.n_features_in_], block[:, self.n_features_in_ :]
        if last.shape[1] > 1:
            last = self._from_codes(np.argmax(last, axis=1)) + 0.0 * last.sum(axis=1)
        return np.column_stack([inputs, last])

    def _joined(self, X: Any, y: Any) -> tuple[Source, tuple[str, ...] | None]:
        if not isinstance(y, str):
            return super()._joined(X, y)
        source = as_source(X)
        if source.columns is None or y not in source.columns:
            raise ValueError(f"y names the column {name_or_kind(y)}, and X has no column of that name.")
        inputs = [name for name in source.columns if name != y]
        self.n_features_in_, self.feature_names_in_ = len(inputs), np.array(inputs, dtype=object)
        levels = self.classes_.tolist()
        target = Schema({y: Boolean() if set(levels) == {False, True} else Categorical(levels)})

        def numbers_of(block: pa.Table) -> Array:
            encoded = target.encode(block.select([y]))
            last = encoded[:, 0] if encoded.shape[1] == 1 else self._from_codes(np.argmax(encoded, axis=1))
            return np.column_stack([matrix(block, inputs), last + 0.0 * encoded.sum(axis=1)])

        return source.select([*inputs, y]).map(numbers_of), (*inputs, y)

    def _both_bounds(self) -> Any:
        if self.bounds is None:
            Domain.from_bounds(None, self.n_features_in_)  # which says what is wrong
        return super()._both_bounds()

    def _from_codes(self, codes: Any) -> Array:
        return 2.0 * np.asarray(codes, dtype=np.float64) / (len(self.classes_) - 1) - 1.0

    def _to_codes(self, scatter: Scatter) -> list[RowMap]:
        """Return what makes targets the number of the class; private bounds may have moved them."""
        centre, scale = self._target
        unit = 2.0 / (scale * (len(self.classes_) - 1))
        return [target_map(self._domain.columns, -(1.0 + centre) / scale, unit), RoundTarget()]

    def _first(self, scatter: Scatter, coordinates: Coordinates) -> tuple[float, Array]:
        if len(self.classes_) > 2:
            return super()._first(scatter, coordinates)
        centre, scale = self._target
        mean = float(np.clip(centre + scale * scatter.mean[-1], -_MOST_CERTAIN, _MOST_CERTAIN))
        return math.log((1 + mean) / (1 - mean)), np.zeros(coordinates.columns)

    def _publish(self) -> None:
        self.intercept_, self.coef_ = self._in_units(self._coefficients)

    def _stored(self) -> dict[str, Any]:
        return {"classes": self.classes_.tolist(), **super()._stored()}

    def _restore(self, values: dict[str, Any]) -> None:
        self._checked()
        names = self._joint.names
        self.classes_ = self._public_classes(None if names is None else names[-1])
        if values["classes"] != self.classes_.tolist():
            raise ValueError("classes are not those that the parameters or the schema have")
        self._class_weights()
        self._restore_predictor(values, 1 if len(self.classes_) == 2 else len(self.classes_))
        self._publish()

    def decision_function(self, X: Any) -> Array:
        """Return predictions: one for each row with two classes, of the second; one for each class with more."""
        scores = self._linear(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """Return the likeliest class of each row."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[places]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted."""
        return scored("accuracy_score", y, self.predict(X), sample_weight)
