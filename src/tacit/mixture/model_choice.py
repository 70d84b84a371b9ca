"""How many components: chosen from a grid privately, by one release.

The scale-free mixture grows to twice as many components as the largest number of the grid, and merging them down costs
nothing. So there is a candidate for every number. One release, of :class:`tacit.statistics.LikelihoodGains`, tells how
much log-likelihood each candidate gains over the next smaller one. The choice is arithmetic on private values: the
smallest number whose score is not clearly beaten. The score is the gain less what the components will cost:

- half the logarithm of the number of rows for each parameter, as in the Bayesian information criterion;
- the likelihood that noise will take from them in the refining rounds, which is known beforehand.

*Clearly* means by more than the noise of the scores themselves.

Candidates are rough: one piece of the grown mixture may lie across two clusters, and candidates that are too large by
one have to keep it. When the others are refined it is left with next to no rows. So components whose counts are within
the noise of zero are dropped between refining rounds, which costs nothing either.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.messages import describe
from tacit.mixture.component_estimates import MixtureEstimates
from tacit.mixture.mixture import Mixture
from tacit.mixture.product_estimates import nats_lost
from tacit.mixture.scale_free_schedule import CHOICE, RELEASE_PARTS, ScaleFreeSchedule
from tacit.release import Measurement
from tacit.statistics import (
    Components,
    CovarianceType,
    LikelihoodGains,
    TableComponents,
    TableLayout,
    numbers_in_second_moment,
)

# The numbers that n_components="auto" chooses from.
AUTO = tuple(range(1, 11))

# Tuned numbers. experiments/choosing_components.py measures what they give on mixtures of numbers, and
# experiments/choosing_in_tables.py on tables with levels.

# A larger number of components is chosen if its score is better by this many standard deviations of noise.
_CLEAR = 1.0
# A component is empty if its count is not this many standard deviations of noise above zero.
_EMPTY = 2.0


def component_grid(n_components: Any) -> tuple[int, ...]:
    """Return the numbers of components to choose from, in rising order: one number if nothing is to be chosen.

    Examples
    --------
    >>> component_grid(3), component_grid(range(2, 5)), component_grid("auto") == tuple(range(1, 11))
    ((3,), (2, 3, 4), True)
    """
    grid = AUTO if isinstance(n_components, str) and n_components == "auto" else n_components
    grid = grid if isinstance(grid, Iterable) and not isinstance(grid, str) else [grid]
    numbers_in_grid = list(grid)
    if not numbers_in_grid or not all(isinstance(k, numbers.Integral) and k >= 1 for k in numbers_in_grid):
        raise ValueError(
            'n_components must be a whole number, at least 1, or "auto" or several such numbers to choose from, and it '
            f"is {describe(n_components)}."
        )
    return tuple(sorted({int(k) for k in numbers_in_grid}))


def grid_in_words(grid: Sequence[int]) -> str:
    """Return a grid in words.

    Examples
    --------
    >>> grid_in_words((3,)), grid_in_words((1, 2, 3)), grid_in_words((1, 3, 5))
    ('3', '1 to 3', '1, 3, 5')
    """
    straight = len(grid) > 2 and grid[-1] - grid[0] == len(grid) - 1
    return f"{grid[0]} to {grid[-1]}" if straight else ", ".join(map(str, grid))


def likelihood_gains(candidates: Sequence[Mixture], missing: bool) -> LikelihoodGains:
    """Return the statistic of what each candidate gains over the one before it."""
    components: list[Components | TableComponents] = [candidate.components() for candidate in candidates]
    if missing:
        components = [
            each if isinstance(each, TableComponents) else TableComponents.of_numbers(each) for each in components
        ]
    return LikelihoodGains(tuple(components), missing)


def choose_number(
    schedule: ScaleFreeSchedule, statistic: LikelihoodGains, measurement: Measurement, grown: MixtureEstimates
) -> int:
    """Return the place in the grid of the number of components that is chosen.

    `grown` is the mixture that candidates were merged from. The noise supports no more components than it has.
    """
    counts = np.array(schedule.grid)
    rows = max(grown.rows or 1.0, 2.0)
    # The nats that a component of n rows loses to noise are these over n, per row. All rounds together lose less.
    multiplier = measurement.noise / statistic.sensitivity(schedule.neighbors)
    to_noise = nats_lost(schedule) * RELEASE_PARTS[CHOICE] * multiplier**2 / schedule.refining_rounds
    parameters = number_of_parameters(counts, schedule.layout, schedule.covariance_type)
    costs = 0.5 * math.log(rows) * parameters + counts * to_noise / (rows / counts)
    scores = np.concatenate([[0.0], np.cumsum(statistic.parts(measurement.value))]) - costs
    scores[counts > grown.mixture.count] = -math.inf
    return smallest_not_beaten(scores, float(statistic.parts(np.array(measurement.noise))))


def number_of_parameters(counts: Array, layout: TableLayout, kind: CovarianceType) -> Array:
    """Return how many parameters mixtures have, for each number of components in `counts`.

    Examples
    --------
    >>> number_of_parameters(np.array([1, 2, 3]), TableLayout((0, 1)), "full")
    array([ 5, 11, 17])
    >>> number_of_parameters(np.array([1, 2]), TableLayout((0, 1), ((2, 3, 4),)), "tied")
    array([ 7, 12])
    """
    columns, levels = len(layout.numbers), sum(size - 1 for size in layout.sizes)
    shapes = (1 if kind == "tied" else counts) * numbers_in_second_moment(kind, columns)
    return counts - 1 + counts * columns + shapes + counts * levels


def smallest_not_beaten(scores: Array, noise: float) -> int:
    """Return the first place whose score is not clearly below the best one.

    Scores differ from their neighbours by independent noise of standard deviation `noise`.

    Examples
    --------
    >>> smallest_not_beaten(np.array([0.0, 50.0, 58.0, 10.0]), noise=10.0)
    1
    >>> smallest_not_beaten(np.array([0.0, 50.0, 58.0, 10.0]), noise=5.0)
    2
    """
    best = int(np.argmax(scores))
    apart = best - np.arange(best + 1)
    return int(np.argmax(scores[best] - scores[: best + 1] <= _CLEAR * noise * np.sqrt(apart)))


def drop_empty(mixture: Mixture, grid: Sequence[int], rows: float | None, count_noise: float) -> Mixture:
    """Return the mixture without components whose counts noise alone may have made, in a number of the grid.

    Parameters
    ----------
    mixture : Mixture
    grid : sequence of int
        Numbers of components to choose from, in rising order.
    rows : float or None
        The number of rows, once it is known.
    count_noise : float
        Standard deviation of the noise on a count.
    """
    heaviest_first = mixture.by_weight()
    filled = np.sum(heaviest_first.weights * (rows or 0.0) > _EMPTY * count_noise)
    kept = min([count for count in grid if count >= filled] or [mixture.count])
    if kept >= mixture.count:
        return mixture
    weights = heaviest_first.weights[:kept] / heaviest_first.weights[:kept].sum()
    return heaviest_first.take(np.arange(kept), weights)
