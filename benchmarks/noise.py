"""Noise: samples a second on one core, beside OpenDP's exact samplers and numpy's floats (fast, and not private).

Run ``python benchmarks/noise.py [--quick]``; prints a table and writes ``benchmarks/results/noise.json``.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from measuring import save
from tacit.release.generator import generator
from tacit.release.noise import discrete_gaussian, discrete_laplace

try:
    import opendp.prelude as opendp
except ImportError:
    opendp = None

SCALES = {"1": 1.0, "2^10": 2.0**10, "2^30": 2.0**30, "2^40": 2.0**40}


def rate(draw: Callable[[int], object], seconds: float) -> float:
    """Return samples a second: the best of several rounds, each as long as a round should take."""
    size, spent = 16, 0.0
    while spent < seconds / 10:
        size *= 2
        start = time.perf_counter()
        draw(size)
        spent = time.perf_counter() - start
    rates = []
    for _ in range(5):
        start = time.perf_counter()
        draw(size)
        rates.append(size / (time.perf_counter() - start))
    return max(rates)


def peer(law: str, scale: float) -> Callable[[int], object]:
    """Return OpenDP's discrete sampler on a vector of integers."""
    opendp.enable_features("contrib")
    make = opendp.m.make_gaussian if law == "gaussian" else opendp.m.make_laplace
    metric = opendp.l2_distance(T=float) if law == "gaussian" else opendp.l1_distance(T=int)
    release = make(opendp.vector_domain(opendp.atom_domain(T=int)), metric, scale=scale)
    return lambda size: release([0] * size)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the time, for a first impression")
    seconds = 0.05 if parser.parse_args().quick else 0.5
    gen, rng = generator(), np.random.default_rng()
    floats = {
        "gaussian": rate(lambda size: rng.normal(size=size), seconds),
        "laplace": rate(lambda size: rng.laplace(size=size), seconds),
    }
    ours = {"gaussian": discrete_gaussian, "laplace": discrete_laplace}
    rows = []
    print(f"{'law':10}{'scale/step':>11}{'tacit':>14}{'OpenDP':>14}{'ratio':>9}{'numpy floats':>15}   samples a second")
    for law, draw in ours.items():
        for name, scale in SCALES.items():
            mine = rate(lambda size, draw=draw, scale=scale: draw(scale, size, gen), seconds)
            theirs = rate(peer(law, scale), seconds) if opendp else None
            rows.append({"law": law, "scale": name, "tacit": mine, "opendp": theirs, "numpy_float": floats[law]})
            print(
                f"{law:10}{name:>11}{mine:14,.0f}"
                + (f"{theirs:14,.0f}{mine / theirs:8,.0f}x" if theirs else f"{'-':>14}{'-':>9}")
                + f"{floats[law]:15,.0f}"
            )
    if opendp is None:
        print("OpenDP is not installed: pip install opendp to compare.")
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    save(__file__, {"machine": machine, "samples_per_second": rows})


if __name__ == "__main__":
    main()
