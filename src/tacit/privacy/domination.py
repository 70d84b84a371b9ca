"""The least Gaussian that dominates a plan: what a charge costs in the one ordered family that ledgers add up in.

A pair of distributions with the profile delta(epsilon) is *dominated* by mu-GDP, up to a slack d, if for both orders of
the pair and every epsilon >= 0

    delta(epsilon) <= G(epsilon; mu) + d,         G the profile of telling N(0, 1) from N(mu, 1).

(At epsilon < 0 the same follows by exchanging the two.) The least such mu is found by bisection, and what is returned
is checked, between the points of a grid too: profiles are convex in alpha = e^epsilon, so between two points the one on
the left is below its chord and G is above its tangent in the middle, and two straight lines are compared at their ends.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from tacit.arrays import Array

from .budget import Relation
from .composition import MixedProfile, selection_delta
from .terms import Term

__all__ = ["closed_cost", "dominating_mu", "numeric_cost"]

_POINTS = 1000  # The number of grid points; more of them would find a slightly smaller mu.
_TOLERANCE = 1e-5  # The relative accuracy of the bisection for mu.
_ROUNDING = 1e-14  # More than the relative error of scipy's normal distribution function.
_LARGEST_EPSILON = 100.0  # A plan with a larger epsilon has no Gaussian that any budget could pay for.
_LARGEST_MU = 50.0  # The same limit for mu.


def dominating_mu(epsilons: Array, deltas: Array, slack: float = 0.0) -> float:
    """Return a mu, close to the least, whose profile plus ``slack`` is above a convex profile, or infinity.

    Parameters
    ----------
    epsilons : array
        A grid from 0 up.
    deltas : array
        The profile there, or bounds on it. The last is at most ``slack``.
    slack : float, default 0.0
        What may be added to G.

    Examples
    --------
    >>> e = np.linspace(0.0, 1.0, 101)
    >>> round(dominating_mu(e, (math.e - np.exp(e)) / (math.e + 1)), 3)  # randomised response of epsilon 1: 2 Phi^-1
    1.232
    """
    if deltas[-1] > slack or epsilons[-1] > _LARGEST_EPSILON:
        return math.inf
    middles, alphas = (epsilons[1:] + epsilons[:-1]) / 2, np.exp(epsilons)

    def holds(mu: float) -> bool:
        first = ndtr(mu / 2 - middles / mu)
        other = np.exp(log_ndtr(-mu / 2 - middles / mu))
        value = first * (1 - _ROUNDING) - np.exp(middles) * other * (1 + _ROUNDING) + slack
        return all(
            bool((deltas[ends] <= value - other * (alphas[ends] - np.exp(middles))).all())
            for ends in (slice(None, -1), slice(1, None))
        )

    low = high = max(1e-9, 2 * float(ndtri((1 + min(max(float(deltas[0]) - slack, 0.0), 1 - 1e-12)) / 2)))
    while not holds(high):
        low, high = high, 1.1 * high
        if high > _LARGEST_MU:
            return math.inf
    while high > low * (1 + _TOLERANCE):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def closed_cost(terms: tuple[Term, ...]) -> float:
    """Return the sum of mu^2, release by release and without slack; infinity for kinds other than these three."""
    if any(term.kind not in ("gaussian", "laplace", "selection") for term in terms):
        return math.inf
    return math.fsum(term.count * _mu_of_one(term.kind, term.noise_multiplier) ** 2 for term in terms)


@lru_cache(maxsize=1024)
def _mu_of_one(kind: str, noise_multiplier: float) -> float:
    largest = 1 / noise_multiplier
    if kind == "gaussian":
        return largest
    grid = np.linspace(0.0, largest, _POINTS)
    deltas = -np.expm1((grid - largest) / 2) if kind == "laplace" else selection_delta(grid, largest)
    return dominating_mu(grid, deltas)


@lru_cache(maxsize=1024)
def numeric_cost(terms: tuple[Term, ...], neighbors: Relation, slack: float) -> float:
    """Return mu^2 of what dominates all releases together, up to ``slack``; infinity where that cannot be shown."""
    profile = MixedProfile(terms, neighbors)
    largest = min(profile.pure, 4 * profile.spread + profile.spread**2)
    while largest <= _LARGEST_EPSILON and profile.loss_deltas(np.array([largest]))[0] > slack:
        largest = min(profile.pure, 1.25 * largest)
    if largest > _LARGEST_EPSILON:
        return math.inf
    grid = np.linspace(0.0, largest, _POINTS)
    return dominating_mu(grid, profile.loss_deltas(grid), slack) ** 2
