"""Synthetic tables from the table model and from the mixture beside those of others, on Adult, at equal epsilon.

    python benchmarks/synthetic.py [--table adult.data] [--peer-python PATH] [--epsilons 0.3 1 3] [--seeds 3] [--quick]

All are compared with the real table by ``tacit.tables.compare``, and predict its income; neighbours differ in a row
that is there or not. The peers are MST and AIM as OpenDP has them, run by a Python that has ``opendp[mbi]`` and pandas:
the option, or the environment variable TACIT_PEER_PYTHON; without one they are left out. They take categories alone, so
numbers are cut into public bins for them: whole years and hours, and amounts of money into none and twenty steps, each
wider than the last. What they draw from a bin is spread evenly over it.

Prints each run, then the means over seeds, and writes benchmarks/results/synthetic.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from scipy.optimize import brentq, minimize_scalar

import tacit
from measuring import save
from tacit.tables import Comparison, Integer, Schema, compare

HERE = Path(__file__).parent
DELTA, TARGET = 1e-6, "income"
FIGURES = ("columns", "pairs", "associations", "accuracy", "AUC")
STEPS = 20  # Number of bins of an amount of money above 0, for peers.


def adult(path: Path, schema: Schema) -> pa.Table:
    """Read the table as it is distributed: no header, a blank after each comma, an empty last line."""
    table = pa.csv.read_csv(path, read_options=pa.csv.ReadOptions(column_names=list(schema.names)))
    trimmed = {}
    for name in schema.used:
        column = table[name]
        trimmed[name] = pa.compute.utf8_trim_whitespace(column) if pa.types.is_string(column.type) else column
    return pa.table(trimmed)


def edges(column: Integer) -> np.ndarray:
    """Return where the bins of a whole number begin, and where the last one ends: from public bounds alone."""
    if column.high - column.low < 100:
        return np.arange(column.low, column.high + 2)
    return np.concatenate([[column.low], np.geomspace(column.low + 1, column.high + 1, STEPS + 1).round()])


def to_codes(table: pa.Table, schema: Schema) -> tuple[pa.Table, dict[str, int]]:
    """Return the table as codes from 0 up, and how many there are of each column."""
    codes, counts = {}, {}
    for name in schema.used:
        column = schema.columns[name]
        if isinstance(column, Integer):
            starts = edges(column)
            values = np.clip(np.asarray(table[name]), column.low, column.high)
            codes[name], counts[name] = np.searchsorted(starts, values, side="right") - 1, len(starts) - 1
        else:
            place = {level: code for code, level in enumerate(column.levels)}
            codes[name], counts[name] = [place[level] for level in table[name].to_pylist()], len(column.levels)
    return pa.table(codes), counts


def from_codes(codes: pa.Table, schema: Schema, rng: np.random.Generator) -> pa.Table:
    """Return the table of codes: numbers are spread evenly over bins, and a null takes another row's code."""
    decoded = {}
    for name in schema.used:
        column, code = schema.columns[name], codes[name].cast(pa.float64()).to_numpy().copy()
        missing = np.isnan(code)
        code[missing] = rng.choice(code[~missing], missing.sum())
        code = code.astype(int)
        if isinstance(column, Integer):
            starts = edges(column)
            decoded[name] = np.floor(starts[code] + rng.random(len(code)) * np.diff(starts)[code]).astype(int)
        else:
            decoded[name] = np.array(column.levels)[code]
    return pa.table(decoded)


def rho_for(epsilon: float, delta: float) -> float:
    """Return the zCDP that is worth (epsilon, delta), by Canonne, Kamath and Steinke (2020), Proposition 12."""

    def log_delta(rho: float) -> float:
        def bound(log_order: float) -> float:
            order = 1 + math.exp(log_order)
            return (order - 1) * (order * rho - epsilon) + order * math.log1p(-1 / order) - math.log(order - 1)

        return float(minimize_scalar(bound, bounds=(-7.0, 9.0), method="bounded").fun)

    return float(brentq(lambda rho: log_delta(rho) - math.log(delta), 1e-6, epsilon))


def table_model(real: pa.Table, schema: Schema, epsilon: float, seed: int) -> pa.Table:
    """Return as many rows as the real table has, drawn from the private table model."""
    budget = {"epsilon": epsilon, "delta": DELTA, "neighbors": "add_remove"}
    return tacit.TableModel(bounds=schema, random_state=seed, **budget).fit(real).sample(real.num_rows, seed)


def mixture(real: pa.Table, schema: Schema, epsilon: float, components: int, seed: int) -> pa.Table:
    """Return as many rows as the real table has, drawn from the private mixture."""
    budget = {"epsilon": epsilon, "delta": DELTA, "neighbors": "add_remove"}
    model = tacit.GaussianMixture(components, bounds=schema, random_state=seed, **budget).fit(real)
    return model.sample(real.num_rows, seed)[0]


