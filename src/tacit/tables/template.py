"""A schema to be filled in: names and types are known, bounds and categories are for people to write."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.sources import Source, as_numbers, as_source
from tacit.sources.numbers import MISSING_WORDS, is_text
from tacit.tables.columns import BLANK, LARGEST_INTEGER
from tacit.tables.toml_text import column_text

_TOP = """\
# What is publicly known about the columns. Fill in every blank ("" and []) from what is known without looking at the
# rows: a code book, a questionnaire, the law, common sense. It must hold for every row that could ever come.
# The types: numeric (low, high), integer (low, high), categorical (levels), boolean, ignored (never read).
"""
_GUESSED = """\
#
# The file declares no types: those below were guessed from values in its first rows. Confirm each of them.
"""
_PEEKED = """\
#
# NOT PRIVATE. The bounds and levels marked below were READ FROM THE DATA, of which they tell something, and no budget
# was spent on them. Replace them by public knowledge before publishing this file or anything made with it.
"""
_LOW = "the smallest value that could occur"
_HIGH = "the largest value that could occur"
_LEVELS = 'every value that could occur, such as ["a", "b"]; for names, identifiers and free text: type = "ignored"'
_NOT_USABLE = "neither numbers nor text; convert it to one of them to use it"
_READ = "NOT PRIVATE: read from the data"

MOST_LEVELS = 100


def template(source: Any, *, peek: bool = False) -> str:
    """Return the text of a schema file for a source, with the names and types of its columns and blanks for the rest.

    Parameters
    ----------
    source : Source, table or path
        Of a Parquet file, only the metadata is read; of a table, the types; of a CSV file, the header and, because the
        file does not say, the first block of rows to guess types from. The text then says so.
    peek : bool, default=False
        Fill in the blanks from the data. This is not private, and the text says so, on top and at every such line.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tacit.tables import Schema
    >>> text = Schema.template(pa.table({"age": [31, 45], "smokes": [True, False]}))
    >>> print(text[text.index("[columns") :])
    [columns.age]
    type = "integer"
    low = ""  # the smallest value that could occur
    high = ""  # the largest value that could occur
    <BLANKLINE>
    [columns.smokes]
    type = "boolean"
    """
    source = as_source(source)
    top = _TOP + _GUESSED * source.types_are_guessed + _PEEKED * peek
    kinds = {field.name: _kind(field.type) for field in source.types}
    peeked = _peek(source, kinds) if peek else {}
    parts = (peeked[name].part(name) if name in peeked else _blank_part(name, kind) for name, kind in kinds.items())
    return "\n".join([top, *parts])


def _kind(type_: pa.DataType) -> str:
    if pa.types.is_dictionary(type_):
        return _kind(type_.value_type)
    if pa.types.is_boolean(type_):
        return "boolean"
    if pa.types.is_integer(type_):
        return "integer"
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "numeric"
    return "categorical" if is_text(type_) or pa.types.is_null(type_) else "ignored"


def _blank_part(name: str, kind: str) -> str:
    if kind in ("numeric", "integer"):
        return column_text(name, {"type": kind, "low": BLANK, "high": BLANK}, {"low": _LOW, "high": _HIGH})
    if kind == "categorical":
        return column_text(name, {"type": kind, "levels": []}, {"levels": _LEVELS})
    return column_text(name, {"type": kind}, {"type": _NOT_USABLE} if kind == "ignored" else {})


def _peek(source: Source, kinds: dict[str, str]) -> dict[str, _Range | _Levels]:
    """Return what the data says about the columns that have blanks, in one pass over the rows. Not private."""
    found: dict[str, _Range | _Levels] = {}
    for name, kind in kinds.items():
        if kind in ("numeric", "integer"):
            found[name] = _Range(kind)
        elif kind == "categorical":
            found[name] = _Levels()
    if found:
        for block in source.select(list(found)).blocks():
            for name, summary in found.items():
                summary.read(block[name], name)
    return found


class _Range:
    def __init__(self, kind: str) -> None:
        self.kind, self.low, self.high = kind, math.inf, -math.inf

    def read(self, column: pa.ChunkedArray, name: str) -> None:
        values = as_numbers(column, name)
        values = values[np.isfinite(values)]
        if values.size:
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        # The first rows of a CSV file may have been whole numbers by chance.
        if self.kind == "integer" and ((values % 1).any() or (abs(values) > LARGEST_INTEGER).any()):
            self.kind = "numeric"

    def part(self, name: str) -> str:
        if not self.low < self.high:
            return _blank_part(name, self.kind)
        number = int if self.kind == "integer" else float
        bounds = {"low": number(self.low), "high": number(self.high)}
        return column_text(name, {"type": self.kind} | bounds, {"low": _READ, "high": _READ})


class _Levels:
    def __init__(self) -> None:
        self.levels: set[str] = set()

    def read(self, column: pa.ChunkedArray, name: str) -> None:
        if len(self.levels) <= MOST_LEVELS:
            values = (value.strip() for value in column.unique().to_pylist() if value is not None)
            self.levels.update(value for value in values if value not in MISSING_WORDS)

    def part(self, name: str) -> str:
        if len(self.levels) > MOST_LEVELS:
            return column_text(name, {"type": "ignored"}, {"type": f"more than {MOST_LEVELS} values. {_READ}"})
        if len(self.levels) < 2:
            return _blank_part(name, "categorical")
        return column_text(name, {"type": "categorical", "levels": sorted(self.levels)}, {"levels": _READ})
