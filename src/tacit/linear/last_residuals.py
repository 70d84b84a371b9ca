"""The end of a least-squares fit: are slopes better than none, how large are residuals, and what is their mean?

Scores of skewed residuals are clipped, which moves the level of predictions. So the mean residual is released by
itself. And noise may have made slopes that are worse than none, above all where a rare value decides. So lengths of
residuals are released with slopes and without, and slopes are left out if residuals are clearly longer with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clip_radius import SeenLengths, measure_lengths
from tacit.fitting.shrinkage import kalman_gain
from tacit.linear.linear_fit import InputSpread, LinearFit
from tacit.linear.white_inputs import WhiteInputs
from tacit.release import Curator
from tacit.statistics import Clip, LinearResiduals, ResidualVectors, RobustSum

if TYPE_CHECKING:
    from tacit.linear.least_squares import FitState, Problem

LENGTHS, SQUARES, LEVEL = "residual lengths", "squared residuals", "level"
# benchmarks/arena.py measures what these numbers give.
_USUAL_RESIDUAL = 2.0  # Clip radius of residuals if nothing is seen of them, in units of the target's scale.
_FARTHEST_TARGET = 3.0  # Range of the target if nothing is seen of it, in units of its scale.
_CLEARLY = 2.0  # Residuals are longer if sums of squares differ by this many standard deviations of noise.
_LEAST_VARIANCE = 1e-6  # Variance of inputs in any direction, in columns' own units.
_MOST_EXPLAINED = 1.5  # Slopes are shortened if predictions vary more than this, in units of the target's variance.


def finish(curator: Curator, problem: Problem, fit: FitState) -> LinearFit:
    """Release what is left to know about residuals, and return the fit in standard coordinates."""
    white, unit, share = problem.white, problem.unit, problem.share
    coefficients = _shorten(fit.coefficients, white)
    square = fit.square / max(float(np.trace(white.second)), 1e-12)
    target = _measure_lengths(curator, problem, _on_columns(problem, 0.0 * coefficients), 1.0)
    lengths = _measure_lengths(curator, problem, _on_columns(problem, coefficients), square)
    if _clearly_longer(lengths, target):
        coefficients, lengths = 0.0 * coefficients, target

    on_columns = _on_columns(problem, coefficients)
    residuals = LinearResiduals(on_columns)
    noise = curator.noise(LEVEL, _residual_sum(residuals, unit)) / problem.rows
    radius, hidden = lengths.choose_radius(noise, weight=1.0)
    bound = radius * unit
    statistic = _residual_sum(LinearResiduals(on_columns, squared=True), bound**2)
    squares = curator.measure(SQUARES, statistic)
    square_noise = squares.noise * bound**2 / share
    variance = max(float(squares.value[0]) * bound**2 / share, square_noise, (1e-6 * unit) ** 2)

    centre = problem.inputs.centre if problem.origin is None else problem.origin[:-1]
    level = float(on_columns[0] + on_columns[1:] @ centre)
    scatter = _scatter(fit, problem.rows)
    errors = unit**2 * fit.posterior.errors(coefficients, scatter)
    turn = white.matrix.T.copy() if white.constant else np.vstack([np.zeros(len(errors)), white.matrix[:, 1:].T])
    if problem.origin is None:
        # Coefficients on (1, x), then level and slopes about the centre.
        turn[0] += centre @ white.matrix.T[1:]
    errors = turn @ errors @ turn.T
    if problem.origin is None:
        measured = curator.measure(LEVEL, _residual_sum(residuals, bound))
        level_error = (measured.noise * bound / problem.rows) ** 2
        kept = float(kalman_gain(errors[0, 0] + (hidden * unit) ** 2 + variance / problem.rows, level_error))
        level += kept * float(measured.value[0]) * bound / problem.rows
        errors[0] = errors[:, 0] = 0.0
        errors[0, 0] = kept * level_error + variance / problem.rows
        if target.drowned:  # Then not even the mean is known.
            errors[0, 0] = max(float(errors[0, 0]), variance)
    # Of a spike that may be narrower than its unit the slope may be larger. That says nothing of the other slopes.
    slopes, narrow = turn[1:], fit.posterior.errors(coefficients, scatter, narrowest=True)
    more = unit**2 * np.einsum("ja,ab,jb->j", slopes, narrow, slopes) - np.diag(errors)[1:]
    errors[1:, 1:] += np.diag(np.where(problem.inputs.spikes, np.maximum(more, 0.0), 0.0))
    covariance = _input_covariance(white, centre, problem.inputs.scale)
    # The unit of a spike is what it may vary by. How much it does vary, second moments tell.
    variances = np.diag(covariance) - (0.0 if white.constant else (problem.inputs.centre - centre) ** 2)
    deviations = np.where(problem.inputs.spikes, np.sqrt(np.maximum(variances, 0.0)), problem.inputs.scale)
    farthest = (target.longest or _FARTHEST_TARGET) * unit
    return LinearFit(
        centre,
        level,
        on_columns[1:],
        covariance,
        problem.rows,
        variance,
        errors,
        InputSpread(problem.inputs.centre, deviations),
        (problem.level - farthest, problem.level + farthest),
    )


def _shorten(coefficients: Array, white: WhiteInputs) -> Array:
    """Return coefficients whose predictions vary no more than targets can."""
    explained = float(coefficients @ white.second @ coefficients)
    return coefficients * min(1.0, (_MOST_EXPLAINED / max(explained, 1e-300)) ** 0.5)


def _on_columns(problem: Problem, coefficients: Array) -> Array:
    """Return coefficients on (1, x) in standard coordinates, the constant first."""
    on_columns: Array = problem.unit * coefficients @ problem.white.matrix
    on_columns[0] += problem.level
    return on_columns


def _measure_lengths(curator: Curator, problem: Problem, on_columns: Array, square: float) -> SeenLengths:
    """Release how long residuals are, in units of the target's scale."""
    vectors = ResidualVectors(LinearResiduals(on_columns), problem.unit)
    return measure_lengths(curator, LENGTHS, vectors, 1.0, problem.share, default=_USUAL_RESIDUAL, square=square)


