"""diffprivlib, or another library, in a process of its own, one fit at a time.

diffprivlib 0.6.6 works with scikit-learn 1.4 to 1.7 only, so it usually needs another interpreter. A benchmark starts
itself there with ``--serve``, sends one line for each fit and reads one line for each answer.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any


class Peer:
    """The other process."""

    def __init__(self, script: str, python: str, *options: str) -> None:
        command = [python, "-W", "ignore", script, "--serve", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.works = self.process.stdout.readline().strip() == "ready"

    def fit(self, *request: object) -> dict[str, Any]:
        """Return the answer to one request."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the peer's interpreter, and that make this process the peer."""
    parser.add_argument("--peer-python", default=sys.executable, help="an interpreter that can import diffprivlib")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)


def start_peer(
    script: str, python: str, *options: str, library: str = "diffprivlib", flag: str = "--peer-python"
) -> Peer | None:
    """Return the peer, or None if its interpreter cannot import the library. The script gets further options."""
    peer = Peer(script, python, *options)
    if peer.works:
        return peer
    print(f"{library} cannot be imported; name an interpreter that can: {flag} PATH. Its rows are left out.")
    return None


def serve(fit: Callable[..., dict[str, Any]], module: str = "diffprivlib.models") -> None:
    """Be the peer: answer requests until there are no more."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        print(f"cannot import {module}: {error}", flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(fit(*json.loads(line))), flush=True)
