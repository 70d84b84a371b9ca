"""From steps to a privacy profile: delta(epsilon), its inverse, and the noise that a budget needs.

Three kinds of plan
-------------------
- **All Gaussian**: the exact closed form (``gaussian_profile``), well under 5 ms.
- **Pure**, at delta = 0 (Laplace and selection only): the sum of the epsilons.
- **Anything else**: the least of the valid bounds in ``composition`` (privacy loss distributions, Renyi, pure), cached.

Invariants
----------
- Never under-report: every delta and epsilon returned is an upper bound, and ``calibration_factor`` returns a factor at
  which the bound, as computed, holds.
- Answers depend on kinds, noise multipliers and counts only, and on sizes where bounds are smooth; not on names or the
  order of steps.
"""

import math
from collections.abc import Callable
from functools import cache, lru_cache

from scipy.optimize import brentq, minimize_scalar

from .budget import Relation
from .composition import MixedProfile
from .errors import PlanError
from .gaussian_profile import GaussianProfile, gaussian_mu, raise_until
from .steps import Step
from .terms import Term, terms_of

__all__ = ["Profile", "calibration_factor", "delta", "epsilon", "profile"]

# Both only trade time for noise, which benchmarks/calibration.py measures. Every answer is checked at resolution 1.
_COARSE = 0.25  # The relative resolution of the grid while the search is far from the answer.
_TOLERANCE = 1e-4  # The relative excess of noise that the search may leave in a mixed plan.

Profile = GaussianProfile | MixedProfile


def profile(steps: tuple[Step, ...], neighbors: Relation) -> Profile:
    """Return the privacy profile of ``steps`` composed, adaptively chosen, on the same rows.

    Examples
    --------
    >>> from tacit.privacy.steps import Gaussian, Laplace
    >>> profile((Gaussian("a", 5.0, count=4), Gaussian("b", 2.5)), "replace_one").mu
    0.565685424949238
    >>> round(profile((Gaussian("a", 5.0), Laplace("b", 2.0)), "replace_one").epsilon(1e-6), 2)
    1.3
    """
    return _cached_profile(terms_of(steps, neighbors), neighbors)


def delta(steps: tuple[Step, ...], neighbors: Relation, epsilon: float, sampling_error: float = 0.0) -> float:
    """Return the least proven delta of ``steps`` at ``epsilon``.

    Examples
    --------
    >>> from tacit.privacy.steps import Gaussian
    >>> f"{delta((Gaussian('sum', 4.0),), 'replace_one', 1.0):.3g}"
    '2.92e-06'
    """
    composed = profile(steps, neighbors)
    if not sampling_error:
        return composed.delta(epsilon)
    with_error = _delta_with_error(composed, sampling_error)
    return with_error(min(epsilon, _cheapest_epsilon(terms_of(steps, neighbors), neighbors, sampling_error)))


def epsilon(steps: tuple[Step, ...], neighbors: Relation, delta: float, sampling_error: float = 0.0) -> float:
    """Return the least proven epsilon of ``steps`` at ``delta``; infinity where the sampling error leaves none.

    Examples
    --------
    >>> from tacit.privacy.steps import Laplace
    >>> epsilon((Laplace("count", 4.0, count=2),), "replace_one", 0.0)
    0.5
    """
    composed = profile(steps, neighbors)
    if not sampling_error:
        return composed.epsilon(delta)
    with_error = _delta_with_error(composed, sampling_error)
    cheapest = _cheapest_epsilon(terms_of(steps, neighbors), neighbors, sampling_error)
    if with_error(cheapest) > delta:
        return math.inf
    if with_error(0.0) <= delta:
        return 0.0
    root = float(brentq(lambda e: with_error(e) - delta, 0.0, cheapest, xtol=1e-300, rtol=1e-14))
    return min(cheapest, raise_until(lambda e: e >= cheapest or with_error(e) <= delta, root))


