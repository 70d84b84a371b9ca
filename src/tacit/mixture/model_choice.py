"""How many components: chosen from a grid privately, by one release.

The scale-free mixture grows to twice as many components as the grid's largest number, and merging them down costs
nothing: so there is a candidate for every number. One release, of :class:`tacit.statistics.LikelihoodGains`, tells how
much log-likelihood each candidate gains over the next smaller one. What is chosen, as arithmetic on private values, is
the smallest number whose score is not clearly beaten. The score is the gain less what the components will cost:

- half the logarithm of the number of rows for each parameter, as in the Bayesian information criterion;
- the likelihood that noise will take from them in the refining rounds, which is known beforehand.

*Clearly* means by more than the noise of the scores themselves.

Candidates are rough: one piece of the grown mixture may lie across two clusters, and candidates up to one too large
have to keep it. When the others are refined it is left with next to no rows. So components whose counts are within the
noise of zero are dropped between refining rounds, which costs nothing either.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tacit.fitting.engine import Noise
from tacit.fitting.moment_weights import block_weights, nats_to_noise
from tacit.messages import describe
from tacit.mixture.mixture import Mixture
from tacit.mixture.outliers import WithOutliers
from tacit.mixture.scale_free import REFINING, SHARES, Fit, ScaleFree, constrained
from tacit.privacy import Gaussian, Step
from tacit.statistics import (
    Components,
    CovarianceType,
    LikelihoodGains,
    TableComponents,
    moment_sensitivity,
    numbers_in_second_moment,
)
from tacit.statistics.components import Array

CHOICE = "model choice"
AUTO = tuple(range(1, 11))
_SHARE = 1.0  # of the budget, in squared signal-to-noise, beside those of growing and refining rounds
_CLEAR = 1.0  # standard deviations of noise by which a larger number of components must be better
_EMPTY = 2.0  # standard deviations of noise that a component's count must be above zero
_FIRST_ROUNDS = 2  # of refining: only after them has a component that nobody needs lost its rows


def checked_grid(n_components: Any) -> tuple[int, ...]:
    """Return the numbers of components to choose from, in rising order: a single one where nothing is to be chosen.

    Examples
    --------
    >>> checked_grid(3), checked_grid(range(2, 5)), checked_grid("auto") == tuple(range(1, 11))
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


def listed(grid: Sequence[int]) -> str:
    """Return a grid in words.

    Examples
    --------
    >>> listed((3,)), listed((1, 2, 3)), listed((1, 3, 5))
    ('3', '1 to 3', '1, 3, 5')
    """
    straight = len(grid) > 2 and grid[-1] - grid[0] == len(grid) - 1
    return f"{grid[0]} to {grid[-1]}" if straight else ", ".join(map(str, grid))


