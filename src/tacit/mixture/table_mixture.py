"""A mixture of products: each component is a Gaussian of the numbers and shares of the levels of all other columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.mixture.mixture import Mixture
from tacit.statistics import TableComponents, TableLayout
from tacit.statistics.components import Array
from tacit.tables import Categorical, Domain, Numeric, Schema

_DRAWN = 4096  # rows, to compare mixtures by
LEAST_SHARE = 1e-4  # of a level in a component: rare is not impossible


def table_layout(domain: Domain) -> TableLayout:
    """Return where columns of numbers and of levels are found in rows, encoded by the schema if there is one.

    Examples
    --------
    >>> from tacit.tables import Boolean, Categorical, Numeric, Schema
    >>> schema = Schema({"smokes": Boolean(), "age": Numeric(0, 100), "plan": Categorical(["free", "paid"])})
    >>> table_layout(Domain.from_schema(schema))
    TableLayout(numbers=(1,), levels=((0,), (2, 3)))
    """
    if domain.schema is None:
        return TableLayout(tuple(range(domain.columns)))
    places = {name: tuple(range(where.start, where.stop)) for name, where in domain.schema.slices.items()}
    levels = columns_with_levels(domain.schema)
    return TableLayout(
        tuple(where[0] for name, where in places.items() if name not in levels),
        tuple(places[name] for name in levels),
    )


def columns_with_levels(schema: Schema) -> dict[str, tuple[str, ...] | tuple[int, ...] | tuple[bool, ...]]:
    """Return the levels of the columns that have some, in the order of their probabilities.

    Examples
    --------
    >>> from tacit.tables import Boolean, Numeric, Schema
    >>> columns_with_levels(Schema({"smokes": Boolean(), "age": Numeric(0, 100)}))
    {'smokes': (False, True)}
    """
    columns = {name: schema.columns[name] for name in schema.used}
    return {
        name: column.levels if isinstance(column, Categorical) else (False, True)
        for name, column in columns.items()
        if not isinstance(column, Numeric)
    }


@dataclass(frozen=True, eq=False)
class TableMixture(Mixture):
    """Weights, means and covariances of the numbers, and probabilities (K, all levels) of the levels.

    Examples
    --------
    >>> import numpy as np
    >>> encoded = Mixture(np.ones(1), np.array([[0.5, 0.2]]), np.diag([0.1, 0.96])[None])
    >>> product = TableMixture.of(encoded, TableLayout((0,), ((1,),)))
    >>> product.means, product.probabilities
    (array([[0.5]]), array([[0.4, 0.6]]))
    """

    layout: TableLayout
    probabilities: Array

    @classmethod
    def of(cls, encoded: Mixture, layout: TableLayout) -> TableMixture:
        """Return the mixture of products that is nearest to a Gaussian mixture of encoded rows."""
        numbers = np.array(layout.numbers, dtype=np.intp)
        shares = []
        for places in layout.levels:
            means = encoded.means[:, places]
            shares.append(means if len(places) > 1 else np.hstack([1 - means, 1 + means]) / 2)
        raw = np.hstack([np.empty((encoded.count, 0)), *shares])
        return cls(
            encoded.weights,
            encoded.means[:, numbers],
            encoded.covariances[:, numbers[:, None], numbers],
            layout,
            normalise_levels(raw, layout),
        )

    def components(self) -> TableComponents:
        """Return the mixture in the form a statistic wants."""
        return TableComponents(self.layout, super().components(), self.probabilities)

    def level_probabilities(self, schema: Schema) -> dict[str, Array]:
        """Return the probabilities of levels, (K, levels), by the names of columns."""
        return {
            name: self.probabilities[:, where]
            for name, where in zip(columns_with_levels(schema), self.layout.slices, strict=True)
        }

    def encode(self, labels: np.ndarray, numbers: Array, uniform: Array) -> Array:
        """Return encoded rows with these numbers (rows, d), and levels of the components of `labels`.

        The latter are drawn by numbers from 0 to 1, (rows, columns with levels).
        """
        rows = np.zeros((len(labels), self.layout.width))
        rows[:, self.layout.numbers] = numbers
        for j, (places, where) in enumerate(zip(self.layout.levels, self.layout.slices)):
            reach = np.cumsum(self.probabilities[:, where], axis=1)[labels]
            codes = (uniform[:, j, None] * reach[:, -1:] >= reach[:, :-1]).sum(axis=1)
            if len(places) == 1:
                rows[:, places[0]] = 2.0 * codes - 1.0
            else:
                rows[np.arange(len(rows)), np.array(places)[codes]] = 1.0
        return rows

    def _merge_pair(self, i: int, j: int) -> TableMixture:
        rest = np.setdiff1d(np.arange(self.count), [i, j])
        numbers, levels = super()._merge_pair(i, j), self._pair_levels(np.array([i]), np.array([j]))
        probabilities = np.concatenate([self.probabilities[rest], levels])
        return TableMixture(numbers.weights, numbers.means, numbers.covariances, self.layout, probabilities)

    def _pair_levels(self, i: np.ndarray, j: np.ndarray) -> Array:
        share = self._pair_shares(i, j)[:, None]
        return share * self.probabilities[i] + (1 - share) * self.probabilities[j]

    def _entropies(self) -> Array:
        return super()._entropies() + _level_entropies(self.probabilities)

    def _pair_entropies(self, i: np.ndarray, j: np.ndarray) -> Array:
        return super()._pair_entropies(i, j) + _level_entropies(self._pair_levels(i, j))

    def take(self, which: np.ndarray, weights: Array) -> TableMixture:
        """Return the components at these places, with these weights."""
        return TableMixture(weights, self.means[which], self.covariances[which], self.layout, self.probabilities[which])


def merge_products(encoded: Mixture, layout: TableLayout, count: int) -> TableMixture:
    """Return a Gaussian mixture of encoded rows as `count` products at most.

    As Gaussians, pieces of different levels but the same numbers seem far apart, and are merged last; as products they
    are merged first, but what goes together within a piece is lost before. Which is better is told by rows drawn from
    the Gaussian mixture: it is private, so that costs nothing.
    """
    ways = TableMixture.of(encoded.merge(count), layout), TableMixture.of(encoded, layout).merge(count)
    if encoded.count <= count:
        return ways[0]
    rng = np.random.default_rng(0)
    labels = rng.choice(encoded.count, size=_DRAWN, p=encoded.weights / encoded.weights.sum())
    scatter = np.einsum(
        "nij,nj->ni", np.linalg.cholesky(encoded.covariances)[labels], rng.normal(size=(_DRAWN, layout.width))
    )
    rows = encoded.means[labels] + scatter
    return max(ways, key=lambda mixture: float(mixture.components().log_density(rows, False).sum()))


def _level_entropies(probabilities: Array) -> Array:
    """Return the entropies of independent columns with such shares of levels, all positive, added up."""
    return -(probabilities * np.log(probabilities)).sum(axis=1)


def normalise_levels(raw: Array, layout: TableLayout, least: Array | float = LEAST_SHARE) -> Array:
    """Return noisy shares (K, all levels) as probabilities: none below `least`, those of a column adding up to 1.

    Examples
    --------
    >>> normalise_levels(np.array([[0.6, 0.5, -0.1]]), TableLayout((), ((0, 1, 2),)), least=0.01).round(2)
    array([[0.54, 0.45, 0.01]])
    """
    shares = np.maximum(raw, least)
    for where in layout.slices:
        shares[:, where] /= shares[:, where].sum(axis=1, keepdims=True)
    return shares