def _clearly_longer(lengths: SeenLengths, others: SeenLengths) -> bool:
    """Return whether the mean square of some lengths is clearly larger than that of others, by counts."""
    seen = np.flatnonzero(lengths.seen + others.seen)
    if len(seen) == 0:
        return False
    squares = lengths.middles[: seen[-1] + 1] ** 2
    more = float((lengths.counts.value - others.counts.value)[: len(squares)] @ squares)
    noise = float(np.hypot(lengths.counts.noise, others.counts.noise) * np.linalg.norm(squares))
    return more > _CLEARLY * noise


def _residual_sum(residuals: LinearResiduals, bound: float) -> RobustSum:
    return RobustSum(np.zeros(1), np.array([bound]), Clip(), residuals)


def _scatter(fit: FitState, rows: float) -> Array:
    """Return the covariance of mean scores by chance and by what clipping may hide, if all moved with coefficients."""
    values, axes = np.linalg.eigh(fit.scores)
    scatter: Array = (axes * (np.maximum(values, 0.0) / rows + fit.bias)) @ axes.T / fit.within**2
    return scatter


def _input_covariance(white: WhiteInputs, centre: Array, scale: Array) -> Array:
    """Return second moments of inputs about the centre: in no direction less than rounding leaves of columns' own."""
    second = white.in_columns()
    if white.constant:
        shift = second[0, 1:] - centre * second[0, 0]
        about = second[1:, 1:] - np.outer(centre, second[0, 1:]) - np.outer(second[1:, 0], centre)
        about += np.outer(centre, centre) * second[0, 0]
        second = about - np.outer(shift, shift)
    values, axes = np.linalg.eigh(second / np.outer(scale, scale))
    covariance: Array = (axes * np.maximum(values, _LEAST_VARIANCE)) @ axes.T * np.outer(scale, scale)
    return covariance
