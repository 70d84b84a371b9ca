"""How often 90% intervals of a private mixture hold the truth.

    python -m experiments.interval_coverage [--fits 200] [--bootstrap 25] [SETTING ...]

Each setting is fitted to as many tables, drawn anew, with `confidence_intervals` of each fit. A perfect method would
cover 0.90; with 200 fits of a few components, figures are good to a hundredth or two.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import tacit
from tacit.latent import uncertainty

RESULTS = Path(__file__).parent / "results"
_BOX = 10.0
_THREE = np.array([[-4.0, 0.0], [3.0, 3.0], [2.0, -4.0]])
SETTINGS: dict[str, dict[str, Any]] = {
    "well apart": {"weights": [0.4, 0.35, 0.25], "means": _THREE, "rows": 3_000, "epsilon": 1.0},
    "overlapping": {"weights": [0.6, 0.4], "means": [[-1.25, 0.0], [1.25, 0.0]], "rows": 5_000, "epsilon": 2.0},
    "unequal": {"weights": [0.8, 0.15, 0.05], "means": _THREE, "rows": 8_000, "epsilon": 2.0},
    "few rows": {"weights": [0.6, 0.4], "means": [[-3.0, 0.0], [3.0, 1.0]], "rows": 1_500, "epsilon": 0.5},
    "add or remove": {
        "weights": [0.5, 0.3, 0.2],
        "means": 3.0 * np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]]),
        "rows": 5_000,
        "epsilon": 1.0,
        "neighbors": "add_remove",
    },
    # The way of large tables, at a size at which it can be run 200 times.
    "stand-ins": {
        "weights": [0.6, 0.4],
        "means": [[-1.5, 0.0], [1.5, 0.0]],
        "rows": 12_000,
        "epsilon": 1.0,
        "most": 3_000,
    },
}


def covered(setting: dict[str, Any], seed: int, bootstrap: int) -> tuple[np.ndarray, ...]:
    """Fit one table; return which weights and means were covered, and errors beside standard errors."""
    weights, means = np.array(setting["weights"]), np.array(setting["means"], dtype=float)
    rng = np.random.default_rng([seed, setting["rows"]])
    labels = rng.choice(len(weights), size=setting["rows"], p=weights)
    X = np.clip(means[labels] + rng.normal(size=(setting["rows"], means.shape[1])), -_BOX, _BOX)
    model = tacit.GaussianMixture(
        len(weights),
        epsilon=setting["epsilon"],
        bounds=(-_BOX, _BOX),
        neighbors=setting.get("neighbors", "replace_one"),
        random_state=seed,
    ).fit(X)
    uncertainty.MOST_ROWS = setting.get("most", 50_000)
    intervals = model.confidence_intervals(0.9, n_bootstrap=bootstrap, random_state=seed)
    order = linear_sum_assignment(np.linalg.norm(model.means_[:, None] - means[None], axis=2))[1]
    return (
        _inside(weights[order], intervals.weights),
        _inside(means[order], intervals.means),
        intervals.found,
        model.means_ - means[order],
        intervals.means_se,
    )


def _inside(truth: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return (ends[..., 0] <= truth) & (truth <= ends[..., 1])


def main() -> None:
    """Run the settings and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("settings", nargs="*", default=list(SETTINGS))
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--bootstrap", type=int, default=25)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = [("setting", "fits", "weights covered", "means covered", "found again", "error", "standard error")]
    for name in options.settings:
        each = [covered(SETTINGS[name], seed, options.bootstrap) for seed in range(options.fits)]
        weights, means, found, errors, standard = (np.stack(part) for part in zip(*each))
        figures = weights.mean(), means.mean(), found.mean(), np.sqrt((errors**2).mean()), np.sqrt((standard**2).mean())
        table.append((name, options.fits, *(round(float(figure), 3) for figure in figures)))
        print(*table[-1], sep="\t", flush=True)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "interval_coverage.csv").open("w", newline="") as file:
        csv.writer(file).writerows(table)


if __name__ == "__main__":
    main()
