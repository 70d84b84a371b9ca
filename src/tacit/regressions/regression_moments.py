"""Mixtures of regressions by moments of scores: the default method.

A component's score of a row is e (1, u): e is its residual in units of its own scale, and u are the inputs in
coordinates in which they are about standard normal. Where the component is right, scores have mean 0 and covariance 1.
One release of counts, means and second moments of scores (:class:`tacit.statistics.ComponentMoments` of
:class:`tacit.statistics.RegressionScores`) is an iteration of EM::

    a few releases of the whole table as one Gaussian, in its own coordinates: where inputs lie and how they scatter
    one regression, that of the Gaussian
    until there are twice as many components as asked for, and then as many
        split components, or merge them, as far as the noise allows
        release counts, means and second moments of scores
        move each component by what its scores say, less what is noise
    release how many residuals are far out; widen the components that they belong to

- The *mean* score is the Newton step for the coefficients, because inputs are white. Its noise is relative to the
  residuals, not to the range of the target.
- The *trace* of the second moment tells how large residuals are.
- While the mixture grows, the *direction* in which the second moment is longest is the one in which coefficients of two
  groups of rows differ. The component is split along it.

Scores are clipped. Where errors are symmetric that has no bias. Steps and scales shrink by known factors.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import weigh_releases
from tacit.fitting.clipping import clipped_score_moments
from tacit.fitting.column_view import ColumnView
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import posterior_variance, shrink
from tacit.moments.estimates import PublicFacts
from tacit.moments.far_variances import MOST_BINS
from tacit.moments.gaussian_round import GaussianEstimate, measure_gaussian, numbers_in_round
from tacit.privacy import Step
from tacit.regressions.far_residuals import widen_by_residuals
from tacit.regressions.regressions import Regressions
from tacit.release import Curator, Measurement
from tacit.statistics import ComponentMoments, RegressionScores, numbers_in_second_moment

# Names of the plan's steps.
WHITENING, GROWING, REFINING = "whitening moments", "growing scores", "refining scores"
FINAL, FAR = "final scores", "far residuals"

# experiments/gradient_em.py and experiments/sparse_em.py measure what the constants below give, on generated tables.

# Part of the budget of one release of each step, as squared signal-to-noise ratio.
_BUDGET_WEIGHTS = {WHITENING: 0.5, GROWING: 1.0, REFINING: 1.0, FINAL: 4.0, FAR: 3.0}
# Weights of counts, means and second moments within a release, by the kind of second moment.
_MOMENT_WEIGHTS = {"full": (0.5, 1.0, 1.0), "spherical": (0.5, 1.0, 0.5)}

# Numbers of releases.
_WHITENING_ROUNDS = 3  # Of the whole table.
_ROUNDS_PER_SIZE = 2  # For each number of components, while these grow.
_REFINING_ROUNDS = 5  # By default, afterwards.

# Clip radius of scores, in root mean square lengths of scores.
RADIUS = 1.3
# Clip radius of white inputs: root mean square length plus this margin.
_INPUT_MARGIN = 1.5

# Each round takes coefficients to be off by this much at least, as a variance in units of the squared scale.
_LEAST_PRIOR_VARIANCE = 0.05
# Factors by which the square of a scale changes in one round, at least and at most.
_LEAST_CHANGE, _MOST_CHANGE = 0.05, 4.0
# There are as many components as can have coefficients with errors below this, in units of their scales. Components
# with larger errors cannot be told apart.
_TOLERABLE_ERROR = 1.0
# A component has at least this part of the rows that it would have if all components were equally heavy.
_LEAST_WEIGHT = 0.01


@dataclass(frozen=True)
class RegressionSchedule:
    """The releases of a fit: public numbers, from which the plan and the fit both follow.

    Parameters
    ----------
    n_components, columns : int
        `columns` is the number of inputs, without the target.
    growing_sizes : tuple of int
        Largest number of components in each release while the mixture grows.
    refining_rounds : int
        Number of releases of `n_components` components that follow, before a final one.
    looks_far : bool
        Whether there is a release of far residuals at the end.
    """

    n_components: int
    columns: int
    growing_sizes: tuple[int, ...]
    refining_rounds: int
    looks_far: bool = True

    @property
    def score_rounds(self) -> list[tuple[str, int]]:
        """The step and the largest number of components of each release of scores."""
        after = [REFINING] * self.refining_rounds + [FINAL]
        return [(GROWING, size) for size in self.growing_sizes] + [(step, self.n_components) for step in after]

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return _WHITENING_ROUNDS + len(self.score_rounds) + self.looks_far

    def steps(self) -> list[Step]:
        """Return the plan's steps, with noise relative to each other."""
        wide = 1 + self.columns
        others = [WHITENING] * _WHITENING_ROUNDS + [FAR] * self.looks_far
        counts = Counter([*others, *(step for step, _ in self.score_rounds)])
        most = {GROWING: max(self.growing_sizes, default=0), REFINING: self.n_components, FINAL: self.n_components}
        numbers = {step: 1 + wide + numbers_in_second_moment(_second_moments(step), wide) for step in most}
        sizes = {WHITENING: numbers_in_round(wide)} | {step: most[step] * numbers[step] for step in most}
        sizes[FAR] = MOST_BINS * self.n_components
        return weigh_releases(_BUDGET_WEIGHTS, counts, sizes)


