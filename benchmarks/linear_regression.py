"""Private linear regression beside diffprivlib's, AdaSSP and least squares; its intervals, heavy tails and speed.

    python benchmarks/linear_regression.py [--quick] [--seeds 5] [--peer-python PATH] [--data FOLDER]

diffprivlib 0.6.6 works with scikit-learn 1.4 to 1.7 only, so it usually lives in an environment of its own: name that
one's interpreter. Without it, and where this one cannot import it either, its rows are left out. AdaSSP (Wang, 2018) is
here in full, with exact Gaussian noise in place of its own constants, which favours it.

Errors are lengths of what coefficients are off by, medians over tables. Prints them and writes
benchmarks/results/linear_regression.json. Runs take turns, so that all meet the same machine. All have the same rows,
bounds and epsilon; delta is 1e-6, and diffprivlib's is 0. "AdaSSP, tight" is told in hindsight at which of four lengths
rows are best clipped.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

from adult_table import FOLDER, adult_table

RESULTS = Path(__file__).parent / "results" / "linear_regression.json"
EPSILONS, DELTA = (0.1, 0.5, 1.0), 1e-6
REACH, TARGET = 5.0, 10.0  # bounds of inputs and of the target
INTERVALS = [
    (5_000, 3, 0.5, 0.8, "normal"),
    (5_000, 3, 1.0, 0.0, "normal"),
    (10_000, 10, 0.3, 0.5, "normal"),
    (10_000, 10, 1.0, 0.8, "normal"),
    (10_000, 50, 1.0, 0.5, "normal"),
    (100_000, 10, 0.1, 0.0, "normal"),
    (100_000, 10, 1.0, 0.5, "normal"),
    (20_000, 5, 1.0, 0.5, "lognormal"),
    (200_000, 5, 1.0, 0.5, "normal"),  # where rows are dealt out
]
FRESH = 2026  # so that tables are none of those by which the method's constants were chosen
TIGHT = (1.0, 1.3, 1.6, 2.0)  # lengths of rows, relative to ordinary ones
CLIPS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 50.0)


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
    else:  # log-logistic
        noise = np.exp(rng.logistic(0.2, 0.2, rows)) - math.exp(0.2) * 0.2 * math.pi / math.sin(0.2 * math.pi)
    return X, X @ slopes + noise, slopes


def multiplier(epsilon: float, delta: float) -> float:
    """Return the noise of one Gaussian release, relative to its sensitivity."""
    from tacit.privacy import Budget, Gaussian
    from tacit.release import calibrated_plan

    return calibrated_plan([Gaussian("release", 1.0)], Budget(epsilon, delta)).steps[0].noise_multiplier


def adassp(X: np.ndarray, y: np.ndarray, epsilon: float, seed: int, length: float, target: float) -> np.ndarray:
    """Return AdaSSP's coefficients, rows being at most so long and targets so large.

    It is for the relation in which a row is added or removed, as its author has it.
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
    """Return what 50 steps of 0.1 down gradients clipped at `clip` come to, with exact Gaussian noise."""
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
    model = LinearRegression(epsilon=epsilon, bounds_X=(-REACH, REACH), bounds_y=(-TARGET, TARGET), random_state=seed)
    started = time.process_time()
    model.fit(X, y)
    return {"slopes": np.ravel(model.coef_).tolist(), "seconds": time.process_time() - started}


class Peer:
    """The peer, in a process of its own that answers one fit after the other."""

    def __init__(self, python: str) -> None:
        command = [python, "-W", "ignore", __file__, "--answer"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.works = self.process.stdout.readline().strip() == "ready"

    def fit(self, *request: object) -> dict:
        """Return what ``peer_fit`` says."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """Let the process end."""
        self.process.stdin.close()
        self.process.wait()


def answer() -> None:
    """Be the peer's process."""
    try:
        import diffprivlib.models  # noqa: F401
    except ImportError:
        return
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(peer_fit(*json.loads(line))), flush=True)


def ours(X: np.ndarray, y: np.ndarray, epsilon: float, seed: int, **options: object) -> np.ndarray:
    """Return our coefficients; the seed makes noise reproducible."""
    import tacit

    options = {"bounds": (-REACH, REACH), "target_bounds": TARGET, "delta": DELTA, **options}
    return tacit.LinearRegression(epsilon=epsilon, random_state=seed, **options).fit(X, y).coef_


