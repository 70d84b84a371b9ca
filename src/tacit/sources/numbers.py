"""From columns of any type to float64: one place, so that every reader of cells means the same by a number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.sources.source import Source, UnreadableCells

#: What people write for a missing number. (NaN is a float64 already, and is not listed.)
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "none", "?", "-", ".")
_FLOAT64 = pa.float64()


def numeric(source: Source) -> Source:
    """Return a source whose blocks are float64 matrices, whatever they were before.

    Nulls become NaN. A cell that is not a number is found when its block is read, and the sentence names the column.

    Examples
    --------
    >>> from tacit.sources import as_source, numeric
    >>> source = numeric(as_source({"age": [31, None], "weight": ["70.5", "81"]}))
    >>> next(source.blocks())
    array([[31. , 70.5],
           [ nan, 81. ]])
    """
    return source.map(matrix, columns=source.columns)


def has_missing(source: Source) -> bool:
    """Whether any cell is missing: null, NaN or infinite. It does not say which.

    Examples
    --------
    >>> from tacit.sources import as_source, has_missing
    >>> has_missing(as_source([[1.0, 2.0]])), has_missing(as_source([[1.0, float("nan")]]))
    (False, True)
    """
    return bool(source.sum(_blocks_with_missing)[0])


def _blocks_with_missing(block: pa.Table | Array) -> NDArray[np.int64]:
    cells = matrix(block)
    with np.errstate(over="ignore", invalid="ignore"):
        # A finite sum has finite terms, and is quicker to compute than a test of all cells.
        finite = np.isfinite(cells.sum()) or np.isfinite(cells).all()
    return np.array([not finite], dtype=np.int64)


def matrix(block: pa.Table | Array, columns: Sequence[str] | None = None) -> Array:
    """Return a block as a float64 matrix (rows, columns), nulls as NaN.

    Parameters
    ----------
    block : pyarrow.Table or ndarray
        An array is returned as it is.
    columns : sequence of str, optional
        The columns of the table, in order; by default all.

    Returns
    -------
    ndarray
        Stored column by column (Fortran order), as the table was.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tacit.sources import matrix
    >>> matrix(pa.table({"age": [31, 45], "smokes": [True, None]}))
    array([[31.,  1.],
           [45., nan]])
    """
    if isinstance(block, np.ndarray):
        return block
    names = block.column_names if columns is None else columns
    out = np.empty((len(names), block.num_rows))
    for row, name in zip(out, names):
        end = 0
        for chunk in _numbers(block[name], name).chunks:
            start, end = end, end + len(chunk)
            row[start:end] = chunk.to_numpy(zero_copy_only=False)
    return out.T


def as_numbers(column: pa.ChunkedArray, name: str) -> Array:
    """Return a column of numbers, truth values, or text that reads as numbers, as float64; nulls as NaN.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tacit.sources import as_numbers
    >>> as_numbers(pa.chunked_array([["1.5", "NA"]]), "weight")
    array([1.5, nan])
    >>> as_numbers(pa.chunked_array([["1.5", "heavy"]]), "weight")
    Traceback (most recent call last):
        ...
    tacit.sources.source.UnreadableCells: Column 'weight' holds text that cannot be read as a number...
    """
    return np.asarray(_numbers(column, name))


def is_text(type_: pa.DataType) -> bool:
    """Whether an arrow type is text, of whichever layout."""
    return str(type_) in (
        "string",
        "large_string",
        "string_view",
    )  # By name, because old versions of pyarrow know only two.


def _numbers(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if column.type == _FLOAT64:
        return column
    type_ = column.type
    if pa.types.is_dictionary(type_):
        column = column.cast(type_.value_type)
        type_ = column.type
    if is_text(type_):
        return _numbers_in_text(column, name)
    if not _is_number(type_):
        raise UnreadableCells(
            f"Column {name!r} holds {type_}, not numbers. Convert it to numbers, or leave it out "
            "(in a schema, give it the type 'ignored')."
        )
    return _float64(column)


def _numbers_in_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return _float64(column)
    except pa.ArrowInvalid:  # Its message quotes the cell.
        pass
    try:
        column = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
        missing = pc.is_in(column, value_set=pa.array(MISSING_WORDS, column.type))
        return _float64(pc.if_else(missing, pa.scalar(None, column.type), column))
    except pa.ArrowInvalid:
        pass
    raise UnreadableCells(
        f"Column {name!r} holds text that cannot be read as a number. Correct it, leave the column out, or list its "
        "categories in a schema."
    )


def _is_number(type_: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(is_kind(type_) for is_kind in kinds)


def _float64(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_float16(column.type):
        return pa.chunked_array([np.asarray(column, dtype=np.float64)])  # Older versions of pyarrow cannot cast it.
    # Unsafe means only that integers beyond 2**53 are rounded. A refusal would quote them.
    return column.cast(_FLOAT64, safe=False)
