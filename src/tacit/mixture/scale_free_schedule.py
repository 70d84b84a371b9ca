"""The schedule of a scale-free fit: which releases it makes, of how many components, and how they divide the budget.

A schedule holds public numbers alone. The steps of the plan come from it and the fit walks through it, so that the two
cannot disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.fitting.allocation import deal, weigh_releases
from tacit.privacy import Plan, Relation, Split, Step
from tacit.statistics import CovarianceType, TableLayout, numbers_in_second_moment

# Names of the steps of the plan, in the order in which a fit makes these releases.
GROWING, CHOICE, SETTLING, REFINING = "growing moments", "model choice", "settling moments", "refining moments"
TAILS, OUTLIERS = "tails", "outliers"

# Tuned numbers. benchmarks/mixture.py measures what they give on mixtures of numbers, and benchmarks/synthetic.py on
# Adult. experiments/choosing_components.py and choosing_in_tables.py measure it where the number of components is
# chosen.

# Part of the budget that one release of each step has, as a squared signal-to-noise ratio.
RELEASE_PARTS = {GROWING: 1.0, CHOICE: 1.0, SETTLING: 0.3, REFINING: 3.0, TAILS: 2.0, OUTLIERS: 0.5}
# The same for refining, if settling rounds come before it. The arena does not tell parts of refining apart; with 3.5,
# the reference problem of benchmarks/mixture.py keeps its figure.
_REFINING_PART_AFTER_SETTLING = 3.5
_REFINING_PART_WITH_LEVELS = 2.0  # The same for refining, in tables with levels.

# Number of releases of each size while the mixture grows, if `n_iter` leaves room for them.
_ROUNDS_PER_SIZE = 2
# Number of refining releases. A table without numbers has no release of tails, and one more of moments instead.
_REFINING_ROUNDS = 6
# Where cells are missing, EM moves by smaller steps.
_REFINING_ROUNDS_WITH_GAPS = 14
# Products of numbers and levels are further from where growing ends.
_REFINING_ROUNDS_WITH_LEVELS = 12


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
        Number of cheap releases of moments between growing and refining; see :mod:`tacit.mixture.settling`.
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
        if self.layout.levels:
            return _REFINING_PART_WITH_LEVELS
        return _REFINING_PART_AFTER_SETTLING if self.settling_rounds else RELEASE_PARTS[REFINING]

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
    return ScaleFreeSchedule(
        layout, covariance_type, neighbors, n_rows, tuple(grid), growing, refining, chooses, missing
    )


def _growing_sizes(most: int) -> list[int]:
    """Return 1, 2, 4, ... up to twice as many components as asked for, so that a fit depends less on luck."""
    sizes = [1]
    while sizes[-1] < (2 * most if most > 1 else 1):
        sizes.append(min(2 * sizes[-1], 2 * most))
    return sizes
