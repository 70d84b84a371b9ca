"""Linear regression by moments of scores: the default method.

First inputs and target are one Gaussian, measured in a few releases in its own coordinates
(:mod:`tacit.moments.moments` does the same at greater length). From then on inputs are u, about standard normal, and
residuals e have a scale. What is released are means of scores e (1, u), clipped jointly, as Krasker and Welsch (1982)
do for robustness:

- noise is relative to what residuals are, not to the range of the target, so it shrinks as the fit improves;
- no row counts for more than another, so heavy tails of errors and of inputs do little harm;
- the *curvature*, how much the mean score changes with the coefficients, is released as well. A step is then a Newton
  step for any law of errors and inputs, and how far off the last one may be is known: chance is the second moment of
  scores, noise is that of the plan.

In the end the mean residual is released by itself (:mod:`tacit.linear.residuals`).

Where rows are many, all releases but the last ones are of shares of them (:mod:`tacit.linear.row_shares`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.fitting.engine import Noise
from tacit.fitting.shrinkage import shrunk
from tacit.linear.input_spread import InputSpread
from tacit.linear.linear_fit import LinearFit
from tacit.linear.residuals import LEVEL, SCALE_DOUBT, SQUARES, Residuals
from tacit.linear.row_shares import MOST_SHARES, dealt, shares_of
from tacit.linear.score_clipping import SHAPE_DOUBT, best_radius, smoothed_matrix, usual_reach
from tacit.mixture.scale_free import ScaleFree
from tacit.moments.two_stage_moments import StagedMoments
from tacit.privacy import Budget, Gaussian, Relation, Step
from tacit.regressions.regression_moments import kept_by_clipping
from tacit.release import planned
from tacit.statistics import ComponentMoments, LinearCurvature, LinearScores, numbers_in_second_moment
from tacit.statistics.components import Array

REFINING, CURVATURE, FINAL = "refining scores", "curvature", "final scores"
_WHITENING = 0.2  # of the budget, in squared signal-to-noise
_WHITENING_ROUNDS = 8
_QUICK_ROUNDS = 6  # the same where there are rows enough for the most shares
_MOST_NOISE = 0.16  # of a covariance in its own units, with which it is measured again and again
_MOST_COLUMNS = 400  # beyond, that takes too long
_USUAL_ROWS = 10_000  # reckoned with where the number of rows is secret
_SHARES = {REFINING: 0.055, CURVATURE: 0.04, SQUARES: 0.02, FINAL: 0.47, LEVEL: 0.05}
_ROUNDS = [REFINING, REFINING, REFINING, CURVATURE, REFINING, SQUARES, FINAL, LEVEL]
_WEIGHTS = (0.5, 1.0, 0.7)  # of counts, means and second moments of scores: the first and the last are free
_FIRST_RADIUS = 1.3  # times the length of an ordinary score
_LEAST_DOUBT = 0.05
_ANYTHING = 1e30  # a doubt that leaves all to the numbers
_LEAST_CHANGE, _MOST_CHANGE = 0.05, 4.0  # of a scale's square in one round
_MISFIT = 0.3  # of the curvature: what is left of the doubts of moments
_STAGED_MISFIT = 0.015  # the same where moments are staged


@dataclass(frozen=True, eq=False)
class Stand:
    """Where a fit stands: the moments of all columns, and once those are known, the regression on white inputs."""

    moments: Any
    coefficients: Array | None = None  # intercept first, (1 + d,)
    scale: float = 1.0
    radius: float = _FIRST_RADIUS
    curvature: Array | None = None  # (1 + d, 1 + d)
    doubt: float = 1.0  # how far off coefficients may be, as a variance in units of the scale
    most: float = 1.0  # the same before any score, as a variance
    misfit: float = 0.0  # how far off entries of the curvature may be, as a relative variance
    noise: Array | None = None  # covariance of what noise has done to coefficients, (1 + d, 1 + d)
    chance: Array | None = None  # covariance of what chance has done to them
    rows: float | None = None
    variance: float = 1.0  # of residuals
    level: tuple[float, float] | None = None  # the mean residual, and the variance of what it is off by


@dataclass
class ScoreRegression:
    """Linear regression of the last column on the others, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    columns : int
        Columns of inputs, without the target.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    budget : Budget
        What the way inputs are measured depends on.
    origin : (1 + d,) array, optional
        Where all inputs and the target are zero, in standard coordinates: the regression passes through it. Without it
        there is an intercept.
    least_variances : (1 + d,) array, optional
        Public knowledge of how narrow a column can be.
    """

    columns: int
    neighbors: Relation
    rows: int | None
    budget: Budget
    origin: Array | None = None
    least_variances: Array | float = 1e-8
    rounds: list[str] = field(init=False)
    shares: int = field(init=False)

    def __post_init__(self) -> None:
        self.shares = shares_of(self.rows, 1 + self.columns, self.budget, self.neighbors)
        self.whitening = self._whitening()
        self.rounds = [*self.whitening.rounds, *_ROUNDS]

    def _whitening(self) -> ScaleFree | StagedMoments:
        rows = None if self.rows is None else self.rows // self.shares
        wide, least = 1 + self.columns, self.least_variances
        rounds = _QUICK_ROUNDS if self.shares == MOST_SHARES else _WHITENING_ROUNDS
        if self._iterated(rows):
            return ScaleFree(1, wide, "full", self.neighbors, rows, rounds, least_variances=least)
        return StagedMoments(wide, self.neighbors, rows, rounds, least)

    def _iterated(self, rows: int | None) -> bool:
        """Return whether moments of all columns can be their own units: public numbers decide, by the noise."""
        part = Budget(self.budget.epsilon * math.sqrt(_WHITENING), self.budget.delta)
        multiplier = planned([Gaussian("moments", 1.0)], part, self.neighbors).steps[0].noise_multiplier
        replaced = math.sqrt(2.0) if self.neighbors == "replace_one" else 1.0
        noise = multiplier * replaced * (1 + self.columns) / (rows or _USUAL_ROWS)
        return self.columns < _MOST_COLUMNS and noise < _MOST_NOISE

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        before = self.whitening.steps()
        power = sum(step.count / step.noise_multiplier**2 for step in before)
        steps = [self._step(step.scaled(math.sqrt(power / _WHITENING))) for step in before]
        for name, share in _SHARES.items():
            steps.append(self._step(Gaussian(name, share**-0.5, _ROUNDS.count(name), self._size(name))))
        return steps

    def _step(self, step: Step) -> Step:
        """Return the step, of shares of the rows where they are dealt out, but for the last two."""
        return step if step.name in (FINAL, LEVEL) else dealt(step, self.shares)

    def _size(self, name: str) -> int:
        if name in (SQUARES, LEVEL):
            return 1
        return 2 + self.columns + numbers_in_second_moment("full", 1 + self.columns)

    def start(self) -> Stand:
        """Return inputs and target as large as the bounds."""
        return Stand(self.whitening.start())

    def statistic(self, state: Stand, index: int, noise: Noise) -> tuple[Stand, Any]:
        """Return what the next round releases: moments of rows first, then of scores, then of residuals."""
        if index < len(self.whitening.rounds):
            moments, statistic = self.whitening.statistic(state.moments, index, noise)
            return replace(state, moments=moments), statistic
        name = self.rounds[index]
        if state.coefficients is None:
            state = self._first(state)
        if name == SQUARES:
            return state, self._residuals(state, self._rows(state)).squares(noise)
        if name == LEVEL:
            return state, self._residuals(state, state.rows).level(noise, state.variance)
        if name == CURVATURE:
            state = replace(state, radius=self._best_radius(state, noise))
            scores = self._scores(state)
            curvature = LinearCurvature(scores, self._length(state))
            return state, ComponentMoments(curvature, scores.reach, 0.0, 0.0, 1.0)
        return state, self._moments(state, "full" if name == FINAL else "spherical")

    def _first(self, state: Stand) -> Stand:
        """Return the state with the regression of the Gaussian of all columns, or none where that is too noisy."""
        centre, factor = self._white(state)  # the factor's last row is the regression on white inputs, and what is left
        rows = float(self.rows) if self.rows is not None else max(float(state.moments.rows), 1.0)
        if isinstance(self.whitening, ScaleFree):
            slopes, scale = factor[-1, :-1], float(factor[-1, -1])
            doubt, misfit = 1.0, _MISFIT * max(float(state.moments.doubts[1, 0]) - _LEAST_DOUBT, 0.0)
        else:  # slopes explain no more than there is
            slopes, scale = np.zeros(self.columns), float(np.linalg.norm(factor[-1]))
            doubt, misfit = 1.0 / self.columns, _STAGED_MISFIT
        return replace(
            state,
            coefficients=np.concatenate([centre[-1:], slopes]),
            scale=scale,
            doubt=doubt,
            most=scale**2 * doubt,
            misfit=misfit,
            noise=scale**2 * doubt * np.eye(1 + self.columns),
            rows=rows,
        )

    def _measured(self, state: Stand) -> tuple[Array, Array]:
        """Return mean and covariance of all columns."""
        if isinstance(self.whitening, ScaleFree):
            return state.moments.mixture.means[0], state.moments.mixture.covariances[0]
        return state.moments.mean, state.moments.covariance()

    def _white(self, state: Stand) -> tuple[Array, Array]:
        """Return where all columns are measured from, and a factor of their second moment about it."""
        mean, covariance = self._measured(state)
        if self.origin is None:
            return mean, np.linalg.cholesky(covariance)
        apart = mean - self.origin
        return self.origin, np.linalg.cholesky(covariance + np.outer(apart, apart))

    def _scores(self, state: Stand) -> LinearScores:
        centre, factor = self._white(state)
        reach = usual_reach(self.columns)
        return LinearScores(state.coefficients, state.scale, centre[:-1], factor[:-1, :-1], reach)

    def _moments(self, state: Stand, kind: Any) -> ComponentMoments:
        return ComponentMoments(self._scores(state), self._length(state), *_WEIGHTS, kind)

    def _length(self, state: Stand) -> float:
        return state.radius * math.sqrt(1 + self.columns)

    def _best_radius(self, state: Stand, noise: Noise) -> float:
        """Return where the last scores are clipped: public numbers, and private ones of before, decide."""
        now = next(step for step in self.steps() if step.name == CURVATURE)
        last = next(step for step in self.steps() if step.name == FINAL)
        relative = last.noise_multiplier / now.noise_multiplier
        unit = noise(self._moments(state, "full")) * relative / _WEIGHTS[1] / math.sqrt(state.rows)
        return best_radius(self.columns, unit * math.sqrt(1 + self.columns))

    def _residuals(self, state: Stand, rows: float) -> Residuals:
        return Residuals(self._in_columns(state), state.scale, rows)

    def _rows(self, state: Stand) -> float:
        """Return how many rows a release before the last ones is of."""
        return state.rows / self.shares

    def update(self, state: Stand, index: int, statistic: Any, released: Array, noise: float) -> Stand:
        """Move the coefficients by what scores say, less what is noise."""
        if index < len(self.whitening.rounds):
            moments = self.whitening.update(state.moments, index, statistic, released, noise)
            return replace(state, moments=moments)
        name = self.rounds[index]
        if name == LEVEL:
            residuals = self._residuals(state, state.rows)
            return replace(state, level=residuals.mean(statistic, released, noise, state.variance))
        rows = state.rows if name == FINAL else self._rows(state)
        if name == SQUARES:
            return replace(state, variance=self._residuals(state, rows).variance(statistic, released, noise))
        if name == CURVATURE:
            return self._curved(state, statistic, released, noise / rows, rows)
        counts, sums, squares = statistic.parts(released)
        if self.rows is None:
            rows = max(float(counts[0]), noise, 1.0)
        return self._stepped(state, name, sums[0] / rows, squares[0] / rows, statistic, noise / rows, rows)

    def _stepped(
        self, state: Stand, name: str, mean: Array, square: Any, statistic: ComponentMoments, noise: float, rows: float
    ) -> Stand:
        """Return the state after one step: Newton's where the curvature is known, damped by what may be noise."""
        wide, scale = 1 + self.columns, state.scale
        kept, spread = kept_by_clipping(self.columns, statistic.components.reach, statistic.radius)
        curvature = kept * np.eye(wide) if state.curvature is None else state.curvature
        unit = noise * statistic.radius / statistic.mean
        gain = self._gain(curvature, unit, state.doubt)
        if name != FINAL:
            gain = gain * shrunk(mean, unit, _ANYTHING)[1]
        step = gain @ mean
        left = np.eye(wide) - gain @ curvature
        # What is wrong with the curvature, times what was wrong with the coefficients, adds to the noise: the last step
        # is about as long as they were wrong.
        misfit = state.misfit * (kept * scale) ** 2 * float(step @ step) if name == FINAL else 0.0
        covariance = left @ state.noise @ left.T + ((scale * unit) ** 2 + misfit) * gain @ gain.T
        moved = replace(state, coefficients=state.coefficients + scale * step, noise=covariance)
        if self.rows is None:
            moved = replace(moved, rows=rows)
        if name == FINAL:
            return replace(
                moved, chance=scale**2 * self._chance(square, spread, curvature, noise * statistic.radius**2, rows)
            )
        if state.curvature is None:
            unsure = noise * statistic.radius**2 / statistic.second / (wide * spread)
            # Of a step's length, as much as is noise is not taken off the residuals but added to them.
            noisy = unit**2 * float(np.sum(gain * gain))
            change = shrunk(np.array([square / (wide * spread) - 1.0]), unsure, SCALE_DOUBT)[0][0]
            change += noisy - max(float(step @ step) - noisy, 0.0)
            moved = replace(moved, scale=scale * math.sqrt(min(max(1.0 + change, _LEAST_CHANGE), _MOST_CHANGE)))
        known = float(np.trace(covariance)) / wide / moved.scale**2
        most = min(1.0, state.most / moved.scale**2)
        return replace(moved, doubt=most if self.shares > 1 else min(most, known + _LEAST_DOUBT))

    def _gain(self, curvature: Array, unit: float, doubt: float) -> Array:
        """Return what a mean score is multiplied by: doubt A (doubt A^2 + unit^2)^-1, for coefficients there are."""
        free = slice(None) if self.origin is None else slice(1, None)
        gain = np.zeros_like(curvature)
        values, axes = np.linalg.eigh(curvature[free, free])
        gain[free, free] = (axes * (doubt * values / (doubt * values**2 + unit**2))) @ axes.T
        return gain

    def _curved(self, state: Stand, statistic: ComponentMoments, released: Array, noise: float, rows: float) -> Stand:
        """Return the state with the mean of z z' over rows whose scores count, less what is noise."""
        measured = statistic.parts(released)[2][0] / rows
        kept = kept_by_clipping(self.columns, statistic.radius, self._length(state))[0]
        noise *= statistic.radius**2
        unsure = (noise / kept) ** 2 / 2
        misfit = unsure * SHAPE_DOUBT / (unsure + SHAPE_DOUBT)
        return replace(state, curvature=smoothed_matrix(measured, noise, kept), misfit=min(misfit, state.misfit))

    def _chance(self, square: Array, spread: float, curvature: Array, noise: float, rows: float) -> Array:
        """Return the sandwich: what coefficients vary by from one sample to another, in units of the scale."""
        free = slice(None) if self.origin is None else slice(1, None)
        square = smoothed_matrix(square, noise / _WEIGHTS[2], spread)
        chance = np.zeros_like(curvature)
        bread = np.linalg.inv(curvature[free, free])
        chance[free, free] = bread @ square[free, free] @ bread / rows
        return chance

    def _in_columns(self, state: Stand) -> Array:
        """Return the coefficients of inputs in standard coordinates, the intercept first."""
        centre, factor = self._white(state)
        slopes = np.linalg.solve(factor[:-1, :-1].T, state.coefficients[1:])
        return np.concatenate([[state.coefficients[0] - slopes @ centre[:-1]], slopes])

    def _as_long_as_likely(self, state: Stand) -> Stand:
        """Return slopes shrunk by how much of their length noise explains (James-Stein), where that is clearly much.

        Steps were damped as if slopes explained all there is to explain. Undone, what was measured has the variance V
        of noise; its own length then tells how large slopes are.
        """
        slopes, prior = state.coefficients[1:], state.most
        unsure = float(np.trace(state.noise[1:, 1:])) / len(slopes)
        if not 0 < unsure < prior:
            return state
        noise = 1 / (1 / unsure - 1 / prior)
        damped = prior / (prior + noise)
        kept = max(0.0, 1.0 - max(len(slopes) - 2, 0) * noise / max(float(slopes @ slopes) / damped**2, 1e-300))
        factor = np.append(1.0, np.full(len(slopes), min(1.0, kept / damped)))
        return replace(state, coefficients=factor * state.coefficients)

    def finish(self, state: Stand) -> LinearFit:
        """Return the fit in standard coordinates."""
        state = self._as_long_as_likely(state)
        centre, factor = self._white(state)
        inputs = factor[:-1, :-1]
        mean, unsure = state.level
        across = np.eye(1 + self.columns)
        across[1:, 1:] = np.linalg.inv(inputs).T
        errors = state.noise + state.chance
        level = float(state.coefficients[0])
        if self.origin is None:
            level += mean
            errors[0] = errors[:, 0] = 0.0
            errors[0, 0] = unsure
        slopes = across[1:, 1:] @ state.coefficients[1:]
        errors = across @ errors @ across.T
        where, covariance = self._measured(state)
        spread = InputSpread(where[:-1], np.sqrt(np.diag(covariance)[:-1]))
        return LinearFit(centre[:-1], level, slopes, inputs @ inputs.T, state.rows, state.variance, errors, spread)
