"""Names of data sets: one spelling each, and none that is easily taken for another."""

import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest

from tacit.privacy import Budget, Gaussian, Ledger, LedgerError, Plan
from tacit.privacy.ledger_names import alike, normal

BUDGET = Budget(2.0, 1e-6)
PLAN = Plan((Gaussian("mean", 20.0),))


@pytest.mark.parametrize(
    "twin",
    [
        "Patients 10",
        "PATIENTS 10",
        "patients  10",
        "patients\u00a010",
        "p\u0430tients 10",  # a Cyrillic letter
        "p\uff41tients 10",  # a wide letter
        "pati\u200bents 10",  # a space without width
        "patients l0",
        "patients 1O",
    ],
)
def test_names_that_look_alike_are_refused_and_the_one_that_exists_is_named(tmp_path: Path, twin: str) -> None:
    ledger = Ledger(tmp_path / "study.db")
    ledger.create("patients 10", BUDGET)
    with pytest.raises(LedgerError, match=r"easily taken for that of data set 'patients 10'"):
        ledger.create(twin, BUDGET)
    assert ledger.datasets() == ["patients 10"]
    assert alike(twin, "patients 10")


def test_names_that_differ_are_kept_apart(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "study.db")
    names = ["patients", "patient", "patients 1", "patients 2", "staff", "Ärzte", "Arzte"]
    for name in names:
        ledger.create(name, BUDGET)
    assert ledger.datasets() == sorted(names)


def test_one_name_has_one_spelling(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "study.db")
    decomposed = unicodedata.normalize("NFD", "Ärzte")
    account = ledger.create(f"  {decomposed}\n", BUDGET)
    assert account.dataset == "Ärzte" == normal(decomposed)
    assert ledger.create("Ärzte", BUDGET) == account == ledger.account(f" {decomposed}")
    ledger.charge(f"{decomposed} ", PLAN)
    assert len(account.history()) == len(ledger.history(decomposed)) == 1
    assert ledger.datasets() == ["Ärzte"]


def test_spellings_that_version_0_1_kept_are_still_found(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "ledger_of_version_0_1.sql").read_text(encoding="utf-8"))
    ledger, old = Ledger(path), " patie\u0301nts "
    assert old in ledger.datasets()
    assert ledger.create(old, Budget(1.0, 1e-6)).dataset == ledger.account(old).dataset == old
    ledger.charge(old, PLAN)
    assert ledger.verify(old) == 1
    with pytest.raises(LedgerError, match="easily taken for"):
        ledger.create(normal(old), BUDGET)
