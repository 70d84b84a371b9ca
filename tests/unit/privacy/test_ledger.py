"""The ledger on SQLite: what is recorded, what is refused, what is left, and what happens when the file is not well."""

import copy
import os
import pickle
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from tacit.privacy import Budget, BudgetExceeded, Gaussian, Laplace, LedgerError, Plan, PlanError, Selection
from tacit.privacy import ledger_store as store_module
from tacit.privacy.ledger import Account, Balance, Ledger
from tacit.privacy.ledger_books import Books

BUDGET = Budget(2.0, 1e-6)


def gaussian_plan(epsilon: float, delta: float = 1e-6, count: int = 10, neighbors: str = "replace_one") -> Plan:
    return Plan((Gaussian("moments", 1.0, count=count, size=66),), neighbors).calibrate(Budget(epsilon, delta))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


@pytest.fixture
def account(path: Path) -> Account:
    return Ledger(path).create("patients", BUDGET)


# What is recorded


def test_a_charge_is_recorded_with_all_that_matters(account: Account) -> None:
    plan = gaussian_plan(0.5)
    receipt = account.charge(plan, "a first look")
    assert account.history() == [receipt]
    assert (receipt.dataset, receipt.id, receipt.purpose, receipt.plan) == ("patients", 1, "a first look", plan)
    assert receipt.epsilon == pytest.approx(0.5, rel=1e-9)
    written = datetime.fromisoformat(receipt.time)
    assert written.tzinfo == UTC
    assert abs((datetime.now(UTC) - written).total_seconds()) < 3600
    assert account.charge(plan).hash != receipt.hash
    assert account.verify() == 2


def test_charges_compose_as_plans_and_epsilons_are_not_added(account: Account) -> None:
    for _ in range(3):
        account.charge(gaussian_plan(1.0))
    (step,) = gaussian_plan(1.0).steps
    together = Plan((Gaussian("all", step.noise_multiplier, count=30),))
    assert account.spent() == Balance(together.epsilon(1e-6), 1e-6)
    assert account.spent().epsilon < 2.0 < sum(receipt.epsilon for receipt in account.history())


def test_sampling_errors_are_composed_too(account: Account) -> None:
    plan = Plan(gaussian_plan(0.5).steps, sampling_error=1e-8)
    account.charge(plan)
    account.charge(plan)
    assert account.spent().epsilon == pytest.approx((plan + plan).epsilon(1e-6), rel=1e-9)
    assert account.spent().epsilon > (gaussian_plan(0.5) + gaussian_plan(0.5)).epsilon(1e-6)


def test_data_sets_do_not_mix(path: Path) -> None:
    ledger = Ledger(path)
    names = ["zebra", "Ärzte 中", "'; DROP TABLE tacit_charge; --"]
    for name in names:
        ledger.create(name, BUDGET)
    ledger.charge(names[2], gaussian_plan(1.9))
    assert ledger.datasets() == sorted(names)
    assert [len(ledger.history(name)) for name in names] == [0, 0, 1]
    assert ledger.remaining(names[1]).epsilon == 2.0


def test_creating_again_changes_nothing_and_never_raises_a_budget(account: Account) -> None:
    account.charge(gaussian_plan(1.0))
    assert account.ledger.create("patients", BUDGET) == account
    assert len(account.history()) == 1
    for budget, neighbors in ((Budget(3.0, 1e-6), "replace_one"), (BUDGET, "add_remove")):
        with pytest.raises(LedgerError, match="cannot be changed"):
            account.ledger.create("patients", budget, neighbors)
    assert (account.budget, account.neighbors) == (BUDGET, "replace_one")


# What is refused


def test_an_overspend_is_refused_and_leaves_no_trace(account: Account, path: Path) -> None:
    account.charge(gaussian_plan(1.5))
    before = path.read_bytes()
    with pytest.raises(BudgetExceeded, match="Nothing was charged"):
        account.charge(gaussian_plan(1.5))
    assert path.read_bytes() == before
    assert account.charge(gaussian_plan(0.1)).id == 2


