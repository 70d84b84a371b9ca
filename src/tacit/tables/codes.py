"""From cells of any type to the position of their category in a list.

Only the distinct values of a block are looked at one by one; the rows themselves go through pyarrow and numpy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.sources.numbers import MISSING_WORDS, is_text
from tacit.sources.source import UnreadableCells

Unknown = Literal["error", "missing"]

#: The codes of all ways to write true and false.
TRUTH_WORDS = {
    variant: code
    for code, words in enumerate((("false", "f", "no", "n", "0"), ("true", "t", "yes", "y", "1")))
    for word in words
    for variant in (word, word.upper(), word.capitalize())
}

MISSING = -1  # The code of a missing cell.
_UNKNOWN = -2  # The code of a value that is not among the categories.

# So pandas writes whole numbers to a CSV file if some cells of the column are empty.
_WHOLE_WITH_POINT = re.compile(r"([+-]?\d+)\.0*")


def codes(column: pa.ChunkedArray, name: str, code_of: Mapping[str, int], unknown: Unknown) -> NDArray[np.int64]:
    """Return the code of each cell, ``MISSING`` for null, NaN, infinite and the words for missing.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Text, numbers or truth values.
    name : str
        What the column is called, for sentences.
    code_of : mapping from str to int
        The categories, as text, and their codes.
    unknown : {"error", "missing"}
        What to do about a cell that is none of the categories.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tacit.tables.codes import codes
    >>> codes(pa.chunked_array([["f", "m", None, "f"]]), "sex", {"f": 0, "m": 1}, "error")
    array([ 0,  1, -1,  0])
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)  # Its dictionary may list values that do not occur.
    if not _holds_categories(column.type):
        raise UnreadableCells(
            f"Column {name!r} holds {column.type}, which cannot be matched to categories. Convert it to text, or give "
            "it the type 'ignored'."
        )
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    code_of_value = np.array([_code(value, code_of) for value in values] + [MISSING], dtype=np.int64)
    if unknown == "error" and (code_of_value == _UNKNOWN).any():
        raise UnreadableCells(
            f"Column {name!r} holds values that are not among its categories in the schema. Add them there, correct "
            "the column, or have them treated as missing (unknown='missing')."
        )
    code_of_value[code_of_value == _UNKNOWN] = MISSING
    positions: NDArray[np.int64] = np.asarray(encoded.indices.fill_null(len(values)))
    return code_of_value[positions]


def _holds_categories(type_: pa.DataType) -> bool:
    kinds = (is_text, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    return any(is_kind(type_) for is_kind in kinds)


def _code(value: Any, code_of: Mapping[str, int]) -> int:
    for spelling in _spellings(value):
        if spelling in code_of:
            return code_of[spelling]
    if isinstance(value, float):
        return _UNKNOWN if math.isfinite(value) else MISSING
    if value is None or (isinstance(value, str) and (value.strip() in MISSING_WORDS or value.strip().lower() == "nan")):
        return MISSING
    return _UNKNOWN


def _spellings(value: Any) -> Iterator[str]:
    """Yield the ways a value may be written in a list of categories, the most faithful first."""
    if isinstance(value, str):
        yield value
        yield value.strip()
        if whole := _WHOLE_WITH_POINT.fullmatch(value.strip()):
            yield whole[1]
    elif isinstance(value, bool):
        yield str(value).lower()
        yield str(value)
    elif isinstance(value, float) and value.is_integer():
        yield str(int(value))
        yield str(value)
    elif value is not None:
        yield str(value)
