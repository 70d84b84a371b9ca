"""Tables for peers that take categories alone, and their synthetic rows as tables again, for benchmarks/synthetic.py.

Numbers are cut into public bins: up to a hundred whole numbers one by one, amounts from 0 to a thousand or more into
none and twenty steps, each wider than the last, and other numbers into 32 equal steps with 0 by itself. What is drawn
from a bin is spread evenly over it. A missing cell is one more category.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from scipy.optimize import brentq, minimize_scalar

from tacit.tables import Categorical, Integer, Numeric, Schema

_MOST_EXACT = 100  # Number of whole numbers that have a bin each.
_AMOUNT = 1000  # Numbers from 0 up to this or more are amounts.
_STEPS, _EQUAL_STEPS = 20, 32  # Number of bins of an amount above 0, and of any other number.


def edges(column: Numeric) -> np.ndarray:
    """Return where the bins of a number begin, and where the last one ends: from public bounds alone."""
    whole = isinstance(column, Integer)
    end = column.high + 1 if whole else np.nextafter(column.high, np.inf)
    if whole and column.high - column.low < _MOST_EXACT:
        return np.arange(column.low, end + 1)
    above_zero = 1 if whole else 5e-324
    if column.low == 0 and column.high >= _AMOUNT:
        steps = np.geomspace(1, end, _STEPS + 1).round() if whole else np.geomspace(above_zero + 1, end, _STEPS)
        return np.unique([0, above_zero, *steps[:-1], end])
    steps = np.linspace(column.low, end, _EQUAL_STEPS + 1)
    steps = np.unique([*(steps.round() if whole else steps)[:-1], end])
    return np.unique([*steps, 0, above_zero]) if column.low <= 0 < column.high else steps


def to_codes(table: pa.Table, schema: Schema) -> tuple[pa.Table, dict[str, int]]:
    """Return the table as codes from 0 up, and how many there are of each column."""
    codes, counts = {}, {}
    for name in schema.used:
        column, missing = schema.columns[name], np.asarray(table[name].is_null())
        if isinstance(column, Categorical):
            place = {level: code for code, level in enumerate(column.levels)}
            code, count = np.array([place.get(level, 0) for level in table[name].to_pylist()]), len(column.levels)
        else:
            starts = edges(column)
            values = np.nan_to_num(table[name].cast(pa.float64()).to_numpy(), nan=column.low)
            code = np.searchsorted(starts, values.clip(column.low, column.high), side="right") - 1
            count = len(starts) - 1
        codes[name], counts[name] = np.where(missing, count, code), int(count + missing.any())
    return pa.table(codes), counts


def from_codes(codes: pa.Table, schema: Schema, rng: np.random.Generator) -> pa.Table:
    """Return the table of codes: numbers are spread evenly over bins, and a null takes another row's code."""
    decoded = {}
    for name in schema.used:
        column, code = schema.columns[name], codes[name].cast(pa.float64()).to_numpy().copy()
        absent = np.isnan(code)
        code[absent] = rng.choice(code[~absent], absent.sum())
        starts = None if isinstance(column, Categorical) else edges(column)
        count = len(column.levels) if starts is None else len(starts) - 1
        missing = code >= count
        code = np.where(missing, 0, code).astype(int)
        if starts is None:
            values = np.array(column.levels)[code]
        else:
            values = starts[code] + rng.random(len(code)) * np.diff(starts)[code]
            values = np.floor(values).astype(int) if isinstance(column, Integer) else values.clip(None, column.high)
        decoded[name] = pa.array(values, mask=missing)
    return pa.table(decoded)


def rho_for(epsilon: float, delta: float) -> float:
    """Return the zCDP that is worth (epsilon, delta), by Canonne, Kamath and Steinke (2020), Proposition 12."""

    def log_delta(rho: float) -> float:
        def bound(log_order: float) -> float:
            order = 1 + math.exp(log_order)
            return (order - 1) * (order * rho - epsilon) + order * math.log1p(-1 / order) - math.log(order - 1)

        return float(minimize_scalar(bound, bounds=(-7.0, 9.0), method="bounded").fun)

    return float(brentq(lambda rho: log_delta(rho) - math.log(delta), 1e-6, epsilon))


def draw_by_peer(python: str, algorithm: str, real: pa.Table, schema: Schema, rho: float, seed: int) -> pa.Table:
    """Return as many rows as the real table has, drawn by a peer in its own Python."""
    codes, counts = to_codes(real, schema)
    with tempfile.TemporaryDirectory() as folder:
        source, levels, output = (Path(folder) / name for name in ("codes.parquet", "levels.json", "drawn.parquet"))
        pa.parquet.write_table(codes, source)
        levels.write_text(json.dumps(counts))
        script = Path(__file__).parent / "peers" / "opendp_tables.py"
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            [python, str(script), algorithm, str(rho), str(source), str(levels), str(output)],
            capture_output=True,
            text=True,
            env=environment,
        )
        if done.returncode:
            raise RuntimeError(f"{algorithm} failed: {' '.join(done.stderr.split()[-40:])}")
        return from_codes(pa.parquet.read_table(output), schema, np.random.default_rng(seed))
