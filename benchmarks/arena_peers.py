"""Peers in the arena, at the same epsilon, with the same rows and the same bounds.

AdaSSP (Wang, 2018) is that of linear_regression.py. diffprivlib and InterpretML's DP-EBM run in processes of their own,
in which this file is started with ``--serve`` and the name of the peer; their interpreters need not have tacit. Delta
is ours, but diffprivlib's is 0. AdaSSP protects a row that is added or removed, and ours one that is replaced, which
favours AdaSSP.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from diffprivlib_peer import Peer, serve, start_peer
from linear_regression import DELTA, adassp


class Process(NamedTuple):
    """Where a peer that has a process of its own comes from."""

    module: str
    flag: str


PROCESSES = {
    "diffprivlib": Process("diffprivlib.models", "--peer-python"),
    "DP-EBM": Process("interpret.privacy", "--ebm-python"),
}
TAKES_PART = {"AdaSSP": ("linear",), "diffprivlib": ("linear", "logistic", "kmeans"), "DP-EBM": ("linear", "logistic")}


class Peers:
    """The peers that were asked for and can be had."""

    def __init__(self, names: list[str], pythons: dict[str, str]) -> None:
        self.names = list(names)
        self._processes: dict[str, Peer] = {}
        for name in set(names) & set(PROCESSES):
            peer = start_peer(__file__, pythons[name], name, library=name, flag=PROCESSES[name].flag)
            if peer is None:
                self.names.remove(name)
            else:
                self._processes[name] = peer
        self._folder = tempfile.TemporaryDirectory()

    def of(self, family: str) -> list[str]:
        """Return the names of those that have such a model."""
        return [name for name in self.names if family in TAKES_PART[name]]

    def answer(self, name: str, family: str, problem: Any, epsilon: float, seed: int) -> np.ndarray:
        """Return what a peer says: predictions or probabilities for the rows to judge by, or centres."""
        if name == "AdaSSP":
            return adassp_predictions(problem, epsilon, seed)
        path = Path(self._folder.name) / "problem.npz"
        targets = {"y": problem.fit_target, "target_bounds": problem.target_bounds}
        low, high = (np.broadcast_to(bound, problem.fit.shape[1]) for bound in problem.bounds)
        known = {key: value for key, value in targets.items() if value is not None}
        np.savez(path, X=problem.fit, T=problem.judge, low=low, high=high, **known)
        said = self._processes[name].fit(family, str(path), epsilon, seed)
        if "error" in said:
            raise RuntimeError(said["error"])
        return np.array(said["answer"])

    def close(self) -> None:
        """End the processes."""
        for peer in self._processes.values():
            peer.close()
        self._folder.cleanup()


def adassp_predictions(problem: Any, epsilon: float, seed: int) -> np.ndarray:
    """Return AdaSSP's predictions, with bounds at -1 and 1 and a column of ones for the intercept."""
    low, high = problem.bounds
    fit, judge = (
        np.column_stack([np.ones(len(rows)), (2 * rows - low - high) / (high - low)])
        for rows in (problem.fit, problem.judge)
    )
    centre, half = np.mean(problem.target_bounds), np.ptp(problem.target_bounds) / 2
    target = (problem.fit_target - centre) / half
    return centre + half * (judge @ adassp(fit, target, epsilon, seed, math.sqrt(fit.shape[1]), 1.0))


def peer_fit(family: str, path: str, epsilon: float, seed: int, models: dict[str, Any]) -> dict[str, Any]:
    """Fit a peer's model to the problem in a file; runs in the peer's own interpreter."""
    with np.load(path) as stored:
        problem = dict(stored)
    try:
        return {"answer": np.asarray(models[family](problem, epsilon, seed)).tolist()}
    except Exception as error:  # Whatever a peer cannot do is recorded, and the run goes on.
        return {"error": f"{type(error).__name__}: {error}"}


def _scaled(problem: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    low, high = problem["low"], problem["high"]
    return tuple((2 * rows - low - high) / (high - low) for rows in (problem["X"], problem["T"]))


def diffprivlib_linear(problem: dict[str, Any], epsilon: float, seed: int) -> np.ndarray:
    from diffprivlib.models import LinearRegression

    X, T = _scaled(problem)
    centre, half = problem["target_bounds"].mean(), np.ptp(problem["target_bounds"]) / 2
    model = LinearRegression(epsilon=epsilon, bounds_X=(-1, 1), bounds_y=(-1, 1), random_state=seed)
    return centre + half * model.fit(X, (problem["y"] - centre) / half).predict(T)


def diffprivlib_logistic(problem: dict[str, Any], epsilon: float, seed: int) -> np.ndarray:
    from diffprivlib.models import LogisticRegression

    X, T = _scaled(problem)  # Rows are then no longer than the root of the number of columns.
    model = LogisticRegression(epsilon=epsilon, data_norm=math.sqrt(X.shape[1]), max_iter=1000, random_state=seed)
    return model.fit(X, problem["y"]).predict_proba(T)[:, 1]


def diffprivlib_kmeans(problem: dict[str, Any], epsilon: float, seed: int) -> np.ndarray:
    from diffprivlib.models import KMeans

    model = KMeans(epsilon=epsilon, bounds=(problem["low"], problem["high"]), random_state=seed)  # eight, by default
    return model.fit(problem["X"]).cluster_centers_


def _ebm_options(problem: dict[str, Any], epsilon: float, seed: int) -> dict[str, Any]:
    bounds = dict(enumerate(zip(problem["low"].tolist(), problem["high"].tolist())))
    kinds = ["continuous"] * len(bounds)
    options = {"epsilon": epsilon, "delta": DELTA, "random_state": seed, "n_jobs": 1}
    return {"privacy_bounds": bounds, "feature_types": kinds, **options}


def ebm_linear(problem: dict[str, Any], epsilon: float, seed: int) -> np.ndarray:
    from interpret.privacy import DPExplainableBoostingRegressor

    low, high = problem["target_bounds"].tolist()
    options = _ebm_options(problem, epsilon, seed)
    model = DPExplainableBoostingRegressor(privacy_target_min=low, privacy_target_max=high, **options)
    return model.fit(problem["X"], problem["y"]).predict(problem["T"])


def ebm_logistic(problem: dict[str, Any], epsilon: float, seed: int) -> np.ndarray:
    from interpret.privacy import DPExplainableBoostingClassifier

    model = DPExplainableBoostingClassifier(**_ebm_options(problem, epsilon, seed))
    return model.fit(problem["X"], problem["y"]).predict_proba(problem["T"])[:, 1]


MODELS = {
    "diffprivlib": {"linear": diffprivlib_linear, "logistic": diffprivlib_logistic, "kmeans": diffprivlib_kmeans},
    "DP-EBM": {"linear": ebm_linear, "logistic": ebm_logistic},
}


def main() -> None:
    """Be a peer's process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", required=True, choices=MODELS, help="the peer to be")
    name = parser.parse_args().serve
    serve(lambda *request: peer_fit(*request, MODELS[name]), PROCESSES[name].module)


if __name__ == "__main__":
    main()
