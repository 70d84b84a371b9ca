"""The tables of :mod:`experiments.heavy_tails`."""

from __future__ import annotations

import bz2
import csv
import math
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments._results import Setting


class Data(NamedTuple):
    """Rows to fit, classes being 0 and 1; and how bad coefficients (1 + d) are, in several ways."""

    X: np.ndarray
    y: np.ndarray
    measures: Callable[[np.ndarray], tuple[float, ...]]


def linear_rows(setting: Setting, seed: int) -> Data:
    """Return the paper's linear model; measured is how far slopes are off."""
    X, slopes, rng = _inputs(setting, seed)
    y = X @ slopes + rng.lognormal(1.0, 1.0, setting.rows) - math.exp(1.5)
    return Data(X, y, lambda found: (float(np.linalg.norm(found[1:] - slopes)),))


def logistic_rows(setting: Setting, seed: int) -> Data:
    """Return the paper's logistic model, turned so that slopes are positive; measured on 20,000 fresh rows too."""
    X, slopes, rng = _inputs(setting, seed)

    def labels(inputs: np.ndarray) -> np.ndarray:
        centre = math.exp(0.2) * 0.2 * math.pi / math.sin(0.2 * math.pi)
        return (inputs @ slopes + np.exp(rng.logistic(0.2, 0.2, len(inputs))) - centre > 0).astype(float)

    fresh = rng.normal(size=(20_000, setting.columns))
    truth = labels(fresh)

    def measures(found: np.ndarray) -> tuple[float, ...]:
        direction = found[1:] / max(float(np.linalg.norm(found[1:])), 1e-300)
        return float(np.linalg.norm(direction - slopes)), *classified(found, fresh, truth)

    return Data(X, labels(X), measures)


def _inputs(setting: Setting, seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng([seed, setting.rows, setting.columns])
    slopes = rng.normal(size=setting.columns)
    return rng.normal(size=(setting.rows, setting.columns)), slopes / np.linalg.norm(slopes), rng


def classified(found: np.ndarray, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return log-loss and the share of rows on the wrong side."""
    scores = np.where(y > 0, 1.0, -1.0) * (X @ found[1:] + found[0])
    return float(np.mean(np.logaddexp(0.0, -scores))), float(np.mean(scores <= 0))


def explained(found: np.ndarray, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return mean squared and mean absolute errors, relative to those of the mean and of the median."""
    off = y - X @ found[1:] - found[0]
    return float(np.mean(off**2) / np.var(y)), float(np.mean(np.abs(off)) / np.mean(np.abs(y - np.median(y))))


ADULT = {
    0: (40.0, 13.0),
    4: (10.0, 2.5),
    10: (0.0, 7500.0),
    11: (0.0, 400.0),
    12: (40.0, 12.0),
}  # Column number: centre and unit.
ADULT_TEST = 2_000


@lru_cache(maxsize=1)
def read_adult(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return age, education, gains, losses, hours, sex and marriage, in round units; and who earns more."""
    lines = [line.strip().split(", ") for line in path.read_text().splitlines()]
    lines = [line for line in lines if len(line) == 15]
    numbers = [[(float(line[place]) - centre) / unit for place, (centre, unit) in ADULT.items()] for line in lines]
    others = [[line[9] == "Male", line[5].startswith("Married")] for line in lines]
    rich = np.array([float(line[14].startswith(">50K")) for line in lines])
    return np.column_stack([numbers, others]).astype(float), rich


def adult_rows(path: Path, logistic: bool, setting: Setting, seed: int) -> Data:
    """Return rows of the census, with -1 and 1 as targets of linear regression; measured on rows held out."""
    X, rich = read_adult(path)
    order = np.random.default_rng(seed).permutation(len(X))[: setting.rows + ADULT_TEST]
    X, y = X[order], rich[order] if logistic else 2 * rich[order] - 1
    judged = classified if logistic else explained
    return Data(X[ADULT_TEST:], y[ADULT_TEST:], lambda found: judged(found, X[:ADULT_TEST], y[:ADULT_TEST]))


MEPS = {  # The unit and the centre of each column.
    "age": (75.0, 7.0),
    "educyr": (12.0, 3.0),
    "totchr": (2.0, 1.3),
    "income": (20.0, 20.0),
    **dict.fromkeys(("female", "private", "marry", "fair", "poor", "black", "hisp", "msa"), (0.5, 0.5)),
}
DOLLARS = 1000.0


def meps_path() -> Path | None:
    """Return where the table is, if the package that has it is installed."""
    found = find_spec("linearmodels")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "datasets" / "meps" / "meps.csv.bz2"


def meps_rows(path: Path, setting: Setting, seed: int) -> Data:
    """Return what explains people's expenses on drugs, and these, in thousands; measured on those held out."""
    with bz2.open(path, "rt", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    X = np.array([[(float(line[name]) - centre) / unit for name, (centre, unit) in MEPS.items()] for line in lines])
    y = np.array([float(line["drugexp"]) / DOLLARS for line in lines])
    order = np.random.default_rng(seed).permutation(len(lines))
    train, test = order[: setting.rows], order[setting.rows :]
    return Data(X[train], y[train], lambda found: explained(found, X[test], y[test]))
