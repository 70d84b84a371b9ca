"""A schema to be filled in: names, and types where they are declared; the rest is for people to write."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.sources import Source, UnreadableCells, as_numbers, as_source
from tacit.sources.numbers import MISSING_WORDS, is_text
from tacit.tables.columns import BLANK, LARGEST_INTEGER, PEEKED
from tacit.tables.toml_text import column_text

_TOP = """\
# What is publicly known about the columns. Fill in every blank ("" and []) from what is known without looking at the
# rows: a code book, a questionnaire, the law, common sense. It must hold for every row that could ever come.
# The types: numeric (low, high), integer (low, high), categorical (levels), boolean, ignored (never read).
"""
_UNDECLARED = """\
#
# The table does not declare the types that are blank below, and no row was read to guess them. Fill them in, and write
# what belongs to each type on the lines below it, such as
#     type = "integer"        type = "categorical"
#     low = 0                 levels = ["a", "b"]
#     high = 120
"""
_PEEKED_TOP = """\
#
# NOT PRIVATE. What is marked below was READ FROM THE DATA, of which it tells something, and no budget was spent on it.
# Replace it by public knowledge before publishing this file or anything made with it, and then delete the line
# source = "peeked" of that column. While the line is there, fits warn, and certificates and reports say so.
"""
_LOW = "the smallest value that could occur"
_HIGH = "the largest value that could occur"
_LEVELS = 'every value that could occur, such as ["a", "b"]; for names, identifiers and free text: type = "ignored"'
_FIRST = "the first day that could occur, such as 2020-01-01"
_LAST = "the last day that could occur"
_FORM = "the time of day is left out"
_TYPE = "numeric, integer, date, categorical, boolean or ignored"
_NOT_USABLE = "neither numbers nor text; convert it to one of them to use it"
_READ = "NOT PRIVATE: read from the data"

_MOST_DECIMALS = 6  # Numbers with more digits after the point are taken to be rounded by nobody.
MOST_LEVELS = 100  # A column with more distinct values is not proposed as a category.


def template(source: Any, *, peek: bool = False) -> str:
    """Return the text of a schema file for a source: names of columns, declared types, and blanks for the rest.

    Parameters
    ----------
    source : Source, table or path
        No row is read. A Parquet file and a table declare types; a CSV file declares none, nor does a column of Python
        objects, and their types are left blank.
    peek : bool, default=False
        Fill in the blanks from the data. This is not private. The text says so on top and at every such line, and
        ``source = "peeked"`` in every such column is there for programs to read.

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
    kinds = {field.name: _kind(field.type) for field in source.types}
    peeked = _peek(source, kinds) if peek else {}
    parts = [peeked[name].part(name) if name in peeked else _blank_part(name, kind) for name, kind in kinds.items()]
    undeclared = not peek and BLANK in kinds.values()
    return "\n".join([_TOP + _UNDECLARED * undeclared + _PEEKED_TOP * peek, *parts])


def _kind(type_: pa.DataType) -> str:
    if pa.types.is_dictionary(type_):
        return _kind(type_.value_type)
    if pa.types.is_null(type_):
        return BLANK
    if pa.types.is_boolean(type_):
        return "boolean"
    if pa.types.is_integer(type_):
        return "integer"
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "numeric"
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return "date" if pa.types.is_date(type_) else "timestamp"
    return "categorical" if is_text(type_) else "ignored"


def _blank_part(name: str, kind: str) -> str:
    if kind in ("numeric", "integer"):
        return column_text(name, {"type": kind, "low": BLANK, "high": BLANK}, {"low": _LOW, "high": _HIGH})
    if kind in ("date", "timestamp"):
        form = {"form": kind} if kind == "timestamp" else {}
        blanks = {"type": "date", "first": BLANK, "last": BLANK} | form
        return column_text(name, blanks, {"first": _FIRST, "last": _LAST, "form": _FORM})
    if kind == "categorical":
        return column_text(name, {"type": kind, "levels": []}, {"levels": _LEVELS})
    return column_text(name, {"type": kind}, {"ignored": {"type": _NOT_USABLE}, BLANK: {"type": _TYPE}}.get(kind))


def _peeked_part(name: str, settings: dict[str, Any]) -> str:
    """Return the part of a column whose settings were read from the data."""
    return column_text(name, {**settings, "source": PEEKED}, dict.fromkeys([*settings, "source"], _READ))


