"""The published methods of linear regression for heavy tails, by name: their options, checked, and their models."""

from __future__ import annotations

import numbers
from typing import Any

from tacit.linear.linear_descent import LinearDescent, squares
from tacit.linear.linear_model import check_number
from tacit.linear.sample_aggregate import SampleAggregate
from tacit.linear.trimmed_descent import TrimmedDescent
from tacit.messages import brief
from tacit.privacy import Budget
from tacit.statistics import BlockCentre, BlockSquares

PUBLISHED = ("robust", "trimmed", "sample_aggregate", "block_mean")
_STEPS = {"robust": 50, "sampled": 300, "trimmed": 10}
_LENGTHS = {"robust": 0.1, "sampled": 1.0, "trimmed": 0.5}  # of the first step


def check_published(model: Any) -> None:
    """Refuse, in a sentence, options of published methods that make no sense."""
    for name in ("moment_bound", "learning_rate", "coef_bound"):
        value = getattr(model, name)
        if value == "auto" or (value is None and name == "coef_bound"):
            continue
        check_number(name, value)
        if value == 0:
            raise ValueError(f"{name} must be over 0.")
    size, whole = model.batch_size, isinstance(model.batch_size, numbers.Integral)
    number = isinstance(size, numbers.Real) and not isinstance(size, bool)
    if size is not None and not (number and (size >= 1 if whole else 0 < size < 1)):
        raise ValueError(
            f"batch_size must be None, a number of rows or a share of them, between 0 and 1, and it is {brief(size)}."
        )
    if model.method == "trimmed":
        _range(model.gradient_bounds)
    if model.method in ("sample_aggregate", "block_mean") and model.coef_bound is None:
        raise ValueError(
            f'method="{model.method}" needs coef_bound, a number that all coefficients together are publicly known to '
            "be no longer than; it may be coarse."
        )
    if model.method in PUBLISHED[1:] and (model.neighbors != "replace_one" or model.missing != "error"):
        raise ValueError(
            f'method="{model.method}" is for a public number of rows, all of them complete; use '
            'neighbors="replace_one" and missing="error".'
        )


def published_model(model: Any, columns: int, n_rows: int | None, budget: Budget) -> Any:
    """Return the model that the engine runs."""
    intercept = bool(model.fit_intercept)
    if model.method in ("sample_aggregate", "block_mean"):
        kind = BlockCentre if model.method == "sample_aggregate" else BlockSquares
        return SampleAggregate(kind(columns, n_rows, float(model.coef_bound), intercept), budget)
    rate = _sampling_rate(model.batch_size, n_rows) if model.method == "robust" else 1.0
    name = "sampled" if rate < 1 else model.method
    problem = squares(columns, n_rows, intercept)
    steps = _STEPS[name] if model.n_iter == "auto" else int(model.n_iter)
    length = _LENGTHS[name] if model.learning_rate == "auto" else float(model.learning_rate)
    if name == "trimmed":
        bounds = _range(model.gradient_bounds)
        return TrimmedDescent(problem, steps, None, length, rate, gradient_bounds=bounds)
    return LinearDescent(problem, steps, float(model.moment_bound), length, rate)


def _range(bounds: Any) -> tuple[float, float]:
    """Return what users pass as bounds of mean gradients as a pair."""
    try:
        low, high = (float(end) for end in ((-bounds, bounds) if isinstance(bounds, numbers.Real) else bounds))
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not (-1e100 < low < high < 1e100):
        raise ValueError(
            'method="trimmed" needs gradient_bounds: what each column of the mean gradient is publicly known to lie '
            f"within, as a number r for within r of zero, or a pair (low, high); it is {brief(bounds)}."
        )
    return low, high


def _sampling_rate(batch_size: Any, n_rows: int | None) -> float:
    """Return the probability with which a row is in a sample."""
    if batch_size is None:
        return 1.0
    if not isinstance(batch_size, numbers.Integral):
        return float(batch_size)
    if n_rows is None:
        raise ValueError(
            f"batch_size is {batch_size}, and which share of the rows that is, is secret here; pass a share, such as "
            "0.01."
        )
    return min(1.0, int(batch_size) / n_rows)
