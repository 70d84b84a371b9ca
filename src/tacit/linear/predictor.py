"""Linear predictions of a fitted estimator: computed, stored and restored.

An estimator keeps its coefficients (K, 1 + d) on inputs in standard coordinates as ``_coefficients``, and where inputs
lie, if that was measured, as ``_spread``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import check_shapes
from tacit.linear.input_spread import InputSpread


def linear_predictions(estimator: Any, X: Any) -> Array:
    """Return the predictions (rows, K) of rows."""
    check_is_fitted(estimator)
    beta = estimator._coefficients
    return np.concatenate([beta[:, 0] + block @ beta[:, 1:].T for block in estimator._standard_blocks(X)])


def stored_predictor(estimator: Any) -> dict[str, Any]:
    """Return coefficients and where inputs lie, as JSON has them."""
    inputs = None if estimator._spread is None else estimator._spread.stored()
    return {"coefficients": estimator._coefficients.tolist(), "inputs": inputs}


def restore_predictor(estimator: Any, stored: dict[str, Any], outputs: int) -> None:
    """Take back what `stored_predictor` gave."""
    coefficients, columns = np.array(stored["coefficients"], float), estimator._domain.columns
    check_shapes(coefficients=(coefficients, (outputs, 1 + columns)))
    estimator._coefficients = coefficients
    estimator._spread = InputSpread.restored(stored.get("inputs"), columns)
