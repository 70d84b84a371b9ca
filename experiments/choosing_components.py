"""How often the private choice of the number of components is right, and what it costs.

    python -m experiments.choosing_components [--columns 2 5 10] [--rows 5000 50000] [--tables 10]

Rows from mixtures of 1, 2, 3, 5 and 8 full-covariance Gaussians whose means are at least four standard deviations apart
or so, in boxes of 2, 5 and 10 columns. Compared are n_components="auto", the same private fit told the right number,
and the Bayesian information criterion without privacy, on log-likelihood per new row. The fit without privacy that the
criterion chooses starts from the truth for the right number, so it is as good as it can be.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture as Plain

import tacit
from experiments._results import RESULTS, write_table

_BOX, _APART, _REACH = 10.0, 4.0, 6.0


class Truth:
    """A mixture to draw rows from."""

    def __init__(self, components: int, columns: int, rng: np.random.Generator) -> None:
        self.means = rng.uniform(-_REACH, _REACH, (components, columns))
        while _least_distance(self.means) < _APART:
            self.means = rng.uniform(-_REACH, _REACH, (components, columns))
        self.weights = rng.dirichlet(np.full(components, 8.0))
        turns = [np.linalg.qr(rng.normal(size=(columns, columns)))[0] for _ in range(components)]
        self.factors = [turn * np.exp(rng.uniform(-0.5, 0.3, columns)) for turn in turns]

    def rows(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw rows inside the box."""
        labels = rng.choice(len(self.weights), size=count, p=self.weights)
        noise = rng.normal(size=(count, self.means.shape[1]))
        return np.clip(self.means[labels] + np.einsum("nij,nj->ni", np.stack(self.factors)[labels], noise), -_BOX, _BOX)


def _least_distance(means: np.ndarray) -> float:
    distances = np.linalg.norm(means[:, None] - means[None], axis=2)
    return float(distances[~np.eye(len(means), dtype=bool)].min(initial=np.inf))


def best_by_bic(truth: Truth, X: np.ndarray, most: int = 10) -> Plain:
    """Return the fit without privacy of the lowest criterion, over the right number and its neighbours."""
    right = len(truth.weights)
    fits = []
    for count in range(max(1, right - 1), min(most, right + 1) + 1):
        start = {"means_init": truth.means} if count == right else {}
        fits.append(Plain(count, n_init=1, max_iter=30, random_state=0, **start).fit(X))
    return min(fits, key=lambda fit: fit.bic(X))


def main() -> None:
    """Run all settings and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 50_000])
    parser.add_argument("--tables", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = [
        ("columns", "rows", "epsilon", "components", "right", "right by BIC", "mean chosen", "lost", "lost to BIC")
    ]
    for rows in options.rows:
        for columns in options.columns:
            for components in (1, 2, 3, 5, 8):
                outcomes: dict[float, list[tuple[float, ...]]] = {}
                for seed in range(options.tables):
                    rng = np.random.default_rng([columns, rows, components, seed])
                    truth = Truth(components, columns, rng)
                    X, test = truth.rows(rows, rng), truth.rows(10_000, rng)
                    plain = best_by_bic(truth, X)
                    for epsilon in (0.3, 1.0, 3.0):
                        auto, told = (
                            tacit.GaussianMixture(k, epsilon=epsilon, bounds=(-_BOX, _BOX), random_state=seed).fit(X)
                            for k in ("auto", components)
                        )
                        best = auto.score(test)
                        outcomes.setdefault(epsilon, []).append(
                            (
                                auto.n_components_ == components,
                                plain.n_components == components,
                                auto.n_components_,
                                told.score(test) - best,
                                plain.score(test) - best,
                            )
                        )
                for epsilon, each in outcomes.items():
                    table.append((columns, rows, epsilon, components, *np.mean(each, axis=0).round(3).tolist()))
                    print(*table[-1], sep="\t", flush=True)
    write_table(RESULTS / "choosing_components", table)


if __name__ == "__main__":
    main()