class Choosing:
    """What a scale-free model does more if it also chooses the number of its components.

    To be put before a model that grows in its bases. ``n_components`` is the largest number that may be chosen, and
    ``grid`` holds the numbers to choose from, in rising order. With a single one, the fit is the same but for the
    choice.
    """

    grid: Sequence[int]
    _candidate: Callable[[Fit, int], Fit]
    """The fit with so many components, as the refining rounds would start from it."""
    _afresh: Callable[[Fit, Mixture], Fit]
    """The fit with another mixture, of which nothing is known yet."""
    _parameters: Callable[[Array], Array]
    """How many parameters so many components have."""
    _nats_lost: Callable[[], float]
    """The nats that a component of one row loses to a refining round, if the plan's noise is 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._choice = self.rounds.index(REFINING)
        if len(self.grid) > 1:
            self.rounds.insert(self._choice, CHOICE)

    def steps(self) -> list[Step]:
        """Return the plan's steps, with that of the choice behind the growing rounds."""
        growing, *others = super().steps()
        return [growing, Gaussian(CHOICE, 1 / math.sqrt(_SHARE), 1, len(self.grid) - 1), *others]

    def statistic(self, state: Fit, index: int, noise: Noise) -> Any:
        """Ask what each candidate gains; in the other rounds, do as always, less components that are empty."""
        if self.rounds[index] == CHOICE:
            candidates = (self._candidate(state, count).mixture.components() for count in self.grid)
            return state, LikelihoodGains(tuple(map(self._seen, candidates)), self.missing)
        measured, statistic = super().statistic(state, index, noise)
        if self.rounds[index] == REFINING and self.rounds[:index].count(REFINING) >= _FIRST_ROUNDS:
            filled = self._without_empty(state, noise(statistic) / statistic.count)
            if filled is not state:
                return super().statistic(filled, index, noise)
        return measured, statistic

    def update(self, state: Fit, index: int, statistic: Any, released: Array, noise: float) -> Fit:
        """Choose a candidate; in the other rounds, do as always."""
        if self.rounds[index] != CHOICE:
            return super().update(state, index, statistic, released, noise)
        gained = np.concatenate([[0.0], np.cumsum(statistic.parts(released))])
        scores = gained - self._costs(state, noise / statistic.sensitivity(self.neighbors))
        scores[np.array(self.grid) > state.mixture.count] = -math.inf  # the noise supports no more than have grown
        chosen = smallest_not_beaten(scores, float(statistic.parts(np.array(noise))))
        return self._candidate(state, self.grid[chosen])

    def finish(self, state: Fit) -> Mixture:
        """Return the final mixture, with as many components as were chosen, heaviest first."""
        return state.mixture.repeated(self.grid[0]).by_weight()

    def _seen(self, components: Any) -> Any:
        """Return components as rows of this model are seen by them."""
        gaps = self.missing and isinstance(components, Components)
        return TableComponents.of_numbers(components) if gaps else components

    def _costs(self, state: Fit, multiplier: float) -> Array:
        """Return what each candidate's parameters cost, in nats; `multiplier` is the noise of the choice."""
        rows, counts = max(state.rows or 1.0, 2.0), np.array(self.grid)
        # A component of n rows loses n times so many nats per row to noise / n; the rounds together, less.
        to_noise = self._nats_lost() * _SHARE * multiplier**2 / self.rounds.count(REFINING)
        return 0.5 * math.log(rows) * self._parameters(counts) + counts * to_noise / (rows / counts)

    def _without_empty(self, state: Fit, unsure: float) -> Fit:
        """Return the fit without components whose counts noise, of this size, alone may have made."""
        mixture = state.mixture.by_weight()
        filled = np.sum(mixture.weights * (state.rows or 0.0) > _EMPTY * unsure)
        kept = min([count for count in self.grid if count >= filled] or [mixture.count])
        if kept >= mixture.count:
            return state
        weights = mixture.weights[:kept] / mixture.weights[:kept].sum()
        return self._afresh(state, mixture.taken(np.arange(kept), weights))


@dataclass
class ChosenScaleFree(Choosing, ScaleFree):
    """Scale-free EM that also chooses the number of components; see ``Choosing``."""

    also: ClassVar[tuple[str, ...]] = (*ScaleFree.also, CHOICE)
    grid: Sequence[int] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.grid) > 1:
            self.sizes.insert(self._choice, self.n_components)

    def _target(self, state: Fit, index: int) -> int:
        if index < self._choice:
            return super()._target(state, index)
        return min(self.grid[-1], state.mixture.count)

    def _candidate(self, state: Fit, count: int) -> Fit:
        return self._afresh(state, constrained(state.mixture.merge(count), self.covariance_type))

    def _afresh(self, state: Fit, mixture: Mixture) -> Fit:
        return replace(state, mixture=mixture, doubts=None)

    def _parameters(self, counts: Array) -> Array:
        return gaussian_parameters(counts, self.columns, self.covariance_type)

    def _nats_lost(self) -> float:
        count, mean = block_weights(self.columns, self.covariance_type, self.neighbors)
        noise = moment_sensitivity(count, mean, 1.0, self.neighbors) ** 2 / SHARES[REFINING]
        return float(nats_to_noise(self.columns, self.covariance_type, count, mean) * noise)


def gaussian_parameters(counts: Array, columns: int, kind: CovarianceType) -> Array:
    """Return how many parameters mixtures of so many Gaussians have.

    Examples
    --------
    >>> gaussian_parameters(np.array([1, 2, 3]), 2, "full"), gaussian_parameters(np.array([1, 2]), 2, "tied")
    (array([ 5, 11, 17]), array([5, 8]))
    """
    shapes = (1 if kind == "tied" else counts) * numbers_in_second_moment(kind, columns)
    return counts - 1 + counts * columns + shapes


def settled(model: Any, count: int) -> Any:
    """Return the same model with the choice made: a number of components, and no release to choose it."""
    if isinstance(model, WithOutliers):
        return replace(model, model=settled(model.model, count))
    return replace(model, grid=(count,)) if isinstance(model, Choosing) else model


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
