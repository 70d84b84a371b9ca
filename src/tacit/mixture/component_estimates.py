"""One round of scale-free EM: components are measured in their own last coordinates, and move by what was released.

Noise sized for the whole of the public bounds would drown components that are small beside them. So each component is
measured with its own last covariance as the unit, starting from the bounds. Noise is then relative to the component,
and the unit contracts geometrically, as in CoinPress (Biswas et al., 2020) for a single Gaussian. A round is::

    noise = curator.noise(step, component_moments(estimates.mixture, kind, neighbors))
    radius = clip_radius(estimates, kind, noise)
    statistic = component_moments(estimates.mixture, kind, neighbors, radius)
    measurement = curator.measure(step, statistic)
    estimates = move_components(estimates, statistic, measurement, n_rows)

Clipping in a component's own coordinates has one danger. A column that is the same in nearly all rows (a rare
condition, a cost that is mostly zero) looks narrower each round, until the few rows that differ are impossible under
the model. So the last release is of plain squared deviations in public coordinates, where nothing is clipped
(``squared_deviations``): where it clearly shows more variance than the model has, ``widen_components`` widens it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import mean_clipped_variance
from tacit.fitting.moment_weights import block_weights, clipping_radius
from tacit.fitting.shrinkage import posterior_variance, shrink, shrink_covariance
from tacit.mixture.mixture import Mixture
from tacit.mixture.prior import MixturePrior
from tacit.privacy import Relation
from tacit.release import Measurement
from tacit.statistics import (
    ComponentMoments,
    ComponentSquares,
    CovarianceType,
    TableComponents,
    TableMoments,
    TableSquares,
    least_radius,
)

# Tuned numbers. benchmarks/mixture.py measures what they give on mixtures, and benchmarks/factor_analysis.py on one
# Gaussian.

# Rows that a component needs, for each column and unit of noise.
ROWS_PER_COMPONENT = 1.5
# Part of the rows that one component needs, below which a release of all rows is not used: estimates stay wide rather
# than going wrong.
_HOPELESS = 0.1

# Least variance in any direction after one round, relative to the mean variance of the component.
_LEAST_VARIANCE = 0.02
# Each round takes estimates to be off by this much at least, as a relative variance: components go on moving.
_LEAST_PRIOR_VARIANCE = 0.05
# Least count of a component, relative to what it would have if all were equally heavy.
_LEAST_PROPORTION = 0.01
# Added to every variance, so that a nearly singular covariance stays positive definite.
_HAIR = 1e-9

# When a column of a component is widened: the measured variance must exceed the estimate by this many standard
# deviations of noise,
_TAIL_DEVIATIONS = 3.0
# and be this many times as large. Less than that costs under a nat, and widening is not free either.
_TAIL_RATIO = 4.0


@dataclass(frozen=True, eq=False)
class MixtureEstimates:
    """Private estimates of a mixture and of the number of rows.

    Parameters
    ----------
    mixture : Mixture
        In coordinates where no row is longer than sqrt(d).
    rows : float or None
        The number of rows, once it is known.
    prior_variances : (2, K) array
        How far off means and covariances may be before the next release, as variances in units of each component.
    level_prior_variances : (K, levels) array or None
        The same for the probabilities of levels, in a table that has them.
    """

    mixture: Mixture
    rows: float | None
    prior_variances: Array
    level_prior_variances: Array | None = None


def initial_estimates(columns: int, n_rows: int | None, means: Array | None = None) -> MixtureEstimates:
    """Return one component as large as the bounds, or components about given means (K, d) that share their volume."""
    means = np.zeros((1, columns)) if means is None else means
    covariances = np.broadcast_to(np.eye(columns), (len(means), columns, columns))
    if len(means) > 1:
        covariances = covariances / len(means) ** (2 / columns)
    mixture = Mixture(np.full(len(means), 1 / len(means)), means, covariances)
    return MixtureEstimates(mixture, n_rows, np.ones((2, len(means))))


def affordable_components(estimates: MixtureEstimates, noise: float) -> int:
    """Return how many components the noise supports: at most twice as many as there are."""
    if estimates.rows is None:
        return 1
    columns = estimates.mixture.means.shape[1]
    most = int(estimates.rows / (ROWS_PER_COMPONENT * noise * columns))
    return max(1, min(most, 2 * estimates.mixture.count))


def resize(estimates: MixtureEstimates, size: int, kind: CovarianceType) -> MixtureEstimates:
    """Return estimates with this many components, split or merged, and with covariances of this type."""
    mixture = estimates.mixture
    mixture = mixture.split(size) if mixture.count < size else mixture.merge(size)
    same = mixture.count == estimates.mixture.count
    prior_variances = estimates.prior_variances if same else np.ones((2, mixture.count))
    return replace(estimates, mixture=mixture.constrain(kind), prior_variances=prior_variances)


def clip_radius(estimates: MixtureEstimates, kind: CovarianceType, noise: float) -> float:
    """Return where to clip rows, in a component's own standard deviations: little noise allows a wide radius."""
    count, columns = estimates.mixture.means.shape
    return clipping_radius(columns, kind, None if estimates.rows is None else noise / (estimates.rows / count))


