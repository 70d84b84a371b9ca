"""The ledger on PostgreSQL: the same books behind a real server, started here or named by TACIT_TEST_POSTGRES_URL."""

import glob
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from tacit.privacy import Budget, BudgetExceeded, Gaussian, LedgerError, Plan, PlanError
from tacit.privacy import ledger_store as store_module
from tacit.privacy.ledger import Account, Ledger

BUDGET = Budget(1.0, 1e-6)
RACERS = 16

processes = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
if sys.platform != "win32":
    processes.set_forkserver_preload(["tacit.privacy.ledger", "psycopg", "pytest"])


def server_binaries() -> Path | None:
    found = shutil.which("initdb")
    folders = [str(Path(found).parent)] if found else sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return Path(folders[-1]) if folders else None


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The URL of a running server: the one in the environment, or one of our own in a temporary folder."""
    if url := os.environ.get("TACIT_TEST_POSTGRES_URL"):
        yield url
        return
    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server: install one, or set TACIT_TEST_POSTGRES_URL")
    folder = tempfile.mkdtemp(prefix="tacit-")  # short: the path of a socket has at most 107 bytes
    options: dict[str, Any] = {"check": True, "cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    if os.geteuid() == 0:  # the server refuses to run as root; 65534 is nobody
        os.chown(folder, 65534, 65534)
        options |= {"user": 65534, "group": 65534, "extra_groups": []}
    control = [str(binaries / "pg_ctl"), "-D", f"{folder}/data", "-w"]
    try:
        initialise = ["-D", f"{folder}/data", "-U", "tacit", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([str(binaries / "initdb"), *initialise], **options)
        subprocess.run([*control, "-o", f"-k {folder} -c listen_addresses='' -F", "start"], **options)
        try:
            yield f"postgresql://tacit@/postgres?host={folder}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def url(server_url: str) -> Iterator[str]:
    """A URL of an empty place of its own on the server."""
    psycopg = pytest.importorskip("psycopg")
    schema = f"tacit_test_{uuid.uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        yield f"{server_url}{'&' if '?' in server_url else '?'}options=-csearch_path%3D{schema}"
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def account(url: str) -> Account:
    return Ledger(url).create("patients", BUDGET)


def run_sql(account: Account, statement: str) -> None:
    import psycopg

    with psycopg.connect(account.ledger.url) as connection:
        connection.execute(statement)


def share_of_budget(parts: int) -> Plan:
    """A plan of which exactly ``parts`` fit into the budget."""
    noise = Plan((Gaussian("all", 1.0, count=parts),)).calibrate(BUDGET).steps[0].noise_multiplier
    return Plan((Gaussian("a share", noise),))


def test_charges_are_recorded_composed_and_refused(account: Account) -> None:
    receipts = [account.charge(share_of_budget(3), "Zähler 中 100% ?") for _ in range(3)]
    assert account.history() == receipts
    assert [receipt.id for receipt in receipts] == [1, 2, 3]
    assert account.spent().epsilon == pytest.approx(1.0)
    assert account.remaining().epsilon == 0
    with pytest.raises(BudgetExceeded, match="Nothing was charged"):
        account.charge(share_of_budget(1000))
    assert account.verify() == 3
    assert pickle.loads(pickle.dumps(account)).history() == receipts


def test_the_record_is_the_same_as_in_a_file(account: Account, tmp_path: Path) -> None:
    in_file = Ledger(tmp_path / "study.db").create("patients", BUDGET)
    for books in (account, in_file):
        books.charge(share_of_budget(2), "a fit")
    for one, other in zip(account.history(), in_file.history()):
        assert (one.id, one.plan_json, one.epsilon, one.purpose) == (other.id, other.plan_json, other.epsilon, "a fit")
    assert account.remaining() == in_file.remaining()


def test_data_sets_and_creation(account: Account) -> None:
    ledger = account.ledger
    assert ledger.create("patients", BUDGET) == account
    with pytest.raises(LedgerError, match="cannot be changed"):
        ledger.create("patients", Budget(2.0, 1e-6))
    ledger.create("'; DROP TABLE tacit_charge; --", BUDGET, "add_remove")
    with pytest.raises(PlanError, match="add_remove"):
        ledger.charge("'; DROP TABLE tacit_charge; --", share_of_budget(2))
    assert ledger.datasets() == ["'; DROP TABLE tacit_charge; --", "patients"]
    with pytest.raises(LedgerError, match="no data set 'staff'"):
        ledger.account("staff")


def race(account: Account, plan: Plan, start: Barrier, results: Connection) -> None:
    start.wait()
    try:
        account.ledger.create(account.dataset, BUDGET)
        results.send(("charged", account.charge(plan).id))
    except BudgetExceeded:
        results.send(("refused", 0))
    except Exception as error:
        results.send((repr(error), 0))


def test_sixteen_processes_race_for_the_last_of_a_budget(url: str) -> None:
    account = Account(Ledger(url), "patients")  # not created yet: they race for that too
    start = processes.Barrier(RACERS)
    pipes = [processes.Pipe(duplex=False) for _ in range(RACERS)]
    racers = [processes.Process(target=race, args=(account, share_of_budget(10), start, sender)) for _, sender in pipes]
    for racer in racers:
        racer.start()
    outcomes = [receiver.recv() if receiver.poll(60) else ("silent", 0) for receiver, _ in pipes]
    for racer in racers:
        racer.join()
    assert sorted(outcomes) == [("charged", i + 1) for i in range(10)] + [("refused", 0)] * 6
    assert account.verify() == 10
    assert account.spent().epsilon <= 1.0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tacit_charge SET purpose = 'harmless' WHERE id = 1",
        "DELETE FROM tacit_charge WHERE id = 1",
        "DELETE FROM tacit_charge WHERE id = 2",
        "UPDATE tacit_dataset SET epsilon = 100",
        "UPDATE tacit_dataset SET epsilon = 'NaN'",
    ],
)
def test_tampering_is_found(account: Account, statement: str) -> None:
    for _ in range(2):
        account.charge(share_of_budget(10))
    run_sql(account, statement)
    for ask in (account.verify, account.remaining, lambda: account.charge(share_of_budget(10))):
        with pytest.raises(LedgerError, match="damaged"):
            ask()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE tacit_ledger SET version = 99", "newer tacit"),
        ("DELETE FROM tacit_ledger", "does not say its format"),
        ("DROP TABLE tacit_charge", "damaged"),
        ("DROP TABLE tacit_ledger", "There is no ledger"),
    ],
)
def test_another_format(account: Account, statement: str, sentence: str) -> None:
    run_sql(account, statement)
    with pytest.raises(LedgerError, match=sentence):
        account.charge(share_of_budget(10))


def test_a_lock_that_is_never_released(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    monkeypatch.setattr(store_module, "_PATIENCE_SECONDS", 1)
    with psycopg.connect(account.ledger.url) as other:
        other.execute("SELECT * FROM tacit_dataset FOR UPDATE")
        with pytest.raises(LedgerError, match="stayed locked by another process"):
            account.charge(share_of_budget(10))
        assert account.remaining().epsilon == 1.0  # readers do not wait
    assert account.charge(share_of_budget(10)).id == 1


@pytest.mark.parametrize(("configured", "used"), [("off", "on"), ("local", "local"), ("on", "on")])
def test_a_commit_waits_for_the_disk_whatever_the_server_is_told(url: str, configured: str, used: str) -> None:
    Ledger(url).create("patients", BUDGET)
    with store_module.open_store(f"{url}%20-csynchronous_commit%3D{configured}").transaction(writing=True) as execute:
        assert execute("SHOW synchronous_commit") == [(used,)]


def test_the_servers_isolation_does_not_matter(url: str) -> None:
    account = Ledger(f"{url}%20-cdefault_transaction_isolation%3Dserializable").create("patients", BUDGET)
    assert account.charge(share_of_budget(10)).id == 1


def test_an_account_without_rights_gets_a_sentence(account: Account) -> None:
    role = f"reader_{uuid.uuid4().hex}"
    schema = account.ledger.url.rpartition("%3D")[2]
    run_sql(account, f"CREATE ROLE {role}; GRANT USAGE ON SCHEMA {schema} TO {role}")
    run_sql(account, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    try:
        reader = Ledger(f"{account.ledger.url}%20-crole%3D{role}").account("patients")
        assert reader.remaining().epsilon == 1.0
        with pytest.raises(LedgerError, match="Give this account the right"):
            reader.charge(share_of_budget(10))
    finally:
        run_sql(account, f"DROP OWNED BY {role}; DROP ROLE {role}")
    assert account.history() == []


def test_passwords_are_never_shown() -> None:
    pytest.importorskip("psycopg")
    ledger = Ledger("postgresql://ana:se:cret@127.0.0.1:1/study?password=secret&connect_timeout=2")
    assert repr(Account(ledger, "patients")).startswith("Account('patients' in 'postgresql://ana@127.0.0.1:1/study'): ")
    for text in (repr(ledger), repr(Account(ledger, "patients"))):
        assert "cret" not in text
        assert "could not be reached" in text
    with pytest.raises(LedgerError, match="URL cannot be read") as caught:
        Ledger("postgresql://ana:secret%zz@host/study").datasets()  # the driver's own message repeats the password
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_without_psycopg_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match=r"pip install 'tacit\[postgres\]'"):
        Ledger("postgresql://host/study").datasets()


def test_a_ledger_of_version_0_1_is_upgraded_by_the_first_charge(url: str) -> None:
    import psycopg

    written = (Path(__file__).parent / "ledger_of_version_0_1.sql").read_text(encoding="utf-8")
    tables = sorted(written.split(";\n"), key=lambda statement: "tacit_charge" in statement)  # it refers to the others
    with psycopg.connect(url) as connection:
        for statement in filter(None, tables):
            connection.execute(statement)
    account = Ledger(url).account("patients")
    assert account.verify() == 2
    assert account.charge(Plan((Gaussian("mean", 20.0),), sampling_error=1e-16), seeded=True).id == 3
    assert [receipt.seeded for receipt in account.history()] == [False, False, True]
    assert account.verify() == 3


def test_names_that_look_alike_are_refused(account: Account) -> None:
    with pytest.raises(LedgerError, match="easily taken for that of data set 'patients'"):
        account.ledger.create("Patients", BUDGET)


def test_who_needs_a_password_is_told_how_to_give_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg")

    def refuse(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("connection failed: fe_sendauth: no password supplied")

    ledger = pickle.loads(pickle.dumps(Ledger("postgresql://ana:secret@host/study")))
    monkeypatch.setattr(psycopg, "connect", refuse)
    with pytest.raises(LedgerError, match="keeps no password: set PGPASSWORD"):
        ledger.datasets()
