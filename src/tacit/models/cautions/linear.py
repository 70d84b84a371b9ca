"""What linear models must be warned of: drowned in noise, no better than nothing, learnt one class only."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax

from tacit.arrays import Array
from tacit.cautions import Caution
from tacit.report.cautions import join_some

__all__ = ["classifier_cautions", "regression_cautions"]

_LEAST_CLEAR = 0.05  # Slopes that errors alone would make as large more often than this are not clear.
_DROWNED = 0.5  # Standard error of predictions for an ordinary row, in standard deviations of residuals or log odds.
_HIDDEN = 2.0  # A class with fewer rows than this many standard deviations of the noise of a count may have none.
_POINTS = 2048  # Inputs at which the shares of classes are computed.

_DROWNED_TEXT = (
    "The noise is so large beside these rows that even {what} is off by about as much as it could be: predictions are "
    "worth nothing. Fit with more budget, more rows or fewer inputs, or state narrower bounds if they are public."
)
_NOTHING_SEEN = (
    "As far as the releases can tell, predictions are no better than {instead}: errors of sampling and noise alone "
    "would make coefficients as large as all of these together. There may be nothing to find; or it takes more budget "
    "or more rows, or fewer inputs."
)


def regression_cautions(model: Any) -> list[Caution]:
    """Return what a linear regression must be warned of.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(5000, 3)), rng.normal(size=5000)
    >>> model = tacit.LinearRegression(bounds=10, target_bounds=10, random_state=0).fit(X, y)
    >>> [caution.title for caution in model.privacy_.cautions]
    ['Predictions may be no better than the mean']
    """
    found = _evidence_cautions(model, "the average of all predictions", "the mean of the target", "the mean")
    if not found and not model.coef_.any():
        text = (
            "Every coefficient is zero, so the prediction is the same for every row. With less of a penalty, some "
            "inputs may count."
        )
        return [Caution("warning", "Predictions are no better than the mean", text)]
    return found


def classifier_cautions(model: Any) -> list[Caution]:
    """Return what a classifier must be warned of."""
    return _class_cautions(model) or _evidence_cautions(
        model, "how often each class occurs", "the proportions of the classes", "the proportions of classes"
    )


def _evidence_cautions(model: Any, what: str, instead: str, short: str) -> list[Caution]:
    evidence = getattr(model, "_evidence", None)
    if evidence is None:
        return []
    if evidence.level_error > _DROWNED:
        return [Caution("danger", "The fit is drowned in noise", _DROWNED_TEXT.format(what=what))]
    if evidence.chance > _LEAST_CLEAR:
        text = _NOTHING_SEEN.format(instead=instead)
        return [Caution("warning", f"Predictions may be no better than {short}", text)]
    return []


def _class_cautions(model: Any) -> list[Caution]:
    """Return one caution, if some class may have no rows, as far as counts with this noise can tell."""
    rows, hidden = getattr(model, "_known_rows", None), _hidden_rows(model)
    if not rows or model._spread is None or hidden is None:
        return []
    shares = class_shares(model)
    absent = [str(label) for label, share in zip(model.classes_.tolist(), shares) if share * rows < _HIDDEN * hidden]
    if not absent or len(absent) == len(shares):
        return []
    seen = [str(label) for label in model.classes_.tolist() if str(label) not in absent]
    text = (
        f"If class {join_some(absent)} has any rows, they are too few to be seen beside the noise, and it is hardly "
        f"ever predicted: class {join_some(seen)} is all that was learnt. "
    )
    if model.missing == "ignore":
        text += 'Rows with missing cells were left out (missing="ignore"), and these may have been all of a class. '
    text += "Check the labels, or leave the class out."
    title = "One class only was learnt" if len(seen) == 1 else "Some classes were not learnt"
    return [Caution("danger", title, text)]


def class_shares(model: Any) -> Array:
    """Return what share of rows each class has, (C,): by the model, with inputs as they were measured.

    Scores of a support vector classifier are no log odds. The mean of its two classes, -1 and 1, was measured.
    """
    if not hasattr(model, "predict_proba"):
        second = min(max((1 + model._mean_class) / 2, 0.0), 1.0)
        return np.array([1 - second, second])
    spread, columns = model._spread, len(model._spread.means)
    half = np.random.default_rng(0).normal(size=(_POINTS // 2, columns))
    inputs = spread.means + spread.deviations * np.concatenate([half, -half])
    scores = inputs @ model.coef_.T + model.intercept_
    if len(model.classes_) == 2:
        logs = log_expit(np.column_stack([-scores[:, 0], scores[:, 0]]))
    else:
        logs = log_softmax(scores, axis=1)
    return np.asarray(np.exp(logs).mean(axis=0))


def _hidden_rows(model: Any) -> float | None:
    """Return the noise of a count of rows, about, by the noise of the gradients that were released."""
    records = [record for record in model.privacy_.releases if record.name == "gradient"]
    if not records:
        return None
    replaced = 2.0 if model.neighbors == "replace_one" else 1.0  # A row that is replaced counts twice.
    people = min(record.noise_scale / record.sensitivity for record in records) * replaced
    return people * float(np.sqrt(1 + model._domain.columns))
