"""The releases of a robust mean, and the estimates that follow from them."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Laplace
from tacit.release import Curator, Statistic
from tacit.robust.interval import clipping_interval, trimming_interval
from tacit.robust.scales import gaussian_tail, laplace_tail
from tacit.statistics import Influence, Magnitudes, RobustSum, TrimmedSum


def sum_between(influence: Influence, low: Array, high: Array, weight: float) -> RobustSum:
    """Return the statistic of values bounded to [low, high], with a count of rows that weighs `weight` rows."""
    count = weight * influence.row_norm(len(low), "l2")
    return RobustSum(low / 2 + high / 2, high / 2 - low / 2, influence, count=count)


def release_mean(curator: Curator, name: str, statistic: RobustSum, n_rows: int | None) -> tuple[Array, float]:
    """Release sums; return the mean, brought inside the interval, and the number of rows, or an estimate of it."""
    count, sums = statistic.parts(curator.release(name, statistic))
    rows = float(n_rows) if n_rows is not None else max(1.0, count or 0.0)
    return statistic.centre + statistic.half_width * np.clip(sums / rows, -1.0, 1.0), rows


def find_interval(
    curator: Curator, name: str, then: str, unit: Statistic, columns: int, trim: float | None = None
) -> tuple[Array, Array]:
    """Release magnitudes; return where to clip or trim each column, for the mean that the step `then` releases."""
    statistic = Magnitudes(columns)
    count_noise, noise = noise_deviation(curator, name, statistic), noise_deviation(curator, then, unit)
    tail = partial(laplace_tail if isinstance(curator.plan.steps[0], Laplace) else gaussian_tail, count_noise)
    counts = statistic.parts(curator.release(name, statistic))
    if trim is not None:
        low, high = np.array([trimming_interval(column, count_noise, tail, trim) for column in counts]).T
    else:
        low, high = np.array([clipping_interval(column, count_noise, tail, noise) for column in counts]).T
    return low, high


def noise_deviation(curator: Curator, name: str, statistic: Statistic) -> float:
    """Return the standard deviation of the noise in a release: sqrt(2) times the scale of Laplace noise."""
    step = next(step for step in curator.plan.steps if step.name == name)
    return curator.noise(name, statistic) * (math.sqrt(2) if isinstance(step.mechanism, Laplace) else 1.0)


def release_trimmed_mean(curator: Curator, name: str, statistic: TrimmedSum) -> tuple[Array, Array]:
    """Release the values between the ends; return their mean, and about the standard deviation of its noise."""
    counts, sums = statistic.parts(curator.release(name, statistic))
    counts = np.maximum(counts, 1.0)
    means = np.clip(sums / counts, -1.0, 1.0)
    noise = noise_deviation(curator, name, statistic) / counts * np.sqrt(1 + (means / statistic.count) ** 2)
    return statistic.middle + statistic.half * means, statistic.half * noise
