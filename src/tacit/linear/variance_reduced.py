"""Solvers that correct sampled gradients by those at a snapshot: SVRG, Katyusha and SVRG++, with noise that falls too.

As printed, one of them has no noise at all, and the noise of the others is too small by far for samples of one row.
Here each epoch releases the gradient of all rows at the snapshot; and each step, of rows sampled afresh, the
*difference* of gradients between here and the snapshot. By smoothness that is no longer than the distance between the
two allows, which is known: so it is clipped there, and its noise shrinks along with it, at a multiplier that the plan
fixes.

What is wrong with the gradient of the last snapshot stays wrong, however many steps follow, while noise on differences
averages out. So snapshots are few, and have most of the budget. Noise on differences is relative to how far the point
has moved: steps are short enough that an epoch's noise, added up, moves it no further than it has moved itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from tacit.fitting.engine import Noise
from tacit.linear.newton import Stand
from tacit.linear.problem import Problem, Solver, bounded
from tacit.privacy import Gaussian, Sampled, Step
from tacit.statistics import LossGradients
from tacit.statistics.components import Array

SNAPSHOT, DIFFERENCE = "snapshot gradient", "sampled difference"
RATE = 0.05
_SNAPSHOTS = 0.8  # share of the budget
_REACH = 2.0  # lengths of ordinary rows; differences of longer ones are shortened, and steps overshoot if many are
_LEAST = 1e-9  # the shortest difference that is asked about


@dataclass(frozen=True, eq=False)
class Epoch:
    """Where a search stands: snapshot, gradient there, the point that moves, and the mean of an epoch's points."""

    snapshot: Array
    gradient: Array
    point: Array
    mean: Array
    weight: float = 0.0


@dataclass
class VarianceReduced(Solver):
    """SVRG with noise on snapshots and on differences, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    problem : Problem
    iterations : int
        Number of epochs.
    """

    problem: Problem
    iterations: int
    rounds: list[str] = field(init=False)

    inner: ClassVar[int] = 20  # steps of an epoch, of the last one where epochs double
    longest: ClassVar[float] = 1.0  # step, in units of one over the largest curvature of the mean
    doubling: ClassVar[bool] = False
    towards: ClassVar[float] = 1.0  # how far from the snapshot towards the moving point questions are asked
    carried: ClassVar[bool] = False  # whether an epoch starts where the last one ended, not at its mean

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return 5."""
        return 5

    def __post_init__(self) -> None:
        self.rounds = [name for inner in self._inner(self.iterations) for name in [SNAPSHOT] + [DIFFERENCE] * inner]

    @classmethod
    def _inner(cls, epochs: int) -> list[int]:
        if not cls.doubling:
            return [cls.inner] * epochs
        return [max(2, round(cls.inner * 2.0 ** (epoch - epochs + 1))) for epoch in range(epochs)]

    @classmethod
    def steps(cls, iterations: int, size: int, share: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps: most of the budget for snapshots, and about what is left for differences."""
        inner, rest = sum(cls._inner(iterations)), 1 - _SNAPSHOTS
        return [
            Gaussian(SNAPSHOT, math.sqrt(iterations / (_SNAPSHOTS * share)), iterations, size),
            Sampled(RATE, Gaussian(DIFFERENCE, RATE * math.sqrt(inner / (rest * share)), inner, size)),
        ]

    def start(self) -> Epoch:
        """Return where to start."""
        begin = self.problem.begin
        return Epoch(begin, np.zeros_like(begin), begin, begin)

    def statistic(self, state: Epoch, index: int, noise: Noise) -> tuple[Epoch, LossGradients]:
        """Return gradients at the snapshot, or differences from it."""
        problem = self.problem
        if self.rounds[index] == SNAPSHOT:
            snapshot = state.mean if index else state.snapshot
            state = replace(state, snapshot=snapshot, point=state.point if self.carried else snapshot, weight=0.0)
            return state, problem.gradients(snapshot)
        asked = self._asked(state)
        apart = float(np.linalg.norm(asked - state.snapshot))
        # |difference| <= curvature |z| |<z, asked - snapshot>|: for ordinary rows, curvature |z| |asked - snapshot|.
        radius = min(2 * problem.radius, _REACH * problem.loss.smoothness * problem.coordinates.length * apart)
        statistic = LossGradients(
            problem.loss, asked, max(radius, _LEAST), 0.0, problem.intercept, anchor=state.snapshot
        )
        return state, statistic

    def update(self, state: Epoch, index: int, statistic: LossGradients, released: Array, noise: float) -> Epoch:
        """Keep a snapshot's gradient, or go a step by it and the difference."""
        problem = self.problem
        if self.rounds[index] == SNAPSHOT:
            return replace(state, gradient=problem.mean_gradient(statistic, released))
        step = self._step(index, noise)
        difference = problem.mean_gradient(statistic, released, RATE * problem.rows) - state.snapshot @ problem.ridge
        gradient = state.gradient + difference
        point = bounded(problem.prox(state.point - step * gradient, step))
        counted = state.snapshot + self.towards * (point - state.snapshot)
        if index < self._middle(index):
            return replace(state, point=point)
        total = state.weight + 1.0
        return replace(state, point=point, mean=state.mean + (counted - state.mean) / total, weight=total)

    def finish(self, state: Epoch) -> Stand:
        """Return the mean of the last epoch's second half."""
        return Stand(state.mean, np.zeros((0, 0)))

    def _asked(self, state: Epoch) -> Array:
        return state.snapshot + self.towards * (state.point - state.snapshot)

    def _step(self, index: int, noise: float) -> float:
        """Return how long a step is: not so long that an epoch's noise on differences would carry the point away."""
        problem, (first, end) = self.problem, self._epoch(index)
        wobble = _REACH * problem.loss.smoothness * problem.coordinates.length * noise / (RATE * problem.rows)
        steady = 1 / (wobble * math.sqrt(problem.begin.size * (end - first)))
        return min(self.longest / problem.smoothness, steady)

    def _middle(self, index: int) -> int:
        """Return the first of an epoch's steps that counts for its mean."""
        first, end = self._epoch(index)
        return (first + end) // 2

    def _epoch(self, index: int) -> tuple[int, int]:
        """Return where the steps of an epoch start and end."""
        first = end = index
        while self.rounds[first - 1] == DIFFERENCE:
            first -= 1
        while end < len(self.rounds) and self.rounds[end] == DIFFERENCE:
            end += 1
        return first, end


@dataclass
class Katyusha(VarianceReduced):
    """One-parameter Katyusha: it asks half way to the snapshot, and epochs go on where the last one ended."""

    longest: ClassVar[float] = 2.0
    towards: ClassVar[float] = 0.5
    carried: ClassVar[bool] = True

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return 4."""
        return 4


@dataclass
class DoublingEpochs(VarianceReduced):
    """SVRG++: each epoch is twice as long as the last one, and goes on where that ended."""

    inner: ClassVar[int] = 40
    doubling: ClassVar[bool] = True
    carried: ClassVar[bool] = True

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return 4."""
        return 4
