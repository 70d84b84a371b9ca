"""Linear regression by moments of scores: the default method.

First inputs and target are one Gaussian, measured in a few releases in its own coordinates
(:mod:`tacit.moments.moments` does the same at greater length). From then on inputs are u, about standard normal, and
residuals e have a scale. What is released are means of scores e (1, u), clipped jointly, as Krasker and Welsch (1982)
do for robustness:

- noise is relative to what residuals are, not to the range of the target, so it shrinks as the fit improves;
- no row counts for more than another, so heavy tails of errors and of inputs do little harm;
- the *Hessian*, how much the mean score changes with the coefficients, is released as well. A step is then a Newton
  step for any law of errors and inputs, and how far off the last one may be is known: sampling error is the second
  moment of scores, noise is that of the plan.

In the end the mean residual is released by itself (:mod:`tacit.linear.residuals`). The whole fit, after the moments::

    repeat 3 times:  coefficients += gain @ mean score,  and measure the residual scale
    release the Hessian
    coefficients += gain @ mean score
    release the mean squared residual
    coefficients += gain @ mean score, of all rows, with the second moment of scores
    release the mean residual

Where rows are many, all releases but the last two are of shares of them (:mod:`tacit.fitting.allocation`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clipping import clipped_score_moments, least_variance_radius
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import james_stein_after_kalman, posterior_variance, shrink, shrink_to_identity
from tacit.linear.linear_fit import InputSpread, LinearFit
from tacit.linear.residuals import SCALE_VARIANCE, Residuals
from tacit.linear.score_schedule import (
    FINAL,
    FIRST_REFINEMENTS,
    HESSIAN,
    LATER_REFINEMENTS,
    REFINING,
    JointMoments,
    ScoreSchedule,
    measure_moments,
)
from tacit.release import Curator
from tacit.statistics import ComponentMoments, LinearCurvature, LinearScores

# benchmarks/linear_regression.py measures what the numbers below give.

# How scores are measured.
_WEIGHTS = (0.5, 1.0, 0.7)  # Weights of counts, means and second moments of scores. The first and the last are free.
_FIRST_RADIUS = 1.3  # First clip radius, in lengths of an ordinary score.
_RADII = (0.7, 0.85, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)  # Later ones to choose from, in the same unit.

# What is known before a release, and limits of what is believed of it.
_SHAPE_VARIANCE = 0.06  # Prior variance of the Hessian and the second moment of scores about those of Gaussian rows.
_LEAST_EIGENVALUE = 0.1  # Least eigenvalue of these matrices, relative to their mean.
_LEAST_VARIANCE = 0.05  # Added to the prior variance of coefficients, in squared residual scales.
_FLAT_PRIOR = 1e30  # Flat prior: James–Stein alone decides.
_LEAST_CHANGE, _MOST_CHANGE = 0.05, 4.0  # Limits of the change of the squared residual scale in one round.
_HESSIAN_ERROR = 0.3  # Relative variance of the Hessian, in units of the covariance's.
_STAGED_HESSIAN_ERROR = 0.015  # Relative variance of the Hessian where moments are measured in two stages.


@dataclass(frozen=True, eq=False)
class ScoreState:
    """The fit state: the regression on white inputs, and what is known of its errors.

    Parameters
    ----------
    coefficients : (1 + d,) array
        The intercept first.
    scale : float
        The residual scale.
    prior_variance : float
        How far off coefficients may be, in squared residual scales.
    first_variance : float
        How far off they were before any score was released.
    noise_covariance : (1 + d, 1 + d) array
        Of the error that noise has caused in the coefficients.
    hessian_error : float
        Relative variance of the error of the Hessian's entries.
    rows : float
        How many rows there are, as far as is known.
    clip_radius : float
        Where scores are clipped, in lengths of an ordinary score.
    hessian : (1 + d, 1 + d) array, optional
        Once it is measured.
    sampling_covariance : (1 + d, 1 + d) array, optional
        Of sampling error, in the end.
    """

    coefficients: Array
    scale: float
    prior_variance: float
    first_variance: float
    noise_covariance: Array
    hessian_error: float
    rows: float
    clip_radius: float = _FIRST_RADIUS
    hessian: Array | None = None
    sampling_covariance: Array | None = None


@dataclass(frozen=True, eq=False)
class _MeanScore:
    """What a release of scores says: their mean and second moment, with the noise of the mean."""

    mean: Array
    square: Any
    noise: float
    statistic: ComponentMoments
    unit_noise: float  # The noise of a mean of numbers within 1.
    rows: float


def fit_by_scores(
    curator: Curator,
    schedule: ScoreSchedule,
    origin: Array | None = None,
    least_variances: Array | float = 1e-8,
    watch: Watch = lambda done, total: None,
) -> LinearFit:
    """Regress the last column on the others, and return the fit in standard coordinates.

    Parameters
    ----------
    curator : Curator
        Its plan must be the schedule's steps, calibrated.
    schedule : ScoreSchedule
    origin : (1 + d,) array, optional
        Where all inputs and the target are zero, in standard coordinates: the regression passes through it. Without it
        there is an intercept.
    least_variances : (1 + d,) array, optional
        Public knowledge of how narrow a column can be.
    watch : callable, optional
        Called as ``watch(done, total)`` after each release, for a progress bar.
    """
    total = schedule.releases
    moments = measure_moments(curator, schedule, origin, least_variances, lambda done, _: watch(done, total))
    fit = _first_state(moments)
    for _ in range(FIRST_REFINEMENTS):
        fit = _refine(curator, schedule, moments, fit)
    fit = _measure_hessian(curator, schedule, moments, fit)
    for _ in range(LATER_REFINEMENTS):
        fit = _refine(curator, schedule, moments, fit)
    watch(total - 3, total)
    residuals = Residuals(moments.in_columns(fit.coefficients), fit.scale, fit.rows / schedule.shares)
    variance = residuals.measure_variance(curator)
    fit = _finish_scores(curator, schedule, moments, fit)
    watch(total - 1, total)
    residuals = Residuals(moments.in_columns(fit.coefficients), fit.scale, fit.rows)
    level, level_error = residuals.measure_mean(curator, variance)
    watch(total, total)
    return _linear_fit(moments, _shrink_slopes(fit), variance, level, level_error)


def _first_state(moments: JointMoments) -> ScoreState:
    """Return the regression that the moments imply; without slopes where these would be too noisy."""
    columns, last = len(moments.mean) - 1, moments.factor[-1]
    if moments.covariance_error is not None:
        slopes, scale, variance = last[:-1], float(last[-1]), 1.0
        hessian_error = _HESSIAN_ERROR * max(moments.covariance_error - _LEAST_VARIANCE, 0.0)
    else:  # Slopes explain no more than the variance of the target.
        slopes, scale, variance = np.zeros(columns), float(np.linalg.norm(last)), 1.0 / columns
        hessian_error = _STAGED_HESSIAN_ERROR
    return ScoreState(
        coefficients=np.concatenate([moments.centre[-1:], slopes]),
        scale=scale,
        prior_variance=variance,
        first_variance=scale**2 * variance,
        noise_covariance=scale**2 * variance * np.eye(1 + columns),
        hessian_error=hessian_error,
        rows=moments.rows,
    )


def _refine(curator: Curator, schedule: ScoreSchedule, moments: JointMoments, fit: ScoreState) -> ScoreState:
    """Release mean scores of a share of the rows, and make a step that James–Stein shortens by what may be noise.

    Before the Hessian is measured, the residual scale is measured along with the scores.
    """
    scores = _measure_scores(curator, schedule, moments, fit, REFINING)
    kept, spread = _clipped_gaussian(scores.statistic)
    wide, scale = len(fit.coefficients), fit.scale
    hessian = kept * np.eye(wide) if fit.hessian is None else fit.hessian
    gain = _gain(hessian, scores.noise, fit.prior_variance, moments.origin is None)
    gain = gain * shrink(scores.mean, scores.noise, _FLAT_PRIOR)[1]
    step = gain @ scores.mean
    covariance = _noise_after_step(fit, gain, hessian, (scale * scores.noise) ** 2)
    new_scale = scale
    if fit.hessian is None:
        radius, second = scores.statistic.radius, scores.statistic.second
        square_noise = scores.unit_noise * radius**2 / second / (wide * spread)
        # The part of a step that is noise is not taken off the residuals but added to them.
        noisy = scores.noise**2 * float(np.sum(gain * gain))
        change = shrink(np.array([scores.square / (wide * spread) - 1.0]), square_noise, SCALE_VARIANCE)[0][0]
        change += noisy - max(float(step @ step) - noisy, 0.0)
        new_scale = scale * math.sqrt(min(max(1.0 + change, _LEAST_CHANGE), _MOST_CHANGE))
    known = float(np.trace(covariance)) / wide / new_scale**2
    most = min(1.0, fit.first_variance / new_scale**2)
    return replace(
        fit,
        coefficients=fit.coefficients + scale * step,
        scale=new_scale,
        noise_covariance=covariance,
        prior_variance=most if schedule.shares > 1 else min(most, known + _LEAST_VARIANCE),
        rows=fit.rows if schedule.rows is not None else scores.rows,
    )


def _measure_hessian(curator: Curator, schedule: ScoreSchedule, moments: JointMoments, fit: ScoreState) -> ScoreState:
    """Release the mean of z z' over rows whose scores are not clipped, at the clip radius of the final scores."""
    columns = schedule.columns
    unit = curator.noise(HESSIAN, _scores(moments, fit, "full")) * schedule.final_noise / _WEIGHTS[1]
    clip_radius = best_radius(columns, unit / math.sqrt(fit.rows) * math.sqrt(1 + columns))
    fit = replace(fit, clip_radius=clip_radius)
    scores, rows = _scores(moments, fit, "full"), fit.rows / schedule.shares
    curvature = LinearCurvature(scores.components, scores.radius)
    statistic = ComponentMoments(curvature, scores.components.reach, 0.0, 0.0, 1.0)
    measurement = curator.measure(HESSIAN, statistic)
    measured = statistic.parts(measurement.value)[2][0] / rows
    kept = clipped_score_moments(columns, statistic.radius, scores.radius)[0]
    noise = measurement.noise / rows * statistic.radius**2
    unsure = (noise / kept) ** 2 / 2
    error = posterior_variance(_SHAPE_VARIANCE, unsure)
    hessian = _shrink_matrix(measured, noise, kept)
    return replace(fit, hessian=hessian, hessian_error=min(error, fit.hessian_error))