def test_as_many_fits_as_fit_and_not_one_more(account: Account) -> None:
    tenth = gaussian_plan(2.0, count=10).steps[0].noise_multiplier
    for _ in range(10):
        account.charge(Plan((Gaussian("one of ten", tenth),)))
    with pytest.raises(BudgetExceeded):
        account.charge(Plan((Gaussian("the eleventh", 1e5 * tenth),)))


def test_a_plan_for_another_relation_is_refused(account: Account) -> None:
    with pytest.raises(PlanError, match=r"Fit with neighbors='replace_one'"):
        account.charge(gaussian_plan(0.5, neighbors="add_remove"))
    assert account.history() == []


def test_at_delta_zero_epsilons_add_up_and_gaussian_noise_is_refused(path: Path) -> None:
    account = Ledger(path).create("pure", Budget(1.0))
    account.charge(Plan((Laplace("count", 4.0), Selection("median", 4.0))))
    assert account.spent() == Balance(0.5, 0.0)
    assert account.remaining().epsilon == pytest.approx(0.5, rel=1e-6)
    # so much noise that delta(1.0) is zero as a float; it is still not pure
    with pytest.raises(PlanError, match="delta=0"):
        account.charge(Plan((Gaussian("mean", 1e4),)))
    with pytest.raises(BudgetExceeded):
        account.charge(Plan((Laplace("count", 1.9),)))
    account.charge(Plan((Laplace("count", 2.0),)))
    assert account.remaining().epsilon == 0


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "\ud800"])
def test_names_that_no_database_keeps_are_refused(path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="name of a data set"):
        Ledger(path).create(name, BUDGET)
    assert not path.exists()