def peer(python: str, algorithm: str, real: pa.Table, schema: Schema, epsilon: float, seed: int) -> pa.Table:
    """Return as many rows as the real table has, drawn by a peer in its own Python."""
    codes, counts = to_codes(real, schema)
    with tempfile.TemporaryDirectory() as folder:
        source, levels, output = (Path(folder) / name for name in ("codes.parquet", "levels.json", "drawn.parquet"))
        pa.parquet.write_table(codes, source)
        levels.write_text(json.dumps(counts))
        command = [python, str(HERE / "peers" / "opendp_tables.py"), algorithm, str(rho_for(epsilon, DELTA))]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            [*command, str(source), str(levels), str(output)], capture_output=True, text=True, env=environment
        )
        if done.returncode:
            raise RuntimeError(f"{algorithm} failed: {' '.join(done.stderr.split()[-40:])}")
        return from_codes(pa.parquet.read_table(output), schema, np.random.default_rng(seed))


def summary(comparison: Comparison) -> dict[str, float]:
    """Return the figures that are printed."""
    scores = {score.measure: score.from_synthetic for score in comparison.scores}
    return {
        "columns": comparison.column_error,
        "pairs": comparison.pair_error,
        "associations": comparison.association_error,
        **scores,
    }


def show(name: str, epsilon: float | None, figures: dict[str, float], seconds: float | None = None) -> None:
    """Print one line of the table."""
    cells = "  ".join(f"{figures[key]:12.3f}" for key in FIGURES)
    print(f"{name:24s} {'' if epsilon is None else f'{epsilon:g}':>5}  {cells}  {seconds or 0:8.1f}", flush=True)


def main() -> None:
    """Run, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=HERE.parents[1] / "shared" / "data" / "adult.data")
    parser.add_argument("--peer-python", default=os.environ.get("TACIT_PEER_PYTHON"))
    parser.add_argument("--peers", nargs="*", default=["MST", "AIM"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    parser.add_argument("--components", type=int, default=10, help="of the mixture; 0 leaves it out")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.table.exists():
        print(f"There is no table {options.table}; pass --table with UCI Adult's adult.data.")
        return
    schema = Schema.from_toml(HERE / "adult.toml")
    real = adult(options.table, schema)
    if options.quick:
        real, options.epsilons, options.peers = real.slice(0, 5000), [1.0], options.peers[:1]
    jobs = {"tacit.TableModel": lambda e, seed: table_model(real, schema, e, seed)}
    if options.components:
        name = f"tacit mixture, K = {options.components}"
        jobs[name] = lambda e, seed: mixture(real, schema, e, options.components, seed)
    if options.peer_python:
        for algorithm in options.peers:
            jobs[f"OpenDP {algorithm}"] = lambda e, seed, a=algorithm: peer(
                options.peer_python, a, real, schema, e, seed
            )
    else:
        print(
            "The peers are left out: name a Python with opendp[mbi] and pandas by --peer-python or TACIT_PEER_PYTHON."
        )
    print(f"{real.num_rows:,} rows, {len(schema.used)} columns, delta = {DELTA:g}; errors, and predicting {TARGET!r}")
    print(f"{'':24s} {'ε':>5}  " + "  ".join(f"{key:>12}" for key in FIGURES) + "   seconds")
    results = []
    for name, comparison in references(real, schema).items():
        show(name, None, summary(comparison))
        results.append({"method": name, "epsilon": None, **summary(comparison)})
    for seed, epsilon, (name, job) in itertools.product(range(options.seeds), options.epsilons, jobs.items()):
        start = time.perf_counter()
        try:
            synthetic = job(epsilon, seed)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        seconds = time.perf_counter() - start
        figures = summary(compare(real, synthetic, schema=schema, target=TARGET))
        show(name, epsilon, figures, seconds)
        results.append({"method": name, "epsilon": epsilon, "seed": seed, "seconds": seconds, **figures})
    save(__file__, results)
    print(f"\nMeans over {options.seeds} run(s)")
    for epsilon, name in itertools.product(options.epsilons, jobs):
        runs = [each for each in results if each["method"] == name and each["epsilon"] == epsilon]
        if runs:
            means = {key: float(np.mean([each[key] for each in runs])) for key in (*FIGURES, "seconds")}
            show(name, epsilon, means, means["seconds"])


def references(real: pa.Table, schema: Schema) -> dict[str, Comparison]:
    """Return comparisons with the best and with a simple table: other real rows, and independent columns."""
    rng = np.random.default_rng(0)
    halves = np.array_split(rng.permutation(real.num_rows), 2)
    shuffled = pa.table({name: real[name].take(rng.permutation(real.num_rows)) for name in real.column_names})
    return {
        "the other half, real": compare(*(real.take(half) for half in halves), schema=schema, target=TARGET),
        "shuffled, not private": compare(real, shuffled, schema=schema, target=TARGET),
    }


if __name__ == "__main__":
    main()
