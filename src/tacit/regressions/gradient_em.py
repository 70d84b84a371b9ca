"""Gradient EM as published, for every model whose rows have gradients: one bounded mean of them, one step, and again.

What the papers call different algorithms are different bounds on a row's gradient g at the current beta:

- *clipped* (Wang et al., 2020, Algorithm 1): g is shortened to length C;
- *robust* (their Algorithm 2): each column of g is truncated smoothly at the scale s;
- *robust_em* (their Algorithm 3): the same for g + beta, where that is the M-step itself, as in the symmetric mixture;
- *truncated* (Zhang and Zhang, 2021, Algorithms 4, 7 and 8): parts of g are cut off at T, so that it lies in a box.

With a `sparsity` s, each step keeps s coefficients (their Algorithms 2, 3, 5 and 6, for any of these bounds). *Noisy
hard thresholding*, or peeling, chooses them one after the other by how large they are after the step, by the
exponential mechanism, and then the bounded gradients of these alone are released. Of the price, half goes to the
choices.

Noise is that of the plan, the exact composition of Gaussian releases, and not what the papers' constants come to.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.fitting.engine import Noise
from tacit.privacy import Budget, Gaussian, Selection, Split, Step
from tacit.release import Choice, Statistic
from tacit.statistics import Clip, EMGradient, RobustSum, RowCount, Shorten, Smoothed, SomeValues
from tacit.statistics.components import Array

METHODS = ("clipped", "robust", "robust_em", "truncated")
ROWS, CHOICE, GRADIENT = "number of rows", "columns", "gradient"
_ITERATIONS = {"clipped": 22, "robust": 22, "robust_em": 5, "truncated": 10}  # as in the papers' figures; about log(n)
_COUNTING = 0.01  # of the budget, in squared signal-to-noise, where the number of rows is secret
_FAILURE = 0.01  # the failure probability that the smoothed truncation is stated with


@dataclass(frozen=True, eq=False)
class Climb:
    """Where a fit stands: the coefficients, and how many rows there are, as far as is known."""

    beta: Array
    rows: float | None
    columns: tuple[int, ...] | None = None  # that the next gradient is of, where it is not of all


@dataclass
class GradientEM:
    """Gradient ascent from `begin`, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    gradient : callable
        ``gradient(beta, truncation=None)`` returns the gradients of rows at beta.
    begin : (d,) array
        Where to start; public.
    rows : int or None
        The number of rows, where it is public; else it is released first.
    budget : Budget
        What the robust scale depends on.
    largest : float
        What coefficients are kept below, as noise may be anything.
    method : {"clipped", "robust", "robust_em", "truncated"}
    n_iter : int or "auto"
        Number of steps: 22, 22, 5 and 10 by default.
    learning_rate : float
        What gradients are multiplied by; robust_em takes whole M-steps.
    clip : float
        C, the length of a clipped gradient.
    moment_bound : float
        tau, what the mean square of each column of gradients is at most; of M-steps for robust_em.
    truncation : float, optional
        T; sqrt(log n) if not given.
    split : bool
        Use each row in one step only: rows are dealt out by secret random bits.
    sparsity : int, optional
        How many coefficients each step keeps; all of them by default.
    """

    gradient: Callable[..., EMGradient]
    begin: Array
    rows: int | None
    budget: Budget
    largest: float
    method: str
    n_iter: int | str = "auto"
    learning_rate: float = 1.0
    clip: float = 1.0
    moment_bound: float = 1.0
    truncation: float | None = None
    split: bool = False
    sparsity: int | None = None
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.iterations = _ITERATIONS[self.method] if self.n_iter == "auto" else int(self.n_iter)
        step = [GRADIENT] if self.sparsity is None else [CHOICE, GRADIENT]
        self.rounds = [ROWS] * (self.rows is None) + step * self.iterations

    def steps(self) -> list[Step]:
        """Return the plan's steps; s choices of multiplier sqrt(s) / 2 cost what a Gaussian release of 1 does."""
        kept, steps = self.sparsity or len(self.begin), list[Step]()
        count = 1 if self.split else self.iterations
        steps.append(Gaussian(GRADIENT, 1.0, count, kept))
        if self.sparsity is not None:
            steps.insert(0, Selection(CHOICE, math.sqrt(kept) / 2, count * kept, len(self.begin)))
        if self.split:
            steps = [Split(self.iterations, step) for step in steps]
        if self.rows is None:
            steps.insert(0, Gaussian(ROWS, (_COUNTING * count) ** -0.5))
        return steps

    def start(self) -> Climb:
        """Return where to start."""
        return Climb(self.begin, self.rows)

    def statistic(self, state: Climb, index: int, noise: Noise) -> tuple[Climb, Statistic]:
        """Return what the next round releases: the number of rows first where it is secret, then bounded gradients.

        Where few coefficients are kept, these are chosen before: those that the step would make largest. In sums of
        shares in one unit r, a coefficient is rate * r / n times (the sum + n * (beta / rate + centre) / r).
        """
        if self.rounds[index] == ROWS:
            return state, RowCount(self.gradient(state.beta))
        if self.rounds[index] != CHOICE:
            return state, self._bounded(state)
        bounded = self._bounded(state)
        total = replace(bounded, scale=np.full(len(state.beta), bounded.scale.max()))
        ahead = self._rows_used(state) * (state.beta / self._rate + total.centre) / total.half_width
        return state, Choice(total, self.sparsity, "either", offset=ahead)

    def _bounded(self, state: Climb) -> RobustSum:
        """Return the bounded gradients, of the columns that were chosen if some were."""
        beta = state.beta
        places = np.arange(len(beta)) if state.columns is None else np.array(state.columns)
        if self.method == "truncated":
            cut = self.truncation or math.sqrt(math.log(max(self._rows(state), 3.0)))
            values = self.gradient(beta, truncation=cut)
            centre, scale = (each[places] for each in values.box)
            return RobustSum(centre, scale, Clip(), self._of(values, state))
        size, values = len(places), self._of(self.gradient(beta), state)
        if self.method == "clipped":
            return RobustSum(np.zeros(size), np.full(size, self.clip), Shorten(), values)
        centre = -beta[places] if self.method == "robust_em" else np.zeros(size)
        smoothing = Smoothed(math.sqrt(math.log(size / _FAILURE)))
        return RobustSum(centre, np.full(size, self._scale(self._rows(state))), smoothing, values)

    @staticmethod
    def _of(values: EMGradient, state: Climb) -> EMGradient | SomeValues:
        return values if state.columns is None else SomeValues(values, state.columns)

    def _scale(self, rows: float) -> float:
        """Return the papers' scale; they have log(1 / delta) in one algorithm and log(1 / failure) in the other."""
        log = math.log(1 / self.budget.delta)
        surplus = math.sqrt(log + self.budget.epsilon) - math.sqrt(log)
        below = math.log(1 / _FAILURE) if self.method == "robust_em" else log
        return math.sqrt(rows * self.moment_bound * surplus) / (2 * below)

    def update(self, state: Climb, index: int, statistic: Statistic, released: Any, noise: float) -> Climb:
        """Go a step up the mean gradient, in the columns that were chosen if some were."""
        if isinstance(statistic, Choice):
            return replace(state, columns=tuple(np.sort(released[0]).tolist()))
        if not isinstance(statistic, RobustSum):
            return replace(state, rows=max(float(released[0]), noise, 1.0))
        mean = statistic.centre + statistic.half_width * released / self._rows_used(state)
        places = np.arange(len(state.beta)) if state.columns is None else np.array(state.columns)
        beta = np.zeros(len(state.beta))
        beta[places] = np.clip(state.beta[places] + self._rate * mean, -self.largest, self.largest)
        return replace(state, beta=beta, columns=None)

    @property
    def _rate(self) -> float:
        return 1.0 if self.method == "robust_em" else self.learning_rate

    def _rows_used(self, state: Climb) -> float:
        """Return of how many rows a step is."""
        return self._rows(state) / (self.iterations if self.split else 1)

    def _rows(self, state: Climb) -> float:
        if state.rows is None:
            raise ValueError("The number of rows is neither public nor released yet; the first round releases it.")
        return state.rows

    def finish(self, state: Climb) -> Array:
        """Return the coefficients."""
        return state.beta
