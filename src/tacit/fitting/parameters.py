"""What private estimators are told, checked before a row is read or anything is charged."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.messages import describe
from tacit.privacy import Account, Budget, check_relation


def check_budget(model: Any, missing: Sequence[str] = ("error", "ignore"), *, pure: bool = False) -> Budget:
    """Refuse parameters that make no sense in any estimator, each in a sentence; return the budget.

    Parameters
    ----------
    model : PrivateEstimator
    missing : sequence of str
        What the estimator can do about missing cells.
    pure : bool
        Whether the estimator can do without a delta, as one with Laplace noise can. Else a delta of 0 is refused.
    """
    check_choices(model, missing=missing)
    iterations = getattr(model, "n_iter", "auto")
    if iterations != "auto" and (not isinstance(iterations, numbers.Integral) or iterations < 1):
        raise ValueError(f'n_iter must be "auto" or a whole number, at least 1, and it is {describe(iterations)}.')
    if isinstance(model.bounds, str) and model.bounds != "private":
        raise ValueError(f'bounds must be numbers, a Schema or "private", and it is {describe(model.bounds)}.')
    if model.ledger is not None and not isinstance(model.ledger, Account):
        raise ValueError(
            'ledger must be an account of a ledger, such as tacit.Ledger("budget.db").account("my data"), and it '
            f"is {describe(model.ledger)}."
        )
    check_relation(model.neighbors)
    budget = Budget(model.epsilon, model.delta)
    if budget.delta == 0 and not pure:
        raise ValueError("delta is 0, and Gaussian noise needs a delta above 0; pass for instance delta=1e-6.")
    return budget


def float_array(value: Any) -> Array | None:
    """Return a parameter as an array of numbers, or None if it is none; numpy's own refusal quotes what is in it.

    Examples
    --------
    >>> float_array([1, 2]), float_array("many")
    (array([1., 2.]), None)
    """
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def check_choices(model: Any, **choices: Sequence[str]) -> None:
    """Refuse parameters that are none of the words they may be.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_choices(SimpleNamespace(method="best"), method=("fast", "slow"))
    Traceback (most recent call last):
        ...
    ValueError: method must be one of fast, slow, and it is 'best'.
    """
    for name, words in choices.items():
        check_word(name, getattr(model, name), words)


def check_word(name: str, value: Any, words: Sequence[str]) -> None:
    """Refuse a value that is none of the words it may be."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}, and it is {describe(value)}.")


def check_positive(name: str, value: Any, most: float = math.inf) -> None:
    """Refuse a value that is no positive, finite number, or is above `most`.

    Examples
    --------
    >>> check_positive("radius", -2.0)
    Traceback (most recent call last):
        ...
    ValueError: radius must be a positive number, and it is -2.0.
    """
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 < value <= most or value == math.inf:
        up_to = "" if most == math.inf else f", at most {most:g}"
        raise ValueError(f"{name} must be a positive number{up_to}, and it is {describe(value)}.")


def check_count(name: str, value: Any) -> None:
    """Refuse a value that is no whole number of 1 or more.

    Examples
    --------
    >>> check_count("n_bins", 2.5)
    Traceback (most recent call last):
        ...
    ValueError: n_bins must be a whole number, at least 1, and it is 2.5.
    """
    if not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number, at least 1, and it is {describe(value)}.")


def check_shapes(**wanted: tuple[np.ndarray, tuple[int, ...]]) -> None:
    """Refuse arrays of a model file that are not finite, or not of the shape that is named beside them.

    Examples
    --------
    >>> check_shapes(weights=(np.ones(3), (2,)))
    Traceback (most recent call last):
    ValueError: weights must be finite numbers of shape (2,)
    """
    for name, (array, shape) in wanted.items():
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite numbers of shape {shape}")
