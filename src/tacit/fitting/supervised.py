"""How predictions of a target are scored."""

from __future__ import annotations

from typing import Any

from tacit.fitting.target import one_column
from tacit.messages import call_or_refuse


def scored(metric: str, y: Any, predicted: Any, sample_weight: Any) -> float:
    """Return what a function of scikit-learn's metrics says about predictions; its refusals would quote targets."""
    from sklearn import metrics

    complaint = "Predictions cannot be scored: y must be one value for each row of X, of the kind that was fitted to."
    return float(
        call_or_refuse(complaint, getattr(metrics, metric), one_column(y), predicted, sample_weight=sample_weight)
    )
