"""Which columns matter, where there are many and few do: private choices, before a model is fitted to those alone.

Each column has a score, a sum over rows of bounded values that stands out if the column matters
(:class:`tacit.statistics.ScreeningValues`). The exponential mechanism chooses columns one after the other. The cost
depends on the number of columns that are chosen, and only by a logarithm on the number of candidates::

    choose the unit of inputs: the median of their sizes, from a public list
    the same for the middle and the unit of the target, if there is one
    choose one column by squares
    choose two columns by their means, with rows folded along the first
    choose all others, with rows folded along these three

The last three lines are for rows from two opposite sides. There a column's mean says nothing until it is known which
side a row is on, and squares need not know. Along the first column rows can be folded over, roughly, and a few more
columns stand out by their means. Along those they can be folded much better. Signs come with the choices, at no further
cost. In regressions with opposite coefficients, the square of the target depends on products of two columns, and the
same order works. One linear regression, or a public guess of the direction, needs the last line alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Array
from tacit.fitting.allocation import selection_step
from tacit.fitting.progress import Watch
from tacit.privacy import Step
from tacit.release import Choice, Curator
from tacit.statistics import CellRanks, RobustSum, ScreeningValues
from tacit.statistics.screening_values import Screen

# Names of the plan's steps.
SIZE, MIDDLE, TARGET = "size of inputs", "middle of the target", "size of the target"
FIRST, NEXT, OTHERS = "first column", "next columns", "columns"

# experiments/sparse_em.py measures how many of the columns that matter are found with the constants below.

# Part of the budget of all choices of a step, as squared signal-to-noise ratio, where the model that follows has 1. The
# last step also gets the parts of steps that are not made.
_BUDGET_PARTS = {SIZE: 0.03, MIDDLE: 0.03, TARGET: 0.03, FIRST: 0.3, NEXT: 0.4, OTHERS: 1.0}
# Number of columns that are chosen along the first one alone.
_NEXT_COLUMNS = 2
# Candidates for the median size of inputs and target, and for the middle of the target, in units of the bounds.
_SIZES = 2.0 ** (-0.5 * np.arange(23, -1, -1.0))
_MIDDLES = np.linspace(-1.0, 1.0, 257)
# At most this many columns are used to find the unit of inputs.
_MOST_RANKED = 512

_NORMAL_MEDIAN = 0.6745  # The median size of a standard normal number.


@dataclass(frozen=True)
class ScreeningSchedule:
    """The choices that find columns: public numbers, from which the plan and the choices both follow.

    Parameters
    ----------
    screen : {"spread", "interaction", "association"}
        What the first column is chosen by. With "association", all columns are chosen by it. With "spread" there is no
        target. Otherwise the target is the last column.
    sparsity : int
        Number of columns to choose.
    candidates : int
        Number of columns to choose from, without the target.
    centred : bool
        Whether the target is measured from its median, which is found first.
    guided : bool
        Whether there is a public guess of a direction along which rows are folded at once.
    """

    screen: Screen
    sparsity: int
    candidates: int
    centred: bool = False
    guided: bool = False

    @property
    def has_target(self) -> bool:
        """Whether the last column is a target."""
        return self.screen != "spread"

    @property
    def column_choices(self) -> dict[str, int]:
        """The number of columns that each step chooses."""
        first = int(self.screen != "association" and not self.guided)
        later = first * min(_NEXT_COLUMNS, max(self.sparsity - 1, 0))
        counts = {FIRST: first, NEXT: later, OTHERS: self.sparsity - later - first}
        return {name: count for name, count in counts.items() if count}

    @property
    def unit_choices(self) -> list[str]:
        """The steps that choose units and the middle of the target."""
        return [SIZE, *[MIDDLE] * self.centred, *[TARGET] * self.has_target]

    @property
    def n_releases(self) -> int:
        """Number of steps: the choices of one step are made in one pass over the rows."""
        return len(self.unit_choices) + len(self.column_choices)

    def steps(self, model_part: float) -> list[Step]:
        """Return the plan's steps; the model that is fitted afterwards has this part of the budget."""
        counts = {**dict.fromkeys(self.unit_choices, 1), **self.column_choices}
        candidates = {SIZE: len(_SIZES), TARGET: len(_SIZES), MIDDLE: len(_MIDDLES)}
        unused = sum(_BUDGET_PARTS[name] for name in (FIRST, NEXT, OTHERS) if name not in counts)
        steps: list[Step] = []
        for name, count in counts.items():
            part = _BUDGET_PARTS[name] + (unused if name == list(counts)[-1] else 0.0)
            steps.append(selection_step(name, part * model_part, count, candidates.get(name, self.candidates)))
        return steps


