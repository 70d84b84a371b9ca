"""The weights that a pair of columns has in a chain, what the counts want of them, and how far they are shrunk."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.synthesis.pair_tables import PairTable, indicators, interaction

# benchmarks/synthetic.py measures what these numbers give, on Adult and on ten tables of the arena.
_DEGREE = 2  # Trends of a number are polynomials of its rank, up to this degree.
# Usual prior variances of weights, which are log odds: of trends, of pairs of coarse groups, and of pairs of groups.
_TREND_VARIANCE, _COARSE_VARIANCE, _FINE_VARIANCE = 0.1, 0.2, 0.2
_DOUBLINGS = 6  # A pair's own prior variance is the usual one, doubled or halved up to so many times.
_DOUBT = 1.5  # How far it usually is from the usual one, in nats: one standard deviation.
_STRONGEST = 3.0  # Log odds beyond which an estimate is not believed when it explains others.


@dataclass(frozen=True, eq=False)
class PairWeights:
    """Weights of pairs of functions: of codes of a column before, and of codes of the column.

    Functions are indicators of groups, or trends: smooth functions of a number's rank.

    Parameters
    ----------
    codes : slice
        Which rows of the design are the codes of the column before.
    first, second : (codes, functions) arrays
    wanted : (functions, functions) array
        The means of products of two functions, over all rows, that the counts want.
    ridge : (functions, functions) array
        How strongly each weight is shrunk.
    units : (functions, functions) array
        In these units, all second derivatives of the loss are near 1.
    """

    codes: slice
    first: Array
    second: Array
    wanted: Array
    ridge: Array
    units: Array

    def add_to(self, weights: Array, found: Array) -> None:
        """Add the weights of pairs of functions to the weights of pairs of codes."""
        weights[self.codes] += self.first @ found @ self.second.T

    def slope(self, proportions: Array) -> Array:
        """Return derivatives of the loss by the weights, from the proportions of pairs of codes."""
        return np.asarray(self.first.T @ proportions[self.codes] @ self.second - self.wanted)


def pair_weights(
    codes: slice,
    table: PairTable,
    drawn: Array,
    margins: tuple[Array, Array],
    ordered: tuple[int, int],
    rows: float,
) -> list[PairWeights]:
    """Return the weights of a pair of columns: those of trends, of pairs of coarse groups and of pairs of groups.

    Parameters
    ----------
    codes : slice
        Which rows of the design are the codes of the column before.
    table : PairTable
    drawn : array
        The proportions of the codes of the column before among the synthetic rows.
    margins : pair of arrays
        The probabilities of the codes of both columns.
    ordered : pair of int
        How many codes of each are in the order of a number.
    rows : float
        Number of rows that were counted.

    Notes
    -----
    What trends explain is deducted before the prior variance of coarse groups is found, and so on. So a pair of numbers
    that rise together needs one large weight, and many small ones for what is left.
    """
    first, second = (indicators(each) for each in table.groups)
    shares = margins[0] @ first, margins[1] @ second
    independent = np.outer(drawn @ first, shares[1])
    wanted = independent + interaction(table.counts / rows - independent)
    expected = np.outer(*shares)
    change, explained = interaction(table.counts / rows - expected), np.zeros_like(expected)
    found = []
    for one, two, usual, free in _bases(table, shares, ordered):
        information = np.outer(shares[0] @ one**2, shares[1] @ two**2)
        variances = table.variances(one, two)
        estimates = one.T @ (change - interaction(expected * np.expm1(explained))) @ two / information
        errors = (rows * information + variances) / (rows * information) ** 2 * free
        prior = _prior_variance(estimates, errors, usual)
        shrunk = estimates.clip(-_STRONGEST, _STRONGEST) * prior / (prior + errors)
        explained = explained + one @ shrunk @ two.T
        ridge = (1 + variances / (rows * information + 1)) / prior / rows
        units = 1 / np.sqrt(information + ridge)
        found.append(PairWeights(codes, first @ one, second @ two, one.T @ wanted @ two, ridge, units))
    return found


def _bases(
    table: PairTable, shares: tuple[Array, Array], ordered: tuple[int, int]
) -> list[tuple[Array, Array, float, float]]:
    """Return functions of both columns' groups, the usual prior variance, and the part of products that is free."""
    every = np.eye(len(shares[0])), np.eye(len(shares[1]))
    coarse = every if table.coarse is None else (indicators(table.coarse[0]), indicators(table.coarse[1]))
    trends = [
        _trends(share, int(groups[:known].max(initial=-1)) + 1)
        for share, groups, known in zip(shares, table.groups, ordered)
    ]
    bases = []
    if any(trend is not None for trend in trends):
        one, two = (groups if trend is None else trend for groups, trend in zip(coarse, trends))
        unknown = [groups for groups, trend in zip(coarse, trends) if trend is None]
        bases.append((one, two, _TREND_VARIANCE, _free_part(unknown)))
    if any(groups.shape[1] < len(groups) for groups in coarse):
        bases.append((*coarse, _COARSE_VARIANCE, _free_part(coarse)))
    return [*bases, (*every, _FINE_VARIANCE, _free_part(every))]


def _free_part(indicators_of_groups: Iterable[Array]) -> float:
    """Return the part of products that is left when margins are known."""
    return math.prod(1 - 1 / each.shape[1] for each in indicators_of_groups)


def _trends(shares: Array, known: int) -> Array | None:
    """Return smooth functions of the first `known` groups, (groups, functions), of variance 1 and mean 0.

    None if there are fewer than three groups: indicators tell them apart as well.
    """
    if known < 3:
        return None
    among = shares[:known] / shares[:known].sum()
    rank = 2 * (np.cumsum(among) - among / 2) - 1
    powers = np.vander(rank, min(_DEGREE + 1, known), increasing=True)
    orthogonal, _ = np.linalg.qr(np.sqrt(among)[:, None] * powers)
    functions = np.zeros((len(shares), powers.shape[1] - 1))
    functions[:known] = orthogonal[:, 1:] / np.sqrt(among)[:, None]
    return functions


def _prior_variance(estimates: Array, errors: Array, usual: float) -> float:
    """Return the variance of weights that estimates with these variances of errors show: its posterior mean."""
    doublings = np.arange(-_DOUBLINGS, _DOUBLINGS + 1)
    variances = usual * 2.0**doublings
    totals = variances[:, None] + errors.ravel()
    fits = -0.5 * (np.log(totals) + estimates.ravel() ** 2 / totals).sum(axis=1)
    fits -= 0.5 * (doublings * math.log(2) / _DOUBT) ** 2
    weights = np.exp(fits - fits.max())
    return float(weights @ variances / weights.sum())
