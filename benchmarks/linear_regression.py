"""Private linear regression beside diffprivlib's, AdaSSP and least squares; its intervals, heavy tails and speed.

    python benchmarks/linear_regression.py [--quick] [--seeds 5] [--peer-python PATH] [--data FOLDER]

diffprivlib usually needs an interpreter of its own: name it (diffprivlib_peer.py). Without it, its rows are left out.
AdaSSP (Wang, 2018) is here in full, with exact Gaussian noise in place of its own constants, which favours it.

Errors are l2 norms of errors of coefficients, medians over tables. Prints them and writes
benchmarks/results/linear_regression.json. Runs take turns, so that all meet the same state of the machine. All have the
same rows, bounds and epsilon; delta is 1e-6, and diffprivlib's is 0. "AdaSSP, tight" clips rows at the best of four
lengths, in hindsight.
"""

from __future__ import annotations

import argparse
import itertools
import math
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

from adult_table import FOLDER, adult_table
from diffprivlib_peer import Peer, add_options, serve, start_peer
from measuring import save, show

EPSILONS, DELTA = (0.1, 0.5, 1.0), 1e-6
INPUT_BOUND, TARGET_BOUND = 5.0, 10.0  # Largest absolute values of inputs and of the target.
# Settings of intervals: rows, columns, epsilon, correlation of inputs, law of errors.
INTERVALS = [
    (5_000, 3, 0.5, 0.8, "normal"),
    (5_000, 3, 1.0, 0.0, "normal"),
    (10_000, 10, 0.3, 0.5, "normal"),
    (10_000, 10, 1.0, 0.8, "normal"),
    (10_000, 50, 1.0, 0.5, "normal"),
    (100_000, 10, 0.1, 0.0, "normal"),
    (100_000, 10, 1.0, 0.5, "normal"),
    (20_000, 5, 1.0, 0.5, "lognormal"),
    (200_000, 5, 1.0, 0.5, "normal"),  # Here rows are dealt into shares.
]
FRESH = 2026  # Seed of tables on which no constant of the method was chosen.
TIGHT = (1.0, 1.3, 1.6, 2.0)  # Clip radii of rows for AdaSSP, relative to the usual length of a row.
CLIPS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 50.0)  # Clip radii of gradients in plain descent.


