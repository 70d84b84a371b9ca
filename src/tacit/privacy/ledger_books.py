"""The books of one data set: what was charged, the chain that protects it, what it adds up to and what is left.

Pure: nothing here reads or writes a file or a server; ``ledger`` does, through ``ledger_store``.

Invariants
----------
- Whether a charge fits is decided by ``filter``, on all plans ever charged in their order: a filter that is proved for
  plans chosen in the light of earlier releases. What it computes is compared as it is: no tolerance, no rounding in
  favour of the one who asks.
- Each receipt's hash covers the receipt and the hash before it, the first hash covers the budget, and the books name
  the last one. So a changed, lost, added or exchanged charge breaks the chain, and so does a changed budget. (The chain
  finds accidents and clumsy hands. Whoever may write the database can also forge a whole new chain, or put an old copy
  back; a receipt kept elsewhere shows both.)
"""

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from math import log

from scipy.optimize import brentq

from .budget import Budget, Relation
from .errors import BudgetExceeded, LedgerError, PlanError
from .filter import Filter, has_slack
from .plan import Plan
from .steps import Gaussian

__all__ = ["Balance", "Books", "Receipt"]

# A damaged database may hold anything, even bytes. The repr of bytes is no value that was ever hashed.
_encode = json.JSONEncoder(default=repr).encode

_KEPT_BACK = " (a hundredth of delta is kept back for what sampling and rounding add)"
_LEAST_FRACTION = 1e-10  # A smaller fraction of the budget's squared mu counts as nothing left.


@dataclass(frozen=True)
class Receipt:
    """A charge, as it was recorded. Kept elsewhere, it shows whether the ledger was replaced by an old copy.

    Parameters
    ----------
    dataset : str
        What was charged.
    id : int
        1 for the first charge of a data set, 2 for the second, and so on.
    time : str
        When, in ISO 8601 and UTC.
    purpose : str
        What for, in the words of the one who charged.
    plan_json : str
        The plan, as stored; ``plan`` is the object.
    epsilon : float
        What the plan costs by itself at the data set's delta. Not to be added up: plans compose for less.
    hash : str
        SHA-256 of all the rest and of the hash before it.
    seeded : bool, default False
        Whether the noise came from a ``random_state``: then what was released is *not private*, whatever is charged.
    """

    dataset: str
    id: int
    time: str
    purpose: str
    plan_json: str = field(repr=False)
    epsilon: float
    hash: str
    seeded: bool = False

    @property
    def plan(self) -> Plan:
        """What was charged."""
        return _read_plan(self.plan_json)


