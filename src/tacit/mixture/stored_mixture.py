"""How a mixture is stored in a model file, and checked when it comes back.

"mixture": {"weights": [K], "means": [K][d], "covariances": [K][d][d]} is the density of z, in its columns of numbers.
With a schema that has columns with levels, "levels": {"plan": [K][levels], ...} has the probabilities of them.
"outliers", where there are some, is a share of rows, "weight", and their density, a "mixture" of one component.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.fitting import check_shapes
from tacit.mixture.mixture import Mixture
from tacit.mixture.table_mixture import TableMixture, columns_with_levels, table_layout
from tacit.tables import Domain

_PARTS = ("weights", "means", "covariances")

ABOUT = (
    "z has the density of the mixture: the sum over k of weights[k] times the normal density with means[k] and "
    "covariances[k]. Columns with levels are apart from that: within a component they are independent of all others, "
    "and levels has their probabilities, in the schema's order, or of false and true. If there are outliers, "
    "a share weight of rows has their density instead."
)


def stored(mixture: Mixture, domain: Domain) -> dict[str, Any]:
    """Return a mixture as JSON has it."""
    values = {part: getattr(mixture, part).tolist() for part in _PARTS}
    if isinstance(mixture, TableMixture):
        levels = mixture.level_probabilities(domain.schema)
        values["levels"] = {name: shares.tolist() for name, shares in levels.items()}
    return values


def restored(values: dict[str, Any], domain: Domain, components: int | None) -> Mixture:
    """Return the mixture that was stored; `components` is how many there must be, if that is known."""
    mixture = Mixture(*(np.array(values[part], float) for part in _PARTS))
    layout = table_layout(domain)
    number, columns = mixture.count if components is None else components, len(layout.numbers)
    check_shapes(
        weights=(mixture.weights, (number,)),
        means=(mixture.means, (number, columns)),
        covariances=(mixture.covariances, (number, columns, columns)),
    )
    if (mixture.weights < 0).any() or abs(mixture.weights.sum() - 1) > 1e-6:
        raise ValueError("weights must be shares of 1")
    if not layout.levels:
        return mixture
    shares = [np.array(values["levels"][name], float) for name in columns_with_levels(domain.schema)]
    for name, size, share in zip(columns_with_levels(domain.schema), layout.sizes, shares):
        check_shapes(**{f"levels of {name}": (share, (number, size))})
        if not ((share > 0).all() and np.allclose(share.sum(axis=1), 1.0, atol=1e-6)):
            raise ValueError("probabilities of levels must be positive, and add up to 1 in each column")
    return TableMixture(mixture.weights, mixture.means, mixture.covariances, layout, np.hstack(shares))
