"""Adaptive k-means: each release measures a cluster's rows from its current centre, in units of its own clip radius.

Noise that is sized for the whole of the public bounds would drown clusters that are small beside them. So each release
measures rows from their nearest centre and clips them at a radius that shrinks with the cluster. A row is in one
cluster only, so a release of many clusters costs as much as a release of one.

The starting centres decide what k-means finds, and centres taken from rows are a leak. So clusters grow:

    one release of the whole table as one cluster
    until there are twice as many clusters as asked for, and 24 at least:
        split clusters along their longest axes, into up to 3.5 times as many
        one release of all of them: sizes, centres and covariances
    group the last of these, a private summary of the table, by ordinary k-means from many starts, at no cost
    for each refining round, of which there are more where rows and budget pay for them:
        one release of all clusters: sizes, centres and variances

Where rows are many, the releases before the summary are of separate parts of the rows, which cost as much as one.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tacit.arrays import Array
from tacit.clusters.adaptive_schedule import GROWING, MOMENT_WEIGHTS, REFINING, AdaptiveSchedule
from tacit.clusters.cluster_covariances import shrink_to_spherical, within_cluster_variances
from tacit.clusters.clusters import Clusters, FoundCentres, spherical_covariances
from tacit.clusters.region import Region
from tacit.fitting.clipping import radius_within_noise
from tacit.fitting.progress import Watch
from tacit.fitting.shrinkage import shrink
from tacit.release import Curator, Measurement
from tacit.statistics import ClusterMoments, numbers_in_second_moment

# The constants below were chosen on the seven shapes of generated tables in benchmarks/kmeans.py.

# Clip radius while clusters grow, in root mean square distances from the centre. It is wide enough for clipped rows to
# show the longest axis, along which clusters are split.
_GROWING_RADIUS = 1.3
# The same while clusters are refined, at least and at most. Little noise allows a wide radius, which clips nobody and
# leaves centres unbiased. Much noise wants a narrow one.
_LEAST_REFINING_RADIUS, _MOST_REFINING_RADIUS = 1.1, 3.0
# The refining radius is the one at which a mean of squares would have this much noise.
_MOST_SQUARE_NOISE = 0.1
# Over-relaxation: refining rounds but the last move centres this many times as far as a Lloyd iteration would, because
# Lloyd's steps are too short where clusters touch.
_OVER_RELAXATION = 1.8
# A variance stands out if it is this many standard deviations of its noise.
_CLEAR = 2.0
# Smallest clip radius, in radii of the region. It only keeps radii positive.
_LEAST_RADIUS = 1e-6


def fit_adaptive(
    curator: Curator,
    schedule: AdaptiveSchedule,
    region: Region,
    centres: Array | None = None,
    watch: Watch = lambda done, total: None,
) -> FoundCentres:
    """Return private centres (n_clusters, d), largest cluster first, and how sure they are.

    Parameters
    ----------
    curator : Curator
        Its plan must be the schedule's steps, calibrated.
    schedule : AdaptiveSchedule
    region : Region
        The region that rows lie in.
    centres : (n_clusters, d) array, optional
        Where to start, for a schedule without growing rounds.
    watch : callable, optional
        The function calls ``watch(done, total)`` after each release.
    """
    clusters = _whole_region(region) if centres is None else _clusters_at(centres, region, schedule.n_rows)

    for index, (step, most) in enumerate(schedule.growing_rounds):
        if index == 0:
            radii = np.full(1, region.radius)
        else:
            noise = _expected_noise(curator, schedule, step, clusters)
            # Rows in a very small part of the region are measured as one cluster once more, with a smaller radius.
            once_more = index == 1 and step == GROWING and _is_variance_noise(clusters, noise, region)
            if not once_more:
                clusters = clusters.split(min(most, _affordable_number(clusters, noise)))
            radii = _clip_radii(_GROWING_RADIUS, clusters, region)
        clusters = replace(clusters, centres=region.project(clusters.centres))
        statistic = schedule.statistic(step, clusters.centres, radii)
        moments = schedule.over_all_rows(step, curator.measure(step, statistic))
        clusters = _estimate_clusters(clusters, statistic, moments, schedule.n_rows, region)
        watch(index + 1, schedule.n_releases)

    noise = _expected_noise(curator, schedule, REFINING, clusters)
    if centres is None:
        clusters = clusters.regroup(schedule.n_clusters)
    size_ratios, centre_errors = np.full((2, clusters.number), np.nan)
    for index in range(schedule.refining_rounds):
        radii = _clip_radii(_refining_factors(clusters, noise), clusters, region)
        clusters = replace(clusters, centres=region.project(clusters.centres))
        statistic = schedule.statistic(REFINING, clusters.centres, radii)
        moments = schedule.over_all_rows(REFINING, curator.measure(REFINING, statistic))
        stride = 1.0 if index == schedule.refining_rounds - 1 else _OVER_RELAXATION
        clusters = _estimate_clusters(clusters, statistic, moments, schedule.n_rows, region, stride)
        noise = moments.noise  # The next release has the same.
        size_ratios = clusters.sizes * statistic.count / noise
        off_by = noise * radii / statistic.mean / clusters.sizes * math.sqrt(region.columns)
        centre_errors = off_by / np.sqrt(np.maximum(clusters.variances, 1e-300))
        watch(len(schedule.growing_sizes) + index + 1, schedule.n_releases)
    order = np.argsort(-clusters.sizes, kind="stable")
    return FoundCentres(clusters.centres[order], size_ratios[order], centre_errors[order])


def _whole_region(region: Region) -> Clusters:
    """Return one cluster of rows spread over all of the region."""
    return Clusters(np.zeros((1, region.columns)), np.ones(1), np.diag(region.half_widths**2 / 3)[None])


def _clusters_at(centres: Array, region: Region, n_rows: int | None) -> Clusters:
    """Return clusters at given centres that divide the rows and the volume of the region equally."""
    number, columns = centres.shape
    variances = np.full(number, np.sum(region.half_widths**2) / 3 / number ** (2 / columns))
    sizes = np.full(number, (n_rows or number) / number)
    return Clusters(centres, sizes, spherical_covariances(variances, columns))


def _expected_noise(curator: Curator, schedule: AdaptiveSchedule, step: str, clusters: Clusters) -> float:
    """Return the standard deviation of the noise that a release will have on each number, as for all rows.

    It does not depend on the clip radii, because what is released is in units of them.
    """
    statistic = schedule.statistic(step, clusters.centres, np.ones(clusters.number))
    return schedule.noise_deviation(step, curator.noise(step, statistic))


def _is_variance_noise(whole: Clusters, noise: float, region: Region) -> bool:
    """Whether the variance of the whole table does not stand out of the noise of the release that measured it."""
    deviation = noise / MOMENT_WEIGHTS[GROWING][2] / whole.sizes.sum() * region.radius**2
    return bool(whole.variances[0] < _CLEAR * deviation)


def _affordable_number(clusters: Clusters, noise: float) -> int:
    """Return the largest number of clusters of equal size whose centres have less noise than a clip radius each."""
    columns = clusters.centres.shape[1]
    return max(clusters.number, int(clusters.sizes.sum() / (noise * math.sqrt(columns))))


def _clip_radii(factors: Array | float, clusters: Clusters, region: Region) -> Array:
    """Return clip radii (K,) in root mean square distances from the centre, within the limits of the region."""
    radii = factors * np.sqrt(clusters.variances)
    return np.clip(radii, _LEAST_RADIUS * region.radius, region.radius)


def _refining_factors(clusters: Clusters, noise: float) -> Array:
    """Return refining clip radii (K,), in root mean square distances: narrow where the noise on a centre is large."""
    columns = clusters.centres.shape[1]
    centre_noise = noise * math.sqrt(columns) / np.maximum(clusters.sizes, 1.0)
    return radius_within_noise(centre_noise, _MOST_SQUARE_NOISE, 2, _LEAST_REFINING_RADIUS, _MOST_REFINING_RADIUS)


def _estimate_clusters(
    clusters: Clusters,
    statistic: ClusterMoments,
    moments: Measurement,
    n_rows: int | None,
    region: Region,
    stride: float = 1.0,
) -> Clusters:
    """Return new estimates of clusters from the noisy moments of their rows.

    Parameters
    ----------
    clusters : Clusters
        The clusters that rows were measured from.
    statistic : ClusterMoments
        What was measured.
    moments : Measurement
        Its noisy sum over all rows, with the standard deviation of the noise.
    n_rows : int or None
        Number of rows, where it is public.
    region : Region
    stride : float
        Centres move this many times as far as the means of their rows are away from them.
    """
    radii = statistic.radii
    sizes, sums, second_moments = statistic.parts(moments.value)
    sizes = _positive_sizes(sizes, n_rows, moments.noise / statistic.count)
    mean_noise = moments.noise * radii / statistic.mean / sizes
    prior_variances = clusters.variances / region.columns
    means = sums / sizes[:, None]
    shifts = np.stack([shrink(*cluster)[0] for cluster in zip(means, mean_noise, prior_variances)])
    second_noise = moments.noise * radii**2 / statistic.second / sizes
    covariances = _covariances(clusters, statistic, second_moments, sizes, shifts, second_noise, region)
    return Clusters(region.project(clusters.centres + stride * shifts), sizes, covariances)


def _positive_sizes(sizes: Array, n_rows: int | None, noise: float) -> Array:
    """Return cluster sizes that are at least 1 and at least the noise; a public number of rows corrects their sum."""
    if n_rows is not None:
        sizes = sizes + (n_rows - sizes.sum()) / len(sizes)
    return np.maximum(sizes, max(1.0, noise))


def _covariances(
    clusters: Clusters,
    statistic: ClusterMoments,
    second_moments: Array,
    sizes: Array,
    shifts: Array,
    noise: Array,
    region: Region,
) -> Array:
    """Return covariances (K, d, d) about the new centres, from summed second moments about the old ones."""
    columns, most = region.columns, region.radius**2
    if statistic.covariance_type == "spherical":
        variances = within_cluster_variances(clusters, second_moments / sizes, statistic.radii, shifts, noise, most)
        return spherical_covariances(variances, columns)
    if statistic.covariance_type == "diag":
        second_moments = second_moments[:, :, None] * np.eye(columns)
    second_moments = second_moments / sizes[:, None, None]
    traces = np.einsum("kii->k", second_moments)
    variances = within_cluster_variances(clusters, traces, statistic.radii, shifts, noise, most)
    about_means = second_moments - shifts[:, :, None] * shifts[:, None, :]
    numbers = numbers_in_second_moment(statistic.covariance_type, columns)
    return shrink_to_spherical(about_means, variances, noise, numbers)
