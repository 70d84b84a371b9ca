"""Private k-means beside diffprivlib's, and one pass over the rows beside scikit-learn's Lloyd iteration.

    python benchmarks/kmeans.py [--quick] [--seeds 5] [--peer-python PATH]

diffprivlib usually needs an interpreter of its own: name it (diffprivlib_peer.py). Without it, its rows are left out.

Accuracy is excess NICV: the mean squared distance of a row from its nearest centre, less the least that any run found
without privacy. Prints ratios and writes benchmarks/results/kmeans.json. Runs take turns, so that all meet the same
machine. Both libraries have the same rows, the same bounds and the same epsilon; ours has delta = 1e-6, or 0 where it
says pure.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from diffprivlib_peer import Peer, add_options, serve, start_peer
from measuring import save, show

ROWS, EPSILONS = 100_000, (0.1, 0.5, 1.0)
SHAPES = ("blobs", "overlapping", "unequal", "heavy tails", "elongated", "narrow", "no clusters")


def table(shape: str, columns: int, clusters: int, rows: int = ROWS) -> np.ndarray:
    """Return rows in [-1, 1]^d, in clusters of one of the shapes that methods are compared on."""
    rng = np.random.default_rng([SHAPES.index(shape), columns, clusters])
    centres, sizes = rng.uniform(-0.7, 0.7, (clusters, columns)), np.full(clusters, 0.15 if columns >= 5 else 0.05)
    weights = np.full(clusters, 1 / clusters)
    if shape == "no clusters":
        return rng.uniform(-1, 1, (rows, columns))
    if shape == "overlapping":
        centres, sizes = 0.5 * centres, 2 * sizes if columns < 5 else 1.33 * sizes
    if shape == "unequal":
        weights = 0.9 * rng.dirichlet(np.ones(clusters)) + 0.1 / clusters
        sizes = sizes * rng.uniform(0.4, 1.6, clusters)
    if shape == "narrow":
        sizes = 0.2 * sizes
    labels = rng.choice(clusters, rows, p=weights)
    deviations = rng.normal(size=(rows, columns))
    if shape == "heavy tails":
        deviations = 0.7 * rng.standard_t(3, size=(rows, columns))
    if shape == "elongated":
        axes = rng.normal(size=(clusters, columns, columns)) / np.sqrt(columns)
        deviations = np.einsum("nij,nj->ni", axes[labels], deviations)
    return np.clip(centres[labels] + sizes[labels, None] * deviations, -1, 1)


def nicv(rows: np.ndarray, centres: np.ndarray) -> float:
    """Return the mean squared distance of rows from their nearest centres."""
    nearest = np.full(len(rows), np.inf)
    for centre in centres:
        np.minimum(nearest, np.sum((rows - centre) ** 2, axis=1), out=nearest)
    return float(nearest.mean())


def peer_fit(path: str, clusters: int, epsilon: float, seed: int) -> dict:
    """Fit diffprivlib's k-means to the rows in a file; runs in the peer's own interpreter."""
    from diffprivlib.models import KMeans

    rows = np.load(path)
    bounds = (np.full(rows.shape[1], -1.0), np.full(rows.shape[1], 1.0))
    start = time.perf_counter()
    model = KMeans(clusters, epsilon=epsilon, bounds=bounds, random_state=seed).fit(rows)
    return {"seconds": time.perf_counter() - start, "centres": model.cluster_centers_.tolist()}


def compare(shape: str, columns: int, clusters: int, seeds: int, peer: Peer | None, folder: Path) -> list[dict]:
    """Return figures for one table: ours, ours with delta 0, and the peer's, at every epsilon."""
    from sklearn.cluster import KMeans as Plain

    import tacit

    X = table(shape, columns, clusters)
    path = folder / "rows.npy"
    np.save(path, X)
    best = min(nicv(X, Plain(clusters, random_state=seed).fit(X).cluster_centers_) for seed in range(5))
    out = []
    for epsilon in EPSILONS:
        runs: dict[str, list[tuple[float, float]]] = {"tacit": [], "tacit pure": [], "diffprivlib": []}
        for seed in range(seeds):
            for name, delta in (("tacit", 1e-6), ("tacit pure", 0.0)):
                model = tacit.KMeans(clusters, epsilon=epsilon, delta=delta, bounds=(-1, 1), random_state=seed)
                start = time.perf_counter()
                model.fit(X)
                seconds = time.perf_counter() - start
                runs[name].append((nicv(X, model.cluster_centers_), seconds))
            if peer is not None:
                answer = peer.fit(str(path), clusters, epsilon, seed)
                runs["diffprivlib"].append((nicv(X, np.array(answer["centres"])), answer["seconds"]))
        best = min([best, *(score for pairs in runs.values() for score, _ in pairs)])
        out.append({"shape": shape, "columns": columns, "clusters": clusters, "epsilon": epsilon, "runs": runs})
    rows = []
    for each in out:
        runs = each.pop("runs")
        each["optimum"] = best
        for name, pairs in runs.items():
            if pairs:
                each[f"{name} excess"] = float(np.mean([score for score, _ in pairs])) - best
                each[f"{name} seconds"] = min(seconds for _, seconds in pairs)
        if peer is not None:
            each["excess ratio"] = each["tacit excess"] / each["diffprivlib excess"]
            each["pure excess ratio"] = each["tacit pure excess"] / each["diffprivlib excess"]
            each["times faster"] = each["diffprivlib seconds"] / each["tacit seconds"]
        rows.append(each)
    return rows


