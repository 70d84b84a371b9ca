"""Rows that no component explains: a mixture's tails, as a wide density of small weight.

Gaussians have light tails, and clipping makes them lighter still: of rows far out only their direction is seen. Where
data has heavy tails, in a direction that few rows vary in, a handful of rows can then be all but impossible under the
fitted mixture, and ruin it as a density.

One more release, of :class:`tacit.statistics.OutlierCount`, tells how many rows a wide density explains a thousand
times better than the mixture: the whole table as one component, as the first rounds saw it, with independent columns
and three times the variances. If the mixture were right, hardly any would be. If there clearly are more, the density
becomes

    (1 - weight) mixture + weight wide,

with that share of rows as the weight. The components stay what they were asked to be; the wide density is nobody's
cluster. This is the noise component of Banfield and Raftery (1993), with private parameters. Where rows are as Gaussian
as the components, nothing is added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.fitting.engine import Noise
from tacit.mixture.mixture import Mixture
from tacit.mixture.scale_free import Fit, constrained
from tacit.mixture.table_mixture import TableMixture
from tacit.privacy import Gaussian, Step
from tacit.statistics import OutlierCount, TableComponents, TableLayout
from tacit.statistics.components import Array, Components

OUTLIERS = "outliers"
_SHARE = 0.5  # of the budget, in squared signal-to-noise, beside 1 for a growing round
_ROUND = 1  # the one after which the whole table is seen well enough, and not yet clipped to its core
_WIDER = 3.0  # times the variances of the whole table
_EXPECTED = 1e-3  # share of rows that may count though the mixture is right
_TOO_MANY = 3.0  # times that
_CLEAR = 2.0  # standard deviations of noise that the count must be above zero
_MOST = 0.5


@dataclass(frozen=True, eq=False)
class Outliers:
    """Rows that no component explains, in the units of the rows.

    Parameters
    ----------
    weight : float
        The share of rows they are.
    mean, variances : (d,) arrays
        Of their numbers, which are independent Gaussians.
    level_probabilities : dict of arrays
        Of columns with levels, by name.
    """

    weight: float
    mean: Array
    variances: Array
    level_probabilities: dict[str, Array]


@dataclass(frozen=True, eq=False)
class Outlying:
    """Where a fit stands, and what is known of rows that it does not explain."""

    fit: Fit
    wide: Mixture | None = None  # the density of outliers, one component
    weight: float = 0.0  # their share of the rows

    @property
    def rows(self) -> float | None:
        """How many rows there are, as far as is known."""
        return self.fit.rows


@dataclass
class WithOutliers:
    """A model of the scale-free family with one more round: how many rows are outliers.

    Parameters
    ----------
    model : ScaleFree or TableScaleFree
    layout : TableLayout
        Of encoded rows; with at least one column of numbers.
    """

    model: Any
    layout: TableLayout

    @property
    def rounds(self) -> Sequence[str]:
        """Name of the plan's step that each round releases, in order."""
        return [*self.model.rounds, OUTLIERS]

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        return [*self.model.steps(), Gaussian(OUTLIERS, 1.0 / math.sqrt(_SHARE), 1, 1)]

    def start(self) -> Outlying:
        """Return what the model starts with."""
        return Outlying(self.model.start())

    def statistic(self, state: Outlying, index: int, noise: Noise) -> tuple[Outlying, Any]:
        """Return what the model's next round releases; in the last one, the count."""
        if index == len(self.model.rounds):
            mixture, wide = (_in_table(each) for each in (state.fit.mixture.components(), state.wide.components()))
            return state, OutlierCount(mixture, wide, self.model.missing, _EXPECTED)
        fit, statistic = self.model.statistic(state.fit, index, noise)
        return replace(state, fit=fit), statistic

    def update(self, state: Outlying, index: int, statistic: Any, released: Array, noise: float) -> Outlying:
        """Do as the model does; at the end, weigh the wide density."""
        if index == len(self.model.rounds):
            return replace(state, weight=self._weight(state, float(released[0]), noise))
        state = replace(state, fit=self.model.update(state.fit, index, statistic, released, noise))
        return replace(state, wide=self._whole(state.fit.mixture)) if index == _ROUND else state

    def _weight(self, state: Outlying, count: float, noise: float) -> float:
        rows = max(state.rows, 1.0)
        clear = count > max(_TOO_MANY * _EXPECTED * rows, _CLEAR * noise)
        return min(count / rows, _MOST) if clear else 0.0

    def _whole(self, mixture: Mixture) -> Mixture:
        """Return the whole table as one wide component with independent columns."""
        if self.layout.levels and not isinstance(mixture, TableMixture):
            mixture = TableMixture.of(mixture, self.layout)
        one = constrained(mixture.merge(1), "diag")
        wide = replace(one, covariances=_WIDER * one.covariances)
        if not isinstance(mixture, TableMixture):
            return wide
        levels = (mixture.weights @ mixture.probabilities)[None]
        return TableMixture(wide.weights, wide.means, wide.covariances, self.layout, levels)

    def finish(self, state: Outlying) -> Mixture:
        """Return the final mixture."""
        return self.model.finish(state.fit)


def with_outliers(mixture: Mixture, wide: Mixture, weight: float) -> Mixture:
    """Return the whole density as one mixture, the outliers' component last.

    Examples
    --------
    >>> one = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> with_outliers(one, one, 0.25).weights
    array([0.75, 0.25])
    """
    parts = [np.concatenate([getattr(each, part) for each in (mixture, wide)]) for part in ("means", "covariances")]
    weights = np.append((1 - weight) * mixture.weights, weight)
    if not isinstance(mixture, TableMixture):
        return Mixture(weights, *parts)
    return TableMixture(weights, *parts, mixture.layout, np.concatenate([mixture.probabilities, wide.probabilities]))


def _in_table(components: Components | TableComponents) -> TableComponents:
    return components if isinstance(components, TableComponents) else TableComponents.of_numbers(components)
