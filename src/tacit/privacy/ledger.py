"""The ledger: what each data set may spend, what it has spent, and on what; kept durably, outside the program.

Invariants
----------
- A charge is on disk before ``charge`` returns, so it is recorded before the first release that it pays for. Whatever
  kills a process, the record never has less than what was released.
- Whether a charge fits is decided by the accountant on all stored plans, inside the transaction that records it: two
  processes can never both get the last of a budget.
- A refusal, and any other exception, leaves the record as it was.
- Every decision checks the whole record first (``ledger_books``); only ``history`` shows a damaged one.

What the guarantee means when plans are chosen adaptively
---------------------------------------------------------
The steps of plans compose adaptively: what is asked in a later one may depend on what earlier ones released. Here the
*plans themselves*, their noise and number, may also be chosen in the light of earlier releases, and the ledger stops
when the budget is full: it is a privacy filter. If all plans on a data set are Gaussian, this filter is valid as it
stands: the composed guarantee is that of plans fixed in advance, however later ones are chosen (Smith and Thakurta,
"Fully Adaptive Composition for Gaussian Differential Privacy", 2022). If other steps are mixed in, the composed bound
presumes plans whose noise and number were fixed independently of earlier outputs; no equally tight filter is known for
them. At delta = 0 epsilons add up, and that is valid for adaptive choices too (Rogers, Roth, Ullman and Vadhan,
"Privacy Odometers and Filters", 2016).
"""

import os
from dataclasses import dataclass

from tacit.messages import brief

from .budget import Budget, Relation, check_relation
from .errors import LedgerError, PrivacyError
from .ledger_books import Balance, Books, Receipt
from .ledger_store import Execute, canonical_url, open_store, shown_url
from .plan import Plan

__all__ = ["Account", "Balance", "Ledger", "Receipt"]


@dataclass(frozen=True)
class Ledger:
    """A durable record of privacy budgets: named data sets, and every plan that was charged to them.

    Parameters
    ----------
    url : str or path, default "tacit-ledger.db"
        A file (``"study.db"``, ``"sqlite:///study.db"``, or ``"sqlite:////data/study.db"`` with an absolute path), or a
        PostgreSQL server (``"postgresql://user:password@host/database"``). A relative path is fixed where the ledger is
        named, once and for all. Keep a file on a disk of this machine: locks on network folders cannot be relied on.

    Notes
    -----
    A ledger holds its URL and nothing else, and connects anew for each question; so it can be copied, pickled and sent
    to other processes. The URL may hold a password: then a pickle does, too. No repr and no message shows it.

    For all-Gaussian plans the ledger is a valid privacy filter even if later plans are chosen in the light of earlier
    releases (Smith and Thakurta, 2022). With other steps among them, the composed bound presumes that the plans, their
    noise and number, were fixed independently of earlier outputs.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from tacit.privacy import Gaussian
    >>> plan = Plan((Gaussian("moments", 1.0, count=10),)).calibrate(Budget(0.5, 1e-6))
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/study.db")
    ...     patients = ledger.create("patients", Budget(2.0, 1e-6))
    ...     receipt = patients.charge(plan, "a first look")
    ...     print(ledger.datasets(), receipt.id, round(receipt.epsilon, 3), round(patients.remaining().epsilon, 3))
    ['patients'] 1 0.5 1.915
    """

    url: str

    def __init__(self, url: str | os.PathLike[str] = "tacit-ledger.db") -> None:
        object.__setattr__(self, "url", canonical_url(url))

    def create(self, dataset: str, budget: Budget, neighbors: Relation = "replace_one") -> "Account":
        """Open an account for a data set, and make the ledger if there is none.

        Again with the same budget and relation it changes nothing; with any other it raises a ``LedgerError``: a budget
        is a promise to the people in the data.
        """
        _check_name(dataset)
        if not isinstance(budget, Budget):
            raise TypeError(
                f"The budget of a data set is a Budget, such as Budget(1.0, 1e-6), and it is {brief(budget)}."
            )
        books = Books.open(dataset, budget, check_relation(neighbors))
        row = (books.dataset, budget.epsilon, budget.delta, books.neighbors, books.opened, books.head)
        store = open_store(self.url)
        store.create()
        with store.transaction(writing=True) as execute:
            execute(
                "INSERT INTO tacit_dataset (name, epsilon, delta, neighbors, opened, head) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                *row,
            )
            found = self._books(execute, dataset, store.row_lock)
        if (found.budget, found.neighbors) != (budget, neighbors):
            raise LedgerError(
                f"Data set {dataset!r} already has a budget of epsilon {found.budget.epsilon:g}, delta "
                f"{found.budget.delta:g} under {found.neighbors!r}, and that cannot be changed. "
                f"Use account({dataset!r}) to spend from it."
            )
        return Account(self, dataset)

    def account(self, dataset: str) -> "Account":
        """Return the account of a data set: what estimators take as ``ledger=``."""
        self._read(dataset, verify=False)
        return Account(self, dataset)

    def datasets(self) -> list[str]:
        """Return the names of all data sets, sorted."""
        with open_store(self.url).transaction() as execute:
            return sorted(str(name) for (name,) in execute("SELECT name FROM tacit_dataset"))

    def charge(self, dataset: str, plan: Plan, purpose: str = "") -> Receipt:
        """Record that ``plan`` is spent; durable when this returns.

        Raises ``BudgetExceeded`` if the data set's budget does not allow it together with all that was charged before,
        and ``PlanError`` if the plan is for another relation or cannot be accounted for; then nothing is recorded.
        """
        if not isinstance(plan, Plan):
            raise TypeError(f"What is charged is a Plan, and this is {brief(plan)}.")
        _check_text(purpose, "purpose of a charge")
        # A refusal needs no lock, and a slow answer is then known before others are made to wait for it.
        self._read(dataset).admit(plan, purpose)
        store = open_store(self.url)
        with store.transaction(writing=True) as execute:
            receipt = self._books(execute, dataset, store.row_lock).admit(plan, purpose)
            execute(
                "INSERT INTO tacit_charge (dataset, id, time, purpose, plan, epsilon, hash) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                dataset,
                receipt.id,
                receipt.time,
                receipt.purpose,
                receipt.plan_json,
                receipt.epsilon,
                receipt.hash,
            )
            execute("UPDATE tacit_dataset SET head = ? WHERE name = ?", receipt.hash, dataset)
        return receipt

    def remaining(self, dataset: str) -> Balance:
        """Return what is left: the epsilon, at the budget's delta, of the largest release that may still be charged.

        Found by the accountant, not by subtraction. The release is Gaussian (Laplace where delta is 0): a Gaussian plan
        calibrated to this balance fits, and one calibrated to noticeably more does not.
        """
        return self._read(dataset).remaining()

    def spent(self, dataset: str) -> Balance:
        """Return the epsilon, at the budget's delta, of all that was charged, composed."""
        return self._read(dataset).spent()

    def history(self, dataset: str) -> list[Receipt]:
        """Return all charges in order, as recorded. They are not checked; ``verify`` does that."""
        return list(self._read(dataset, verify=False).receipts)

    def verify(self, dataset: str) -> int:
        """Check the whole record and return the number of charges; raise a ``LedgerError`` if it is damaged."""
        return len(self._read(dataset).receipts)

    def _read(self, dataset: str, verify: bool = True) -> Books:
        with open_store(self.url).transaction() as execute:
            return self._books(execute, dataset, verify=verify)

    def _books(self, execute: Execute, dataset: str, row_lock: str = "", verify: bool = True) -> Books:
        _check_name(dataset)
        rows = execute(
            f"SELECT epsilon, delta, neighbors, opened, head FROM tacit_dataset WHERE name = ?{row_lock}", dataset
        )
        if not rows:
            raise LedgerError(
                f"There is no data set {dataset!r} in the ledger at {shown_url(self.url)!r}; datasets() lists what "
                f"there is, create({dataset!r}, Budget(...)) adds it."
            )
        epsilon, delta, neighbors, opened, head = rows[0]
        try:
            budget, relation = Budget(epsilon, delta), check_relation(neighbors)
        except (TypeError, ValueError) as error:
            raise LedgerError(f"The record of data set {dataset!r} is damaged: {error}") from error
        charges = execute(
            "SELECT dataset, id, time, purpose, plan, epsilon, hash FROM tacit_charge WHERE dataset = ? ORDER BY id",
            dataset,
        )
        books = Books(dataset, budget, relation, opened, head, tuple(Receipt(*charge) for charge in charges))
        if verify:
            books.verify()
        return books

    def __repr__(self) -> str:
        try:
            count = len(self.datasets())
            state = f"{count} data set{'' if count == 1 else 's'}"
        except PrivacyError as error:
            state = str(error)
        return f"Ledger({shown_url(self.url)!r}): {state}"


