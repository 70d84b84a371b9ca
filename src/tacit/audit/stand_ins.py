"""Tables that take the place of one in an audit: unrelated ones of the same public shape, and neighbours of it.

Unrelated tables have cells of the same columns and types, drawn from the lower or the upper half of each column, column
by column: other ranges, other means, no correlation. Where the number of rows is secret, they have another. Neighbours
have an adversary in place of the last row: cells far outside, on one side, on the other and on both, a copy of another
row and, where they are allowed, cells that are missing or infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from tacit.sources import as_table
from tacit.sources.frames import is_frame
from tacit.tables import Numeric, Schema

_FAR = 1e6  # times the largest cell: far outside of any bounds that are near to the rows
Column = list[Any]


class Table(NamedTuple):
    """What is passed to ``fit``."""

    X: Any
    y: Any = None


class Tables(NamedTuple):
    """The tables of an audit. Neighbours differ from the first in one row; where rows may go, it is not in the first
    of them.
    """

    first: Table
    unrelated: list[Table]
    neighboring: list[Table]


@dataclass(frozen=True, eq=False)
class _Columns:
    """A table in memory as lists of cells, the target last if it is an array, and what makes a table of such lists."""

    columns: list[Column]
    limits: list[tuple[float, float] | None]  # of numbers that may be any; None where cells must be of those there are
    gaps: list[bool]
    rebuilt: Callable[[list[Column]], Table]


def stand_ins(estimator: Any, X: Any, y: Any, neighbors: str) -> Tables:
    """Return the table and those that take its place, for a table in memory.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.arange(8.0).reshape(4, 2)
    >>> tables = stand_ins(tacit.KMeans(2), X, None, "add_remove")
    >>> [len(table.X) for table in tables.neighboring], [len(table.X) for table in tables.unrelated]
    ([3, 4, 4, 4, 4], [3, 5])
    """
    cells = _from_frame(estimator, X, y) if is_frame(X) else _from_array(estimator, X, y)
    count = len(cells.columns[0])
    secret = neighbors == "add_remove"
    rng = np.random.default_rng(0)
    unrelated = []
    for upper, size in ((False, count - 1 - count // 7 if secret else count), (True, count + 1 if secret else count)):
        halves = [_half(column, upper) for column in cells.columns]
        drawn = [[half[place] for place in rng.integers(len(half), size=max(size, 1))] for half in halves]
        unrelated.append(cells.rebuilt(drawn))
    shared = [column[:-1] for column in cells.columns]
    rows = [[column[0] for column in cells.columns], *_adversaries(cells)]
    if getattr(estimator, "missing", "error") == "ignore" and (y is None or isinstance(y, str)):
        # Arrays of inputs and targets are refused if they hold infinities, which is told before anything is charged.
        rows.append(_with_gaps(cells, float("inf")))
    if _allows_gaps(estimator):
        rows.append(_with_gaps(cells, float("nan")))
    neighboring = [
        cells.rebuilt([[*column, cell] for column, cell in zip(shared, row)]) for row in rows if row is not None
    ]
    if secret:
        neighboring.insert(0, cells.rebuilt(shared))
    return Tables(cells.rebuilt(cells.columns), unrelated, neighboring)


def _from_array(estimator: Any, X: Any, y: Any) -> _Columns:
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(
            "Tables that stand in for X can be made where X is a matrix of numbers or a data frame in memory. For "
            "other kinds of X, pass the tables as unrelated and neighboring."
        )
    dtypes = [matrix.dtype] * matrix.shape[1]
    limits = [_limits(dtype) for dtype in dtypes]
    columns, gaps = matrix.T.tolist(), [dtype.kind == "f" for dtype in dtypes]
    target = None if y is None or isinstance(y, str) else np.asarray(y)
    if target is not None:
        columns.append(target.tolist())
        limits.append(None if is_classifier(estimator) else _limits(target.dtype))
        gaps.append(False)

    def rebuilt(cells: list[Column]) -> Table:
        inputs = cells if target is None else cells[:-1]
        outputs = y if target is None else np.array(cells[-1], dtype=target.dtype)
        return Table(np.array(inputs, dtype=matrix.dtype).T, outputs)

    return _Columns(columns, limits, gaps, rebuilt)


def _from_frame(estimator: Any, X: Any, y: Any) -> _Columns:
    import pyarrow as pa

    table = as_table(X)
    schema = getattr(estimator, "bounds", None)
    known = schema.columns if isinstance(schema, Schema) else {}
    limits: list[tuple[float, float] | None] = []
    for field in table.schema:
        label = (field.name == y and is_classifier(estimator)) or not isinstance(known.get(field.name, _ANY), Numeric)
        limits.append(None if label else _limits(_dtype(field.type)))
    columns = [column.to_pylist() for column in table.columns]
    target = None if y is None or isinstance(y, str) else np.asarray(y)
    gaps = [field.name != y for field in table.schema]
    if target is not None:
        columns.append(target.tolist())
        limits.append(None if is_classifier(estimator) else _limits(target.dtype))
        gaps.append(False)
    native = None if isinstance(X, (pa.Table, pa.RecordBatch, dict)) else nw.get_native_namespace(X)

    def rebuilt(cells: list[Column]) -> Table:
        arrays = [pa.array(column, field.type) for column, field in zip(cells, table.schema)]
        frame = pa.Table.from_arrays(arrays, schema=table.schema)
        if native is not None:
            frame = nw.from_native(frame).to_pandas() if native.__name__ == "pandas" else native.from_arrow(frame)
        return Table(frame, y if target is None else np.array(cells[-1], dtype=target.dtype))

    return _Columns(columns, limits, gaps, rebuilt)


_ANY = Numeric(-1, 1)  # as a column is taken that no schema speaks of


def _dtype(type_: Any) -> np.dtype[Any]:
    try:
        return np.dtype(type_.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        return np.dtype(object)


def _limits(dtype: np.dtype[Any]) -> tuple[float, float] | None:
    """Return the smallest and the largest number of a type; None if it is none of numbers."""
    if dtype.kind in "iu":
        return float(max(np.iinfo(dtype).min, -(2**53))), float(min(np.iinfo(dtype).max, 2**53))
    return (float(np.finfo(dtype).min), float(np.finfo(dtype).max)) if dtype.kind == "f" else None


def _present(column: Column) -> Column:
    return [cell for cell in column if cell is not None and cell == cell]


def _half(column: Column, upper: bool) -> Column:
    """Return the cells of the lower or the upper half of a column, in their order; missing ones stay."""
    present = sorted(_present(column))
    middle = len(present) // 2
    half = present[middle:] if upper else present[: max(middle, 1)]
    missing = len(column) - len(present)
    return half + [None if None in column else float("nan")] * (missing // 2) or column


def _adversaries(cells: _Columns) -> list[list[Any]]:
    """Return rows far outside: on the lower side, the upper side, and on both in turn."""
    low = [_end(column, limits, -1) for column, limits in zip(cells.columns, cells.limits)]
    high = [_end(column, limits, 1) for column, limits in zip(cells.columns, cells.limits)]
    return [low, high, [(low, high)[place % 2][place] for place in range(len(low))]]


def _end(column: Column, limits: tuple[float, float] | None, sign: int) -> Any:
    present = _present(column)
    if not present:
        return column[0]
    if limits is None:
        return min(present) if sign < 0 else max(present)
    largest = max(1.0, *(abs(float(cell)) for cell in present))
    far = min(max(sign * _FAR * largest, limits[0]), limits[1])
    return int(far) if isinstance(present[0], int) else far


def _with_gaps(cells: _Columns, gap: float) -> list[Any] | None:
    """Return the first row with what is no number in all columns that may hold it; None if no column may."""
    row: list[Any] = [column[0] for column in cells.columns]
    wide: Sequence[int] = [
        place
        for place, limits in enumerate(cells.limits)
        if cells.gaps[place] and limits and isinstance(row[place], float)
    ]
    for place in wide:
        row[place] = gap
    return row if wide else None


def _allows_gaps(estimator: Any) -> bool:
    try:
        return bool(get_tags(estimator).input_tags.allow_nan)
    except Exception:
        return getattr(estimator, "missing", "error") != "error"
