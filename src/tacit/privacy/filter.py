"""The filter: may one more plan be charged, when every plan was chosen in the light of what earlier ones released?

Domination
----------
A pair of laws R *dominates* X if its hockey-stick divergence is at least that of X at every threshold and for both
orders of X. G(b) is the pair N(0, 1), N(b, 1); P(p) is randomised response of epsilon p; X x R is both, one after the
other. Facts used: G(a) x G(b) is G(sqrt(a^2 + b^2)), and P(p) dominates everything that is p-private.

Theorem (commitments)
---------------------
Let R_0, R_1, ... be commitments, each a function of the plans charged so far, with ``R_(t-1)`` dominating
``X_t x R_t`` for every plan X_t that is admitted. Then all that is ever released is dominated by R_0.

*Proof*, backwards from the last charge. What follows X_t is, for every outcome of X_t, dominated by R_t, which is the
same for all outcomes: it depends on the plans alone. So X_t and what follows is an adaptive composition of X_t with
something that R_t dominates, and X_t x R_t dominates that (Zhu, Dong and Wang, 2022, theorem 10). With Gaussian
commitments this is the filter of Smith and Thakurta (2022) and of Koskela, Tobaben and Honkela (2023).

What must not be done is to stop at the first of several limits that holds: which one it is depends on outcomes, and
the outcomes on one side of one limit and those on the other side of another add up to more than either.

The commitments made here, for a budget of epsilon and delta > 0
----------------------------------------------------------------
1. *The first plan* X_1 is chosen before anything is released. So R_0 need hold at the budget's epsilon alone, and X_1
   is composed exactly: R_1 = G(b) with the largest b for which the divergence of X_1 x G(b) at epsilon is within delta.
   If X_1 fills the budget there is no such b, and nothing can follow.
2. *Every other plan* is replaced by the least G(mu) that dominates it (``domination``), and R_t = G(sqrt(b^2 - sum of
   mu^2)). A Gaussian plan is its own, so books of Gaussian plans are exact.
3. *If the first plan is pure*, and as many like it fit if epsilons are added up as if they are replaced by Gaussians,
   then while all plans are pure R_t = max(P(p), G(b_t)) (the larger profile at each threshold), p what is left of
   epsilon: epsilons may be added up instead. Each of these plans, of epsilon e, counts as P(e) towards b_t.
   *Proof.* Let M = max(P(p - e), G(b')), X be e-private, and G(b) dominate P(e) x G(b'). M is convex in e^threshold, so
   among all X the divergence of X x M is the largest for P(e), at every threshold h: a mean of M(h - e) and M(h + e).
   P(p - e) is above G(b') between -c and c and below elsewhere, for some c. (i) If h - e is between, the mean is at
   most M(h - e) = P(p - e)(h - e) = (e^p - e^h) / (e^e + e^p) <= (e^p - e^h) / (1 + e^p) = P(p)(h). (ii) If h + e is
   between, exchange the two orders, which turns h into -h, and see (i). (iii) Else M is G(b') at both points, and the
   mean is at most G(b)(h). At the first plan thresholds are epsilon - e = p or more, where P(p) is zero: 1. holds.
4. *Slack.* Sampling errors add (1 + e^epsilon) times their sum to delta: they are the distance between what is
   released and releases that follow the plans, whatever was chosen. A plan may also be dominated up to a slack d, and
   slacks add up: by induction, what follows X_t has at each threshold at most the divergence of R_t plus the slacks to
   come, and the sum over outcomes is an f-divergence of X_t whose slope goes from 0 to at most 1, so that a slack of d
   in the divergences of X_t adds at most d. A limit on all slack, ``RESERVE`` of delta or some multiples of the first
   plan's own, is kept back when the first plan is charged. It is a limit of its own, because what is spent on slack
   and what is spent on Gaussians must not be exchanged in the light of outcomes. If the first plan is Gaussian and
   exact, nothing is kept back, and only plans without slack can follow.

For delta = 0, epsilons add up: R_t = P(p) (Rogers, Roth, Ullman and Vadhan, 2016).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from scipy.special import ndtri

from tacit.rounding import FORMULA_SLACK

from .budget import Budget, Relation
from .composition import transform_rounding
from .domination import closed_cost, numeric_cost
from .gaussian_profile import gaussian_mu
from .plan import Plan
from .steps import Gaussian, Laplace, Sampled, Selection, Step
from .terms import Term, terms_of

__all__ = ["RESERVE", "Filter", "has_slack"]

RESERVE = 0.01  # The part of delta that is kept back for slack. It costs 0.04% of noise.
_MULTIPLES = 4.0  # The reserve is at least this many times the slack of the first plan's own sampling error.
_LEAST_SLACK = 3.0  # A plan is dominated up to at least this many times the rounding error of its loss distribution.


def has_slack(plan: Plan) -> bool:
    """Return whether a plan is dominated by a Gaussian only up to a slack."""
    return plan.sampling_error > 0 or not plan.kinds <= {"gaussian", "laplace", "selection"}


@dataclass(frozen=True)
class Filter:
    """Plans in the order they were charged, and whether a budget allows them.

    Parameters
    ----------
    budget : Budget
        All that may be spent.
    plans : tuple of Plan
        All for one neighbouring relation.

    Examples
    --------
    >>> mixed = Plan((Gaussian("moments", 20.0), Laplace("count", 50.0)))
    >>> Filter(Budget(1.0, 1e-6), (mixed,) * 2).holds(), Filter(Budget(1.0, 1e-6), (mixed,) * 20).holds()
    (True, False)
    """

    budget: Budget
    plans: tuple[Plan, ...]

    def holds(self) -> bool:
        """Return whether everything that is charged is within the budget, whatever the plans depended on."""
        epsilon, delta = self.budget.epsilon, self.budget.delta
        if delta == 0 or len(self.plans) < 2:
            return self.composed.delta(epsilon) <= delta
        if self._slack > self._reserve or self._cost_of_others == math.inf:
            return False
        return (self._adds_up and self._pure_sum <= self._test_epsilon) or self._stands_in.delta(
            self._test_epsilon
        ) <= self.limit

    @property
    def limit(self) -> float:
        """What the first plan and all Gaussians may come to, at the budget's epsilon or a little below."""
        return self.budget.delta - self._slack_of(self.plans[0]) - self._reserve

    def delta(self, more: Plan) -> float:
        """Return what is compared with ``limit`` if a Gaussian plan without slack is charged as well."""
        return (self._stands_in + more).delta(self._test_epsilon)

    def epsilon(self) -> float:
        """Return the epsilon of all plans together at the budget's delta."""
        delta = self.budget.delta
        if delta == 0 or len(self.plans) < 2:
            least = self.composed.epsilon(delta)
        else:
            left = delta - self._domination_slack
            least = self.composed.epsilon(left) if left > 0 and self._cost_of_others < math.inf else math.inf
            charge = (1 + math.exp(min(self._pure_sum, 700.0))) * self._sampling_error
            least = min(least, self._pure_sum if self._adds_up and charge <= delta else math.inf)
        return min(least, self.budget.epsilon) if least < math.inf and self.holds() else least

    @cached_property
    def composed(self) -> Plan:
        """The first plan and the Gaussians that stand for the others, with all sampling errors."""
        if self.budget.delta == 0:
            steps = tuple(step for plan in self.plans for step in plan.steps)
            return Plan(_merge(steps), self._neighbors, self._sampling_error)
        return replace(self._stands_in, sampling_error=self._sampling_error)

    @cached_property
    def _stands_in(self) -> Plan:
        gaussian = tuple(step for plan in self.plans for step in plan.steps if plan.gaussian)
        first = () if not self.plans or self.plans[0].gaussian else self.plans[0].steps
        others = [Gaussian("dominating", self._cost_of_others**-0.5)] if self._cost_of_others else []
        return Plan((*first, *_merge(gaussian), *others), self._neighbors)

    @cached_property
    def _cost_of_others(self) -> float:
        return math.fsum(cost for cost, _ in self._costs)

    @cached_property
    def _costs(self) -> list[tuple[float, float]]:
        """The squared mu, and the slack, of each plan but the first that is not Gaussian."""
        costs, pure = [], self._adds_up
        for plan in self.plans[1:]:
            epsilon = _pure_epsilon(plan)
            pure = pure and epsilon < math.inf
            if pure:
                costs.append((_pure_mu(epsilon) ** 2, 0.0))
            elif not plan.gaussian:
                costs.append(self._cost(terms_of(plan.steps, plan.neighbors)))
        return costs

    def _cost(self, terms: tuple[Term, ...]) -> tuple[float, float]:
        closed = closed_cost(terms)
        if not self._reserve:
            return closed, 0.0
        spread = math.fsum(term.count * term.spread**2 for term in terms)
        part = min(1.0, spread / gaussian_mu(self._test_epsilon, self.budget.delta) ** 2)
        rounding = transform_rounding(sum(term.count for term in terms))
        slack = max(_LEAST_SLACK * rounding, part * self._reserve / 2)
        numeric = numeric_cost(terms, self._neighbors, slack)
        return (closed, 0.0) if closed <= numeric else (numeric, slack)

    @cached_property
    def _adds_up(self) -> bool:
        """Whether the first plan is pure, and at least as many plans like it fit if epsilons are added up."""
        epsilon = _pure_epsilon(self.plans[0]) if self.plans else math.inf
        if not 0 < epsilon < math.inf:
            return False
        cost, _ = self._cost(terms_of(self.plans[0].steps, self._neighbors))
        return self._test_epsilon / epsilon >= gaussian_mu(self._test_epsilon, self.budget.delta) ** 2 / cost

    @property
    def _neighbors(self) -> Relation:
        return self.plans[0].neighbors if self.plans else "replace_one"

    @property
    def _sampling_error(self) -> float:
        return min(1.0, math.fsum(plan.sampling_error for plan in self.plans))

    @property
    def _pure_sum(self) -> float:
        return math.fsum(_pure_epsilon(plan) for plan in self.plans)

    @property
    def _domination_slack(self) -> float:
        return math.fsum(slack for _, slack in self._costs)

    @property
    def _slack(self) -> float:
        """All slack but the first plan's own."""
        return math.fsum([self._domination_slack, *(self._slack_of(plan) for plan in self.plans[1:])])

    def _slack_of(self, plan: Plan) -> float:
        return (1 + math.exp(min(self._test_epsilon, 700.0))) * plan.sampling_error

    @property
    def _test_epsilon(self) -> float:
        """The epsilon at which delta is compared: less than the budget's where slack would take all of delta there."""
        epsilon, error = self.budget.epsilon, self.plans[0].sampling_error
        return min(epsilon, max(0.0, math.log(self.budget.delta / (16 * error)))) if error else epsilon

    @cached_property
    def _reserve(self) -> float:
        first = self.plans[0]
        if first.gaussian and not any(map(has_slack, self.plans)):
            return 0.0
        return max(RESERVE * self.budget.delta, _MULTIPLES * self._slack_of(first))


def _pure_epsilon(plan: Plan) -> float:
    """Return the sum of epsilons, sampling errors apart; infinity if a step is not pure."""
    if not all(isinstance(step.mechanism, (Laplace, Selection)) for step in plan.steps):
        return math.inf
    return math.fsum(step.count / step.noise_multiplier for step in plan.steps)


def _pure_mu(epsilon: float) -> float:
    """Return the mu that dominates randomised response, whose profile is the tangent of that of mu at alpha = 1."""
    return float(2 * ndtri(1 / (1 + math.exp(-epsilon)))) * FORMULA_SLACK


def _merge(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return steps in which equal releases are one."""
    counts: Counter[Step] = Counter()
    for step in steps:
        counts[_repeat(step, 1)] += step.count
    return tuple(_repeat(step, count) for step, count in counts.items())


@lru_cache(maxsize=4096)
def _repeat(step: Step, count: int) -> Step:
    """Return ``count`` releases of a step, as accountants see them."""
    mechanism = replace(step.mechanism, name="any", count=count)
    return Sampled(step.rate, mechanism) if isinstance(step, Sampled) else mechanism
