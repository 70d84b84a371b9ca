"""The scale-free mixture: each component's moments are released in that component's own current coordinates.

The mixture grows by splitting, and is refined. Neither splitting nor merging costs privacy, and starting with too many
components is what keeps the result from depending on luck::

    one component as large as the bounds
    for 1, 2, 4, ... up to twice as many components as asked for:
        split components, as far as the noise supports them
        release their moments, twice, and move them
    choose the number of components privately, where several are allowed (one release)
    merge components down to that number, the cheapest pair first; with levels, make products of them, and soften
    the probabilities of levels if there are settling rounds
    for each settling round, which are cheap, and each refining round:
        release their moments, and move them
    release plain squared deviations; widen components that have tails
    release how many rows are outliers; give these rows a wide density

What makes it accurate, beside that, is in :mod:`tacit.fitting.shrinkage` and in three choices that need no data: the
weights of counts, means and second moments in a release, for the least expected loss (``block_weights``); the clip
radius, which is wide where there is little noise; and how many components the noise can support. If these are fewer
than asked for, the rest are copies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacit.arrays import Array
from tacit.fitting.progress import Watch
from tacit.mixture.component_estimates import (
    MixtureEstimates,
    affordable_components,
    clip_radius,
    component_moments,
    initial_estimates,
    move_components,
    resize,
    squared_deviations,
    widen_components,
)
from tacit.mixture.mixture import Mixture
from tacit.mixture.model_choice import choose_number, drop_empty, likelihood_gains
from tacit.mixture.outliers import outlier_count, outlier_density, outlier_weight
from tacit.mixture.prior import MixturePrior
from tacit.mixture.product_estimates import move_products, product_estimates, product_moments
from tacit.mixture.scale_free_schedule import CHOICE, GROWING, OUTLIERS, REFINING, SETTLING, TAILS, ScaleFreeSchedule
from tacit.mixture.table_mixture import TableMixture, merge_products
from tacit.release import Curator, Measurement
from tacit.statistics import ComponentMoments, CovarianceType, TableMoments

# The number of releases after which the whole table is seen well enough, and is not yet clipped to its core. The
# density of outliers is what the mixture is then. benchmarks/mixture.py measures what it gives.
_RELEASES_FOR_OUTLIERS = 2
# The number of refining rounds before empty components are dropped: only then has a component that nobody needs lost
# its rows. experiments/choosing_components.py measures what it gives.
_ROUNDS_BEFORE_DROPPING = 2


class Round(NamedTuple):
    """One release of a fit: its value, and the mixture after it."""

    value: Array
    mixture: Mixture


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """What a fit of a mixture found: private values.

    Parameters
    ----------
    mixture : Mixture
        Heaviest component first.
    rows : float or None
        The number of rows, where a release tells it.
    outliers : Mixture or None
        The density of outliers, of one component, where the method looks for them.
    outlier_weight : float
        The proportion of rows that are outliers.
    rounds : tuple of Round
        The releases, where the method keeps them.
    """

    mixture: Mixture
    rows: float | None = None
    outliers: Mixture | None = None
    outlier_weight: float = 0.0
    rounds: tuple[Round, ...] = ()


def fit_scale_free(
    curator: Curator,
    schedule: ScaleFreeSchedule,
    means: Array | None = None,
    prior: MixturePrior | None = None,
    least_variances: Array | float = 1e-8,
    watch: Watch = lambda done, total: None,
) -> MixtureFit:
    """Fit a mixture to the rows of a curator, in coordinates where no row is longer than sqrt(d).

    Parameters
    ----------
    curator : Curator
        Its plan must be the steps of the schedule, calibrated.
    schedule : ScaleFreeSchedule
    means : (K, d) array, optional
        Where to start, for a schedule without growing rounds.
    prior : MixturePrior, optional
    least_variances : (d,) array or float
        Public knowledge of how narrow a column of encoded rows can be.
    watch : callable, optional
        The function calls ``watch(done, total)`` after each release.
    """
    layout, kind, n_rows = schedule.layout, schedule.covariance_type, schedule.n_rows
    rounds: list[Round] = []
    total = schedule.n_releases

    def record(measurement: Measurement, estimates: MixtureEstimates) -> None:
        rounds.append(Round(measurement.value, estimates.mixture))
        watch(len(rounds), total)

    estimates = initial_estimates(layout.width, n_rows, means)
    growing_prior = None if layout.levels else prior  # With levels, the prior is about products.
    for size in schedule.growing_sizes:
        estimates, statistic = _aim_components(curator, GROWING, estimates, size, "full", schedule)
        measurement = curator.measure(GROWING, statistic)
        estimates = move_components(estimates, statistic, measurement, n_rows, least_variances, growing_prior)
        record(measurement, estimates)

    if len(schedule.grid) > 1:
        candidates = [_merge(estimates, schedule, number) for number in schedule.grid]
        gains = likelihood_gains([candidate.mixture for candidate in candidates], schedule.missing)
        measurement = curator.measure(CHOICE, gains)
        estimates = candidates[choose_number(schedule, gains, measurement, estimates)]
        record(measurement, estimates)
    elif layout.levels:
        estimates = _merge(estimates, schedule, schedule.most_components)

    move = move_products if layout.levels else move_components
    least_variances = np.broadcast_to(least_variances, layout.width)[list(layout.numbers)]
    rows = estimates.rows
    if schedule.settling_rounds and isinstance(estimates.mixture, TableMixture):
        estimates = _start_again(estimates, estimates.mixture.soften_levels())
    if schedule.settling_rounds and schedule.shares > 1:
        estimates = replace(estimates, rows=rows / schedule.shares)
    for index, step in enumerate([SETTLING] * schedule.settling_rounds + [REFINING] * schedule.refining_rounds):
        if index == schedule.settling_rounds and schedule.shares > 1:
            estimates = replace(estimates, rows=rows)
        aimed, statistic = _aim_refining(curator, estimates, schedule, step)
        if schedule.chooses and index >= _ROUNDS_BEFORE_DROPPING:
            filled = _drop_empty(estimates, schedule, curator.noise(step, statistic) / statistic.count)
            if filled is not estimates:
                aimed, statistic = _aim_refining(curator, filled, schedule, step)
        measurement = curator.measure(step, statistic)
        # How many rows are in a share is not public.
        in_step = None if step == SETTLING and schedule.shares > 1 else n_rows
        estimates = move(aimed, statistic, measurement, in_step, least_variances, prior)
        record(measurement, estimates)

    outliers, weight = None, 0.0
    if layout.numbers:
        squares = squared_deviations(estimates.mixture, schedule.missing)
        measurement = curator.measure(TAILS, squares)
        estimates = widen_components(estimates, squares, measurement, kind)
        record(measurement, estimates)

        outliers = outlier_density(rounds[_RELEASES_FOR_OUTLIERS - 1].mixture, layout)
        measurement = curator.measure(OUTLIERS, outlier_count(estimates.mixture, outliers, schedule.missing))
        weight = outlier_weight(measurement, estimates.rows)
        record(measurement, estimates)

    mixture = estimates.mixture.repeat(schedule.grid[0]).by_weight()
    return MixtureFit(mixture, estimates.rows, outliers, weight, tuple(rounds))


def _aim_components(
    curator: Curator,
    step: str,
    estimates: MixtureEstimates,
    size: int,
    kind: CovarianceType,
    schedule: ScaleFreeSchedule,
) -> tuple[MixtureEstimates, ComponentMoments | TableMoments]:
    """Split or merge components to this size, as far as the noise supports it, and return what to measure of them.

    While the mixture grows covariances are full, whatever they end up as: their longest axes are wanted.
    """
    noise = curator.noise(step, component_moments(estimates.mixture, kind, schedule.neighbors))
    if schedule.growing_sizes:
        size = min(size, affordable_components(estimates, noise))
    estimates = resize(estimates, size, kind)
    radius = clip_radius(estimates, kind, noise)
    return estimates, component_moments(estimates.mixture, kind, schedule.neighbors, radius, schedule.missing)


def _aim_refining(
    curator: Curator, estimates: MixtureEstimates, schedule: ScaleFreeSchedule, step: str
) -> tuple[MixtureEstimates, ComponentMoments | TableMoments]:
    """Return estimates in the size of a refining round, and what to measure of them."""
    if schedule.layout.levels:
        return estimates, product_moments(curator, schedule, estimates, step)
    size = schedule.most_components
    if schedule.chooses:  # A candidate is not split again.
        size = min(size, estimates.mixture.count)
    return _aim_components(curator, step, estimates, size, schedule.covariance_type, schedule)


def _merge(estimates: MixtureEstimates, schedule: ScaleFreeSchedule, number: int) -> MixtureEstimates:
    """Return estimates of this many components at most, as refining rounds start from them."""
    mixture, layout, kind = estimates.mixture, schedule.layout, schedule.covariance_type
    if not layout.levels:
        return _start_again(estimates, mixture.merge(number).constrain(kind))
    if schedule.chooses:
        products = merge_products(mixture, layout, number)
    else:
        products = TableMixture.of(mixture.merge(number), layout)
    return _start_again(estimates, products.constrain(kind))


def _drop_empty(estimates: MixtureEstimates, schedule: ScaleFreeSchedule, count_noise: float) -> MixtureEstimates:
    """Return estimates without components that noise alone may have made."""
    mixture = drop_empty(estimates.mixture, schedule.grid, estimates.rows, count_noise)
    return estimates if mixture is estimates.mixture else _start_again(estimates, mixture)


def _start_again(estimates: MixtureEstimates, mixture: Mixture) -> MixtureEstimates:
    """Return estimates with another mixture, of which nothing has been released yet."""
    if isinstance(mixture, TableMixture):
        return product_estimates(mixture, estimates.rows)
    return MixtureEstimates(mixture, estimates.rows, np.ones((2, mixture.count)))
