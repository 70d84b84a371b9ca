"""Estimators of a target given inputs, and how their predictions are scored."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting.estimator import PrivateEstimator
from tacit.fitting.target import one_column, open_with_target, target_numbers
from tacit.messages import call_or_refuse
from tacit.sources import Source
from tacit.tables import Domain


class SupervisedEstimator(PrivateEstimator):
    """What mixtures of regressions share. Subclasses take ``target_bounds`` beside what all estimators take."""

    _has_target = True

    def _open_both(self, X: Any, y: Any) -> tuple[Domain, Source]:
        """Return the domain of inputs and target, the target last, and the rows as numbers."""
        return open_with_target(self, X, y)

    def _standard_target(self, y: Any) -> Array:
        """Return targets to be scored, in standard coordinates."""
        values = target_numbers(y)
        if not np.isfinite(values).all():
            raise ValueError("y must be one column of finite numbers.")
        return (values - self._target[0]) / self._target[1]

    def _standard_rows(self, X: Any) -> Array:
        return np.concatenate(list(self._standard_blocks(X)))


def scored(metric: str, y: Any, predicted: Any, sample_weight: Any) -> float:
    """Return what a function of scikit-learn's metrics says about predictions; its refusals would quote targets."""
    from sklearn import metrics

    complaint = "Predictions cannot be scored: y must be one value for each row of X, of the kind that was fitted to."
    return float(
        call_or_refuse(complaint, getattr(metrics, metric), one_column(y), predicted, sample_weight=sample_weight)
    )
