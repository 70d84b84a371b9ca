"""How a mixture is stored in a model file, and checked when it comes back.

"mixture": {"weights": [K], "means": [K][d], "covariances": [K][d][d]} is the density of z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.latent.mixture import Mixture
from tacit.tables import Domain

_PARTS = ("weights", "means", "covariances")

ABOUT = (
    "z has the density of the mixture: the sum over k of weights[k] times the normal density with means[k] and "
    "covariances[k]."
)


def stored(mixture: Mixture) -> dict[str, Any]:
    """Return a mixture as JSON has it."""
    return {part: getattr(mixture, part).tolist() for part in _PARTS}


def restored(values: dict[str, Any], domain: Domain, components: int | None) -> Mixture:
    """Return the mixture that was stored; `components` is how many there must be, if that is known."""
    mixture = Mixture(*(np.array(values[part], float) for part in _PARTS))
    number, columns = mixture.count if components is None else components, domain.columns
    check_shapes(
        weights=(mixture.weights, (number,)),
        means=(mixture.means, (number, columns)),
        covariances=(mixture.covariances, (number, columns, columns)),
    )
    if (mixture.weights < 0).any() or abs(mixture.weights.sum() - 1) > 1e-6:
        raise ValueError("weights must be shares of 1")
    return mixture


def check_shapes(**wanted: tuple[np.ndarray, tuple[int, ...]]) -> None:
    """Refuse arrays that are not of the shapes beside them, or not finite."""
    for name, (array, shape) in wanted.items():
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite numbers of shape {shape}")
