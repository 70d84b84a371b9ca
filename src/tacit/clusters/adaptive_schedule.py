"""The schedule of adaptive k-means: which releases it makes, of how many clusters, and how they divide the budget.

A schedule holds public numbers alone. The plan's steps come from it and the fit walks through it, so that the two
cannot disagree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tacit.arrays import Array
from tacit.fitting.allocation import weigh_releases
from tacit.privacy import Gaussian, Laplace, Split, Step
from tacit.release import Measurement
from tacit.statistics import Centres, ClusterMoments, numbers_in_second_moment

# Names of the plan's steps.
GROWING, SUMMARY, REFINING = "growing moments", "summary moments", "refining moments"

# The constants below were chosen on the seven shapes of generated tables in benchmarks/kmeans.py (blobs,
# overlapping, unequal, heavy tails, elongated, narrow, no clusters). Where a constant has two values, the first (False)
# is for Gaussian noise and the second (True) for the Laplace noise of a pure budget. With Laplace noise the cost grows
# in proportion to the number of releases, so a pure fit makes fewer of them.

# Part of the budget of one release of each step, as squared signal-to-noise ratio.
_RELEASE_PARTS = {GROWING: 1.0, SUMMARY: 2.0, REFINING: 2.0}
# The same for growing releases when each is of its own part of the rows: all of them then cost as much as one.
_DEALT_PART = 10.0
# Weights of cluster sizes, means and second moments within a release.
MOMENT_WEIGHTS = {GROWING: (0.5, 1.0, 1.0), SUMMARY: (0.5, 1.0, 1.0), REFINING: (0.5, 1.0, 0.5)}

# Number of clusters in the summary: a multiple of those asked for, and at least as many as show a table's shape.
_SUMMARY_CLUSTERS = 2
_LEAST_SUMMARY_CLUSTERS = {False: 24, True: 16}
# The number of clusters grows by at most this factor from one release to the next.
_GROWTH_FACTOR = {False: 3.5, True: 6.5}

# The number of refining releases is 1, and one more for each threshold that epsilon * rows / columns reaches.
_REFINING_THRESHOLDS = {False: (1.2e3, 1.2e3, 8e3), True: (1.2e3, 8e3)}
# Number of rows that the thresholds assume when it is secret.
_ASSUMED_ROWS = 100_000
# Number of refining releases from given centres. It is larger because the first releases must find the variances.
_REFINING_FROM_CENTRES = 5

# Rows are many, and growing releases get parts of them, from this number of rows on,
_MANY_ROWS = 50_000
# and from this number of rows for each cluster, times sqrt(columns) / epsilon.
_MANY_ROWS_PER_CLUSTER = 500


@dataclass(frozen=True)
class AdaptiveSchedule:
    """The releases of an adaptive fit: public numbers, from which the plan and the fit both follow.

    Parameters
    ----------
    n_clusters, columns : int
    n_rows : int or None
        Number of rows, where it is public.
    growing_sizes : tuple of int
        Largest number of clusters in each release while clusters grow. The last of them is the summary. Empty when the
        fit starts from given centres.
    refining_rounds : int
        Number of releases that follow, of `n_clusters` clusters each.
    parts : int
        Number of parts that the rows are dealt into for the growing releases before the summary. With 1, each of these
        releases is of all rows.
    pure : bool
        Whether noise is Laplace, for a budget without delta. Otherwise it is Gaussian.
    """

    n_clusters: int
    columns: int
    n_rows: int | None
    growing_sizes: tuple[int, ...]
    refining_rounds: int
    parts: int
    pure: bool

    @property
    def growing_rounds(self) -> list[tuple[str, int]]:
        """The step and the largest number of clusters of each release while clusters grow."""
        names = [GROWING] * (len(self.growing_sizes) - 1) + [SUMMARY]
        return list(zip(names, self.growing_sizes))

    @property
    def n_releases(self) -> int:
        """Number of releases."""
        return len(self.growing_sizes) + self.refining_rounds

    def steps(self) -> list[Step]:
        """Return the plan's steps, with noise relative to each other."""
        counts, sizes = {REFINING: self.refining_rounds}, {REFINING: self.n_clusters * self._numbers(REFINING)}
        for name, most in self.growing_rounds:  # The last release of a step has the most clusters.
            counts[name], sizes[name] = counts.get(name, 0) + 1, most * self._numbers(name)
        if self.parts == 1:
            return weigh_releases(_RELEASE_PARTS, counts, sizes, Laplace if self.pure else Gaussian)
        growing, *others = weigh_releases(_RELEASE_PARTS | {GROWING: _DEALT_PART}, counts | {GROWING: 1}, sizes)
        return [Split(self.parts, growing), *others]

    def _numbers(self, step: str) -> int:
        """Return how many numbers a release of the step has for each cluster."""
        return 1 + self.columns + numbers_in_second_moment(self._covariance_type(step), self.columns)

    def statistic(self, step: str, centres: Array, radii: Array) -> ClusterMoments:
        """Return what a release of the step sums, for clusters with these centres (K, d) and clip radii (K,)."""
        return ClusterMoments(Centres(centres), radii, *MOMENT_WEIGHTS[step], self._covariance_type(step))

    def over_all_rows(self, step: str, measurement: Measurement) -> Measurement:
        """Return the sum over all rows as estimated from a release of the step, with the noise's standard deviation."""
        value = self.parts_for(step) * measurement.value
        return Measurement(value, self.noise_deviation(step, measurement.noise))

    def noise_deviation(self, step: str, scale: float) -> float:
        """Return the standard deviation of the noise on an estimated sum over all rows.

        `scale` is the scale of the noise on what is released. The standard deviation of Laplace noise is sqrt(2) times
        its scale. A sum over one part of the rows is multiplied by the number of parts.
        """
        return self.parts_for(step) * (scale * math.sqrt(2.0) if self.pure else scale)

    def parts_for(self, step: str) -> int:
        """Return the number of parts of the rows, one of which a release of the step sums over."""
        return self.parts if step == GROWING else 1

    def _covariance_type(self, step: str) -> Literal["full", "diag", "spherical"]:
        if step == REFINING:
            return "spherical"
        return "diag" if self.pure else "full"  # The l1 norm of a full matrix is too large for Laplace noise.


