"""Regression with missing inputs by moments of expected scores: the default method.

Inputs and target together are taken to be Gaussian. A first release, of how many cells each column has, tells by how
much the steps of EM fall short of what they seek, which is then made good
(:mod:`tacit.regressions.missing_information`). A few releases find that Gaussian from the cells that are there, as
``missing="model"`` does for mixtures. Its regression is right already, but noisy: noise was shared out among all
covariances of inputs, which regression hardly needs. So the rest of the budget goes to the scores of the regression
alone (:class:`tacit.statistics.MissingScores`), in coordinates where inputs are white. Here too EM would go by their
mean, and slowly. Their second moment is the information in what is observed, and comes with no more noise: so the steps
are those of Fisher scoring, the mean divided by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from tacit.fitting.engine import Noise
from tacit.fitting.shrinkage import shrunk
from tacit.mixture.scale_free import Fit, ScaleFree
from tacit.privacy import Gaussian, Relation, Step
from tacit.regressions.missing_information import completed
from tacit.regressions.regression_moments import RADIUS
from tacit.statistics import ComponentMoments, MissingScores, ObservedCells, TableMoments, numbers_in_second_moment
from tacit.statistics.components import Array

CELLS, TABLE, SCORES, FINAL = "observed cells", "moments of the table", "expected scores", "final scores"
_SHARES = {CELLS: 0.1, TABLE: 1.0, SCORES: 1.0, FINAL: 6.0}  # of the budget, in squared signal-to-noise
_TABLE_ROUNDS, _SCORE_ROUNDS = 6, 3
_COUNT = 0.5  # weight of the number of rows beside the scores, where it is secret
_SECOND = 0.7  # of second moments: up to sqrt(1 / 2) they add nothing to what a replaced row can do
_LEAST_INFORMATION = 0.1  # in any direction, relative to that in complete rows
_MOST = 1.0  # how far a step may go in the logarithm of the scale


@dataclass(frozen=True, eq=False)
class Stand:
    """Where a fit stands: the table as a Gaussian, and what share of the cells of each column is there."""

    table: Fit
    observed: Array | None = None
    errors: Array | None = None  # how coefficients of inputs err together, (d, d), in standard coordinates


@dataclass
class MissingMoments:
    """Regression of the last column on the others, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    columns : int
        Of inputs, without the target.
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    n_iter : int or "auto"
        Number of releases.
    least_variances : (1 + d,) array, optional
        Public knowledge of how narrow a column can be.
    """

    columns: int
    neighbors: Relation
    rows: int | None
    n_iter: int | str = "auto"
    least_variances: Array | float = 1e-8
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        scores = _SCORE_ROUNDS if self.n_iter == "auto" else int(self.n_iter) - _TABLE_ROUNDS - 2
        if scores < 0:
            raise ValueError(
                f"n_iter is {self.n_iter}, and it takes {_TABLE_ROUNDS + 1} releases to find the table's moments "
                f'and one more; pass n_iter={_TABLE_ROUNDS + 2} or more, or "auto".'
            )
        self.rounds = [CELLS] + [TABLE] * _TABLE_ROUNDS + [SCORES] * scores + [FINAL]

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        wide = 2 + self.columns
        size = wide + numbers_in_second_moment("full", wide) + (self.rows is None)
        sizes = {CELLS: 1 + self.columns, TABLE: self._table().steps()[0].size, SCORES: size, FINAL: size}
        return [
            Gaussian(name, 1.0 / math.sqrt(share), count, sizes[name])
            for name, share in _SHARES.items()
            if (count := self.rounds.count(name))
        ]

    def _table(self) -> ScaleFree:
        options = {"least_variances": self.least_variances, "missing": True}
        return ScaleFree(1, self.columns + 1, "full", self.neighbors, self.rows, **options)

    def start(self) -> Stand:
        """Return a table as large as the bounds."""
        return Stand(self._table().start())

    def statistic(
        self, state: Stand, index: int, noise: Noise
    ) -> tuple[Stand, ComponentMoments | TableMoments | ObservedCells]:
        """Return what the next round releases: cells that are there, then moments of rows, then of scores."""
        if self.rounds[index] == CELLS:
            return state, ObservedCells(1 + self.columns)
        if self.rounds[index] == TABLE:
            table, statistic = self._table().statistic(state.table, min(index - 1, 1), noise)
            return replace(state, table=table), statistic
        mixture = state.table.mixture
        scores = MissingScores(mixture.means[0], np.linalg.cholesky(mixture.covariances[0]))
        count = _COUNT if self.rows is None else 0.0
        return state, ComponentMoments(scores, RADIUS * math.sqrt(2 + self.columns), count, 1.0, _SECOND, "full")

    def update(
        self,
        state: Stand,
        index: int,
        statistic: ComponentMoments | TableMoments | ObservedCells,
        released: Array,
        noise: float,
    ) -> Stand:
        """Move the table, or the regression alone, by what was released, less what is noise."""
        if isinstance(statistic, ObservedCells):
            rows = float(self.rows or max(released.max(), noise, 1.0))
            return replace(state, observed=released / rows)
        if self.rounds[index] == TABLE:
            moved = self._table().update(state.table, 0, statistic, released, noise)
            return replace(state, table=self._made_good(state, moved, noise * statistic.radius**2))
        return self._scored(state, statistic, released, noise)

    def _made_good(self, state: Stand, moved: Fit, noise: float) -> Fit:
        """Return the table that EM is on its way to."""
        old, new = state.table.mixture, moved.mixture
        factor = np.linalg.cholesky(old.covariances[0])
        inverse = np.linalg.inv(factor)
        shift, covariance = completed(
            inverse @ (new.means[0] - old.means[0]),
            inverse @ new.covariances[0] @ inverse.T,
            factor,
            state.observed,
            noise / (moved.rows or 1.0),
        )
        covariance = factor @ covariance @ factor.T
        least = np.maximum(0.0, self.least_variances - np.diag(covariance))
        mixture = replace(
            new,
            means=np.clip(old.means + factor @ shift, -1.0, 1.0),
            covariances=(covariance + np.diag(least + 1e-9))[None],
        )
        return replace(moved, mixture=mixture)

    def _scored(self, state: Stand, statistic: ComponentMoments, released: Array, noise: float) -> Stand:
        """Return the state with the regression moved by a step of Fisher scoring."""
        counts, sums, squares = statistic.parts(released)
        rows = float(self.rows or max(counts[0], noise / _COUNT, 1.0))
        kept, spread, bias, scatter = _clipping(self.columns, statistic.radius)
        unsure = noise * statistic.radius / rows
        information, axes = np.linalg.eigh(squares[0] / rows / spread)
        least = max(_LEAST_INFORMATION, unsure * statistic.radius / _SECOND * math.sqrt(self.columns + 2) / spread)
        inverse = (axes / np.clip(information, least, 1.0)) @ axes.T
        scores = sums[0] / rows
        # The more is missing, the shorter are expected scores, and the less of them is clipped.
        scores[-1] -= bias * min(1.0, max(0.0, squares[0, -1, -1] / rows / scatter)) ** 2
        step = inverse @ shrunk(scores / kept, unsure / kept, 1.0)[0]
        old = state.table.mixture
        mean = old.means[0].copy()
        factor = np.linalg.cholesky(old.covariances[0])
        scale = factor[-1, -1]
        mean[-1] += scale * step[0]
        factor[-1, :-1] += scale * step[1:-1]
        factor[-1, -1] *= math.exp(np.clip(step[-1] / math.sqrt(2.0), -_MOST, _MOST))
        mixture = replace(old, means=mean[None], covariances=(factor @ factor.T)[None])
        errors = (unsure / kept) ** 2 * inverse @ inverse + spread / kept**2 / rows * inverse  # of noise, and of chance
        back = np.linalg.inv(factor[:-1, :-1])
        errors = factor[-1, -1] ** 2 * back.T @ errors[1:-1, 1:-1] @ back
        return replace(state, table=replace(state.table, mixture=mixture, rows=rows), errors=errors)

    def finish(self, state: Stand) -> Stand:
        """Return the final state."""
        return state


@lru_cache(maxsize=16)
def _clipping(columns: int, radius: float) -> tuple[float, float, float, float]:
    """Return by what clipping multiplies steps of coefficients and second moments, and the scale's score's moments.

    Scores are e (1, u) and (e^2 - 1) / sqrt(2), with e and u standard normal, as in complete rows of a right model.

    Examples
    --------
    >>> [round(part, 2) + 0.0 for part in _clipping(10, 1e9)]
    [1.0, 1.0, 0.0, 1.0]
    """
    rng = np.random.default_rng(0)
    inputs = 1 + rng.chisquare(columns, 1 << 16)
    squares = rng.normal(size=1 << 16) ** 2
    squares /= squares.mean()
    scale_scores = (squares - 1) / math.sqrt(2.0)
    lengths = np.sqrt(squares * inputs + scale_scores**2)
    shortened = np.minimum(1.0, radius / lengths)
    return (
        float(np.mean((lengths < radius) * inputs) / (1 + columns)),
        float(np.mean(squares * inputs * shortened**2) / (1 + columns)),
        float(np.mean(scale_scores * shortened)),
        float(np.mean((scale_scores * shortened) ** 2)),
    )
