"""Errors of private means of heavy-tailed rows: published scales, this package's, and OpenDP's bounded mean.

    python benchmarks/robust_mean.py [--quick] [--fits 200]

Prints root mean square errors and writes benchmarks/results/robust_mean.json. A bounded mean needs bounds: it is given
generous ones, a thousand times the standard deviation, and tight ones, that nobody knows, in hindsight.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable

import numpy as np
from scipy import stats

import tacit
from measuring import save
from tacit.published import CatoniMean

LAWS = {
    "lognormal": stats.lognorm(1.0),
    "t3 + 1": stats.t(3, loc=1.0),
    "Pareto 2.5": stats.pareto(2.5),
    "years": stats.norm(1985.0, 20.0),
}
Estimate = Callable[[np.ndarray, int], float]


def peer(low: float, high: float, epsilon: float) -> Estimate | None:
    """Return OpenDP's mean of clamped rows with Laplace noise, or None where it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")

    def estimate(rows: np.ndarray, seed: int) -> float:
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(rows)), dp.symmetric_distance()
        mean = space >> dp.t.then_clamp((low, high)) >> dp.t.then_mean()
        noisy = dp.binary_search_chain(lambda scale: mean >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon)
        return float(noisy(rows))

    return estimate


def estimates(law: stats.rv_continuous, epsilon: float, n: int) -> dict[str, Estimate]:
    """Return every way to estimate the mean, by name."""
    second = float(law.mean() ** 2 + law.var())
    low, high = law.ppf([1e-4, 1 - 1e-4]).tolist()
    wide = 1000 * law.std()

    def ours(**options: object) -> Estimate:
        return lambda rows, seed: tacit.mean(rows, epsilon=epsilon, delta=0.5 / n, random_state=seed, **options)

    def published(**options: object) -> CatoniMean:
        return CatoniMean(moment_bound=second, **options)

    found: dict[str, Estimate | None] = {
        "not private": lambda rows, seed: float(rows.mean()),
        "thesis scale": ours(method=published(scale="thesis"), noise="gaussian"),
        "improved scale": ours(method=published(scale="improved"), noise="gaussian"),
        "robust": ours(method=published()),
        "clipped": ours(method="clipped", moment_bound=second),
        "adaptive about 0": ours(centre=0.0),
        "adaptive": ours(),
        "OpenDP, wide bounds": peer(-wide, wide, epsilon),
        "OpenDP, tight bounds": peer(low, high, epsilon),
    }
    return {name: estimate for name, estimate in found.items() if estimate is not None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer settings")
    parser.add_argument("--fits", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    settings = [(0.1, 10_000), (1.0, 10_000)] if options.quick else [(0.1, 10_000), (1.0, 1000), (1.0, 10_000)]
    results = []
    for name, law in LAWS.items():
        for epsilon, n in settings:
            print(f"{name}, epsilon {epsilon:g}, {n:,} rows")
            tables = [law.rvs(n, random_state=seed) for seed in range(options.fits)]
            for way, estimate in estimates(law, epsilon, n).items():
                errors = [estimate(rows, seed) - law.mean() for seed, rows in enumerate(tables)]
                error = math.sqrt(np.mean(np.square(errors)))
                print(f"    {way:22s} {error:.4g}")
                results.append({"law": name, "epsilon": epsilon, "rows": n, "estimate": way, "rmse": error})
    save(__file__, results)


if __name__ == "__main__":
    main()
