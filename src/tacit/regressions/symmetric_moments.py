"""The symmetric mixture by moments of folded rows: the default method.

As in :mod:`tacit.regressions.regression_moments`, the table is one Gaussian first. The components lie to either side
along its longest axis, which is a start good enough that EM forgets it. From then on each release has the mean of
folded rows (:class:`tacit.statistics.FoldedScores`), measured from the current estimate in units of the scale, and
their mean squared length, which tells the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import roots_hermitenorm
from scipy.stats import chi2

from tacit.fitting.engine import Noise
from tacit.fitting.shrinkage import shrunk
from tacit.mixture.scale_free import Fit, ScaleFree
from tacit.privacy import Gaussian, Relation, Step
from tacit.statistics import ComponentMoments, FoldedScores
from tacit.statistics.components import Array

LOOKING, FOLDING, FINAL = "looking for the axis", "folding", "final folding"
_SHARES = {LOOKING: 0.4, FOLDING: 1.0, FINAL: 6.0}  # of the budget, in squared signal-to-noise
_LOOKING_ROUNDS, _FOLDING_ROUNDS = 3, 2
_WEIGHTS = (0.5, 1.0, 0.5)  # of counts, means and second moments; smaller ones would save no noise
_QUANTILE = 0.9  # of the lengths of folded rows: longer ones are clipped
_LEAST_DOUBT = 0.05
_LEAST_CHANGE = 0.05  # of the scale's square in one round


@dataclass(frozen=True, eq=False)
class Folded:
    """Where a fit stands: the table as a Gaussian, and once that is known, half the way between the components."""

    table: Fit
    half: Array | None = None
    scale: float = 1.0
    doubt: float = 1.0  # how far off `half` may be, as a variance in units of the scale

    @property
    def rows(self) -> float | None:
        """How many rows there are, as far as is known."""
        return self.table.rows


@dataclass
class FoldedMoments:
    """EM for two components at origin +- half, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    columns : int
    neighbors : {"replace_one", "add_remove"}
    rows : int or None
        The number of rows, where it is public.
    origin : (d,) array
        The point between the components.
    scale : float, optional
        Standard deviation of each column within a component, where it is public.
    n_iter : int or "auto"
        Number of releases.
    begin : (d,) array, optional
        Where to start, if there is something known of `half` that is private already or public: the axis is then not
        looked for. Takes a `unit`.
    unit : float
        The scale to start from.
    """

    columns: int
    neighbors: Relation
    rows: int | None
    origin: Array
    scale: float | None = None
    n_iter: int | str = "auto"
    begin: Array | None = None
    unit: float = 1.0
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        looking = _LOOKING_ROUNDS if self.begin is None else 0
        folding = _FOLDING_ROUNDS if self.n_iter == "auto" else int(self.n_iter) - looking - 1
        if folding < 0:
            raise ValueError(
                f"n_iter is {self.n_iter}, and it takes {looking} releases to find a start and one more; pass "
                f'n_iter={looking + 1} or more, or "auto".'
            )
        self.rounds = [LOOKING] * looking + [FOLDING] * folding + [FINAL]

    def steps(self) -> list[Step]:
        """Return the plan's steps."""
        sizes = {LOOKING: self._table().steps()[0].size, FOLDING: 2 + self.columns, FINAL: 2 + self.columns}
        return [
            Gaussian(name, 1.0 / math.sqrt(share), count, sizes[name])
            for name, share in _SHARES.items()
            if (count := self.rounds.count(name))
        ]

    def _table(self) -> ScaleFree:
        return ScaleFree(1, self.columns, "full", self.neighbors, self.rows)

    def start(self) -> Folded:
        """Return a table as large as the bounds, or what is known."""
        return Folded(self._table().start(), self.begin, self.scale or self.unit)

    def statistic(self, state: Folded, index: int, noise: Noise) -> tuple[Folded, ComponentMoments]:
        """Return what the next round releases: moments of rows first, then of folded ones."""
        if self.rounds[index] == LOOKING:
            table, statistic = self._table().statistic(state.table, min(index, 1), noise)
            return replace(state, table=table), statistic
        if state.half is None:
            state = self._apart(state)
        scores = FoldedScores(self.origin, state.half, state.scale)
        return state, ComponentMoments(scores, _radius(self.columns), *_WEIGHTS, "spherical")

    def _apart(self, state: Folded) -> Folded:
        """Return the state with components to either side along the longest axis."""
        mixture = state.table.mixture
        away = mixture.means[0] - self.origin
        variances, axes = np.linalg.eigh(mixture.covariances[0] + np.outer(away, away))
        across = variances[:-1].mean() if self.columns > 1 else 0.5 * variances[-1]
        scale = self.scale or math.sqrt(max(across, 0.01 * variances[-1]))
        length = math.sqrt(max(variances[-1] - scale**2, 0.05 * variances[-1]))
        return replace(state, half=length * axes[:, -1], scale=scale)

    def update(self, state: Folded, index: int, statistic: ComponentMoments, released: Array, noise: float) -> Folded:
        """Move the components by what folded rows say, less what is noise."""
        if self.rounds[index] == LOOKING:
            return replace(state, table=self._table().update(state.table, 0, statistic, released, noise))
        counts, sums, squares = statistic.parts(released)
        rows = max(float(self.rows or counts[0]), 1.0, noise / statistic.count)
        kept = float(chi2.cdf(statistic.radius**2, self.columns + 2))
        unsure = noise * statistic.radius / statistic.mean / rows / kept
        step, _ = shrunk(sums[0] / rows / kept, unsure, state.doubt)
        half = state.half + state.scale * step
        scale = self.scale
        if scale is None:
            left = float(squares[0]) / rows / _clipped_square(self.columns) - step @ step / self.columns
            scale = _scale(float(np.linalg.norm(half)), state.scale * math.sqrt(max(left, _LEAST_CHANGE)), self.columns)
        doubt = state.doubt * unsure**2 / (state.doubt + unsure**2) + _LEAST_DOUBT
        table = replace(state.table, rows=rows)
        return Folded(table, half, scale, min(1.0, doubt * (state.scale / scale) ** 2))

    def finish(self, state: Folded) -> Folded:
        """Return the final state."""
        return state


def _radius(columns: int) -> float:
    return math.sqrt(chi2.ppf(_QUANTILE, columns))


@lru_cache(maxsize=16)
def _clipped_square(columns: int) -> float:
    """Return the mean squared length of standard normal rows clipped at the radius, times columns."""
    cut = _radius(columns) ** 2
    return float(columns * chi2.cdf(cut, columns + 2) + cut * chi2.sf(cut, columns))


def _scale(length: float, spread: float, columns: int) -> float:
    """Return the scale for which folded rows scatter with root mean square `spread` about +-`length`, per column.

    Folding makes rows scatter less where components overlap: with a = length / scale and v = a + Z along the axis, by
    E (tanh(a v) v - a)^2 there and by E tanh(a v)^2 across.

    Examples
    --------
    >>> round(_scale(10.0, 0.5, 3), 3), round(_scale(0.5, 0.4, 3), 1)
    (0.5, 0.5)
    """
    nodes, weights = roots_hermitenorm(60)
    weights = weights / weights.sum()

    def seen(scale: float) -> float:
        a = length / scale
        v = a + nodes
        t = np.tanh(a * v)
        return scale * math.sqrt(weights @ ((t * v - a) ** 2 + (columns - 1) * t**2) / columns)

    low, high = 0.3 * spread, 20 * spread
    if seen(low) >= spread or seen(high) <= spread:
        return spread
    return float(brentq(lambda scale: seen(scale) - spread, low, high))
