"""A column of dates: what is publicly known about it, how it is read, and the form it has afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Array
from tacit.messages import describe
from tacit.sources.numbers import MISSING_WORDS, is_text
from tacit.sources.source import UnreadableCells
from tacit.tables.codes import Unknown
from tacit.tables.columns import BLANK, Integer

_EPOCH = date(1970, 1, 1)
_DATE, _TIMESTAMP = "date", "timestamp"  # Forms that are not text.


@dataclass(frozen=True)
class Date(Integer):
    """A day between two days; days beyond them are moved to the nearer one, and the time of day is left out.

    Encoded as `Integer` is, as the number of days since 1970-01-01, which models and reports show too.

    Parameters
    ----------
    first, last : date, or text such as "2020-12-31"
    form : str, default="date"
        What a decoded column has: ``"date"``, ``"timestamp"`` (in pandas ``datetime64``), or text in a form such as
        ``"%d.%m.%Y"``, in which text is read, too. With the others, text is read as 2020-12-31.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tacit.tables import Date, Schema
    >>> schema = Schema({"seen": Date("2020-01-01", "2020-12-31", form="%d.%m.%Y")})
    >>> schema.decode(schema.encode({"seen": ["29.02.2020", "24.12.2021"]})).to_pydict()
    {'seen': ['29.02.2020', '31.12.2020']}
    """

    kind: ClassVar[str] = "date"
    low: int = field(init=False, repr=False)
    high: int = field(init=False, repr=False)
    first: date | str
    last: date | str
    form: str = field(default=_DATE, kw_only=True)

    def __post_init__(self) -> None:
        for side, bound in (("first", "low"), ("last", "high")):
            day = _day(getattr(self, side), side)
            object.__setattr__(self, side, day)
            object.__setattr__(self, bound, (day - _EPOCH).days)
        if not self.low < self.high:
            raise ValueError("first must be a day before last.")
        super().__post_init__()
        self._check_form()

    def _check_form(self) -> None:
        if not isinstance(self.form, str) or (self.form not in (_DATE, _TIMESTAMP) and "%" not in self.form):
            raise ValueError(
                f'form must be "date", "timestamp" or a form of text such as "%d.%m.%Y", got {describe(self.form)}.'
            )
        ends = pa.array([self.low, self.high], pa.int32())
        if "%" in self.form:
            try:
                lost = not _days(self._written(ends), self.form).equals(ends)
            except pa.ArrowInvalid:
                lost = True
            if lost:
                raise ValueError("Text in that form does not tell the day, or not between first and last.")

    def day(self, number: float) -> date:
        """Return the day that is so many days after 1970-01-01, rounded."""
        return _EPOCH + timedelta(days=round(number))

    def encode(self, column: pa.ChunkedArray, name: str, unknown: Unknown) -> Array:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            return super().encode(_days(column, self.form), name, unknown)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # Its message quotes the cell.
            form = self.form if "%" in self.form else "2020-12-31"
        raise UnreadableCells(
            f"Column {name!r} holds cells that cannot be read as dates. Text must have the form {form}, as the schema "
            "says."
        )

    def decode(self, encoded: Array) -> pa.Array:
        return self._written(super().decode(encoded).cast(pa.int32()))

    def _written(self, days: pa.Array) -> pa.Array:
        """Return days since 1970 in the form that the column has."""
        dates = days.cast(pa.date32())
        if self.form == _DATE:
            return dates
        times = dates.cast(pa.timestamp("us"))
        return times if self.form == _TIMESTAMP else pc.strftime(times.cast(pa.timestamp("s")), format=self.form)


def _day(value: Any, side: str) -> date:
    if value is None or value == BLANK:
        raise ValueError(
            f"{side} is blank. Fill in the {side} day that could occur, from what is known without looking at the rows."
        )
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[D]").item()
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        pass
    raise ValueError(f'{side} must be a date, or text such as "2020-12-31", got {describe(value)}.')


def _days(column: Any, form: str) -> Any:
    """Return dates, times or text as days since 1970; raise an error of pyarrow about what is none of these."""
    if is_text(column.type):
        text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
        text = pc.if_else(
            pc.is_in(text, value_set=pa.array(MISSING_WORDS, text.type)), pa.scalar(None, text.type), text
        )
        column = pc.strptime(text, format=form, unit="s") if "%" in form else text.cast(pa.timestamp("us"))
    return column.cast(pa.date32()).cast(pa.int32())
