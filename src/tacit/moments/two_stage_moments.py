"""Mean and covariance where rows are few beside columns: columns first, then one release of all second moments.

A covariance of d columns has d (d + 1) / 2 numbers, and their noise has eigenvalues that grow with d^(3/2). Measuring
it again and again in its own coordinates, as :mod:`tacit.moments.iterated_moments` does, is best where that noise is
small beside the number of rows. Where it is not, cheaper questions come first, and decide the units of the last one::

    means, scales = centre and size of the bounds
    repeat
        release mean and variance of each column by itself, clipped in its own units
        move means and scales by what was released, less what is noise
    release squared deviations of each column in public units, where nothing is clipped
    widen the columns that clearly have more variance
    release all second moments, with columns in units of their scales
    keep the directions that stand out of the noise: what columns have in common

The noise of single columns (``ColumnMoments``) grows with sqrt(d) alone. What cannot be told of single columns is
shrunk to what all have in common. The release of squared deviations sees what clipping in a column's own units hides: a
rare condition, a cost that is mostly zero. If nothing stands out in the last release
(:func:`tacit.moments.spectrum.common_factors`), the columns' own variances are left, so a hopeless last release costs
its part of the budget and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import split_budget
from tacit.fitting.clipping import clipped_normal_variance, laplace_variance_beyond
from tacit.fitting.moment_weights import block_weights
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import positive_mean, shrink
from tacit.moments.estimates import MomentEstimates, PublicFacts
from tacit.moments.spectrum import common_factors
from tacit.privacy import Relation, Step
from tacit.release import Curator, Measurement
from tacit.statistics import ColumnMoments, ComponentMoments, DiagonalComponent, numbers_in_second_moment

COLUMNS, TAILS, SECOND_MOMENTS = "columns", "tails", "second moments"

# Tuned numbers. benchmarks/factor_analysis.py measures what they give on five tables.

# The plan.
_COLUMN_ROUNDS = 5  # Releases of columns, unless `n_iter` says otherwise.
_PARTS = {COLUMNS: 0.5, TAILS: 0.1, SECOND_MOMENTS: 0.4}  # Parts of the budget, as squared signal-to-noise ratios.

# How columns are measured.
_COUNT_WEIGHT = 0.5  # Weight of the count in a release of columns, where the number of rows is secret.
_FARTHEST_MEASURED = 2.0  # In public units, cells are clipped here at the latest: a ball's long axes end farther out.
_CLIP_RADII = np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0])  # In standard deviations of a column.

# How columns' estimates move in one round.
_LEAST_VARIANCE = 0.02  # Least variance of a column, relative to the columns' mean variance.
_LEAST_PRIOR_VARIANCE = 0.05  # Each round takes estimates to be off by this much at least, as a relative variance.

# When a column is widened.
_TAIL_DEVIATIONS = 3.0  # Standard deviations of noise by which a measured variance must exceed the estimate.
_TAIL_RATIO = 1.5  # Ratio of the two that it must also exceed.
_NARROW = 0.03  # A variance below this, relative to the columns' mean, is believed only if noise is smaller still.

# How second moments are measured and read.
_ROW_CLIP_RADIUS2 = 1.1  # Squared clip radius of rows, relative to the columns' summed variances.
_LEAST_SIZE = 0.5  # Least mean variance, in units of the columns' scales, that the last release is scaled by.
_MOST_FACTORS = 30  # Most common factors that second moments are read as.


@dataclass(frozen=True, eq=False)
class ColumnEstimates:
    """Private estimates of columns, and of what they have in common.

    Parameters
    ----------
    mean, scales : (d,) arrays
        Means and standard deviations of columns.
    rows : float or None
        The number of rows, once it is known.
    loadings : (d, k) array
        What columns have in common, in units of their scales.
    prior_variances : (float, float)
        How far off means and variances may be before the next release, as variances in units of the scales.
    """

    mean: Array
    scales: Array
    rows: float | None
    loadings: Array
    prior_variances: tuple[float, float] = (1.0, 1.0)

    def covariance(self) -> Array:
        """Return the covariance: what columns have in common, and the rest of each one's variance."""
        common = self.loadings @ self.loadings.T
        np.fill_diagonal(common, 1.0)
        common *= self.scales
        common *= self.scales[:, None]
        return common


