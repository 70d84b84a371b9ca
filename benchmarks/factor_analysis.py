"""Speed and accuracy of the private factor analysis beside scikit-learn's, which is not private, in one run.

    python benchmarks/factor_analysis.py [--quick] [--rows 200000] [--seeds 5]

Prints ratios and writes benchmarks/results/factor_analysis.json. Seconds depend on the machine and what else it does;
ratios of runs that alternate are what can be compared.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import FactorAnalysis as Plain

import tacit
from measuring import alternating, save, show


def factor_rows(rows: int, columns: int, factors: int, seed: int = 0) -> np.ndarray:
    """Rows of a factor model with columns of very different widths, within 60 of the origin."""
    rng = np.random.default_rng(seed)
    scales = np.exp(0.7 * rng.normal(size=columns))
    loadings = rng.normal(size=(factors, columns)) / np.sqrt(factors)
    unique = rng.uniform(0.35, 1.05, columns)
    X = rng.normal(size=(rows, factors)) @ loadings + rng.normal(size=(rows, columns)) * unique
    return np.clip(X * scales + 2 * scales * rng.normal(size=columns), -60.0, 60.0)


def speed(rows: int, columns: int, factors: int, method: str, repeats: int) -> dict[str, float | str]:
    """A whole fit beside a whole fit of scikit-learn, both with their default stopping rules."""
    X = factor_rows(rows, columns, factors)
    moments = tacit.Moments(method=method, bounds=(-60, 60), delta=1e-8)
    ours, theirs = alternating(
        lambda: tacit.FactorAnalysis.from_moments(moments.fit(X), factors), lambda: Plain(factors).fit(X), repeats
    )
    return {
        "method": method,
        "rows": rows,
        "columns": columns,
        "tacit_rows_per_second": rows / ours,
        "sklearn_rows_per_second": rows / theirs,
        "times_faster": theirs / ours,
    }


def many_columns() -> dict[str, float]:
    """Seconds and memory at the shape of the Olivetti faces."""
    rng = np.random.default_rng(0)
    X = np.clip(
        rng.normal(size=(400, 10)) @ rng.normal(size=(10, 4096)) / 12 + 0.1 * rng.normal(size=(400, 4096)), -1, 1
    )
    start = time.perf_counter()
    tacit.FactorAnalysis(10, epsilon=1.0, delta=1e-4, bounds=(-1, 1)).fit(X)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}


def problems() -> dict[str, tuple[np.ndarray, float, int]]:
    """Return rows, bounds (about the origin) and factors of each problem."""
    rows = load_digits().data / 8 - 1
    return {
        "20,000 x 12, 3 factors": (factor_rows(24_000, 12, 3), 60.0, 3),
        "20,000 x 50, 5 factors": (factor_rows(24_000, 50, 5), 60.0, 5),
        "20,000 x 100, 5 factors": (factor_rows(24_000, 100, 5), 60.0, 5),
        "3,000 x 50, 5 factors": (factor_rows(7_000, 50, 5)[-7_000:], 60.0, 5),
        "digits, 1,400 x 64, 8 factors": (rows[np.random.default_rng(0).permutation(len(rows))], 1.0, 8),
    }


def accuracy(seeds: int, epsilons: tuple[float, ...]) -> list[dict[str, float | str]]:
    """Log-likelihood of held-out rows, for each method, beside scikit-learn's without privacy.

    Variances below a ten-thousandth of the half range are raised to it in all models, as constant columns have infinite
    densities.
    """
    table: list[dict[str, float | str]] = []
    for name, (X, bound, factors) in problems().items():
        held = 4_000 if len(X) > 5_000 else len(X) - 1_400
        test, fit = X[:held] / bound, X[held:] / bound
        plain = score(Plain(factors).fit(fit), test)
        table.append({"problem": name, "method": "scikit-learn, not private", "mean": plain})
        for epsilon in epsilons:
            for method in ("adaptive", "paper"):
                scores = [
                    score(
                        tacit.FactorAnalysis(
                            factors, method=method, epsilon=epsilon, bounds=(-1, 1), random_state=seed
                        ).fit(fit),
                        test,
                    )
                    for seed in range(seeds)
                ]
                row = {"problem": name, "method": method, "epsilon": epsilon}
                table.append({**row, "mean": np.mean(scores), "spread": np.std(scores), "worst": np.min(scores)})
    return table


def score(model: object, test: np.ndarray) -> float:
    """Return the log-likelihood per row of a factor model, by scikit-learn's own arithmetic."""
    same = Plain(len(model.components_))
    same.mean_, same.components_ = model.mean_, model.components_
    same.noise_variance_ = np.maximum(model.noise_variance_, 1e-4)
    same.n_features_in_ = test.shape[1]
    return float(same.score(test))


def main() -> None:
    """Run, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    rows, repeats, seeds = (20_000, 1, 2) if options.quick else (options.rows, 3, options.seeds)
    warnings.simplefilter("ignore")
    results = {
        "speed": [
            speed(rows // smaller, columns, factors, method, repeats)
            for smaller, columns, factors in ((1, 10, 2), (1, 50, 5), (10, 200, 5))
            for method in ("iterated", "staged")
        ],
        "accuracy": accuracy(seeds, (0.3, 1.0) if options.quick else (0.1, 0.3, 1.0, 3.0)),
        "many_columns": many_columns(),
    }
    for each in results["speed"]:
        print(
            f"{each['method']}, n={each['rows']:,} d={each['columns']}: "
            f"{each['tacit_rows_per_second'] / 1e3:.0f} thousand rows/s, scikit-learn "
            f"{each['sklearn_rows_per_second'] / 1e3:.0f}: {each['times_faster']:.1f} times faster"
        )
    for row in results["accuracy"]:
        show(row, ".2f")
    shape = results["many_columns"]
    print(f"400 x 4096: {shape['seconds']:.1f} s, {shape['peak_gigabytes']:.2f} GB at most")
    save(__file__, results)


if __name__ == "__main__":
    main()
