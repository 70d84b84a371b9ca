"""The profile of mixed plans: Laplace, selection, subsampled and tilted releases beside Gaussian ones.

Each of three bounds is valid, so the least of them is:

- **PLD**: dp_accounting's privacy loss distributions, rounded pessimistically ("connect the dots"), convolved by FFT.
- **RDP**: dp_accounting's Renyi bounds. Better for many selections, and for deltas below the accuracy of an FFT.
- **Pure**: the sum of the epsilons, where no release is Gaussian.

Invariants
----------
- Every pair of neighbouring outputs of a release is dominated by the pair used here *for every alpha*, so that
  products of the pairs dominate adaptive compositions (Zhu, Dong and Wang, "Optimal Accounting of Differential Privacy
  via Characteristic Function", 2022, theorem 10). Proofs are in ``_selection``, ``_sampled_gaussian``,
  ``_tilted_gaussian`` and ``smooth_profiles``.
- Noise multipliers are relative to the sensitivity under the plan's own relation. So dp_accounting is asked about its
  *add or remove* pair under both relations: its "replace one" would double what is already doubled.
- Rounding errors are charged (``_loss_delta``, ``_LEAST_RENYI``), never ignored.

Importing dp_accounting takes over a second, so it waits until a mixed plan needs it.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from tacit.arrays import Array

from .budget import Relation
from .errors import PlanError
from .gaussian_profile import raise_until
from .smooth_profiles import smooth_gaussian_delta, smooth_laplace_delta
from .terms import TAIL, Term

__all__ = ["MixedProfile", "selection_delta", "tilted_delta"]

# Grids of privacy losses. A coarser grid is quicker and more pessimistic, and never wrong: benchmarks/calibration.py
# measures the time and the noise.
_RESOLUTION = 30.0  # The number of grid points per standard deviation of the loss of an average release.
_LEAST_RESOLUTION = 300.0  # The least number of grid points per standard deviation of the loss of all releases.
_MOST_POINTS = 2**18  # The largest grid.
_MOST_SAMPLED_POINTS = 2**15  # The largest grid of sampled releases: each point takes microseconds of Python.
_LEAST_INTERVAL, _LARGEST_INTERVAL = 1e-9, 100.0  # Rounding spoils a finer grid, and a coarser one overflows.
# Renyi bounds.
_RENYI_BELOW = 1e-9  # Below this delta the rounding of an FFT weighs, and the slower Renyi bound may be the lesser.
_WHOLE_ORDERS = (*range(2, 65), 96, 128, 192, 256, 384, 512, 1024)  # Orders of Renyi divergences.
# Added per release. It covers the rounding of Renyi divergences, which may come out as zero or less.
_LEAST_RENYI = 1e-12


def transform_rounding(releases: float) -> float:
    """Return what Fourier transforms may leave in the tail of the loss distribution of `releases` releases."""
    return 1e-13 + 2e-16 * releases


class MixedProfile:
    """The profile of any releases together; ``resolution`` < 1 is quicker, and more pessimistic.

    Examples
    --------
    >>> both = MixedProfile((Term("laplace", 2.0, 1.0, 1), Term("selection", 2.0, 1.0, 1)), "add_remove")
    >>> both.epsilon(0.0), round(both.epsilon(1e-3), 3)
    (1.0, 0.943)
    """

    def __init__(self, terms: tuple[Term, ...], neighbors: Relation, resolution: float = 1.0) -> None:
        self.terms, self.neighbors = terms, neighbors
        self.selections = sum(term.count for term in terms if term.kind == "selection")
        self.total = sum(term.count for term in terms)
        self.spread = math.sqrt(sum(term.count * term.spread**2 for term in terms))
        # "Connect the dots" adds a variance of about interval^2 per release.
        wanted = self.spread / (resolution * max(_RESOLUTION * math.sqrt(self.total), _LEAST_RESOLUTION))
        largest = max(TAIL * self.spread, *(term.largest_loss for term in terms))
        sampled = sum(term.largest_loss for term in terms if term.kind == "sampled_gaussian")
        least = max(2 * largest / _MOST_POINTS, 2 * sampled / (_MOST_SAMPLED_POINTS * resolution))
        self.interval = max(wanted, least)

    @cached_property
    def pure(self) -> float:
        """The sum of the epsilons; infinite with any Gaussian release."""
        if all(term.kind in ("laplace", "selection") for term in self.terms):
            return math.fsum(term.count / term.noise_multiplier for term in self.terms)
        return math.inf

    def delta(self, epsilon: float) -> float:
        """Return the least proven delta at ``epsilon``."""
        if epsilon >= self.pure:
            return 0.0
        delta = self._loss_delta(epsilon)
        # A PLD is nearly exact, except for several selections. The slower bound helps there, and where rounding weighs.
        if delta < _RENYI_BELOW or self.selections > 1:
            return min(delta, self._renyi_delta(epsilon))
        return delta

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon whose proven delta is at most ``delta``; infinity if there is none."""
        if delta == 0:
            if math.isinf(self.pure):
                raise ValueError(
                    "Gaussian noise has no finite epsilon at delta=0; ask for a positive delta such as 1e-6, "
                    "or plan Laplace noise and selections only."
                )
            return self.pure
        if self.delta(0.0) <= delta:
            return 0.0
        high = min(self.pure, 4 * self.spread + self.spread**2)
        while self.delta(high) > delta:
            high *= 2
            if high > 1e6:
                return math.inf
        target = math.log(delta)
        root = brentq(lambda e: math.log(max(self.delta(e), 1e-320)) - target, 0.0, high, xtol=1e-300, rtol=1e-13)
        return min(high, raise_until(lambda e: e >= high or self.delta(e) <= delta, float(root)))

    def _loss_delta(self, epsilon: float) -> float:
        """Return the bound of the privacy loss distribution, with its rounding errors on top.

        Second differences on the grid lose about 1e-16 / interval of a release's mass, and Fourier transforms leave
        about 1e-17 times the number of releases in a tail (measured against the closed form, for up to 10^6 Gaussian
        releases).
        """
        if not self._is_resolved:
            return 1.0
        delta = float(self._pld.get_delta_for_epsilon(epsilon))
        if math.isnan(delta):  # Older versions of dp_accounting overflow here. Delta falls with epsilon.
            delta = float(self._pld.get_delta_for_epsilon(700.0))
        return min(1.0, max(0.0, delta) * (1 + 1e-15 * self.total / self.interval) + 1e-13 + 2e-16 * self.total)

    def loss_deltas(self, epsilons: Array) -> Array:
        """Return the same bound at many epsilons from 0 to 700 at a time; zero from ``pure`` on."""
        if not self._is_resolved:
            return np.ones_like(epsilons)
        deltas = np.maximum(0.0, np.asarray(self._pld.get_delta_for_epsilon(epsilons), dtype=np.float64))
        charged = np.minimum(1.0, deltas * (1 + 1e-15 * self.total / self.interval) + self.rounding)
        bounds: Array = np.where(epsilons >= self.pure, 0.0, charged)
        return bounds

    @property
    def rounding(self) -> float:
        """What Fourier transforms may leave in a tail."""
        return transform_rounding(self.total)

    @property
    def _is_resolved(self) -> bool:
        return _LEAST_INTERVAL < self.interval < _LARGEST_INTERVAL

    @cached_property
    def _pld(self) -> Any:
        composed, *others = (_build_pld(term, self.neighbors, self.interval) for term in self.terms)
        for other in others:
            composed = composed.compose(other)
        return composed

    @cached_property
    def _renyi(self) -> Any:
        """A Renyi accountant that has seen all releases, or None where dp_accounting has no bound."""
        import dp_accounting as dp

        # An epsilon-bounded-range selection is epsilon^2/8-zCDP (Cesar and Rogers, "Bounding, Concentrating, and
        # Truncating", 2021): the Renyi bound of a Gaussian release with mu = epsilon/2.
        mu_squared = 2 * _LEAST_RENYI * self.total
        events = []
        for term in self.terms:
            noise_multiplier, count = term.noise_multiplier, term.count
            if term.kind == "smooth_gaussian":
                return None
            if term.kind in ("gaussian", "smooth_laplace"):
                mu_squared += count / noise_multiplier**2
            elif term.kind == "selection":
                mu_squared += count / (4 * noise_multiplier**2)
            elif term.kind == "laplace":
                events.append(dp.SelfComposedDpEvent(dp.LaplaceDpEvent(noise_multiplier), count))
            elif self.neighbors == "replace_one" or term.kind == "tilted_gaussian":
                return None
            else:
                sampled = dp.PoissonSampledDpEvent(term.sampling_rate, dp.GaussianDpEvent(noise_multiplier))
                events.append(dp.SelfComposedDpEvent(sampled, count))
        events.append(dp.GaussianDpEvent(1 / math.sqrt(mu_squared)))
        # The series for sampled releases is slow at fractional orders, and may fail to converge.
        orders = _WHOLE_ORDERS if any(term.kind == "sampled_gaussian" for term in self.terms) else None
        return dp.rdp.RdpAccountant(orders).compose(dp.ComposedDpEvent(events))

    def _renyi_delta(self, epsilon: float) -> float:
        return 1.0 if self._renyi is None else float(self._renyi.get_delta(epsilon))


