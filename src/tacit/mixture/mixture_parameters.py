"""What a GaussianMixture may be told: checked before a row is read or anything is charged."""

from __future__ import annotations

from typing import Any

from tacit.fitting import check_choices, checked_budget
from tacit.messages import describe
from tacit.mixture.model_choice import checked_grid
from tacit.mixture.prior import MixturePrior
from tacit.mixture.published_compositions import COMPOSITIONS
from tacit.privacy import Budget

_METHODS = ("scale_free", "joint", "per_parameter")
_COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


def checked_mixture_budget(model: Any) -> Budget:
    """Refuse, in a sentence, parameters of a GaussianMixture that make no sense; return the budget they state."""
    grid = checked_grid(model.n_components)
    check_choices(
        model, method=_METHODS, covariance_type=_COVARIANCE_TYPES, noise=("GGG", "LLG"), composition=COMPOSITIONS
    )
    if isinstance(model.init, str) and model.init not in ("private", "public"):
        raise ValueError(f'init must be "private", "public" or an array of means, and it is {describe(model.init)}.')
    if len(grid) > 1 and (model.method != "scale_free" or not isinstance(model.init, str) or model.init != "private"):
        raise ValueError(
            f"The number of components is chosen (n_components={describe(model.n_components)}) by "
            'method="scale_free" with init="private" alone, as it grows its own candidates; pass one number.'
        )
    if model.prior is not None and not isinstance(model.prior, MixturePrior):
        raise ValueError(f"prior must be None or a tacit.MixturePrior, and it is {describe(model.prior)}.")
    budget = checked_budget(model, missing=("error", "ignore", "model"))
    if model.missing == "model" and model.method != "scale_free":
        raise ValueError(
            f'missing="model" is there for method="scale_free" alone, and the method is {describe(model.method)}. Pass '
            'missing="ignore" to leave rows with missing cells out.'
        )
    return budget
