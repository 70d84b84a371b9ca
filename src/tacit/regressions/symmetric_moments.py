"""The symmetric mixture by moments of folded rows: the default method.

A folded row is turned to the side of one of the two components, by the odds that it belongs to it::

    a few releases of the whole table as one Gaussian, in its own coordinates
    components to either side along its longest axis: a start good enough that EM forgets it
    repeat
        release the mean and the mean squared length of folded rows, from the current estimate in units of the scale
        move the components by the mean, less what is noise, and find the scale from the squared length

Folded rows are :class:`tacit.statistics.FoldedScores`. They are clipped, and what that does to means and to squared
lengths is known and undone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import roots_hermitenorm

from tacit.arrays import Array
from tacit.fitting.allocation import weigh_releases
from tacit.fitting.clipping import clipped_normal_variance, inner_normal_variance, normal_length_quantile
from tacit.fitting.column_view import ColumnView
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import posterior_variance, shrink
from tacit.moments.estimates import PublicFacts
from tacit.moments.gaussian_round import GaussianEstimate, measure_gaussian, numbers_in_round
from tacit.privacy import Step
from tacit.release import Curator, Measurement
from tacit.statistics import ComponentMoments, FoldedScores

# Names of the plan's steps.
LOOKING, FOLDING, FINAL = "looking for the axis", "folding", "final folding"

# experiments/gradient_em.py and experiments/sparse_em.py measure what the constants below give, on the papers'
# generated tables.

# Part of the budget of one release of each step, as squared signal-to-noise ratio.
_BUDGET_WEIGHTS = {LOOKING: 0.4, FOLDING: 1.0, FINAL: 6.0}
# Weights of counts, means and second moments within a release. Smaller ones would save no noise.
_MOMENT_WEIGHTS = (0.5, 1.0, 0.5)
# Numbers of releases: of the whole table, and by default of folded rows before the final one.
_LOOKING_ROUNDS, _FOLDING_ROUNDS = 3, 2
# Folded rows are clipped at this quantile of the length of a Gaussian row.
_CLIP_QUANTILE = 0.9
# Each round takes the components to be off by this much at least, as a variance in units of the squared scale.
_LEAST_PRIOR_VARIANCE = 0.05
# Least factor by which the square of the scale changes in one round.
_LEAST_CHANGE = 0.05
# At the start, the least variance within and between components, relative to the variance along the longest axis.
_LEAST_WITHIN, _LEAST_BETWEEN = 0.01, 0.05


@dataclass(frozen=True)
class SymmetricSchedule:
    """The releases of a fit: public numbers, from which the plan and the fit both follow.

    Parameters
    ----------
    columns : int
    looking_rounds : int
        Number of releases of the whole table, to find the axis; 0 from a given start.
    folding_rounds : int
        Number of releases of folded rows, before a final one.
    """

    columns: int
    looking_rounds: int
    folding_rounds: int

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return self.looking_rounds + self.folding_rounds + 1

    def steps(self) -> list[Step]:
        """Return the plan's steps, with noise relative to each other."""
        counts = {LOOKING: self.looking_rounds, FOLDING: self.folding_rounds, FINAL: 1}
        sizes = {LOOKING: numbers_in_round(self.columns), FOLDING: 2 + self.columns, FINAL: 2 + self.columns}
        return weigh_releases(_BUDGET_WEIGHTS, counts, sizes)


def symmetric_schedule(columns: int, n_iter: int | str = "auto", *, look: bool = True) -> SymmetricSchedule:
    """Return the schedule of a fit.

    Parameters
    ----------
    columns : int
    n_iter : int or "auto"
        Number of releases.
    look : bool
        Whether the axis must be found. Otherwise the fit starts from a given estimate.

    Examples
    --------
    >>> symmetric_schedule(3, n_iter=8)
    SymmetricSchedule(columns=3, looking_rounds=3, folding_rounds=4)
    """
    looking = _LOOKING_ROUNDS if look else 0
    folding = _FOLDING_ROUNDS if n_iter == "auto" else int(n_iter) - looking - 1
    if folding < 0:
        raise ValueError(
            f"n_iter is {n_iter}, and it takes {looking} releases to find a start and one more; pass "
            f'n_iter={looking + 1} or more, or "auto".'
        )
    return SymmetricSchedule(columns, looking, folding)


@dataclass(frozen=True, eq=False)
class SymmetricEstimate:
    """Two components at half and -half from the origin, with this scale in each column.

    `prior_variance` is how far off `half` may be before the next release, as a variance in units of the squared scale.
    """

    half: Array
    scale: float
    prior_variance: float = 1.0