def _build_pld(term: Term, neighbors: Relation, interval: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    if term.kind == "gaussian":
        return pld.from_gaussian_mechanism(
            term.noise_multiplier / math.sqrt(term.count), value_discretization_interval=interval
        )
    if term.kind == "laplace":
        single = pld.from_laplace_mechanism(term.noise_multiplier, value_discretization_interval=interval)
    elif term.kind == "selection":
        single = _selection(1 / term.noise_multiplier, interval)
    elif term.kind in ("smooth_laplace", "smooth_gaussian"):
        single = _smooth(term, interval)
    elif term.kind == "tilted_gaussian":
        single = _tilted_gaussian(term, neighbors, interval)
    else:
        single = _sampled_gaussian(term, neighbors, interval)
    return single.self_compose(term.count)


def _selection(epsilon: float, interval: float) -> Any:
    """Return the PLD of one epsilon-bounded-range choice, about half as wide as that of randomised response.

    The privacy loss of such a choice lies in [t - epsilon, t] for some t in [0, epsilon], and the extreme pair of
    distributions with this range takes its two ends only (Dong, Durfee and Rogers, "Optimal Differential Privacy
    Composition for Exponential Mechanisms", 2020). With E = e^epsilon, its hockey-stick divergence at e >= 0 is
    (E - e^t)(1 - e^(e-t)) / (E - 1), which is largest at t = (epsilon + e)/2. This largest value,
    (e^(epsilon/2) - e^(e/2))^2 / (E - 1), is convex in e^e, so it is the profile of one pair of distributions that
    dominates every such choice. At e < 0 it is the mirror image: exchanging the data sets gives such a choice again.
    """
    return _mirror(lambda epsilons: selection_delta(epsilons, epsilon), epsilon, interval)


def _smooth(term: Term, interval: float) -> Any:
    """Return the PLD of one release with noise relative to a smooth bound; the proofs are where the profiles are.

    The one of Laplace noise dominates both orders of any two neighbours, so at negative epsilons its mirror image does
    as well. Beyond its grid a loss counts as infinite.
    """
    inverse = 1 / term.noise_multiplier

    def delta(epsilons: Array) -> Array:
        if term.kind == "smooth_laplace":
            return smooth_laplace_delta(epsilons, inverse / 2, inverse / 2)
        return smooth_gaussian_delta(epsilons, inverse, term.shape, term.dimensions)

    return _mirror(delta, term.largest_loss, interval)


def _mirror(delta: Callable[[Array], Array], largest: float, interval: float) -> Any:
    """Return the PLD with this profile at epsilons from 0 to ``largest``, the same for both orders of neighbours."""
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld import privacy_loss_distribution as pld

    points = math.ceil(largest / interval)
    grid = np.arange(-points, points + 1) * interval
    deltas = delta(np.abs(grid))
    below = np.minimum(grid, 0.0)
    deltas = np.where(grid < 0, -np.expm1(below) + np.exp(below) * deltas, deltas)
    return pld.PrivacyLossDistribution(
        pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, -points, points, deltas)
    )


