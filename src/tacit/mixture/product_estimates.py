"""One round of scale-free EM for a table with levels: categories, and columns of true and false.

A mixture of such rows grows as a Gaussian mixture of encoded rows, in which a level is a column of zeros and ones:
covariances show there which levels go together with which, and with which numbers. Then each component becomes a
product, of a Gaussian of the numbers and of probabilities of the levels of every other column, and is refined as that.

Probabilities of levels are known up to noise of a size that the plan fixes. Round by round they are averaged with what
was known before (Kalman), level by level. How far the probability of a level in one component may be from its frequency
in all rows is in proportion to the latter, so that noise does not make rare levels frequent.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import mean_clipped_variance
from tacit.fitting.moment_weights import block_weights, nats_to_noise
from tacit.fitting.shrinkage import kalman_gain, posterior_variance
from tacit.mixture.component_estimates import (
    MixtureEstimates,
    clip_radius,
    move_components,
    positive_counts,
)
from tacit.mixture.prior import MixturePrior
from tacit.mixture.scale_free_schedule import REFINING, ScaleFreeSchedule
from tacit.mixture.table_mixture import TableMixture, normalise_levels
from tacit.privacy import Relation
from tacit.release import Curator, Measurement
from tacit.statistics import CovarianceType, TableLayout, TableMoments, least_radius, moment_sensitivity

# Tuned numbers. experiments/choosing_in_tables.py measures what they give on simulated tables, and
# benchmarks/synthetic.py on Adult.

# Log-likelihood lost to unit noise on the frequency of one level, in nats.
_LEVEL_LOSS = 2.0
# Prior variance of a level's probability in a component, relative to the variance of the level among all rows.
_LEVEL_SPREAD = 0.25
# Part of the same that the prior variance grows by from round to round.
_LEVEL_DRIFT = 0.02
# Least probability of a level in a component.
_LEAST_OF_FREQUENCY = 0.05  # Relative to its frequency in all rows.
_LEAST_ROWS = 0.5  # In rows of the component.


def product_estimates(mixture: TableMixture, rows: float | None) -> MixtureEstimates:
    """Return estimates of components that are products, before anything is released of them as such."""
    level_priors = np.broadcast_to(_LEVEL_SPREAD * _level_variances(mixture), mixture.probabilities.shape)
    return MixtureEstimates(mixture, rows, np.ones((2, mixture.count)), level_priors)


def product_moments(
    curator: Curator, schedule: ScaleFreeSchedule, estimates: MixtureEstimates, step: str = REFINING
) -> TableMoments:
    """Return the statistic of counts, means, second moments and levels, in each component's own coordinates."""
    layout, kind, missing = schedule.layout, schedule.covariance_type, schedule.missing
    columns, components = len(layout.numbers), estimates.mixture.components()
    count, mean, level_weight = moment_weights(layout, kind, schedule.neighbors)
    radius = 1.0
    if columns:
        noise = curator.noise(step, TableMoments(components, 1.0, count, mean, 1.0, level_weight, kind))
        radius = clip_radius(estimates, kind, noise)
    radius = max(radius, least_radius(columns, kind)) if missing else radius
    fill = mean_clipped_variance(columns, radius)
    return TableMoments(components, radius, count, mean, 1.0, level_weight, kind, missing, fill)


def move_products(
    estimates: MixtureEstimates,
    statistic: TableMoments,
    measurement: Measurement,
    n_rows: int | None,
    least_variances: Array | float,
    prior: MixturePrior | None,
) -> MixtureEstimates:
    """Move each component by what its moments and levels say, less what is noise (M-step).

    Parameters are those of :func:`tacit.mixture.component_estimates.move_components`.
    """
    if statistic.components.layout.numbers:
        moved = move_components(estimates, statistic, measurement, n_rows, least_variances, prior)
    else:
        moved = _move_weights(estimates, statistic, measurement, n_rows, prior)
    if moved.mixture is estimates.mixture:  # The release was not used.
        return moved
    probabilities, level_priors = _move_levels(
        estimates, statistic, measurement, moved.mixture.weights * moved.rows, prior
    )
    return replace(
        moved, mixture=replace(moved.mixture, probabilities=probabilities), level_prior_variances=level_priors
    )


def _move_weights(
    estimates: MixtureEstimates,
    statistic: TableMoments,
    measurement: Measurement,
    n_rows: int | None,
    prior: MixturePrior | None,
) -> MixtureEstimates:
    """Return estimates with new weights: nothing else moves where there are no numbers."""
    counts, rows = positive_counts(statistic.parts(measurement.value)[0], measurement.noise / statistic.count, n_rows)
    weights = counts if prior is None else counts + prior.concentration - 1
    return replace(estimates, mixture=replace(estimates.mixture, weights=weights / weights.sum()), rows=rows)


