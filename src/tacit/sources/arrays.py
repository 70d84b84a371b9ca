"""Rows in a numpy array, or in anything numpy can read as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from tacit.arrays import Array
from tacit.sources.source import BLOCK_ROWS, Source

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)


class ArraySource(Source):
    """Rows of a two-dimensional array of numbers.

    Blocks of a float64 array are views of it. Other types of numbers are converted one block at a time, so the array
    is never copied whole.

    The sentences for bad input are those of scikit-learn's ``check_array``, less the values it quotes.

    Examples
    --------
    >>> from tacit.sources import ArraySource
    >>> source = ArraySource([[1, 2], [3, 4], [5, 6]])
    >>> source.n_rows, source.columns
    (3, None)
    >>> next(source.blocks())
    array([[1., 2.],
           [3., 4.],
           [5., 6.]])
    """

    in_memory = True

    def __init__(self, array: Any) -> None:
        self.array = _matrix_of_numbers(array)

    @property
    def columns(self) -> None:
        return None

    @property
    def n_rows(self) -> int:
        return len(self.array)

    @property
    def types(self) -> pa.Schema:
        raise TypeError("Columns of an array have no names. Make it a data frame, and name them.")

    def blocks(self) -> Iterator[Array]:
        for start in range(0, self.n_rows, BLOCK_ROWS):
            yield np.asarray(self.array[start : start + BLOCK_ROWS], dtype=np.float64)

    def select(self, columns: Sequence[str]) -> Source:
        raise TypeError("Columns of an array have no names to select by; select them with array[:, positions].")

    def __repr__(self) -> str:
        return f"ArraySource({self.array.shape[0]} rows, {self.array.shape[1]} columns)"


def _matrix_of_numbers(values: Any) -> NDArray[Any]:
    """Return `values` as a two-dimensional array of real numbers, without a copy if it is one."""
    if sparse.issparse(values):
        raise TypeError("Sparse data was passed, but dense data is required. Use '.toarray()' to convert it.")
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    array = _as_array(values)
    if np.iscomplexobj(array):
        raise ValueError("Complex data not supported: pass real numbers.")
    if array.ndim == 0 and array.dtype.kind == "O":
        raise TypeError(
            "Expected rows: an array, a pandas, polars or pyarrow table, a dictionary of columns, or the path of a "
            f".csv or .parquet file; got {type(values).__name__}."
        )
    if array.ndim < 2:
        kind = "scalar" if array.ndim == 0 else "1D"
        raise ValueError(f"Expected 2D array, got {kind} array instead. {_RESHAPE}")
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required: rows by columns.")
    rows, columns = array.shape
    if rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if columns == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.dtype.kind == "O":
        return _numbers_in_objects(array)
    if array.dtype.kind not in "buif":
        raise ValueError(
            f"Expected an array of numbers, got one of type {array.dtype}. Convert your data to numeric values "
            "explicitly, or pass a data frame with a Schema that lists the categories."
        )
    return array


def _as_array(values: Any) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except (ValueError, TypeError):
        pass  # Its message may quote a row.
    raise ValueError("Expected a 2D array of numbers: rows of equal length, but they could not be read as such.")


def _numbers_in_objects(array: NDArray[Any]) -> Array:
    try:
        return array.astype(np.float64)
    except TypeError:
        # Scikit-learn's own checks look for these words.
        error: Exception = TypeError("Expected numbers: the argument must be a string or a real number, in every cell.")
    except (ValueError, OverflowError):
        error = ValueError("Expected numbers, but could not convert string to float in one of the cells.")
    raise error
