"""Fitted regressions as their reader knows them: by input, in its units and the target's. No row is ever seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.latent import MissingCovariateRegression, MixtureOfRegressions
from tacit.report.feature_views import FeatureView, ignored
from tacit.tables.features import features

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegressionView(FeatureView):
    """Coefficients of one regression or of several.

    Of a column of true and false a coefficient is what being true adds. Of a column with levels it is what a level
    adds to a row that has the levels' average: levels have one in common that no table can tell.

    Parameters
    ----------
    target : str
        What it is called.
    weights, intercepts, scales : (K,) arrays
        Scales are standard deviations of residuals.
    slopes : (K, d) array
        What one more of a feature, as it is shown, adds to the target.
    errors : (K, d) array or None
        Standard errors of slopes, where they are known.
    middles, steps : (d,) arrays
        Means of features as they are shown; and by how much they change at one stroke: one standard deviation of
        numbers, from none to all of shares.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(9000, 2)) * [1.0, 10.0]
    >>> model = tacit.MixtureOfRegressions(1, bounds=50, target_bounds=50, random_state=0)
    >>> view = RegressionView.of(model.fit(X, X @ [1.0, 0.5] + np.random.default_rng(1).normal(size=9000)))
    >>> view.slopes.round(1), view.effects.round()
    (array([[1. , 0.5]]), array([[1., 5.]]))
    """

    target: str
    weights: Array
    intercepts: Array
    scales: Array
    slopes: Array
    errors: Array | None
    middles: Array
    steps: Array

    @classmethod
    def of(cls, model: MixtureOfRegressions | MissingCovariateRegression) -> RegressionView:
        """Return the view of a fitted regression, or of a mixture of them."""
        one = isinstance(model, MissingCovariateRegression)
        intercepts = np.array([model.intercept_]) if one else model.intercept_
        found = features(model._domain)
        if model._domain.unbounded:
            found = tuple(replace(each, low=-np.inf, high=np.inf) for each in found)
        units = np.array([each.unit for each in found])
        slopes = np.atleast_2d(model.coef_) / units
        middles = np.array([each.shown(mean) for each, mean in zip(found, model.inputs_mean_)])
        steps = np.sqrt(np.diag(model.inputs_covariance_)) * units
        steps[[each.is_share for each in found]] = 1.0
        names = model._joint.names
        view = cls(
            found,
            tuple(name for name in ignored(model._domain) if names is None or name != names[-1]),
            "the target" if names is None else str(names[-1]),
            np.ones(1) if one else model.weights_,
            intercepts - slopes @ np.array([each.middle for each in found]),
            np.array([model.scale_]) if one else model.scales_,
            slopes,
            None,
            middles,
            steps,
        )
        covariances = model._coefficient_covariances()
        return view._about_average_levels(None if covariances is None else covariances / np.outer(units, units))

    def _about_average_levels(self, covariances: Array | None) -> RegressionView:
        """Return the same regressions with the levels of a category measured from their average."""
        average = np.zeros((len(self.features), len(self.features)))
        for column in {each.column for each in self.features if _is_level(each)}:
            places = [j for j, each in enumerate(self.features) if each.column == column]
            shares = np.clip(self.middles[places], 1e-3, 1.0)
            average[np.ix_(places, places)] = shares / shares.sum()
        apart = np.eye(len(average)) - average
        firsts = [j for j, each in enumerate(self.features) if _is_level(each) and self._is_first(j)]
        errors = None
        if covariances is not None:
            errors = np.sqrt(np.maximum(np.einsum("ij,kjl,il->ki", apart, covariances, apart), 0.0))
        intercepts = self.intercepts + (self.slopes @ average.T)[:, firsts].sum(axis=1)
        return replace(self, slopes=self.slopes @ apart.T, intercepts=intercepts, errors=errors)

    def _is_first(self, place: int) -> bool:
        return place == 0 or self.features[place - 1].column != self.features[place].column

    @property
    def count(self) -> int:
        """How many regressions there are, copies included."""
        return len(self.weights)

    @property
    def effects(self) -> Array:
        """What one step of each feature adds to the target, (K, d)."""
        return self.slopes * self.steps

    @property
    def effect_errors(self) -> Array | None:
        """Standard errors of effects, where they are known."""
        return None if self.errors is None else self.errors * self.steps

    def strongest(self, most: int) -> list[int]:
        """Return the features with the largest effects in any component, the largest first."""
        return np.argsort(-np.abs(self.effects).max(axis=0), kind="stable")[:most].tolist()

    def telling(self, most: int) -> list[int]:
        """Return the features that are numbers in whose effects components differ most, or the strongest of one."""
        apart = np.ptp(self.effects, axis=0) if self.count > 1 else np.abs(self.effects[0])
        order = np.argsort(-apart, kind="stable").tolist()
        return [j for j in order if not self.features[j].is_share][:most]

    def at_average(self, feature: int, values: Array) -> Array:
        """Return what each component expects of the target, (K, values), as one feature varies and others do not."""
        levels = np.array([_is_level(each) for each in self.features])
        middles = np.where(levels, 0.0, self.middles)  # an average row has the levels' average, from which they count
        average = self.intercepts + self.slopes @ middles
        return average[:, None] + self.slopes[:, feature, None] * (values - self.middles[feature])

    def copies(self) -> list[list[int]]:
        """Return groups of regressions that are the same."""
        groups: dict[bytes, list[int]] = {}
        for k in range(self.count):
            same = np.concatenate([self.slopes[k], [self.intercepts[k], self.scales[k]]])
            groups.setdefault(same.tobytes(), []).append(k)
        return list(groups.values())


def _is_level(feature: Any) -> bool:
    """Return whether it is one level of several, and not a column of true and false."""
    return bool(feature.is_share and feature.label != feature.column)