def _finish_scores(curator: Curator, schedule: ScoreSchedule, moments: JointMoments, fit: ScoreState) -> ScoreState:
    """Release mean and second moment of the scores of all rows; make the last step, and measure sampling error."""
    scores = _measure_scores(curator, schedule, moments, fit, FINAL)
    kept, spread = _clipped_gaussian(scores.statistic)
    gain = _gain(fit.hessian, scores.noise, fit.prior_variance, moments.origin is None)
    step = gain @ scores.mean
    # An error in the Hessian, times the error in the coefficients, adds to the noise. The last step is about as long as
    # the error in the coefficients was.
    hessian_error = fit.hessian_error * (kept * fit.scale) ** 2 * float(step @ step)
    covariance = _noise_after_step(fit, gain, fit.hessian, (fit.scale * scores.noise) ** 2 + hessian_error)
    square = _shrink_matrix(scores.square, scores.unit_noise * scores.statistic.radius**2 / _WEIGHTS[2], spread)
    sandwich = _sandwich(square, fit.hessian, scores.rows, moments.origin is None)
    return replace(
        fit,
        coefficients=fit.coefficients + fit.scale * step,
        noise_covariance=covariance,
        sampling_covariance=fit.scale**2 * sandwich,
        rows=fit.rows if schedule.rows is not None else scores.rows,
    )


