"""Simulated tables: mixtures and factor models drawn at random inside public bounds, and fits without privacy.

Rows are drawn in standard coordinates, where numbers lie between -1 and 1. With a schema they become a table of its
kinds: levels as levels, true and false, whole numbers rounded. So what is fitted is what would be fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tacit.arrays import Array
from tacit.mixture.table_mixture import TableMixture, normalise_levels, table_layout
from tacit.moments.factors import Factors
from tacit.sources import BLOCK_ROWS
from tacit.tables import Domain, Schema

__all__ = ["Setting", "log_densities", "mixture_rows", "ordinary_mixture", "random_factors", "random_mixture"]


_FARTHEST_MEAN = 0.7  # Means are drawn from minus this to this.
_DEVIATIONS = (0.08, 0.25)  # Least and largest standard deviation of a column in a component, if there is only one.
_DRAWS = 20  # Sets of means that are drawn; the one whose means are farthest apart is taken.
_ROUNDS = 30  # Most rounds of expectation-maximisation.
_SETTLED = 1e-3  # It ends when the log-likelihood per row changes by less.
_RIDGE = 1e-6  # Added to variances, as scikit-learn does.
_SHARED = (0.4, 0.9)  # Least and largest proportion of a column's variance that factors explain.


@dataclass(frozen=True, eq=False)
class Setting:
    """What is publicly known: where rows lie, and what a table of them looks like."""

    domain: Domain
    target: str | None = None

    @classmethod
    def of(cls, schema: Schema | None, columns: int, target: str | None = None) -> Setting:
        """Return the setting of a schema, or of `columns` columns of numbers between -1 and 1.

        The target is the column of the schema that others are to explain, if there is one; else it is the last.
        """
        if schema is not None:
            return cls(Domain.from_schema(schema), target)
        return cls(Domain.from_bounds((-1.0, 1.0), columns))

    @property
    def target_place(self) -> int:
        """Where in encoded rows the target is."""
        schema = self.domain.schema
        if schema is None or self.target is None:
            return self.domain.columns - 1
        return schema.slices[self.target].start

    @property
    def bounds(self) -> Any:
        """What an estimator is told."""
        return (-1.0, 1.0) if self.domain.schema is None else self.domain.schema

    def table(self, z: Array) -> tuple[Any, Array]:
        """Return rows as an estimator gets them, and as it encodes them."""
        rows = self.domain.table(np.clip(z, -1.0, 1.0))
        return rows, rows if self.domain.schema is None else self.domain.schema.encode(rows)


def random_mixture(components: int, kind: str, domain: Domain, rng: np.random.Generator) -> TableMixture:
    """Return a mixture of components that can be told apart."""
    layout = table_layout(domain)
    columns = len(layout.numbers)
    means = max(rng.uniform(-_FARTHEST_MEAN, _FARTHEST_MEAN, (_DRAWS, components, columns)), key=_least_distance)
    shrink = components ** (-1 / (columns + len(layout.levels)))  # Then all components have room.
    low, high = (shrink * deviation for deviation in _DEVIATIONS)
    shapes = list(_shapes(1 if kind == "tied" else components, columns, kind, low, high, rng))
    covariances = np.stack(shapes * (components if kind == "tied" else 1))
    weights = rng.dirichlet(np.full(components, 5.0))
    probabilities = [rng.dirichlet(np.ones(size), components) for size in layout.sizes]
    levels = normalise_levels(np.hstack([np.empty((components, 0)), *probabilities]), layout)
    return TableMixture(weights, means, covariances, layout, levels)


def mixture_rows(truth: TableMixture, count: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
    """Return rows drawn from a mixture, encoded, and the components they are of."""
    labels = rng.choice(truth.count, size=count, p=truth.weights)
    numbers: Array = rng.normal(size=(count, truth.means.shape[1]))
    for k, factor in enumerate(np.linalg.cholesky(truth.covariances)):
        mine = labels == k
        numbers[mine] = truth.means[k] + numbers[mine] @ factor.T
    return truth.encode(labels, numbers, rng.random((len(labels), len(truth.layout.levels)))), labels


def ordinary_mixture(start: TableMixture, encoded: Array, kind: str, least: Array) -> TableMixture:
    """Fit a mixture without privacy, from the truth: what expectation-maximisation finds with the best of luck.

    `least` (d,) is how small the variances of columns of numbers may be, as in a private fit.
    """
    mixture, last = start, -np.inf
    for _ in range(_ROUNDS):
        parts = mixture.components()
        counts, sums, squares, levels, total = 0.0, 0.0, 0.0, 0.0, 0.0
        for at in range(0, len(encoded), BLOCK_ROWS):
            block = encoded[at : at + BLOCK_ROWS]
            joint = parts.log_joint(block, False, np.zeros(len(least)))
            densities = logsumexp(joint, axis=0)
            responsibilities = np.exp(joint - densities)
            numbers, codes = mixture.layout.split(block)
            counts, sums = counts + responsibilities.sum(axis=1), sums + responsibilities @ numbers
            squares = squares + np.stack([(each[:, None] * numbers).T @ numbers for each in responsibilities])
            levels = levels + parts.level_sums(codes, responsibilities)
            total += densities.sum()
        counts = counts + 1e-9
        means = sums / counts[:, None]
        covariances = squares / counts[:, None, None] - np.einsum("ki,kj->kij", means, means)
        covariances = _restrict_shape(covariances, counts, kind, least)
        probabilities = normalise_levels(levels / counts[:, None], mixture.layout)
        mixture = TableMixture(counts / counts.sum(), means, covariances, mixture.layout, probabilities)
        if abs(total / len(encoded) - last) < _SETTLED:
            break
        last = total / len(encoded)
    return mixture


def log_densities(mixture: TableMixture, encoded: Array, domain: Domain) -> Array:
    """Return the log density at rows, in the units of the rows."""
    log_units = np.log(domain.scale[list(mixture.layout.numbers)])
    blocks = (encoded[at : at + BLOCK_ROWS] for at in range(0, len(encoded), BLOCK_ROWS))
    return np.concatenate(
        [logsumexp(mixture.components().log_joint(each, False, log_units), axis=0) for each in blocks]
    )


def random_factors(factors: int, columns: int, rng: np.random.Generator) -> Factors:
    """Return a factor model whose columns have about half of their variance in common."""
    deviations = np.exp(rng.uniform(*np.log(_DEVIATIONS), columns))
    shared = rng.uniform(*_SHARED, columns)
    directions = rng.normal(size=(columns, factors))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    loadings = directions * (deviations * np.sqrt(shared))[:, None]
    return Factors(rng.uniform(-0.3, 0.3, columns), loadings, deviations**2 * (1 - shared))


def _restrict_shape(covariances: Array, counts: Array, kind: str, least: Array) -> Array:
    """Return covariances of the kind that is fitted, none narrower than `least`."""
    columns = covariances.shape[1]
    if kind == "tied":
        covariances = np.broadcast_to(np.tensordot(counts / counts.sum(), covariances, 1), covariances.shape)
    variances = np.maximum(np.einsum("kii->ki", covariances) + _RIDGE, least)
    if kind == "spherical" and columns:
        variances = np.broadcast_to(variances.mean(axis=1, keepdims=True), variances.shape)
    shaped = covariances.copy() if kind in ("full", "tied") else np.zeros_like(covariances)
    shaped[:, np.arange(columns), np.arange(columns)] = variances
    return shaped


def _shapes(count: int, columns: int, kind: str, low: float, high: float, rng: np.random.Generator) -> Iterator[Array]:
    """Yield covariances with standard deviations from `low` to `high`, correlated where `kind` has correlations."""
    for _ in range(count):
        deviations = np.exp(rng.uniform(np.log(low), np.log(high), 1 if kind == "spherical" else columns))
        directions = rng.normal(size=(columns, 2 * columns)) if kind in ("full", "tied") else np.eye(columns)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        shape = directions * np.broadcast_to(deviations, columns)[:, None]
        yield shape @ shape.T


def _least_distance(means: Array) -> float:
    distances = np.linalg.norm(means[:, None] - means[None], axis=2)
    return float(distances[~np.eye(len(means), dtype=bool)].min(initial=np.inf))