def fit_symmetric(
    curator: Curator | ColumnView,
    schedule: SymmetricSchedule,
    facts: PublicFacts,
    origin: Array,
    *,
    scale: float | None = None,
    start: SymmetricEstimate | None = None,
    watch: Watch = lambda done, total: None,
) -> SymmetricEstimate:
    """Return private components at half and -half from the origin.

    Parameters
    ----------
    curator : Curator or ColumnView
        Its plan must have the schedule's steps, calibrated.
    schedule : SymmetricSchedule
    facts : PublicFacts
    origin : (d,) array
        The point between the components.
    scale : float, optional
        Standard deviation of each column within a component, where it is public.
    start : SymmetricEstimate, optional
        Where to start, for a schedule that does not look for the axis. It must be public or already private.
    watch : callable, optional
        The function calls ``watch(done, total)`` after each release.
    """
    gaussian = GaussianEstimate.of_bounds(facts)
    for done in range(schedule.looking_rounds):
        gaussian = measure_gaussian(curator, LOOKING, gaussian, facts)
        watch(done + 1, schedule.n_releases)

    estimate = _along_longest_axis(gaussian, origin, scale) if start is None else start
    radius = normal_length_quantile(_CLIP_QUANTILE, schedule.columns)
    for done, step in enumerate([FOLDING] * schedule.folding_rounds + [FINAL], schedule.looking_rounds + 1):
        scores = FoldedScores(origin, estimate.half, estimate.scale)
        statistic = ComponentMoments(scores, radius, *_MOMENT_WEIGHTS, "spherical")
        measurement = curator.measure(step, statistic)
        estimate = _m_step(estimate, statistic, measurement, facts.rows, scale)
        watch(done, schedule.n_releases)
    return estimate


def _along_longest_axis(gaussian: GaussianEstimate, origin: Array, scale: float | None) -> SymmetricEstimate:
    """Return components to either side of the origin along the longest axis of the table."""
    away = gaussian.mean - origin
    variances, axes = np.linalg.eigh(gaussian.covariance + np.outer(away, away))
    across = variances[:-1].mean() if len(variances) > 1 else 0.5 * variances[-1]
    scale = scale or math.sqrt(max(across, _LEAST_WITHIN * variances[-1]))
    length = math.sqrt(max(variances[-1] - scale**2, _LEAST_BETWEEN * variances[-1]))
    return SymmetricEstimate(length * axes[:, -1], scale)


def _m_step(
    estimate: SymmetricEstimate,
    statistic: ComponentMoments,
    measurement: Measurement,
    n_rows: int | None,
    public_scale: float | None,
) -> SymmetricEstimate:
    """Move the components by what folded rows say, less what is noise."""
    counts, sums, squares = statistic.parts(measurement.value)
    noise, radius, columns = measurement.noise, statistic.radius, len(estimate.half)
    rows = max(float(n_rows or counts[0]), 1.0, noise / statistic.count)
    kept = float(inner_normal_variance(radius, columns))
    step_noise = noise * radius / statistic.mean / rows / kept
    step, _ = shrink(sums[0] / rows / kept, step_noise, estimate.prior_variance)
    half = estimate.half + estimate.scale * step
    scale = public_scale
    if scale is None:
        clipped = columns * float(clipped_normal_variance(radius, columns))
        change = float(squares[0]) / rows / clipped - step @ step / columns
        spread = estimate.scale * math.sqrt(max(change, _LEAST_CHANGE))
        scale = _scale(float(np.linalg.norm(half)), spread, columns)
    prior = posterior_variance(estimate.prior_variance, step_noise**2) + _LEAST_PRIOR_VARIANCE
    return SymmetricEstimate(half, scale, min(1.0, prior * (estimate.scale / scale) ** 2))


def _scale(length: float, spread: float, columns: int) -> float:
    """Return the scale at which folded rows scatter about +-`length` with root mean square `spread` in each column.

    Folding makes rows scatter less where components overlap. With a = length / scale and v = a + Z along the axis, the
    mean square is E (tanh(a v) v - a)^2 along the axis and E tanh(a v)^2 across it.

    Examples
    --------
    >>> round(_scale(10.0, 0.5, 3), 3), round(_scale(0.5, 0.4, 3), 1)
    (0.5, 0.5)
    """
    nodes, weights = roots_hermitenorm(60)
    weights = weights / weights.sum()

    def spread_at(scale: float) -> float:
        a = length / scale
        v = a + nodes
        t = np.tanh(a * v)
        return scale * math.sqrt(weights @ ((t * v - a) ** 2 + (columns - 1) * t**2) / columns)

    low, high = 0.3 * spread, 20 * spread
    if spread_at(low) >= spread or spread_at(high) <= spread:
        return spread
    return float(brentq(lambda scale: spread_at(scale) - spread, low, high))