@dataclass(frozen=True, eq=False)
class Support:
    """The columns that matter, in ascending order, with the signs of their scores and the unit of inputs."""

    columns: tuple[int, ...]
    signs: tuple[int, ...]
    unit: float = 1.0


def choose_support(
    curator: Curator,
    schedule: ScreeningSchedule,
    origin: Array,
    direction: Array | None = None,
    watch: Watch = lambda done, total: None,
) -> Support:
    """Choose the columns that matter.

    Parameters
    ----------
    curator : Curator
        Its plan must have the schedule's steps, calibrated.
    schedule : ScreeningSchedule
    origin : array
        Where columns are measured from, in standard coordinates. If there is a target, which is the last column, it has
        an origin too.
    direction : (d,) array, optional
        The public guess, for a schedule that is guided by one.
    watch : callable, optional
        The function calls ``watch(done, total)`` after each step.
    """
    unit, target = 1.0, 1.0 if schedule.has_target else None
    if schedule.centred:
        origin = np.append(origin[:-1], 0.0)
    for done, step in enumerate(schedule.unit_choices, 1):
        place = _choose(curator, step, _ranks(step, schedule.candidates, origin), 1, "middle")[0][0]
        if step == MIDDLE:
            origin = np.append(origin[:-1], _MIDDLES[place])
        elif step == SIZE:
            unit = float(_SIZES[place] / _NORMAL_MEDIAN)
        else:
            target = float(_SIZES[place] / _NORMAL_MEDIAN)
        watch(done, schedule.n_releases)

    columns: list[int] = []
    signs: list[int] = []
    for done, (step, count) in enumerate(schedule.column_choices.items(), len(schedule.unit_choices) + 1):
        if step == FIRST or schedule.screen == "association":
            values = ScreeningValues(schedule.screen, origin, unit, target)
        elif direction is not None:
            values = ScreeningValues("folding", origin, unit, target, direction)
        else:
            along = np.zeros(schedule.candidates)
            along[columns] = signs
            screen: Screen = "crossing" if schedule.has_target else "folding"
            values = ScreeningValues(screen, origin, unit, target, along)
        side: Literal["largest", "either"] = "largest" if step == FIRST else "either"
        places, sides = _choose(curator, step, values, count, side, tuple(columns))
        columns += places.tolist()
        signs += sides.tolist()
        watch(done, schedule.n_releases)
    order = np.argsort(columns)
    return Support(tuple(np.array(columns)[order].tolist()), tuple(np.array(signs)[order].tolist()), unit)


def screen_first(screening: ScreeningSchedule | None, steps: list[Step]) -> tuple[list[Step], int]:
    """Return the steps of screening, if there is any, and then a model's; also how many releases come first."""
    if screening is None:
        return steps, 0
    return [*screening.steps(sum(step.weight for step in steps)), *steps], screening.n_releases


def _choose(
    curator: Curator,
    step: str,
    values: CellRanks | ScreeningValues,
    count: int,
    side: Literal["middle", "largest", "either"],
    excluded: tuple[int, ...] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the sums that are chosen, and their signs."""
    sums = RobustSum(np.zeros(values.size), np.ones(values.size), values=values)
    return curator.choose(step, Choice(sums, count, side, excluded=excluded))


def _ranks(step: str, candidates: int, origin: Array) -> CellRanks:
    """Return the ranks of the numbers that the step chooses from, among cells of inputs or of the target."""
    some_inputs, target = np.arange(0, candidates, -(-candidates // _MOST_RANKED)), np.array([len(origin) - 1])
    columns = some_inputs if step == SIZE else target
    numbers = _MIDDLES if step == MIDDLE else _SIZES
    return CellRanks(numbers, tuple(columns.tolist()), origin[columns], absolute=step != MIDDLE)
