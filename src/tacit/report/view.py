"""A fitted mixture as its reader knows it: by column, in the columns' units. Made of private parameters alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.messages import describe
from tacit.mixture import GaussianMixture
from tacit.mixture.outliers import Outliers
from tacit.mixture.product_estimates import moment_weights
from tacit.mixture.scale_free_schedule import REFINING
from tacit.mixture.table_mixture import table_layout
from tacit.tables import Boolean, Categorical, Domain, Numeric

Pair = tuple[int, int]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers: where it is among them, and its public range."""

    name: str
    place: int
    low: float
    high: float
    description: str = ""


@dataclass(frozen=True)
class LevelColumn:
    """A column of categories, or of true and false: its levels."""

    name: str
    levels: tuple[str, ...]
    description: str = ""
    boolean: bool = False


@dataclass(frozen=True, eq=False)
class MixtureView:
    """The private parameters of a mixture, by column.

    Parameters
    ----------
    weights, means, covariances : (K,), (K, d) and (K, d, d) arrays
        Means and covariances of the columns of numbers, in their units.
    columns : tuple of NumberColumn and LevelColumn
    ignored : tuple of str
        Names of columns that the schema leaves out.
    probabilities : dict of (K, levels) arrays
        Probabilities of levels, by the column's name, in the order of its levels.
    outliers : Outliers or None
        Rows that no component explains, if there are some.
    level_noise : (K,) array or None
        The standard deviation of the noise on a probability of a level in one release of each component, if known.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal([50, 7], [10, 1], (5000, 2))
    >>> view = MixtureView.of(tacit.GaussianMixture(1, bounds=(0, 100)).fit(X))
    >>> [column.name for column in view.numbers], view.best_pairs(3)
    (['column 1', 'column 2'], [(0, 1)])
    """

    weights: Array
    means: Array
    covariances: Array
    columns: tuple[NumberColumn | LevelColumn, ...]
    ignored: tuple[str, ...] = ()
    probabilities: Mapping[str, Array] = field(default_factory=dict)
    outliers: Outliers | None = None
    level_noise: Array | None = None

    @classmethod
    def of(cls, model: Any) -> MixtureView:
        """Return the view of a fitted :class:`tacit.GaussianMixture`."""
        if not isinstance(model, GaussianMixture):
            raise TypeError(f"A report is about a fitted tacit.GaussianMixture, and this is a {type(model).__name__}.")
        check_is_fitted(model, "privacy_")
        domain, schema = model._domain, model._domain.schema
        scale = domain.scale[list(table_layout(domain).numbers)]
        columns = _columns(domain)
        true_first = {column.name for column in columns if isinstance(column, LevelColumn) and column.boolean}
        return cls(
            model.weights_,
            model.means_,
            model._mixture.covariances * np.outer(scale, scale),
            columns,
            () if schema is None else tuple(name for name in schema.names if name not in schema.used),
            {
                name: each[:, ::-1] if name in true_first else each
                for name, each in getattr(model, "level_probabilities_", {}).items()
            },
            model.outliers_ if model.outliers_ is not None and model.outliers_.weight else None,
            _level_noise(model),
        )

    @property
    def count(self) -> int:
        """How many components there are, copies included."""
        return len(self.weights)

    @property
    def numbers(self) -> tuple[NumberColumn, ...]:
        """The columns that can be drawn on an axis."""
        return tuple(column for column in self.columns if isinstance(column, NumberColumn))

    def deviations(self, place: int) -> Array:
        """Return the components' standard deviations in one column of numbers."""
        return np.sqrt(self.covariances[:, place, place])

    def overall(self, place: int) -> tuple[float, float]:
        """Return mean and standard deviation of all rows, outliers too, in one column of numbers."""
        weights, means, variances = self.weights, self.means[:, place], self.covariances[:, place, place]
        if self.outliers is not None:
            weights = np.append((1 - self.outliers.weight) * weights, self.outliers.weight)
            means = np.append(means, self.outliers.mean[place])
            variances = np.append(variances, self.outliers.variances[place])
        mean = float(weights @ means)
        return mean, math.sqrt(weights @ (variances + (means - mean) ** 2))

    def level_proportions(self, column: LevelColumn) -> Array:
        """Return the proportion of each level in each component, (K, levels), and in the last row, overall."""
        by_component = self.probabilities[column.name]
        return np.vstack([by_component, self.weights @ by_component])

    def copies(self) -> list[list[int]]:
        """Return groups of components that are the same."""
        groups: list[list[int]] = []
        for k in range(self.count):
            for group in groups:
                first = group[0]
                of_components = (self.means, self.covariances, *self.probabilities.values())
                if all(np.array_equal(values[k], values[first]) for values in of_components):
                    group.append(k)
                    break
            else:
                groups.append([k])
        return groups

    def overlap(self, i: int, j: int) -> float:
        """Return how alike two components are, from 0 to 1 (Bhattacharyya coefficient)."""
        units = np.sqrt(np.diagonal(self.covariances[i] + self.covariances[j]))  # Then units do not matter.
        first, second = (self.covariances[k] / np.outer(units, units) for k in (i, j))
        middle, apart = (first + second) / 2, (self.means[i] - self.means[j]) / units
        volumes = np.linalg.slogdet(np.stack([middle, first, second]))[1]
        distance = apart @ np.linalg.solve(middle, apart) / 8 + (volumes[0] - (volumes[1] + volumes[2]) / 2) / 2
        overlaps = [float(np.sqrt(each[i] * each[j]).sum()) for each in self.probabilities.values()]
        return float(np.exp(-max(0.0, distance)) * math.prod(min(1.0, overlap) for overlap in overlaps))

    def best_pairs(self, most: int) -> list[Pair]:
        """Return the pairs of number columns, by position among them, that tell components apart best.

        Separation is half the log of how much larger the whole mixture's covariance is, in area, than that within
        components. Where there is none, the pairs that fill the most of their public range. A column already chosen
        counts for half, so that three pictures show more than one column three times.
        """
        mean = self.weights @ self.means
        within = np.einsum("k,kij->ij", self.weights, self.covariances)
        total = within + np.einsum("k,ki,kj->ij", self.weights, self.means - mean, self.means - mean)

        def separation(pair: Pair) -> float:
            places = np.ix_(*[[self.numbers[i].place for i in pair]] * 2)
            return float(np.linalg.slogdet(total[places])[1] - np.linalg.slogdet(within[places])[1]) / 2

        def spread(pair: Pair) -> float:
            columns = [self.numbers[i] for i in pair]
            return float(np.prod([math.sqrt(total[c.place, c.place]) / (c.high - c.low) for c in columns]))

        pairs = list(combinations(range(len(self.numbers)), 2))
        score = separation if len(self.copies()) > 1 else spread
        scores = {pair: score(pair) for pair in pairs}
        chosen: list[Pair] = []
        while len(chosen) < min(most, len(pairs)):
            shown = [i for pair in chosen for i in pair]
            left = [pair for pair in pairs if pair not in chosen]
            chosen.append(max(left, key=lambda pair: scores[pair] * 0.5 ** sum(i in shown for i in pair)))
        return chosen

    def find_pair(self, pair: Sequence[str | int]) -> Pair:
        """Return two number columns by position among them, from two names or positions among all columns."""
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"A pair is two columns, by name or by position, and this is {describe(pair)}.")
        first, second = (self._find(column) for column in pair)
        if first == second:
            raise ValueError(f"A pair is two different columns, and this is {self.numbers[first].name!r} twice.")
        return first, second

    def _find(self, wanted: str | int) -> int:
        names = [column.name for column in self.columns]
        if isinstance(wanted, str) and wanted in names:
            column = self.columns[names.index(wanted)]
        elif isinstance(wanted, (int, np.integer)) and 0 <= wanted < len(names):
            column = self.columns[wanted]
        else:
            raise ValueError(f"There is no column {describe(wanted)}; the columns are {', '.join(map(repr, names))}.")
        if isinstance(column, LevelColumn):
            drawable = ", ".join(repr(column.name) for column in self.numbers) or "none"
            raise ValueError(f"Column {column.name!r} has levels, not numbers; those that can be drawn are {drawable}.")
        return self.numbers.index(column)


