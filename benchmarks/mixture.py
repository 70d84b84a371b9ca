"""Speed and accuracy of the private Gaussian mixture beside scikit-learn's, which is not private, in one run.

    python benchmarks/mixture.py [--quick] [--rows 1000000] [--seeds 10]

Prints ratios and writes benchmarks/results/mixture.json. Seconds depend on the machine and what else it does; ratios of
runs that alternate are what can be compared.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.mixture import GaussianMixture as Plain
from threadpoolctl import threadpool_limits

import tacit
from measuring import alternating, save, show
from tacit.release.lattice import Lattice
from tacit.sources import as_source
from tacit.sources.summation import default_threads
from tacit.statistics import ComponentMoments, Components


def clusters(rows: int, columns: int, components: int, seed: int = 0) -> np.ndarray:
    """Gaussian clusters inside the unit ball, small beside it: the reference problem of the tests."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(components, columns))
    means *= 0.5 / np.linalg.norm(means, axis=1, keepdims=True)
    shapes = [rng.normal(size=(columns, columns)) * 0.08 / np.sqrt(columns) + 0.05 * np.eye(columns) for _ in means]
    weights = rng.dirichlet(np.full(components, 5.0))
    labels = rng.choice(components, p=weights, size=rows)
    X = np.empty((rows, columns))
    for k, (mean, shape) in enumerate(zip(means, shapes)):
        member = labels == k
        X[member] = mean + rng.normal(size=(member.sum(), columns)) @ shape
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))


def thrice(job: Callable[[], object]) -> Callable[[], object]:
    """Return a job that does another one three times."""
    return lambda: [job() for _ in range(3)]


def iteration(rows: int, columns: int, components: int, repeats: int, threads: int) -> dict[str, float]:
    """One EM iteration, E-step and the sums of the M-step, on equally many threads: the mean of three in a row."""
    X = clusters(rows, columns, components)
    source = as_source(X)
    start = Plain(components, max_iter=1, init_params="random", random_state=0, reg_covar=1e-6)
    start.fit(X[:5000])
    current = Components(start.weights_, start.means_, np.linalg.cholesky(start.covariances_))
    statistic, lattice = ComponentMoments(current, radius=np.sqrt(columns) + 1.5), Lattice(2.0**-20)

    def ours() -> None:
        source.sum(lambda block: lattice.quantise(statistic.block_sum(block)), threads=threads)

    def theirs() -> None:
        _, log_responsibilities = start._e_step(X)
        start._m_step(X, log_responsibilities)

    with threadpool_limits(threads):
        mine, plain = (seconds / 3 for seconds in alternating(thrice(ours), thrice(theirs), repeats))
    tracemalloc.start()
    ours()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "rows": rows,
        "columns": columns,
        "components": components,
        "threads": threads,
        "tacit_rows_per_second": rows / mine,
        "sklearn_rows_per_second": rows / plain,
        "times_faster": plain / mine,
        "peak_extra_megabytes": memory / 1e6,
    }


def whole_fit(rows: int, columns: int, components: int, repeats: int) -> dict[str, float]:
    """A whole private fit of ten or more releases beside ten iterations of scikit-learn from a random start."""
    X = clusters(rows, columns, components)
    fit = tacit.GaussianMixture(components, bounds=1.0, delta=1e-8)
    releases = fit.fit(X[:20_000]).n_iter_
    plain = Plain(components, max_iter=10, tol=0.0, init_params="random_from_data", random_state=0)
    ours, theirs = alternating(lambda: fit.fit(X), lambda: plain.fit(X), repeats)
    return {
        "rows": rows,
        "releases": releases,
        "tacit_seconds": ours,
        "sklearn_10_seconds": theirs,
        "ratio": theirs / ours,
    }


def accuracy(seeds: int, epsilons: tuple[float, ...]) -> list[dict[str, float | str]]:
    """Test log-likelihood per row on the reference problem, for each method."""
    X = clusters(26_733, 10, 3)
    fit, test = X[:24_059], X[24_059:]
    best = max((Plain(3, n_init=5, random_state=s).fit(fit) for s in range(2)), key=lambda m: m.lower_bound_)
    table: list[dict[str, float | str]] = [{"method": "scikit-learn, not private", "mean": best.score(test)}]
    for method in ("scale_free", "joint", "per_parameter"):
        for epsilon in epsilons:
            scores = [
                tacit.GaussianMixture(3, method=method, epsilon=epsilon, delta=1e-5, bounds=1.0, random_state=seed)
                .fit(fit)
                .score(test)
                for seed in range(seeds if method == "scale_free" else min(seeds, 3))
            ]
            row = {"method": method, "epsilon": epsilon, "mean": np.mean(scores), "worst": np.min(scores)}
            table.append(row)
    return table


def main() -> None:
    """Run, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    rows, repeats, seeds = (100_000, 2, 2) if options.quick else (options.rows, 5, options.seeds)
    warnings.simplefilter("ignore")
    results = {
        "iteration": [
            iteration(rows // smaller, columns, components, repeats, threads)
            for smaller, columns, components in ((1, 10, 5), (10, 50, 20))
            for threads in sorted({1, default_threads()})
        ],
        "whole_fit": whole_fit(rows, 10, 5, max(1, repeats // 2)),
        "accuracy": accuracy(seeds, (0.1, 1.0) if options.quick else (0.1, 0.5, 1.0, 2.0)),
    }
    for each in results["iteration"]:
        print(
            f"EM iteration, n={each['rows']:,} d={each['columns']} K={each['components']}, "
            f"{each['threads']} thread(s): "
            f"{each['tacit_rows_per_second'] / 1e6:.2f} M rows/s, scikit-learn "
            f"{each['sklearn_rows_per_second'] / 1e6:.2f}: {each['times_faster']:.1f} times faster, "
            f"{each['peak_extra_megabytes']:.0f} MB"
        )
    fit = results["whole_fit"]
    print(
        f"private fit of {fit['releases']} releases, n={fit['rows']:,}: {fit['tacit_seconds']:.2f} s; scikit-learn's "
        f"10 iterations {fit['sklearn_10_seconds']:.2f} s: ratio {fit['ratio']:.1f}"
    )
    for row in results["accuracy"]:
        show(row, ".3f")
    save(__file__, results)


if __name__ == "__main__":
    main()
