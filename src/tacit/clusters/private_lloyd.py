"""Private k-means as published: Lloyd's iteration with Laplace noise sized for the public bounds.

Three methods, kept under their own names beside the default, ``adaptive``:

- ``dplloyd`` (Blum et al., 2005; Su et al., 2016): counts and coordinate sums of all clusters in one release an
  iteration, of l1 sensitivity d + 1 for rows in [-1, 1]^d. Linear composition: epsilon / J each, and no delta.
- ``dplloyd_zcdp``: the same, with the noise that zCDP composition allows.
- ``dpem`` (Park et al., 2017, section 7): counts and means are mechanisms of their own, 2 J of them by zCDP
  composition. Sums are of rows in the ball around the bounds, of l1 sensitivity sqrt(d), and divided by the *noisy*
  count.

For so few as 2 log(1 / delta) mechanisms zCDP composition of Laplace noise is worse than linear composition.

All start from public points, unless centres are given. Sensitivities are doubled for a replaced row. The number of
iterations, which the papers leave open, is 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tacit.clusters.clusters import Clusters, round_covariances
from tacit.clusters.coordinates import Extent
from tacit.fitting.engine import Noise
from tacit.privacy import Budget, Laplace, Step
from tacit.statistics import Centres, ClusterSums
from tacit.statistics.components import Array

ITERATIONS = 5
_SUMS, _COUNTS, _MEANS = "cluster sums", "cluster counts", "cluster means"


@dataclass
class PrivateLloyd:
    """Lloyd's iteration under linear or zCDP composition, run by :func:`tacit.fitting.engine.run`.

    Parameters
    ----------
    n_clusters : int
    extent : Extent
        Where rows lie.
    method : {"dplloyd", "dplloyd_zcdp", "dpem"}
    budget : Budget
        What all iterations together may spend.
    n_iter : int or "auto"
        Number of iterations.
    centres : (k, d) array, optional
        Where to start; without it, from points spread over the bounds.
    """

    n_clusters: int
    extent: Extent
    method: str
    budget: Budget
    n_iter: int | str = "auto"
    centres: Array | None = None
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        iterations = ITERATIONS if self.n_iter == "auto" else int(self.n_iter)
        self.rounds = ([_COUNTS, _MEANS] if self.method == "dpem" else [_SUMS]) * iterations

    def steps(self) -> list[Step]:
        """Return one step, or two, with the noise the composition found."""
        each = self.budget.epsilon / len(self.rounds)
        if self.method != "dplloyd":
            each = zcdp_share(self.budget, len(self.rounds))
        columns = {_SUMS: 1 + self.extent.columns, _COUNTS: 1, _MEANS: self.extent.columns}
        return [
            Laplace(name, 1.0 / each, self.rounds.count(name), self.n_clusters * columns[name])
            for name in dict.fromkeys(self.rounds)
        ]

    def start(self) -> Clusters:
        """Return the given centres, or public ones."""
        centres = self.extent.spread_points(self.n_clusters) if self.centres is None else self.centres
        spreads = np.full(self.n_clusters, self.extent.radius**2)  # not estimated: the papers do without
        return Clusters(centres, np.ones(self.n_clusters), round_covariances(spreads, self.extent.columns))

    def statistic(self, state: Clusters, index: int, noise: Noise) -> tuple[Clusters, ClusterSums]:
        """Return counts, sums or both, at the centres the iteration began with."""
        name, centres = self.rounds[index], Centres(state.centres)
        if name == _SUMS:
            return state, ClusterSums(centres, self.extent.half_widths)
        return state, ClusterSums(centres, self.extent.radius, float(name == _COUNTS), float(name == _MEANS))

    def update(self, state: Clusters, index: int, statistic: ClusterSums, released: Array, noise: float) -> Clusters:
        """Keep noisy counts, divide noisy sums by them."""
        counts, sums = statistic.parts(released)
        if not len(counts):
            counts = state.counts
        counts = np.maximum(counts, max(1.0, noise / max(statistic.count, statistic.mean)))  # to be divided by
        centres = self.extent.inside(sums / counts[:, None]) if len(sums) else state.centres
        return Clusters(centres, counts, state.covariances)

    def finish(self, state: Clusters) -> Clusters:
        """Return the clusters, largest first."""
        return state.by_size()


def zcdp_share(budget: Budget, mechanisms: int) -> float:
    """Return the epsilon of each of so many pure mechanisms that zCDP composition allows within a budget.

    An epsilon-private mechanism is epsilon^2 / 2 zCDP, and rho zCDP is (rho + 2 sqrt(rho log(1 / delta)), delta).

    Examples
    --------
    >>> round(zcdp_share(Budget(1.0, 1e-4), 5), 4), 1.0 / 5
    (0.1015, 0.2)
    """
    least = math.log(1 / budget.delta)
    root = math.sqrt(least + budget.epsilon) - math.sqrt(least)
    return math.sqrt(2 / mechanisms) * root