def component_moments(
    mixture: Mixture, kind: CovarianceType, neighbors: Relation, radius: float = 1.0, missing: bool = False
) -> ComponentMoments | TableMoments:
    """Return the statistic of counts, means and second moments, in each component's own coordinates.

    The noise on each number is the same for every clip radius. With `missing`, components fill in cells that are
    missing by what they expect, which takes a radius that is not too small.
    """
    columns, components = mixture.means.shape[1], mixture.components()
    weights = block_weights(columns, kind, neighbors)
    if not missing:
        return ComponentMoments(components, radius, *weights, 1.0, kind)
    radius = max(radius, least_radius(columns, kind))
    numbers, fill = TableComponents.of_numbers(components), mean_clipped_variance(columns, radius)
    return TableMoments(numbers, radius, *weights, 1.0, 1.0, kind, missing=True, fill=fill)


def move_components(
    estimates: MixtureEstimates,
    statistic: ComponentMoments | TableMoments,
    measurement: Measurement,
    n_rows: int | None,
    least_variances: Array | float = 1e-8,
    prior: MixturePrior | None = None,
    hidden: Array | float = 0.0,
) -> MixtureEstimates:
    """Move each component by what its moments say, less what is noise (M-step).

    Parameters
    ----------
    estimates : MixtureEstimates
        What rows were measured at.
    statistic, measurement
        What was measured, and its noisy sum.
    n_rows : int or None
        Number of rows, where it is public.
    least_variances : (d,) array or float
        Public knowledge of how narrow a column can be.
    prior : MixturePrior, optional
    hidden : (d, d) array or float
        What clipping hides of the covariance of a single component, where that is known.
    """
    old, noise, radius = estimates.mixture, measurement.noise, statistic.radius
    columns, (mean_priors, covariance_priors) = old.means.shape[1], estimates.prior_variances
    counts, sums, squares = statistic.parts(measurement.value)
    if (rows := float(n_rows or counts.sum())) < _HOPELESS * ROWS_PER_COMPONENT * noise * columns:
        return replace(estimates, rows=max(rows, 1.0))
    counts, rows = positive_counts(counts, noise / statistic.count, n_rows)
    factors = statistic.components.factors
    if isinstance(hidden, np.ndarray):
        hidden = np.linalg.solve(factors[0], np.linalg.solve(factors[0], hidden).T)
    mean_noise = noise * radius / statistic.mean / counts
    shifts = np.stack([shrink(*each)[0] for each in zip(sums / counts[:, None], mean_noise, mean_priors)])
    white, covariance_priors = _white_covariances(
        statistic, counts, shifts, squares, noise * radius**2, covariance_priors, hidden
    )
    mean_priors = posterior_variance(mean_priors, mean_noise**2)
    mean_priors /= np.einsum("kii->k", white) / columns
    prior_variances = np.clip(np.stack([mean_priors, covariance_priors]) + _LEAST_PRIOR_VARIANCE, 0.0, 1.0)

    farthest = math.sqrt(columns)
    means = np.clip(old.means + np.einsum("kij,kj->ki", factors, shifts), -farthest, farthest)
    covariances = _within_bounds(factors @ white @ factors.transpose(0, 2, 1), least_variances)
    mixture = replace(old, weights=counts / counts.sum(), means=means, covariances=covariances)
    if prior is not None:
        mixture = prior.posterior_mode(counts, mixture)
    mixture = mixture.constrain(statistic.covariance_type)
    return replace(estimates, mixture=mixture, rows=rows, prior_variances=prior_variances)