def _move_levels(
    estimates: MixtureEstimates,
    statistic: TableMoments,
    measurement: Measurement,
    counts: Array,
    prior: MixturePrior | None,
) -> tuple[Array, Array]:
    """Return probabilities of levels, and what is left of their prior variances; `counts` (K,) are rows."""
    mixture, counts = estimates.mixture, np.maximum(counts, 1.0)
    layout, old = mixture.layout, mixture.probabilities
    measured = statistic.level_sums(measurement.value) / counts[:, None]
    noise = (measurement.noise * math.sqrt(len(layout.levels)) / statistic.level_weight / counts[:, None]) ** 2
    variances = _level_variances(mixture)
    priors = np.minimum(estimates.level_prior_variances + _LEVEL_DRIFT * variances, _LEVEL_SPREAD * variances)
    new = old + kalman_gain(priors, noise) * (measured - old)
    priors = posterior_variance(priors, noise)
    for where in layout.slices:  # The levels of a column add up to 1: those that are known least give way.
        excess = new[:, where].sum(axis=1, keepdims=True) - 1
        new[:, where] -= excess * priors[:, where] / priors[:, where].sum(axis=1, keepdims=True)
    least = np.maximum(_LEAST_OF_FREQUENCY * (mixture.weights @ old), _LEAST_ROWS / counts[:, None])
    new = normalise_levels(new, layout, least)
    if prior is not None:
        new = prior.level_mode(counts, new, np.repeat(layout.sizes, layout.sizes))
    return new, priors


def _level_variances(mixture: TableMixture) -> Array:
    """Return the variance of each level's indicator among all rows, (all levels,)."""
    frequencies: Array = mixture.weights @ mixture.probabilities
    return frequencies * (1 - frequencies)


def moment_weights(layout: TableLayout, kind: CovarianceType, neighbors: Relation) -> tuple[float, float, float]:
    """Return the weights of counts, means and levels, beside a weight of 1 for second moments, that lose least.

    Those of counts and means are as without levels. Their weights cause a sensitivity s and, with unit noise, a loss of
    likelihood a; levels of weight w make them sqrt(s^2 + c w^2) and a + b / w^2. The product of the squares is least at
    w^4 = b s^2 / (a c). Without levels their weight is 0.

    Examples
    --------
    >>> [round(weight, 2) for weight in moment_weights(TableLayout((0, 1), ((2, 3, 4), (5,))), "full", "replace_one")]
    [0.76, 0.93, 1.43]
    """
    count, mean, number_loss, level_loss = _losses(layout, kind, neighbors)
    there = 1.0 if layout.numbers else 0.0
    sensitivity = moment_sensitivity(count, mean * there, there, neighbors)
    replaced = 2 if neighbors == "replace_one" else 1
    return count, mean, (level_loss * sensitivity**2 / (number_loss * replaced)) ** 0.25


def nats_lost(schedule: ScaleFreeSchedule) -> float:
    """Return the nats that a component of one row loses to a refining release, if the noise of the plan is 1.

    Examples
    --------
    >>> from tacit.mixture.scale_free_schedule import scale_free_schedule
    >>> layouts = [TableLayout((0, 1), (tuple(range(2, 2 + levels)),)) for levels in (3, 12)]
    >>> few, many = (nats_lost(scale_free_schedule((2,), each, "full", "replace_one", 100)) for each in layouts)
    >>> few < many
    True
    """
    layout, kind, neighbors = schedule.layout, schedule.covariance_type, schedule.neighbors
    count, mean, loss, level_loss = _losses(layout, kind, neighbors)
    level_weight, there = moment_weights(layout, kind, neighbors)[2], 1.0 if layout.numbers else 0.0
    noise = moment_sensitivity(count, mean * there, there, neighbors, level_weight) ** 2 / schedule.refining_part
    return float((loss + (level_loss / level_weight**2 if layout.levels else 0.0)) * noise)


def _losses(layout: TableLayout, kind: CovarianceType, neighbors: Relation) -> tuple[float, float, float, float]:
    """Return the weights of counts and means, and the nats lost to noise in numbers and in levels."""
    columns = len(layout.numbers)
    count, mean = block_weights(columns, kind, neighbors) if columns else (1.0, 1.0)
    loss = nats_to_noise(columns, kind, count, mean) if columns else 0.5 / count**2
    return count, mean, loss, _LEVEL_LOSS * len(layout.levels) * sum(size - 1 for size in layout.sizes)
