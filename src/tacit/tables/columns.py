"""What is publicly known about one column: its type and the values it can take, known without looking at the rows.

Each type encodes a cell as a few numbers between -1 and 1, and decodes them again. However many numbers there are,
their squares add up to at most 1, so a row of m columns lies in the ball of radius sqrt(m).

A column also says where that knowledge comes from, in ``source``: it is ``"stated"`` by somebody who did not look at
the rows, or it was ``"peeked"``, read from them without paying for it. The latter is not private, and is told wherever
the column is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from tacit.arrays import Array
from tacit.messages import describe
from tacit.sources import as_numbers
from tacit.tables.codes import TRUTH_WORDS, Unknown, codes

# Whole numbers up to this one are encoded and decoded exactly, with room for the rounding of a few operations.
LARGEST_INTEGER = 2**48

_MOST_DECIMALS = 15  # A float64 has no more.

BLANK = ""  # A template leaves it for people to fill in.

STATED, PEEKED = "stated", "peeked"  # These say where knowledge about a column comes from.


@dataclass(frozen=True)
class Numeric:
    """A number between two bounds; values beyond them are moved to the nearer one.

    Encoded as one number: `low` as -1, `high` as 1, and linearly in between. Decoded to the nearest number with
    `decimals` digits after the point, or to any number if it is None.

    Examples
    --------
    >>> from tacit.tables import Numeric
    >>> Numeric(0, 250, decimals=1, description="Body weight in kg")
    Numeric(low=0.0, high=250.0, description='Body weight in kg')
    """

    kind: ClassVar[str] = "numeric"
    low: float
    high: float
    _: KW_ONLY
    description: str = ""
    source: str = field(default=STATED, repr=False)
    decimals: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for side, word in (("low", "smallest"), ("high", "largest")):
            object.__setattr__(self, side, self._bound(getattr(self, side), side, word))
        if not self.low < self.high:
            raise ValueError(
                f"low must be less than high, got low = {describe(self.low)} and high = {describe(self.high)}."
            )
        if not self.half_range > 0:
            raise ValueError(f"low = {self.low} and high = {self.high} are too close to be told apart when halved.")
        if self.decimals is not None:
            self._check_decimals(self.decimals)
        _check_remarks(self.description, self.source)

    def _bound(self, value: Any, side: str, word: str) -> float:
        if value is None or value == BLANK:
            raise ValueError(
                f"{side} is blank. Fill in the {word} value that could occur, from what is known without looking at "
                "the rows."
            )
        if not isinstance(value, Real) or isinstance(value, bool):
            raise TypeError(f"{side} must be a number, got {describe(value)}.")
        if not math.isfinite(value):
            raise ValueError(f"{side} must be finite, got {describe(value)}.")
        return float(value)

    def _check_decimals(self, decimals: Any) -> None:
        if not _is_whole(decimals) or not 0 <= decimals <= _MOST_DECIMALS:
            raise ValueError(f"decimals must be a whole number from 0 to {_MOST_DECIMALS}, got {describe(decimals)}.")
        if any(round(bound, decimals) != bound for bound in (self.low, self.high)):
            raise ValueError(f"low and high must not have more than {decimals} decimals, as the column has.")
        if self.high - self.low > 2 * LARGEST_INTEGER * self.step:
            raise ValueError("low and high are too far apart for so many decimals to be kept exactly.")

    @property
    def step(self) -> float:
        """Distance between neighbouring values; 0 if any number can occur."""
        return 0.0 if self.decimals is None else 10.0**-self.decimals

    @property
    def middle(self) -> float:
        return self.low / 2 + self.high / 2  # Halved first, because the sum might overflow.

    @property
    def half_range(self) -> float:
        """How many units one unit of the encoded number stands for."""
        return self.high / 2 - self.low / 2

    def labels(self, name: str) -> tuple[str, ...]:
        return (name,)

    def encode(self, column: pa.ChunkedArray, name: str, unknown: Unknown) -> Array:
        values = as_numbers(column, name)
        with np.errstate(over="ignore"):  # What overflows is clipped.
            scaled: Array = values - self.middle
            scaled /= self.half_range
        scaled.clip(-1, 1, out=scaled)
        scaled[~np.isfinite(values)] = np.nan
        return scaled[np.newaxis]

    def decode(self, encoded: Array) -> pa.Array:
        return pa.array(self.numbers(encoded), from_pandas=True)  # NaN becomes null.

    def numbers(self, encoded: Array) -> Array:
        """Return encoded cells as numbers in their units, rounded as the column is."""
        values: Array = self.middle + self.half_range * np.clip(encoded[0], -1, 1)
        if self.decimals is not None:
            values = np.round(values, self.decimals)
        return values.clip(self.low, self.high)


@dataclass(frozen=True)
class Integer(Numeric):
    """A whole number between two bounds; values beyond them are moved to the nearer one.

    Encoded as `Numeric` is, decoded to the nearest whole number.

    Examples
    --------
    >>> from tacit.tables import Integer
    >>> Integer(0, 20)
    Integer(low=0, high=20, description='')
    """

    kind: ClassVar[str] = "integer"
    low: int
    high: int
    decimals: int | None = field(default=0, init=False, repr=False)

    def _bound(self, value: Any, side: str, word: str) -> int:
        bound = super()._bound(value, side, word)
        if bound % 1:
            raise ValueError(
                f"{side} must be a whole number, got {describe(value)}. Use the type 'numeric' for fractions."
            )
        if abs(bound) > LARGEST_INTEGER:
            raise ValueError(
                f"{side} must lie within ±2**48 to be kept exactly, got {describe(value)}. Use the type 'numeric'."
            )
        return int(bound)

    def decode(self, encoded: Array) -> pa.Array:
        values = self.numbers(encoded)
        missing = np.isnan(values)
        return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)


@dataclass(frozen=True)
class Categorical:
    """One of a list of levels: all of them text, or all of them whole numbers.

    Encoded as one number for each level, 1 for the level in the cell and 0 for the others: always of norm 1, which is
    why 0 and not -1. Decoded to the level with the largest number.

    Examples
    --------
    >>> from tacit.tables import Categorical
    >>> Categorical(["never", "former", "current"]).labels("smoker")
    ('smoker=never', 'smoker=former', 'smoker=current')
    """

    kind: ClassVar[str] = "categorical"
    levels: tuple[str, ...] | tuple[int, ...]
    _: KW_ONLY
    description: str = ""
    source: str = field(default=STATED, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", _check_levels(self.levels))
        _check_remarks(self.description, self.source)

    def labels(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name}={level}" for level in self.levels)

    def encode(self, column: pa.ChunkedArray, name: str, unknown: Unknown) -> Array:
        code = codes(column, name, {str(level): code for code, level in enumerate(self.levels)}, unknown)
        encoded = np.zeros((len(self.levels), len(code)))
        encoded[code, np.arange(len(code))] = 1
        encoded[:, code < 0] = np.nan
        return encoded

    def decode(self, encoded: Array) -> pa.Array:
        missing = np.isnan(encoded).any(axis=0)
        return pa.array(self.levels).take(pa.array(encoded.argmax(axis=0), mask=missing))


@dataclass(frozen=True)
class Boolean:
    """True or false. Text such as true and false, yes and no, t and f, y and n, 1 and 0 is understood.

    Encoded as one number, 1 for true and -1 for false; decoded to true if positive. If the column writes them in its
    own way, `values` are that for false and that for true, as text or as whole numbers.

    Examples
    --------
    >>> from tacit.tables import Boolean
    >>> Boolean(values=(0, 1), description="Has a chronic condition")
    Boolean(description='Has a chronic condition')
    """

    kind: ClassVar[str] = "boolean"
    _: KW_ONLY
    description: str = ""
    source: str = field(default=STATED, repr=False)
    values: tuple[str, str] | tuple[int, int] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.values is not None:
            values = _check_levels(self.values)
            if len(values) != 2:
                raise ValueError("values must be two: what is written for false, and what for true.")
            object.__setattr__(self, "values", values)
        _check_remarks(self.description, self.source)

    def labels(self, name: str) -> tuple[str, ...]:
        return (name,)

    def encode(self, column: pa.ChunkedArray, name: str, unknown: Unknown) -> Array:
        own = {str(value): code for code, value in enumerate(self.values or ())}
        code = codes(column, name, TRUTH_WORDS | own, unknown)
        return np.atleast_2d(np.where(code < 0, np.nan, 2.0 * code - 1.0))

    def decode(self, encoded: Array) -> pa.Array:
        truth = pa.array(encoded[0] > 0, mask=np.isnan(encoded[0]))
        return truth if self.values is None else pa.array(self.values).take(truth.cast(pa.int8()))


@dataclass(frozen=True)
class Ignored:
    """A column that is there and is left out: an identifier, a name, free text. It is never read.

    Examples
    --------
    >>> from tacit.tables import Ignored
    >>> Ignored(description="Number of the patient's file")
    Ignored(description="Number of the patient's file")
    """

    kind: ClassVar[str] = "ignored"
    _: KW_ONLY
    description: str = ""
    source: str = field(default=STATED, repr=False)

    def __post_init__(self) -> None:
        _check_remarks(self.description, self.source)


Column = Numeric | Integer | Categorical | Boolean | Ignored


def _check_levels(levels: Any) -> tuple[str, ...] | tuple[int, ...]:
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise TypeError(f"levels must be a list of all values that could occur, got {describe(levels)}.")
    levels = tuple(levels)
    if not levels:
        raise ValueError(
            "levels is blank. List every value that could occur, from what is known without looking at the rows; for "
            "names, numbers of files or free text, use the type 'ignored'."
        )
    if not (all(_is_text(level) for level in levels) or all(_is_whole(level) for level in levels)):
        raise TypeError(
            "levels must be all text or all whole numbers. For true and false, use the type 'boolean'; for other "
            "numbers, 'numeric'."
        )
    if any(_is_text(level) and not level.strip() for level in levels):
        raise ValueError("A level is empty text, which stands for a missing value. Leave it out.")
    repeated = sorted({level for level in levels if levels.count(level) > 1})
    if repeated:
        raise ValueError("levels must be different from each other, but one is there more than once.")
    if len(levels) == 1:
        raise ValueError("A column with a single level says nothing about a row. Use the type 'ignored'.")
    return tuple(int(level) for level in levels) if _is_whole(levels[0]) else levels


def _is_text(level: Any) -> bool:
    return isinstance(level, str)


def _is_whole(level: Any) -> bool:
    return isinstance(level, int | np.integer) and not isinstance(level, bool)


def _check_remarks(description: Any, source: Any) -> None:
    if not isinstance(description, str):
        raise TypeError(f"description must be text, got {describe(description)}.")
    if not isinstance(source, str) or source not in (STATED, PEEKED):
        raise ValueError(
            f"source must be {STATED!r} (from public knowledge) or {PEEKED!r} (read from the rows), got "
            f"{describe(source)}."
        )
