"""Audit a whole estimator: fit it many times on neighbouring data sets, and compare its outputs with its claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tacit.arrays import Array
from tacit.audit.outputs import Audit, AuditMethod, audit_outputs
from tacit.audit.snapshot import numbers_in
from tacit.privacy import Certificate, Relation


def audit_estimator(
    estimator: Any,
    X: Any,
    X_neighbor: Any,
    *,
    trials: int,
    score: Callable[[Any], Any] | None = None,
    confidence: float = 0.95,
    method: AuditMethod | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Audit:
    """Fit an estimator many times on two neighbouring data sets, and compare what tells them apart with its claim.

    Every fit is of a clone with a seed of its own, and charges no ledger.

    Parameters
    ----------
    estimator : estimator
        Its fitted clones carry a certificate, `privacy_`. Its parameters are the audited ones.
    X, X_neighbor : array-like of shape (rows, columns), or anything the estimator fits
        Two neighbouring data sets. A row at the edge of the bounds in one, and its opposite in the other, is the
        hardest case for most estimators. Arrays and frames are checked to be neighbours.
    trials : int
        How many fits on each data set; half of them train the attacker. Hundreds show gross leaks, thousands fine ones.
    score : callable, optional
        What an attacker computes from a fitted model, ``score(model) -> number or vector``. By default every number in
        its public attributes and, if it has `score_samples`, its score of the rows in which the data sets differ.
    confidence, random_state, n_jobs, progress
        As in `audit_outputs`.
    method : {"threshold", "gdp"}, optional
        As in `audit_outputs`. By default "gdp" if all that is claimed rests on Gaussian noise, else "threshold".

    Returns
    -------
    Audit
        With the estimator's certificate as its claim: ``audit.refutes()`` tests the certificate's whole curve.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.audit import audit_estimator
    >>> X = np.tile([[0.1, 0.2], [-0.3, 0.1]], (10, 1))
    >>> X_neighbor = X.copy()
    >>> X[0], X_neighbor[0] = [1.0, 0.0], [-1.0, 0.0]
    >>> model = tacit.GaussianMixture(1, epsilon=2.0, delta=1e-3, bounds=1.0)
    >>> audit = audit_estimator(model, X, X_neighbor, trials=40, random_state=0)
    >>> audit.refutes()
    False
    """
    certificate = getattr(clone_with_seed(estimator, 0).fit(X), "privacy_", None)
    if not isinstance(certificate, Certificate):
        raise TypeError(
            f"A fitted {type(estimator).__name__} has no certificate in privacy_, so there is no claim to audit; "
            "use audit_outputs with a function that fits it, and pass the claim."
        )
    differing = _differing_rows(X, X_neighbor, certificate.plan.neighbors)
    # Models score frames and files in their own form only, and these rows are an array.
    canaries = differing if isinstance(X, np.ndarray) else None
    if method is None:
        gaussian = certificate.plan.gaussian
        method = "gdp" if gaussian and certificate.budget.delta > 0 else "threshold"

    def run(rows: Any, seed: int) -> Any:
        model = clone_with_seed(estimator, seed).fit(rows)
        return _public_numbers(model, canaries) if score is None else score(model)

    return audit_outputs(
        run,
        X,
        X_neighbor,
        delta=certificate.budget.delta,
        trials=trials,
        confidence=confidence,
        method=method,
        claim=certificate,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )


def clone_with_seed(estimator: Any, seed: int) -> Any:
    """Return a clone with a seed and no ledger, because an audit must not spend a data set's budget."""
    model = clone(estimator)
    settings = {"random_state": seed, "ledger": None}
    return model.set_params(**{name: settings[name] for name in settings.keys() & model.get_params(deep=False)})


def _public_numbers(model: Any, canaries: Array | None) -> Array:
    """Return every public number of a fitted model, and its scores of the rows in which the data sets differ."""
    names = sorted(name for name in vars(model) if name.endswith("_") and not name.startswith("_"))
    values = [getattr(model, name) for name in names]
    if canaries is not None and hasattr(model, "score_samples"):
        values.append(model.score_samples(canaries))
    return np.concatenate([np.zeros(1), *map(np.ravel, numbers_in(values))])


def _differing_rows(X: Any, X_neighbor: Any, neighbors: Relation) -> Array | None:
    """Return the rows in which two neighbouring tables differ; None for data that are not tables in memory."""
    first, second = np.asarray(X), np.asarray(X_neighbor)
    if first.ndim != 2 or second.ndim != 2:
        return None
    if neighbors == "replace_one":
        changed = np.flatnonzero(_differ(first, second))
        if len(first) == len(second) and len(changed) <= 1:
            return np.concatenate([first[changed], second[changed]])
        expected = "they must have the same rows but for one"
    else:
        longer, shorter = (first, second) if len(first) > len(second) else (second, first)
        extra = int(np.argmax(np.append(_differ(longer[:-1], shorter), True)))
        if len(longer) == len(shorter) + 1 and not _differ(np.delete(longer, extra, axis=0), shorter).any():
            return longer[extra : extra + 1]
        expected = "one must be the other without one of its rows"
    raise ValueError(
        f"X and X_neighbor are not neighbours under {neighbors!r}, so telling them apart is no leak: {expected}."
    )


def _differ(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows differ: all, if the shapes differ. NaN equals NaN."""
    if first.shape != second.shape:
        return np.ones(len(first), dtype=np.bool_)
    unlike: NDArray[np.bool_] = np.any((first != second) & ((first == first) | (second == second)), axis=1)
    return unlike