def _scores(moments: JointMoments, fit: ScoreState, kind: Any) -> ComponentMoments:
    """Return the statistic of scores at the coefficients."""
    inputs = moments.factor[:-1, :-1]
    reach = typical_length(len(inputs))
    scores = LinearScores(fit.coefficients, fit.scale, moments.centre[:-1], inputs, reach)
    return ComponentMoments(scores, fit.clip_radius * math.sqrt(1 + len(inputs)), *_WEIGHTS, kind)


def _measure_scores(
    curator: Curator, schedule: ScoreSchedule, moments: JointMoments, fit: ScoreState, step: str
) -> _MeanScore:
    """Release scores at the coefficients."""
    statistic = _scores(moments, fit, "full" if step == FINAL else "spherical")
    measurement = curator.measure(step, statistic)
    counts, sums, squares = statistic.parts(measurement.value)
    rows = fit.rows if step == FINAL else fit.rows / schedule.shares
    if schedule.rows is None:
        rows = max(float(counts[0]), measurement.noise, 1.0)
    unit_noise = measurement.noise / rows
    noise = unit_noise * statistic.radius / statistic.mean
    return _MeanScore(sums[0] / rows, squares[0] / rows, noise, statistic, unit_noise, rows)


def typical_length(columns: int) -> float:
    """Return a length that (1, u) exceeds in next to no row, if u is standard normal.

    Examples
    --------
    >>> round(typical_length(10), 2)
    5.24
    """
    return math.sqrt(4 + columns + 3 * math.sqrt(2 * columns))


