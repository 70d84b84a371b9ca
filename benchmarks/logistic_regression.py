"""Private logistic regression beside diffprivlib's, and beside none: log-loss, coefficients, time, and the Adult table.

    python benchmarks/logistic_regression.py [--quick] [--seeds 5] [--solvers] [--peer-python PATH] [--data FOLDER]

diffprivlib usually needs an interpreter of its own: name it (diffprivlib_peer.py). Without it, its rows are left out.

Accuracy is excess log-loss: that of the rows, less that of the best coefficients. Our bound is that cells are within 5
of zero; the peer's is that rows are no longer than sqrt(d) + 4, which is tighter and about their true length. Both have
the same epsilon; ours has delta = 1e-6 and protects a row that is replaced. With --solvers, the published solvers are
run too, and the corners of a ball, for many columns of which five matter. Prints ratios and writes
benchmarks/results/logistic_regression.json.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from adult_table import FOLDER, adult_table
from diffprivlib_peer import Peer, add_options, serve, start_peer
from measuring import save, show

EPSILONS = (0.1, 0.5, 1.0)
SOLVERS = ("newton", "gradient", "accmd", "sgd", "svrg", "katyusha", "svrg++", "objective")
OUTPUT_PENALTIES = (1e-2, 1e-3, 1e-4)  # Values of C for "output", which needs a strong penalty. All are shown.


def table(rows: int, columns: int, narrow: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return normal inputs with standard deviations from 1 down to 1 / narrow along axes, labels, and true slopes."""
    rng = np.random.default_rng([seed, rows, columns])
    X = rng.normal(size=(rows, columns))
    axes = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    X = X @ (axes * np.geomspace(1, 1 / narrow, columns)) @ axes.T
    slopes = rng.normal(size=columns)
    slopes *= 2.0 / np.std(X @ slopes)
    return X, (X @ slopes - 0.5 + rng.logistic(size=rows) > 0).astype(int), slopes


def log_loss(X: np.ndarray, y: np.ndarray, coef: np.ndarray, intercept: float) -> float:
    """Return the mean log-loss of the rows."""
    scores = np.where(y > 0, 1.0, -1.0) * (X @ np.ravel(coef) + intercept)
    return float(np.mean(np.logaddexp(0.0, -scores)))


def peer_fit(path: str, norm: float, epsilon: float, seed: int) -> dict:
    """Fit diffprivlib's logistic regression to the rows in a file; runs in the peer's own interpreter."""
    from diffprivlib.models import LogisticRegression

    rows = np.load(path)
    X, y = rows[:, :-1], rows[:, -1]
    model = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000, random_state=seed)
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"seconds": seconds, "cpu": cpu, "coef": model.coef_[0].tolist(), "intercept": float(model.intercept_[0])}


def private(X: np.ndarray, y: np.ndarray, epsilon: float, seed: int, **options: object) -> dict:
    """Return the coefficients of our fit, and its seconds."""
    import tacit

    settings = {"classes": [0, 1], "bounds": 5.0, "epsilon": epsilon, "random_state": seed, **options}
    model = tacit.LogisticRegression(**settings)
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"seconds": seconds, "cpu": cpu, "coef": model.coef_[0], "intercept": float(model.intercept_[0])}


def compare(
    rows: int, columns: int, narrow: float, seeds: int, solvers: tuple[str, ...], peer: Peer | None, folder: Path
) -> list[dict]:
    """Return figures for one table: ours and the peer's, at every epsilon."""
    from sklearn.linear_model import LogisticRegression as Plain

    X, y, _ = table(rows, columns, narrow)
    path = folder / "rows.npy"
    np.save(path, np.column_stack([X, y]))
    plain = Plain(C=np.inf, max_iter=1000, tol=1e-8).fit(X, y)
    best = log_loss(X, y, plain.coef_, float(plain.intercept_[0]))
    out = []
    for epsilon in EPSILONS:
        runs: dict[str, list[dict]] = {}
        for seed in range(seeds):
            for solver in solvers:
                name = "tacit" if solver == "newton" else solver
                runs.setdefault(name, []).append(private(X, y, epsilon, seed, solver=solver))
            for C in OUTPUT_PENALTIES if len(solvers) > 1 else ():
                runs.setdefault(f"output C={C:g}", []).append(private(X, y, epsilon, seed, solver="output", C=C))
            if peer is not None:
                answer = peer.fit(str(path), float(np.sqrt(columns) + 4), epsilon, seed)
                runs.setdefault("diffprivlib", []).append(answer)
        each = {"rows": rows, "columns": columns, "narrow": narrow, "epsilon": epsilon}
        for name, fits in runs.items():
            each[f"{name} excess"] = float(np.mean([log_loss(X, y, f["coef"], f["intercept"]) for f in fits])) - best
        if peer is not None:
            each["excess ratio"] = each["tacit excess"] / each["diffprivlib excess"]
        out.append(each)
    return out


