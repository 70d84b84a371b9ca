"""Integer noise and private choice, sampled exactly.

Given fair random bits, every draw here follows its law exactly: the sampling error is zero. Floating point is used to
decide quickly, and never to decide doubtfully; :mod:`tacit.release.strips` says how.

What is not zero is how far the *discrete* laws are from the continuous ones that accountants know in closed form. That
is a question of mathematics rather than of sampling, and is answered by :func:`discretisation_error` and
:func:`laplace_discretisation_error`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.release.exact import falls_under
from tacit.release.generator import SecureGenerator
from tacit.release.strips import strips


def discrete_laplace(scale: float, size: int | tuple[int, ...], gen: SecureGenerator) -> NDArray[np.int64]:
    """Draw integers k with probability proportional to exp(-|k| / scale), exactly.

    Adding them to integers that differ by at most D in l1 norm between neighbours is (D / scale)-differentially private
    without any correction: P(k) / P(k + d) = exp((|k + d| - |k|) / scale) <= exp(|d| / scale) for all integers k and d,
    and the exponents of independent numbers add up.

    Parameters
    ----------
    scale : float
        The scale in lattice steps, from 2**-10 to 2**40. The variance is just under 2 scale^2.
    size : int or tuple of int
        Shape of the result.
    gen : SecureGenerator
        See :func:`tacit.release.generator.generator`.

    Examples
    --------
    >>> from tacit.release.generator import generator
    >>> from tacit.release.noise import discrete_laplace
    >>> draws = discrete_laplace(2.0, 100_000, generator(0))
    >>> bool(abs(draws.mean()) < 0.05), bool(2.7 < draws.std() < 2.9)
    (True, True)
    """
    return strips(1, scale).sample(size, gen)


def discrete_gaussian(sigma: float, size: int | tuple[int, ...], gen: SecureGenerator) -> NDArray[np.int64]:
    """Draw integers k with probability proportional to exp(-k^2 / (2 sigma^2)), exactly.

    The privacy of the discrete Gaussian (Canonne, Kamath and Steinke, 2020) is that of Gaussian noise up to a delta
    given by :func:`discretisation_error`.

    Parameters
    ----------
    sigma : float
        The scale in lattice steps, from 2**-10 to 2**40. The standard deviation is at most sigma, and from sigma = 2 on
        equal to it in float64.
    size : int or tuple of int
        Shape of the result.
    gen : SecureGenerator
        See :func:`tacit.release.generator.generator`.

    Examples
    --------
    >>> from tacit.release.generator import generator
    >>> from tacit.release.noise import discrete_gaussian
    >>> draws = discrete_gaussian(2.0**30, (1000, 100), generator(0))
    >>> draws.shape, bool(abs(draws.std() / 2**30 - 1) < 0.01)
    ((1000, 100), True)
    """
    return strips(2, sigma).sample(size, gen)


def exponential_select(
    utilities: ArrayLike, scale: float, gen: SecureGenerator, multiplicities: ArrayLike | None = None
) -> int:
    """Draw an index i with probability proportional to multiplicities[i] * exp(utilities[i] / scale), exactly.

    The exponential mechanism (McSherry and Talwar, 2007) on whole numbers. Adding Gumbel noise to floating-point
    utilities and taking the largest has the same law on paper only: noise, sum and comparison are rounded by amounts
    that depend on the utilities, and ties go to the first.

    Parameters
    ----------
    utilities : array of integers, shape (n,)
        The utilities in lattice steps, under 2**62 in absolute value.
    scale : float
        The scale in lattice steps.
    gen : SecureGenerator
        See :func:`tacit.release.generator.generator`.
    multiplicities : array of integers, shape (n,), optional
        How many candidates each entry stands for, from 0 to 2**52; 1 by default.

    Notes
    -----
    *Privacy.* Let the changes u'(i) - u(i) between neighbours lie in an interval of width w: w = 2 D if no utility
    changes by more than D. The log-probability of i changes by (u'(i) - u(i)) / scale plus a number that is the same
    for all i, hence by amounts in an interval of width w / scale: the choice is (w / scale)-bounded-range (Dong, Durfee
    and Rogers, 2020). The interval contains 0, as probabilities sum to 1 on both sides, so it is
    (w / scale)-differentially private.

    *Exactness.* Each weight is computed in float64, raised by more than its error and rounded up to a whole number;
    these whole numbers are sampled exactly by integer arithmetic. The index drawn is kept with probability weight /
    whole number, decided by :func:`tacit.release.exact.falls_under`, else all is drawn again. Nearly every draw is
    kept.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.release.generator import generator
    >>> from tacit.release.noise import exponential_select
    >>> gen = generator(0)
    >>> picks = [exponential_select([0, 0, 100], scale=50.0, gen=gen) for _ in range(1000)]
    >>> bool(730 < np.bincount(picks)[2] < 840)  # 787 are expected.
    True
    """
    utility, count = _check_candidates(utilities, multiplicities)
    if not 0 < scale < math.inf:
        raise ValueError(f"scale is {scale!r}; it must be a positive, finite number of lattice steps.")
    deficit = np.maximum(utility[count > 0].max() - utility, 0)
    with np.errstate(under="ignore", over="ignore"):
        weight = count * np.exp(-deficit / scale)  # The relative error is under 2**-33, or the weight is tiny.
    # Lifted weights sum to between 2**59 and 2**60.
    lift = math.ldexp(1.0, 60 - math.frexp(float(weight.sum()))[1])
    envelope = np.where(count > 0, np.floor(weight * (lift * (1 + 2.0**-32))) + 1, 0).astype(np.int64)
    cumulative = np.cumsum(envelope)
    while True:
        i = int(np.searchsorted(cumulative, gen.below(int(cumulative[-1])), side="right"))
        ceiling = Fraction(int(envelope[i]), int(count[i])) / Fraction(lift)
        if falls_under(gen.word(), ceiling, int(deficit[i]) / Fraction(scale), gen):
            return i


def discretisation_error(sigma: float) -> float:
    """Bound the total variation between the discrete Gaussian and the Gaussian rounded to the nearest integer.

    Rounding is post-processing, so releasing an integer with rounded Gaussian noise is as private as with Gaussian
    noise, whose trade-off is known in closed form. A release within total variation t of that satisfies
    delta(epsilon) <= delta_Gaussian(epsilon) + (1 + e^epsilon) t. Distances add up over numbers and releases.

    Notes
    -----
    Let g be the density of N(0, sigma^2), r(k) its integral over [k - 1/2, k + 1/2], and C the sum of all g(k), so that
    the discrete Gaussian is g / C. Then 2 TV = sum |r - g / C| <= sum |r - g| + |C - 1|.

    1. By Taylor's theorem r(k) - g(k) is the integral over the cell of K(x - k) g''(x), with K(t) = (1/2 - |t|)^2 / 2.
       So sum |r - g| is at most the integral of K |g''|, K continued with period 1.
    2. K has mean 1/24, and K - 1/24 has a periodic antiderivative that stays within 0.00802 of zero. Integrating by
       parts, the integral of K |g''| is at most 1/24 of the integral of |g''|, plus 0.00802 times the variation of g''.
    3. The integral of |g''| is 4 max g' = 4 (2 pi e)^(-1/2) / sigma^2 < 0.9679 / sigma^2. g'' rises from 0 to a maximum
       2 (2 pi e^3)^(-1/2) / sigma^3, falls to -(2 pi)^(-1/2) / sigma^3 and comes back: a variation < 1.5101 / sigma^3.
    4. By Poisson summation C - 1 = 2 sum_{j >= 1} q^(j^2) <= 2 q / (1 - q^3), with q = exp(-2 pi^2 sigma^2).

    Together, TV <= 0.02017 / sigma^2 + 0.00606 / sigma^3 + q / (1 - q^3). The truth is near 0.02016 / sigma^2.

    Examples
    --------
    >>> from tacit.release.noise import discretisation_error
    >>> f"{discretisation_error(2.0**24):.1e}"
    '7.2e-17'
    """
    q = math.exp(-2 * (math.pi * sigma) ** 2)
    return min(1.0, 0.02017 / sigma**2 + 0.00606 / sigma**3 + q / (1 - q**3))


def laplace_discretisation_error(scale: float) -> float:
    """Bound the total variation between the discrete Laplace law and the Laplace law rounded to the nearest integer.

    A discrete Laplace release is exactly (D / scale)-differentially private, without this term. The term is for an
    accountant that composes the whole privacy profile of the *continuous* Laplace mechanism: the discrete one's profile
    meets it at the privacy losses that integers can have, and lies on its chords, a little higher, in between.

    Notes
    -----
    With h = 1 / (2 scale), rounding gives r(0) = 1 - e^-h and r(k) = sinh(h) e^(-|k| / scale) elsewhere, while the
    discrete law is d(k) = tanh(h) e^(-|k| / scale). As sinh > tanh, d exceeds r at k = 0 alone, and the distance is
    d(0) - r(0) = tanh(h) + e^-h - 1 <= h^2 / 2 = 1 / (8 scale^2), because tanh(h) <= h and e^-h <= 1 - h + h^2 / 2.

    Examples
    --------
    >>> from tacit.release.noise import laplace_discretisation_error
    >>> f"{laplace_discretisation_error(2.0**24):.1e}"
    '4.4e-16'
    """
    return min(1.0, 1 / (8 * scale**2))


def _check_candidates(
    utilities: ArrayLike, multiplicities: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    utility = np.asarray(utilities)
    count = np.ones(utility.shape, dtype=np.int64) if multiplicities is None else np.asarray(multiplicities)
    if utility.dtype.kind != "i" or count.dtype.kind != "i":
        raise TypeError("Utilities and multiplicities are whole numbers; quantise them with a Lattice first.")
    if utility.ndim != 1 or count.shape != utility.shape:
        raise ValueError(
            f"Utilities of shape {utility.shape} and multiplicities of shape {count.shape} were given; "
            "both must be one-dimensional and equally long."
        )
    if not (count > 0).any() or (count < 0).any() or (count > 2**52).any():
        raise ValueError("There must be at least one candidate, and multiplicities must be from 0 to 2**52.")
    if (utility >= 2**62).any() or (utility <= -(2**62)).any():
        raise ValueError("Utilities must be under 2**62 lattice steps in absolute value; choose a larger step.")
    return utility.astype(np.int64), count.astype(np.int64)
