"""Rows dealt out: where there are many, all releases but the last are of small shares of them, each of another one.

Noise is small then whatever is done, and passes over the rows are what takes time. Releases of shares cost together
what one of them costs (:class:`tacit.privacy.steps.Split`).
"""

from __future__ import annotations

import math

from tacit.privacy import Budget, Gaussian, Relation, Split, Step

MOST_SHARES = 32
_LEAST_SHARES = 8
_ROWS_PER_SHARE = 20_000


def shares_of(rows: int | None, columns: int, budget: Budget, neighbors: Relation, in_place: bool) -> int:
    """Return how many shares the rows are dealt out into: 1 where they are few, or secret, or have no places.

    Examples
    --------
    >>> shares_of(1_000_000, 10, Budget(1.0, 1e-7), "replace_one", True)
    32
    >>> shares_of(100_000, 10, Budget(1.0, 1e-6), "replace_one", True)
    1
    """
    if rows is None or neighbors != "replace_one" or not in_place:
        return 1
    needed = _ROWS_PER_SHARE * max(1.0, columns / 20) * max(1.0, 1.0 / budget.epsilon)
    shares = int(rows / needed)
    return min(shares, MOST_SHARES) if shares >= _LEAST_SHARES else 1


def dealt(step: Step, shares: int) -> Step:
    """Return a step whose releases are each of another share of the rows, for the same part of the budget."""
    if shares == 1:
        return step
    return Split(shares, Gaussian(step.name, step.noise_multiplier / math.sqrt(step.count), 1, step.size))