def corners(columns: int, epsilon: float, seeds: int, rows: int = 20_000) -> dict:
    """Return the log-loss of fits in a ball of absolute values, less that of the truth, where five columns matter."""
    import tacit
    from tacit.linear import ConvexLoss, L1Ball

    def value(predictions: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -np.where(labels > 0, 1.0, -1.0) * predictions)

    def slope(predictions: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return (np.tanh(predictions / 2) - np.where(labels > 0, 1.0, -1.0)) / 2

    loss = ConvexLoss(value, slope, lipschitz=1.0, smoothness=0.25)
    methods = {"accmd": ("accmd", 1e-6), "frank_wolfe": ("frank_wolfe", 1e-6), "pure frank_wolfe": ("frank_wolfe", 0.0)}
    excess: dict[str, list[float]] = {name: [] for name in methods}
    for seed in range(seeds):
        rng = np.random.default_rng([seed, columns])
        X, slopes = rng.uniform(-1, 1, (rows, columns)), np.zeros(columns)
        slopes[rng.permutation(columns)[:5]] = 2.0 * rng.choice([-1, 1], 5)
        y = np.where(X @ slopes + rng.logistic(size=rows) > 0, 1.0, -1.0)
        least = log_loss(X, y, slopes, 0.0)
        for name, (solver, delta) in methods.items():
            settings = {"epsilon": epsilon, "delta": delta, "bounds": 1.0, "target_bounds": 1.0, "random_state": seed}
            model = tacit.ERM(loss, solver=solver, constraint=L1Ball(10.0), **settings).fit(X, y)
            excess[name].append(log_loss(X, y, model.coef_, float(model.intercept_)) - least)
    figures = {f"{name} excess": float(np.mean(each)) for name, each in excess.items()}
    return {"rows": rows, "columns": columns, "epsilon": epsilon, **figures}


def coefficients(rows: int, columns: int, epsilon: float, tables: int) -> dict:
    """Return root mean square errors of coefficients, beside those of a fit that is not private."""
    from sklearn.linear_model import LogisticRegression as Plain

    noisy, quiet = [], []
    for seed in range(tables):
        X, y, slopes = table(rows, columns, 1.0, seed)
        noisy.append(private(X, y, epsilon, seed)["coef"] - slopes)
        quiet.append(Plain(C=np.inf, tol=1e-8).fit(X, y).coef_[0] - slopes)
    scales = [float(np.sqrt(np.mean(np.square(errors)))) for errors in (noisy, quiet)]
    return {"rows": rows, "columns": columns, "epsilon": epsilon, "error": scales[0], "not private": scales[1]}


def speed(rows: int, columns: int, repeats: int, peer: Peer | None, folder: Path) -> dict:
    """Return seconds of one fit. Runs take turns, so that both meet the same state of the machine."""
    X, y, _ = table(rows, columns, 1.0)
    path = folder / "rows.npy"
    np.save(path, np.column_stack([X, y]))
    runs: dict[str, list[dict]] = {"tacit": [], "diffprivlib": []}
    for seed in range(repeats):
        runs["tacit"].append(private(X, y, 1.0, seed, delta=1e-7))
        if peer is not None:
            runs["diffprivlib"].append(peer.fit(str(path), float(np.sqrt(columns) + 4), 1.0, seed))
    return {
        f"{name} {what}": min(each[what] for each in fits)
        for name, fits in runs.items()
        if fits
        for what in ("seconds", "cpu")
    }


def adult(folder: Path, seeds: int) -> list[dict]:
    """Return accuracies on the test rows of the Adult table, beside a fit that is not private."""
    from sklearn.linear_model import LogisticRegression as Plain

    import tacit

    schema, train, test = adult_table(folder)
    place = schema.slices["income"]
    X, T = (np.delete(schema.encode(rows), np.r_[place], axis=1) for rows in (train, test))
    plain = Plain(max_iter=3000).fit(X, train["income"]).score(T, test["income"])
    out = []
    for neighbors in ("replace_one", "add_remove"):
        for epsilon in (0.1, 0.3, 1.0):
            scores = []
            for seed in range(seeds):
                model = tacit.LogisticRegression(
                    bounds=schema, epsilon=epsilon, neighbors=neighbors, random_state=seed
                ).fit(train, "income")
                scores.append(float(np.mean(model.predict(test) == test["income"])))
            out.append(
                {"neighbors": neighbors, "epsilon": epsilon, "accuracy": float(np.mean(scores)), "not private": plain}
            )
    return out


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--solvers", action="store_true", help="the published solvers too")
    parser.add_argument("--seeds", type=int, default=5)
    add_options(parser)
    parser.add_argument("--data", type=Path, default=FOLDER)
    options = parser.parse_args()
    if options.serve:
        serve(peer_fit)
        return
    peer = start_peer(__file__, options.peer_python)
    seeds = 2 if options.quick else options.seeds
    solvers = SOLVERS if options.solvers else SOLVERS[:1]
    results: dict[str, list[dict]] = {"comparisons": [], "corners": [], "coefficients": [], "speed": [], "adult": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows, columns in ((10_000, 10), (100_000, 10), (10_000, 50), (100_000, 50)):
            for narrow in (1.0, 10.0):
                for each in compare(rows, columns, narrow, seeds, solvers, peer, folder):
                    results["comparisons"].append(each)
                    show(each)
        for columns, epsilon in ((50, 0.3), (50, 1.0), (500, 0.3), (500, 1.0)) if options.solvers else ():
            results["corners"].append(corners(columns, epsilon, seeds))
            show(results["corners"][-1])
        results["coefficients"].append(coefficients(100_000, 10, 1.0, 2 * seeds))
        show(results["coefficients"][0])
        results["speed"].append(speed(200_000 if options.quick else 1_000_000, 10, 5, peer, folder))
        show(results["speed"][0])
    if (options.data / "adult.data").exists():
        for each in adult(options.data, seeds):
            results["adult"].append(each)
            show(each)
    if peer is not None:
        peer.close()
    save(__file__, results)


if __name__ == "__main__":
    main()
