"""Mean and covariance of all rows, far ones included, measured again and again in their own last coordinates.

Noise sized for the whole of the public bounds would drown a Gaussian that is small beside them. So each round measures
rows with the last covariance as the unit, as in CoinPress (Biswas et al., 2020). Rows are clipped in these units. Where
columns are nearly always one value (a rare condition, a cost that is mostly zero), or have heavy tails, most of the
variance is in rows that are clipped. Then the unit would shrink round by round, until these rows are impossible. So
what clipping hides is measured as well, and added in each round::

    release centre and spread of each column by itself
    release how many rows are far out, by column: what they hide
    repeat
        release count, mean and second moment of the rows, clipped, in coordinates where the covariance is the identity
        move mean and covariance by what was released and what is hidden, less what is noise
        half way, before that: release how many rows are far out, by axis of the covariance: what they hide

With independent columns nothing is hidden but what each column hides, and noise leaves correlations out. So a table
whose correlations are drowned in noise ends as independent columns, each with its own variance.

The axes of the second release are those of the whitened rows that are most like the columns: D R^(1/2) z is the row,
where D holds standard deviations and R the correlations (ZCA-cor: Kessy, Lewin and Strimmer, 2018). Collinear columns
have long rows in the second release only if they break the rule. In the first release all far rows would.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import weigh_releases
from tacit.fitting.progress import Watch
from tacit.moments.column_units import BINS, measure_units
from tacit.moments.estimates import ColumnSpread, MomentEstimates, PublicFacts
from tacit.moments.far_variances import MOST_BINS, far_length, far_variances, numbers_of_far_rows
from tacit.moments.gaussian_round import GaussianEstimate, measure_gaussian, numbers_in_round
from tacit.privacy import Step
from tacit.release import Curator
from tacit.statistics import Components, FarRows

COLUMNS, NARROW, FAR, MOMENTS = "columns", "narrow columns", "far rows", "refining moments"

# Tuned numbers, on the arena's tables whose names have an even crc32 (benchmarks/arena.py --kinds moments factors).
_PARTS = {COLUMNS: 4.0, NARROW: 0.67, FAR: 4.0, MOMENTS: 3.0}  # Of the budget, of each release.
_MANY_COLUMNS = 20  # With more columns, moments have more of the budget: their noise grows fastest.
_RELEASES = {COLUMNS: 1, NARROW: 3, FAR: 2, MOMENTS: 6}
_LEAST_RELEASES = 3  # One of columns, one of far rows and one of moments.
_LEAST_EIGENVALUE = 1e-12  # Of correlations.


def whole_steps(columns: int, n_iter: int | str = "auto") -> list[Step]:
    """Return the steps of the plan. With few releases, narrow columns are not looked for.

    Examples
    --------
    >>> [(step.name, step.count) for step in whole_steps(10)]
    [('columns', 1), ('narrow columns', 3), ('far rows', 2), ('refining moments', 6)]
    >>> [(step.name, step.count) for step in whole_steps(10, n_iter=5)]
    [('columns', 1), ('far rows', 2), ('refining moments', 2)]
    """
    counts = dict(_RELEASES)
    if n_iter != "auto":
        spare = int(n_iter) - _LEAST_RELEASES
        if spare < 0:
            raise ValueError(
                f"n_iter is {n_iter}, and iterated moments take one or more releases of columns, of far rows and of "
                'moments; pass n_iter=3 or more, or "auto".'
            )
        counts[NARROW] = _RELEASES[NARROW] if spare >= sum(_RELEASES.values()) - 2 * _LEAST_RELEASES else 0
        counts[FAR] = min(2, 1 + spare)
        counts[MOMENTS] = int(n_iter) - counts[COLUMNS] - counts[NARROW] - counts[FAR]
    sizes = {
        COLUMNS: 1 + 2 * columns,
        NARROW: BINS * columns,
        FAR: numbers_of_far_rows(columns),
        MOMENTS: numbers_in_round(columns),
    }
    parts = _PARTS | {MOMENTS: _PARTS[MOMENTS] * max(1.0, columns / _MANY_COLUMNS)}
    return weigh_releases(parts, counts, sizes)


def whole_moments(curator: Curator, steps: Sequence[Step], facts: PublicFacts, watch: Watch) -> MomentEstimates:
    """Return mean, covariance and number of rows, from the releases of these steps.

    Parameters
    ----------
    curator : Curator
        Its plan has these steps, calibrated.
    steps : sequence of Step
        From :func:`whole_steps`.
    facts : PublicFacts
    watch : callable
        Called as ``watch(done, total)`` after each release.
    """
    counts = {step.name: step.count for step in steps}
    total, rounds = sum(counts.values()), counts[MOMENTS]
    numbers = iter(range(1, total + 1))

    def released() -> None:
        watch(next(numbers), total)

    units = measure_units(curator, COLUMNS, NARROW, counts.get(NARROW, 0), facts, released)

    scale = np.where(units.spikes, _unit_of_spikes(curator, facts, units.rows), units.scale)
    component = Components(np.ones(1), units.centre[None], np.diag(scale)[None])
    far = scale**2 * far_variances(curator, FAR, component, units.spikes, units.rows, facts)
    hidden = np.diag(far)
    gaussian = GaussianEstimate(units.centre, np.diag(scale**2) + hidden, units.rows)
    released()

    for done in range(rounds):
        if counts[FAR] > 1 and done == rounds // 2:
            root = root_like_columns(gaussian.covariance)
            component = Components(np.ones(1), gaussian.mean[None], root[None])
            variances = far_variances(
                curator, FAR, component, np.zeros(facts.columns, bool), float(gaussian.rows or units.rows), facts
            )
            by_axis = (root * variances) @ root.T
            hidden = by_axis + np.diag(np.where(units.spikes, far, 0.0))
            gaussian = gaussian.widened(by_axis)
            released()
        gaussian = measure_gaussian(curator, MOMENTS, gaussian, facts, hidden=hidden)
        released()

    covariance = gaussian.covariance
    spread = ColumnSpread(np.sqrt(np.diag(covariance)), np.full(len(covariance), gaussian.noise))
    error = float(gaussian.prior_variances[1, 0])
    return MomentEstimates(gaussian.mean, covariance, float(gaussian.rows or units.rows), error, spread)


def root_like_columns(covariance: Array) -> Array:
    """Return D R^(1/2), where D has the standard deviations and R the correlations of a covariance.

    Examples
    --------
    >>> root = root_like_columns(np.array([[4.0, 1.0], [1.0, 1.0]]))
    >>> (root @ root.T).round(9), (np.diag(root) > 0).all()
    (array([[4., 1.],
           [1., 1.]]), np.True_)
    """
    deviations = np.sqrt(np.diag(covariance))
    values, axes = np.linalg.eigh(covariance / np.outer(deviations, deviations))
    root = (axes * np.sqrt(np.maximum(values, _LEAST_EIGENVALUE))) @ axes.T
    scaled: Array = deviations[:, None] * root
    return scaled


def _unit_of_spikes(curator: Curator, facts: PublicFacts, rows: float) -> float:
    """Return the standard deviation of a column with as many rows at the ends of the bounds as noise is."""
    any_rows = FarRows(GaussianEstimate.of_bounds(facts).component(), far_length(facts.columns), MOST_BINS)
    return facts.farthest * math.sqrt(min(1.0, curator.noise(FAR, any_rows) / rows))