def _level_noise(model: GaussianMixture) -> Array | None:
    """Return the noise on a probability of a level in a refining release of each component, from public numbers."""
    layout = table_layout(model._domain)
    scales = [record.noise_scale for record in model.privacy_.releases if record.name == REFINING]
    if not layout.levels or not scales or model._rows_known is None:
        return None
    weight = moment_weights(layout, model.covariance_type, model.neighbors)[2]
    rows = np.maximum(model.weights_ * model._rows_known, 1.0)
    return scales[-1] * math.sqrt(len(layout.levels)) / weight / rows


def _columns(domain: Domain) -> tuple[NumberColumn | LevelColumn, ...]:
    extent = math.sqrt(domain.columns) if domain.ball else 1.0
    low, high = domain.centre - extent * domain.scale, domain.centre + extent * domain.scale
    if domain.schema is None:
        names = domain.names or [f"column {j + 1}" for j in range(domain.columns)]
        return tuple(NumberColumn(str(name), j, low[j], high[j]) for j, name in enumerate(names))
    columns: list[NumberColumn | LevelColumn] = []
    numbers = count()
    for name in domain.schema.used:
        column = domain.schema.columns[name]
        if isinstance(column, Numeric):
            columns.append(NumberColumn(name, next(numbers), column.low, column.high, column.description))
        elif isinstance(column, Categorical):
            columns.append(LevelColumn(name, tuple(map(str, column.levels)), column.description))
        elif isinstance(column, Boolean):
            columns.append(LevelColumn(name, ("true", "false"), column.description, boolean=True))
    return tuple(columns)
