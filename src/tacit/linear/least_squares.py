"""Least squares, the default linear regression: measured inputs, then a few Newton steps from clipped scores.

Inputs are measured first: columns by themselves (:mod:`tacit.moments.column_scales`), then together, until they are white
as far as noise allows (:mod:`tacit.linear.white_inputs`). In white coordinates v the mean score E r v, of residuals r, is
a linear measurement of how far off the coefficients b are: it is H (best - b) plus noise, with H the second moment of v.
Each round weighs it against what is known (Kalman's filter)::

    covariance = prior variance * prior
    repeat 3 times with a small part of the budget, and once with most of it:
        release how long scores r v are, and choose the clip radius
        release the mean of clipped scores; at last also what clipping hides of it, unless noise is small anyway
        doubt = noise + what clipping may hide + what the error of H may do
        gain = covariance H (H covariance H + doubt)^-1
        b += gain @ mean score
    release the mean and the mean square of residuals

- Noise is relative to residuals, not to the range of the target, so it shrinks as the fit improves.
- In each direction, information is weighed against its known noise. What is drowned is drawn to zero slopes. So columns
  that are collinear, constant or nearly always zero do no harm.
- As noise falls, clip radii grow and doubts vanish: the fit tends to least squares on these rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import count_shares, deal, split_budget
from tacit.fitting.clip_radius import choose_radius, core_radius, longest_seen, proportion_within, sampling_error
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import james_stein_factor, kalman_gain
from tacit.linear.linear_fit import InputSpread, LinearFit
from tacit.linear.white_inputs import INPUT_LENGTHS, ROUNDS, SECOND_MOMENTS, WhiteInputs, measure_white_inputs
from tacit.moments.column_scales import ColumnScales, column_steps, measure_scales
from tacit.privacy.gaussian_profile import gaussian_mu
from tacit.privacy import Budget, Relation, Step
from tacit.release import Curator, Measurement
from tacit.statistics import (
    Clip,
    ComponentMoments,
    LengthCounts,
    LinearResiduals,
    ResidualScores,
    ResidualVectors,
    RobustSum,
    VectorTails,
    numbers_in_second_moment,
)

COLUMN, TARGET = "column", "target"
SCORE_LENGTHS, EARLY, FINAL, TAILS = "score lengths", "early scores", "final scores", "tails of scores"
RESIDUAL_LENGTHS, SQUARES, LEVEL = "residual lengths", "squared residuals", "level"

# Parts of the budget, as squared signal-to-noise ratios. benchmarks/arena.py measures what they give.
_COLUMNS_PART, _TARGET_PART = 0.12, 0.04
_PARTS = {
    INPUT_LENGTHS: 0.03,
    SECOND_MOMENTS: 0.175,
    SCORE_LENGTHS: 0.04,
    EARLY: 0.132,
    FINAL: 0.325,
    TAILS: 0.06,
    RESIDUAL_LENGTHS: 0.016,
    SQUARES: 0.02,
    LEVEL: 0.042,
}
_EARLY_ROUNDS = 3
_RELEASES = {
    INPUT_LENGTHS: ROUNDS,
    SECOND_MOMENTS: ROUNDS,
    SCORE_LENGTHS: _EARLY_ROUNDS + 1,
    EARLY: _EARLY_ROUNDS,
    FINAL: 1,
    TAILS: 1,
    RESIDUAL_LENGTHS: 2,
    SQUARES: 1,
    LEVEL: 1,
}
_OF_ALL_ROWS = (FINAL, TAILS, LEVEL)  # The other releases are of shares of the rows, where rows are many.

_WEIGHTS = (0.5, 1.0, 0.7)  # Weights of counts, means and second moments of scores. The first and the last are free.
_HIDDEN_WEIGHT = 0.5  # What clipping of scores hides counts for this much.
_SMALL_NOISE = 0.5  # Noise, relative to sampling error, up to which scores are not measured in two parts.
_TAIL_CAUTION = 2.0  # Tails are taken to be noise up to this many times its expected square.
_STEP_ERROR = 0.3  # Part of a step that may be wrong, because scores were clipped.
_PRIOR_POWERS = np.arange(-16, 7)  # Prior variances of coefficients to choose from, as powers of 2.
_USUAL_RESIDUAL = 2.0  # Clip radius of residuals if nothing is seen of them, in units of the target's scale.
_FARTHEST_TARGET = 3.0  # Range of the target if nothing is seen of it, in units of its scale.


@dataclass(frozen=True)
class Schedule:
    """What a fit releases, from public numbers alone.

    Parameters
    ----------
    columns : int
        Columns of inputs, without the target.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    budget : Budget
        It decides how many shares rows are dealt out into.
    """

    columns: int
    neighbors: Relation
    rows: int | None
    budget: Budget

    @cached_property
    def shares(self) -> int:
        """How many shares the rows are dealt out into."""
        return count_shares(self.rows, 1 + self.columns, self.budget, self.neighbors)

    @cached_property
    def rounds(self) -> int:
        return ROUNDS_OF(self)

    @property
    def noise(self) -> float:
        mu = gaussian_mu(self.budget.epsilon, self.budget.delta)
        return math.sqrt(2.0) / ((self.rows or 10_000) / self.shares * mu)

    @cached_property
    def relative_noise(self) -> float:
        wide = 1 + self.columns
        mu = gaussian_mu(self.budget.epsilon, self.budget.delta)
        return math.sqrt(2.0) * wide**1.5 / ((self.rows or 10_000) / self.shares * mu)

    @cached_property
    def early_rounds(self) -> int:
        return EARLY_OF(self)

    @cached_property
    def _all_steps(self) -> list[Step]:
        wide = 1 + self.columns
        scores = 1 + wide + numbers_in_second_moment("full", wide)
        sizes = dict.fromkeys((INPUT_LENGTHS, SCORE_LENGTHS, RESIDUAL_LENGTHS), LengthCounts.BINS)
        sizes |= {SECOND_MOMENTS: numbers_in_second_moment("full", wide), EARLY: scores, FINAL: scores, TAILS: wide}
        sizes |= {SQUARES: 1, LEVEL: 1}
        return [
            *column_steps(COLUMN, self.columns, _COLUMNS_PART),
            *column_steps(TARGET, 1, _TARGET_PART * TARGET_OF(self)),
            *split_budget(_PARTS, _RELEASES | {SECOND_MOMENTS: self.rounds, INPUT_LENGTHS: self.rounds, SCORE_LENGTHS: self.early_rounds + 1, EARLY: self.early_rounds}, sizes),
        ]

    @property
    def releases(self) -> int:
        """How many releases a fit makes at most."""
        return sum(step.count for step in self._all_steps)

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        return [step if step.name in _OF_ALL_ROWS else deal(step, self.shares) for step in self._all_steps]


@dataclass(frozen=True, eq=False)
class _State:
    """The fit state: coefficients on white inputs, and the covariance of what they may be off by."""

    coefficients: Array
    covariance: Array
    prior_variance: float
    information: Array
    score: Array  # information @ what the releases say coefficients are
    square: float
    scores: Array | None = None  # The second moment of scores.


@dataclass(frozen=True, eq=False)
class _Target:
    """Where the target is measured from, and in which unit."""

    level: float
    unit: float


def TARGET_OF(s): return min(max(s.noise / T0, 1.0), T1)
T0, T1 = 3e-3, 16.0
def ROUNDS_OF(s): return ROUNDS
def EARLY_OF(s): return _EARLY_ROUNDS


def fit_least_squares(
    curator: Curator,
    schedule: Schedule,
    origin: Array | None = None,
    least_variances: Array | float = 1e-8,
    watch: Watch = lambda done, total: None,
) -> LinearFit:
    """Regress the last column on the others, and return the fit in standard coordinates.

    Parameters
    ----------
    curator : Curator
        Its plan must be the schedule's steps, calibrated.
    schedule : Schedule
    origin : (1 + d,) array, optional
        Where all inputs and the target are zero, in standard coordinates: the regression passes through it. Without it
        there is an intercept.
    least_variances : (1 + d,) array, optional
        Public knowledge of how narrow a column can be.
    watch : callable, optional
        Called as ``watch(done, total)`` after each part of the fit, for a progress bar.
    """
    columns, shares = schedule.columns, schedule.shares
    share = None if schedule.rows is None else schedule.rows / shares
    least = np.sqrt(np.broadcast_to(least_variances, (1 + columns,)))
    inputs = measure_scales(curator, COLUMN, tuple(range(columns)), share)
    target = measure_scales(curator, TARGET, (columns,), share)
    share = inputs.rows if share is None else share
    rows = share * shares
    watch(1, 4)

    start = _column_coordinates(inputs, least[:-1], origin)
    seen = _Target(float(target.centre[0]), max(float(target.scale[0]), float(least[-1])))
    if origin is not None:
        seen = _Target(float(origin[-1]), math.hypot(seen.unit, seen.level - float(origin[-1])))
    white = measure_white_inputs(curator, start, share, schedule.rounds, sampled=shares > 1)
    watch(2, 4)

    fit = _begin(white)
    for _ in range(schedule.early_rounds):
        fit = _step(curator, EARLY, white, seen, fit, share, share, sampled=shares > 1)
    fit = _step(curator, FINAL, white, seen, fit, share, rows)
    watch(3, 4)
    found = _finish(curator, white, seen, fit, inputs, origin, share, rows)
    watch(4, 4)
    return found


def _column_coordinates(inputs: ColumnScales, least: Array, origin: Array | None) -> Array:
    """Return coordinates (m, 1 + d) in which inputs have their own units, with the constant first if there is one."""
    centre, scale = inputs.centre, np.maximum(inputs.scale, least)
    if origin is not None:
        scale = np.hypot(scale, centre - origin[:-1])
        centre = origin[:-1]
    matrix = np.column_stack([-centre / scale, np.diag(1 / scale)])
    return matrix if origin is not None else np.vstack([np.eye(1, 1 + len(centre)), matrix])


def _step(
    curator: Curator, step: str, white: WhiteInputs, target: _Target, fit: _State, counted: float, rows: float, sampled: bool = False
) -> _State:
    """Release the mean of clipped scores, and move coefficients by what it says beside what is known."""
    number = len(fit.coefficients)
    vectors = ResidualScores(white.vectors, fit.coefficients, target.level, target.unit)
    lengths = LengthCounts(vectors, white.reach)
    counts = curator.measure(SCORE_LENGTHS, lengths)
    noise = curator.noise(step, ComponentMoments(vectors, 1.0, *_WEIGHTS)) / rows
    wide, usual = noise * math.sqrt(number), math.sqrt(number)
    weight = _HIDDEN_WEIGHT if step == FINAL else EHID
    radius, hidden = choose_radius(lengths, counts, counted, wide, weight=weight, default=usual, square=fit.square)
    in_two = (step == FINAL or EARLY_CORE) and wide * radius > _SMALL_NOISE * sampling_error(lengths, counts, radius, rows)
    if in_two:
        r2 = core_radius(lengths, counts, counted, rows, wide, usual)
        radius, hidden = (r2, 0.0) if step == FINAL else (EARLY_CORE*r2+(1-EARLY_CORE)*radius, HID2*hidden)
    in_two = in_two and step == FINAL
    statistic = ComponentMoments(vectors, radius, *_WEIGHTS)
    square_noise = noise * radius**2 * _WEIGHTS[1] / _WEIGHTS[2] * math.sqrt(number)
    _, sums, squares = statistic.parts(curator.measure(step, statistic).value)
    mean, scores = sums[0] / rows, squares[0] / rows
    variance = (noise * radius) ** 2 + (weight * hidden) ** 2 / number
    inside = proportion_within(lengths, counts, radius)
    if in_two:
        tail, kept, tail_variance = _measure_tail(curator, vectors, lengths, counts, radius, counted, rows)
        mean, variance, inside = mean + tail, variance + tail_variance, inside + kept * (1 - inside)
    if sampled:  # Other rows have another mean.
        variance += radius**2 / (2 * number * rows)

    hessian = inside * white.second  # Clipped scores do not move with the coefficients.
    doubt = variance + inside**2 * white.error @ np.diag(fit.covariance)
    if fit.scores is None: doubt = variance + inside**2 * white.error.sum(axis=1) * FIRST
    weighted = hessian / doubt
    information = fit.information + weighted @ hessian
    score = fit.score + weighted @ (mean + hessian @ fit.coefficients)
    square = max(float(np.trace(scores)), 0.0) + square_noise
    prior_variance = _likeliest_prior(white, information, score)
    coefficients, covariance = _posterior(white.prior(prior_variance), information, score)
    if step != FINAL:  # what is known grows stale
        forgotten = _STEP_ERROR**2 * float(np.mean((coefficients - fit.coefficients) ** 2))
        forget = np.linalg.inv(np.eye(number) + forgotten * information)
        information, score = information @ forget, forget @ score
        information = (information + information.T) / 2
        covariance = _posterior(white.prior(prior_variance), information, score)[1]
    explained = float(coefficients @ white.second @ coefficients)
    if step == FINAL and explained > MOST_EXPLAINED: coefficients = coefficients * math.sqrt(MOST_EXPLAINED / explained)
    return _State(coefficients, covariance, prior_variance, information, score, square, scores)


MOST_EXPLAINED = 1.5



FIRST = 0.02
EHID = 0.5
EARLY_CORE = 0.0
HID2 = 0.0


def _begin(white: WhiteInputs) -> _State:
    number = len(white.second)
    return _State(np.zeros(number), np.eye(number)*FIRST, 1.0, np.zeros((number, number)), np.zeros(number), float(np.trace(white.second)))


def _posterior(prior: Array, information: Array, score: Array) -> tuple[Array, Array]:
    covariance = np.linalg.solve(np.eye(len(prior)) + prior @ information, prior)
    covariance = (covariance + covariance.T) / 2
    return covariance @ score, covariance


def _likeliest_prior(white: WhiteInputs, information: Array, score: Array) -> float:
    values = []
    for power in _PRIOR_POWERS:
        scaled = white.prior(2.0**power)
        coefficients, _ = _posterior(scaled, information, score)
        values.append(np.linalg.slogdet(np.eye(len(scaled)) + scaled @ information)[1] - float(score @ coefficients))
    values = np.array(values)
    return float(2.0 ** _PRIOR_POWERS[np.flatnonzero(values <= values.min() + PRIOR_CAUTION)[0]])


PRIOR_CAUTION = 1.0


def _measure_tail(
    curator: Curator, vectors: ResidualScores, lengths: LengthCounts, counts: Measurement, radius: float, counted: float, rows: float
) -> tuple[Array, float, float]:
    """Release what clipping hides of the mean score; return it, shrunk by what may be noise, and its variance.

    Where residuals are symmetric it is nothing but noise, and is left out.
    """
    tails, number = VectorTails(vectors, radius), vectors.columns
    noise = curator.noise(TAILS, ComponentMoments(tails, 1.0, 0.0, 1.0, 0.0)) / rows
    farthest = choose_radius(lengths, counts, counted, noise * math.sqrt(number), weight=1.0, default=radius).radius
    statistic = ComponentMoments(tails, max(farthest - radius, 0.1 * radius), 0.0, 1.0, 0.0)
    mean = statistic.parts(curator.measure(TAILS, statistic).value)[1][0] / rows
    noise *= statistic.radius
    kept = float(james_stein_factor(_TAIL_CAUTION * number * noise**2, float(mean @ mean)))
    return kept * mean, kept, kept * noise**2


def _finish(
    curator: Curator,
    white: WhiteInputs,
    target: _Target,
    fit: _State,
    inputs: ColumnScales,
    origin: Array | None,
    share: float,
    rows: float,
) -> LinearFit:
    """Measure residuals, and return the fit in standard coordinates."""
    unit = target.unit
    on_columns = unit * fit.coefficients @ white.matrix  # The constant first.
    on_columns[0] += target.level
    residuals = LinearResiduals(on_columns)
    counts, lengths = _measure_lengths(curator, residuals, unit)
    noise = curator.noise(LEVEL, _residual_sum(residuals, unit)) / rows
    square = fit.square / float(np.trace(white.second))
    radius, hidden = choose_radius(lengths, counts, share, noise, weight=1.0, default=_USUAL_RESIDUAL, square=square)
    bound = radius * unit

    statistic = _residual_sum(LinearResiduals(on_columns, squared=True), bound**2)
    squares = curator.measure(SQUARES, statistic)
    square_noise = squares.noise * bound**2 / share
    variance = max(float(squares.value[0]) * bound**2 / share, square_noise, (1e-6 * unit) ** 2)

    centre = inputs.centre if origin is None else origin[:-1]
    level = float(on_columns[0] + on_columns[1:] @ centre)
    errors = unit**2 * _coefficient_errors(white, fit, rows)
    if origin is None:
        # Coefficients on (1, x), then level and slopes about the centre.
        turn = white.matrix.T.copy()
        turn[0] += centre @ white.matrix.T[1:]
        errors = turn @ errors @ turn.T
        measured = curator.measure(LEVEL, _residual_sum(residuals, bound))
        level_error = (measured.noise * bound / rows) ** 2
        kept = float(kalman_gain(errors[0, 0] + (hidden * unit) ** 2 + variance / rows, level_error))
        level += kept * float(measured.value[0]) * bound / rows
        errors[0] = errors[:, 0] = 0.0
        errors[0, 0] = kept * level_error + variance / rows
    else:
        slopes = white.matrix[:, 1:].T @ errors @ white.matrix[:, 1:]
        errors = np.zeros((1 + len(slopes), 1 + len(slopes)))
        errors[1:, 1:] = slopes
    return LinearFit(
        centre,
        level,
        on_columns[1:],
        _input_covariance(white, centre, origin is None),
        rows,
        variance,
        errors,
        InputSpread(inputs.centre, inputs.scale),
        _target_range(curator, target, len(centre), share),
    )


def _coefficient_errors(white: WhiteInputs, fit: _State, rows: float) -> Array:
    """Return the covariance of errors of coefficients on white inputs: what is left of doubt, and sampling error."""
    prior = white.prior(fit.prior_variance)
    kept = np.eye(len(prior)) - np.linalg.solve(prior, fit.covariance).T  # How far estimates follow least squares.
    bread = kept @ np.linalg.pinv(white.second, rcond=1e-6, hermitian=True)
    values, axes = np.linalg.eigh(fit.scores)
    scores = (axes * np.maximum(values, 0.0)) @ axes.T
    return fit.covariance + bread @ scores @ bread.T / rows


def _input_covariance(white: WhiteInputs, centre: Array, intercept: bool) -> Array:
    """Return second moments of inputs about the centre."""
    second = white.in_columns()
    if not intercept:
        return second
    shift = second[0, 1:] - centre * second[0, 0]
    about = second[1:, 1:] - np.outer(centre, second[0, 1:]) - np.outer(second[1:, 0], centre)
    about += np.outer(centre, centre) * second[0, 0]
    return about - np.outer(shift, shift)


def _target_range(curator: Curator, target: _Target, columns: int, share: float) -> tuple[float, float]:
    """Return the range of targets that is seen beside noise."""
    values = LinearResiduals(np.append(target.level, np.zeros(columns)))
    counts, lengths = _measure_lengths(curator, values, target.unit)
    farthest = (longest_seen(lengths, counts, share, 1.0) or _FARTHEST_TARGET) * target.unit
    return target.level - farthest, target.level + farthest


def _measure_lengths(curator: Curator, residuals: LinearResiduals, unit: float):
    lengths = LengthCounts(ResidualVectors(residuals, unit), 1.0)
    return curator.measure(RESIDUAL_LENGTHS, lengths), lengths


def _residual_sum(residuals: LinearResiduals, bound: float) -> RobustSum:
    return RobustSum(np.zeros(1), np.array([bound]), Clip(), residuals)
