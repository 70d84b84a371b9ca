"""The schedule of a scale-free fit: which releases it makes, of how many components, and how they divide the budget.

A schedule holds public numbers alone. The steps of the plan come from it and the fit walks through it, so that the two
cannot disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.fitting.allocation import deal, weigh_releases
from tacit.fitting.moment_weights import block_weights
from tacit.privacy import Budget, Gaussian, Plan, Relation, Split, Step
from tacit.statistics import CovarianceType, TableLayout, moment_sensitivity, numbers_in_second_moment

# Names of the steps of the plan, in the order in which a fit makes these releases.
GROWING, CHOICE, SETTLING, REFINING = "growing moments", "model choice", "settling moments", "refining moments"
TAILS, OUTLIERS = "tails", "outliers"

# Tuned numbers. benchmarks/mixture.py measures what they give on mixtures of numbers, and benchmarks/synthetic.py on
# Adult. experiments/choosing_components.py and choosing_in_tables.py measure it where the number of components is
# chosen.

# Rows that a component needs, for each column and unit of noise.
ROWS_PER_COMPONENT = 1.5

# Part of the budget that one release of each step has, as a squared signal-to-noise ratio.
RELEASE_PARTS = {GROWING: 1.0, CHOICE: 1.0, SETTLING: 0.3, REFINING: 3.0, TAILS: 2.0, OUTLIERS: 0.5}
_REFINING_PART_WITH_LEVELS = 2.0  # The same for refining, in tables with levels.

# Number of releases of each size while the mixture grows, if `n_iter` leaves room for them.
_ROUNDS_PER_SIZE = 2
# Number of refining releases. A table without numbers has no release of tails, and one more of moments instead.
_REFINING_ROUNDS = 6
# Where cells are missing, EM moves by smaller steps.
_REFINING_ROUNDS_WITH_GAPS = 14
# Products of numbers and levels are further from where growing ends.
_REFINING_ROUNDS_WITH_LEVELS = 12

# Settling rounds: EM converges slowly where components overlap or are narrow, so that it makes many cheap rounds first,
# where noise allows it. benchmarks/arena.py measures what they give on tables of numbers.
_MOST_SETTLING_ROUNDS = 36
# Settling rounds for each time that rows outnumber those which so much noise and so many components need.
_SETTLING_ROUNDS_PER_SUPPORT = 12
# Rows of a share. Where each settling round can have a share of its own with so many, all take the time of one pass.
_ROWS_PER_SHARE = 4_000
# Rows that a table is taken to have where their number is secret.
_ROWS_IF_SECRET = 5_000


@dataclass(frozen=True)
class ScaleFreeSchedule:
    """The releases of a scale-free fit: public numbers, from which the plan and the fit both follow.

    Parameters
    ----------
    layout : TableLayout
        Where numbers and levels are found in encoded rows.
    covariance_type : {"full", "tied", "diag", "spherical"}
    neighbors : {"replace_one", "add_remove"}
    n_rows : int or None
        Number of rows, where it is public.
    grid : tuple of int
        Numbers of components to choose from, in rising order. With one number, no release is spent on the choice.
    growing_sizes : tuple of int
        Largest number of components in each release while the mixture grows. Empty when the fit starts from means.
    refining_rounds : int
        Number of releases of moments that follow.
    chooses : bool
        Whether the number of components is chosen by the fit, or was chosen by the fit that is simulated.
    missing : bool
        Whether cells may be missing, so that each component marginalises them.
    settling_rounds : int
        Number of cheap releases of moments between growing and refining.
    shares : int
        Into how many shares rows are dealt for settling rounds: 1 if each of them is of all rows.
    """

    layout: TableLayout
    covariance_type: CovarianceType
    neighbors: Relation
    n_rows: int | None
    grid: tuple[int, ...]
    growing_sizes: tuple[int, ...]
    refining_rounds: int
    chooses: bool
    missing: bool
    settling_rounds: int = 0
    shares: int = 1

    @property
    def most_components(self) -> int:
        """The largest number of components that the fit may end with."""
        return self.grid[-1]

    @property
    def refining_part(self) -> float:
        """The part of the budget that one refining release has."""
        return _REFINING_PART_WITH_LEVELS if self.layout.levels else RELEASE_PARTS[REFINING]

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return sum(step.releases for step in self.steps())

    def steps(self) -> list[Step]:
        """Return the steps of the plan, with noise relative to each other."""
        numbers, width, kind, components = (
            len(self.layout.numbers),
            self.layout.width,
            self.covariance_type,
            self.grid[-1],
        )
        seconds = numbers_in_second_moment(kind, numbers) * (1 if kind == "tied" else components)
        sizes = {
            GROWING: max(self.growing_sizes, default=0) * (1 + width + numbers_in_second_moment("full", width)),
            CHOICE: len(self.grid) - 1,
            SETTLING: components * (1 + numbers + sum(self.layout.sizes)) + seconds,
            REFINING: components * (1 + numbers + sum(self.layout.sizes)) + seconds,
            TAILS: components * numbers,
            OUTLIERS: 1,
        }
        counts = {
            GROWING: len(self.growing_sizes),
            CHOICE: 1 if len(self.grid) > 1 else 0,
            SETTLING: self.settling_rounds,
            REFINING: self.refining_rounds,
            TAILS: 1 if numbers else 0,
            OUTLIERS: 1 if numbers else 0,
        }
        steps = weigh_releases(RELEASE_PARTS | {REFINING: self.refining_part}, counts, sizes)
        return [deal(step, self.shares) if step.name == SETTLING else step for step in steps]

    def as_planned(self, plan: Plan) -> ScaleFreeSchedule:
        """Return the schedule with the settling rounds of a plan: earlier versions made none."""
        settling = [step for step in plan.steps if step.name == SETTLING]
        shares = settling[0].parts if settling and isinstance(settling[0], Split) else 1
        return replace(self, settling_rounds=sum(step.releases for step in settling), shares=shares)


def scale_free_schedule(
    grid: Sequence[int],
    layout: TableLayout,
    covariance_type: CovarianceType,
    neighbors: Relation,
    n_rows: int | None,
    *,
    n_iter: int | str = "auto",
    grow: bool = True,
    missing: bool = False,
    budget: Budget | None = None,
) -> ScaleFreeSchedule:
    """Return the schedule of a scale-free fit.

    Parameters
    ----------
    grid : sequence of int
        Numbers of components to choose from, in rising order.
    layout, covariance_type, neighbors, n_rows, missing
        As in :class:`ScaleFreeSchedule`.
    n_iter : int or "auto"
        Number of releases.
    grow : bool
        Whether the mixture grows from one component. Otherwise the fit starts from given means.
    budget : Budget, optional
        What the fit may spend. It decides how many settling rounds there are; without it, there are none.

    Examples
    --------
    >>> schedule = scale_free_schedule((3,), TableLayout((0, 1)), "full", "replace_one", 1000)
    >>> schedule.growing_sizes, schedule.refining_rounds
    ((1, 1, 2, 2, 4, 4, 6, 6), 6)
    """
    most, chooses = grid[-1], len(grid) > 1
    others = [name for name, there in ((TAILS, layout.numbers), (CHOICE, chooses), (OUTLIERS, layout.numbers)) if there]
    least_refining = 1 if layout.numbers else 2
    sizes = _growing_sizes(most) if grow else []
    enough = _ROUNDS_PER_SIZE * len(sizes) + least_refining + len(others)
    rounds_per_size = _ROUNDS_PER_SIZE if n_iter == "auto" or int(n_iter) >= enough else 1
    growing = tuple(size for size in sizes for _ in range(rounds_per_size))
    if n_iter != "auto":
        refining = int(n_iter) - len(growing) - len(others)
    elif layout.levels:
        refining = _REFINING_ROUNDS_WITH_LEVELS + (0 if layout.numbers else 1)
    else:
        refining = _REFINING_ROUNDS_WITH_GAPS if missing else _REFINING_ROUNDS
    if refining < least_refining:
        least = "one" if least_refining == 1 else "two"
        raise ValueError(
            f"n_iter is {n_iter}, and {most} component(s) take {len(growing)} release(s) to grow, {least} or more to "
            f"refine{''.join(f' and one for {name}' for name in others)}; pass "
            f'n_iter={len(growing) + least_refining + len(others)} or more, "auto", or starting means as init.'
        )
    schedule = ScaleFreeSchedule(
        layout, covariance_type, neighbors, n_rows, tuple(grid), growing, refining, chooses, missing
    )
    settles = budget is not None and n_iter == "auto" and most > 1 and not (layout.levels or missing)
    return _with_settling(schedule, budget) if settles else schedule


def _with_settling(schedule: ScaleFreeSchedule, budget: Budget) -> ScaleFreeSchedule:
    """Return the schedule with as many settling rounds as the noise of the budget allows.

    The *support* is how many times as many rows there are as components need, with the noise of a settling release. If
    it is below 1, there are no settling rounds: each would move components by noise.

    Examples
    --------
    >>> numbers = TableLayout((0, 1))
    >>> for rows, epsilon in ((1000, 0.1), (5000, 1.0), (5000, 10.0), (1_000_000, 1.0)):
    ...     schedule = scale_free_schedule((4,), numbers, "full", "replace_one", rows, budget=Budget(epsilon, 1e-6))
    ...     print(schedule.settling_rounds, schedule.shares)
    0 1
    36 1
    36 1
    36 36
    """
    most = replace(schedule, settling_rounds=_MOST_SETTLING_ROUNDS)
    total = sum(step.weight for step in most.steps())
    # All releases together have the noise of one release of a plan that has no other.
    alone = Plan([Gaussian("all", 1.0)], schedule.neighbors).calibrate(budget).steps[0].noise_multiplier
    columns, rows = len(schedule.layout.numbers), schedule.n_rows or _ROWS_IF_SECRET
    sensitivity = moment_sensitivity(
        *block_weights(columns, schedule.covariance_type, schedule.neighbors), 1.0, schedule.neighbors
    )
    noise = alone * math.sqrt(total / RELEASE_PARTS[SETTLING]) * sensitivity
    support = rows / (ROWS_PER_COMPONENT * noise * columns * schedule.most_components)
    rounds = min(_MOST_SETTLING_ROUNDS, int(_SETTLING_ROUNDS_PER_SUPPORT * support)) if support >= 1 else 0
    if schedule.n_rows is None or rounds == 0 or rows < rounds * _ROWS_PER_SHARE or support**2 < rounds:
        return replace(schedule, settling_rounds=rounds)
    return replace(schedule, settling_rounds=rounds, shares=rounds)


def _growing_sizes(most: int) -> list[int]:
    """Return 1, 2, 4, ... up to twice as many components as asked for, so that a fit depends less on luck."""
    sizes = [1]
    while sizes[-1] < (2 * most if most > 1 else 1):
        sizes.append(min(2 * sizes[-1], 2 * most))
    return sizes
