"""A simulated table of classes that go with the inputs, and how private classifiers of it are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.linear_model import LogisticRegression

from tacit.arrays import Array
from tacit.models.trials.simulation import Setting, mixture_rows, random_mixture
from tacit.models.trials.trial import TEST_ROWS, SimulatedTable
from tacit.tables import Categorical

__all__ = ["draw"]

_SPREAD = 2.0  # Standard deviation of the log odds that inputs explain.
_RARE = 0.05  # Added to standard deviations, so that rare levels do not decide.
_INVERSE_PENALTY = 1e4  # C of the ordinary fit: hardly any penalty, but coefficients of levels stay finite.
_LEAST = 1e-12  # Least probability in a logarithm.


def draw(setting: Setting, rows: int, size: None, options: dict[str, Any], rng: np.random.Generator) -> SimulatedTable:
    """Return a table of classes, and what a private classifier loses beside ordinary logistic regression."""
    if setting.domain.columns < 2:
        raise ValueError("A classifier takes a column to explain and one that explains it: plan for 2 columns or more.")
    labels = _labels(setting)
    shape = random_mixture(1, "full", setting.domain, rng)
    pilot = _inputs(setting, mixture_rows(shape, TEST_ROWS, rng)[0])[1]
    slopes = rng.normal(size=(pilot.shape[1], len(labels))) / (pilot.std(axis=0) + _RARE)[:, None]
    slopes *= _SPREAD / (pilot @ slopes).std(axis=0)
    intercepts = -pilot.mean(axis=0) @ slopes

    def table(count: int) -> tuple[Any, Array, Any]:
        drawn, inputs = _inputs(setting, mixture_rows(shape, count, rng)[0])
        places = (intercepts + inputs @ slopes + rng.gumbel(size=(count, len(labels)))).argmax(axis=1)
        return _with_classes(setting, drawn, labels[places]), inputs, places

    train, inputs, places = table(rows)
    test, new_inputs, new_places = table(TEST_ROWS)
    if len(np.unique(places)) < 2:
        raise ValueError("All simulated rows are of one class; plan for more rows.")
    ordinary = LogisticRegression(C=_INVERSE_PENALTY, max_iter=1000).fit(inputs, places)
    best = _log_loss(ordinary.predict_proba(new_inputs), ordinary.classes_, new_places)
    best_accuracy = float(np.mean(ordinary.predict(new_inputs) == new_places))

    def judge(private: Any) -> dict[str, float]:
        lost = best_accuracy - float(np.mean(private.predict(test) == labels[new_places]))
        if not hasattr(private, "predict_proba"):
            return {"accuracy_lost": lost}
        loss = _log_loss(private.predict_proba(test), private.classes_, labels[new_places])
        return {"log_loss": loss - best, "accuracy_lost": lost}

    return SimulatedTable(train, judge, (labels[places] if setting.target is None else setting.target,))


def _labels(setting: Setting) -> np.ndarray:
    """Return all labels of the target; without a schema there are two."""
    if setting.target is None or setting.domain.schema is None:
        return np.array([0, 1])
    column = setting.domain.schema.columns[setting.target]
    return np.array(column.levels if isinstance(column, Categorical) else [False, True])


def _inputs(setting: Setting, z: Array) -> tuple[Any, Array]:
    """Return rows as an estimator gets them, and all columns but the target as it encodes them."""
    rows, encoded = setting.table(z)
    schema = setting.domain.schema
    place = -1 if schema is None or setting.target is None else schema.slices[setting.target]
    return rows, np.delete(encoded, place, axis=1)


def _with_classes(setting: Setting, rows: Any, labels: np.ndarray) -> Any:
    """Return rows with these labels as their target; without a schema the target stands apart."""
    if setting.target is None:
        return rows[:, :-1]
    return rows.set_column(rows.column_names.index(setting.target), setting.target, pa.array(labels.tolist()))


def _log_loss(probabilities: Array, classes: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean log loss; a class that a fit does not know has next to no probability."""
    places = {label: k for k, label in enumerate(classes.tolist())}
    wide = np.column_stack([probabilities, np.zeros(len(labels))])
    own = wide[np.arange(len(labels)), [places.get(label, len(places)) for label in labels.tolist()]]
    return float(-np.log(np.maximum(own, _LEAST)).mean())
