"""Regression with missing inputs by moments of expected scores: the default method.

Inputs and target together are taken to be Gaussian. The regression of that Gaussian is right already, but noisy: most
of the noise of its release goes into covariances of inputs, which the regression hardly needs. So most of the budget
goes to the scores of the regression alone (:class:`tacit.statistics.MissingScores`), in coordinates where inputs are
white::

    release how many cells each column has: by how much the steps of EM fall short
    a few times
        release moments of the table, with missing cells as the last Gaussian expects them: a step of EM
        lengthen the step by what missing cells take away from it
    a few times
        release mean and second moment of expected scores
        move the regression by a step of Fisher scoring: the mean divided by the second moment

:mod:`tacit.regressions.missing_information` lengthens steps. In the last loop too, EM would go by the mean, and slowly.
The second moment of scores is the information in what is observed. Its release costs no more noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import weigh_releases
from tacit.fitting.column_view import ColumnView
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import shrink
from tacit.moments.estimates import PublicFacts
from tacit.moments.gaussian_round import GaussianEstimate, measure_gaussian, numbers_in_round
from tacit.privacy import Step
from tacit.regressions.missing_information import lengthen_em_step
from tacit.regressions.regression_moments import RADIUS
from tacit.release import Curator, Measurement
from tacit.statistics import ComponentMoments, MissingScores, ObservedCells, numbers_in_second_moment

# Names of the plan's steps.
CELLS, TABLE, SCORES, FINAL = "observed cells", "moments of the table", "expected scores", "final scores"

# experiments/gradient_em.py and experiments/missing_nhanes.py measure what the constants below give, on generated
# tables and on NHANES.

# Part of the budget of one release of each step, as squared signal-to-noise ratio.
_BUDGET_WEIGHTS = {CELLS: 0.1, TABLE: 1.0, SCORES: 1.0, FINAL: 6.0}
# Numbers of releases: of the table, and by default of scores before the final one.
_TABLE_ROUNDS, _SCORE_ROUNDS = 6, 3
# Weight of the number of rows in a release of scores, where it is secret.
_COUNT_WEIGHT = 0.5
# Weight of second moments in a release of scores. Up to sqrt(1 / 2) they add nothing to what a replaced row can do.
_SECOND_WEIGHT = 0.7
# Least information in any direction, relative to that in complete rows.
_LEAST_INFORMATION = 0.1
# The logarithm of the scale changes by at most this in one round.
_MOST_LOG_CHANGE = 1.0


@dataclass(frozen=True)
class MissingSchedule:
    """The releases of a fit: public numbers, from which the plan and the fit both follow.

    Parameters
    ----------
    columns : int
        Number of inputs, without the target.
    score_rounds : int
        Number of releases of scores, before a final one.
    count_rows : bool
        Whether the number of rows is secret, so that releases of scores count them.
    """

    columns: int
    score_rounds: int
    count_rows: bool

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return 1 + _TABLE_ROUNDS + self.score_rounds + 1

    def steps(self) -> list[Step]:
        """Return the plan's steps, with noise relative to each other."""
        wide = 2 + self.columns
        numbers = wide + numbers_in_second_moment("full", wide) + self.count_rows
        counts = {CELLS: 1, TABLE: _TABLE_ROUNDS, SCORES: self.score_rounds, FINAL: 1}
        table = numbers_in_round(1 + self.columns)
        sizes = {CELLS: 1 + self.columns, TABLE: table, SCORES: numbers, FINAL: numbers}
        return weigh_releases(_BUDGET_WEIGHTS, counts, sizes)


def missing_schedule(columns: int, n_iter: int | str = "auto", *, count_rows: bool = False) -> MissingSchedule:
    """Return the schedule of a fit.

    Parameters
    ----------
    columns : int
        Number of inputs, without the target.
    n_iter : int or "auto"
        Number of releases.
    count_rows : bool
        Whether the number of rows is secret.

    Examples
    --------
    >>> missing_schedule(3, n_iter=10).score_rounds
    2
    """
    scores = _SCORE_ROUNDS if n_iter == "auto" else int(n_iter) - _TABLE_ROUNDS - 2
    if scores < 0:
        raise ValueError(
            f"n_iter is {n_iter}, and it takes {_TABLE_ROUNDS + 1} releases to find the table's moments "
            f'and one more; pass n_iter={_TABLE_ROUNDS + 2} or more, or "auto".'
        )
    return MissingSchedule(columns, scores, count_rows)


