"""Private k-means as published: Lloyd's iteration with Laplace noise for the whole of the public bounds.

:class:`DPLloyd` releases sizes and coordinate sums of all clusters at once in each iteration. :class:`DPEMLloyd`
releases sizes and sums separately. Both start from public points, unless the user gives centres. Sensitivities are
twice as large when a row can be replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.arrays import Array
from tacit.clusters.clusters import largest_first
from tacit.clusters.region import Region
from tacit.fitting.parameters import check_count, check_word
from tacit.fitting.progress import Watch
from tacit.fitting.published import PublishedMethod, keep_stated_noise
from tacit.privacy import Budget, Laplace, Plan, Relation, Step
from tacit.published.statistics import ClusterSums
from tacit.release import Curator
from tacit.statistics import Centres

# Names of the plan's steps.
SIZES_AND_SUMS, SIZES, SUMS = "cluster sums", "cluster counts", "cluster means"


class _LloydMethod(PublishedMethod):
    """What the two methods share."""

    def fit_centres(self, *arguments: Any) -> Array:
        """Return private centres, as :func:`fit_lloyd` does."""
        return fit_lloyd(*arguments)


@dataclass(frozen=True, kw_only=True)
class DPLloyd(_LloydMethod):
    """One release in each iteration, of the sizes and coordinate sums of all clusters.

    Blum, Dwork, McSherry and Nissim (2005); Su, Cao, Li, Bertino and Jin (2016). The l1 sensitivity is d + 1 for rows
    in [-1, 1]^d.

    Parameters
    ----------
    composition : {"linear", "zcdp"}, default "linear"
        How the budget is divided among iterations. With "linear", each of J iterations gets epsilon / J, and the fit
        spends no delta. With fewer than 2 log(1 / delta) iterations, "zcdp" is worse than "linear".
    n_iter : int, default 5
        Number of iterations. The papers leave it open.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(10_000, 1))
    >>> method = tacit.published.DPLloyd(n_iter=3)
    >>> tacit.KMeans(2, method=method, bounds=(-2, 2), random_state=0).fit(X).cluster_centers_.round(1)
    array([[ 1.],
           [-1.]])
    """

    composition: Literal["linear", "zcdp"] = "linear"
    n_iter: int = 5

    def __post_init__(self) -> None:
        check_word("composition", self.composition, ("linear", "zcdp"))
        check_count("n_iter", self.n_iter)

    @property
    def needs_delta(self) -> bool:  # type: ignore[override]
        """Whether the fit spends a delta."""
        return self.composition != "linear"

    def schedule(self, n_clusters: int, columns: int, budget: Budget) -> LloydSchedule:
        """Return the releases of a fit that spends this budget."""
        linear = self.composition == "linear"
        epsilon = budget.epsilon / self.n_iter if linear else zcdp_epsilon(budget, self.n_iter)
        return LloydSchedule(n_clusters, columns, self.n_iter, False, epsilon)

    def plan(self, steps: list[Step], budget: Budget, neighbors: Relation) -> Plan:
        """Return the plan; linear composition spends epsilon and no delta."""
        if self.composition == "linear":
            return super().plan(steps, Budget(budget.epsilon, 0.0), neighbors)
        return keep_stated_noise(steps, budget, neighbors)


@dataclass(frozen=True, kw_only=True)
class DPEMLloyd(_LloydMethod):
    """Two releases in each iteration, of sizes and of sums, under zCDP composition.

    Park, Foulds, Chaudhuri and Welling (2017), section 7. Sums are of rows in the ball around the bounds, of l1
    sensitivity sqrt(d). They are divided by the *noisy* sizes.

    Parameters
    ----------
    n_iter : int, default 5
        Number of iterations.
    """

    n_iter: int = 5

    def __post_init__(self) -> None:
        check_count("n_iter", self.n_iter)

    def schedule(self, n_clusters: int, columns: int, budget: Budget) -> LloydSchedule:
        """Return the releases of a fit that spends this budget."""
        return LloydSchedule(n_clusters, columns, self.n_iter, True, zcdp_epsilon(budget, 2 * self.n_iter))

    def plan(self, steps: list[Step], budget: Budget, neighbors: Relation) -> Plan:
        """Return the plan, with the paper's noise where exact accounting admits it."""
        return keep_stated_noise(steps, budget, neighbors)


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
    """Return the epsilon that each of `releases` pure releases can have under zCDP composition within a budget.

    An epsilon-private mechanism is epsilon^2 / 2 zCDP, and rho zCDP is (rho + 2 sqrt(rho log(1 / delta)), delta).

    Examples
    --------
    >>> round(zcdp_epsilon(Budget(1.0, 1e-4), 5), 4), 1.0 / 5
    (0.1015, 0.2)
    """
    log_inverse_delta = math.log(1 / budget.delta)
    root_rho = math.sqrt(log_inverse_delta + budget.epsilon) - math.sqrt(log_inverse_delta)
    return math.sqrt(2 / releases) * root_rho
