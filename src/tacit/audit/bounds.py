"""From the errors of a membership test to lower bounds on privacy parameters.

Whoever tests "was it D or D'?" from a private output errs: with probability `false_positive` on D, `false_negative`
on D'. A guarantee forbids both errors from being small, so upper confidence bounds on the two errors are lower
confidence bounds on the parameters of any guarantee that could hold. Everything here is elementwise over arrays.

References
----------
- Kairouz, Oh and Viswanath (2015), "The composition theorem for differential privacy": the (epsilon, delta) region.
- Dong, Roth and Su (2022), "Gaussian differential privacy": trade-off functions and mu.
- Nasr et al. (2023), "Tight auditing of differentially private machine learning": auditing through mu.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tacit.arrays import Array
from tacit.privacy import Plan


def error_bound(errors: ArrayLike, trials: int, failure: float) -> Array:
    """Return the Clopper-Pearson upper bound on an error rate. It is too low with probability at most `failure`.

    Examples
    --------
    >>> error_bound([0, 10], 1000, failure=0.025).round(4)
    array([0.0037, 0.0183])
    """
    errors = np.asarray(errors, dtype=np.float64)
    return np.where(errors < trials, special.betaincinv(errors + 1, np.maximum(trials - errors, 1), 1 - failure), 1.0)


def epsilon_bound(false_positive: ArrayLike, false_negative: ArrayLike, delta: float) -> Array:
    """Return the smallest epsilon for which (epsilon, delta)-differential privacy allows a test with these errors.

    Both directions count: whichever of "D looks like D'" and "D' looks like D" is rarer.

    Examples
    --------
    >>> float(epsilon_bound(0.01, 0.5, delta=0.0).round(3))
    3.912
    """
    a, b = np.asarray(false_positive, dtype=np.float64), np.asarray(false_negative, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.fmax((1 - delta - b) / a, (1 - delta - a) / b)
        return np.log(np.fmax(ratio, 1.0))


def mu_bound(false_positive: ArrayLike, false_negative: ArrayLike) -> Array:
    """Return the smallest mu for which mu-Gaussian differential privacy allows a test with these errors.

    Examples
    --------
    >>> float(mu_bound(0.16, 0.16).round(2))
    1.99
    """
    a, b = np.asarray(false_positive, dtype=np.float64), np.asarray(false_negative, dtype=np.float64)
    return np.maximum(-special.ndtri(a) - special.ndtri(b), 0.0)


def plan_forbids(plan: Plan, false_positive: float, false_negative: float) -> bool:
    """Whether the whole curve delta(epsilon) of a plan, not one point of it, rules out a test with these errors.

    Sound for every mechanism, and for Gaussian plans as sharp as comparing mu.

    Examples
    --------
    >>> from tacit.privacy import Gaussian
    >>> plan = Plan((Gaussian("sum", noise_multiplier=1.0),))
    >>> plan_forbids(plan, 0.3, 0.32), plan_forbids(plan, 0.3, 0.3)
    (False, True)
    """
    epsilons, deltas = plan.curve()
    # The direction that multiplies the rarer error is the weaker demand, so it is the one that can fail.
    rarer, other = sorted((false_positive, false_negative))
    return bool(np.any(1 - deltas > other + np.exp(epsilons) * rarer))