def adaptive_schedule(
    n_clusters: int,
    columns: int,
    n_rows: int | None = None,
    *,
    epsilon: float = 1.0,
    pure: bool = False,
    n_iter: int | str = "auto",
    grow: bool = True,
) -> AdaptiveSchedule:
    """Return the schedule of an adaptive fit.

    Parameters
    ----------
    n_clusters, columns : int
    n_rows : int or None
        Number of rows, where it is public.
    epsilon : float
        Of the budget. A large one pays for more releases.
    pure : bool
        Whether the budget has no delta.
    n_iter : int or "auto"
        Number of releases.
    grow : bool
        Whether clusters grow from one. Otherwise the fit starts from given centres.

    Examples
    --------
    >>> schedule = adaptive_schedule(5, columns=2, n_rows=1000)
    >>> schedule.growing_sizes, schedule.refining_rounds
    ((1, 3, 8, 24), 1)
    """
    growing = _growing_sizes(n_clusters, pure, n_iter) if grow else ()
    if n_iter != "auto":
        refining = int(n_iter) - len(growing)
    elif grow:
        signal = epsilon * (n_rows or _ASSUMED_ROWS) / columns
        refining = 1 + sum(signal >= threshold for threshold in _REFINING_THRESHOLDS[pure])
    else:
        refining = _REFINING_FROM_CENTRES
    if refining < 1:
        raise ValueError(
            f"n_iter is {n_iter}, and {n_clusters} cluster(s) take {len(growing)} release(s) to grow and "
            f'one or more to refine; pass n_iter={len(growing) + 1} or more, "auto", or starting centres as init.'
        )
    many = max(_MANY_ROWS, _MANY_ROWS_PER_CLUSTER / epsilon * n_clusters * math.sqrt(columns))
    # The growing releases together see half of the rows. A secret number of rows is never counted as many.
    parts = max(1, 2 * (len(growing) - 1)) if (n_rows or 0) >= many and not pure else 1
    return AdaptiveSchedule(n_clusters, columns, n_rows, growing, refining, parts, pure)


def _growing_sizes(n_clusters: int, pure: bool, n_iter: int | str) -> tuple[int, ...]:
    """Return numbers of clusters from 1 to that of the summary, in nearly equal proportions."""
    if n_clusters == 1:
        return (1,)
    most = max(_LEAST_SUMMARY_CLUSTERS[pure], _SUMMARY_CLUSTERS * n_clusters)
    splits = math.ceil(math.log(most) / math.log(_GROWTH_FACTOR[pure]))
    if n_iter != "auto":
        splits = min(splits, max(1, int(n_iter) - 2))
    return tuple(round(most ** (index / splits)) for index in range(splits + 1))