def test_wrong_types_get_a_sentence(account: Account) -> None:
    with pytest.raises(TypeError, match="is a Plan"):
        account.charge(BUDGET)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is a Budget"):
        account.ledger.create("other", 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is a string"):
        account.charge(gaussian_plan(0.1), purpose=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="without NUL"):
        account.charge(gaussian_plan(0.1), purpose="\0")
    assert account.history() == []


def test_an_unknown_data_set_gets_a_sentence(account: Account) -> None:
    for ask in (account.ledger.account, account.ledger.remaining, account.ledger.history):
        with pytest.raises(LedgerError, match="no data set 'patient'"):
            ask("patient")


# What is left


def books_with(plans: list[Plan], budget: Budget) -> Books:
    books = Books.open("patients", budget, "replace_one")
    for plan in plans:
        receipt = books.admit(plan, "")
        books = Books("patients", budget, "replace_one", books.opened, receipt.hash, (*books.receipts, receipt))
    return books


@given(
    epsilon=st.floats(0.05, 10),
    delta=st.sampled_from([1e-3, 1e-6, 1e-10]),
    shares=st.lists(st.floats(1e-4, 0.3), min_size=1, max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_what_is_left_of_gaussian_books_is_exact(epsilon: float, delta: float, shares: list[float]) -> None:
    budget = Budget(epsilon, delta)
    whole = Plan((Gaussian("all", 1.0),)).calibrate(budget)
    books = books_with([whole.scaled(share**-0.5) for share in shares], budget)
    left = books.remaining().epsilon
    # the closed form: squared mus add up
    assert left == pytest.approx(whole.scaled((1 - sum(shares)) ** -0.5).epsilon(delta), rel=1e-6)
    books.admit(Plan((Gaussian("next", 1.0, count=7),)).calibrate(Budget(left, delta)), "")
    with pytest.raises(BudgetExceeded):
        books.admit(Plan((Gaussian("next", 1.0, count=7),)).calibrate(Budget(left * 1.0001, delta)), "")


def test_what_is_left_of_mixed_books_can_be_spent_and_hardly_more() -> None:
    mixed = Plan((Gaussian("moments", 20.0, count=10), Laplace("count", 10.0), Selection("median", 10.0, count=3)))
    books = books_with([mixed, gaussian_plan(0.3)], BUDGET)
    left = books.remaining().epsilon
    assert BUDGET.epsilon - books.spent().epsilon < left < BUDGET.epsilon
    books.admit(gaussian_plan(left), "")
    with pytest.raises(BudgetExceeded):
        books.admit(gaussian_plan(left * 1.002), "")


def test_when_everything_is_spent_nothing_is_left(account: Account) -> None:
    assert account.remaining() == Balance(2.0, 1e-6)
    account.charge(gaussian_plan(2.0))
    assert account.remaining() == Balance(0.0, 1e-6)
    assert "epsilon 0 left of 2 at delta 1e-06" in repr(account)


def test_many_different_plans_compose() -> None:
    plans = [Plan((Gaussian("a", 300 + i / 7), Gaussian("b", 200 + i / 3, count=2))) for i in range(100)]
    books = books_with(plans, BUDGET)
    books.verify()
    whole = Plan(tuple(step for plan in plans for step in plan.steps))
    assert books.spent().epsilon == pytest.approx(whole.epsilon(1e-6), rel=1e-12)


# Handles


class Estimator(BaseEstimator):
    def __init__(self, ledger: Account | None = None) -> None:
        self.ledger = ledger


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_accounts_travel(account: Account, copied: Callable[[Account], Account]) -> None:
    twin = copied(account)
    assert twin == account
    twin.charge(gaussian_plan(0.5))
    assert len(account.history()) == 1
    assert clone(Estimator(ledger=account)).ledger == account
    assert account.ledger.account("patients") == account


def test_a_ledger_stays_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ledgers = [Ledger("a b?.db"), Ledger("sqlite:///a b?.db"), Ledger(tmp_path / "a b?.db")]
    ledgers.append(Ledger(f"sqlite:///{tmp_path}/a b?.db"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledgers[0].create("patients", BUDGET)
    assert (tmp_path / "a b?.db").exists()
    assert [ledger.datasets() for ledger in ledgers] == [["patients"]] * 4
    assert len(set(ledgers)) == 1


@pytest.mark.parametrize("url", ["", ":memory:", "mysql://ana:secret@host/db", "sqlite://study.db", "a\0b"])
def test_what_is_no_ledger_url_gets_a_sentence(url: str) -> None:
    with pytest.raises(LedgerError, match="is neither") as caught:
        Ledger(url)
    assert "secret" not in str(caught.value)


def test_reprs_tell_people_what_they_need(account: Account, path: Path) -> None:
    assert repr(account.ledger) == f"Ledger({str(path)!r}): 1 data set"
    account.ledger.create("staff", BUDGET)
    assert repr(account.ledger) == f"Ledger({str(path)!r}): 2 data sets"
    assert repr(account) == f"Account('patients' in {str(path)!r}): epsilon 2 left of 2 at delta 1e-06"
    assert "plan_json" not in repr(account.charge(gaussian_plan(0.1)))
    path.unlink()
    assert "There is no ledger" in repr(account.ledger)
    assert "There is no ledger" in repr(account)


# Tampering


def run_sql(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


TAMPERING = {
    "plan": "UPDATE tacit_charge SET plan = replace(plan, '\"count\":10', '\"count\":1') WHERE id = 2",
    "epsilon": "UPDATE tacit_charge SET epsilon = 0.01 WHERE id = 2",
    "purpose": "UPDATE tacit_charge SET purpose = 'harmless' WHERE id = 3",
    "time": "UPDATE tacit_charge SET time = '2020-01-01T00:00:00+00:00' WHERE id = 1",
    "hash": "UPDATE tacit_charge SET hash = 'abc' WHERE id = 3",
    "lost in the middle": "DELETE FROM tacit_charge WHERE id = 2",
    "lost and renumbered": "DELETE FROM tacit_charge WHERE id = 1; UPDATE tacit_charge SET id = id - 1",
    "lost at the end": "DELETE FROM tacit_charge WHERE id = 3",
    "all lost": "DELETE FROM tacit_charge",
    "order": "UPDATE tacit_charge SET id = CASE id WHEN 1 THEN -2 ELSE -1 END WHERE id < 3",
    "inserted": "INSERT INTO tacit_charge SELECT dataset, 4, time, purpose, plan, epsilon, hash, seeded "
    "FROM tacit_charge WHERE id = 3",
    "seeded": "UPDATE tacit_charge SET seeded = 1 WHERE id = 2",
    "not a mark": "UPDATE tacit_charge SET seeded = 'x' WHERE id = 2",
    "not a plan": "UPDATE tacit_charge SET plan = x'00ff' WHERE id = 2",
    "budget": "UPDATE tacit_dataset SET epsilon = 200",
    "nonsense budget": "UPDATE tacit_dataset SET epsilon = -1",
    "not a number": "UPDATE tacit_dataset SET delta = 'small'",
    "name": "UPDATE tacit_charge SET dataset = 'nobody'",
    "relation": "UPDATE tacit_dataset SET neighbors = 'add_remove'",
    "head": "UPDATE tacit_dataset SET head = (SELECT hash FROM tacit_charge WHERE id = 2)",
}


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_stops_everything_but_reading_the_history(account: Account, path: Path, what: str) -> None:
    for _ in range(3):
        account.charge(gaussian_plan(0.5), "a fit")
    for statement in TAMPERING[what].split("; "):
        run_sql(path, statement)
    for ask in (account.verify, account.remaining, account.spent, lambda: account.charge(gaussian_plan(0.1))):
        with pytest.raises(LedgerError, match="damaged"):
            ask()
    if what not in ("nonsense budget", "not a number"):
        account.history()


def test_a_receipt_kept_elsewhere_shows_that_an_old_copy_was_put_back(account: Account, path: Path) -> None:
    account.charge(gaussian_plan(0.5))
    shutil.copy(path, path.with_suffix(".old"))
    kept = account.charge(gaussian_plan(0.5))
    assert kept in account.history()
    shutil.copy(path.with_suffix(".old"), path)
    account.charge(gaussian_plan(0.5), "another second charge")
    account.verify()
    assert kept not in account.history()


# Files that are not well: always a sentence, never another exception, never an under-count


def questions(account: Account) -> list[Callable[[], object]]:
    return [
        lambda: account.charge(gaussian_plan(0.1)),
        account.remaining,
        account.spent,
        account.history,
        account.verify,
        account.ledger.datasets,
        lambda: account.ledger.account("patients"),
        lambda: account.ledger.create("patients", BUDGET),
    ]


def test_a_missing_file_is_not_silently_created(account: Account, path: Path) -> None:
    path.unlink()
    for ask in questions(account)[:-1]:
        with pytest.raises(LedgerError, match="There is no ledger at"):
            ask()
    assert not path.exists()


def test_an_empty_file_becomes_a_ledger_only_by_create(path: Path) -> None:
    path.touch()
    with pytest.raises(LedgerError, match="There is no ledger at"):
        Ledger(path).datasets()
    Ledger(path).create("patients", BUDGET)
    assert Ledger(path).datasets() == ["patients"]


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="does not exist; create it first"):
        Ledger(tmp_path / "none" / "study.db").create("patients", BUDGET)


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    for ask in questions(Account(Ledger(tmp_path), "patients")):
        with pytest.raises(LedgerError, match="is a folder"):
            ask()


def test_a_file_in_place_of_the_folder(account: Account, path: Path) -> None:
    for ask in questions(Account(Ledger(path / "study.db"), "patients")):
        with pytest.raises(LedgerError, match=r"There is no ledger|does not exist"):
            ask()


def test_someone_elses_database_is_left_alone(path: Path) -> None:
    run_sql(path, "CREATE TABLE people (name TEXT)")
    before = path.read_bytes()
    for ask in questions(Account(Ledger(path), "patients")):
        with pytest.raises(LedgerError, match="not a ledger"):
            ask()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE tacit_ledger SET version = 99", "newer tacit"),
        ("DELETE FROM tacit_ledger", "does not say its format"),
        ("UPDATE tacit_ledger SET version = 'x'", "does not say its format"),
        ("DROP TABLE tacit_charge", "damaged"),
        ("ALTER TABLE tacit_dataset RENAME COLUMN head TO tail", "damaged"),
    ],
)
def test_another_format(account: Account, path: Path, statement: str, sentence: str) -> None:
    run_sql(path, statement)
    with pytest.raises(LedgerError, match=sentence):
        account.charge(gaussian_plan(0.1))


def test_rubbish_in_place_of_the_file(path: Path) -> None:
    path.write_bytes(random.Random(0).randbytes(5000))
    for ask in questions(Account(Ledger(path), "patients")):
        with pytest.raises(LedgerError, match="damaged"):
            ask()


def test_a_file_cut_short(account: Account, path: Path) -> None:
    for _ in range(30):
        account.charge(gaussian_plan(0.1))
    whole = path.read_bytes()
    for length in (10, 100, 4096, len(whole) // 2, len(whole) - 4096):
        path.write_bytes(whole[:length])
        with pytest.raises(LedgerError):
            account.charge(gaussian_plan(0.1))


def test_random_damage_is_found_or_harmless(account: Account, path: Path) -> None:
    for _ in range(12):
        account.charge(gaussian_plan(0.1), "a fit")
    whole, spent = path.read_bytes(), account.spent()
    generator = random.Random(1)
    found = 0
    for _ in range(300):
        damaged = bytearray(whole)
        start = generator.randrange(len(whole))
        for position in range(start, min(start + generator.choice([1, 4, 64, 1024]), len(whole))):
            damaged[position] ^= generator.randrange(1, 256)
        path.write_bytes(damaged)
        try:
            assert account.spent() == spent  # the damage was in an unused part of a page
        except LedgerError:
            found += 1
        for leftover in (Path(f"{path}-wal"), Path(f"{path}-shm"), Path(f"{path}-journal")):
            leftover.unlink(missing_ok=True)
    assert found > 60


@contextmanager
def unprivileged() -> Iterator[None]:
    """Be nobody for a while, if we are root: permission bits mean nothing to root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX permissions")
@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o555, 0o444), (0o777, 0o444), (0o555, 0o666), (0o777, 0o000)])
def test_files_and_folders_that_may_not_be_written(folder_mode: int, file_mode: int) -> None:
    folder = Path(tempfile.mkdtemp())  # pytest's own temporary folders are closed to others
    try:
        path = folder / "study.db"
        account = Ledger(path).create("patients", BUDGET)
        account.charge(gaussian_plan(0.5))
        path.chmod(file_mode)
        folder.chmod(folder_mode)
        with unprivileged(), pytest.raises(LedgerError, match="Give this account the right to write"):
            account.charge(gaussian_plan(0.1))
        folder.chmod(0o777)
        path.chmod(0o666)
        assert account.verify() == 1
    finally:
        shutil.rmtree(folder)


def test_a_lock_that_is_never_released(account: Account, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_PATIENCE_SECONDS", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="stayed locked by another process"):
            account.charge(gaussian_plan(0.1))
        assert account.remaining().epsilon == 2.0  # readers do not wait
    assert account.charge(gaussian_plan(0.1)).id == 1


def test_every_connection_waits_for_the_disk(account: Account, path: Path) -> None:
    with store_module.open_store(str(path)).transaction() as execute:
        assert execute("PRAGMA journal_mode") == [("wal",)]
        assert execute("PRAGMA synchronous")[0][0] >= 2
        assert execute("PRAGMA fullfsync") == [(1,)]