def fit_missing(
    curator: Curator | ColumnView,
    schedule: MissingSchedule,
    facts: PublicFacts,
    watch: Watch = lambda done, total: None,
) -> tuple[GaussianEstimate, Array]:
    """Return the Gaussian of inputs and target, and the covariance of the errors of coefficients, (d, d).

    Parameters
    ----------
    curator : Curator or ColumnView
        Its plan must have the schedule's steps, calibrated. The last column is the target.
    schedule : MissingSchedule
    facts : PublicFacts
        Of inputs and target.
    watch : callable, optional
        The function calls ``watch(done, total)`` after each release.
    """
    measurement = curator.measure(CELLS, ObservedCells(facts.columns))
    rows = float(facts.rows or max(measurement.value.max(), measurement.noise, 1.0))
    observed = measurement.value / rows
    watch(1, schedule.n_releases)

    gaussian = GaussianEstimate.of_bounds(facts)
    for done in range(_TABLE_ROUNDS):
        after = measure_gaussian(curator, TABLE, gaussian, facts, missing=True)
        gaussian = _lengthen(gaussian, after, observed, facts.least_variances)
        watch(done + 2, schedule.n_releases)

    for done, step in enumerate([SCORES] * schedule.score_rounds + [FINAL], _TABLE_ROUNDS + 2):
        scores = MissingScores(gaussian.mean, np.linalg.cholesky(gaussian.covariance))
        count = _COUNT_WEIGHT if schedule.count_rows else 0.0
        radius = RADIUS * math.sqrt(2 + schedule.columns)
        statistic = ComponentMoments(scores, radius, count, 1.0, _SECOND_WEIGHT, "full")
        measurement = curator.measure(step, statistic)
        gaussian, errors = _score_step(gaussian, statistic, measurement, facts.rows)
        watch(done, schedule.n_releases)
    return gaussian, errors


def _lengthen(
    before: GaussianEstimate, after: GaussianEstimate, observed: Array, least_variances: Array | float
) -> GaussianEstimate:
    """Return the Gaussian that EM is on its way to, where these proportions of cells are observed."""
    factor = np.linalg.cholesky(before.covariance)
    inverse = np.linalg.inv(factor)
    shift, covariance = lengthen_em_step(
        inverse @ (after.mean - before.mean),
        inverse @ after.covariance @ inverse.T,
        factor,
        observed,
        after.noise,
    )
    covariance = factor @ covariance @ factor.T
    raised = np.maximum(0.0, least_variances - np.diag(covariance)) + 1e-9
    mean = np.clip(before.mean + factor @ shift, -1.0, 1.0)
    return replace(after, mean=mean, covariance=covariance + np.diag(raised))


def _score_step(
    gaussian: GaussianEstimate, statistic: ComponentMoments, measurement: Measurement, n_rows: int | None
) -> tuple[GaussianEstimate, Array]:
    """Return the Gaussian after a step of Fisher scoring of its regression, and how coefficients err together."""
    counts, sums, squares = statistic.parts(measurement.value)
    noise, radius, columns = measurement.noise, statistic.radius, len(gaussian.mean) - 1
    rows = float(n_rows or max(counts[0], noise / _COUNT_WEIGHT, 1.0))
    kept, spread, bias, scatter = _clipping_effects(columns, radius)
    score_noise = noise * radius / rows
    information, axes = np.linalg.eigh(squares[0] / rows / spread)
    least = max(_LEAST_INFORMATION, score_noise * radius / _SECOND_WEIGHT * math.sqrt(columns + 2) / spread)
    inverse = (axes / np.clip(information, least, 1.0)) @ axes.T
    scores = sums[0] / rows
    # The more cells are missing, the shorter are expected scores, and the less of them is clipped.
    scores[-1] -= bias * min(1.0, max(0.0, squares[0, -1, -1] / rows / scatter)) ** 2
    step = inverse @ shrink(scores / kept, score_noise / kept, 1.0)[0]

    mean, factor = gaussian.mean.copy(), np.linalg.cholesky(gaussian.covariance)
    scale = factor[-1, -1]
    mean[-1] += scale * step[0]
    factor[-1, :-1] += scale * step[1:-1]
    factor[-1, -1] *= math.exp(np.clip(step[-1] / math.sqrt(2.0), -_MOST_LOG_CHANGE, _MOST_LOG_CHANGE))

    # The first term is of noise, the second of sampling.
    errors = (score_noise / kept) ** 2 * inverse @ inverse + spread / kept**2 / rows * inverse
    back = np.linalg.inv(factor[:-1, :-1])
    errors = factor[-1, -1] ** 2 * back.T @ errors[1:-1, 1:-1] @ back
    return replace(gaussian, mean=mean, covariance=factor @ factor.T, rows=rows), errors


@lru_cache(maxsize=16)
def _clipping_effects(columns: int, radius: float) -> tuple[float, float, float, float]:
    """Return the factors by which clipping multiplies steps of coefficients and second moments, and two moments.

    The moments are the mean and the mean square of the scale's clipped score. Scores are e (1, u) and
    (e^2 - 1) / sqrt(2), with e and u standard normal, as in complete rows of a right model.

    Examples
    --------
    >>> [round(part, 2) + 0.0 for part in _clipping_effects(10, 1e9)]
    [1.0, 1.0, 0.0, 1.0]
    """
    rng = np.random.default_rng(0)
    inputs = 1 + rng.chisquare(columns, 1 << 16)
    squares = rng.normal(size=1 << 16) ** 2
    squares /= squares.mean()
    scale_scores = (squares - 1) / math.sqrt(2.0)
    lengths = np.sqrt(squares * inputs + scale_scores**2)
    shortened = np.minimum(1.0, radius / lengths)
    return (
        float(np.mean((lengths < radius) * inputs) / (1 + columns)),
        float(np.mean(squares * inputs * shortened**2) / (1 + columns)),
        float(np.mean(scale_scores * shortened)),
        float(np.mean((scale_scores * shortened) ** 2)),
    )