def two_stage_steps(columns: int, n_iter: int | str = "auto") -> list[Step]:
    """Return the steps of the plan: some releases of columns, one of tails, one of second moments.

    Examples
    --------
    >>> [(step.name, step.count) for step in two_stage_steps(10, n_iter=5)]
    [('columns', 3), ('tails', 1), ('second moments', 1)]
    """
    rounds = _COLUMN_ROUNDS if n_iter == "auto" else int(n_iter) - 2
    if rounds < 1:
        raise ValueError(
            f"n_iter is {n_iter}, and staged moments take one or more releases of columns, one of tails and one of "
            'second moments; pass n_iter=3 or more, or "auto".'
        )
    alone, together = 1 + 2 * columns, 1 + columns + numbers_in_second_moment("full", columns)
    counts = {COLUMNS: rounds, TAILS: 1, SECOND_MOMENTS: 1}
    return split_budget(_PARTS, counts, {COLUMNS: alone, TAILS: alone, SECOND_MOMENTS: together})


def two_stage_moments(curator: Curator, steps: Sequence[Step], facts: PublicFacts, watch: Watch) -> MomentEstimates:
    """Return mean, covariance and number of rows, from one release for each round of these steps.

    Parameters
    ----------
    curator : Curator
        Its plan has these steps, calibrated.
    steps : sequence of Step
        From :func:`two_stage_steps`.
    facts : PublicFacts
    watch : callable
        Called as ``watch(done, total)`` after each release.
    """
    rounds = {step.name: step.count for step in steps}
    total = sum(rounds.values())
    estimates = public_estimates(facts)
    for done in range(rounds[COLUMNS]):
        statistic = column_moments(estimates, facts)
        if done > 0:
            statistic = in_own_units(statistic, estimates, facts, curator.noise(COLUMNS, statistic))
        measurement = curator.measure(COLUMNS, statistic)
        estimates = move_columns(estimates, facts, statistic, measurement, first=done == 0)
        watch(done + 1, total)

    statistic = column_moments(estimates, facts)
    measurement = curator.measure(TAILS, statistic)
    estimates = widen_columns(estimates, facts, statistic, measurement)
    watch(total - 1, total)

    statistic = second_moments(estimates, curator.plan.neighbors)
    measurement = curator.measure(SECOND_MOMENTS, statistic)
    estimates = find_common_factors(estimates, facts, statistic, measurement)
    watch(total, total)
    return MomentEstimates(estimates.mean, estimates.covariance(), float(estimates.rows))


def public_estimates(facts: PublicFacts) -> ColumnEstimates:
    """Return columns as wide as the bounds, with nothing in common."""
    columns = facts.columns
    return ColumnEstimates(np.zeros(columns), np.ones(columns), facts.rows, np.empty((columns, 0)))


def column_moments(estimates: ColumnEstimates, facts: PublicFacts) -> ColumnMoments:
    """Return the statistic of single columns about their means, in public units."""
    count_weight = 0.0 if facts.rows is not None else _COUNT_WEIGHT
    return ColumnMoments(estimates.mean, np.full(facts.columns, _farthest_measured(facts)), count_weight)


def in_own_units(
    statistic: ColumnMoments, estimates: ColumnEstimates, facts: PublicFacts, noise: float
) -> ColumnMoments:
    """Return the statistic, with a clip radius in standard deviations of each column that suits this noise."""
    radius = _clip_radius(noise * math.sqrt(facts.columns) / estimates.rows)
    return replace(statistic, half_width=np.minimum(radius * estimates.scales, 2 * _farthest_measured(facts)))


def move_columns(
    estimates: ColumnEstimates, facts: PublicFacts, statistic: ColumnMoments, measurement: Measurement, *, first: bool
) -> ColumnEstimates:
    """Move means and scales by what columns say, less what is noise.

    Means are shrunk towards the last ones. Of variances, their mean and how they differ are shrunk separately. `first`
    says that cells are clipped at the bounds, which hides nothing of them.
    """
    rows = _rows(facts, statistic, measurement)
    _, sums, squares = statistic.parts(measurement.value)
    scales, columns = estimates.scales, facts.columns
    mean_prior, variance_prior = estimates.prior_variances
    radii = statistic.half_width / scales
    kept = np.ones(columns) if first else clipped_normal_variance(radii)
    # All columns have the same noise in their own units, except where the bounds are nearer than the clip radius.
    noises = measurement.noise / rows * math.sqrt(columns) * radii
    mean_noise = float(np.sqrt(np.mean((noises / statistic.mean) ** 2)))
    noise = float(np.mean(noises * radii / kept))

    shift, mean_factor = shrink(sums / rows / scales, mean_noise, mean_prior)
    variances = squares / rows / scales**2 / kept - shift**2
    change = shrink(np.array([variances.mean() - 1.0]), noise / math.sqrt(columns), variance_prior)[0]
    size = float(positive_mean(1.0 + change, noise / math.sqrt(columns))[0])
    shape, shape_factor = shrink(variances - variances.mean(), noise, variance_prior)
    variances = positive_mean(size + shape, noise * math.sqrt(shape_factor))
    variances = np.maximum(variances, _LEAST_VARIANCE * size)

    least = np.sqrt(np.broadcast_to(facts.least_variances, (columns,)))
    return replace(
        estimates,
        rows=rows,
        mean=np.clip(estimates.mean + scales * shift, -facts.farthest, facts.farthest),
        scales=np.clip(scales * np.sqrt(variances), least, facts.farthest),
        prior_variances=(
            min(1.0, mean_factor * mean_noise**2 / size + _LEAST_PRIOR_VARIANCE),
            min(1.0, shape_factor * noise**2 / size**2 + _LEAST_PRIOR_VARIANCE),
        ),
    )


