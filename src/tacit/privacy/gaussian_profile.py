"""The exact privacy profile of Gaussian noise: delta(epsilon), its inverse, and the noise for a budget.

Any number of Gaussian releases, adaptively chosen, is exactly as private as telling N(0, 1) from N(mu, 1), with
mu**2 = the sum of 1 / noise_multiplier**2 (Dong, Roth and Su, "Gaussian Differential Privacy", 2022). Its profile is
(Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy", 2018)

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

Written here with Mills' ratio R(x) = Phi(-x) / phi(x), because the two terms share the factor phi(x) exactly:

    delta = phi(x) (R(x) - R(x + mu)),      x = epsilon/mu - mu/2,

so that nothing overflows, and logarithms go far below the smallest float. The functions take scalars, and take under a
millisecond. dp_accounting's closed forms are not used because they have no logarithmic form, and because importing it
takes over a second.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, ndtri_exp

__all__ = ["GaussianProfile", "gaussian_delta", "gaussian_epsilon", "gaussian_mu", "log_gaussian_delta", "raise_until"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)  # A quadrature rule, exact to double precision here.


class GaussianProfile:
    """The exact profile of Gaussian releases that together are mu-GDP.

    Examples
    --------
    >>> round(GaussianProfile(0.25).epsilon(1e-6), 4)
    1.0607
    """

    def __init__(self, mu: float) -> None:
        self.mu = mu

    def delta(self, epsilon: float) -> float:
        """Return delta(epsilon)."""
        return gaussian_delta(epsilon, self.mu)

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon whose delta is at most ``delta``."""
        if self.mu and not delta:
            raise ValueError(
                "Gaussian noise has no finite epsilon at delta=0; ask for a positive delta such as 1e-6, "
                "or plan Laplace noise and selections only."
            )
        return gaussian_epsilon(delta, self.mu)


def log_gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the natural logarithm of delta(epsilon), for ``epsilon >= 0`` and ``mu > 0``.

    Examples
    --------
    >>> round(log_gaussian_delta(1.0, 0.01), 3)
    -5014.235
    """
    x = epsilon / mu - mu / 2
    return -0.5 * x * x - _LOG_SQRT_2PI + _log_mills_difference(x, mu)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return delta(epsilon); ``mu = 0`` (no release) gives 0.

    Examples
    --------
    >>> f"{gaussian_delta(1.0, 0.25):.4g}"
    '2.924e-06'
    """
    return min(1.0, math.exp(log_gaussian_delta(epsilon, mu))) if mu > 0 else 0.0


@lru_cache(maxsize=4096)
def gaussian_epsilon(delta: float, mu: float) -> float:
    """Return the least epsilon >= 0 with delta(epsilon) <= delta, for ``0 < delta < 1``.

    Examples
    --------
    >>> round(gaussian_epsilon(1e-6, 0.25), 4)
    1.0607
    """
    if mu == 0 or gaussian_delta(0.0, mu) <= delta:
        return 0.0
    target = math.log(delta)
    # delta(epsilon) <= Phi(-x), so the x at which Phi(-x) = delta is beyond the solution.
    beyond = mu * max(0.0, mu / 2 - float(ndtri_exp(target)))
    while log_gaussian_delta(beyond, mu) > target:  # Only rounding can bring us here.
        beyond = 1e-300 + beyond * (1 + 1e-12)
    root = brentq(lambda e: log_gaussian_delta(e, mu) - target, 0.0, beyond, xtol=1e-300, rtol=1e-15, maxiter=500)
    return raise_until(lambda e: gaussian_delta(e, mu) <= delta, float(root))


@lru_cache(maxsize=4096)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu with delta(epsilon) <= delta, for ``epsilon >= 0`` and ``0 < delta < 1``.

    Examples
    --------
    >>> round(1 / gaussian_mu(1.0, 1e-6), 4)
    4.2247
    """
    target = math.log(delta)

    def excess(log_mu: float) -> float:
        return log_gaussian_delta(epsilon, math.exp(log_mu)) - target

    low = high = math.log(max(epsilon, delta) / math.sqrt(1 - 2 * target))
    while excess(low) > 0:
        low -= 1.0
    while excess(high) < 0:
        high += 1.0
    log_mu = float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15, maxiter=500)) if low < high else low
    return 1 / raise_until(lambda sigma: gaussian_delta(epsilon, 1 / sigma) <= delta, math.exp(-log_mu))


def _log_mills_difference(x: float, mu: float) -> float:
    """Return log(R(x) - R(x + mu)) without cancellation."""
    if x < -25:  # R(x) = e^(x^2/2) sqrt(2 pi) Phi(-x) would overflow, and Phi(-x) is 1 here.
        log_first = 0.5 * x * x + _LOG_SQRT_2PI
        y = x + mu
        log_second = 0.5 * y * y + _LOG_SQRT_2PI if y < -25 else math.log(_mills(y))
        return log_first + math.log(-math.expm1(log_second - log_first))
    first, second = _mills(x), _mills(x + mu)
    if first - second > 1e-3 * first:
        return math.log(first - second)
    # R(x) is the integral of exp(-x s - s^2/2) over s > 0. So the difference is the integral of the same function
    # times (1 - exp(-mu s)), and nothing cancels out. Less than e^-40 of it lies beyond `end`.
    end = 80 / (x + math.sqrt(x * x + 80))
    s = 0.5 * end * (_NODES + 1)
    # The integral is proportional to a small mu. Division by mu keeps it from underflow.
    integrand = np.exp(-s * (x + 0.5 * s)) * -np.expm1(-mu * s) / mu
    return math.log(0.5 * end * float(_WEIGHTS @ integrand)) + math.log(mu)


def _mills(x: float) -> float:
    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))


def raise_until(holds: Callable[[float], bool], value: float) -> float:
    """Walk up from a root, by parts in 10^15 and then faster, until the bound holds as computed.

    Root-finders stop on either side of the root; rounding must not favour us.

    Examples
    --------
    >>> raise_until(lambda x: x * x >= 2, 1.414213562373095) ** 2 >= 2
    True
    """
    step = 1e-15
    while not holds(value):
        value *= 1 + step
        step *= 2
    return value
