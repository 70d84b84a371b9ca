"""The four compositions compared by Park et al. (2017): how much noise each allows every mechanism of DP-EM.

They are here to reproduce the paper. All are looser than the exact accounting that a plan does by itself, so a plan
with this noise has a smaller true epsilon than the one it was made for; the certificate shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from tacit.privacy import Budget

COMPOSITIONS = ("linear", "advanced", "zcdp", "moments")
# Orders of the moments that are tried: whole numbers, as in the paper. Small epsilons and deltas need high ones.
_ORDERS = np.concatenate([np.arange(1, 257), np.geomspace(257, 1e12, 600).round()])
# Largest epsilon of one mechanism that is tried. A mechanism with more has hardly any noise.
_MOST_EACH = 20.0


def noise_multipliers(
    composition: str, noise: str, budget: Budget, components: int, iterations: int, delta_each: float | None = None
) -> dict[str, float]:
    """Return the noise of weights, means and covariances, relative to their sensitivities.

    Parameters
    ----------
    composition : {"linear", "advanced", "zcdp", "moments"}
    noise : {"GGG", "LLG"}
        Gaussian noise on weights, means and covariances, or Laplace, Laplace and Gaussian.
    budget : Budget
        What all mechanisms together may spend.
    components, iterations : int
        There are ``iterations * (2 * components + 1)`` mechanisms.
    delta_each : float, optional
        The delta of one Gaussian mechanism, which fixes its noise relative to its epsilon. By default budget.delta /
        10^4, as in the paper's Figure 3; linear and advanced composition, which pay for it, use what they can afford.

    Examples
    --------
    >>> budget = Budget(1.0, 1e-4)
    >>> for composition in COMPOSITIONS:
    ...     print(composition, round(noise_multipliers(composition, "GGG", budget, 3, 10)["means"], 1))
    linear 366.2
    advanced 209.4
    zcdp 36.9
    moments 36.9
    """
    laplace = iterations * (components + 1) if noise == "LLG" else 0
    gaussian = iterations * components if noise == "LLG" else iterations * (2 * components + 1)
    epsilon, delta = budget.epsilon, budget.delta
    delta_each = delta * 1e-4 if delta_each is None else delta_each
    if composition == "linear":
        each = epsilon / (laplace + gaussian)
        delta_each = delta / gaussian
    elif composition == "advanced":
        delta_each = delta / (2 * gaussian)
        each = _largest(lambda e: _advanced_epsilon(e, laplace + gaussian, delta / 2) <= epsilon)
    elif composition == "zcdp":
        each = _largest(lambda e: _zcdp(e, laplace, gaussian, delta_each, delta) <= epsilon)
    else:
        each = _largest(lambda e: _moments(e, laplace, gaussian, delta_each, epsilon) <= math.log(delta))
    gaussian_noise = _classical(each, delta_each)
    first = 1 / each if noise == "LLG" else gaussian_noise
    return {"weights": first, "means": first, "covariances": gaussian_noise}


def _classical(epsilon: float, delta: float) -> float:
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def _advanced_epsilon(each: float, mechanisms: int, delta: float) -> float:
    return mechanisms * each * math.expm1(each) + math.sqrt(2 * mechanisms * math.log(1 / delta)) * each


def _zcdp(each: float, laplace: int, gaussian: int, delta_each: float, delta: float) -> float:
    rho = laplace * each**2 / 2 + gaussian / (2 * _classical(each, delta_each) ** 2)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def _moments(each: float, laplace: int, gaussian: int, delta_each: float, epsilon: float) -> float:
    """Return the log of the least delta that an integer moment proves at `epsilon` (equations 20 and 21)."""
    order = _ORDERS
    log_laplace = np.logaddexp(
        np.log((order + 1) / (2 * order + 1)) + order * each, np.log(order / (2 * order + 1)) - each * (order + 1)
    )
    log_gaussian = (order**2 + order) / (2 * _classical(each, delta_each) ** 2)
    return float(np.min(laplace * log_laplace + gaussian * log_gaussian - order * epsilon))


def _largest(fits: Callable[[float], bool]) -> float:
    """Return the largest epsilon of one mechanism for which `fits`, which holds for small ones, still holds."""
    if fits(_MOST_EACH):
        return _MOST_EACH
    low, high = math.log(1e-15), math.log(_MOST_EACH)
    edge = brentq(lambda log_e: 1.0 if fits(math.exp(log_e)) else -1.0, low, high, xtol=1e-9)
    each = math.exp(edge)
    while not fits(each):
        each *= 1 - 1e-9
    return each
