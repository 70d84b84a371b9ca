"""Rows that no component explains: the tails of a mixture, as a wide density of small weight.

Gaussians have light tails, and clipping makes them lighter still: of rows far out only their direction is seen. Where
data has heavy tails, in a direction that few rows vary in, a handful of rows can then be all but impossible under the
fitted mixture, and ruin it as a density.

One more release, of :class:`tacit.statistics.OutlierCount`, tells how many rows a wide density explains a thousand
times better than the mixture. That density is the whole table as one component, as the first rounds saw it, with
independent columns and three times the variances. If the mixture were right, hardly any rows would count. If there
clearly are more, the density becomes

    (1 - weight) mixture + weight outliers,

with that proportion of rows as the weight. The components stay what they were asked to be; the wide density is nobody's
cluster. This is the noise component of Banfield and Raftery (1993), with private parameters. Where rows are as Gaussian
as the components, nothing is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.mixture.mixture import Mixture
from tacit.mixture.table_mixture import TableMixture, table_layout
from tacit.release import Measurement
from tacit.statistics import Components, OutlierCount, TableComponents, TableLayout
from tacit.tables import Domain

# Tuned numbers. benchmarks/mixture.py measures what they give, and benchmarks/synthetic.py on Adult.

# Variances of the density of outliers, relative to those of the whole table.
_WIDER = 3.0
# Proportion of rows that may count as outliers though the mixture is right.
_EXPECTED = 1e-3
# There are outliers if this many times as many rows count as are expected,
_TOO_MANY = 3.0
# and if the count is this many standard deviations of noise above zero.
_CLEAR = 2.0
# Largest weight of outliers.
_MOST = 0.5


@dataclass(frozen=True, eq=False)
class Outliers:
    """Rows that no component explains, in the units of the rows.

    Parameters
    ----------
    weight : float
        The proportion of rows they are.
    mean, variances : (d,) arrays
        Of their numbers, which are independent Gaussians.
    level_probabilities : dict of arrays
        Of columns with levels, by name.
    """

    weight: float
    mean: Array
    variances: Array
    level_probabilities: dict[str, Array]

    @classmethod
    def in_units(cls, weight: float, density: Mixture, domain: Domain) -> Outliers:
        """Return outliers of this weight and density, which has one component, in the units of the rows."""
        places = list(table_layout(domain).numbers)
        centre, scale = domain.centre[places], domain.scale[places]
        levels = density.level_probabilities(domain.schema) if isinstance(density, TableMixture) else {}
        return cls(
            weight,
            centre + scale * density.means[0],
            scale**2 * np.diag(density.covariances[0]),
            {name: probabilities[0] for name, probabilities in levels.items()},
        )


def outlier_density(mixture: Mixture, layout: TableLayout) -> Mixture:
    """Return the whole table as one wide component with independent columns."""
    if layout.levels and not isinstance(mixture, TableMixture):
        mixture = TableMixture.of(mixture, layout)
    one = mixture.merge(1).constrain("diag")
    wide = replace(one, covariances=_WIDER * one.covariances)
    if not isinstance(mixture, TableMixture):
        return wide
    return replace(wide, probabilities=(mixture.weights @ mixture.probabilities)[None])


def outlier_count(mixture: Mixture, density: Mixture, missing: bool) -> OutlierCount:
    """Return the statistic of how many rows the density explains far better than the mixture."""
    return OutlierCount(_in_table(mixture.components()), _in_table(density.components()), missing, _EXPECTED)


def outlier_weight(measurement: Measurement, rows: float) -> float:
    """Return the proportion of rows that are outliers: 0 unless there clearly are more than a right mixture has."""
    rows, count = max(rows, 1.0), float(measurement.value[0])
    clear = count > max(_TOO_MANY * _EXPECTED * rows, _CLEAR * measurement.noise)
    return min(count / rows, _MOST) if clear else 0.0


def with_outliers(mixture: Mixture, density: Mixture, weight: float) -> Mixture:
    """Return the whole density as one mixture, the component of outliers last.

    Examples
    --------
    >>> one = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> with_outliers(one, one, 0.25).weights
    array([0.75, 0.25])
    """
    parts = [np.concatenate([getattr(each, part) for each in (mixture, density)]) for part in ("means", "covariances")]
    weights = np.append((1 - weight) * mixture.weights, weight)
    if not isinstance(mixture, TableMixture):
        return Mixture(weights, *parts)
    return TableMixture(weights, *parts, mixture.layout, np.concatenate([mixture.probabilities, density.probabilities]))


def _in_table(components: Components | TableComponents) -> TableComponents:
    return components if isinstance(components, TableComponents) else TableComponents.of_numbers(components)
