"""Options that the estimators of this room share: few columns out of many, and published methods."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import check_shapes, float_array
from tacit.fitting.published import PublishedMethod
from tacit.messages import describe

__all__ = [
    "MOVED",
    "check_sparsity",
    "method_name",
    "method_notes",
    "read_guess",
    "read_support",
    "spread_over_columns",
    "write_support",
]

_METHOD_OF_OPTION = {
    "learning_rate": "ClippedGradientEM",
    "clip": "ClippedGradientEM",
    "moment_bound": "RobustGradientEM",
    "truncation": "TruncatedGradientEM",
    "split": "TruncatedGradientEM",
    "as_printed": "ClippedGradientEM",
    "scale": "ClippedGradientEM",
    "init": "ClippedGradientEM",
}

#: What to write instead of parameters of version 0.1 that are options of published methods now.
MOVED = {
    option: "It is an option of published methods now: write "
    + (f"method=tacit.published.{method}(scale=0.5{'' if option == 'scale' else f', {option}=...'}).")
    for option, method in _METHOD_OF_OPTION.items()
}


def check_sparsity(sparsity: Any, columns: int | None = None) -> None:
    """Refuse a number of columns that is none, or more than there are."""
    if sparsity is None:
        return
    if not isinstance(sparsity, numbers.Integral) or isinstance(sparsity, bool) or sparsity < 1:
        raise ValueError(f"sparsity must be None or a whole number, at least 1, and it is {describe(sparsity)}.")
    if columns is not None and sparsity > columns:
        raise ValueError(f"sparsity is {sparsity}, and there are {columns} column(s); it can be at most that.")


def read_guess(init: Any, columns: int) -> Array | None:
    """Return the guess that was given, if any; one that is 0 everywhere says nothing."""
    if init is None:
        return None
    guess = float_array(init)
    if guess is None or guess.shape != (columns,) or not np.isfinite(guess).all():
        raise ValueError(
            f"init must be None or {columns} finite number(s), one for each column, and it is {describe(init)}."
        )
    return guess if guess.any() else None


def spread_over_columns(values: Array, support: Array | None, columns: int) -> Array:
    """Return numbers (..., columns of the support) among zeros for all other columns; None is a support of all.

    Examples
    --------
    >>> spread_over_columns(np.array([1.0, 2.0]), np.array([0, 3]), 4)
    array([1., 0., 0., 2.])
    """
    if support is None:
        return values
    among = np.zeros((*values.shape[:-1], columns))
    among[..., support] = values
    return among


def write_support(model: Any) -> dict[str, Any]:
    """Return what a model file holds of the columns that were chosen."""
    return {} if model.sparsity is None else {"support": model.support_.tolist()}


def read_support(model: Any, values: dict[str, Any]) -> None:
    """Set ``support_`` from a model file."""
    if model.sparsity is None:
        return
    support = np.array(values["support"], dtype=np.int64)
    check_shapes(support=(support, (model.sparsity,)))
    if not ((support >= 0) & (support < model._domain.columns)).all():
        raise ValueError("the support must be places of columns")
    model.support_ = support


def method_name(published: PublishedMethod | None) -> str:
    """Return what the ledger and the certificate call the method."""
    return "moments" if published is None else type(published).__name__


def method_notes(published: Any, sparsity: int | None, columns: int) -> list[str]:
    """Return what the certificate says of a fit by moments, or by a published method."""
    notes = []
    if sparsity is not None:
        when = "first" if published is None else "anew in each step"
        notes.append(f"Columns that matter were chosen privately, {when}: {sparsity} of {columns}.")
    if published is not None and published.split:
        notes.append(f"Rows were dealt out by secret random bits: each was used in one of {published.n_iter} steps.")
    if published is not None and published.as_printed:
        notes.append("Formulas as printed in the papers, mistakes included.")
    return notes
