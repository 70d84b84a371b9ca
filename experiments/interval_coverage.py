"""How often 90% intervals of a private mixture hold the truth.

    python -m experiments.interval_coverage [--fits 200] [--first 0] [--bootstrap 19] [SETTING ...]

Each setting is fitted to as many tables, drawn anew, with `confidence_intervals` of each fit. A perfect method would
cover 0.90; with 200 fits of a few components, figures are good to a hundredth or two. Components are those that the
intervals are about: each is compared with the true one nearest to the middle of its intervals.

"By fits" are settings for which whole fits are simulated, as for tables with gaps: see `tacit.mixture.uncertainty`.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import tacit
from experiments._results import RESULTS, write_table
from tacit.mixture import uncertainty
from tacit.tables import Categorical, Numeric, Schema

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
    "large": {"weights": [0.6, 0.4], "means": [[-1.5, 0.0], [1.5, 0.0]], "rows": 60_000, "epsilon": 0.2},
    "little budget": {"weights": [0.4, 0.35, 0.25], "means": _THREE, "rows": 6_000, "epsilon": 0.4},
    "much budget": {"weights": [0.6, 0.4], "means": [[-1.25, 0.0], [1.25, 0.0]], "rows": 3_000, "epsilon": 10.0},
    "lopsided": {"weights": [0.75, 0.25], "means": [[-1.5, 0.0], [1.5, 0.0]], "rows": 4_000, "epsilon": 3.0},
    # Not looked at before the method was fixed.
    "one column": {"weights": [0.5, 0.3, 0.2], "means": [[-4.0], [0.0], [3.5]], "rows": 4_000, "epsilon": 1.0},
    "tied": {
        "weights": [0.65, 0.35],
        "means": [[-1.0, 1.0, 0.0], [1.5, -1.0, 0.5]],
        "factor": [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, -0.5, 1.2]],
        "rows": 4_000,
        "epsilon": 1.5,
        "covariance_type": "tied",
    },
    "spheres": {
        "weights": [0.5, 0.5],
        "means": [[-1.5, 0.0, 0.0, 0.0], [1.5, 0.0, 0.0, 0.0]],
        "rows": 3_000,
        "epsilon": 0.7,
        "covariance_type": "spherical",
        "neighbors": "add_remove",
    },
    # Tables with levels: shares of the levels of each column, by component.
    "levels": {
        "weights": [0.6, 0.4],
        "means": [[-3.0, 0.0], [3.0, 1.0]],
        "levels": [[[0.8, 0.1, 0.1], [0.3, 0.3, 0.4]], [[0.7, 0.3], [0.4, 0.6]]],
        "rows": 4_000,
        "epsilon": 1.0,
    },
    "levels, overlapping": {
        "weights": [0.6, 0.4],
        "means": [[-1.25, 0.0], [1.25, 0.0]],
        "levels": [[[0.8, 0.1, 0.1], [0.3, 0.3, 0.4]], [[0.7, 0.3], [0.4, 0.6]]],
        "rows": 5_000,
        "epsilon": 2.0,
    },
    "levels, three": {
        "weights": [0.45, 0.35, 0.2],
        "means": [[-2.0], [2.0], [0.0]],
        "levels": [[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]],
        "rows": 8_000,
        "epsilon": 2.0,
        "neighbors": "add_remove",
    },
    # The method as it is for tables that releases alone say too little about, at a size it can be run at.
    "by fits": {"weights": [0.6, 0.4], "means": [[-3.0, 0.0], [3.0, 1.0]], "rows": 3_000, "epsilon": 2.0, "fits": True},
    "by fits, stand-ins": {
        "weights": [0.6, 0.4],
        "means": [[-3.0, 0.0], [3.0, 1.0]],
        "rows": 12_000,
        "epsilon": 1.0,
        "most": 3_000,
        "fits": True,
    },
}


def covered(setting: dict[str, Any], seed: int, bootstrap: int) -> tuple[np.ndarray, ...]:
    """Fit one table; return which weights and means were covered, and errors beside standard errors."""
    weights, means = np.array(setting["weights"]), np.array(setting["means"], dtype=float)
    rng = np.random.default_rng([seed, setting["rows"]])
    labels = rng.choice(len(weights), size=setting["rows"], p=weights)
    scatter = rng.normal(size=(setting["rows"], means.shape[1])) @ np.transpose(
        setting.get("factor", np.eye(means.shape[1]))
    )
    X, bounds = np.clip(means[labels] + scatter, -_BOX, _BOX), (-_BOX, _BOX)
    if "levels" in setting:
        X, bounds = _table(X, [np.array(shares)[labels] for shares in setting["levels"]], rng)
    model = tacit.GaussianMixture(
        len(weights),
        epsilon=setting["epsilon"],
        bounds=bounds,
        neighbors=setting.get("neighbors", "replace_one"),
        covariance_type=setting.get("covariance_type", "full"),
        random_state=seed,
    ).fit(X)
    if "fits" in setting:
        model._released = None
    uncertainty.MOST_ROWS = setting.get("most", 50_000)
    intervals = model.confidence_intervals(0.9, n_bootstrap=bootstrap, random_state=seed)
    middles = intervals.means.mean(axis=2)
    order = linear_sum_assignment(np.linalg.norm(middles[:, None] - means[None], axis=2))[1]
    return (
        _inside(weights[order], intervals.weights),
        _inside(means[order], intervals.means),
        intervals.found,
        middles - means[order],
        intervals.means_se,
    )


def _table(numbers: np.ndarray, shares: list[np.ndarray], rng: np.random.Generator) -> tuple[dict, Schema]:
    """Return a table of numbers and levels, drawn by each row's shares, and its schema."""
    table = {f"number {j}": column for j, column in enumerate(numbers.T)}
    schema: dict[str, Any] = {name: Numeric(-_BOX, _BOX) for name in table}
    for j, each in enumerate(shares):
        codes = (rng.random((len(each), 1)) > np.cumsum(each, axis=1)[:, :-1]).sum(axis=1)
        names = [f"level {level}" for level in range(each.shape[1])]
        table[f"levels {j}"], schema[f"levels {j}"] = np.array(names)[codes], Categorical(names)
    return table, Schema(schema)


def _inside(truth: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return (ends[..., 0] <= truth) & (truth <= ends[..., 1])


def main() -> None:
    """Run the settings and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("settings", nargs="*", default=list(SETTINGS))
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="Seed of the first table.")
    parser.add_argument("--bootstrap", type=int, default=19)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = [("setting", "fits", "weights covered", "means covered", "found again", "error", "standard error")]
    for name in options.settings:
        each = [
            covered(SETTINGS[name], seed, options.bootstrap)
            for seed in range(options.first, options.first + options.fits)
        ]
        weights, means, found, errors, standard = (np.stack(part) for part in zip(*each))
        figures = weights.mean(), means.mean(), found.mean(), np.sqrt((errors**2).mean()), np.sqrt((standard**2).mean())
        table.append((name, options.fits, *(round(float(figure), 3) for figure in figures)))
        print(*table[-1], sep="\t", flush=True)
    write_table(RESULTS / "interval_coverage", table)


if __name__ == "__main__":
    main()
