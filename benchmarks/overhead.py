"""The time that privacy costs: the part of a fit that a fit without privacy would not need.

    python benchmarks/overhead.py [--quick] [--rows 1000000]

That is finding the plan's noise, charging a ledger, drawing noise and everything else between passes over the rows; and
within passes, clipping rows and rounding sums to a lattice, which are timed by themselves. Prints shares and writes
benchmarks/results/overhead.json.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from measuring import save
from mixture import clusters
from tacit.privacy import Budget
from tacit.release.lattice import Lattice
from tacit.sources import Source, as_source
from tacit.statistics import ComponentMoments, Components


class Timed(Source):
    """Rows that measure the time of passes over them."""

    def __init__(self, inner: Source, clock: list[float]) -> None:
        self.inner, self.clock = inner, clock
        self.local, self.in_memory = inner.local, inner.in_memory

    columns = property(lambda self: self.inner.columns)
    n_columns = property(lambda self: self.inner.n_columns)
    n_rows = property(lambda self: self.inner.n_rows)
    types = property(lambda self: self.inner.types)

    def blocks(self) -> Iterator[Any]:
        return self.inner.blocks()

    def select(self, columns: Sequence[str]) -> Source:
        return Timed(self.inner.select(columns), self.clock)

    def map(self, function: Callable[[Any], Any], columns: Sequence[str] | None = None) -> Source:
        return Timed(self.inner.map(function, columns), self.clock)

    def sample(self, kept: Any) -> Source:
        return Timed(self.inner.sample(kept), self.clock)

    def hold(self) -> Source:
        return Timed(self._timed(self.inner.hold), self.clock)

    def sum(self, function: Callable[[Any], Any], **how: Any) -> Any:
        return self._timed(lambda: self.inner.sum(function, **how))

    def _timed(self, job: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = job()
        self.clock[0] += time.perf_counter() - start
        return result


def time_fit(X: np.ndarray, components: int, folder: Path, seed: int) -> dict[str, float]:
    """Return the seconds of a fit, and of its passes over the rows."""
    clock = [0.0]
    account = tacit.Ledger(folder / f"{seed}.db").create("rows", Budget(10.0, 1e-5))
    model = tacit.GaussianMixture(components, bounds=1.0, delta=1e-8, ledger=account)
    start = time.perf_counter()
    model.fit(Timed(as_source(X), clock))
    return {"seconds": time.perf_counter() - start, "passes": clock[0]}


def within_passes(columns: int, components: int) -> float:
    """Return the part of a pass that clips rows and rounds sums. The rest is an iteration of EM."""
    rng = np.random.default_rng(0)
    block = np.asfortranarray(clusters(8192, columns, components))
    factors = np.broadcast_to(0.1 * np.eye(columns), (components, columns, columns))
    moments = ComponentMoments(Components(np.full(components, 1 / components), block[:components], factors), radius=4.0)
    lattice = Lattice.for_noise(100.0, moments.sensitivity("replace_one"))
    total, lengths = moments.block_sum(block), rng.chisquare(columns, (components, 8192))
    responsibilities = rng.random(8192)

    def clip() -> None:
        np.sqrt(responsibilities / np.maximum(lengths, 16.0))

    def best(job: Callable[[], Any]) -> float:
        def once() -> float:
            start = time.perf_counter()
            job()
            return time.perf_counter() - start

        return min(once() for _ in range(200))

    private = best(clip) - best(lambda: np.sqrt(lengths)) + best(lambda: lattice.quantise(total))
    return private / best(lambda: moments.block_sum(block))


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    rows = options.rows // 10 if options.quick else options.rows
    warnings.simplefilter("ignore")
    columns, components = 10, 5
    X = clusters(rows, columns, components)
    with tempfile.TemporaryDirectory() as folder:
        fits = [time_fit(X, components, Path(folder), seed) for seed in range(2 if options.quick else 5)]
    fit = min(fits[1:], key=lambda each: each["seconds"])  # The first one warms up.
    between = 1 - fit["passes"] / fit["seconds"]
    within = within_passes(columns, components)
    figures = {
        "rows": rows,
        **fit,
        "between passes": between,
        "within a pass": within,
        "private": between + within * (1 - between),
    }
    for name, value in figures.items():
        print(f"{name:16} {value:.4g}")
    save(__file__, figures)


if __name__ == "__main__":
    main()