def regression_schedule(
    n_components: int, columns: int, n_iter: int | str = "auto", *, symmetric: bool = False, grow: bool = True
) -> RegressionSchedule:
    """Return the schedule of a fit.

    Parameters
    ----------
    n_components, columns : int
        `columns` is the number of inputs, without the target.
    n_iter : int or "auto"
        Number of releases.
    symmetric : bool
        Whether there are two components with opposite coefficients.
    grow : bool
        Whether components grow from one. Otherwise it is known in which direction two of them differ.

    Examples
    --------
    >>> schedule = regression_schedule(3, columns=2, n_iter=20)
    >>> schedule.growing_sizes, schedule.refining_rounds
    ((1, 1, 2, 2, 4, 4, 6, 6), 7)
    """
    growing = _growing_sizes(n_components, symmetric) if grow else ()
    before = _WHITENING_ROUNDS + len(growing)
    refining = _REFINING_ROUNDS if n_iter == "auto" else int(n_iter) - before - 1
    if refining < 0:
        raise ValueError(
            f"n_iter is {n_iter}, and {n_components} component(s) take {before} release(s) before they "
            f'can be refined, and one more; pass n_iter={before + 1} or more, or "auto".'
        )
    looks_far = n_iter == "auto" or refining > 0
    refining -= looks_far and n_iter != "auto"
    return RegressionSchedule(n_components, columns, growing, refining, looks_far)


def _growing_sizes(n_components: int, symmetric: bool) -> tuple[int, ...]:
    if n_components == 1:
        return ()
    if symmetric:
        sizes = [1]
    else:
        most = 2 * n_components
        sizes = [size for size in (2**power for power in range(most.bit_length())) if size < most] + [most]
    return tuple(size for size in sizes for _ in range(_ROUNDS_PER_SIZE))


@dataclass(frozen=True, eq=False)
class RegressionEstimates:
    """What a fit returns, in standard coordinates.

    Parameters
    ----------
    regressions : Regressions
        On inputs that need not be white.
    errors : (K,) array or None
        Standard errors of coefficients, in any direction in which inputs are of length 1: of noise and of sampling, as
        if it were known which component each row belongs to. None where they are not known.
    mean, covariance : (d,) and (d, d) arrays
        Of the inputs.
    """

    regressions: Regressions
    errors: Array | None
    mean: Array
    covariance: Array


@dataclass(frozen=True, eq=False)
class _ScoreEstimates:
    """Regressions on white inputs as of the last release, and what the next one needs to know of them."""

    regressions: Regressions
    prior_variances: Array  # How far off coefficients may be, as variances in units of the squared scales, (K,).
    directions: Array | None  # The directions along which components can be split, (K, 1 + d).
    rows: float | None
    step_noise: float = 0.0  # On the step of a component that has all rows, in units of its scale.