def selection_delta(epsilons: Array, epsilon: float) -> Array:
    """Return the exact delta of one epsilon-bounded-range choice at each of ``epsilons >= 0``.

    Examples
    --------
    >>> selection_delta(np.array([0.0, 0.5, 1.0]), 1.0).round(4).tolist()
    [0.2449, 0.0774, 0.0]
    """
    # This is (e^(a/2) - e^(b/2))^2 / (e^a - 1), with both parts multiplied by e^-a so that nothing overflows.
    gap = np.maximum(epsilon - epsilons, 0.0)
    return np.expm1(-gap / 2) ** 2 / -math.expm1(-epsilon)


def _sampled_gaussian(term: Term, neighbors: Relation, interval: float) -> Any:
    """Return the PLD of one Gaussian release on a Poisson sample.

    Under add_remove it is dp_accounting's own pair. Under replace_one, rows x and x' of norm at most 1 are exchanged,
    and the claim is that the pair (1-q) N(0) + q N(1), (1-q) N(0) + q N(-1), with q the sampling rate, dominates in any
    dimension. For alpha >= 1 and c = (1-q)(alpha - 1), the hockey-stick divergence is the largest, over all sets S, of

        q N(x)(S) - c N(0)(S) - q alpha N(x')(S).

    Let the half-line S* have under N(1) the mass that S has under N(x). By Neyman and Pearson, no set of that mass has
    less mass than S* under a normal law at most 1 away, nor under one at most 2 away: N(0)(S*) <= N(0)(S) and
    N(-1)(S*) <= N(x')(S). So S* does for the pair at least as well as S. The pair is its own mirror image, which covers
    alpha < 1. That other rows are sampled too is a mixture of such cases, and the divergence is jointly convex.
    """
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import privacy_loss_distribution as pld

    options: dict[str, Any] = {}
    if neighbors == "replace_one":
        options["neighboring_relation"] = NeighboringRelation.REPLACE_ONE
    try:
        return pld.from_gaussian_mechanism(
            term.noise_multiplier,
            value_discretization_interval=interval,
            sampling_prob=term.sampling_rate,
            **options,
        )
    except TypeError as error:
        raise PlanError(
            "The installed dp-accounting cannot account for sampled releases under 'replace_one'; "
            "install dp-accounting 0.5 or later, or plan for 'add_remove'."
        ) from error


