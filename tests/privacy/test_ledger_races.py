"""Attacks on the ledger: many processes at once, and processes killed at any instant."""

import multiprocessing
import os
import random
import signal
import time
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from tacit.privacy import Budget, BudgetExceeded, Gaussian, Plan
from tacit.privacy.ledger import Account, Ledger

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 and fork are POSIX")

BUDGET = Budget(1.0, 1e-6)
RACERS = 16

# One server imports the library once; every process is a fork of it.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tacit.privacy.ledger", "psycopg", "pytest"])


def share_of_budget(parts: int) -> Plan:
    """A plan of which exactly ``parts`` fit into the budget."""
    noise = Plan((Gaussian("all", 1.0, count=parts),)).calibrate(BUDGET).steps[0].noise_multiplier
    return Plan((Gaussian("a share", noise),))


def race(account: Account, plan: Plan, start: Barrier, results: Connection) -> None:
    start.wait()
    try:
        results.send(("charged", account.charge(plan).id))
    except BudgetExceeded:
        results.send(("refused", 0))
    except Exception as error:
        results.send((repr(error), 0))


def run_race(account: Account, plan: Plan) -> list[tuple[str, int]]:
    start = processes.Barrier(RACERS)
    pipes = [processes.Pipe(duplex=False) for _ in range(RACERS)]
    racers = [processes.Process(target=race, args=(account, plan, start, sender)) for _, sender in pipes]
    for racer in racers:
        racer.start()
    outcomes = [receiver.recv() if receiver.poll(60) else ("silent", 0) for receiver, _ in pipes]
    for racer in racers:
        racer.join()
    return outcomes


@pytest.mark.parametrize("parts", [1, 10])
def test_sixteen_processes_race_for_the_last_of_a_budget(tmp_path: Path, parts: int) -> None:
    account = Ledger(tmp_path / "study.db").create("patients", BUDGET)
    outcomes = run_race(account, share_of_budget(parts))
    assert sorted(outcomes) == [("charged", i + 1) for i in range(parts)] + [("refused", 0)] * (RACERS - parts)
    assert account.verify() == parts
    assert account.spent().epsilon <= BUDGET.epsilon


def create(path: Path, name: str, start: Barrier, results: Connection) -> None:
    start.wait()
    try:
        Ledger(path).create(name, BUDGET)
        results.send("created")
    except Exception as error:
        results.send(repr(error))


def test_sixteen_processes_create_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    start = processes.Barrier(RACERS)
    pipes = [processes.Pipe(duplex=False) for _ in range(RACERS)]
    for number, (_, sender) in enumerate(pipes):
        processes.Process(target=create, args=(path, f"data set {number % 4}", start, sender)).start()
    assert [receiver.recv() for receiver, _ in pipes] == ["created"] * RACERS
    assert Ledger(path).datasets() == [f"data set {number}" for number in range(4)]


def charge_and_release(account: Account, plan: Plan, releases: Connection) -> None:
    while True:
        account.charge(plan)
        releases.send_bytes(b"released")


def count_until_killed(releases: Connection) -> int:
    count = 0
    while True:
        try:
            releases.recv_bytes()
        except (EOFError, OSError):
            return count
        count += 1


def test_a_ledger_never_forgets_a_charge_when_killed(tmp_path: Path) -> None:
    account = Ledger(tmp_path / "study.db").create("patients", BUDGET)
    plan = share_of_budget(100_000)
    generator = random.Random()
    released = kills = 0
    for _ in range(12):
        receiver, sender = processes.Pipe(duplex=False)
        victims = [processes.Process(target=charge_and_release, args=(account, plan, sender)) for _ in range(2)]
        for victim in victims:
            victim.start()
        sender.close()
        receiver.poll(60)  # the first charge is made: both are at work
        for victim in victims:
            time.sleep(generator.uniform(0.0, 0.04))
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)
        for victim in victims:
            victim.join()
            kills += victim.exitcode == -signal.SIGKILL
        released += count_until_killed(receiver)
        recorded = account.verify()
        # at most one charge of each victim was recorded and never released
        assert released <= recorded <= released + kills
    assert kills == 24
    assert released >= 12


def test_readers_see_whole_books_while_others_charge(tmp_path: Path) -> None:
    account = Ledger(tmp_path / "study.db").create("patients", BUDGET)
    _receiver, sender = processes.Pipe(duplex=False)
    writer = processes.Process(target=charge_and_release, args=(account, share_of_budget(100_000), sender))
    writer.start()
    sender.close()
    try:
        counts = [account.verify() for _ in range(100)]
        while account.verify() == 0:
            time.sleep(0.01)
    finally:
        writer.kill()
        writer.join()
    assert counts == sorted(counts)
