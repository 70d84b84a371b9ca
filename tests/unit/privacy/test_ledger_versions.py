"""Ledgers that version 0.1 wrote, and what is new since: marks of seeded fits, pickles without passwords."""

import copy
import io
import pickle
import sqlite3
from contextlib import closing
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli.app import app
from tacit.privacy import Account, Budget, Gaussian, Ledger, LedgerError, Plan, Sampled, Selection, Split

WRITTEN = Path(__file__).parent / "ledger_of_version_0_1.sql"
BUDGET = Budget(2.0, 1e-6)
PLAN = Plan((Gaussian("mean", 20.0),), sampling_error=1e-16)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(WRITTEN.read_text(encoding="utf-8"))
    return path


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT version FROM tacit_ledger").fetchone()[0])


def test_an_old_ledger_is_read_as_it_is_and_upgraded_by_the_first_charge(path: Path) -> None:
    account = Ledger(path).account("patients")
    first, second = account.history()
    assert account.verify() == 2
    assert first.plan.steps == (
        Gaussian("moments", 20.0, 10, 6),
        Split(8, Gaussian("shares", 30.0, 1, 4)),
        Split(8, Selection("columns", 40.0, 2, 9)),
    )
    assert second.plan.steps == (Sampled(0.01, Gaussian("gradient", 2.0, 10, 3)),)
    assert first.plan.epsilon(1e-6) == pytest.approx(first.epsilon, rel=1e-9)
    assert second.plan.epsilon(1e-6) == pytest.approx(second.epsilon, rel=1e-9)
    assert max(first.epsilon, second.epsilon) <= account.spent().epsilon < 1.0
    assert 1.0 < account.remaining().epsilon < 2.0
    assert version(path) == 1  # reading changes nothing
    receipt = account.charge(PLAN, "a third look", seeded=True)
    assert version(path) == 2
    assert account.history() == [first, second, receipt]
    assert account.verify() == 3
    assert [each.seeded for each in account.history()] == [False, False, True]


def test_tampering_with_an_old_ledger_is_still_found(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE tacit_charge SET purpose = 'harmless' WHERE id = 1")
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(path).verify("patients")


def test_a_seeded_fit_is_marked_in_the_ledger_and_everywhere_it_is_shown(tmp_path: Path) -> None:
    account = Ledger(tmp_path / "study.db").create("rows", BUDGET)
    rows = np.random.default_rng(0).normal(size=(500, 2))
    for seed in (None, 0):
        tacit.GaussianMixture(1, epsilon=0.5, bounds=5.0, ledger=account, random_state=seed).fit(rows)
    assert [receipt.seeded for receipt in account.history()] == [False, True]
    assert "seeded=True" in repr(account.history()[1])
    for command in (["history"], ["show"]):
        shown = CliRunner().invoke(app, ["budget", *command, str(tmp_path / "study.db"), "rows"])
        assert shown.exit_code == 0
        assert "SEEDED: NOT PRIVATE. 1 charge was" in shown.output


# Passwords

URL = "postgresql://ana:se%3Fc?ret@127.0.0.1:1/study?password=secret&sslpassword=secret&connect_timeout=2"


def test_a_pickled_ledger_holds_no_password() -> None:
    account = Account(Ledger(URL), "patients")
    estimator = tacit.GaussianMixture(2, ledger=account)
    for value in (account, account.ledger, estimator):
        assert b"secret" not in pickle.dumps(value)
        assert b"c?ret" not in pickle.dumps(value)
    again = pickle.loads(pickle.dumps(account))
    assert again.ledger.url == "postgresql://ana@127.0.0.1:1/study?connect_timeout=2"
    assert again.dataset == "patients"


def test_copies_and_processes_keep_the_password() -> None:
    account = Account(Ledger(URL), "patients")
    assert copy.deepcopy(account) == copy.copy(account) == account
    stream = io.BytesIO()
    ForkingPickler(stream).dump(account)  # what multiprocessing sends through a pipe
    assert pickle.loads(stream.getvalue()) == account
