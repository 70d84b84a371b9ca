"""Mixtures of regressions by moments of scores: the default method.

First the whole table is one Gaussian: a few releases in its own coordinates, as in :mod:`tacit.mixture.scale_free`,
tell where inputs lie and how they scatter. From then on inputs are u, about standard normal, and a component's scores e
(1, u), with e its residual in units of its own scale, have mean 0 and covariance 1 when it is right. One release of
their counts, means and second moments (:class:`tacit.statistics.ComponentMoments` of
:class:`tacit.statistics.RegressionScores`) is an iteration of EM:

- the *mean* score is the Newton step for the coefficients, as inputs are white; the noise on it is relative to the
  residuals, not to the range of the target;
- the *trace* of the second moment tells how large residuals are;
- while the mixture grows, the *direction* in which the second moment is longest is the one in which coefficients of two
  groups of rows differ: there the component is split.

Scores are clipped. Where errors are symmetric that has no bias, only a factor on steps and on scales, which is known
and undone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tacit.fitting.engine import Noise
from tacit.fitting.shrinkage import shrunk
from tacit.mixture.scale_free import Fit, ScaleFree
from tacit.privacy import Gaussian, Relation, Step
from tacit.regressions.regressions import Regressions
from tacit.statistics import ComponentMoments, RegressionScores, numbers_in_second_moment
from tacit.statistics.components import Array

WHITENING, GROWING, REFINING, FINAL = "whitening moments", "growing scores", "refining scores", "final scores"
_SHARES = {WHITENING: 0.5, GROWING: 1.0, REFINING: 1.0, FINAL: 4.0}  # of the budget, in squared signal-to-noise
_WHITENING_ROUNDS = 3
_ROUNDS_PER_SIZE = 2
_REFINING_ROUNDS = 5
_WEIGHTS = {"full": (0.5, 1.0, 1.0), "spherical": (0.5, 1.0, 0.5)}  # of counts, means and second moments
RADIUS = 1.3  # times the length of an ordinary score
_BEYOND = 1.5  # by how much inputs may be longer than ordinary ones
_LEAST_DOUBT = 0.05
_LEAST_CHANGE, _MOST_CHANGE = 0.05, 4.0  # of a scale's square in one round
_ERROR = 1.0  # of coefficients, in scales: components with larger errors cannot be told apart


@dataclass(frozen=True, eq=False)
class Stand:
    """Where a fit stands: inputs as a Gaussian, and once those are known, the regressions."""

    inputs: Fit
    regressions: Regressions | None = None
    directions: Array | None = None  # in which components are to be split, (K, 1 + d)
    doubts: Array | None = None  # how far off coefficients may be, as variances in units of the scales, (K,)
    noise: float = 0.0  # on the step of a component that has all rows, in units of its scale, at the last release

    @property
    def rows(self) -> float | None:
        """How many rows there are, as far as is known."""
        return self.inputs.rows


@dataclass(frozen=True, eq=False)
class Found:
    """What a fit comes to, in standard coordinates.

    Parameters
    ----------
    regressions : Regressions
        On inputs that need not be white.
    errors : (K,) array or None
        How far off coefficients are, in any direction in which inputs are of length 1, as standard deviations: noise
        and chance, as if it were known which component each row is of. None where it is not known.
    mean, covariance : (d,) and (d, d) arrays
        Of the inputs.
    """

    regressions: Regressions
    errors: Array | None
    mean: Array
    covariance: Array


@dataclass
class ScoreMoments:
    """Mixture of regressions of the last column on the others, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    n_components, columns : int
        Columns of inputs, without the target.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    n_iter : int or "auto"
        Number of releases.
    symmetric : bool
        Two components with opposite coefficients, equally heavy; takes an `origin`.
    origin : (1 + d,) array, optional
        Where all inputs and the target are zero, in standard coordinates: regressions pass through it. Without it they
        have intercepts.
    least_variances : (1 + d,) array, optional
        Public knowledge of how narrow a column can be.
    direction : (d,) array, optional
        In which the coefficients of two components differ, where that is public or private already: then it need not be
        found.
    """

    n_components: int
    columns: int
    neighbors: Relation
    rows: int | None
    n_iter: int | str = "auto"
    symmetric: bool = False
    origin: Array | None = None
    least_variances: Array | float = 1e-8
    direction: Array | None = None
    sizes: list[int] = field(init=False)
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        growing = self._growing_sizes()
        before = _WHITENING_ROUNDS + len(growing)
        refining = _REFINING_ROUNDS if self.n_iter == "auto" else int(self.n_iter) - before - 1
        if refining < 0:
            raise ValueError(
                f"n_iter is {self.n_iter}, and {self.n_components} component(s) take {before} release(s) before they "
                f'can be refined, and one more; pass n_iter={before + 1} or more, or "auto".'
            )
        self.sizes = growing + [self.n_components] * (refining + 1)
        self.rounds = [WHITENING] * _WHITENING_ROUNDS + [GROWING] * len(growing) + [REFINING] * refining + [FINAL]

    def _growing_sizes(self) -> list[int]:
        if self.n_components == 1 or self.direction is not None:
            return []
        most = 2 if self.symmetric else 2 * self.n_components
        sizes = [1]
        while 2 * sizes[-1] < most:
            sizes.append(2 * sizes[-1])
        sizes = [*sizes, most] if not self.symmetric else sizes
        return [size for size in sizes for _ in range(_ROUNDS_PER_SIZE)]

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        whitening = self._whitening()
        steps: list[Step] = []
        for name, share in _SHARES.items():
            if not (count := self.rounds.count(name)):
                continue
            if name == WHITENING:
                size = whitening.steps()[0].size
            else:
                sizes = self.sizes[: self.rounds.count(GROWING)] if name == GROWING else [self.n_components]
                seconds = numbers_in_second_moment(_kind(name), 1 + self.columns)
                size = max(sizes) * (2 + self.columns + seconds)
            steps.append(Gaussian(name, 1.0 / math.sqrt(share), count, size))
        return steps

    def _whitening(self) -> ScaleFree:
        return ScaleFree(1, self.columns + 1, "full", self.neighbors, self.rows, least_variances=self.least_variances)

    def start(self) -> Stand:
        """Return inputs and target as large as the bounds."""
        return Stand(self._whitening().start())

    def statistic(self, state: Stand, index: int, noise: Noise) -> tuple[Stand, ComponentMoments]:
        """Return what the next round releases: moments of rows first, then of scores."""
        name = self.rounds[index]
        if name == WHITENING:
            inputs, statistic = self._whitening().statistic(state.inputs, min(index, 1), noise)
            return replace(state, inputs=inputs), statistic
        state = self._sized(state, index, noise)
        return state, self._scores(state, _kind(name))

    def _scores(self, state: Stand, kind: Any) -> ComponentMoments:
        parts = state.regressions
        centre, factor = self._white(state)
        centre, factor = centre[:-1], factor[:-1, :-1]
        scores = RegressionScores(parts.weights, parts.coefficients, parts.scales, centre, factor, self._reach)
        return ComponentMoments(scores, self._radius, *_WEIGHTS[kind], kind)

    @property
    def _reach(self) -> float:
        """How long white inputs may be."""
        return math.sqrt(self.columns) + _BEYOND

    @property
    def _radius(self) -> float:
        """How long scores may be."""
        return RADIUS * math.sqrt(1 + self.columns)

    def _sized(self, state: Stand, index: int, noise: Noise) -> Stand:
        """Return the state with this round's number of components, as far as the noise allows."""
        if state.regressions is None:
            state = self._first(state)
        parts = state.regressions
        size = min(self.sizes[index - _WHITENING_ROUNDS], self._affordable(state, index, noise))
        if size == parts.count:
            return state
        if size < parts.count:
            parts = parts.merge(size)
        elif state.directions is not None:
            parts = parts.split(min(size, 2 * parts.count), state.directions)
        if self.symmetric and parts.count == 2:
            parts = parts.mirrored()
        return replace(state, regressions=parts, directions=None, doubts=np.ones(parts.count))

    def _first(self, state: Stand) -> Stand:
        """Return the state with one regression, that of the Gaussian of all columns."""
        centre, factor = self._white(state)  # the factor's last row is the regression on white inputs, and what is left
        coefficients = np.concatenate([centre[-1:], factor[-1, :-1]])
        one = Regressions(np.ones(1), coefficients[None], factor[-1:, -1])
        directions = None
        if self.direction is not None:
            white = factor[:-1, :-1].T @ self.direction
            directions = np.concatenate([[0.0], white / np.linalg.norm(white)])[None]
        return replace(state, regressions=one, directions=directions, doubts=np.ones(1))

    def _white(self, state: Stand) -> tuple[Array, Array]:
        """Return where all columns are measured from, and a factor of their second moment about it."""
        mean, covariance = state.inputs.mixture.means[0], state.inputs.mixture.covariances[0]
        if self.origin is None:
            return mean, np.linalg.cholesky(covariance)
        apart = mean - self.origin
        return self.origin, np.linalg.cholesky(covariance + np.outer(apart, apart))

    def _affordable(self, state: Stand, index: int, noise: Noise) -> int:
        kind = _kind(self.rounds[index])
        unit = noise(self._scores(state, kind))
        error = unit * RADIUS * (1 + self.columns) / _WEIGHTS[kind][1]
        return max(1, int(_ERROR * max(state.rows or 1.0, 1.0) / error))

    def update(self, state: Stand, index: int, statistic: ComponentMoments, released: Array, noise: float) -> Stand:
        """Move each component by what its scores say, less what is noise."""
        if self.rounds[index] == WHITENING:
            return replace(state, inputs=self._whitening().update(state.inputs, 0, statistic, released, noise))
        parts, radius, wide = state.regressions, statistic.radius, 1 + self.columns
        counts, sums, squares = statistic.parts(released)
        if self.rows is not None:
            counts = counts + (self.rows - counts.sum()) / len(counts)
        rows = max(float(counts.sum()), 1.0)
        counts = np.maximum(counts, max(0.01 * rows / len(counts), noise / statistic.count))
        kept, spread = kept_by_clipping(self.columns, statistic.components.reach, radius)
        step_noise = noise * radius / statistic.mean / counts / kept
        steps = [shrunk(*each)[0] for each in zip(sums / counts[:, None] / kept, step_noise, state.doubts)]
        steps = np.stack(steps)
        if self.origin is not None:
            steps[:, 0] = 0.0
        traces = np.einsum("kii->k", squares) if squares.ndim == 3 else squares
        left = traces / counts / (wide * spread) - np.sum(steps**2, axis=1)
        least = np.maximum(_LEAST_CHANGE, noise * radius**2 / statistic.second / counts / wide)
        scales = parts.scales * np.sqrt(np.clip(left, least, _MOST_CHANGE))
        coefficients = parts.coefficients + parts.scales[:, None] * steps
        moved = Regressions(counts / counts.sum(), coefficients, scales)
        if self.symmetric and moved.count == 2:
            moved = moved.mirrored()
        doubts = state.doubts * step_noise**2 / (state.doubts + step_noise**2) * (parts.scales / scales) ** 2
        directions = self._longest(squares) if squares.ndim == 3 else None
        inputs = replace(state.inputs, rows=rows)
        unit = noise * radius / statistic.mean / rows / kept
        return Stand(inputs, moved, directions, np.clip(doubts + _LEAST_DOUBT, 0.0, 1.0), unit)

    def _longest(self, squares: Array) -> Array:
        """Return the directions (K, 1 + d) in which scores are longest."""
        if self.origin is not None:  # intercepts stay where they are, even where noise makes all else look negative
            squares = squares[:, 1:, 1:]
        axes = np.linalg.eigh(squares)[1][:, :, -1]
        if self.origin is not None:
            axes = np.column_stack([np.zeros(len(axes)), axes])
        return axes * np.sign(axes[np.arange(len(axes)), np.argmax(np.abs(axes), axis=1)])[:, None]

    def finish(self, state: Stand) -> Found:
        """Return the regressions on inputs in standard coordinates, as many as asked for, heaviest first."""
        centre, factor = self._white(state)
        centre, factor = centre[:-1], factor[:-1, :-1]
        parts = state.regressions.repeated(self.n_components).by_weight()
        slopes = np.linalg.solve(factor.T, parts.coefficients[:, 1:].T).T
        intercepts = parts.coefficients[:, 0] - slopes @ centre
        kept, spread = kept_by_clipping(self.columns, self._reach, self._radius)
        chance = spread / kept**2 / max(state.rows or 1.0, 1.0)  # what is clipped says less
        variances = (state.noise / parts.weights) ** 2 + chance / parts.weights
        if self.symmetric:  # the mean of two, one of them turned round
            variances = variances / 2
        inputs = state.inputs.mixture
        found = replace(parts, coefficients=np.column_stack([intercepts, slopes]))
        errors = parts.scales * np.sqrt(variances)
        return Found(found, errors, inputs.means[0, :-1], inputs.covariances[0, :-1, :-1])


def _kind(name: str) -> str:
    return "full" if name == GROWING else "spherical"


@lru_cache(maxsize=16)
def kept_by_clipping(columns: int, reach: float, radius: float) -> tuple[float, float]:
    """Return by what clipping multiplies a step of coefficients, and the mean squared length of scores.

    Scores are e (1, u) with e and u standard normal. As residuals move by <d, (1, u)>, scores within the radius move by
    that times (1, u), and those beyond hardly move.

    Examples
    --------
    >>> [round(part, 2) for part in kept_by_clipping(10, 1e9, 1e9)]
    [1.0, 1.0]
    """
    rng = np.random.default_rng(0)
    squares = 1 + np.minimum(rng.chisquare(columns, 1 << 16), reach**2)
    residuals = rng.normal(size=1 << 16) ** 2
    inside = residuals * squares < radius**2
    ordinary = 1 + columns
    return (
        float(np.mean(inside * squares) / ordinary),
        float(np.mean(np.minimum(residuals * squares, radius**2)) / ordinary),
    )
