"""Mean and covariance of one Gaussian, measured several times, each time in its own last coordinates.

Noise sized for the whole of the public bounds would drown a Gaussian that is small beside them. So each round measures
rows with the last covariance as the unit, starting from the bounds. Noise is then relative to the Gaussian, and the
unit contracts geometrically, as in CoinPress (Biswas et al., 2020)::

    mean, covariance = centre of the bounds, size of the bounds
    repeat
        release count, mean and second moment of the rows, clipped, in coordinates where the covariance is the identity
        move mean and covariance by what was released, less what is noise
    release squared deviations of each column in public coordinates, where nothing is clipped
    widen the columns that clearly have more variance than the covariance says

The last release is for columns that are the same in nearly all rows (a rare condition, a cost that is mostly zero).
Clipped in its own units, such a column looks narrower each round, until the rows that differ are impossible.

This is the mixture of :mod:`tacit.mixture.scale_free` with one component, written out. A test holds the two equal, bit
for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import weigh_releases
from tacit.fitting.measurement import Measurement, measure
from tacit.fitting.moment_weights import block_weights, clipping_radius
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import posterior_variance, shrink, shrink_covariance
from tacit.mixture.scale_free import GROWING, REFINING, SHARES, TAILS
from tacit.moments.estimates import MomentEstimates, PublicFacts
from tacit.privacy import Step
from tacit.release import Curator
from tacit.statistics import ComponentMoments, Components, ComponentSquares, numbers_in_second_moment

# How many rounds there are. These and all numbers below are those of tacit.mixture.scale_free, which says more on them.
_GROWING_ROUNDS = 2
_REFINING_ROUNDS = 6

# How an estimate moves in one round.
_LEAST_VARIANCE = 0.02  # Least variance in any direction, relative to the mean variance.
_LEAST_PRIOR_VARIANCE = 0.05  # Each round takes the estimate to be off by this much at least, as a relative variance.
_HOPELESS = 0.1 * 1.5  # With fewer rows than this, for each column and unit of noise, a release is not used.

# When a column is widened.
_TAIL_DEVIATIONS = 3.0  # The variance must be exceeded by so many standard deviations of noise,
_TAIL_RATIO = 4.0  # and be so many times as large: less costs under a nat, and widening is not free either.


def iterated_steps(columns: int, n_iter: int | str = "auto") -> list[Step]:
    """Return the steps of the plan: a few rounds with more noise, more rounds with less, and one for tails.

    Examples
    --------
    >>> [(step.name, step.count) for step in iterated_steps(10, n_iter=5)]
    [('growing moments', 2), ('refining moments', 2), ('tails', 1)]
    """
    growing, refining = _GROWING_ROUNDS, _REFINING_ROUNDS
    if n_iter != "auto":
        growing = min(growing, max(1, int(n_iter) - 2))
        refining = int(n_iter) - growing - 1
    if refining < 1:
        raise ValueError(
            f"n_iter is {n_iter}, and iterated moments take two or more releases of moments and one of tails; pass "
            'n_iter=3 or more, or "auto".'
        )
    numbers = 1 + columns + numbers_in_second_moment("full", columns)
    counts = {GROWING: growing, REFINING: refining, TAILS: 1}
    return weigh_releases(SHARES, counts, {GROWING: numbers, REFINING: numbers, TAILS: columns})


def iterated_moments(curator: Curator, steps: Sequence[Step], facts: PublicFacts, watch: Watch) -> MomentEstimates:
    """Return mean, covariance and number of rows, from one release for each round of these steps.

    Parameters
    ----------
    curator : Curator
        Its plan has these steps, calibrated.
    steps : sequence of Step
        From :func:`iterated_steps`.
    facts : PublicFacts
    watch : callable
        Called as ``watch(done, total)`` after each release.
    """
    columns = facts.columns
    *rounds, tails = [step.name for step in steps for _ in range(step.count)]
    weights = block_weights(columns, "full", curator.plan.neighbors)
    mean, covariance, rows = np.zeros(columns), np.eye(columns), facts.rows
    prior_variances = 1.0, 1.0  # of the mean and of the covariance, in the last covariance's units
    for done, step in enumerate(rounds, 1):
        factor = np.linalg.cholesky(covariance)
        statistic = ComponentMoments(_component(mean, factor), 1.0, *weights, 1.0)
        noise = curator.noise(step, statistic)  # This is the same for every clip radius.
        radius = clipping_radius(columns, "full", None if rows is None else noise / rows)
        statistic = replace(statistic, radius=radius)
        measurement = measure(curator, step, statistic)
        watch(done, len(rounds) + 1)

        count = float(statistic.parts(measurement.value)[0][0])
        if facts.rows is not None:
            count += facts.rows - count
        if count < _HOPELESS * noise * columns:
            rows = max(count, 1.0)  # The estimate stays wide rather than going wrong.
            continue
        rows = max(count, noise / statistic.count)
        shift, white, prior_variances = _m_step(statistic, measurement, rows, prior_variances)
        farthest = math.sqrt(columns)
        mean = np.clip(mean + np.einsum("ij,j->i", factor, shift), -farthest, farthest)
        covariance = _within_bounds(factor @ white @ factor.T, facts.least_variances)

    statistic = ComponentSquares(_component(mean, np.linalg.cholesky(covariance)))
    measurement = measure(curator, tails, statistic)
    watch(len(rounds) + 1, len(rounds) + 1)
    covariance = _widen(covariance, statistic, measurement, rows)
    return MomentEstimates(mean, covariance, float(rows))


def _component(mean: Array, factor: Array) -> Components:
    return Components(np.ones(1), mean[None], factor[None])


def _m_step(
    statistic: ComponentMoments, measurement: Measurement, rows: float, prior_variances: tuple[float, float]
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


def _widen(covariance: Array, statistic: ComponentSquares, measurement: Measurement, rows: float) -> Array:
    """Return the covariance with the variances that plain squared deviations clearly exceed raised to those.

    Correlations are kept: rows and columns of the covariance are scaled.
    """
    rows = max(rows, 1.0)
    measured = statistic.parts(measurement.value)[0] / rows
    noise = measurement.noise * math.sqrt(len(covariance)) / rows
    variances = np.diag(covariance)
    exceeds = measured > np.maximum(variances + _TAIL_DEVIATIONS * noise, _TAIL_RATIO * variances)
    # Only what is clear is added: noise alone exceeds a variance now and then, and by little.
    wider = np.where(exceeds, np.maximum(measured - _TAIL_DEVIATIONS * noise, variances), variances)
    scale = np.sqrt(wider / variances)
    return covariance * scale[:, None] * scale