def table(
    rows: int, columns: int, seed: int, errors: str = "normal", correlation: float = 0.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, the target and the coefficients, of length 1; neighbouring columns are correlated."""
    rng = np.random.default_rng([FRESH, seed, columns])
    slopes = rng.normal(size=columns)
    slopes /= np.linalg.norm(slopes)
    X = rng.normal(size=(rows, columns))
    for j in range(1, columns):
        X[:, j] = correlation * X[:, j - 1] + math.sqrt(1 - correlation**2) * X[:, j]
    if errors == "normal":
        noise = rng.normal(size=rows)
    elif errors == "lognormal":
        noise = rng.lognormal(1.0, 1.0, rows) - math.exp(1.5)
    else:  # The errors are log-logistic.
        noise = np.exp(rng.logistic(0.2, 0.2, rows)) - math.exp(0.2) * 0.2 * math.pi / math.sin(0.2 * math.pi)
    return X, X @ slopes + noise, slopes


def multiplier(epsilon: float, delta: float) -> float:
    """Return the noise of one Gaussian release, relative to its sensitivity; continuous noise, at any epsilon."""
    from tacit.privacy.gaussian_profile import gaussian_mu

    return 1 / gaussian_mu(epsilon, delta)


def adassp(X: np.ndarray, y: np.ndarray, epsilon: float, seed: int, length: float, target: float) -> np.ndarray:
    """Return AdaSSP's coefficients, with rows clipped at `length` and targets at `target`.

    As its author states it, it protects a row that is added or removed.
    """
    rng, (_, d), rho = np.random.default_rng(seed), X.shape, 0.05
    X = X * np.minimum(1.0, length / np.linalg.norm(X, axis=1))[:, None]
    y = np.clip(y, -target, target)
    noise = math.sqrt(3) * multiplier(epsilon, DELTA)
    gram = X.T @ X
    least = max(0.0, np.linalg.eigvalsh(gram)[0] + noise * length**2 * (rng.normal() - math.log(6 / DELTA) ** 0.5))
    ridge = max(0.0, math.sqrt(d * math.log(2 * d**2 / rho)) * noise * length**2 - least)
    upper = np.triu(rng.normal(size=(d, d)))
    gram = gram + noise * length**2 * (upper + np.triu(upper, 1).T)
    pull = X.T @ y + noise * length * target * rng.normal(size=d)
    return np.linalg.solve(gram + ridge * np.eye(d), pull)


def clipped_descent(X: np.ndarray, y: np.ndarray, epsilon: float, delta: float, clip: float, seed: int) -> np.ndarray:
    """Return the slopes after 50 gradient steps of length 0.1, with gradients clipped at `clip` and Gaussian noise."""
    rng, (n, d), steps = np.random.default_rng(seed), X.shape, 50
    noise = multiplier(epsilon, delta) * math.sqrt(steps) * 2 * clip / n
    slopes = np.zeros(d)
    lengths = np.linalg.norm(X, axis=1)
    for _ in range(steps):
        residuals = y - X @ slopes
        kept = np.minimum(1.0, clip / np.maximum(np.abs(residuals) * lengths, 1e-300))
        slopes = slopes + 0.1 * (X.T @ (residuals * kept) / n + noise * rng.normal(size=d))
    return slopes


def peer_fit(path: str, epsilon: float, seed: int) -> dict:
    """Fit diffprivlib's regression to a table in a file; runs in the peer's own interpreter."""
    from diffprivlib.models import LinearRegression

    with np.load(path) as stored:
        X, y = stored["X"], stored["y"]
    model = LinearRegression(
        epsilon=epsilon, bounds_X=(-INPUT_BOUND, INPUT_BOUND), bounds_y=(-TARGET_BOUND, TARGET_BOUND), random_state=seed
    )
    started = time.process_time()
    model.fit(X, y)
    return {"slopes": np.ravel(model.coef_).tolist(), "seconds": time.process_time() - started}


def ours(X: np.ndarray, y: np.ndarray, epsilon: float, seed: int, **options: object) -> np.ndarray:
    """Return our coefficients."""
    import tacit

    options = {"bounds": (-INPUT_BOUND, INPUT_BOUND), "target_bounds": TARGET_BOUND, "delta": DELTA, **options}
    return tacit.LinearRegression(epsilon=epsilon, random_state=seed, **options).fit(X, y).coef_


def accuracy(rows: int, columns: int, seeds: int, peer: Peer | None, folder: Path) -> list[dict]:
    """Return errors of all methods at every epsilon, for one size of table."""
    found: dict[float, dict[str, list]] = {epsilon: defaultdict(list) for epsilon in EPSILONS}
    lengths = {"AdaSSP": (INPUT_BOUND, TARGET_BOUND), **{f"AdaSSP at {length}": (length, 3.5) for length in TIGHT}}
    for seed in range(seeds):
        X, y, slopes = table(rows, columns, seed)
        path = folder / "table.npz"
        np.savez(path, X=X, y=y)
        plain = np.linalg.lstsq(np.column_stack([np.ones(rows), X]), y, rcond=None)[0][1:]
        for epsilon, errors in found.items():
            errors["not private"].append(np.linalg.norm(plain - slopes))
            errors["ours"].append(np.linalg.norm(ours(X, y, epsilon, seed) - slopes))
            errors["ours, huber"].append(np.linalg.norm(ours(X, y, epsilon, seed, loss="huber") - slopes))
            for name, (length, target) in lengths.items():
                theirs = adassp(X, y, epsilon, seed, length * math.sqrt(columns), target)
                errors[name].append(np.linalg.norm(theirs - slopes))
            if peer is not None:
                theirs = peer.fit(str(path), epsilon, seed)["slopes"]
                errors["diffprivlib"].append(np.linalg.norm(np.array(theirs) - slopes))
    lines = []
    for epsilon, errors in found.items():
        medians = {name: float(np.median(values)) for name, values in errors.items()}
        medians["AdaSSP, tight"] = min(medians.pop(f"AdaSSP at {length}") for length in TIGHT)
        lines.append({"rows": rows, "columns": columns, "epsilon": epsilon, "tables": seeds, **medians})
        show(lines[-1])
    return lines


def published_methods() -> dict:
    """Return published methods, by the names of the table's columns."""
    from tacit.published import BlockMean, RobustDescent, SampleAggregate, TrimmedDescent

    return {
        "robust": RobustDescent(moment_bound=5.0),
        "robust, samples of 1000": RobustDescent(moment_bound=5.0, batch_size=1000),
        "trimmed": TrimmedDescent(gradient_bounds=2.0),
        "sample_aggregate": SampleAggregate(coef_bound=5.0),
        "block_mean": BlockMean(coef_bound=5.0),
    }


def heavy_tails(errors: str, seeds: int, rows: int = 100_000, columns: int = 10) -> list[dict]:
    """Return errors of ours, of published methods, and of descent with the best clip radius in hindsight."""
    lines, delta = [], 1 / rows
    coarse = {"bounds": (-100.0, 100.0), "target_bounds": 1000.0, "delta": delta * (1 - 1e-9)}
    bulk = {**coarse, "loss": "huber"}
    tables = [table(rows, columns, seed, errors, 0.0) for seed in range(seeds)]
    for epsilon in EPSILONS:
        descents = {clip: [] for clip in CLIPS}
        methods = published_methods()
        default, huber, plain, published = [], [], [], {name: [] for name in methods}
        for seed, (X, y, slopes) in enumerate(tables):
            default.append(np.linalg.norm(ours(X, y, epsilon, seed, **coarse) - slopes))
            huber.append(np.linalg.norm(ours(X, y, epsilon, seed, **bulk) - slopes))
            plain.append(np.linalg.norm(np.linalg.lstsq(X, y - y.mean(), rcond=None)[0] - slopes))
            for name, method in methods.items():
                options = {**coarse, "fit_intercept": False, "method": method}
                published[name].append(np.linalg.norm(ours(X, y, epsilon, seed, **options) - slopes))
            for clip, found in descents.items():
                found.append(np.linalg.norm(clipped_descent(X, y, epsilon, delta, clip, seed) - slopes))
        best = min(CLIPS, key=lambda clip: np.mean(descents[clip]))
        line = {
            "errors": errors,
            "epsilon": epsilon,
            "least squares, not private": float(np.mean(plain)),
            "ours": float(np.mean(default)),
            "ours, huber": float(np.mean(huber)),
            **{name: float(np.mean(found)) for name, found in published.items()},
            "clipped best in hindsight": float(np.mean(descents[best])),
            "best clip": best,
        }
        lines.append(line)
        show(line)
    return lines


def coverage(fits: int) -> list[dict]:
    """Return how often 90% intervals hold the slopes, and standard errors relative to those of least squares."""
    import tacit

    lines = []
    for (rows, columns, epsilon, correlation, errors), loss in itertools.product(INTERVALS, ("squared", "huber")):
        covered, ratios = [], []
        for seed in range(fits):
            X, y, slopes = table(rows, columns, seed, errors, correlation)
            bounds = {"bounds": (-INPUT_BOUND, INPUT_BOUND), "target_bounds": 50.0}
            model = tacit.LinearRegression(loss=loss, epsilon=epsilon, random_state=seed, **bounds).fit(X, y)
            low, high = model.confidence_intervals(0.9).coef.T
            covered.append((low < slopes) & (slopes < high))
            usual = math.sqrt(np.diag(np.linalg.inv(np.cov(X.T))).mean() / rows) * np.std(y - X @ slopes)
            ratios.append(model.coef_errors_.mean() / usual)
        line = {"rows": rows, "columns": columns, "epsilon": epsilon, "correlation": correlation, "errors": errors}
        line |= {"loss": loss}
        line |= {"fits": fits, "held": float(np.mean(covered))}
        line |= {"standard errors, of least squares'": float(np.mean(ratios))}
        lines.append(line)
        show(line)
    return lines


def adult(folder: Path, seeds: int) -> list[dict]:
    """Return the proportion of variance explained in the test rows of the Adult table, beside least squares."""
    from sklearn.linear_model import LinearRegression as Plain

    import tacit

    schema, train, test = adult_table(folder)
    lines = []
    for target in ("hours-per-week", "age"):
        place = schema.slices[target]
        X, T = (np.delete(schema.encode(rows), np.r_[place], axis=1) for rows in (train, test))
        truth = test[target].to_numpy(float)

        def explained(predicted: np.ndarray, truth: np.ndarray = truth) -> float:
            return float(1 - np.mean((predicted - truth) ** 2) / truth.var())

        line: dict = {"target": target, "not private": explained(Plain().fit(X, train[target]).predict(T))}
        for epsilon in (*EPSILONS, 3.0):
            scores = []
            for seed in range(seeds):
                model = tacit.LinearRegression(epsilon=epsilon, bounds=schema, random_state=seed).fit(train, target)
                scores.append(explained(model.predict(test)))
            line[f"epsilon {epsilon}"] = float(np.mean(scores))
        lines.append(line)
        show(line, ".3f")
    return lines


def speed(peer: Peer | None, folder: Path, rows: int = 1_000_000, columns: int = 10, turns: int = 5) -> dict:
    """Return CPU seconds of a fit, the best of several turns."""
    X, y, _ = table(rows, columns, 0)
    path = folder / "table.npz"
    np.savez(path, X=X, y=y)
    seconds: dict[str, list[float]] = {"ours": [], "diffprivlib": []}
    for turn in range(turns):
        started = time.process_time()
        ours(X, y, 1.0, turn, delta=1e-7)
        seconds["ours"].append(time.process_time() - started)
        if peer is not None:
            seconds["diffprivlib"].append(peer.fit(str(path), 1.0, turn)["seconds"])
    line = {"rows": rows, "columns": columns, **{name: min(values) for name, values in seconds.items() if values}}
    show(line, ".3f")
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller tables")
    parser.add_argument("--seeds", type=int, default=5)
    add_options(parser)
    parser.add_argument("--data", type=Path, default=FOLDER, help="where adult.data and adult.test are")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.serve:
        serve(peer_fit)
        return
    peer = start_peer(__file__, options.peer_python)
    seeds = 2 if options.quick else options.seeds
    sizes = [(10_000, 10)] if options.quick else [(10_000, 10), (10_000, 50), (100_000, 10), (100_000, 50)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = {
            "accuracy": [line for size in sizes for line in accuracy(*size, seeds, peer, folder)],
            "heavy tails": [line for errors in ("lognormal", "log-logistic") for line in heavy_tails(errors, seeds)],
            "intervals": coverage(10 if options.quick else 100),
            "speed": speed(peer, folder),
        }
    if (options.data / "adult.data").exists():
        results["adult"] = adult(options.data, seeds)
    save(__file__, results)
    if peer is not None:
        peer.close()


if __name__ == "__main__":
    main()
