"""Options that the estimators of this room share: few columns out of many, and published methods."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import check_shapes, float_array
from tacit.fitting.progress import Watch
from tacit.fitting.published import PublishedMethod, find_published
from tacit.messages import describe
from tacit.privacy import Budget
from tacit.release import Curator
from tacit.sources import Source
from tacit.tables import Domain

__all__ = [
    "MOVED",
    "check_sparsity",
    "columns_used",
    "fit_published",
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


def columns_used(model: Any) -> Array:
    """Return the columns that a model has: those of its support, or all."""
    return np.arange(model._domain.columns) if model.sparsity is None else model.support_


def spread_over_columns(model: Any, values: Array) -> Array:
    """Return numbers (..., columns that the model has) among zeros for all other columns."""
    if model.sparsity is None:
        return values
    among = np.zeros((*values.shape[:-1], model._domain.columns))
    among[..., model.support_] = values
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


def fit_published(
    model: Any, row_model: str, rows: Source, domain: Domain, n_rows: int | None, budget: Budget, watch: Watch
) -> tuple[Curator, Array]:
    """Fit by a published method; return the curator that was asked, and the coefficients (d,) of rows in their units.

    Sets ``support_`` and ``n_iter_``.
    """
    method, columns = find_published(model), domain.columns - model._has_target
    schedule = method.schedule(columns, n_rows, model.sparsity)
    start = method.start(columns, model.random_state)
    curator = model._curator(rows, domain, schedule.steps(), budget, model._purpose())
    curator.map_rows(model._enter(curator, domain).restoring_map)
    beta = method.fit_coefficients(curator, schedule, row_model, start, budget, watch)
    model.n_iter_ = schedule.n_releases
    if model.sparsity is not None:
        model.support_ = np.flatnonzero(beta)
    return curator, beta


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