def iteration(rows: int, columns: int, clusters: int, repeats: int) -> dict[str, float]:
    """Return the speed of one pass, assignment and sums, on one thread, beside scikit-learn's Lloyd iteration."""
    from sklearn.cluster import KMeans as Plain
    from threadpoolctl import threadpool_limits

    from tacit.release.lattice import Lattice
    from tacit.sources import as_source
    from tacit.statistics import Centres, ClusterMoments

    X = table("overlapping", columns, clusters, rows)
    centres, lattice = X[:clusters].copy(), Lattice(2.0**-20)
    source = as_source(np.asfortranarray(X))  # Fits hold rows column by column.
    best = {"tacit": np.inf, "tacit, with covariances": np.inf, "scikit-learn": np.inf}

    def plain(most: int) -> tuple[float, int]:
        start = time.perf_counter()
        model = Plain(clusters, init=centres, n_init=1, max_iter=most, tol=0.0, algorithm="lloyd").fit(X)
        return time.perf_counter() - start, model.n_iter_

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(repeats):
            for name, kind in (("tacit", "spherical"), ("tacit, with covariances", "full")):
                statistic = ClusterMoments(Centres(centres), np.full(clusters, 0.5), covariance_type=kind)
                start = time.perf_counter()
                source.sum(lambda block, it=statistic: lattice.quantise(it.block_sum(block)), threads=1)
                best[name] = min(best[name], time.perf_counter() - start)
            (short, few), (long, many) = plain(2), plain(22)
            best["scikit-learn"] = min(best["scikit-learn"], (long - short) / (many - few))
    figures = {f"{name} rows per second": rows / seconds for name, seconds in best.items()}
    return {"rows": rows, "columns": columns, "clusters": clusters, **figures}


def main() -> None:
    """Run, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    add_options(parser)
    options = parser.parse_args()
    if options.serve:
        serve(peer_fit)
        return
    peer = start_peer(__file__, options.peer_python)
    shapes, seeds = (("blobs",), 2) if options.quick else (SHAPES, options.seeds)
    comparisons: list[dict] = []
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            for columns in (2, 10):
                for clusters in (5, 20):
                    comparisons += compare(shape, columns, clusters, seeds, peer, Path(folder))
                    for each in comparisons[-len(EPSILONS) :]:
                        show(each)
    passes = [iteration(200_000 if options.quick else 1_000_000, 10, k, 3) for k in (5, 20)]
    for each in passes:
        show(each, ",.0f")
    if peer is not None:
        peer.close()
        for shape in shapes:
            mine = [each for each in comparisons if each["shape"] == shape]
            print(
                f"{shape}: at most {max(e['excess ratio'] for e in mine):.3f} of diffprivlib's excess, pure "
                f"{max(e['pure excess ratio'] for e in mine):.3f}; at least {min(e['times faster'] for e in mine):.1f} "
                "times as fast"
            )
    save(__file__, {"comparisons": comparisons, "passes": passes})


if __name__ == "__main__":
    main()
