"""A schema: what is publicly known about the columns of a table, and the encoding that follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.messages import call_or_refuse, describe, kind
from tacit.sources import Source, as_source, as_table
from tacit.sources.names import did_you_mean, join_names
from tacit.tables.codes import Unknown
from tacit.tables.columns import BLANK, PEEKED, Boolean, Categorical, Column, Ignored, Integer, Numeric
from tacit.tables.dates import Date
from tacit.tables.template import template
from tacit.tables.toml_text import read_toml, to_toml_text

_KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Numeric, Integer, Date, Categorical, Boolean, Ignored)}


class Schema:
    """Public knowledge about the columns of a table, by name, in order.

    It holds for every table that could ever come, not only for the one at hand: bounds and categories are taken from a
    code book, a questionnaire or common sense, never from the rows.

    Rows are encoded as vectors of numbers between -1 and 1, at most `radius` long: see `Numeric`, `Integer`,
    `Date`, `Categorical` and `Boolean`; `Ignored` columns are left out. A schema never changes.

    Parameters
    ----------
    columns : mapping from str to Column
        The columns by name. At least one of them is not ignored.

    Examples
    --------
    >>> from tacit.tables import Boolean, Categorical, Numeric, Schema
    >>> schema = Schema({"age": Numeric(0, 100), "plan": Categorical(["free", "paid"]), "smokes": Boolean()})
    >>> schema.feature_names
    ('age', 'plan=free', 'plan=paid', 'smokes')
    >>> encoded = schema.encode({"age": [75, 130], "plan": ["paid", None], "smokes": [True, False]})
    >>> encoded
    array([[ 0.5,  0. ,  1. ,  1. ],
           [ 1. ,  nan,  nan, -1. ]])
    >>> schema.decode(encoded).to_pydict()
    {'age': [75.0, 100.0], 'plan': ['paid', None], 'smokes': [True, False]}
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        if not isinstance(columns, Mapping):
            raise TypeError(f"A Schema is made from a dictionary of columns by name, got {type(columns).__name__}.")
        for name, column in columns.items():
            if not isinstance(name, str) or not name:
                raise TypeError(f"Names of columns must be text, and not empty, got {describe(name)}.")
            if not isinstance(column, Column):
                raise TypeError(
                    f"Column {name!r} must be Numeric(low, high), Integer(low, high), Date(first, last), "
                    f"Categorical(levels), Boolean() or Ignored(), got {kind(column)}."
                )
        self._columns = dict(columns)
        if not self.used:
            raise ValueError("A schema needs at least one column that is not ignored.")

    @property
    def columns(self) -> dict[str, Column]:
        """The columns by name (a copy)."""
        return dict(self._columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, the ignored ones included."""
        return tuple(self._columns)

    @property
    def used(self) -> tuple[str, ...]:
        """Names of the columns that are not ignored."""
        return tuple(name for name, _ in self._used_columns())

    @property
    def peeked(self) -> tuple[str, ...]:
        """Names of the columns of which something was read from the rows, unpaid; see ``Schema.template``.

        >>> from tacit.tables import Numeric, Schema
        >>> Schema({"age": Numeric(0, 120), "weight": Numeric(41.5, 118.0, source="peeked")}).peeked
        ('weight',)
        """
        return tuple(name for name, column in self._columns.items() if column.source == PEEKED)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of the encoded matrix."""
        return tuple(label for name, column in self._used_columns() for label in column.labels(name))

    @property
    def width(self) -> int:
        """How many columns the encoded matrix has."""
        return len(self.feature_names)

    @property
    def slices(self) -> dict[str, slice]:
        """Where each column is found in the encoded matrix."""
        slices, start = {}, 0
        for name, column in self._used_columns():
            stop = start + len(column.labels(name))
            slices[name] = slice(start, stop)
            start = stop
        return slices

    @property
    def radius(self) -> float:
        """The largest possible length (l2 norm) of an encoded row: the root of the number of columns used."""
        return math.sqrt(len(self.used))

    @property
    def log_jacobian(self) -> float:
        """What to add to the log of a density of encoded rows to have it per unit of the original columns.

        >>> from tacit.tables import Numeric, Schema
        >>> Schema({"share": Numeric(0, 2)}).log_jacobian, Schema({"age": Numeric(0, 200)}).log_jacobian
        (0.0, -4.605170185988092)
        """
        numbers = (column for _, column in self._used_columns() if isinstance(column, Numeric))
        return sum((-math.log(column.half_range) for column in numbers), start=0.0)

    def encode(self, table: Any, *, unknown: Unknown = "error") -> Array:
        """Return rows as a matrix of numbers between -1 and 1, missing cells as NaN.

        Parameters
        ----------
        table : pyarrow, pandas or polars table, dict of columns, or array
            A table with the columns of the schema, by name, in any order; the ignored ones may be absent. Columns of an
            array are taken in the order of the schema.
        unknown : {"error", "missing"}, default="error"
            What to do about a cell that is not one of its column's categories. The error names the column, and neither
            the row nor the value.

        Returns
        -------
        ndarray of shape (rows, width)
            Values beyond bounds are moved to the bound. Null, NaN and infinite cells are NaN (for a category: in all of
            its columns).
        """
        if not isinstance(unknown, str) or unknown not in ("error", "missing"):
            raise ValueError(f"unknown must be 'error' or 'missing', got {describe(unknown)}.")
        block = self._with_names(table) if isinstance(table, np.ndarray) else as_table(table)
        self.check_names(block.column_names)
        encoded = np.empty((self.width, block.num_rows))  # It is stored column by column, as the table is.
        for (name, column), place in zip(self._used_columns(), self.slices.values()):
            encoded[place] = column.encode(block[name], name, unknown)
        return encoded.T

    def encode_source(self, rows: Any, *, unknown: Unknown = "error") -> Source:
        """Return a source of encoded rows, from anything that holds rows. Ignored columns are not read.

        >>> from tacit.tables import Ignored, Numeric, Schema
        >>> schema = Schema({"name": Ignored(), "age": Numeric(0, 100)})
        >>> source = schema.encode_source({"age": [75, 25], "name": ["Ann", "Bob"]})
        >>> next(source.blocks())
        array([[ 0.5],
               [-0.5]])
        """
        source = as_source(rows)
        if source.columns is not None:
            self.check_names(source.columns)
            source = source.select(self.used)
        return source.map(partial(self.encode, unknown=unknown), columns=self.feature_names)

    def decode(self, matrix: Array) -> pa.Table:
        """Return encoded rows as a table: numbers in their units and within their bounds, categories as their levels.

        Any real matrix can be decoded: numbers are moved to the nearest value the column can take. NaN becomes null.
        """
        matrix = call_or_refuse("Encoded rows are a matrix of numbers.", np.asarray, matrix, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != self.width:
            raise ValueError(
                f"Expected a matrix of {self.width} columns ({join_names(self.feature_names)}), got "
                f"{kind(matrix)} of another shape."
            )
        places = self.slices
        return pa.table({name: column.decode(matrix.T[places[name]]) for name, column in self._used_columns()})

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse a table that lacks columns of the schema, or has columns the schema does not mention."""
        absent = [name for name in self.used if name not in names]
        if absent:
            raise ValueError(
                f"The schema has columns that the table lacks: {join_names(absent)}. The table has {join_names(names)}."
                f"{did_you_mean(absent, [name for name in names if name not in self._columns])}"
            )
        extra = [name for name in names if name not in self._columns]
        if extra:
            raise ValueError(
                f"The table has columns that the schema does not mention: {join_names(extra)}. Add them to the schema, "
                "with the type 'ignored' if they are to be left out."
            )

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Schema:
        """Make a schema from plain dictionaries: what `to_dict` returns, and what a TOML file holds.

        >>> from tacit.tables import Schema
        >>> Schema.from_dict({"columns": {"age": {"type": "integer", "low": 0, "high": 120}}})
        Schema({'age': Integer(low=0, high=120, description='')})
        """
        others = [key for key in description if key != "columns"]
        if others or not isinstance(description.get("columns"), Mapping) or not description["columns"]:
            found = f", found {join_names(others)}" if others else ""
            raise ValueError(f"A schema holds columns and nothing else: one part [columns.NAME] for each{found}.")
        return cls({name: _column(name, settings) for name, settings in description["columns"].items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain dictionaries, ready for TOML or JSON."""
        return {"columns": {name: _settings(column) for name, column in self._columns.items()}}

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema from a TOML file."""
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"There is no schema file {path}.")
        try:
            return cls.from_dict(read_toml(path))
        except (ValueError, TypeError) as error:  # A schema is public and may be quoted.
            problem = str(error)
        raise ValueError(f"In the schema {path}: {problem}")

    def to_toml(self, path: str | PathLike[str]) -> None:
        """Write the schema to a TOML file, which `from_toml` reads.

        >>> import pathlib, tempfile
        >>> from tacit.tables import Numeric, Schema
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "schema.toml"
        >>> Schema({"age": Numeric(0, 120)}).to_toml(path)
        >>> print(path.read_text())
        [columns.age]
        type = "numeric"
        low = 0.0
        high = 120.0
        >>> Schema.from_toml(path)
        Schema({'age': Numeric(low=0.0, high=120.0, description='')})
        """
        Path(path).write_text(to_toml_text(self.to_dict()["columns"]), encoding="utf-8")

    template = staticmethod(template)

    def __eq__(self, other: object) -> bool:
        # The order of the columns is part of the schema, as it is of the encoded matrix.
        return isinstance(other, Schema) and tuple(self._columns.items()) == tuple(other._columns.items())

    def __hash__(self) -> int:
        return hash(tuple(self._columns.items()))

    def __repr__(self) -> str:
        return f"Schema({self._columns!r})"

    def _used_columns(self) -> Iterator[tuple[str, Numeric | Categorical | Boolean]]:
        return ((name, column) for name, column in self._columns.items() if not isinstance(column, Ignored))

    def _with_names(self, matrix: NDArray[Any]) -> pa.Table:
        names = self.names
        if matrix.ndim != 2 or matrix.shape[1] != len(names):
            raise ValueError(
                f"Expected an array of {len(names)} columns ({join_names(names)}), got {kind(matrix)} of another shape."
            )
        return as_table(dict(zip(names, matrix.T)))


def _column(name: str, settings: Any) -> Column:
    if not isinstance(settings, Mapping) or "type" not in settings:
        raise ValueError(f"Column {name!r} needs a type: {join_names(list(_KINDS))}.")
    type_ = settings["type"]
    if type_ == BLANK:
        raise ValueError(
            f"Column {name!r}: type is blank. Fill in {join_names(list(_KINDS))}, from what is known without looking "
            "at the rows, with low and high, first and last, or levels below it where the type has them."
        )
    if not isinstance(type_, str) or type_ not in _KINDS:
        raise ValueError(
            f"Column {name!r} has the unknown type {describe(type_)}; the types are {join_names(list(_KINDS))}."
            f"{did_you_mean([str(type_)], list(_KINDS))}"
        )
    kind = _KINDS[type_]
    known = [field.name for field in fields(kind) if field.init]
    others = {key: value for key, value in settings.items() if key != "type"}
    unknown = [key for key in others if key not in known]
    if unknown:
        raise ValueError(
            f"Column {name!r} has unknown settings {join_names(unknown)}; the type {type_!r} has {join_names(known)}."
            f"{did_you_mean(unknown, known)}"
        )
    required = {"low": BLANK, "high": BLANK, "first": BLANK, "last": BLANK, "levels": ()}
    try:
        return kind(**{key: blank for key, blank in required.items() if key in known} | others)
    except (ValueError, TypeError) as error:
        wrong = type(error), f"Column {name!r}: {error}"
    raise wrong[0](wrong[1])


def _settings(column: Column) -> dict[str, Any]:
    values = {field.name: getattr(column, field.name) for field in fields(column) if field.init}
    defaults = {field.name: field.default for field in fields(column)}
    stated = {key: _plain(value) for key, value in values.items() if value != defaults[key]}
    return {"type": column.kind} | stated


def _plain(value: Any) -> Any:
    """Return a setting as JSON and TOML have it."""
    if isinstance(value, tuple):
        return list(value)
    return value.isoformat() if isinstance(value, date) else value
