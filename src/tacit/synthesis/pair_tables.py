"""What is known of a pair of columns: noisy counts of pairs of groups, and how exact these are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacit.arrays import Array
from tacit.synthesis.chain import Codes


@dataclass(frozen=True, eq=False)
class PairTable:
    """Counts of rows with a group of one column and a group of another, and of coarser groups of these.

    Parameters
    ----------
    groups : pair of arrays
        The group of each code of the two columns.
    counts : (groups, groups) array
        Noisy counts.
    noise : float
        Standard deviation of the noise in each.
    coarse : pair of arrays, optional
        The coarse group of each group, where coarse groups were counted as well.
    coarse_variances : (coarse groups, coarse groups) array, optional
        Variances of the noise in the sums of counts over pairs of coarse groups.
    """

    groups: tuple[Codes, Codes]
    counts: Array
    noise: float
    coarse: tuple[Codes, Codes] | None = None
    coarse_variances: Array | None = None

    @property
    def transposed(self) -> PairTable:
        """The same, with the second column first."""
        return PairTable(
            self.groups[::-1],
            self.counts.T,
            self.noise,
            None if self.coarse is None else self.coarse[::-1],
            None if self.coarse_variances is None else self.coarse_variances.T,
        )

    def variances(self, first: Array, second: Array) -> Array:
        """Return the variances of the noise in sums of counts, weighted by functions of groups (groups, functions)."""
        alone = self.noise**2 * np.outer((first**2).sum(axis=0), (second**2).sum(axis=0))
        if self.coarse is None or self.coarse_variances is None:
            return alone
        # Within a pair of coarse groups, the mean is known better than from the counts alone.
        one, two = (indicators(each) for each in self.coarse)
        cells = np.outer(one.sum(axis=0), two.sum(axis=0))
        means = [
            (each.T @ functions / each.sum(axis=0)[:, None]) ** 2 for each, functions in ((one, first), (two, second))
        ]
        return alone - means[0].T @ (cells * self.noise**2 - self.coarse_variances) @ means[1]

    def refined(self, groups: tuple[Codes, Codes], counts: Array, noise: float) -> PairTable:
        """Return the table of finer groups, with counts of them, that agrees best with both counts.

        The counts of finer groups in a pair of groups add up to a number that was counted independently. The difference
        is divided equally among them, weighted by how exact the two are.
        """
        coarse = tuple(parents_of(fine, mine) for fine, mine in zip(groups, self.groups))
        first, second = (indicators(each) for each in coarse)
        cells = np.outer(first.sum(axis=0), second.sum(axis=0))
        from_fine = cells * noise**2
        gain = from_fine / (from_fine + self.noise**2)
        missing = gain * (self.counts - first.T @ counts @ second) / cells
        return PairTable(groups, counts + first @ missing @ second.T, noise, coarse, gain * self.noise**2)

    def of_codes(self, first: Codes, second: Codes) -> PairTable:
        """Return the table where code c of a column was code first[c], or second[c], before."""
        return replace(self, groups=(self.groups[0][first], self.groups[1][second]))


def indicators(groups: Codes) -> Array:
    """Return which member is in which group, (members, groups)."""
    return (groups[:, None] == np.arange(groups.max() + 1)).astype(np.float64)


def interaction(table: Array) -> Array:
    """Return a table less its main effects: what is left adds up to 0 in every row and column."""
    return table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()


class Strength(NamedTuple):
    """How strongly two columns go together.

    `variation` is the total variation between the pair and independent columns, less what noise explains, and
    `relative` is that as a part of what it could be.
    """

    variation: float
    relative: float


def strength(table: PairTable, margins: Sequence[Array], rows: float) -> Strength:
    """Return how strongly the two columns of a table go together; `margins` are the probabilities of its groups."""
    expected = rows * np.outer(*margins)
    found = np.abs(interaction(table.counts - expected))
    free = (len(margins[0]) - 1) * (len(margins[1]) - 1) / found.size
    by_chance = np.sqrt(2 / math.pi * free * (expected + table.noise**2))
    variation = max(0.0, float((found - by_chance).sum()) / (2 * rows))
    most = 1 - max(float((margin**2).sum()) for margin in margins)
    return Strength(variation, min(1.0, variation / max(most, 1e-9)))


def strongest(strengths: Mapping[tuple[int, int], float], part: float) -> tuple[tuple[int, int], ...]:
    """Return the strongest pairs, as many as together have that part of all strength."""
    pairs = sorted(strengths, key=lambda pair: -strengths[pair])
    reached = np.cumsum([strengths[pair] for pair in pairs])
    return tuple(pairs[: 1 + int(np.searchsorted(reached, part * reached[-1]))])


def parents_of(fine: Codes, coarse: Codes) -> Codes:
    """Return the coarse group of each fine group, from both groups of each code."""
    parents = np.zeros(int(fine.max()) + 1, dtype=np.intp)
    parents[fine] = coarse
    return parents
