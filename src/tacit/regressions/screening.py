"""Which columns matter, where there are many and few do: private choices, before a model is fitted to those alone.

Each column has a score, a sum over rows of bounded values that stands out if the column matters
(:class:`tacit.statistics.ScreeningValues`), and the exponential mechanism chooses columns one after the other. What
that costs depends on how many are chosen, and only by a logarithm on how many there are.

Where rows come from two opposite sides, a column's mean says nothing until it is known which side a row is on. So first
one column is chosen by squares, which need not know. Along it rows can be folded over, roughly, and a few more columns
stand out by their means; along those, much better, and all others do. Signs come with the choices, at no further cost.
In regression, where it is products of two columns that the square of the target depends on, it is the same.

How large inputs and target are is chosen beforehand, as the median of their sizes, from a public list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.fitting.engine import Noise
from tacit.privacy import Selection, Step
from tacit.release import Choice
from tacit.statistics import CellRanks, RobustSum, ScreeningValues
from tacit.statistics.components import Array
from tacit.statistics.screening_values import Screen

SIZE, MIDDLE, TARGET = "size of inputs", "middle of the target", "size of the target"
FIRST, NEXT, OTHERS = "first column", "next columns", "columns"
_SHARES = {SIZE: 0.03, MIDDLE: 0.03, TARGET: 0.03, FIRST: 0.3, NEXT: 0.4, OTHERS: 1.0}  # beside 1 for the model
_NEXT = 2  # columns that are chosen along the first one alone
_SIZES = 2.0 ** (-0.5 * np.arange(23, -1, -1.0))  # that inputs and target may have, in units of the bounds
_MIDDLES = np.linspace(-1.0, 1.0, 257)
_MEDIAN = 0.6745  # of the size of a standard normal number
_MOST_RANKED = 512  # columns that are looked at to find how large inputs are


@dataclass(frozen=True, eq=False)
class Screened:
    """What is known: how large inputs and target are, where the target is, and the columns that were chosen."""

    unit: float = 1.0
    target: float = 1.0
    middle: float = 0.0
    columns: tuple[int, ...] = ()
    signs: tuple[int, ...] = ()


@dataclass
class Screening:
    """The choice of `sparsity` columns, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    screen : {"spread", "interaction", "association"}
        What the first column is chosen by, and with "association" all of them.
    sparsity : int
    origin : array
        Where columns are measured from, in standard coordinates; with a target, which is the last column, its too.
    centred : bool
        Whether the target is measured from its median, found first, instead.
    direction : (d,) array, optional
        A public guess, along which rows are folded over at once.
    """

    screen: Screen
    sparsity: int
    origin: Array
    centred: bool = False
    direction: Array | None = None
    rounds: list[str] = field(init=False)
    _counts: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [SIZE, *[MIDDLE] * self.centred, *[TARGET] * self._supervised]
        self._counts = dict.fromkeys(sizes, 1)
        first = self.screen != "association" and self.direction is None
        later = min(_NEXT, max(self.sparsity - 1, 0)) if first else 0
        columns = {FIRST: int(first), NEXT: later, OTHERS: self.sparsity - later - first}
        self._counts |= {name: count for name, count in columns.items() if count}
        self.rounds = list(self._counts)

    @property
    def _supervised(self) -> bool:
        return self.screen != "spread"

    @property
    def _candidates(self) -> int:
        return len(self.origin) - self._supervised

    def steps(self, weight: float) -> list[Step]:
        """Return the plan's steps; the model that is fitted afterwards costs `weight`, in squared signal-to-noise.

        A choice of epsilon e costs e^2 / 8 in zero-concentrated privacy, a Gaussian release of multiplier m costs
        1 / (2 m^2): k choices with 1 / e = sqrt(k / share) / 2 cost as much as one release with that share.
        """
        unused = sum(_SHARES[name] for name in (FIRST, NEXT, OTHERS) if name not in self._counts)
        sizes = {SIZE: len(_SIZES), TARGET: len(_SIZES), MIDDLE: len(_MIDDLES)}
        steps: list[Step] = []
        for name, count in self._counts.items():
            share = _SHARES[name] + (unused if name == self.rounds[-1] else 0.0)
            multiplier = math.sqrt(count / (share * weight)) / 2
            steps.append(Selection(name, multiplier, count, sizes.get(name, self._candidates)))
        return steps

    def start(self) -> Screened:
        """Return what is known before any row is read."""
        return Screened()

    def statistic(self, state: Screened, index: int, noise: Noise) -> tuple[Screened, Choice]:
        """Return the next choice: of sizes first, then of columns."""
        name = self.rounds[index]
        if name in (SIZE, MIDDLE, TARGET):
            ranks = self._ranks(name, state)
            return state, Choice(_sums(ranks), 1, "middle")
        values = self._values(name, state)
        side = "largest" if name == FIRST else "either"
        return state, Choice(_sums(values), self._counts[name], side, excluded=state.columns)  # type: ignore[arg-type]

    def _ranks(self, name: str, state: Screened) -> CellRanks:
        if name == SIZE:
            every = -(-self._candidates // _MOST_RANKED)
            columns = np.arange(0, self._candidates, every)
        else:
            columns = np.array([len(self.origin) - 1])
        origin = self._origin(state)[columns]
        numbers = _MIDDLES if name == MIDDLE else _SIZES
        return CellRanks(numbers, tuple(columns.tolist()), origin, absolute=name != MIDDLE)

    def _origin(self, state: Screened) -> Array:
        if not self.centred:
            return self.origin
        return np.append(self.origin[:-1], state.middle)

    def _values(self, name: str, state: Screened) -> ScreeningValues:
        target = state.target if self._supervised else None
        origin = self._origin(state)
        if name == FIRST or self.screen == "association":
            return ScreeningValues(self.screen, origin, state.unit, target)
        if self.direction is not None:
            return ScreeningValues("folding", origin, state.unit, target, self.direction)
        direction = np.zeros(self._candidates)
        direction[list(state.columns)] = state.signs
        screen: Screen = "crossing" if self._supervised else "folding"
        return ScreeningValues(screen, origin, state.unit, target, direction)

    def update(self, state: Screened, index: int, statistic: Choice, released: Any, noise: float) -> Screened:
        """Take note of what was chosen."""
        places, signs = released
        name = self.rounds[index]
        if name == SIZE:
            return replace(state, unit=float(_SIZES[places[0]] / _MEDIAN))
        if name == TARGET:
            return replace(state, target=float(_SIZES[places[0]] / _MEDIAN))
        if name == MIDDLE:
            return replace(state, middle=float(_MIDDLES[places[0]]))
        columns = (*state.columns, *(int(place) for place in places))
        return replace(state, columns=columns, signs=(*state.signs, *(int(sign) for sign in signs)))


def _sums(values: CellRanks | ScreeningValues) -> RobustSum:
    return RobustSum(np.zeros(values.size), np.ones(values.size), values=values)