def fit_regressions(
    curator: Curator | ColumnView,
    schedule: RegressionSchedule,
    facts: PublicFacts,
    *,
    symmetric: bool = False,
    origin: Array | None = None,
    direction: Array | None = None,
    watch: Watch = lambda done, total: None,
) -> RegressionEstimates:
    """Return private regressions of the last column on the others, heaviest first.

    Parameters
    ----------
    curator : Curator or ColumnView
        Its plan must have the schedule's steps, calibrated.
    schedule : RegressionSchedule
    facts : PublicFacts
        Of inputs and target.
    symmetric : bool
        Two components with opposite coefficients, equally heavy. This takes an `origin`.
    origin : (1 + d,) array, optional
        Where all inputs and the target are zero. Regressions pass through it. Without it they have intercepts.
    direction : (d,) array, optional
        The direction in which the coefficients of two components differ, if it is public or already private. It takes a
        schedule without growing rounds.
    watch : callable, optional
        The function calls ``watch(done, total)`` after each release.
    """
    gaussian = GaussianEstimate.of_bounds(facts)
    for done in range(_WHITENING_ROUNDS):
        gaussian = measure_gaussian(curator, WHITENING, gaussian, facts)
        watch(done + 1, schedule.n_releases)

    centre, factor = _white_coordinates(gaussian, origin)
    estimates = _one_regression(centre, factor, direction, gaussian.rows)
    centre, factor = centre[:-1], factor[:-1, :-1]
    for done, (step, size) in enumerate(schedule.score_rounds, _WHITENING_ROUNDS + 1):
        noise = curator.noise(step, _score_moments(estimates.regressions, step, centre, factor))
        estimates = _resize(
            estimates, min(size, _affordable_number(step, noise, estimates.rows, len(centre))), symmetric
        )
        statistic = _score_moments(estimates.regressions, step, centre, factor)
        measurement = curator.measure(step, statistic)
        estimates = _m_step(estimates, statistic, measurement, facts.rows, symmetric, origin is not None)
        watch(done, schedule.n_releases)

    if schedule.looks_far:
        scores, now = _scores(estimates.regressions, centre, factor), estimates.regressions
        wider = widen_by_residuals(curator, FAR, scores, now, estimates.rows, facts)
        estimates = replace(estimates, regressions=wider)
        watch(schedule.n_releases, schedule.n_releases)
    regressions = estimates.regressions.repeat_heaviest(schedule.n_components).by_weight()
    slopes = np.linalg.solve(factor.T, regressions.coefficients[:, 1:].T).T
    intercepts = regressions.coefficients[:, 0] - slopes @ centre
    return RegressionEstimates(
        replace(regressions, coefficients=np.column_stack([intercepts, slopes])),
        _standard_errors(regressions, estimates, len(centre), symmetric),
        gaussian.mean[:-1],
        gaussian.covariance[:-1, :-1],
    )


def _white_coordinates(gaussian: GaussianEstimate, origin: Array | None) -> tuple[Array, Array]:
    """Return where all columns are measured from, and a factor of their second moment about it."""
    if origin is None:
        return gaussian.mean, np.linalg.cholesky(gaussian.covariance)
    apart = gaussian.mean - origin
    return origin, np.linalg.cholesky(gaussian.covariance + np.outer(apart, apart))


def _one_regression(centre: Array, factor: Array, direction: Array | None, rows: float | None) -> _ScoreEstimates:
    """Return the regression of the Gaussian of all columns.

    The factor's last row has the coefficients on white inputs, and then the scale of what is left.
    """
    coefficients = np.concatenate([centre[-1:], factor[-1, :-1]])
    directions = None
    if direction is not None:
        white = factor[:-1, :-1].T @ direction
        directions = np.concatenate([[0.0], white / np.linalg.norm(white)])[None]
    return _ScoreEstimates(Regressions(np.ones(1), coefficients[None], factor[-1:, -1]), np.ones(1), directions, rows)


def _score_moments(regressions: Regressions, step: str, centre: Array, factor: Array) -> ComponentMoments:
    """Return what a release of the step sums, for inputs that are white in coordinates of this centre and factor."""
    kind, scores = _second_moments(step), _scores(regressions, centre, factor)
    return ComponentMoments(scores, _score_radius(len(centre)), *_MOMENT_WEIGHTS[kind], kind)


def _scores(regressions: Regressions, centre: Array, factor: Array) -> RegressionScores:
    weights, coefficients, scales = regressions.weights, regressions.coefficients, regressions.scales
    return RegressionScores(weights, coefficients, scales, centre, factor, _input_radius(len(centre)))


def _second_moments(step: str) -> Literal["full", "spherical"]:
    """Return what is released of second moments: while components grow, the direction to split along is wanted."""
    return "full" if step == GROWING else "spherical"


def _input_radius(columns: int) -> float:
    return math.sqrt(columns) + _INPUT_MARGIN


def _score_radius(columns: int) -> float:
    return RADIUS * math.sqrt(1 + columns)


