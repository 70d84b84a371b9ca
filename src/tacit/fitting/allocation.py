"""How a fit divides its budget: from parts of the budget to the steps of a plan.

A *part* is a squared signal-to-noise ratio: what releases with noise multipliers m_1, m_2, ... have is
1 / m_1^2 + 1 / m_2^2 + ..., twice their cost in zero-concentrated differential privacy
(:attr:`tacit.privacy.mechanisms.Step.weight`). Only proportions matter, because the plan scales the noise of all steps
by one factor until the budget is spent.

Where rows are many, noise is small whatever is done, and passes over the rows are what takes time. Then releases are of
small *shares* of the rows, each of another share. All of them together cost what one of them costs
(:class:`tacit.privacy.steps.Split`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tacit.privacy import Budget, Gaussian, Laplace, Relation, Selection, Split, Step

# How rows are dealt out into shares. benchmarks/linear_regression.py and benchmarks/logistic_regression.py measure the
# time and the accuracy that these numbers give.
MOST_SHARES = 32
_LEAST_SHARES = 8  # With fewer shares, all releases are of all rows.
_ROWS_PER_SHARE = 20_000  # Rows that a share needs at epsilon 1 with up to 20 columns.


def noise_multiplier(part: float, count: int = 1) -> float:
    """Return the noise multiplier of each of `count` Gaussian releases that have this part of the budget together.

    Examples
    --------
    >>> noise_multiplier(0.25), noise_multiplier(0.25, count=4)
    (2.0, 4.0)
    """
    return math.sqrt(count / part)


def split_budget(parts: Mapping[str, float], counts: Mapping[str, int], sizes: Mapping[str, int]) -> list[Step]:
    """Return a Gaussian step for each name in `parts`, in this order. All releases of a step share its part.

    Parameters
    ----------
    parts : dict from str to float
        The part of the budget that each step has.
    counts, sizes : dict from str to int
        How many releases a step has, and how many numbers each of them has. Steps without releases are left out.

    Examples
    --------
    >>> split_budget({"columns": 0.5, "tails": 0.5}, {"columns": 2}, {"columns": 7, "tails": 7})
    [Gaussian(name='columns', noise_multiplier=2.0, count=2, size=7)]
    """
    return [
        Gaussian(name, noise_multiplier(part, count), count, sizes[name])
        for name, part in parts.items()
        if (count := counts.get(name, 0))
    ]


def weigh_releases(
    weights: Mapping[str, float],
    counts: Mapping[str, int],
    sizes: Mapping[str, int],
    mechanism: type[Gaussian] | type[Laplace] = Gaussian,
) -> list[Step]:
    """Return steps as :func:`split_budget` does, from the part that each *single* release of a step has.

    Examples
    --------
    >>> weigh_releases({"growing": 1.0, "final": 4.0}, {"growing": 3, "final": 1}, {"growing": 5, "final": 2})
    [Gaussian(name='growing', noise_multiplier=1.0, count=3, size=5), Gaussian(name='final', noise_multiplier=0.5, \
count=1, size=2)]
    """
    return [
        mechanism(name, 1.0 / math.sqrt(weight), count, sizes[name])
        for name, weight in weights.items()
        if (count := counts.get(name, 0))
    ]


def selection_step(name: str, part: float, count: int, size: int) -> Selection:
    """Return `count` choices among `size` candidates that have this part of the budget together.

    A choice of epsilon e costs e^2 / 8 in zero-concentrated privacy, and a Gaussian release of multiplier m costs
    1 / (2 m^2). So choices with 1 / e = m / 2 cost as much as Gaussian releases of multiplier m.

    Examples
    --------
    >>> selection_step("column", 0.25, 4, 100)
    Selection(name='column', noise_multiplier=2.0, count=4, size=100)
    """
    return Selection(name, noise_multiplier(part, count) / 2, count, size)


def rescale(steps: Sequence[Step], part: float) -> list[Step]:
    """Return the steps with their noise multiplied by one factor, so that they have this part of the budget together.

    Examples
    --------
    >>> [step.noise_multiplier for step in rescale([Gaussian("first", 1.0), Gaussian("second", 1.0)], 0.5)]
    [2.0, 2.0]
    """
    factor = math.sqrt(sum(step.weight for step in steps) / part)
    return [step.scaled(factor) for step in steps]


def count_shares(rows: int | None, columns: int, budget: Budget, neighbors: Relation) -> int:
    """Return how many shares the rows are dealt out into: 1 where they are few, or their number is secret.

    Examples
    --------
    >>> count_shares(1_000_000, 10, Budget(1.0, 1e-7), "replace_one")
    32
    >>> count_shares(100_000, 10, Budget(1.0, 1e-6), "replace_one")
    1
    """
    if rows is None or neighbors != "replace_one":
        return 1
    needed = _ROWS_PER_SHARE * max(1.0, columns / 20) * max(1.0, 1.0 / budget.epsilon)
    shares = int(rows / needed)
    return min(shares, MOST_SHARES) if shares >= _LEAST_SHARES else 1


def deal(step: Step, shares: int) -> Step:
    """Return a step whose releases are of one share of the rows after the other, for the same part of the budget.

    Examples
    --------
    >>> step = deal(Gaussian("gradient", 3.0, count=9), shares=8)
    >>> step.count, step.releases, round(step.weight, 9), Gaussian("gradient", 3.0, count=9).weight
    (2, 16, 1.0, 1.0)
    """
    if shares == 1:
        return step
    each = -(-step.count // shares)
    multiplier = step.noise_multiplier * math.sqrt(each / step.count)
    return Split(shares, Gaussian(step.name, multiplier, each, step.size))