@dataclass(frozen=True)
class Balance:
    """An amount of privacy, like a ``Budget``, except that ``epsilon`` may be 0."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Books:
    """All that is recorded about one data set.

    Parameters
    ----------
    dataset : str
        Its name.
    budget : Budget
        All that may ever be spent on it.
    neighbors : {"replace_one", "add_remove"}
        The relation under which the budget is meant.
    opened : str
        When the books were opened, in ISO 8601 and UTC.
    head : str
        The hash of the last receipt, or of the opening.
    receipts : tuple of Receipt
        The charges, in order.

    Examples
    --------
    >>> books = Books.open("patients", Budget(1.0, 1e-6), "replace_one")
    >>> receipt = books.admit(Plan((Gaussian("mean", 10.0),)), "a first look")
    >>> books = replace(books, head=receipt.hash, receipts=(receipt,))
    >>> books.verify()
    >>> round(books.spent().epsilon, 3), round(books.remaining().epsilon, 3)
    (0.397, 0.9)
    """

    dataset: str
    budget: Budget
    neighbors: Relation
    opened: str
    head: str
    receipts: tuple[Receipt, ...]

    @classmethod
    def open(cls, dataset: str, budget: Budget, neighbors: Relation) -> "Books":
        """Return new books, with nothing charged."""
        books = cls(dataset, budget, neighbors, _now(), "", ())
        return replace(books, head=books._first_link())

    def admit(self, plan: Plan, purpose: str, seeded: bool = False) -> Receipt:
        """Return the receipt of charging ``plan`` next, or raise if these books do not allow it."""
        if plan.neighbors != self.neighbors:
            raise PlanError(
                f"The plan is for neighbors={plan.neighbors!r}, and the budget of data set {self.dataset!r} for "
                f"{self.neighbors!r}; what is meant under one does not count under the other. "
                f"Fit with neighbors={self.neighbors!r}."
            )
        # This check comes first, because noise so large that delta underflows to zero would pass below.
        if self.budget.delta == 0 and not plan.pure:
            raise PlanError(
                f"The budget of data set {self.dataset!r} has delta=0, which no Gaussian noise and no sampling error "
                "can meet; plan exactly sampled Laplace noise and selections only."
            )
        charged = Filter(self.budget, (*self.plans, plan))
        if self.plans and self.plans[0].gaussian and has_slack(plan) and not any(map(has_slack, self.plans)):
            raise PlanError(
                f"The first plan charged to data set {self.dataset!r} has exact Gaussian noise, so nothing of its "
                "delta was kept back for sampling errors or rounding, and this plan has some. Nothing was charged. "
                "Charge exact Gaussian plans only to this data set."
            )
        if not charged.holds():
            raise BudgetExceeded(
                f"With this plan, data set {self.dataset!r} would be at epsilon {charged.epsilon():.4g} "
                f"for delta {self.budget.delta:g}, and its budget is epsilon {self.budget.epsilon:g}"
                f"{_KEPT_BACK if charged.epsilon() <= self.budget.epsilon else ''}. Nothing was "
                "charged. Ask the ledger what is remaining, and fit with a smaller epsilon."
            )
        text = json.dumps(plan.to_dict(), separators=(",", ":"), allow_nan=False)
        alone = Filter(self.budget, (plan,)).epsilon()
        receipt = Receipt(self.dataset, len(self.receipts) + 1, _now(), purpose, text, alone, "", seeded)
        return replace(receipt, hash=_link(self.head, receipt))

    @property
    def plans(self) -> tuple[Plan, ...]:
        """What was charged, in order."""
        return tuple(receipt.plan for receipt in self.receipts)

    def spent(self) -> Balance:
        """Return the epsilon, at the budget's delta, of everything that was charged."""
        composed = Filter(self.budget, self.plans).epsilon()
        # The two are rounded in different ways, which must not make one charge look larger than all of them.
        return Balance(max([composed, *(receipt.epsilon for receipt in self.receipts)]), self.budget.delta)

    def remaining(self) -> Balance:
        """Return the epsilon, at the budget's delta, of the largest single release that may still be charged.

        That release is Gaussian, or Laplace where delta is 0. A plan of Gaussian steps calibrated to this balance is
        admitted, and one calibrated to noticeably more is not. Usually it is more than the budget minus ``spent``,
        because plans compose for less than the sum of their epsilons.
        """
        epsilon, delta = self.budget.epsilon, self.budget.delta
        charged = Filter(self.budget, self.plans)
        if not self.plans:
            return Balance(epsilon, delta)
        if delta == 0:
            left = epsilon - charged.epsilon()
            return Balance(left * (1 - 1e-12) if left > 1e-12 * epsilon else 0.0, 0.0)
        whole = Plan((Gaussian("what is left", 1.0),), self.neighbors).calibrate(self.budget)

        def release(fraction: float) -> Plan:
            return whole.scaled(fraction**-0.5)

        def allows(fraction: float) -> bool:
            return Filter(self.budget, (*self.plans, release(fraction))).holds()

        def excess(fraction: float) -> float:
            return log(max(charged.delta(release(fraction)), 1e-320) / charged.limit)

        if not charged.holds() or charged.limit <= 0 or not allows(_LEAST_FRACTION):
            return Balance(0.0, delta)
        if excess(1.0) <= 0:
            return Balance(epsilon, delta)
        # Steps of this relative size lead from the root to an admitted fraction. A step may take a mixed plan a second.
        tolerance = 1e-9 if self.plans[0].gaussian else 1e-4
        fraction = float(brentq(excess, _LEAST_FRACTION, 1.0, xtol=1e-300, rtol=tolerance)) * (1 - tolerance)
        while not allows(fraction):
            fraction *= 1 - tolerance
        return Balance(release(fraction).epsilon(delta), delta)

    def verify(self) -> None:
        """Raise a ``LedgerError`` unless the chain of hashes is whole and every plan can be read."""
        previous = self._first_link()
        for number, receipt in enumerate(self.receipts, start=1):
            if receipt.id != number:
                raise self._damage(f"charge {number} is missing or not in its place")
            if receipt.hash != _link(previous, receipt):
                raise self._damage(f"charge {number} was changed after it was recorded, or one before it was removed")
            try:
                _read_plan(receipt.plan_json)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise self._damage(f"the plan of charge {number} cannot be read: {error}") from error
            previous = receipt.hash
        if self.head != previous:
            raise self._damage("its last charge was removed, or its budget was changed")

    def _first_link(self) -> str:
        return _hash(self.dataset, self.budget.epsilon, self.budget.delta, self.neighbors, self.opened)

    def _damage(self, what: str) -> LedgerError:
        return LedgerError(
            f"The record of data set {self.dataset!r} is damaged: {what}. Nothing more can be charged to it. "
            "Its history can still be read; restore the ledger from a copy that has every charge."
        )


def _link(previous: str, receipt: Receipt) -> str:
    mark = ("seeded",) if receipt.seeded else ()  # Without a mark, a link is what it was in version 0.1.
    return _hash(
        previous,
        receipt.dataset,
        receipt.id,
        receipt.time,
        receipt.purpose,
        receipt.plan_json,
        receipt.epsilon,
        *mark,
    )


def _hash(*values: str | float) -> str:
    return sha256(_encode(values).encode()).hexdigest()


@lru_cache(maxsize=4096)
def _read_plan(text: str) -> Plan:
    return Plan.from_dict(json.loads(text))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
