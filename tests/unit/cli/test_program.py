"""The program itself, in its own process: streams, exit codes, pipes and terminals."""

import json
import os
import subprocess
import sys

import pytest

from tacit.privacy import Budget, Ledger

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "80"}


def tacit(*arguments, **options):
    command = [sys.executable, "-m", "tacit.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, **options)


def test_a_fit_in_json_prints_json_alone_and_its_model_can_be_used(folder):
    large = ("--epsilon", 30)  # There is nothing to caution about.
    fit = tacit("fit", "mixture", "people.csv", "--schema", "schema.toml", "-k", 2, *large, "--json", cwd=folder)
    assert (fit.returncode, fit.stderr) == (0, "")
    assert json.loads(fit.stdout)["certificate"]["seeded"] is False
    certificate = tacit("certificate", "model.tacit", cwd=folder)
    assert certificate.returncode == 0
    assert "\x1b" not in certificate.stdout  # no colours where nobody sees them
    assert certificate.stdout.startswith("Privacy certificate")


def test_refusals_are_one_line_on_standard_error(folder):
    refused = tacit("fit", "mixture", "none.csv", "--schema", "schema.toml", "-k", 2, cwd=folder)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "Error: There is no file none.csv. Check the path.\n"


def test_an_overspent_budget_is_exit_code_3(folder):
    Ledger(folder / "study.db").create("people", Budget(0.5, 1e-6))
    ledger = ("--ledger", "study.db", "--dataset", "people")
    refused = tacit("fit", "mixture", "people.csv", "--schema", "schema.toml", "-k", 1, *ledger, cwd=folder)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert refused.stderr.startswith("Refused: ")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_on_a_terminal_there_is_a_progress_bar_and_no_line_is_too_long(folder):
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "tacit.cli", "plan", "-d", "2", "-n", "300", "-k", "2", "--tables", "1"]
    environment = ENVIRONMENT | {"TERM": "xterm", "LINES": "24"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env=environment, text=True) as process:
        os.close(follower)
        bars = b""
        try:
            while part := os.read(leader, 4096):
                bars += part
        except OSError:  # how Linux says that the other end is closed
            pass
        output = process.stdout.read()
    os.close(leader)
    assert process.returncode == 0
    assert b"Simulating" in bars
    assert "Simulating" not in output
    assert all(len(line) <= 110 for line in output.splitlines() if line.startswith(" "))