def _peek(source: Source, kinds: dict[str, str]) -> dict[str, _Summary]:
    """Return what the data says about the columns that have blanks, in one pass over the rows. Not private."""
    summaries: dict[str, _Summary] = {}
    for name, kind in kinds.items():
        if kind in ("numeric", "integer"):
            summaries[name] = _Range(kind)
        elif kind == "categorical":
            summaries[name] = _SeenLevels()
        elif kind in ("date", "timestamp"):
            summaries[name] = _Days(kind)
        elif kind == BLANK:
            summaries[name] = _Anything()
    if summaries:
        for block in source.select(list(summaries)).blocks():
            for name, summary in summaries.items():
                summary.read(block[name], name)
    return summaries


class _Range:
    def __init__(self, kind: str) -> None:
        self.kind, self.low, self.high = kind, math.inf, -math.inf
        self.decimals: int | None = 0

    def read(self, column: pa.ChunkedArray, name: str) -> None:
        values = as_numbers(column, name)
        values = values[np.isfinite(values)]
        if values.size:
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        if self.kind == "integer" and ((values % 1).any() or (abs(values) > LARGEST_INTEGER).any()):
            self.kind = "numeric"
        while self.decimals is not None and (values != np.round(values, self.decimals)).any():
            self.decimals = self.decimals + 1 if self.decimals < _MOST_DECIMALS else None

    def part(self, name: str) -> str:
        if not self.low < self.high:
            return _blank_part(name, self.kind)
        if self.kind == "integer":
            return _peeked_part(name, {"type": self.kind, "low": int(self.low), "high": int(self.high)})
        decimals = {} if self.decimals is None else {"decimals": self.decimals}
        return _peeked_part(name, {"type": self.kind, "low": self.low, "high": self.high} | decimals)


class _Days:
    def __init__(self, form: str) -> None:
        self.form = form
        self.ends: list[date] = []

    def read(self, column: pa.ChunkedArray, name: str) -> None:
        ends = pc.min_max(column.cast(pa.date32())).as_py()
        self.ends += [end for end in ends.values() if end is not None]

    def part(self, name: str) -> str:
        if not self.ends or min(self.ends) == max(self.ends):
            return _blank_part(name, self.form)
        form = {"form": self.form} if self.form == "timestamp" else {}
        first, last = (end.isoformat() for end in (min(self.ends), max(self.ends)))
        return _peeked_part(name, {"type": "date", "first": first, "last": last} | form)


class _SeenLevels:
    def __init__(self) -> None:
        self.levels: set[str] = set()

    def read(self, column: pa.ChunkedArray, name: str) -> None:
        if len(self.levels) <= MOST_LEVELS:
            values = (value.strip() for value in column.unique().to_pylist() if value is not None)
            self.levels.update(value for value in values if value not in MISSING_WORDS)

    def part(self, name: str) -> str:
        if len(self.levels) > MOST_LEVELS:
            return _peeked_part(name, {"type": "ignored"})
        if len(self.levels) < 2:
            return _blank_part(name, "categorical")
        return _peeked_part(name, {"type": "categorical", "levels": sorted(self.levels)})


class _Anything:
    """A column of which no type is declared: it is read as text, and as numbers as long as all cells are numbers."""

    def __init__(self) -> None:
        self.range: _Range | None = _Range("integer")
        self.levels: _SeenLevels | None = _SeenLevels()

    def read(self, column: pa.ChunkedArray, name: str) -> None:
        try:
            text = column.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            self.range = self.levels = None
        if self.levels is not None:
            self.levels.read(text, name)
        if self.range is not None:
            try:
                self.range.read(text, name)
            except UnreadableCells:
                self.range = None

    def part(self, name: str) -> str:
        if self.levels is None:
            return _peeked_part(name, {"type": "ignored"})
        levels = self.levels.levels
        if not levels:
            return _blank_part(name, BLANK)
        if self.range is not None:
            if self.range.low < self.range.high:
                return self.range.part(name)
            return _peeked_part(name, {"type": self.range.kind, "low": BLANK, "high": BLANK})
        if {level.lower() for level in levels} <= {"true", "false"}:
            return _peeked_part(name, {"type": "boolean"})
        if len(levels) == 1:
            return _peeked_part(name, {"type": "categorical", "levels": []})
        return self.levels.part(name)


_Summary = _Range | _Days | _SeenLevels | _Anything
