"""Which bins of a column are counted together when it is counted with other columns, where rows are spread thinner."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Array

LEAST_SHARE = 1 / 64  # of rows in a group, however many rows there are


def most_groups(bins: int, ordered: bool) -> int:
    """Return how many groups there can be."""
    return min(bins, round((2 if ordered else 1) / LEAST_SHARE) + 1)


def grouped(shares: Array, ordered: bool, least: float) -> np.ndarray:
    """Return the group of each bin, from 0 up, so that about a share of `least` rows or more is in each group.

    Bins with enough rows stay alone. Of numbers, neighbours are put together until they have enough; of categories, all
    levels with fewer rows are one group.

    Parameters
    ----------
    shares : (bins,) array
        Of rows in each bin, adding up to 1.
    ordered : bool
        Whether the bins are those of a number.
    least : float

    Examples
    --------
    >>> import numpy as np
    >>> grouped(np.array([0.5, 0.02, 0.02, 0.02, 0.44]), ordered=True, least=0.05)
    array([0, 1, 1, 1, 2])
    >>> grouped(np.array([0.02, 0.5, 0.02, 0.02, 0.44]), ordered=False, least=0.05)
    array([2, 0, 2, 2, 1])
    """
    enough = shares >= least
    if not ordered:
        return np.where(enough, np.cumsum(enough) - 1, enough.sum())
    starts, together = np.zeros(len(shares), dtype=bool), 0.0
    for b, share in enumerate(shares):
        starts[b] = b > 0 and (enough[b] or enough[b - 1] or together >= least)
        together = share if starts[b] else together + share
    groups = np.cumsum(starts)
    while True:
        sums = np.bincount(groups, shares)
        lightest = int(sums.argmin())
        if sums[lightest] >= least / 2 or len(sums) <= 2:
            return groups
        around = [g for g in (lightest - 1, lightest + 1) if 0 <= g < len(sums)]
        first = min(lightest, min(around, key=lambda g: sums[g]))
        groups = np.where(groups > first, groups - 1, groups)
