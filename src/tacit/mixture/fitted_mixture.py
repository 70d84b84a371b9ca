"""What a fitted mixture says about rows, how it is published in scikit-learn's shapes, and how it is stored.

In a model file, "mixture": {"weights": [K], "means": [K][d], "covariances": [K][d][d]} is the density of z, in its
columns of numbers. With a schema that has columns with levels, "levels": {"plan": [K][levels], ...} has their
probabilities. "outliers", where there are some, is a proportion of rows, "weight", and their density, a "mixture" of
one component.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import check_shapes
from tacit.mixture.mixture import Mixture
from tacit.mixture.table_mixture import TableMixture, columns_with_levels, table_layout
from tacit.statistics import CovarianceType, TableComponents
from tacit.tables import Domain

ABOUT = (
    "z has the density of the mixture: the sum over k of weights[k] times the normal density with means[k] and "
    "covariances[k]. Columns with levels are apart from that: within a component they are independent of all others, "
    "and levels has their probabilities, in the schema's order, or of false and true. If there are outliers, "
    "a share weight of rows has their density instead."
)

_PARTS = ("weights", "means", "covariances")

# Farthest distance of a row, in half ranges, at which components are told apart. Twice its square, divided by the least
# variance there is, is still a finite number.
_FARTHEST = 1e140


def log_joint(mixture: Mixture, domain: Domain, blocks: Iterable[Array], missing: bool) -> Array:
    """Return log(weight_k density_k) in the units of the rows, (K, rows), from blocks in standard coordinates.

    Rows are not brought inside the bounds: the density at a row is what the mixture says it is, wherever the row lies.
    With `missing`, it is the density of the cells that are there.
    """
    # Components are made anew for each call, because they remember which cells rows lack.
    components = mixture.components()
    if not isinstance(components, TableComponents):
        components = TableComponents.of_numbers(components)
    log_units = np.log(domain.scale[list(table_layout(domain).numbers)])
    return np.concatenate([components.log_joint(block, missing, log_units) for block in blocks], axis=1)


def pull_in(block: Array) -> Array:
    """Return rows with those so far out that all densities are 0 pulled in, in the same direction.

    That far out, the direction alone decides which component a row belongs to.
    """
    furthest = np.nanmax(np.abs(block), axis=1, keepdims=True, initial=_FARTHEST)
    return block * (_FARTHEST / furthest)


def draw_rows(mixture: Mixture, domain: Domain, count: int, rng: np.random.Generator) -> tuple[Array, np.ndarray]:
    """Return rows drawn from the mixture, in standard coordinates and inside the bounds, and their components."""
    labels = np.sort(rng.choice(mixture.count, size=count, p=mixture.weights))
    means, factors = mixture.means[labels], np.linalg.cholesky(mixture.covariances)
    rows = means + np.einsum("nij,nj->ni", factors[labels], rng.normal(size=means.shape))
    if isinstance(mixture, TableMixture):
        rows = mixture.encode(labels, rows, rng.random((len(mixture.layout.levels), count)).T)
    return domain.standardise(domain.restore(rows)), labels


def covariance_attributes(covariances: Array, kind: CovarianceType, scale: Array) -> tuple[Array, Array]:
    """Return covariances and Cholesky factors of precisions in the units of the rows and in scikit-learn's shapes.

    `scale` (d,) are the units of the columns.
    """
    covariances = covariances * np.outer(scale, scale)
    upper = np.linalg.inv(np.linalg.cholesky(covariances)).transpose(0, 2, 1)
    if kind == "full":
        return covariances, upper
    if kind == "tied":
        return covariances[0], upper[0]
    variances = np.einsum("kii->ki", covariances)
    if kind == "spherical" and len(scale) and (scale == scale[0]).all():
        variances = variances[:, 0]
    return variances, 1 / np.sqrt(variances)


def write_mixture(mixture: Mixture, domain: Domain) -> dict[str, Any]:
    """Return a mixture as JSON has it."""
    values = {part: getattr(mixture, part).tolist() for part in _PARTS}
    if isinstance(mixture, TableMixture):
        levels = mixture.level_probabilities(domain.schema)
        values["levels"] = {name: probabilities.tolist() for name, probabilities in levels.items()}
    return values


def read_mixture(values: dict[str, Any], domain: Domain, components: int | None) -> Mixture:
    """Return the mixture that was stored; `components` is how many there must be, if that is known."""
    layout = table_layout(domain)
    weights, means, covariances = (np.array(values[part], float) for part in _PARTS)
    number, columns = len(weights) if components is None else components, len(layout.numbers)
    if columns == 0 and covariances.size == 0:  # Empty lists do not tell their shape.
        covariances = covariances.reshape(*covariances.shape[:1], 0, 0)
    mixture = Mixture(weights, means, covariances)
    check_shapes(
        weights=(mixture.weights, (number,)),
        means=(mixture.means, (number, columns)),
        covariances=(mixture.covariances, (number, columns, columns)),
    )
    if (mixture.weights < 0).any() or abs(mixture.weights.sum() - 1) > 1e-6:
        raise ValueError("weights must be shares of 1")
    if not layout.levels:
        return mixture
    names = columns_with_levels(domain.schema)
    probabilities = [np.array(values["levels"][name], float) for name in names]
    for name, size, each in zip(names, layout.sizes, probabilities):
        check_shapes(**{f"levels of {name}": (each, (number, size))})
        if not ((each > 0).all() and np.allclose(each.sum(axis=1), 1.0, atol=1e-6)):
            raise ValueError("probabilities of levels must be positive, and add up to 1 in each column")
    return TableMixture(mixture.weights, mixture.means, mixture.covariances, layout, np.hstack(probabilities))
