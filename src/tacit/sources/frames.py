"""Rows in a data frame in memory: pandas, polars, pyarrow, and whatever else narwhals knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa

from tacit.sources.names import check_names, check_selection, join_names
from tacit.sources.source import BLOCK_ROWS, Source, UnreadableCells


class FrameSource(Source):
    """Rows of a data frame, handed on as pyarrow tables.

    Only a slice of ``BLOCK_ROWS`` rows is converted at a time; for pyarrow and polars a slice is a view. The row labels
    of pandas (its index) are not data and are left out; names that are not text become text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tacit.sources import FrameSource
    >>> source = FrameSource(pa.table({"age": [31, 45], "sex": ["f", "m"]}))
    >>> source.columns, source.n_rows
    (('age', 'sex'), 2)
    >>> next(source.select(["age"]).blocks()).to_pydict()
    {'age': [31, 45]}
    """

    in_memory = True

    def __init__(self, frame: Any) -> None:
        wrapped = _eager(frame)
        self._untyped = _untyped_columns(frame)
        self._frame = wrapped.to_native()  # Unwrapped, because not every version of narwhals can be pickled.
        self._shape = wrapped.shape
        self._columns = check_names([str(name) for name in wrapped.columns], "the data frame")
        if self.n_rows == 0:
            raise ValueError(f"Found array with 0 sample(s) (shape={self._shape}) while a minimum of 1 is required.")

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    @property
    def n_rows(self) -> int:
        return self._shape[0]

    @property
    def types(self) -> pa.Schema:
        untyped = [pa.field(name, pa.null()) if name in self._untyped else None for name in self._columns]
        first = next(self.blocks()).schema
        return pa.schema([absent or first.field(place) for place, absent in enumerate(untyped)])

    def blocks(self) -> Iterator[pa.Table]:
        frame = _eager(self._frame)
        for start in range(0, self.n_rows, BLOCK_ROWS):
            yield _arrow(frame[start : start + BLOCK_ROWS], self._columns)

    def select(self, columns: Sequence[str]) -> FrameSource:
        positions = [self._columns.index(name) for name in check_selection(columns, self._columns)]
        selected = FrameSource(_eager(self._frame)[:, positions].to_native())
        selected._untyped = self._untyped.intersection(selected.columns)
        return selected

    def __repr__(self) -> str:
        return f"FrameSource({self.n_rows} rows, columns {join_names(self._columns)})"


def as_table(frame: Any) -> pa.Table:
    """Return a data frame of any kind, or a dictionary of columns, as a pyarrow table.

    Examples
    --------
    >>> from tacit.sources import as_table
    >>> as_table({"age": [31, 45], "sex": ["f", None]}).to_pydict()
    {'age': [31, 45], 'sex': ['f', None]}
    """
    if isinstance(frame, Mapping):
        columns = {str(name): _column(values, str(name)) for name, values in frame.items()}
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError("The columns must be of equal length.")
        return pa.table(columns)
    eager = _eager(frame)
    return _arrow(eager, check_names([str(name) for name in eager.columns], "the data frame"))


def is_frame(value: Any) -> bool:
    """Whether `value` is a data frame of some kind, or a dictionary of columns."""
    # The type is asked, because finding the names of a lazy frame may take a query.
    return isinstance(value, Mapping | pa.RecordBatch) or hasattr(type(value), "columns")


def _eager(frame: Any) -> nw.DataFrame[Any]:
    frame = nw.to_native(frame, pass_through=True)
    if isinstance(frame, Mapping):
        frame = as_table(frame)
    elif isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    # These two can have duplicate names, which versions of narwhals treat differently.
    if isinstance(frame, pa.Table):
        check_names(frame.column_names, "the data frame")
    elif nw.dependencies.is_pandas_like_dataframe(frame):
        check_names([str(name) for name in frame.columns], "the data frame")
    wrapped = nw.from_native(frame, pass_through=True)
    if isinstance(wrapped, nw.LazyFrame):
        raise TypeError("A lazy data frame holds no rows yet. Collect it first, or write it to a Parquet file.")
    if not isinstance(wrapped, nw.DataFrame):
        raise TypeError(f"Expected a pandas, polars or pyarrow table, got {type(frame).__name__}.")
    return wrapped


def _untyped_columns(frame: Any) -> frozenset[str]:
    """Return the names of columns whose type is not declared, and could only be guessed from the cells in them.

    They are lists in a dictionary, and columns of Python objects, which numpy and pandas give the type "object".
    """
    frame = nw.to_native(frame, pass_through=True)
    if isinstance(frame, Mapping):
        typed = {name: getattr(values, "dtype", getattr(values, "type", None)) for name, values in frame.items()}
    elif nw.dependencies.is_pandas_like_dataframe(frame):
        typed = dict(zip(frame.columns, frame.dtypes))
    else:
        return frozenset()
    return frozenset(str(name) for name, type_ in typed.items() if type_ is None or str(type_) == "object")


def _arrow(frame: nw.DataFrame[Any], names: Sequence[str]) -> pa.Table:
    native = frame.to_native()
    if isinstance(native, pa.Table):
        return native
    # Column by column, because narwhals' to_arrow carries a pandas index along as one more column.
    return pa.table({name: _column(frame[:, position], name) for position, name in enumerate(names)})


def _column(values: Any, name: str) -> pa.Array | pa.ChunkedArray:
    try:
        if isinstance(values, nw.Series):
            return values.to_arrow()
        if isinstance(values, pa.Array | pa.ChunkedArray):
            return values
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass  # Its message quotes the cell.
    raise UnreadableCells(
        f"Column {name!r} mixes kinds of values, such as text and numbers, or holds some other kind of object. Convert "
        "it to one kind: numbers, text, or true and false."
    )