@lru_cache(maxsize=64)
def best_radius(columns: int, noise: float) -> float:
    """Return the clip radius of scores, in lengths of an ordinary score, for the least variance of coefficients.

    `noise` is that of a coefficient if scores are clipped at one ordinary length, in standard errors. Errors are taken
    to be normal. With less noise the radius is wider, and the estimate is nearer to least squares.

    Examples
    --------
    >>> [best_radius(10, noise) for noise in (1.0, 0.1, 0.001)]
    [0.7, 2.0, 5.0]
    """

    def clipped_moments(radius: float) -> tuple[float, float]:
        return clipped_score_moments(columns, typical_length(columns), radius * math.sqrt(1 + columns))

    return least_variance_radius(_RADII, noise, clipped_moments)


def _clipped_gaussian(scores: ComponentMoments) -> tuple[float, float]:
    """Return the Hessian and the second moment that clipped scores have in each direction, for Gaussian rows."""
    return clipped_score_moments(len(scores.components.centre), scores.components.reach, scores.radius)


def _shrink_matrix(matrix: Array, noise: float, size: float) -> Array:
    """Return a positive definite matrix, from a noisy one that is about `size` times the identity."""
    return shrink_to_identity(matrix, noise, size, _SHAPE_VARIANCE, _LEAST_EIGENVALUE)


def _gain(hessian: Array, noise: float, prior_variance: float, intercept: bool) -> Array:
    """Return the matrix v H (v H^2 + noise^2)^-1 that a mean score is multiplied by, v being the prior variance."""
    free = slice(None) if intercept else slice(1, None)
    gain = np.zeros_like(hessian)
    values, axes = np.linalg.eigh(hessian[free, free])
    gain[free, free] = (axes * (prior_variance * values / (prior_variance * values**2 + noise**2))) @ axes.T
    return gain


def _noise_after_step(fit: ScoreState, gain: Array, hessian: Array, variance: float) -> Array:
    """Return the covariance of noise in the coefficients after a step by a mean score of this noise variance."""
    left = np.eye(len(gain)) - gain @ hessian
    return left @ fit.noise_covariance @ left.T + variance * gain @ gain.T


def _sandwich(square: Array, hessian: Array, rows: float, intercept: bool) -> Array:
    """Return the sandwich covariance of coefficients: sampling error, in squared residual scales."""
    free = slice(None) if intercept else slice(1, None)
    covariance = np.zeros_like(hessian)
    bread = np.linalg.inv(hessian[free, free])
    covariance[free, free] = bread @ square[free, free] @ bread / rows
    return covariance


def _shrink_slopes(fit: ScoreState) -> ScoreState:
    """Return slopes shrunk by how much of their length noise explains, where that is clearly much.

    Steps were damped as if slopes explained all there is to explain.
    """
    slopes = fit.coefficients[1:]
    posterior = float(np.trace(fit.noise_covariance[1:, 1:])) / len(slopes)
    square, numbers = float(slopes @ slopes), max(len(slopes) - 2, 0)
    factor = james_stein_after_kalman(square, posterior, fit.first_variance, numbers)
    return replace(fit, coefficients=np.append(fit.coefficients[:1], factor * slopes))


def _linear_fit(moments: JointMoments, fit: ScoreState, variance: float, level: float, level_error: float) -> LinearFit:
    """Return the fit in standard coordinates, with the mean residual added to its level."""
    inputs = moments.factor[:-1, :-1]
    across = np.eye(1 + len(inputs))
    across[1:, 1:] = np.linalg.inv(inputs).T
    errors = fit.noise_covariance + fit.sampling_covariance
    predicted = float(fit.coefficients[0])
    if moments.origin is None:
        predicted += level
        errors[0] = errors[:, 0] = 0.0
        errors[0, 0] = level_error
    slopes = across[1:, 1:] @ fit.coefficients[1:]
    errors = across @ errors @ across.T
    spread = InputSpread(moments.mean[:-1], np.sqrt(np.diag(moments.covariance)[:-1]))
    return LinearFit(moments.centre[:-1], predicted, slopes, inputs @ inputs.T, fit.rows, variance, errors, spread)
