"""What mixtures of regressions, and regressions on inputs with gaps, must be warned of."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.cautions import Caution
from tacit.linear.evidence import chance_of_slopes
from tacit.report.cautions import join_numbers

__all__ = ["mixed_regression_cautions"]

_LEAST_CLEAR = 0.05  # Slopes that errors alone would make as large more often than this are not clear.
_FAR_APART = 2.0  # Levels that differ by more standard errors than this are different.
_UNLIKE_SCALES = 1.5  # Ratio of the residual scales of two regressions from which they are different.


def mixed_regression_cautions(model: Any) -> list[Caution]:
    """Return what a fitted regression, or a mixture of them, must be warned of."""
    cautions = []
    if hasattr(model, "weights_") and len(model.weights_) > 1:
        groups = _copies(model)
        repeated = [group for group in groups if len(group) > 1]
        if repeated:
            named = "; ".join(join_numbers(group) for group in repeated)
            text = (
                f"Components {named} are the same, as far as the noise can tell: {len(groups)} different ones were "
                f"found, and {len(model.weights_)} asked for. Fewer components say as much."
            )
            cautions.append(Caution("warning", "Some components are copies", text))
    covariances = _covariances(model)
    if covariances is not None:
        slopes = np.atleast_2d(model.coef_)
        if all(chance_of_slopes(*each) > _LEAST_CLEAR for each in zip(slopes, covariances)):
            text = (
                "As far as the releases can tell, inputs say no more than the mean of the target does: errors of "
                "sampling and noise alone would make all coefficients as large. There may be nothing to find; or it "
                "takes more budget or more rows, or fewer inputs."
            )
            cautions.append(Caution("warning", "Predictions may be no better than the mean", text))
    return cautions


def _copies(model: Any) -> list[list[int]]:
    """Return groups of regressions that are the same, or differ by no more than their errors."""
    covariances, count = _covariances(model), len(model.weights_)
    group_of = list(range(count))
    for i, j in combinations(range(count), 2):
        if _same(model, covariances, i, j):
            group_of = [group_of[i] if group == group_of[j] else group for group in group_of]
    return [[k for k in range(count) if group_of[k] == group] for group in dict.fromkeys(group_of)]


def _same(model: Any, covariances: Array | None, i: int, j: int) -> bool:
    scales, slopes = model.scales_, model.coef_
    exactly = np.array_equal(slopes[i], slopes[j]) and model.intercept_[i] == model.intercept_[j]
    if exactly and scales[i] == scales[j]:
        return True
    if covariances is None or model.symmetric or not 1 / _UNLIKE_SCALES < scales[i] / scales[j] < _UNLIKE_SCALES:
        return False
    if chance_of_slopes(slopes[i] - slopes[j], covariances[i] + covariances[j]) <= _LEAST_CLEAR:
        return False
    if not model.fit_intercept:
        return True
    # Levels are compared for an ordinary row, where slopes and intercepts do not make up for each other.
    levels = model.intercept_ + slopes @ _middle(model)
    error = model._target[1] * float(np.hypot(*model._estimates.errors[[i, j]]))
    return abs(float(levels[i] - levels[j])) < _FAR_APART * error


def _middle(model: Any) -> Array:
    """Return an ordinary row: of columns that were not chosen, nothing is known, and they do not count."""
    middle = np.zeros(model.coef_.shape[1])
    middle[getattr(model, "support_", np.arange(len(middle)))] = model.inputs_mean_
    return middle


def _covariances(model: Any) -> Array | None:
    """Return the covariances (K, d, d) of what coefficients are off by, where standard errors are known."""
    if model.coef_errors_ is None:
        return None
    errors = np.atleast_2d(model.coef_errors_)
    covariances = np.stack([np.diag(each**2) for each in errors])
    if hasattr(model, "weights_") and getattr(model, "sparsity", None) is None:
        covariances = np.asarray(model._coefficient_covariances())
    return covariances
