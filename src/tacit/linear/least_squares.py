"""Least squares, the default linear regression: measured inputs, then a few Newton steps from clipped scores.

Inputs are measured first: columns by themselves (:mod:`tacit.moments.column_scales`), then together, until they are
white as far as noise allows (:mod:`tacit.linear.white_inputs`). In white coordinates v the mean score E r v, of
residuals r, is a linear measurement of how far off the coefficients b are: it is H (best - b) plus noise, with H the
second moment of v. All of these measurements are put together (:mod:`tacit.linear.coefficient_posterior`)::

    repeat 3 times with a small part of the budget, and once with most of it:
        release how long scores r v are, and choose the clip radius
        release the mean of clipped scores; at last also what clipping hides of it, unless noise is small anyway
        doubt = noise + what clipping may hide + what the error of H may do
        b = what all releases say together, each weighed by its doubt, beside a prior that follows from them
    release the lengths of residuals, with slopes and without; leave slopes out if residuals are longer with them
    release the mean and the mean square of residuals

- Noise is relative to residuals, not to the range of the target, so it shrinks as the fit improves.
- In each direction, information is weighed against its known noise. What is drowned is drawn to zero slopes. So columns
  that are collinear, constant or nearly always zero do no harm.
- As noise falls, clip radii grow and doubts vanish: the fit tends to least squares on these rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import count_shares, deal, split_budget
from tacit.fitting.clip_radius import SeenLengths, measure_lengths
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import james_stein_factor
from tacit.linear.coefficient_posterior import CoefficientPosterior
from tacit.linear.last_residuals import LENGTHS, LEVEL, SQUARES, finish
from tacit.linear.linear_fit import LinearFit
from tacit.linear.white_inputs import INPUT_LENGTHS, SECOND_MOMENTS, WhiteInputs, measure_white_inputs
from tacit.moments.column_scales import ColumnScales, column_steps, measure_scales
from tacit.moments.estimates import PublicFacts
from tacit.privacy import Budget, Relation, Step
from tacit.privacy.gaussian_profile import gaussian_mu
from tacit.release import Curator
from tacit.statistics import (
    ComponentMoments,
    InputVectors,
    LengthCounts,
    ResidualScores,
    VectorTails,
    numbers_in_second_moment,
)

COLUMN, TARGET = "column", "target"
SCORE_LENGTHS, EARLY, FINAL, TAILS = "score lengths", "early scores", "final scores", "tails of scores"

# Parts of the budget, as squared signal-to-noise ratios. benchmarks/arena.py measures what they give.
_COLUMNS_PART, _TARGET_PART = 0.12, 0.04
_PARTS = {
    INPUT_LENGTHS: 0.03,
    SECOND_MOMENTS: 0.175,
    SCORE_LENGTHS: 0.04,
    EARLY: 0.132,
    FINAL: 0.325,
    TAILS: 0.06,
    LENGTHS: 0.016,
    SQUARES: 0.02,
    LEVEL: 0.042,
}
_EARLY_ROUNDS = 3
_RELEASES = {
    SCORE_LENGTHS: _EARLY_ROUNDS + 1,
    EARLY: _EARLY_ROUNDS,
    FINAL: 1,
    TAILS: 1,
    LENGTHS: 2,
    SQUARES: 1,
    LEVEL: 1,
}
_OF_ALL_ROWS = (FINAL, TAILS, LEVEL)  # The other releases are of shares of the rows, where rows are many.
_USUAL_ROWS = 10_000  # Number of rows that plans assume where it is secret.
_ROUNDS, _MOST_ROUNDS = 3, 8  # Releases of second moments of inputs.
_USUAL_NOISE, _ROUNDS_MORE = 1e-3, 1.5  # With ten times less noise than usual there are so many more of them.
_DROWNING = 2e-3  # With more noise than this, of a proportion with all of the budget, more goes to the target itself.
_MOST_FOR_TARGET = 16.0  # How many times more, at most.

_WEIGHTS = (0.5, 1.0, 0.7)  # Weights of counts, means and second moments of scores. The first and the last are free.
_HIDDEN_WEIGHT = 0.5  # What clipping of scores hides counts for this much.
_REACH = 2.0  # Rows are weighed down in scores only where they are so many times longer than in second moments.
_SMALL_NOISE = 0.5  # Noise, relative to sampling error, up to which scores are not measured in two parts.
_TAIL_CAUTION = 2.0  # Tails are taken to be noise up to this many times its expected square.
_TAIL_BIAS = 1.0  # Square of what tails that were left out may be, in units of the variance of their noise.
_FIRST_VARIANCE = 0.02  # Variance of coefficients before the first release, for the doubt that the error of H adds.


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
        It decides how many shares rows are dealt out into, and how much goes to the target itself.
    """

    columns: int
    neighbors: Relation
    rows: int | None
    budget: Budget

    @cached_property
    def shares(self) -> int:
        """How many shares the rows are dealt out into."""
        return count_shares(self.rows, 1 + self.columns, self.budget, self.neighbors)

    @property
    def noise(self) -> float:
        """Noise of a proportion of the rows that has all of the budget."""
        multiplier = 1 / gaussian_mu(self.budget.epsilon, self.budget.delta)
        return math.sqrt(2.0) * multiplier * self.shares / (self.rows or _USUAL_ROWS)

    @property
    def input_rounds(self) -> int:
        """How many times second moments are released: more with less noise, for inputs that are far from white."""
        rounds = _ROUNDS + _ROUNDS_MORE * math.log10(_USUAL_NOISE / self.noise)
        return round(min(max(rounds, _ROUNDS), _MOST_ROUNDS))

    @property
    def target_part(self) -> float:
        """The part of the budget for where the target lies: with much noise, that is most of what can be learnt."""
        return _TARGET_PART * min(max(self.noise / _DROWNING, 1.0), _MOST_FOR_TARGET)

    @cached_property
    def _all_steps(self) -> list[Step]:
        wide = 1 + self.columns
        second = numbers_in_second_moment("full", wide)
        sizes = dict.fromkeys((INPUT_LENGTHS, SCORE_LENGTHS, LENGTHS), LengthCounts.BINS)
        sizes |= dict.fromkeys((EARLY, FINAL), 1 + wide + second)
        sizes |= {SECOND_MOMENTS: second, TAILS: wide, SQUARES: 1, LEVEL: 1}
        releases = _RELEASES | dict.fromkeys((INPUT_LENGTHS, SECOND_MOMENTS), self.input_rounds)
        return [
            *column_steps(COLUMN, self.columns, _COLUMNS_PART),
            *column_steps(TARGET, 1, self.target_part),
            *split_budget(_PARTS, releases, sizes),
        ]

    @property
    def releases(self) -> int:
        """How many releases a fit makes at most."""
        return sum(step.count for step in self._all_steps)

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        return [step if step.name in _OF_ALL_ROWS else deal(step, self.shares) for step in self._all_steps]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is known before the first score is released.

    Parameters
    ----------
    white : WhiteInputs
    inputs : ColumnScales
    level, unit : float
        Where the target is measured from, and in which unit.
    origin : (1 + d,) array or None
        Where all inputs and the target are zero, for a regression without an intercept.
    share : float
        How many rows an early release is of.
    shares : int
        How many shares the rows are dealt out into.
    """

    white: WhiteInputs
    inputs: ColumnScales
    level: float
    unit: float
    origin: Array | None
    share: float
    shares: int

    @property
    def rows(self) -> float:
        """How many rows there are, as far as is known."""
        return self.share * self.shares

    def rows_of(self, step: str) -> float:
        """Return how many rows a release is of."""
        return self.rows if step in _OF_ALL_ROWS else self.share


@dataclass(frozen=True, eq=False)
class FitState:
    """The fit state.

    Parameters
    ----------
    coefficients : (m,) array
        On white inputs, in units of the target's scale.
    posterior : CoefficientPosterior
        What all releases say together.
    square : float
        The mean squared length of scores, as far as it is known.
    scores : (m, m) array
        The second moment of clipped scores; zero before it is measured.
    within : float
        The proportion of the last scores that moves with the coefficients.
    bias : float
        The square that clipping may hide of each number of the last mean score.
    """

    coefficients: Array
    posterior: CoefficientPosterior
    square: float
    scores: Array
    within: float = 1.0
    bias: float = 0.0


@dataclass(frozen=True, eq=False)
class _MeanScore:
    """What a release of scores says.

    Parameters
    ----------
    mean : (m,) array
    variance : float
        Of the errors of its numbers.
    within : float
        The proportion of scores that move with the coefficients.
    square : float
        The mean squared length of scores, at least.
    scores : (m, m) array
        The second moment of clipped scores.
    bias : float
        The square that clipping may hide of each number of the mean, beside what the variance has.
    """

    mean: Array
    variance: float
    within: float
    square: float
    scores: Array
    bias: float


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
    problem = _measure_columns(curator, schedule, origin, least_variances)
    watch(1, 3)
    fit = FitState(
        np.zeros(len(problem.white.second)),
        CoefficientPosterior.flat(problem.white),
        float(np.trace(problem.white.second)),
        np.zeros_like(problem.white.second),
    )
    for step in [EARLY] * _EARLY_ROUNDS + [FINAL]:
        fit = _step(curator, step, problem, fit)
    watch(2, 3)
    found = finish(curator, problem, fit)
    watch(3, 3)
    return found


def _measure_columns(
    curator: Curator, schedule: Schedule, origin: Array | None, least_variances: Array | float
) -> Problem:
    """Release where columns lie, and second moments of inputs."""
    columns, shares = schedule.columns, schedule.shares
    least = np.sqrt(np.broadcast_to(least_variances, (1 + columns,)))
    facts = PublicFacts(1 + columns, None if schedule.rows is None else schedule.rows // shares)
    inputs = measure_scales(curator, COLUMN, tuple(range(columns)), facts)
    target = measure_scales(curator, TARGET, (columns,), facts)
    level, unit = float(target.centre[0]), max(float(target.scale[0]), float(least[-1]))
    if origin is not None:
        level, unit = float(origin[-1]), math.hypot(unit, level - float(origin[-1]))
    start = _column_coordinates(inputs, least[:-1], origin)
    white = measure_white_inputs(curator, start, inputs.rows, schedule.input_rounds, sampled=shares > 1)
    white = replace(white, narrower=np.maximum(inputs.scale / np.maximum(inputs.narrowest, least[:-1]), 1.0))
    return Problem(white, inputs, level, unit, origin, inputs.rows, shares)


def _column_coordinates(inputs: ColumnScales, least: Array, origin: Array | None) -> Array:
    """Return coordinates (m, 1 + d) in which inputs have their own units, with the constant first if there is one."""
    centre, scale = inputs.centre, np.maximum(inputs.scale, least)
    if origin is not None:
        scale = np.hypot(scale, centre - origin[:-1])
        centre = origin[:-1]
    matrix = np.column_stack([-centre / scale, np.diag(1 / scale)])
    return matrix if origin is not None else np.vstack([np.eye(1, 1 + len(centre)), matrix])


def _step(curator: Curator, step: str, problem: Problem, fit: FitState) -> FitState:
    """Release the mean of clipped scores, and put what it says beside what is known."""
    score = _measure_scores(curator, step, problem, fit)
    white = problem.white
    first = not fit.scores.any()
    unsure = np.full(len(score.mean), _FIRST_VARIANCE) if first else np.diag(fit.posterior.covariance)
    doubt = score.variance + score.within**2 * white.errors @ unsure
    posterior = fit.posterior.learn(fit.coefficients, score.mean, score.within * white.second, doubt)
    coefficients = posterior.coefficients
    if step != FINAL:
        posterior = posterior.forget(fit.coefficients)
    return FitState(coefficients, posterior, score.square, score.scores, score.within, score.bias)


def _measure_scores(curator: Curator, step: str, problem: Problem, fit: FitState) -> _MeanScore:
    """Release the mean of clipped scores at the coefficients; at last in two parts, where noise is not small."""
    number, rows = len(fit.coefficients), problem.rows_of(step)
    usual = math.sqrt(number)
    inputs = InputVectors(problem.white.matrix, _REACH * problem.white.reach)
    vectors = ResidualScores(inputs, fit.coefficients, problem.level, problem.unit)
    lengths = measure_lengths(
        curator, SCORE_LENGTHS, vectors, problem.white.reach, problem.share, default=usual, square=fit.square
    )
    noise = curator.noise(step, ComponentMoments(vectors, 1.0, *_WEIGHTS)) / rows
    radius, hidden = lengths.choose_radius(noise * usual, _HIDDEN_WEIGHT)
    in_two = step == FINAL and noise * usual * radius > _SMALL_NOISE * lengths.sampling_error(radius, rows)
    if in_two:
        radius, hidden = lengths.core_radius(noise * usual, rows), 0.0
    statistic = ComponentMoments(vectors, radius, *_WEIGHTS)
    _, sums, squares = statistic.parts(curator.measure(step, statistic).value)
    variance = (noise * radius) ** 2 + (_HIDDEN_WEIGHT * hidden) ** 2 / number
    if rows < problem.rows:  # Other rows have another mean.
        variance += radius**2 / (2 * number * rows)
    square_noise = noise * radius**2 * usual * _WEIGHTS[1] / _WEIGHTS[2]
    scores = squares[0] / rows
    score = _MeanScore(
        sums[0] / rows,
        variance,
        lengths.within(radius),
        max(float(np.trace(scores)) - square_noise, 0.0),
        scores,
        hidden**2 / number,
    )
    return _add_tail(curator, vectors, lengths, radius, score, rows) if in_two else score


def _add_tail(
    curator: Curator, vectors: ResidualScores, lengths: SeenLengths, radius: float, core: _MeanScore, rows: float
) -> _MeanScore:
    """Release what clipping hides of the mean score, and add it, shrunk by what may be noise.

    Where residuals are symmetric it is nothing but noise, and is left out.
    """
    tails, number = VectorTails(vectors, radius), vectors.columns
    noise = curator.noise(TAILS, ComponentMoments(tails, 1.0, 0.0, 1.0, 0.0)) / rows
    farthest = replace(lengths, default=radius).choose_radius(noise * math.sqrt(number), weight=1.0).radius
    statistic = ComponentMoments(tails, max(farthest - radius, 0.1 * radius), 0.0, 1.0, 0.0)
    mean = statistic.parts(curator.measure(TAILS, statistic).value)[1][0] / rows
    noise *= statistic.radius
    kept = float(james_stein_factor(_TAIL_CAUTION * number * noise**2, float(mean @ mean)))
    return replace(
        core,
        mean=core.mean + kept * mean,
        variance=core.variance + kept * noise**2,
        within=core.within + kept * (1 - core.within),
        bias=(1 - kept) * min(_TAIL_BIAS * noise**2, lengths.hidden(radius) ** 2 / number),
    )
