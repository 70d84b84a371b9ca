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
Plans, their noise and their number, may be chosen in the light of what earlier plans released. The ledger is a privacy
filter for that: all that is ever released from a data set together keeps its (epsilon, delta). ``filter`` has the
theorem and its proof. In short:

- *Theorem.* If every plan, given all that came before, is dominated by telling N(0, 1) from N(mu, 1), and the sum of
  all mu^2 never exceeds B^2, then everything together is dominated by telling N(0, 1) from N(B, 1), however each plan
  was chosen (Smith and Thakurta, 2022; Koskela, Tobaben and Honkela, 2023). A Gaussian plan is its own mu, so books of
  Gaussian plans are exact; of any other plan the least mu is computed (``domination``).
- The first plan is chosen before anything is released, so it is composed exactly, and may fill the budget by itself.
- Pure plans at the beginning may add up their epsilons instead, and at delta = 0 that is all there is (Rogers, Roth,
  Ullman and Vadhan, 2016).
- A hundredth of delta is kept back for sampling errors and rounding, unless all plans are exactly Gaussian.
"""

import os
from dataclasses import dataclass, replace
from multiprocessing.reduction import ForkingPickler

from tacit.messages import describe

from .budget import Budget, Relation, check_relation
from .errors import LedgerError, PrivacyError
from .ledger_books import Balance, Books, Receipt
from .ledger_names import alike, check_text, normal
from .ledger_store import Execute, canonical_url, open_store, shown_url, url_without_password
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
    to other processes. The URL may hold a password. No repr and no message shows it, and a pickle leaves it out, so
    that a stored model holds none: when such a ledger is used, the password comes from ``PGPASSWORD`` or ``~/.pgpass``.
    Only ``multiprocessing`` passes it on, from process to process and never to a file.

    The ledger is a privacy filter: its guarantee holds even if plans are chosen in the light of earlier releases. The
    notes at the top of :mod:`tacit.privacy.ledger` state the theorem.

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
        is a promise to the people in the data. So does a name that is easily taken for an existing one; names are kept
        in Unicode NFC, without space at the ends.
        """
        name = normal(dataset)
        if not isinstance(budget, Budget):
            raise TypeError(
                f"The budget of a data set is a Budget, such as Budget(1.0, 1e-6), and it is {describe(budget)}."
            )
        books = Books.open(name, budget, check_relation(neighbors))
        row = (books.dataset, budget.epsilon, budget.delta, books.neighbors, books.opened, books.head)
        store = open_store(self.url)
        store.create()
        with store.transaction(writing=True) as execute:
            if store.name_lock:
                execute(store.name_lock)
            names = [str(existing) for (existing,) in execute("SELECT name FROM tacit_dataset")]
            name = dataset if dataset in names else name  # Version 0.1 kept names as they were given.
            twin = next((existing for existing in names if existing != name and alike(existing, name)), None)
            if name not in names and twin is not None:
                raise LedgerError(
                    f"The name {name!r} is easily taken for that of data set {twin!r}, which has a budget already. If "
                    f"it is the same data, use account({twin!r}); if not, choose a name that looks different."
                )
            if name not in names:
                execute(
                    "INSERT INTO tacit_dataset (name, epsilon, delta, neighbors, opened, head) "
                    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    *row,
                )
            found = self._books(execute, name, store.row_lock)
        if (found.budget, found.neighbors) != (budget, neighbors):
            raise LedgerError(
                f"Data set {name!r} already has a budget of epsilon {found.budget.epsilon:g}, delta "
                f"{found.budget.delta:g} under {found.neighbors!r}, and that cannot be changed. "
                f"Use account({name!r}) to spend from it."
            )
        return Account(self, name)

    def account(self, dataset: str) -> "Account":
        """Return the account of a data set: what estimators take as ``ledger=``."""
        return Account(self, self._read(dataset, verify=False).dataset)

    def datasets(self) -> list[str]:
        """Return the names of all data sets, sorted."""
        with open_store(self.url).transaction() as execute:
            return sorted(str(name) for (name,) in execute("SELECT name FROM tacit_dataset"))

    def charge(self, dataset: str, plan: Plan, purpose: str = "", *, seeded: bool = False) -> Receipt:
        """Record that ``plan`` is spent; durable when this returns.

        Raises ``BudgetExceeded`` if the data set's budget does not allow it together with all that was charged before,
        and ``PlanError`` if the plan is for another relation or cannot be accounted for; then nothing is recorded.

        ``seeded`` says that the noise comes from a ``random_state``: the record is marked, as nothing protects what is
        released so.
        """
        if not isinstance(plan, Plan):
            raise TypeError(f"What is charged is a Plan, and this is {describe(plan)}.")
        check_text(purpose, "purpose of a charge")
        # A refusal needs no lock. A slow answer is then cached before the lock makes others wait.
        self._read(dataset).admit(plan, purpose, seeded)
        store = open_store(self.url)
        with store.transaction(writing=True) as execute:
            receipt = self._books(execute, dataset, store.row_lock).admit(plan, purpose, seeded)
            execute(
                "INSERT INTO tacit_charge (dataset, id, time, purpose, plan, epsilon, hash, seeded) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                receipt.dataset,
                receipt.id,
                receipt.time,
                receipt.purpose,
                receipt.plan_json,
                receipt.epsilon,
                receipt.hash,
                int(receipt.seeded),
            )
            execute("UPDATE tacit_dataset SET head = ? WHERE name = ?", receipt.hash, receipt.dataset)
        return receipt

    def remaining(self, dataset: str) -> Balance:
        """Return what is left: the epsilon, at the budget's delta, of the largest release that may still be charged.

        Found by the accountant, not by subtraction. The release is Gaussian (Laplace where delta is 0): a Gaussian plan
        calibrated to this balance fits, and one calibrated to noticeably more does not.
        """
        return self._read(dataset).remaining()

    def spent(self, dataset: str) -> Balance:
        """Return the epsilon, at the budget's delta, of all that was charged, composed.

        Never less than one of the charges by itself. It is a reading; the promise is the budget.
        """
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
        columns = "name, epsilon, delta, neighbors, opened, head"
        select = f"SELECT {columns} FROM tacit_dataset WHERE name = ?{row_lock}"
        name = normal(dataset)
        rows = execute(select, dataset) or (execute(select, name) if name != dataset else [])
        if not rows:
            raise LedgerError(
                f"There is no data set {dataset!r} in the ledger at {shown_url(self.url)!r}; datasets() lists what "
                f"there is, create({dataset!r}, Budget(...)) adds it."
            )
        dataset, epsilon, delta, neighbors, opened, head = rows[0]
        try:
            budget, relation = Budget(epsilon, delta), check_relation(neighbors)
        except (TypeError, ValueError) as error:
            raise LedgerError(f"The record of data set {dataset!r} is damaged: {error}") from error
        [(version,)] = execute("SELECT version FROM tacit_ledger")
        seeded = "seeded" if version > 1 else "0"  # Version 0.1 kept no such mark.
        charges = execute(
            f"SELECT dataset, id, time, purpose, plan, epsilon, hash, {seeded} FROM tacit_charge WHERE dataset = ? "
            "ORDER BY id",
            dataset,
        )
        receipts = tuple(replace(Receipt(*charge[:-1]), seeded=charge[-1] != 0) for charge in charges)
        books = Books(dataset, budget, relation, opened, head, receipts)
        if verify:
            books.verify()
        return books

    def __reduce__(self) -> tuple[type["Ledger"], tuple[str]]:
        return Ledger, (url_without_password(self.url),)

    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: object) -> "Ledger":
        return self

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
        The ledger that keeps the account.
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

    def charge(self, plan: Plan, purpose: str = "", *, seeded: bool = False) -> Receipt:
        """Record that ``plan`` is spent, or refuse; see ``Ledger.charge``."""
        return self.ledger.charge(self.dataset, plan, purpose, seeded=seeded)

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


def _with_password(ledger: Ledger) -> tuple[type[Ledger], tuple[str]]:
    return Ledger, (ledger.url,)


# Multiprocessing sends pickles through a pipe to a child of this process, and never to a file.
ForkingPickler.register(Ledger, _with_password)
