"""Private k-means as published: Lloyd's iteration with Laplace noise for the whole of the public bounds.

Three methods stand beside the default, ``adaptive``, under their own names:

- ``dplloyd`` (Blum et al., 2005; Su et al., 2016): one release in each iteration, of the sizes and coordinate sums of
  all clusters. Its l1 sensitivity is d + 1 for rows in [-1, 1]^d. Under linear composition each of J iterations gets
  epsilon / J, and there is no delta.
- ``dplloyd_zcdp``: the same releases, with the noise that zCDP composition allows.
- ``dpem`` (Park et al., 2017, section 7): sizes and sums are releases of their own, 2 J in all, under zCDP composition.
  Sums are of rows in the ball around the bounds, of l1 sensitivity sqrt(d). They are divided by the *noisy* sizes.

With fewer than 2 log(1 / delta) releases, zCDP composition of Laplace noise is worse than linear composition.

Every method starts from public points, unless the user gives centres. Sensitivities are twice as large when a row can
be replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.clusters.clusters import largest_first
from tacit.clusters.region import Region
from tacit.fitting.progress import Watch
from tacit.privacy import Budget, Laplace, Step
from tacit.release import Curator
from tacit.statistics import Centres, ClusterSums
from tacit.statistics.components import Array

# Names of the plan's steps.
SIZES_AND_SUMS, SIZES, SUMS = "cluster sums", "cluster counts", "cluster means"

# Default number of Lloyd iterations. The papers leave it open, and no script is recorded that chose it.
_ITERATIONS = 5


@dataclass(frozen=True)
class LloydSchedule:
    """The releases of a fit by Lloyd's iteration: public numbers, from which the plan and the fit both follow.

    Parameters
    ----------
    n_clusters, columns, iterations : int
    separate : bool
        Whether each iteration releases sizes and sums separately. Otherwise it releases them together.
    epsilon : float
        Privacy parameter of each release, under pure differential privacy.
    """

    n_clusters: int
    columns: int
    iterations: int
    separate: bool
    epsilon: float

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return self.iterations * (2 if self.separate else 1)

    def steps(self) -> list[Step]:
        """Return the plan's steps, with the noise that the composition allows."""
        numbers = {SIZES: 1, SUMS: self.columns} if self.separate else {SIZES_AND_SUMS: 1 + self.columns}
        return [
            Laplace(name, 1.0 / self.epsilon, self.iterations, self.n_clusters * each) for name, each in numbers.items()
        ]


def lloyd_schedule(
    n_clusters: int, columns: int, method: str, budget: Budget, n_iter: int | str = "auto"
) -> LloydSchedule:
    """Return the schedule of a published method.

    Parameters
    ----------
    n_clusters, columns : int
    method : {"dplloyd", "dplloyd_zcdp", "dpem"}
    budget : Budget
        What all iterations together may spend.
    n_iter : int or "auto"
        Number of iterations.
    """
    iterations = _ITERATIONS if n_iter == "auto" else int(n_iter)
    separate = method == "dpem"
    releases = iterations * (2 if separate else 1)
    epsilon = budget.epsilon / releases if method == "dplloyd" else zcdp_epsilon(budget, releases)
    return LloydSchedule(n_clusters, columns, iterations, separate, epsilon)


def fit_lloyd(
    curator: Curator,
    schedule: LloydSchedule,
    region: Region,
    centres: Array | None = None,
    watch: Watch = lambda done, total: None,
) -> Array:
    """Return private centres (n_clusters, d), largest cluster first.

    Parameters
    ----------
    curator : Curator
        Its plan must be the schedule's steps, calibrated.
    schedule : LloydSchedule
    region : Region
        The region that rows lie in.
    centres : (n_clusters, d) array, optional
        Where to start. By default, from points that cover the region.
    watch : callable, optional
        The function calls ``watch(done, total)`` after each iteration.
    """
    if centres is None:
        centres = region.halton_points(schedule.n_clusters)
    sizes = np.ones(schedule.n_clusters)
    for iteration in range(schedule.iterations):
        nearest = Centres(centres)
        if schedule.separate:
            statistic = ClusterSums(nearest, region.radius, count=1.0, mean=0.0)
            measurement = curator.measure(SIZES, statistic)
            sizes = _at_least_noise(statistic.parts(measurement.value)[0], measurement.noise)
            statistic = ClusterSums(nearest, region.radius, count=0.0, mean=1.0)
            measurement = curator.measure(SUMS, statistic)
            sums = statistic.parts(measurement.value)[1]
        else:
            statistic = ClusterSums(nearest, region.half_widths)
            measurement = curator.measure(SIZES_AND_SUMS, statistic)
            sizes, sums = statistic.parts(measurement.value)
        sizes = _at_least_noise(sizes, measurement.noise)
        centres = region.project(sums / sizes[:, None])
        watch(iteration + 1, schedule.iterations)
    return largest_first(centres, sizes)


def _at_least_noise(sizes: Array, noise: float) -> Array:
    """Return noisy cluster sizes that a sum can be divided by: at least one row, and at least the noise."""
    return np.maximum(sizes, max(1.0, noise))


def zcdp_epsilon(budget: Budget, releases: int) -> float:
    """Return the epsilon that each of so many pure releases can have under zCDP composition within a budget.

    An epsilon-private mechanism is epsilon^2 / 2 zCDP, and rho zCDP is (rho + 2 sqrt(rho log(1 / delta)), delta).

    Examples
    --------
    >>> round(zcdp_epsilon(Budget(1.0, 1e-4), 5), 4), 1.0 / 5
    (0.1015, 0.2)
    """
    log_inverse_delta = math.log(1 / budget.delta)
    root_rho = math.sqrt(log_inverse_delta + budget.epsilon) - math.sqrt(log_inverse_delta)
    return math.sqrt(2 / releases) * root_rho
