"""A mixture of products: a component is a Gaussian of the numbers, and probabilities of the levels of other columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.mixture.mixture import Mixture
from tacit.statistics import TableComponents, TableLayout
from tacit.tables import Categorical, Domain, Numeric, Schema

# Number of rows drawn from the mixture that two ways of merging are compared on.
_COMPARED_ROWS = 4096
# Least probability of a level in a component: a rare level is not impossible. benchmarks/synthetic.py measures what it
# gives on Adult.
_LEAST_PROBABILITY = 1e-4
# How far softened probabilities are on the way to those in all rows. 0.25 to 0.75 all do, on the tables of
# tests/unit/mixture/test_settling.py.
_SOFTENED = 0.5


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
        frequencies = [np.empty((encoded.count, 0))]
        for places in layout.levels:
            means = encoded.means[:, places]
            frequencies.append(means if len(places) > 1 else np.hstack([1 - means, 1 + means]) / 2)
        return cls(
            encoded.weights,
            encoded.means[:, numbers],
            encoded.covariances[:, numbers[:, None], numbers],
            layout,
            normalise_levels(np.hstack(frequencies), layout),
        )

    def soften_levels(self) -> TableMixture:
        """Return the mixture with probabilities of levels halfway to those in all rows.

        A mixture that grows on encoded rows cuts them by their levels, if it can, and EM takes very many rounds to
        leave probabilities near 0 and 1 again.

        Examples
        --------
        >>> encoded = Mixture(np.array([0.25, 0.75]), np.array([[-1.0], [1.0]]), np.full((2, 1, 1), 0.01))
        >>> TableMixture.of(encoded, TableLayout((), ((0,),))).soften_levels().probabilities.round(2)
        array([[0.62, 0.38],
               [0.13, 0.87]])
        """
        frequencies = self.weights @ self.probabilities
        return replace(self, probabilities=_SOFTENED * frequencies + (1 - _SOFTENED) * self.probabilities)

    def components(self) -> TableComponents:
        """Return the mixture in the form that statistics take."""
        return TableComponents(self.layout, super().components(), self.probabilities)

    def level_probabilities(self, schema: Schema) -> dict[str, Array]:
        """Return the probabilities of levels, (K, levels), by the names of columns."""
        return {
            name: self.probabilities[:, where]
            for name, where in zip(columns_with_levels(schema), self.layout.slices, strict=True)
        }

    def encode(self, labels: np.ndarray, numbers: Array, uniform: Array) -> Array:
        """Return encoded rows with these numbers (rows, d), and with levels drawn from the components of `labels`.

        Levels are drawn by inverting the distribution function at `uniform`, numbers from 0 to 1 of shape (rows,
        columns with levels).
        """
        rows = np.zeros((len(labels), self.layout.width))
        rows[:, self.layout.numbers] = numbers
        for j, (places, where) in enumerate(zip(self.layout.levels, self.layout.slices)):
            cumulative = np.cumsum(self.probabilities[:, where], axis=1)[labels]
            codes = (uniform[:, j, None] * cumulative[:, -1:] >= cumulative[:, :-1]).sum(axis=1)
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
        proportion = self._pair_proportions(i, j)[:, None]
        return proportion * self.probabilities[i] + (1 - proportion) * self.probabilities[j]

    def _entropies(self) -> Array:
        return super()._entropies() + _level_entropies(self.probabilities)

    def _pair_entropies(self, i: np.ndarray, j: np.ndarray) -> Array:
        return super()._pair_entropies(i, j) + _level_entropies(self._pair_levels(i, j))

    def take(self, which: np.ndarray, weights: Array) -> TableMixture:
        """Return the components at these places, with these weights."""
        return TableMixture(weights, self.means[which], self.covariances[which], self.layout, self.probabilities[which])


def merge_products(encoded: Mixture, layout: TableLayout, count: int) -> TableMixture:
    """Return a Gaussian mixture of encoded rows as `count` products at most.

    There are two ways. If components are merged as Gaussians, those with different levels and the same numbers seem far
    apart and are merged last. If they are merged as products, those are merged first, but what goes together within a
    component is lost before. Rows drawn from the Gaussian mixture tell which way is better. It is private already, so
    that this costs nothing.
    """
    ways = TableMixture.of(encoded.merge(count), layout), TableMixture.of(encoded, layout).merge(count)
    if encoded.count <= count:
        return ways[0]
    rng = np.random.default_rng(0)
    labels = rng.choice(encoded.count, size=_COMPARED_ROWS, p=encoded.weights / encoded.weights.sum())
    scatter = np.einsum(
        "nij,nj->ni", np.linalg.cholesky(encoded.covariances)[labels], rng.normal(size=(_COMPARED_ROWS, layout.width))
    )
    rows = encoded.means[labels] + scatter
    return max(ways, key=lambda mixture: float(mixture.components().log_density(rows, False).sum()))


def _level_entropies(probabilities: Array) -> Array:
    """Return the summed entropies of independent columns with these probabilities of levels, all of them positive."""
    return -(probabilities * np.log(probabilities)).sum(axis=1)


def normalise_levels(frequencies: Array, layout: TableLayout, least: Array | float = _LEAST_PROBABILITY) -> Array:
    """Return noisy frequencies (K, all levels) as probabilities, none below `least`, that add up to 1 in each column.

    Examples
    --------
    >>> normalise_levels(np.array([[0.6, 0.5, -0.1]]), TableLayout((), ((0, 1, 2),)), least=0.01).round(2)
    array([[0.54, 0.45, 0.01]])
    """
    probabilities = np.maximum(frequencies, least)
    for where in layout.slices:
        probabilities[:, where] /= probabilities[:, where].sum(axis=1, keepdims=True)
    return probabilities
