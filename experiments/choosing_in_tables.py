"""How often the private choice of the number of components is right for tables with levels, and with gaps.

    python -m experiments.choosing_in_tables [--rows 5000] [--tables 4] [--gaps 0] [--epsilon 1 3]

Mixtures of 1, 2, 3, 5 and 8 products: two numbers, whose means are at least four units apart, with a standard deviation
of 0.7, and three columns with levels, whose shares differ from component to component. Compared are n_components="auto"
and the same private fit told the right number, on log-likelihood per row.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

import tacit
from experiments._results import RESULTS, write_table
from tacit.tables import Boolean, Categorical, Numeric

SCHEMA = tacit.Schema(
    {
        "x": Numeric(-10, 10),
        "y": Numeric(-10, 10),
        "plan": Categorical(list("abcd")),
        "smokes": Boolean(),
        "kind": Categorical(list("uvw")),
    }
)
_APART, _REACH = 4.0, 6.0


def table(components: int, rows: int, seed: int, gaps: float = 0.0) -> dict[str, Any]:
    """Draw a mixture of products, and rows of it."""
    rng = np.random.default_rng([components, rows, seed])
    means = rng.uniform(-_REACH, _REACH, (components, 2))
    while components > 1 and _least_distance(means) < _APART:
        means = rng.uniform(-_REACH, _REACH, (components, 2))
    labels = rng.choice(components, rows, p=rng.dirichlet(np.full(components, 8.0)))
    plans, smokers = rng.dirichlet(np.full(4, 0.5), components), rng.beta(0.5, 0.5, components)
    kinds = rng.dirichlet(np.full(3, 0.5), components)
    X = np.clip(means[labels] + 0.7 * rng.normal(size=(rows, 2)), -10, 10)
    columns: dict[str, Any] = {"x": X[:, 0], "y": X[:, 1]}
    columns["plan"] = _drawn(plans[labels], "abcd", rng)
    columns["smokes"] = (rng.random(rows) < smokers[labels]).astype(object)
    columns["kind"] = _drawn(kinds[labels], "uvw", rng)
    for name, column in columns.items():
        column[rng.random(rows) < gaps] = np.nan if name in "xy" else None
    return columns


def _drawn(shares: np.ndarray, levels: str, rng: np.random.Generator) -> np.ndarray:
    codes = (rng.random(len(shares))[:, None] > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
    return np.array(list(levels), dtype=object)[codes]


def _least_distance(means: np.ndarray) -> float:
    distances = np.linalg.norm(means[:, None] - means[None], axis=2)
    return float(distances[~np.eye(len(means), dtype=bool)].min())


def main() -> None:
    """Run all settings and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--gaps", type=float, default=0.0)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 3.0])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = [("rows", "gaps", "epsilon", "components", "right", "chosen", "lost")]
    for epsilon in options.epsilon:
        for components in (1, 2, 3, 5, 8):
            chosen, lost = [], []
            for seed in range(options.tables):
                rows = table(components, options.rows, seed, options.gaps)
                auto, told = (
                    tacit.GaussianMixture(
                        k,
                        epsilon=epsilon,
                        bounds=SCHEMA,
                        missing="model" if options.gaps else "error",
                        random_state=seed,
                    ).fit(rows)
                    for k in ("auto", components)
                )
                chosen.append(auto.n_components_)
                lost.append(told.score(rows) - auto.score(rows))
            right = float(np.mean(np.array(chosen) == components))
            found.append(
                (options.rows, options.gaps, epsilon, components, right, chosen, round(float(np.mean(lost)), 3))
            )
            print(*found[-1], sep="\t", flush=True)
    write_table(RESULTS / "choosing_in_tables", found)


if __name__ == "__main__":
    main()