@dataclass(frozen=True)
class Account:
    """One data set in a ledger: the handle that estimators take as ``ledger=``.

    Parameters
    ----------
    ledger : Ledger
        Where the account is kept.
    dataset : str
        The data set's name. Get accounts from ``Ledger.create`` and ``Ledger.account``, which check it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     account = Ledger(f"{folder}/study.db").create("patients", Budget(2.0, 1e-6))
    ...     print(account.remaining(), account.history(), account.neighbors)
    Balance(epsilon=2.0, delta=1e-06) [] replace_one
    """

    ledger: Ledger
    dataset: str

    @property
    def budget(self) -> Budget:
        """All that may ever be spent."""
        return self.ledger._read(self.dataset).budget

    @property
    def neighbors(self) -> Relation:
        """The relation that the budget is meant for."""
        return self.ledger._read(self.dataset).neighbors

    def charge(self, plan: Plan, purpose: str = "") -> Receipt:
        """Record that ``plan`` is spent, or refuse; see ``Ledger.charge``."""
        return self.ledger.charge(self.dataset, plan, purpose)

    def remaining(self) -> Balance:
        """Return what is left; see ``Ledger.remaining``."""
        return self.ledger.remaining(self.dataset)

    def spent(self) -> Balance:
        """Return what was spent; see ``Ledger.spent``."""
        return self.ledger.spent(self.dataset)

    def history(self) -> list[Receipt]:
        """Return all charges; see ``Ledger.history``."""
        return self.ledger.history(self.dataset)

    def verify(self) -> int:
        """Check the record and return the number of charges; see ``Ledger.verify``."""
        return self.ledger.verify(self.dataset)

    def __repr__(self) -> str:
        try:
            books = self.ledger._read(self.dataset)
            budget, left = books.budget, books.remaining()
            state = f"epsilon {left.epsilon:.4g} left of {budget.epsilon:g} at delta {budget.delta:g}"
        except PrivacyError as error:
            state = str(error)
        return f"Account({self.dataset!r} in {shown_url(self.ledger.url)!r}): {state}"


def _check_name(dataset: str) -> None:
    _check_text(dataset, "name of a data set")
    if not dataset.strip():
        raise ValueError(f"The name of a data set must not be blank, and it is {dataset!r}.")


def _check_text(value: str, what: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"The {what} is a string, and it is {brief(value)}.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"The {what} is text without NUL and lone surrogates, and it is {brief(value)}.")