def squared_deviations(mixture: Mixture, missing: bool = False) -> ComponentSquares | TableSquares:
    """Return the statistic of plain squared deviations from components, in public coordinates."""
    components = mixture.components()
    if isinstance(components, TableComponents):
        return TableSquares(components, missing)
    return TableSquares(TableComponents.of_numbers(components), True) if missing else ComponentSquares(components)


def widen_components(
    estimates: MixtureEstimates,
    statistic: ComponentSquares | TableSquares,
    measurement: Measurement,
    kind: CovarianceType,
) -> MixtureEstimates:
    """Raise the variances that plain squared deviations clearly exceed to those.

    Correlations are kept: rows and columns of a covariance are scaled.
    """
    mixture = estimates.mixture
    counts = np.maximum(mixture.weights * estimates.rows, 1.0)[:, None]
    measured = statistic.parts(measurement.value) / counts
    noise = measurement.noise * math.sqrt(mixture.means.shape[1]) / counts
    variances = np.einsum("kii->ki", mixture.covariances)
    exceeds = measured > np.maximum(variances + _TAIL_DEVIATIONS * noise, _TAIL_RATIO * variances)
    # Only what is clear is added: noise alone exceeds a variance now and then, and by little.
    wider = np.where(exceeds, np.maximum(measured - _TAIL_DEVIATIONS * noise, variances), variances)
    scale = np.sqrt(wider / variances)
    covariances = mixture.covariances * scale[:, :, None] * scale[:, None, :]
    return replace(estimates, mixture=replace(mixture, covariances=covariances).constrain(kind))


def positive_counts(counts: Array, noise: float, n_rows: int | None) -> tuple[Array, float]:
    """Return counts (K,) to divide sums by, none of them below its noise, and the number of rows.

    A public number of rows corrects the sum of the noisy counts. A count that is raised to its noise shrinks what is
    divided by it, which noise has made too long.

    Examples
    --------
    >>> positive_counts(np.array([25.0]), 60.0, n_rows=30), positive_counts(np.array([25.0]), 60.0, n_rows=None)
    ((array([60.]), 30.0), (array([60.]), 60.0))
    """
    if n_rows is not None:
        counts = counts + (n_rows - counts.sum()) / len(counts)
    rows = max(float(counts.sum()), noise)
    counts = np.maximum(counts, max(_LEAST_PROPORTION * rows / len(counts), noise))
    return counts, rows if n_rows is None else float(n_rows)


def _white_covariances(
    statistic: ComponentMoments | TableMoments,
    counts: Array,
    shifts: Array,
    squares: Array,
    noise: float,
    prior_variances: Array,
    hidden: Array | float = 0.0,
) -> tuple[Array, Array]:
    """Return covariances (K, d, d) in the components' last coordinates, and what is left of their prior variances."""
    radius, kind, columns = statistic.radius, statistic.covariance_type, shifts.shape[1]
    if kind == "tied":
        between = np.einsum("k,ki,kj->ij", counts, shifts, shifts)
        rows = counts.sum()
        pooled, left = shrink_covariance(
            (squares - between) / rows, noise / rows, float(prior_variances.mean()), radius, _LEAST_VARIANCE, "full"
        )
        return np.broadcast_to(pooled, (len(counts), *pooled.shape)), np.full(len(counts), left)
    estimates = []
    for count, shift, square, prior_variance in zip(counts, shifts, squares, prior_variances):
        if kind == "full":
            moment = square / count - np.outer(shift, shift) + hidden
        elif kind == "diag":
            moment = np.diag(square / count - shift**2)
        else:
            moment = (square / count - shift @ shift) / columns * np.eye(columns)
        estimates.append(shrink_covariance(moment, noise / count, prior_variance, radius, _LEAST_VARIANCE, kind))
    covariances, left = zip(*estimates)
    return np.stack(covariances), np.array(left)


def _within_bounds(covariances: Array, least_variances: Array | float) -> Array:
    """Return covariances (K, d, d) with no variance, in any direction, above d, and no column's below the public least.

    Rows are no longer than sqrt(d). Without that limit, what noise adds round by round would grow without one.
    """
    columns = covariances.shape[1]
    variances, axes = np.linalg.eigh(covariances)
    covariances = (axes * np.minimum(variances, columns)[:, None, :]) @ axes.transpose(0, 2, 1)
    lacking = np.maximum(0.0, least_variances - np.einsum("kii->ki", covariances))
    return covariances + (lacking + _HAIR)[:, :, None] * np.eye(columns)
