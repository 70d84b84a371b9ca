"""What a robust mean releases, and what is made of it."""

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
    """Return the statistic, with a count of rows that weighs `weight` times as much as their values can."""
    count = weight * influence.row_norm(len(low), "l2")
    return RobustSum(low / 2 + high / 2, high / 2 - low / 2, influence, count=count)


def released_mean(curator: Curator, name: str, statistic: RobustSum, n_rows: int | None) -> tuple[Array, float]:
    """Release sums and return the mean, brought inside of where it can be, and how many rows there were, about."""
    count, sums = statistic.parts(curator.release(name, statistic))
    rows = float(n_rows) if n_rows is not None else max(1.0, count or 0.0)
    return statistic.centre + statistic.half_width * np.clip(sums / rows, -1.0, 1.0), rows


def found_interval(
    curator: Curator, name: str, then: str, unit: Statistic, columns: int, trim: float | None = None
) -> tuple[Array, Array]:
    """Release magnitudes and return where to clip each column, or to trim it, for the mean released as `then`."""
    statistic = Magnitudes(columns)
    around, noise = noise_of(curator, name, statistic), noise_of(curator, then, unit)
    tail = partial(laplace_tail if isinstance(curator.plan.steps[0], Laplace) else gaussian_tail, around)
    counts = statistic.parts(curator.release(name, statistic))
    if trim is not None:
        low, high = np.array([trimming_interval(column, around, tail, trim) for column in counts]).T
    else:
        low, high = np.array([clipping_interval(column, around, tail, noise) for column in counts]).T
    return low, high


def noise_of(curator: Curator, name: str, statistic: Statistic) -> float:
    """Return the standard deviation of the noise in a release."""
    step = next(step for step in curator.plan.steps if step.name == name)
    return curator.noise(name, statistic) * (math.sqrt(2) if isinstance(step.mechanism, Laplace) else 1.0)


def trimmed_mean(curator: Curator, name: str, statistic: TrimmedSum) -> tuple[Array, Array]:
    """Release what lies between the ends; return its mean, and the standard deviation of the noise in that, about."""
    counts, sums = statistic.parts(curator.release(name, statistic))
    counts = np.maximum(counts, 1.0)
    shares = np.clip(sums / counts, -1.0, 1.0)
    noise = noise_of(curator, name, statistic) / counts * np.sqrt(1 + (shares / statistic.count) ** 2)
    return statistic.middle + statistic.half * shares, statistic.half * noise
