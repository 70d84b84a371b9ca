"""How long it takes to start: CPU time of an import and of commands that compute nothing, beside scikit-learn's import.

    python benchmarks/start.py [--quick]

Each is run in new processes; the shortest time counts. Prints seconds and ratios and writes
benchmarks/results/start.json.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys

from measuring import save

PEER = "import sklearn"
COMPLETION = {"_TACIT_COMPLETE": "complete_bash", "COMP_WORDS": "tacit f", "COMP_CWORD": "1"}
COMMANDS: dict[str, tuple[list[str], dict[str, str]]] = {
    PEER: (["-c", PEER], {}),
    "import tacit": (["-c", "import tacit"], {}),
    "tacit --version": (["-m", "tacit.cli", "--version"], {}),
    "tacit --help": (["-m", "tacit.cli", "--help"], {}),
    "tacit fit --help": (["-m", "tacit.cli", "fit", "--help"], {}),
    "tacit f<TAB>": (["-c", "from tacit.cli import main; main()"], COMPLETION),
    "tacit.LinearRegression": (["-c", "import tacit; tacit.LinearRegression"], {}),
}


def cpu_seconds(arguments: list[str], environment: dict[str, str]) -> float:
    """Return user and system time of one new Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    subprocess.run(command, env=os.environ | environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one process for each, not ten")
    repeats = 1 if parser.parse_args().quick else 10
    seconds = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(repeats):  # In turns, so that all see the machine alike.
        for name, (arguments, environment) in COMMANDS.items():
            seconds[name] = min(seconds[name], cpu_seconds(arguments, environment))
    print(f"{'':24}{'CPU seconds':>12}{'ratio':>8}")
    for name, time in seconds.items():
        print(f"{name:24}{time:>12.3f}{time / seconds[PEER]:>8.2f}")
    save(__file__, {"peer": PEER, "cpu_seconds": seconds})


if __name__ == "__main__":
    main()
