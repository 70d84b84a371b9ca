"""A mixture of products: each component is a Gaussian of the numbers and shares of the levels of all other columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.latent.mixture import Mixture
from tacit.statistics import TableComponents, TableLayout
from tacit.statistics.components import Array
from tacit.tables import Numeric, Schema

LEAST_SHARE = 1e-4  # of a level in a component: rare is not impossible


def table_layout(schema: Schema) -> TableLayout:
    """Return where a schema's columns of numbers and of levels are found in encoded rows.

    Examples
    --------
    >>> from tacit.tables import Boolean, Categorical, Numeric, Schema
    >>> table_layout(Schema({"smokes": Boolean(), "age": Numeric(0, 100), "plan": Categorical(["free", "paid"])}))
    TableLayout(numbers=(1,), levels=((0,), (2, 3)))
    """
    places = {name: tuple(range(where.start, where.stop)) for name, where in schema.slices.items()}
    numbers = [name for name in places if isinstance(schema.columns[name], Numeric)]
    return TableLayout(
        tuple(places[name][0] for name in numbers),
        tuple(where for name, where in places.items() if name not in numbers),
    )


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
            shares_of_one(raw, layout),
        )

    def components(self) -> TableComponents:
        """Return the mixture in the form a statistic wants."""
        return TableComponents(self.layout, super().components(), self.probabilities)

    def encode(self, labels: np.ndarray, numbers: Array, rng: np.random.Generator) -> Array:
        """Return encoded rows with these numbers (rows, d), and levels drawn from the components of `labels`."""
        rows = np.zeros((len(labels), self.layout.width))
        rows[:, self.layout.numbers] = numbers
        for places, where in zip(self.layout.levels, self.layout.slices):
            reach = np.cumsum(self.probabilities[:, where], axis=1)[labels]
            codes = (rng.random(len(labels))[:, None] * reach[:, -1:] >= reach[:, :-1]).sum(axis=1)
            if len(places) == 1:
                rows[:, places[0]] = 2.0 * codes - 1.0
            else:
                rows[np.arange(len(rows)), np.array(places)[codes]] = 1.0
        return rows

    def _taken(self, which: np.ndarray, weights: Array) -> Mixture:
        return TableMixture(
            weights, self.means[which], self.covariances[which], self.layout, self.probabilities[which]
        )


def shares_of_one(raw: Array, layout: TableLayout, least: Array | float = LEAST_SHARE) -> Array:
    """Return noisy shares (K, all levels) as probabilities: none below `least`, those of a column adding up to 1.

    Examples
    --------
    >>> shares_of_one(np.array([[0.6, 0.5, -0.1]]), TableLayout((), ((0, 1, 2),)), least=0.01).round(2)
    array([[0.54, 0.45, 0.01]])
    """
    shares = np.maximum(raw, least)
    for where in layout.slices:
        shares[:, where] /= shares[:, where].sum(axis=1, keepdims=True)
    return shares