def accuracy(rows: int, columns: int, seeds: int, peer: Peer | None, folder: Path) -> list[dict]:
    """Errors of all at every epsilon, for one size of table."""
    found: dict[float, dict[str, list]] = {epsilon: defaultdict(list) for epsilon in EPSILONS}
    lengths = {"AdaSSP": (REACH, TARGET), **{f"AdaSSP at {reach}": (reach, 3.5) for reach in TIGHT}}
    for seed in range(seeds):
        X, y, slopes = table(rows, columns, seed)
        path = folder / "table.npz"
        np.savez(path, X=X, y=y)
        plain = np.linalg.lstsq(np.column_stack([np.ones(rows), X]), y, rcond=None)[0][1:]
        for epsilon, errors in found.items():
            errors["not private"].append(np.linalg.norm(plain - slopes))
            errors["ours"].append(np.linalg.norm(ours(X, y, epsilon, seed) - slopes))
            for name, (reach, target) in lengths.items():
                theirs = adassp(X, y, epsilon, seed, reach * math.sqrt(columns), target)
                errors[name].append(np.linalg.norm(theirs - slopes))
            if peer is not None:
                theirs = peer.fit(str(path), epsilon, seed)["slopes"]
                errors["diffprivlib"].append(np.linalg.norm(np.array(theirs) - slopes))
    lines = []
    for epsilon, errors in found.items():
        medians = {name: float(np.median(values)) for name, values in errors.items()}
        medians["AdaSSP, tight"] = min(medians.pop(f"AdaSSP at {reach}") for reach in TIGHT)
        lines.append({"rows": rows, "columns": columns, "epsilon": epsilon, "tables": seeds, **medians})
        print(f"n={rows} d={columns} epsilon={epsilon}: " + ", ".join(f"{k} {v:.4g}" for k, v in medians.items()))
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
    """Errors beside published methods, and descent clipped best in hindsight."""
    lines, delta = [], 1 / rows
    coarse = {"bounds": (-100.0, 100.0), "target_bounds": 1000.0, "delta": delta * (1 - 1e-9)}
    tables = [table(rows, columns, seed, errors, 0.0) for seed in range(seeds)]
    for epsilon in EPSILONS:
        descents = {clip: [] for clip in CLIPS}
        methods = published_methods()
        default, published = [], {name: [] for name in methods}
        for seed, (X, y, slopes) in enumerate(tables):
            default.append(np.linalg.norm(ours(X, y, epsilon, seed, **coarse) - slopes))
            for name, method in methods.items():
                options = {**coarse, "fit_intercept": False, "method": method}
                published[name].append(np.linalg.norm(ours(X, y, epsilon, seed, **options) - slopes))
            for clip, found in descents.items():
                found.append(np.linalg.norm(clipped_descent(X, y, epsilon, delta, clip, seed) - slopes))
        best = min(CLIPS, key=lambda clip: np.mean(descents[clip]))
        line = {
            "errors": errors,
            "epsilon": epsilon,
            "ours": float(np.mean(default)),
            **{name: float(np.mean(found)) for name, found in published.items()},
            "clipped best in hindsight": float(np.mean(descents[best])),
            "best clip": best,
        }
        lines.append(line)
        print(", ".join(f"{key} {value:.4g}" if key != "errors" else str(value) for key, value in line.items()))
    return lines


def coverage(fits: int) -> list[dict]:
    """How often intervals of level 0.9 hold the slopes: rows, columns, epsilon, correlation and law of errors vary."""
    import tacit

    lines = []
    for rows, columns, epsilon, correlation, errors in INTERVALS:
        held, wide = [], []
        for seed in range(fits):
            X, y, slopes = table(rows, columns, seed, errors, correlation)
            model = tacit.LinearRegression(
                epsilon=epsilon, bounds=(-REACH, REACH), target_bounds=50.0, random_state=seed
            ).fit(X, y)
            low, high = model.confidence_intervals(0.9).coef.T
            held.append((low < slopes) & (slopes < high))
            usual = math.sqrt(np.diag(np.linalg.inv(np.cov(X.T))).mean() / rows) * np.std(y - X @ slopes)
            wide.append(model.coef_errors_.mean() / usual)
        line = {"rows": rows, "columns": columns, "epsilon": epsilon, "correlation": correlation, "errors": errors}
        line |= {"fits": fits, "held": float(np.mean(held)), "standard errors, of least squares'": float(np.mean(wide))}
        lines.append(line)
        print(
            ", ".join(f"{key} {value}" if isinstance(value, str) else f"{key} {value:g}" for key, value in line.items())
        )
    return lines


def adult(folder: Path, seeds: int) -> list[dict]:
    """Share of the variance of a target explained in the test rows of the Adult table, beside least squares."""
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
            found = []
            for seed in range(seeds):
                model = tacit.LinearRegression(epsilon=epsilon, bounds=schema, random_state=seed).fit(train, target)
                found.append(explained(model.predict(test)))
            line[f"epsilon {epsilon}"] = float(np.mean(found))
        lines.append(line)
        print("adult, " + ", ".join(f"{k} {v}" if isinstance(v, str) else f"{k} {v:.3f}" for k, v in line.items()))
    return lines


def speed(peer: Peer | None, folder: Path, rows: int = 1_000_000, columns: int = 10, turns: int = 5) -> dict:
    """CPU seconds of a fit, best of several turns."""
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
    best = {name: min(values) for name, values in seconds.items() if values}
    print(f"n={rows} d={columns}, CPU seconds of a fit: " + ", ".join(f"{k} {v:.3f}" for k, v in best.items()))
    return {"rows": rows, "columns": columns, **best}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller tables")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--data", type=Path, default=FOLDER, help="where adult.data and adult.test are")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.answer:
        answer()
        return
    peer: Peer | None = Peer(options.peer_python)
    if not peer.works:
        print(
            "diffprivlib cannot be imported; name an interpreter that can: --peer-python PATH. Its rows are left out."
        )
        peer = None
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
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if peer is not None:
        peer.close()


if __name__ == "__main__":
    main()
