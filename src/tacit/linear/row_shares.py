"""Rows dealt out: where there are many, all releases but the last are of small shares of them, each of another one.

Noise is small then whatever is done, and passes over the rows are what takes time. Releases of shares cost together
what one of them costs (:class:`tacit.privacy.steps.Split`).
"""

from __future__ import annotations

import math

from tacit.privacy import Budget, Gaussian, Relation, Split, Step

MOST_SHARES = 32
_LEAST_SHARES = 8  # With fewer shares, all releases are of all rows.
_ROWS_PER_SHARE = 20_000  # Rows that a share needs at epsilon 1 with up to 20 columns.


def shares_of(rows: int | None, columns: int, budget: Budget, neighbors: Relation) -> int:
    """Return how many shares the rows are dealt out into: 1 where they are few, or their number is secret.

    Examples
    --------
    >>> shares_of(1_000_000, 10, Budget(1.0, 1e-7), "replace_one")
    32
    >>> shares_of(100_000, 10, Budget(1.0, 1e-6), "replace_one")
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
    >>> from tacit.privacy import Gaussian
    >>> step = deal(Gaussian("gradient", 3.0, count=9), shares=8)
    >>> step.count, step.releases, round(step.weight, 9), Gaussian("gradient", 3.0, count=9).weight
    (2, 16, 1.0, 1.0)
    """
    if shares == 1:
        return step
    each = -(-step.count // shares)
    multiplier = step.noise_multiplier * math.sqrt(each / step.count)
    return Split(shares, Gaussian(step.name, multiplier, each, step.size))
