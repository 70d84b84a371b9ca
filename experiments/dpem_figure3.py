"""Park et al. (2017), Figure 3: test log-likelihood of private mixtures on the Life Sciences table, against epsilon.

    python -m experiments.dpem_figure3 [--table ../shared/data/lifesci.csv] [--quick]

26,733 rows of ten columns, K = 3, J = 10, delta = 1e-4, 90% to fit and 10% to score. The paper scales rows by the
data's largest norm; that number (16.241) is taken as public here. Its claims: zCDP and the moments accountant allow far
better fits than advanced composition, which allows better ones than linear composition.

Without the table, one of the same shape is generated, and the caption says so.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.mixture import GaussianMixture as Plain

import tacit

RESULTS = Path(__file__).parent / "results"
METHODS = {
    "linear (GGG)": {"method": "per_parameter", "composition": "linear"},
    "advanced (GGG)": {"method": "per_parameter", "composition": "advanced"},
    "zCDP (LLG)": {"method": "per_parameter", "composition": "zcdp", "noise": "LLG"},
    "zCDP (GGG)": {"method": "per_parameter", "composition": "zcdp"},
    "moments (GGG)": {"method": "per_parameter", "composition": "moments"},
    "joint release": {"method": "joint"},
    "scale-free (tacit's default)": {},
}


def rows(path: Path) -> tuple[np.ndarray, str]:
    """Return the table, scaled into the unit ball, and what it is."""
    if path.exists():
        return np.loadtxt(path, delimiter=",")[:, :10] / 16.241, "Life Sciences (ds1.10)"
    rng = np.random.default_rng(0)
    labels, means = rng.choice(3, size=26_733), rng.normal(size=(3, 10)) * 0.15
    return means[labels] + rng.normal(size=(26_733, 10)) * 0.07, "generated, of the shape of Life Sciences"


def main() -> None:
    """Run all methods and write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=Path("../shared/data/lifesci.csv"))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, name = rows(options.table)
    X = X[np.random.default_rng(0).permutation(len(X))]
    fit, test = X[: int(0.9 * len(X))], X[int(0.9 * len(X)) :]
    plain = max((Plain(3, n_init=2, random_state=seed).fit(fit) for seed in range(2)), key=lambda m: m.lower_bound_)
    epsilons = (0.1, 1.0) if options.quick else (0.1, 0.5, 1.0, 2.0, 4.0)
    seeds = 1 if options.quick else 5
    table = [("not private", epsilon, plain.score(test)) for epsilon in epsilons]
    for label, settings in METHODS.items():
        for epsilon in epsilons:
            scores = [
                tacit.GaussianMixture(3, epsilon=epsilon, delta=1e-4, bounds=1.0, random_state=seed, **settings)
                .fit(fit)
                .score(test)
                for seed in range(seeds)
            ]
            table.append((label, epsilon, float(np.mean(scores))))
            print(f"{label:30s} epsilon {epsilon:<4} {np.mean(scores):9.2f}", flush=True)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "dpem_figure3.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("method", "epsilon", "log-likelihood per row"), *table])
    draw(table, f"{name}, {len(fit):,} rows, K = 3, delta = 1e-4, mean of {seeds} run(s)")


def draw(table: list[tuple[str, float, float]], caption: str) -> None:
    """Draw log-likelihood against epsilon; logarithmic where losses are huge."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for label in dict.fromkeys(row[0] for row in table):
        points = [(epsilon, score) for each, epsilon, score in table if each == label]
        style = {"color": "black", "linestyle": ":"} if label == "not private" else {"marker": "o", "markersize": 3}
        axes.plot(*zip(*points), label=label, **style)
    axes.set_yscale("symlog", linthresh=20)
    axes.set(xscale="log", xlabel="epsilon", ylabel="test log-likelihood per row", title=caption)
    axes.title.set_fontsize(9)
    axes.legend(fontsize=8, frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(RESULTS / "dpem_figure3.png", dpi=150)


if __name__ == "__main__":
    main()
