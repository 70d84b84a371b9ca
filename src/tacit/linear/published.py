"""The published methods of linear regression for heavy tails, by name: their checked options, plans and fits."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

from tacit.fitting.progress import Watch
from tacit.linear import robust_descent, sample_aggregate, trimmed_descent
from tacit.linear.coordinates import Coordinates
from tacit.linear.least_squares import least_squares_problem, plain_fit
from tacit.linear.linear_fit import LinearFit
from tacit.linear.linear_model import RegressionMethod, check_number
from tacit.linear.problem import count_releases
from tacit.messages import describe
from tacit.privacy import Budget
from tacit.release import Curator
from tacit.statistics import BlockCentre, BlockSquares
from tacit.tables import Domain

PUBLISHED = ("robust", "trimmed", "sample_aggregate", "block_mean")
_ITERATIONS = {"robust": 50, "sampled": 300, "trimmed": 10}
_LEARNING_RATES = {"robust": 0.1, "sampled": 1.0, "trimmed": 0.5}  # Lengths of the first step.


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
            "batch_size must be None, a number of rows or a share of them, between 0 and 1, and it is "
            f"{describe(size)}."
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


def published_method(model: Any, columns: int, n_rows: int | None, budget: Budget) -> RegressionMethod:
    """Return the method that the regression's parameters ask for."""
    intercept = bool(model.fit_intercept)
    if model.method in ("sample_aggregate", "block_mean"):
        kind = BlockCentre if model.method == "sample_aggregate" else BlockSquares
        blocks = kind(columns, n_rows, float(model.coef_bound), intercept)
        return RegressionMethod(
            sample_aggregate.steps(blocks, budget),
            1,
            lambda curator, domain, watch: sample_aggregate.fit_blocks(curator, blocks),
            lambda curator: curator.noise(sample_aggregate.COEFFICIENTS, blocks),  # It refuses where rows are too few.
        )
    rate = _sampling_rate(model.batch_size, n_rows) if model.method == "robust" else 1.0
    name = "sampled" if rate < 1 else model.method
    iterations = _ITERATIONS[name] if model.n_iter == "auto" else int(model.n_iter)
    learning_rate = _LEARNING_RATES[name] if model.learning_rate == "auto" else float(model.learning_rate)
    if name == "trimmed":
        return _trimmed(columns, n_rows, intercept, iterations, learning_rate, _range(model.gradient_bounds))
    return _robust(columns, n_rows, intercept, iterations, learning_rate, float(model.moment_bound), rate)


def _robust(
    columns: int,
    n_rows: int | None,
    intercept: bool,
    iterations: int,
    learning_rate: float,
    moment_bound: float,
    sampling_rate: float,
) -> RegressionMethod:
    """Return descent with smoothly truncated gradients. The number of rows is released first where it is secret."""
    secret = n_rows is None
    problem, size = least_squares_problem(columns, n_rows, intercept), columns + intercept

    def fit(curator: Curator, domain: Domain, watch: Watch) -> LinearFit:
        rows = robust_descent.count_rows(problem, curator) if secret else float(n_rows)
        solution = robust_descent.descend_robustly(
            replace(problem, coordinates=Coordinates.as_they_are(columns, rows)),
            curator,
            iterations,
            count_releases(watch, iterations),
            moment_bound=moment_bound,
            learning_rate=learning_rate,
            sampling_rate=sampling_rate,
        )
        return plain_fit(solution.coefficients[0], rows)

    steps = robust_descent.steps(iterations, size, 1.0, sampling_rate=sampling_rate, count_rows=secret)
    return RegressionMethod(steps, iterations + secret, fit)


def _trimmed(
    columns: int,
    n_rows: int | None,
    intercept: bool,
    iterations: int,
    learning_rate: float,
    gradient_bounds: tuple[float, float],
) -> RegressionMethod:
    """Return descent with trimmed mean gradients."""
    problem = least_squares_problem(columns, n_rows, intercept)

    def fit(curator: Curator, domain: Domain, watch: Watch) -> LinearFit:
        after = count_releases(watch, iterations)
        solution = trimmed_descent.descend_by_trimmed_means(
            problem, curator, iterations, after, learning_rate=learning_rate, gradient_bounds=gradient_bounds
        )
        return plain_fit(solution.coefficients[0], problem.rows)

    return RegressionMethod(trimmed_descent.steps(iterations, columns + intercept), iterations, fit)


def _range(bounds: Any) -> tuple[float, float]:
    """Return what users pass as bounds of mean gradients as a pair."""
    try:
        low, high = (float(end) for end in ((-bounds, bounds) if isinstance(bounds, numbers.Real) else bounds))
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not (-1e100 < low < high < 1e100):
        raise ValueError(
            'method="trimmed" needs gradient_bounds: what each column of the mean gradient is publicly known to lie '
            f"within, as a number r for within r of zero, or a pair (low, high); it is {describe(bounds)}."
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
