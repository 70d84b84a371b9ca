"""Fitted regressions of latent groups, or on inputs with gaps, as their reader knows them. No row is ever seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.regressions import MissingCovariateRegression, MixtureOfRegressions
from tacit.regressions.options import columns_used
from tacit.report.slopes_view import SlopesView, describe_columns


@dataclass(frozen=True, eq=False)
class RegressionView(SlopesView):
    """Coefficients of one regression or of several.

    Levels of a column are measured from their average over all rows; where inputs were chosen, from levels that were
    not, as these add nothing.

    Parameters
    ----------
    weights, scales : (K,) arrays
        Scales are standard deviations of residuals.
    chosen_from : int, optional
        How many input columns there were to choose from, if the features are chosen ones. Nothing is known of others.

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

    weights: Array
    scales: Array
    chosen_from: int | None = None

    @classmethod
    def of(cls, model: MixtureOfRegressions | MissingCovariateRegression) -> RegressionView:
        """Return the view of a fitted regression, or of a mixture of them."""
        one = isinstance(model, MissingCovariateRegression)
        intercepts = np.array([model.intercept_]) if one else model.intercept_
        columns, used = describe_columns(model), columns_used(model)
        chosen_from = None if model.sparsity is None else len({each.column for each in columns["features"]})
        found = columns["features"] = tuple(columns["features"][j] for j in used)
        units = np.array([each.unit for each in found])
        slopes = np.atleast_2d(model.coef_)[:, used] / units
        middles = np.array([each.display(mean) for each, mean in zip(found, model.inputs_mean_)])
        steps = np.sqrt(np.diag(model.inputs_covariance_)) * units
        steps[[each.is_proportion for each in found]] = 1.0
        view = cls(
            **columns,
            intercepts=intercepts - slopes @ np.array([each.middle for each in found]),
            slopes=slopes,
            errors=None,
            middles=middles,
            steps=steps,
            weights=np.ones(1) if one else model.weights_,
            scales=np.array([model.scale_]) if one else model.scales_,
            chosen_from=chosen_from,
        )
        covariances = model._coefficient_covariances()
        covariances = None if covariances is None else covariances / np.outer(units, units)
        return view.from_average(covariances, view.average_row())

    @property
    def input_columns(self) -> int:
        """How many input columns the table has, chosen or not."""
        return len(self.columns) if self.chosen_from is None else self.chosen_from

    def levels(self) -> list[list[int]]:
        """Return the features of each column with levels; of chosen inputs none, as each counts by itself."""
        return super().levels() if self.chosen_from is None else []

    def telling(self, most: int) -> list[int]:
        """Return the features that are numbers in whose effects components differ most, or the strongest of one."""
        apart = np.ptp(self.effects, axis=0) if self.count > 1 else np.abs(self.effects[0])
        order = np.argsort(-apart, kind="stable").tolist()
        return [j for j in order if not self.features[j].is_proportion][:most]

    def copies(self) -> list[list[int]]:
        """Return groups of regressions that are the same."""
        groups: dict[bytes, list[int]] = {}
        for k in range(self.count):
            same = np.concatenate([self.slopes[k], [self.intercepts[k], self.scales[k]]])
            groups.setdefault(same.tobytes(), []).append(k)
        return list(groups.values())