@lru_cache(maxsize=1024)
def calibration_factor(steps: tuple[Step, ...], neighbors: Relation, epsilon: float, delta: float) -> float:
    """Return the least factor on all noise multipliers with which delta(epsilon) <= delta.

    Examples
    --------
    >>> from tacit.privacy.steps import Gaussian
    >>> round(calibration_factor((Gaussian("sum", 1.0),), "replace_one", 1.0, 1e-6), 4)
    4.2247
    """
    if not steps:
        return 1.0

    def terms(factor: float) -> tuple[Term, ...]:
        return terms_of(tuple(step.scaled(factor) for step in steps), neighbors)

    composed = _build(terms(1.0), neighbors)
    if delta == 0:
        pure = composed.epsilon(0.0)
        return raise_until(lambda f: _build(terms(f), neighbors).epsilon(0.0) <= epsilon, pure / epsilon)
    mu = gaussian_mu(epsilon, delta)
    if isinstance(composed, GaussianProfile):
        return raise_until(lambda f: _build(terms(f), neighbors).delta(epsilon) <= delta, composed.mu / mu)

    def scaled(log_factor: float, resolution: float) -> MixedProfile:
        return MixedProfile(terms(math.exp(log_factor)), neighbors, resolution)

    @cache
    def excess(log_factor: float, resolution: float) -> float:
        return math.log(max(scaled(log_factor, resolution).delta(epsilon), 1e-320) / delta)

    start = _root_from_above(lambda x: math.log(scaled(x, 1.0).spread / mu), math.log(composed.spread / mu), 0.5, 1e-2)
    near = _root_from_above(lambda x: excess(x, _COARSE), start, 0.1, 1e-3)
    return math.exp(_root_from_above(lambda x: excess(x, 1.0), near, 2e-3, _TOLERANCE))


def _root_from_above(decreasing: Callable[[float], float], start: float, step: float, tolerance: float) -> float:
    """Return a point at most ``tolerance`` beyond the root of a decreasing function, which is not positive there.

    The search begins at ``start``.
    """
    low = high = start
    while decreasing(low) <= 0:
        low, high, step = low - step, low, 2 * step
    while decreasing(high) > 0:
        low, high, step = high, high + step, 2 * step
        if step > 16:
            raise PlanError(
                "No amount of noise is proven to meet this budget: its delta is smaller than what the accountant can "
                "resolve for these steps; allow a delta of at least 1e-10."
            )
    root = float(brentq(decreasing, low, high, xtol=tolerance / 2))
    while root < high and decreasing(root) > 0:
        root += tolerance / 2
    return min(root, high)


def _build(terms: tuple[Term, ...], neighbors: Relation) -> Profile:
    if not terms:
        return GaussianProfile(0.0)
    if len(terms) == 1 and terms[0].kind == "gaussian":
        return GaussianProfile(1 / terms[0].noise_multiplier)
    return MixedProfile(terms, neighbors)


_cached_profile = lru_cache(maxsize=32)(_build)  # So few, because a mixed profile may hold a few megabytes.


def _delta_with_error(composed: Profile, error: float) -> Callable[[float], float]:
    """Return delta(epsilon) when both outputs of a neighbouring pair move by ``error`` in total variation."""
    return lambda e: min(1.0, composed.delta(e) + (1 + math.exp(min(e, 700.0))) * error)


@lru_cache(maxsize=1024)
def _cheapest_epsilon(terms: tuple[Term, ...], neighbors: Relation, error: float) -> float:
    """Return the epsilon at which delta with the sampling error is least.

    A profile is convex in e^epsilon and its charge is linear in it, so their sum falls, then rises. What holds at one
    epsilon holds at every larger one, so beyond this point the least value stays. (Any point would be sound.)
    """
    with_error = _delta_with_error(_cached_profile(terms, neighbors), error)
    least = minimize_scalar(
        with_error, bounds=(0.0, math.log(1 / error) + 1), method="bounded", options={"xatol": 1e-6}
    )
    return float(least.x)