def widen_columns(
    estimates: ColumnEstimates, facts: PublicFacts, statistic: ColumnMoments, measurement: Measurement
) -> ColumnEstimates:
    """Raise the variances that plain squared deviations clearly exceed to those."""
    rows = _rows(facts, statistic, measurement)
    measured = statistic.parts(measurement.value)[2] / rows
    noise = measurement.noise / rows * (math.sqrt(facts.columns) * _farthest_measured(facts) ** 2)
    variances = estimates.scales**2
    exceeds = measured > _TAIL_RATIO * variances + _TAIL_DEVIATIONS * noise
    variances = np.maximum(variances, min(_NARROW * float(variances.mean()), noise))
    # Only what is clear is added: noise alone exceeds a variance now and then.
    wider = np.clip(measured - _TAIL_DEVIATIONS * noise, variances, _farthest_measured(facts) ** 2)
    return replace(estimates, rows=rows, scales=np.sqrt(np.where(exceeds, wider, variances)))


def second_moments(estimates: ColumnEstimates, neighbors: Relation) -> ComponentMoments:
    """Return the statistic of all columns together, in units of their scales."""
    columns = len(estimates.mean)
    component = DiagonalComponent(estimates.mean, estimates.scales)
    weights = block_weights(columns, "full", neighbors)
    return ComponentMoments(component, math.sqrt(_ROW_CLIP_RADIUS2 * columns), *weights, 1.0)


def find_common_factors(
    estimates: ColumnEstimates, facts: PublicFacts, statistic: ComponentMoments, measurement: Measurement
) -> ColumnEstimates:
    """Move means once more, and set the loadings to the directions that stand out of the noise."""
    rows = _rows(facts, statistic, measurement)
    _, sums, squares = statistic.parts(measurement.value)
    noise = measurement.noise / rows * statistic.radius**2
    shift, _ = shrink(sums[0] / rows, noise / statistic.radius / statistic.mean, estimates.prior_variances[0])
    covariance = squares[0] / rows - np.outer(shift, shift)
    # Columns have variance 1 in these units. If rows were clipped, or the scales are off, the trace shows it.
    size = max(np.trace(covariance) / facts.columns, _LEAST_SIZE)
    loadings = common_factors(covariance / size, noise / size, _MOST_FACTORS)
    mean = np.clip(estimates.mean + estimates.scales * shift, -facts.farthest, facts.farthest)
    return replace(estimates, rows=rows, mean=mean, loadings=loadings)


def _clip_radius(noise: float) -> float:
    """Return where to clip a cell, in standard deviations: a variance's noise against what clipping hides of tails.

    Tails are taken to be those of a Laplace distribution. `noise` is that of the mean square of a cell clipped at one
    standard deviation.
    """
    hidden = laplace_variance_beyond(_CLIP_RADII)
    return float(_CLIP_RADII[int(np.argmin((noise * _CLIP_RADII**2) ** 2 + hidden**2))])


def _farthest_measured(facts: PublicFacts) -> float:
    return min(facts.farthest, _FARTHEST_MEASURED)


def _rows(facts: PublicFacts, statistic: ColumnMoments | ComponentMoments, measurement: Measurement) -> float:
    """Return the number of rows where it is public, or the count that was released, if that exceeds its noise."""
    if facts.rows is not None:
        return float(facts.rows)
    return max(float(statistic.parts(measurement.value)[0][0]), measurement.noise / statistic.count)
