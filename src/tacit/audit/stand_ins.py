"""Stand-in tables for an audit: unrelated tables of the same public shape, and neighbours of the table.

Unrelated tables have the same columns and types. Their cells are drawn from the lower or the upper half of each column
independently, so they have other ranges, other means and no correlation. Where the number of rows is secret, they have
another number of rows. Neighbours have another last row: one far outside the bounds, on one side, on the other or on
both, a copy of another row or, where the estimator takes them, one with missing or infinite cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from tacit.sources import as_table
from tacit.sources.frames import is_frame
from tacit.tables import Numeric, Schema

_FAR = 1e6  # Size of a far cell, in sizes of the largest cell: outside any bounds that are near the rows.
_ANY = Numeric(-1, 1)  # A column that is not in the schema counts as a number.


class FitArguments(NamedTuple):
    """The arguments of ``fit``."""

    X: Any
    y: Any = None


class Tables(NamedTuple):
    """The tables of an audit.

    Neighbours differ from the first table in one row. Under add_remove, the first of them lacks that row.
    """

    first: FitArguments
    unrelated: list[FitArguments]
    neighboring: list[FitArguments]


class _Column(NamedTuple):
    """The cells of a column, the smallest and the largest number that its type has, and whether cells may be missing.

    Without limits, new cells must be copies of existing ones: levels, labels, text.
    """

    cells: list[Any]
    limits: tuple[float, float] | None
    may_be_missing: bool


class _Cells(NamedTuple):
    """The columns of a table in memory, the target last if it is an array, and a function from cells to a table."""

    columns: list[_Column]
    rebuild: Callable[[list[list[Any]]], FitArguments]


def stand_ins(estimator: Any, X: Any, y: Any, neighbors: str) -> Tables:
    """Return a table in memory together with its stand-ins.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.arange(8.0).reshape(4, 2)
    >>> tables = stand_ins(tacit.KMeans(2), X, None, "add_remove")
    >>> [len(table.X) for table in tables.neighboring], [len(table.X) for table in tables.unrelated]
    ([3, 4, 4, 4, 4], [3, 5])
    """
    columns, rebuild = _from_frame(estimator, X, y) if is_frame(X) else _from_array(estimator, X, y)
    count = len(columns[0].cells)
    secret = neighbors == "add_remove"
    rng = np.random.default_rng(0)
    unrelated = []
    for upper, size in ((False, count - 1 - count // 7 if secret else count), (True, count + 1 if secret else count)):
        halves = [_half(column.cells, upper) for column in columns]
        drawn = [[half[place] for place in rng.integers(len(half), size=max(size, 1))] for half in halves]
        unrelated.append(rebuild(drawn))
    rows = [[column.cells[0] for column in columns], *_far_rows(columns), *_incomplete_rows(estimator, columns, y)]
    shared = [column.cells[:-1] for column in columns]
    neighboring = [rebuild(shared)] if secret else []
    neighboring += [rebuild([[*cells, cell] for cells, cell in zip(shared, row)]) for row in rows]
    return Tables(rebuild([column.cells for column in columns]), unrelated, neighboring)


def _from_array(estimator: Any, X: Any, y: Any) -> _Cells:
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(
            "Tables that stand in for X can be made where X is a matrix of numbers or a data frame in memory. For "
            "other kinds of X, pass the tables as unrelated and neighboring."
        )
    columns = [
        _Column(cells, _limits(matrix.dtype), may_be_missing=matrix.dtype.kind == "f") for cells in matrix.T.tolist()
    ]
    return _with_target(estimator, columns, y, lambda cells: np.array(cells, dtype=matrix.dtype).T)


def _from_frame(estimator: Any, X: Any, y: Any) -> _Cells:
    import pyarrow as pa

    table = as_table(X)
    schema = getattr(estimator, "bounds", None)
    known = schema.columns if isinstance(schema, Schema) else {}
    columns = []
    for field, column in zip(table.schema, table.columns):
        label = (field.name == y and is_classifier(estimator)) or not isinstance(known.get(field.name, _ANY), Numeric)
        limits = None if label else _limits(_dtype(field.type))
        columns.append(_Column(column.to_pylist(), limits, may_be_missing=field.name != y))
    native = None if isinstance(X, (pa.Table, pa.RecordBatch, dict)) else nw.get_native_namespace(X)

    def rebuild(cells: list[list[Any]]) -> Any:
        arrays = [pa.array(column, field.type) for column, field in zip(cells, table.schema)]
        frame = pa.Table.from_arrays(arrays, schema=table.schema)
        if native is None:
            return frame
        return frame.to_pandas() if native.__name__ == "pandas" else native.from_arrow(frame)

    return _with_target(estimator, columns, y, rebuild)


def _with_target(estimator: Any, columns: list[_Column], y: Any, rebuild: Callable[[list[list[Any]]], Any]) -> _Cells:
    """Return the columns of X, followed by the target if it is an array."""
    if y is None or isinstance(y, str):
        return _Cells(columns, lambda cells: FitArguments(rebuild(cells), y))
    target = np.asarray(y)
    limits = None if is_classifier(estimator) else _limits(target.dtype)
    return _Cells(
        [*columns, _Column(target.tolist(), limits, may_be_missing=False)],
        lambda cells: FitArguments(rebuild(cells[:-1]), np.array(cells[-1], dtype=target.dtype)),
    )


def _dtype(type_: Any) -> np.dtype[Any]:
    try:
        return np.dtype(type_.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        return np.dtype(object)


def _limits(dtype: np.dtype[Any]) -> tuple[float, float] | None:
    """Return the smallest and the largest number of a type; None if it is not a type of numbers."""
    if dtype.kind in "iu":
        return float(max(np.iinfo(dtype).min, -(2**53))), float(min(np.iinfo(dtype).max, 2**53))
    return (float(np.finfo(dtype).min), float(np.finfo(dtype).max)) if dtype.kind == "f" else None


def _present(cells: list[Any]) -> list[Any]:
    return [cell for cell in cells if cell is not None and cell == cell]


def _half(cells: list[Any], upper: bool) -> list[Any]:
    """Return the lower or the upper half of a column's cells, and half of its missing cells."""
    present = sorted(_present(cells))
    middle = len(present) // 2
    half = present[middle:] if upper else present[: max(middle, 1)]
    missing = len(cells) - len(present)
    return half + [None if None in cells else float("nan")] * (missing // 2) or cells


def _far_rows(columns: list[_Column]) -> list[list[Any]]:
    """Return rows far outside the table: on the lower side, on the upper side, and on both in turn."""
    low, high = ([_far_cell(column, sign) for column in columns] for sign in (-1, 1))
    return [low, high, [(low, high)[place % 2][place] for place in range(len(columns))]]


def _far_cell(column: _Column, sign: int) -> Any:
    present = _present(column.cells)
    if not present:
        return column.cells[0]
    if column.limits is None:
        return min(present) if sign < 0 else max(present)
    largest = max(1.0, *(abs(float(cell)) for cell in present))
    far = min(max(sign * _FAR * largest, column.limits[0]), column.limits[1])
    return int(far) if isinstance(present[0], int) else far


def _incomplete_rows(estimator: Any, columns: list[_Column], y: Any) -> list[list[Any]]:
    """Return rows with missing and with infinite cells, where the estimator takes such rows."""
    allowed = [column.may_be_missing and column.limits is not None for column in columns]
    allowed = [may and isinstance(column.cells[0], float) for may, column in zip(allowed, columns)]
    values = [float("nan")] if _allows_missing(estimator) else []
    # Arrays of inputs and targets with infinities are refused before anything is charged.
    if getattr(estimator, "missing", "error") == "ignore" and (y is None or isinstance(y, str)):
        values.append(float("inf"))
    if not any(allowed):
        return []
    return [[value if may else column.cells[0] for may, column in zip(allowed, columns)] for value in values]


def _allows_missing(estimator: Any) -> bool:
    try:
        return bool(get_tags(estimator).input_tags.allow_nan)
    except Exception:
        return getattr(estimator, "missing", "error") != "error"
