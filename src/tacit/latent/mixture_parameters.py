"""What a GaussianMixture may be told: checked before a row is read or anything is charged."""

from __future__ import annotations

import numbers
from typing import Any

from tacit.latent.composition import COMPOSITIONS
from tacit.latent.prior import MixturePrior
from tacit.privacy import Account, Budget, check_relation

_METHODS = ("scale_free", "joint", "per_parameter")
_COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


def checked_budget(model: Any) -> Budget:
    """Refuse, in a sentence, parameters of a GaussianMixture that make no sense; return the budget they state."""
    if not isinstance(model.n_components, numbers.Integral) or model.n_components < 1:
        raise ValueError(f"n_components must be a whole number, at least 1, and it is {model.n_components!r}.")
    for name, choices in (
        ("method", _METHODS),
        ("covariance_type", _COVARIANCE_TYPES),
        ("noise", ("GGG", "LLG")),
        ("composition", COMPOSITIONS),
        ("missing", ("error", "ignore")),
    ):
        if getattr(model, name) not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, and it is {getattr(model, name)!r}.")
    if model.n_iter != "auto" and (not isinstance(model.n_iter, numbers.Integral) or model.n_iter < 1):
        raise ValueError(f'n_iter must be "auto" or a whole number, at least 1, and it is {model.n_iter!r}.')
    if isinstance(model.init, str) and model.init not in ("private", "public"):
        raise ValueError(f'init must be "private", "public" or an array of means, and it is {model.init!r}.')
    if isinstance(model.bounds, str) and model.bounds != "private":
        raise ValueError(f'bounds must be numbers, a Schema or "private", and it is {model.bounds!r}.')
    if model.prior is not None and not isinstance(model.prior, MixturePrior):
        raise ValueError(f"prior must be None or a tacit.MixturePrior, and it is {model.prior!r}.")
    if model.ledger is not None and not isinstance(model.ledger, Account):
        raise ValueError(
            'ledger must be an account of a ledger, such as tacit.Ledger("budget.db").account("my data"), and it '
            f"is {model.ledger!r}."
        )
    check_relation(model.neighbors)
    budget = Budget(model.epsilon, model.delta)
    if budget.delta == 0:
        raise ValueError("delta is 0, and Gaussian noise needs a delta above 0; pass for instance delta=1e-6.")
    return budget