def _tilted_gaussian(term: Term, neighbors: Relation, interval: float) -> Any:
    """Return the PLD of the minimum of a convex sum over rows that is tilted by a Gaussian linear term.

    Rows have functions f of theta, of one linear prediction each, so that gradients are g = s(theta) z along a line
    that theta does not move; the sum has a ridge, too. Write h for the gradient of all that, H for its derivative. The
    tilt that has its minimum at theta is b = -h(theta), one to one and smooth, so the minimum's density at theta is the
    density of b there, N(0, sigma^2), times det H. Let one row more, or one in place of another, make h' and H' of
    them. The privacy loss is

        (|h'|^2 - |h|^2) / (2 sigma^2) + log det H - log det H'.

    *Determinants.* With A what the two data sets share, det H = det(A + c z z') = det A (1 + c z' A^-1 z) for the row
    that H' has not, and det H' >= det A. So their logarithms differ by at most D = log(1 + largest c |z|^2 / ridge),
    under both relations and either way; D = ``bend`` / ``noise_multiplier`` by the choice of the ridge.

    *Gradients.* h' - h is g of one row, or the difference of two, each at most L long: k L in all, k = 1 or 2 rows, and
    M = k L / sigma is one over the noise multiplier. h is normal under the first data set, so its part along the line
    of a row is sigma times a standard normal Z: the first term of the loss is at most M |Z| + M^2 / 2 for one row and
    M (|Z| + |Z'|) / 2 + M^2 / 2 for two, however these depend on each other. Both are at most M T + M^2 / 2, T the
    larger of k such |Z|; and P(T > t) <= min(1, 2 k P(Z > t)).

    So the loss is below U = D + M^2 / 2 + M T with that law of T, for every pair of neighbours, either way. The
    hockey-stick divergence is a mean of (1 - e^(epsilon - loss))_+, which grows with the loss: the law of U under one
    side, with e^-U of it on the other and the rest of that side's mass apart, makes a pair that dominates for every
    alpha. Its profile is ``tilted_delta``.
    """
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld import privacy_loss_distribution as pld

    rows = 2 if neighbors == "replace_one" else 1
    upper = math.ceil(term.largest_loss / interval)
    epsilons: Array = np.arange(upper + 1, dtype=np.float64) * interval
    deltas = tilted_delta(epsilons, 1 / term.noise_multiplier, term.shape, rows)
    return pld.PrivacyLossDistribution(
        pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, 0, upper, deltas)
    )


def tilted_delta(epsilons: Array, mu: float, bend: float, rows: int) -> Array:
    """Return the delta of a tilted minimum at each of ``epsilons >= 0``; mu is one over the noise multiplier.

    The mean of (1 - e^(epsilon - U))_+, with U = bend mu + mu^2 / 2 + mu T, and T of the density 2 rows phi(t) from
    where that has mass 1.

    Examples
    --------
    >>> tilted_delta(np.array([0.0, 0.5, 1.0]), 0.25, 0.5, rows=1).round(6).tolist()
    [0.291719, 0.017576, 4.5e-05]
    """
    shift = bend * mu
    least = -ndtri(1 / (2 * rows))
    t = np.maximum((epsilons - shift - mu * mu / 2) / mu, least)
    values = 2 * rows * (ndtr(-t) - np.exp(epsilons - shift + log_ndtr(-t - mu)))
    deltas: Array = np.clip(values, 0.0, 1.0)
    return deltas
