"""Fitted centres, moments and factors as their reader knows them: by feature, in its units. No row is ever seen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tacit.arrays import Array
from tacit.clusters import KMeans
from tacit.messages import describe
from tacit.moments import FactorAnalysis, Moments
from tacit.tables import Domain
from tacit.tables.features import Feature, features


@dataclass(frozen=True, eq=False)
class FeatureView:
    """What views by feature share.

    Parameters
    ----------
    features : tuple of Feature
        The features of encoded rows; a category has one for each level.
    ignored : tuple of str
        Names of columns that the schema leaves out.
    """

    features: tuple[Feature, ...]
    ignored: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        return tuple(dict.fromkeys(feature.column for feature in self.features))


@dataclass(frozen=True, eq=False)
class ClusterView(FeatureView):
    """Centres of clusters.

    Parameters
    ----------
    centres : (K, d) array
        Centres as they are shown: numbers in their units, levels as proportions.
    standing : (K, d) array
        How far a centre is from the middle of all, in the distances that clusters are found by: from -1 to 1, the
        largest of all being 1.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal([[30.0, 1.0]], 0.1, (4000, 2))
    >>> X[:2000, 0] += 60
    >>> view = ClusterView.of(tacit.KMeans(2, bounds=(0, 100), random_state=0).fit(X))
    >>> view.standing.round(1) + 0.0, view.best_pairs(3)
    (array([[ 1.,  0.],
           [-1.,  0.]]), [(0, 1)])
    """

    centres: Array
    standing: Array

    @classmethod
    def of(cls, model: KMeans) -> ClusterView:
        """Return the view of a fitted :class:`tacit.KMeans`."""
        found = features(model._domain)
        centres = np.column_stack([each.display(model.cluster_centers_[:, j]) for j, each in enumerate(found)])
        apart = model._centres - model._centres.mean(axis=0)
        return cls(found, ignored_columns(model._domain), centres, apart / max(np.abs(apart).max(), 1e-300))

    @property
    def count(self) -> int:
        """How many centres there are, copies included."""
        return len(self.centres)

    @property
    def numbers(self) -> list[int]:
        """The features that can be drawn on an axis."""
        return [j for j, each in enumerate(self.features) if not each.is_proportion]

    def copies(self) -> list[list[int]]:
        """Return groups of centres that are the same."""
        groups: dict[bytes, list[int]] = {}
        for k, centre in enumerate(self.centres):
            groups.setdefault(centre.tobytes(), []).append(k)
        return list(groups.values())

    def deciding_column(self) -> tuple[str, float]:
        """Return the column in which centres are farthest apart, and its proportion of their squared distances."""
        powers: dict[str, float] = {}
        for feature, power in zip(self.features, (self.standing**2).sum(axis=0)):
            powers[feature.column] = powers.get(feature.column, 0.0) + float(power)
        column = max(powers, key=lambda name: powers[name])
        return column, powers[column] / max(sum(powers.values()), 1e-300)

    def best_pairs(self, most: int) -> list[tuple[int, int]]:
        """Return the pairs of numbers in which centres are farthest apart, no feature twice while there are others."""
        spread = (self.standing**2).sum(axis=0)
        order = sorted(self.numbers, key=lambda j: -spread[j])
        pairs = [(order[i], order[i + 1]) for i in range(0, len(order) - 1, 2)]
        pairs += [pair for pair in combinations(order, 2) if pair not in pairs]
        return pairs[:most]

    def find_pair(self, pair: tuple[str | int, str | int]) -> tuple[int, int]:
        """Return two features that are numbers, from two names or positions among the columns."""
        names, columns = {self.features[j].column: j for j in self.numbers}, self.columns
        found = []
        for wanted in pair:
            name = columns[wanted] if isinstance(wanted, int) and 0 <= wanted < len(columns) else wanted
            if name not in names:
                drawable = ", ".join(map(repr, names)) or "none"
                raise ValueError(
                    f"There is no column of numbers {describe(wanted)}; those that can be drawn are {drawable}."
                )
            found.append(names[name])
        if len(found) != 2 or found[0] == found[1]:
            raise ValueError(f"A pair is two different columns, by name or by position, and this is {describe(pair)}.")
        return found[0], found[1]


@dataclass(frozen=True, eq=False)
class MomentsView(FeatureView):
    """Means, standard deviations and correlations.

    Parameters
    ----------
    means, deviations : (d,) arrays
        Moments as they are shown.
    correlations : (d, d) array

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(9000, 2)) @ [[1, 0.8], [0, 0.6]]
    >>> view = MomentsView.of(tacit.Moments(bounds=20.0, random_state=0).fit(X))
    >>> [(i, j, round(r, 1)) for i, j, r in view.strongest(5)]
    [(0, 1, 0.8)]
    """

    means: Array
    deviations: Array
    correlations: Array

    @classmethod
    def of(cls, model: Moments) -> MomentsView:
        """Return the view of fitted :class:`tacit.Moments`."""
        found = features(model._domain)
        deviations = np.sqrt(np.diag(model.covariance_))
        correlations = model.covariance_ / deviations
        correlations /= deviations[:, None]
        means = np.array([each.display(mean) for each, mean in zip(found, model.mean_)])
        units = np.array([each.unit for each in found])
        return cls(found, ignored_columns(model._domain), means, deviations * units, np.clip(correlations, -1.0, 1.0))

    def strongest(self, most: int) -> list[tuple[int, int, float]]:
        """Return the strongest correlations, the largest first: of features of different columns, and one for a pair.

        Many pairs of levels of the same two columns would say the same again.
        """
        rows, others = np.triu_indices(len(self.features), 1)
        order = np.argsort(-np.abs(self.correlations[rows, others]), kind="stable")
        found: dict[frozenset[str], tuple[int, int, float]] = {}
        for i, j in zip(rows[order].tolist(), others[order].tolist()):
            columns = frozenset((self.features[i].column, self.features[j].column))
            if len(columns) == 2 and columns not in found:
                found[columns] = (i, j, float(self.correlations[i, j]))
            if len(found) == most:
                break
        return list(found.values())


@dataclass(frozen=True, eq=False)
class FactorView(FeatureView):
    """Loadings, as correlations of features with factors, and what factors explain.

    Parameters
    ----------
    means, deviations : (d,) arrays
        Parameters of the model, as they are shown.
    loadings : (d, q) array
        Correlation of each feature with each factor.
    unique : (d,) array
        Proportion of each feature's variance that is no factor's.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(20_000, 1)) @ [[3.0, -3.0]]
    >>> X += np.random.default_rng(1).normal(size=X.shape)
    >>> view = FactorView.of(tacit.FactorAnalysis(1, bounds=50.0, random_state=0).fit(X))
    >>> view.explained.round(1), view.unique.round(1)
    (array([0.9]), array([0.1, 0.1]))
    """

    means: Array
    deviations: Array
    loadings: Array
    unique: Array

    @classmethod
    def of(cls, model: FactorAnalysis) -> FactorView:
        """Return the view of a fitted :class:`tacit.FactorAnalysis`."""
        found = features(model._domain)
        variances = (model.components_**2).sum(axis=0) + model.noise_variance_
        deviations = np.sqrt(variances)
        means = np.array([each.display(mean) for each, mean in zip(found, model.mean_)])
        units = np.array([each.unit for each in found])
        loadings = model.components_.T / deviations[:, None]
        unique = model.noise_variance_ / variances
        return cls(found, ignored_columns(model._domain), means, deviations * units, loadings, unique)

    @property
    def explained(self) -> Array:
        """The proportion of the variance of all features, each in its own units, that each factor explains."""
        return np.mean(self.loadings**2, axis=0)


def ignored_columns(domain: Domain) -> tuple[str, ...]:
    """Return the names of columns that the schema leaves out."""
    schema = domain.schema
    return () if schema is None else tuple(name for name in schema.names if name not in schema.used)
