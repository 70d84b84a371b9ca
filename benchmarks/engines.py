"""One EM iteration on every engine: in memory, from Parquet files, on Dask workers and on Spark.

    python benchmarks/engines.py [--quick] [--rows 10000000]

Prints ratios and writes benchmarks/results/engines.json. An iteration is one release's pass over the rows: moments of
five components with full covariances in ten columns. Files were written just before, so the page cache is warm. Times
are the best of a few passes. Dask and Spark are left out where they are not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from measuring import save
from tacit.release.lattice import Lattice
from tacit.sources import Source, as_source, numeric
from tacit.statistics import ComponentMoments, Components

COLUMNS, COMPONENTS, FILES = 10, 5, 16


def statistic() -> ComponentMoments:
    rng = np.random.default_rng(0)
    means = rng.uniform(-0.5, 0.5, (COMPONENTS, COLUMNS))
    factors = np.tril(0.02 * rng.normal(size=(COMPONENTS, COLUMNS, COLUMNS))) + 0.3 * np.eye(COLUMNS)
    return ComponentMoments(Components(np.full(COMPONENTS, 1 / COMPONENTS), means, factors), radius=4.0)


def rows(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.5, 0.5, (5, COLUMNS))[rng.integers(5, size=count)] + 0.3 * rng.normal(size=(count, COLUMNS))


def write_folder(folder: Path, count: int) -> Path:
    """Write `count` rows to sixteen files, a million at a time."""
    folder.mkdir()
    for file in range(FILES):
        mine = count // FILES
        path = folder / f"part-{file:02}.parquet"
        schema = pa.schema([(f"x{j}", pa.float64()) for j in range(COLUMNS)])
        with pq.ParquetWriter(path, schema) as writer:  # With pyarrow's default options.
            for start in range(0, mine, 1_000_000):
                some = rows(min(1_000_000, mine - start), 1000 * file + start // 1_000_000)
                writer.write_table(pa.table(list(some.T), schema=schema), row_group_size=250_000)
    return folder


def one_pass(source: Source) -> Callable[[], Any]:
    """Return what makes one release's pass over the rows."""
    moments = statistic()
    lattice = Lattice.for_noise(100.0, moments.sensitivity("add_remove"), 1)
    numbers = numeric(source).hold()  # A curator holds them like this.
    return lambda: numbers.sum(lambda block: lattice.quantise(moments.block_sum(block)))


def best(run: Callable[[], Any], times: int) -> float:
    run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def streamed(folder: str) -> None:
    """Print seconds and megabytes of a pass over a folder; run in a process of its own, so that memory is its own."""
    seconds = best(one_pass(as_source(folder)), 2)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    # Not getrusage's maximum, which counts what the process that started this one had.
    print(json.dumps({"seconds": seconds, "megabytes": int(status["VmHWM"].split()[0]) / 1024}))


def in_own_process(folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--stream", str(folder)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def on_dask(folder: Path, times: int) -> dict[str, float]:
    import dask.dataframe as frames
    from distributed import Client, LocalCluster

    found = {}
    for workers in (1, 2):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster),
        ):
            found[f"dask, {workers} worker(s)"] = best(one_pass(as_source(frames.read_parquet(folder))), times)
    return found


def on_spark(folder: Path, times: int) -> dict[str, float]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        frame = session.read.parquet(str(folder))
        return {
            "spark, local[2]": best(one_pass(as_source(frame)), times),
            "spark, a job of no size": best(one_pass(as_source(frame.limit(1000).cache())), times),
        }
    finally:
        session.stop()


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--quick", action="store_true", help="A tenth of the rows, and no growth.")
    parser.add_argument("--stream", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stream:
        streamed(options.stream)
        return
    count = options.rows // 10 if options.quick else options.rows
    times = 4
    found: dict[str, Any] = {"rows": count}
    with tempfile.TemporaryDirectory() as temporary:
        folder = write_folder(Path(temporary) / "rows", count)
        os.sync()  # Disks are idle afterwards.
        inside = np.concatenate([pq.read_table(file).to_pandas().to_numpy() for file in sorted(folder.iterdir())])
        found["in memory"] = best(one_pass(as_source(inside)), times)
        del inside
        found["parquet"] = best(one_pass(as_source(folder)), times)
        for engine in (on_spark, on_dask):  # Spark is first, because Dask leaves its malloc setting behind.
            try:
                found |= engine(folder, times)
            except ImportError as error:
                print(f"left out: {error}")
        sizes = () if options.quick else (count // 10, count, 10 * count)
        for size in sizes:
            other = folder if size == count else write_folder(Path(temporary) / str(size), size)
            found[f"streamed, {size} rows"] = in_own_process(other)
    for name, seconds in found.items():
        ratio = f"{seconds / found['in memory']:.2f} of in memory" if isinstance(seconds, float) else ""
        print(f"{name:30} {seconds} {ratio}")
    save(__file__, found)


if __name__ == "__main__":
    main()
