"""Linear predictions as their reader knows them: what each input adds, in its units. No row is ever seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import ndtri

from tacit.arrays import Array
from tacit.report.feature_views import FeatureView, ignored_columns
from tacit.tables.features import Feature, features

NAMELESS = "the target"  # What the target is called if it is an array, which has no name.
CONFIDENCE = 0.9  # How often intervals should hold the truth.
HALF_WIDTH = float(ndtri(0.5 + CONFIDENCE / 2))  # Half the width of an interval, in standard errors.
_LEAST_PROPORTION = 1e-3  # Least proportion of rows that a level is taken to have; noise may put it at 0 or below.


@dataclass(frozen=True, eq=False)
class SlopesView(FeatureView):
    """Coefficients of one linear prediction or of several.

    Parameters
    ----------
    target : str
        What the column is called that is predicted.
    intercepts : (K,) array
    slopes : (K, d) array
        What one more of a feature, as it is shown, adds to a prediction. Of true and false it is what being true adds.
    errors : (K, d) array or None
        Standard errors of slopes, where they are known.
    middles, steps : (d,) arrays
        Means of features as they are shown; and by how much they change at one stroke, so that they can be compared:
        usually one standard deviation of numbers, and from none to all of proportions.
    """

    target: str
    intercepts: Array
    slopes: Array
    errors: Array | None
    middles: Array
    steps: Array

    @property
    def count(self) -> int:
        """How many predictions there are."""
        return len(self.slopes)

    @property
    def effects(self) -> Array:
        """What one step of each feature adds to each prediction, (K, d)."""
        return self.slopes * self.steps

    @property
    def effect_errors(self) -> Array | None:
        """Standard errors of effects, where they are known."""
        return None if self.errors is None else self.errors * self.steps

    @property
    def sure_effects(self) -> Array:
        """How far effects are from zero at least, (K, d): the nearer end of the interval, or 0 if that has zero in it.

        Without standard errors all of an effect counts as sure.
        """
        errors = self.effect_errors
        return np.abs(self.effects) if errors is None else np.maximum(np.abs(self.effects) - HALF_WIDTH * errors, 0.0)

    def strongest(self, most: int) -> list[int]:
        """Return the features with the largest effects in any prediction, the largest first, and none without any.

        Effects are compared by what is sure of them, as the largest of many noisy ones are noise; those of which
        nothing is sure, by how near they are to it.
        """
        effects, errors = np.abs(self.effects), self.effect_errors
        ratios = effects if errors is None else effects / np.maximum(errors, 1e-300)
        order = np.lexsort([-ratios.max(axis=0), -self.sure_effects.max(axis=0)])
        return [j for j in order.tolist() if effects[:, j].any()][:most]

    def by_column(self, shown: list[int]) -> list[tuple[str, list[int]]]:
        """Return features column by column, in the order in which columns come first; levels by their first effect."""
        groups: dict[str, list[int]] = {}
        for j in shown:
            groups.setdefault(self.features[j].column, []).append(j)
        return [(column, sorted(places, key=lambda j: -self.effects[0, j])) for column, places in groups.items()]

    def levels(self) -> list[list[int]]:
        """Return the features of each column with levels."""
        groups: dict[str, list[int]] = {}
        for j, each in enumerate(self.features):
            if is_level(each):
                groups.setdefault(each.column, []).append(j)
        return list(groups.values())

    def average_row(self) -> Array:
        """Return an average row, as it is shown: of columns with levels, their proportions."""
        row = self.middles.copy()
        for places in self.levels():
            row[places] = level_proportions(self.middles[places])
        return row

    def at_average(self, feature: int, values: Array) -> Array:
        """Return each prediction, (K, values), as one feature varies and others do not."""
        average = self.intercepts + self.slopes @ self.average_row()
        return average[:, None] + self.slopes[:, feature, None] * (values - self.middles[feature])

    def from_average(self, covariances: Array | None, weights: Array) -> Self:
        """Return the same predictions with the levels of a column measured from their average.

        All levels of a column have something in common that no table can tell from the intercept. `weights` (d,) are
        those of levels in the average, and `covariances` (K, d, d) of slopes, where they are known.
        """
        if not self.levels() and covariances is None:
            return self
        average = np.zeros((len(self.features), len(self.features)))
        for places in self.levels():
            average[np.ix_(places, places)] = weights[places] / weights[places].sum()
        apart = np.eye(len(average)) - average
        firsts = [places[0] for places in self.levels()]
        errors = self.errors
        if covariances is not None:
            errors = np.sqrt(np.maximum(np.einsum("kij,ij->ki", apart @ covariances, apart), 0.0))
        intercepts = self.intercepts + (self.slopes @ average.T)[:, firsts].sum(axis=1)
        return replace(self, slopes=self.slopes @ apart.T, intercepts=intercepts, errors=errors)


def describe_columns(model: Any) -> dict[str, Any]:
    """Return what a supervised model says of its columns: features of inputs, those ignored, and the target's name."""
    found, names = features(model._domain), model._joint.names
    if model._domain.unbounded:
        found = tuple(replace(each, low=-np.inf, high=np.inf) for each in found)
    left_out = (name for name in ignored_columns(model._domain) if names is None or name != names[-1])
    return {
        "features": found,
        "ignored": tuple(left_out),
        "target": NAMELESS if names is None or names[-1] == "target" else str(names[-1]),
    }


def window_around(middle: float, extent: float, feature: Feature) -> Array:
    """Return the two ends of a feature's values up to `extent` from its middle, inside its public range."""
    ends = np.clip([middle - extent, middle + extent], feature.low, feature.high)
    return ends if ends[0] < ends[1] else np.array([middle - extent, middle + extent])  # The mean is at the very edge.


def level_proportions(measured: Array) -> Array:
    """Return proportions that add up to 1, from noisy ones.

    Examples
    --------
    >>> level_proportions(np.array([0.5, 0.52, -0.3])).round(2)
    array([0.49, 0.51, 0.  ])
    """
    proportions = np.clip(measured, _LEAST_PROPORTION, 1.0)
    return proportions / proportions.sum()


def is_level(feature: Feature) -> bool:
    """Return whether it is one level of several, and not a column of true and false."""
    return feature.is_proportion and feature.label != feature.column


def level_name(feature: Feature) -> str:
    """Return a level without its column, which stands above it.

    Examples
    --------
    >>> level_name(Feature("plan", "plan=paid", 0.0, 1.0, is_proportion=True)), level_name(Feature("age", "age", 0, 99))
    ('paid', 'age')
    """
    return feature.label[len(feature.column) + 1 :] if is_level(feature) else feature.label
