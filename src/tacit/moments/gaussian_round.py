"""One round of measuring a Gaussian: mean and covariance, released in coordinates of the last estimate.

Noise sized for the whole of the public bounds would drown a Gaussian that is small beside them. So a round measures
rows with the last covariance as the unit. Methods that need to know where rows lie before they ask anything else make a
few such rounds first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import mean_clipped_variance
from tacit.fitting.column_view import ColumnView
from tacit.fitting.moment_weights import block_weights, clipping_radius
from tacit.fitting.shrinkage import posterior_variance, shrink, shrink_covariance
from tacit.moments.estimates import PublicFacts
from tacit.release import Curator, Measurement
from tacit.statistics import (
    ComponentMoments,
    Components,
    TableComponents,
    TableMoments,
    least_radius,
    numbers_in_second_moment,
)

# The constants below are those of tacit.mixture.scale_free, which says more on them.
_LEAST_VARIANCE = 0.02  # Least variance in any direction, relative to the mean variance.
_LEAST_PRIOR_VARIANCE = 0.05  # Each round takes the estimate to be off by this much at least, as a relative variance.
_HOPELESS = 0.1 * 1.5  # With fewer rows than this, for each column and unit of noise, a release is not used.


@dataclass(frozen=True, eq=False)
class GaussianEstimate:
    """Private estimates of a Gaussian's mean (d,) and covariance (d, d), and of the number of rows.

    Parameters
    ----------
    mean, covariance : arrays
    rows : float or None
        The number of rows, once it is known.
    prior_variances : (float, float)
        How far off mean and covariance may be before the next release, as variances in units of the covariance.
    noise : float
        Standard deviation of the noise on a diagonal entry of the covariance, in units of the one before.
    """

    mean: Array
    covariance: Array
    rows: float | None
    prior_variances: tuple[float, float] = (1.0, 1.0)
    noise: float = 0.0

    @classmethod
    def of_bounds(cls, facts: PublicFacts) -> GaussianEstimate:
        """Return a Gaussian as large as the bounds."""
        return cls(np.zeros(facts.columns), np.eye(facts.columns), facts.rows)

    def component(self) -> Components:
        """Return the Gaussian in the form that a statistic wants."""
        return Components(np.ones(1), self.mean[None], np.linalg.cholesky(self.covariance)[None])


def numbers_in_round(columns: int) -> int:
    """Return how many numbers a round releases: a count, a mean and a second moment.

    Examples
    --------
    >>> numbers_in_round(2)
    6
    """
    return 1 + columns + numbers_in_second_moment("full", columns)


def measure_gaussian(
    curator: Curator | ColumnView, step: str, estimate: GaussianEstimate, facts: PublicFacts, *, missing: bool = False
) -> GaussianEstimate:
    """Return the estimate after one more release, of rows clipped in coordinates of the last one.

    Parameters
    ----------
    curator : Curator or ColumnView
    step : str
        The plan's step: Gaussian, with :func:`numbers_in_round` numbers.
    estimate : GaussianEstimate
        The last one.
    facts : PublicFacts
    missing : bool
        Whether cells may be missing. The last estimate then says what is expected of them, as in an iteration of EM.
    """
    columns = facts.columns
    weights = block_weights(columns, "full", curator.plan.neighbors)
    component = estimate.component()
    statistic: ComponentMoments | TableMoments = ComponentMoments(component, 1.0, *weights, 1.0)
    noise = curator.noise(step, statistic)  # This is the same for every clip radius.
    radius = clipping_radius(columns, "full", None if estimate.rows is None else noise / estimate.rows)
    if missing:
        radius = max(radius, least_radius(columns, "full"))
        statistic = TableMoments(
            TableComponents.of_numbers(component),
            radius,
            *weights,
            1.0,
            1.0,
            "full",
            missing=True,
            fill=mean_clipped_variance(columns, radius),
        )
    else:
        statistic = replace(statistic, radius=radius)
    measurement = curator.measure(step, statistic)

    count = float(statistic.parts(measurement.value)[0][0])
    if facts.rows is not None:
        count += facts.rows - count
    if count < _HOPELESS * measurement.noise * columns:
        rows = max(count, 1.0)  # The estimate stays wide rather than going wrong.
        return replace(estimate, rows=rows, noise=measurement.noise * radius**2 / rows)
    rows = max(count, measurement.noise / statistic.count)
    shift, white, prior_variances = _m_step(statistic, measurement, rows, estimate.prior_variances)
    farthest, factor = math.sqrt(columns), component.factors[0]
    mean = np.clip(estimate.mean + np.einsum("ij,j->i", factor, shift), -farthest, farthest)
    covariance = _within_bounds(factor @ white @ factor.T, facts.least_variances)
    return GaussianEstimate(mean, covariance, rows, prior_variances, measurement.noise * radius**2 / rows)


def _m_step(
    statistic: ComponentMoments | TableMoments,
    measurement: Measurement,
    rows: float,
    prior_variances: tuple[float, float],
) -> tuple[Array, Array, tuple[float, float]]:
    """Return the mean (d,) and the covariance (d, d) in the last estimate's coordinates, and new prior variances.

    Each is shrunk towards the last estimate, 0 and the identity, by how much of it noise explains.
    """
    mean_prior, covariance_prior = prior_variances
    noise, radius = measurement.noise, statistic.radius
    _, sums, squares = statistic.parts(measurement.value)
    mean_noise = noise * radius / statistic.mean / rows
    mean, _ = shrink(sums[0] / rows, mean_noise, mean_prior)
    second = squares[0] / rows - np.outer(mean, mean)
    covariance, covariance_prior = shrink_covariance(
        second, noise * radius**2 / rows, covariance_prior, radius, _LEAST_VARIANCE, "full"
    )
    mean_prior = posterior_variance(mean_prior, mean_noise**2)
    mean_prior /= np.einsum("ii", covariance) / len(mean)
    mean_prior, covariance_prior = np.clip(np.array([mean_prior, covariance_prior]) + _LEAST_PRIOR_VARIANCE, 0.0, 1.0)
    return mean, covariance, (float(mean_prior), float(covariance_prior))


def _within_bounds(covariance: Array, least_variances: Array | float) -> Array:
    """Return a covariance with no variance, in any direction, above d, and no column's below the public least.

    Rows are no longer than sqrt(d). Without that limit, what noise adds round by round would grow without one. A hair
    is added to every column, so that a nearly singular covariance stays positive definite.
    """
    variances, axes = np.linalg.eigh(covariance)
    covariance = (axes * np.minimum(variances, len(covariance))) @ axes.T
    return covariance + np.diag(np.maximum(0.0, least_variances - np.diag(covariance)) + 1e-9)
