"""How many cheap rounds a scale-free fit makes before it refines components, so that they settle.

EM converges slowly where components overlap, or where one is narrow and another wide. A few accurate rounds then end
half way: their moments are exact, and weights are still on their way. On real tables that lost more than noise did. So
a fit makes many rounds with little of the budget first. They need not be accurate, because refining rounds follow, but
noise must not move components more than EM does. How many there are follows from public numbers: the budget, the
number of rows, and what is measured.

Where rows are many, each settling round is of another share of them. All of these rounds together then cost one pass
over the rows, and what one of them costs.
"""

from __future__ import annotations

import math
from dataclasses import replace

from tacit.mixture.component_estimates import ROWS_PER_COMPONENT
from tacit.mixture.product_estimates import moment_weights
from tacit.mixture.scale_free_schedule import RELEASE_PARTS, SETTLING, ScaleFreeSchedule
from tacit.privacy import Budget, Gaussian, Plan
from tacit.statistics import moment_sensitivity

# Tuned numbers, on the arena's tables whose names have an even crc32 (benchmarks/arena.py --kinds mixture).

# The arena does not tell 24 rounds from more, and 24 are faster.
_MOST_ROUNDS = 24
# Rounds for each time that rows outnumber those which components need.
_ROUNDS_PER_SUPPORT = 4
# Rows of a share.
_ROWS_PER_SHARE = 4_000
# Rows that a table is taken to have where their number is secret.
_ROWS_IF_SECRET = 5_000


def with_settling(schedule: ScaleFreeSchedule, budget: Budget) -> ScaleFreeSchedule:
    """Return the schedule with as many settling rounds as the noise of the budget allows.

    The *support* is how many times as many rows there are as components need, with the noise of a settling release. If
    it is below 1, there are no settling rounds: each would move components by noise. One component has nothing to
    settle. Where cells are missing, refining rounds are many instead.

    Examples
    --------
    >>> from tacit.mixture.scale_free_schedule import scale_free_schedule
    >>> from tacit.statistics import TableLayout
    >>> for rows, epsilon in ((1000, 0.1), (5000, 1.0), (5000, 10.0), (1_000_000, 1.0)):
    ...     schedule = scale_free_schedule((4,), TableLayout((0, 1)), "full", "replace_one", rows)
    ...     schedule = with_settling(schedule, Budget(epsilon, 1e-6))
    ...     print(schedule.settling_rounds, schedule.shares)
    0 1
    15 1
    24 1
    24 24
    """
    if schedule.most_components == 1 or schedule.missing:
        return schedule
    support = _support(replace(schedule, settling_rounds=_MOST_ROUNDS), budget)
    rounds = min(_MOST_ROUNDS, int(_ROUNDS_PER_SUPPORT * support)) if support >= 1 else 0
    # A share has fewer rows, and less noise: of r shares each has 1 / sqrt(r) of the support.
    dealt = rounds > 0 and (schedule.n_rows or 0) >= rounds * _ROWS_PER_SHARE and support >= math.sqrt(rounds)
    return replace(schedule, settling_rounds=rounds, shares=rounds if dealt else 1)


def _support(schedule: ScaleFreeSchedule, budget: Budget) -> float:
    """Return how many times as many rows there are as components need in a settling round."""
    layout, neighbors = schedule.layout, schedule.neighbors
    count, mean, level = moment_weights(layout, schedule.covariance_type, neighbors)
    there = 1.0 if layout.numbers else 0.0
    sensitivity = moment_sensitivity(count, mean * there, there, neighbors, level)
    # All releases together have the noise of the one release of a plan that has no other.
    alone = Plan([Gaussian("all", 1.0)], neighbors).calibrate(budget).steps[0].noise_multiplier
    total = sum(step.weight for step in schedule.steps())
    noise = alone * math.sqrt(total / RELEASE_PARTS[SETTLING]) * sensitivity
    columns = len(layout.numbers) + sum(size - 1 for size in layout.sizes)
    rows = schedule.n_rows or _ROWS_IF_SECRET
    return rows / (ROWS_PER_COMPONENT * noise * columns * schedule.most_components)