def _affordable_number(step: str, noise: float, rows: float | None, columns: int) -> int:
    """Return the largest number of equally heavy components whose coefficients have tolerable errors."""
    error = noise * RADIUS * (1 + columns) / _MOMENT_WEIGHTS[_second_moments(step)][1]
    return max(1, int(_TOLERABLE_ERROR * max(rows or 1.0, 1.0) / error))


def _resize(estimates: _ScoreEstimates, size: int, symmetric: bool) -> _ScoreEstimates:
    """Return estimates of `size` components, or of twice as many as there are if that is less."""
    regressions = estimates.regressions
    if size == regressions.count:
        return estimates
    if size < regressions.count:
        regressions = regressions.merge(size)
    elif estimates.directions is not None:
        regressions = regressions.split(min(size, 2 * regressions.count), estimates.directions)
    if symmetric and regressions.count == 2:
        regressions = regressions.mirror()
    priors = np.ones(regressions.count)
    return replace(estimates, regressions=regressions, directions=None, prior_variances=priors)


def _m_step(
    estimates: _ScoreEstimates,
    statistic: ComponentMoments,
    measurement: Measurement,
    n_rows: int | None,
    symmetric: bool,
    through_origin: bool,
) -> _ScoreEstimates:
    """Move each component by what its scores say, less what is noise."""
    regressions, priors = estimates.regressions, estimates.prior_variances
    noise, radius, wide = measurement.noise, statistic.radius, regressions.coefficients.shape[1]
    counts, sums, squares = statistic.parts(measurement.value)
    if n_rows is not None:
        counts = counts + (n_rows - counts.sum()) / len(counts)
    rows = max(float(counts.sum()), 1.0)
    counts = np.maximum(counts, max(_LEAST_WEIGHT * rows / len(counts), noise / statistic.count))

    kept, spread = clipped_score_moments(wide - 1, statistic.components.reach, radius)
    step_noise = noise * radius / statistic.mean / counts / kept
    mean_scores = sums / counts[:, None] / kept
    steps = np.stack([shrink(*component)[0] for component in zip(mean_scores, step_noise, priors)])
    if through_origin:
        steps[:, 0] = 0.0
    traces = np.einsum("kii->k", squares) if squares.ndim == 3 else squares
    changes = traces / counts / (wide * spread) - np.sum(steps**2, axis=1)
    least = np.maximum(_LEAST_CHANGE, noise * radius**2 / statistic.second / counts / wide)
    scales = regressions.scales * np.sqrt(np.clip(changes, least, _MOST_CHANGE))
    coefficients = regressions.coefficients + regressions.scales[:, None] * steps
    new = Regressions(counts / counts.sum(), coefficients, scales)
    if symmetric and new.count == 2:
        new = new.mirror()

    priors = posterior_variance(priors, step_noise**2) * (regressions.scales / scales) ** 2
    return _ScoreEstimates(
        new,
        np.clip(priors + _LEAST_PRIOR_VARIANCE, 0.0, 1.0),
        longest_directions(squares, through_origin) if squares.ndim == 3 else None,
        rows,
        noise * radius / statistic.mean / rows / kept,
    )


def longest_directions(second_moments: Array, through_origin: bool) -> Array:
    """Return the directions (K, 1 + d) in which scores with these second moments (K, 1 + d, 1 + d) are longest.

    Through the origin, they leave intercepts alone, even where noise makes all else look negative.

    Examples
    --------
    >>> longest_directions(np.array([[[5.0, 0.0], [0.0, 1.0]]]), through_origin=True)
    array([[0., 1.]])
    """
    if through_origin:
        second_moments = second_moments[:, 1:, 1:]
    axes = np.linalg.eigh(second_moments)[1][:, :, -1]
    if through_origin:
        axes = np.column_stack([np.zeros(len(axes)), axes])
    return axes * np.sign(axes[np.arange(len(axes)), np.argmax(np.abs(axes), axis=1)])[:, None]


def _standard_errors(regressions: Regressions, estimates: _ScoreEstimates, columns: int, symmetric: bool) -> Array:
    """Return the standard errors of coefficients (K,), of noise and of sampling."""
    kept, spread = clipped_score_moments(columns, _input_radius(columns), _score_radius(columns))
    sampling = spread / kept**2 / max(estimates.rows or 1.0, 1.0)  # Clipped scores tell less.
    variances = (estimates.step_noise / regressions.weights) ** 2 + sampling / regressions.weights
    if symmetric:  # The coefficients are the mean of two estimates, one of them with its sign changed.
        variances = variances / 2
    return regressions.scales * np.sqrt(variances)
