"""Calibration: noise for a budget and the time to find it, beside dp-accounting's own search.

Run ``python benchmarks/calibration.py [--quick]``; prints a table and writes ``benchmarks/results/calibration.json``.
Times are the best of several cold runs (caches emptied), on one core. Noise is the multiplier found: less is better.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dp_accounting

from measuring import save
from tacit.privacy import Budget, Gaussian, Laplace, Plan, Sampled, Step
from tacit.privacy.accounting import calibration_factor
from tacit.privacy.gaussian_profile import gaussian_mu

BUDGET = Budget(1.0, 1e-6)
RATE = 0.01


def plans(quick: bool) -> dict[str, tuple[Step, ...]]:
    """Return what is calibrated: multipliers are relative, and the first step's is reported."""
    named: dict[str, tuple[Step, ...]] = {f"{k} Gaussian": (Gaussian("a", 1.0, count=k),) for k in (1, 100, 1000)}
    if not quick:
        named["10 Gaussian, 3 Laplace"] = (Gaussian("a", 1.0, count=10), Laplace("b", 1.0, count=3))
        named["1000 sampled Gaussian"] = (Sampled(RATE, Gaussian("a", 1.0, count=1000)),)
    return named


def ours(steps: tuple[Step, ...]) -> float:
    """Return the first step's calibrated noise multiplier, computed from scratch."""
    calibration_factor.cache_clear()
    gaussian_mu.cache_clear()
    return Plan(steps, "add_remove").calibrate(BUDGET).steps[0].noise_multiplier


def event(steps: tuple[Step, ...], noise: float) -> dp_accounting.DpEvent:
    """Return the same steps in dp-accounting's words, ``noise`` times as noisy."""
    events = []
    for step in steps:
        single: dp_accounting.DpEvent = dp_accounting.GaussianDpEvent(noise * step.noise_multiplier)
        if isinstance(step, Laplace):
            single = dp_accounting.LaplaceDpEvent(noise * step.noise_multiplier)
        elif isinstance(step, Sampled):
            single = dp_accounting.PoissonSampledDpEvent(step.rate, single)
        events.append(dp_accounting.SelfComposedDpEvent(single, step.count))
    return dp_accounting.ComposedDpEvent(events)


def theirs(make: Callable[[], dp_accounting.PrivacyAccountant], steps: tuple[Step, ...], near: float) -> float:
    """Return dp-accounting's calibrated noise multiplier, to the tolerance it uses by default.

    Its search starts from half and twice our answer, which spares it most of the work: far from the answer it is slow.
    """
    bracket = dp_accounting.ExplicitBracketInterval(near / 2, near * 2)
    return float(
        dp_accounting.calibrate_dp_mechanism(
            make, lambda noise: event(steps, noise), BUDGET.epsilon, BUDGET.delta, bracket_interval=bracket
        )
    )


PEERS: dict[str, Callable[[], dp_accounting.PrivacyAccountant]] = {
    "PLD": dp_accounting.pld.PLDAccountant,
    "RDP": dp_accounting.rdp.RdpAccountant,
}


def timed(run: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Return the answer and the least seconds it took."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        answer = run()
        seconds.append(time.perf_counter() - start)
    return answer, min(seconds)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="Gaussian plans only, one run of each peer")
    quick = parser.parse_args().quick
    rows = []
    print(f"epsilon = {BUDGET.epsilon:g}, delta = {BUDGET.delta:g}; dp-accounting {version('dp-accounting')}")
    print(f"{'plan':24}{'accountant':>12}{'noise':>10}{'vs tacit':>10}{'seconds':>11}{'vs tacit':>11}")
    for name, steps in plans(quick).items():
        noise, seconds = timed(lambda steps=steps: ours(steps), 5)
        rows.append({"plan": name, "accountant": "tacit", "noise": noise, "seconds": seconds})
        print(f"{name:24}{'tacit':>12}{noise:10.4f}{'':10}{seconds:11.5f}")
        for peer, make in PEERS.items():
            found, spent = timed(
                lambda make=make, steps=steps, near=noise: theirs(make, steps, near), 1 if quick else 2
            )
            ratios = {"noise_ratio": found / noise, "time_ratio": spent / seconds}
            rows.append({"plan": name, "accountant": peer, "noise": found, "seconds": spent, **ratios})
            print(f"{'':24}{peer:>12}{found:10.4f}{found / noise:9.4f}x{spent:11.5f}{spent / seconds:10,.1f}x")
    machine = {"processor": platform.machine(), "python": platform.python_version()}
    versions = {name: version(name) for name in ("tacit", "dp-accounting", "numpy", "scipy")}
    document = {"budget": vars(BUDGET), "machine": machine, "versions": versions, "rows": rows}
    save(__file__, document)


if __name__ == "__main__":
    main()
