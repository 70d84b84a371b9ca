"""Parts of a robust mean: public numbers for columns, intervals to clip to, and the releases."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import float_array
from tacit.messages import describe
from tacit.privacy import Laplace
from tacit.release import Curator, Statistic
from tacit.robust.interval import clipping_interval, trimming_interval
from tacit.robust.scales import gaussian_tail, laplace_tail
from tacit.statistics import Influence, Magnitudes, RobustSum, TrimmedSum
from tacit.tables import Domain


def column_bounds(domain: Domain, centre: Array, anywhere: bool = False) -> tuple[Array, Array]:
    """Return the public bounds of each column less `centre`, which must lie within them unless it may be anywhere."""
    if domain.unbounded:
        return np.full(domain.columns, -np.inf), np.full(domain.columns, np.inf)
    half_width = domain.scale * (math.sqrt(domain.columns) if domain.ball else 1.0)
    low, high = domain.centre - half_width - centre, domain.centre + half_width - centre
    if not anywhere and not ((low <= 0) & (high >= 0)).all():
        raise ValueError("centre must lie within the bounds; it is a guess of where values are.")
    return low, high


def intersect(low: Array, high: Array, least: Array, most: Array) -> tuple[Array, Array]:
    """Return the part of an interval that is within the bounds, or the bounds where the two do not meet."""
    inner, outer = np.maximum(low, least), np.minimum(high, most)
    apart = inner >= outer
    return np.where(apart, least, inner), np.where(apart, most, outer)


def per_column(name: str, value: Any, columns: int, positive: bool = False) -> Array:
    """Return a number, or one for each column, as an array."""
    wanted = f"{name} must be a {'positive, ' if positive else ''}finite number, or one for each column"
    array = float_array(value)
    if array is None:
        raise ValueError(f"{wanted}, and it is {describe(value)}.")
    if array.ndim > 1 or array.size not in (1, columns):
        raise ValueError(f"{wanted}, and it is {describe(value)} of another shape, with {columns} column(s).")
    if not np.isfinite(array).all() or (positive and not (array > 0).all()):
        raise ValueError(f"{wanted}, and it is {describe(value)}.")
    return np.broadcast_to(array.ravel(), (columns,)).copy()


def bounded_sum(influence: Influence, low: Array, high: Array, weight: float) -> RobustSum:
    """Return the sum of values bounded to [low, high], and a count of rows with this weight relative to them."""
    count = weight * influence.row_norm(len(low), "l2")
    return RobustSum(low / 2 + high / 2, high / 2 - low / 2, influence, count=count)


def release_mean(curator: Curator, name: str, statistic: RobustSum, n_rows: int | None) -> tuple[Array, float]:
    """Release sums; return the mean, clipped to its possible range, and the number of rows or an estimate of it."""
    count, sums = statistic.parts(curator.release(name, statistic))
    rows = float(n_rows) if n_rows is not None else max(1.0, count or 0.0)
    return statistic.centre + statistic.half_width * np.clip(sums / rows, -1.0, 1.0), rows


def find_interval(
    curator: Curator, name: str, then: str, unit: Statistic, columns: int, trim: float | None = None
) -> tuple[Array, Array]:
    """Release magnitudes; return where to clip each column, or to trim it, for the mean that step `then` releases."""
    statistic = Magnitudes(columns)
    count_noise, sum_noise = noise_deviation(curator, name, statistic), noise_deviation(curator, then, unit)
    tail = partial(laplace_tail if isinstance(curator.plan.steps[0], Laplace) else gaussian_tail, count_noise)
    counts = statistic.parts(curator.release(name, statistic))
    if trim is not None:
        low, high = np.array([trimming_interval(column, count_noise, tail, trim) for column in counts]).T
    else:
        low, high = np.array([clipping_interval(column, count_noise, tail, sum_noise) for column in counts]).T
    return low, high


def noise_deviation(curator: Curator, name: str, statistic: Statistic) -> float:
    """Return the standard deviation of the noise in a release."""
    step = next(step for step in curator.plan.steps if step.name == name)
    return curator.noise(name, statistic) * (math.sqrt(2) if isinstance(step.mechanism, Laplace) else 1.0)


def release_trimmed_mean(curator: Curator, name: str, statistic: TrimmedSum) -> tuple[Array, Array]:
    """Release the sum of values between the ends; return their mean, and an estimate of its noise deviation."""
    counts, sums = statistic.parts(curator.release(name, statistic))
    counts = np.maximum(counts, 1.0)
    means = np.clip(sums / counts, -1.0, 1.0)
    noise = noise_deviation(curator, name, statistic) / counts * np.sqrt(1 + (means / statistic.count) ** 2)
    return statistic.middle + statistic.half * means, statistic.half * noise
