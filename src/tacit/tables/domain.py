"""Where rows can lie: public bounds, and the coordinates in which they are a unit box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.arrays import Array
from tacit.messages import describe, kind
from tacit.release.row_maps import Affine, Standardise
from tacit.tables.columns import Boolean, Categorical, Column, Numeric
from tacit.tables.dates import Date
from tacit.tables.schema import Schema

_LEAST_SCALE = 1e-100  # The squares of smaller scales underflow, and those of larger centres than its inverse overflow.


@dataclass(frozen=True, eq=False)
class Domain:
    """Public bounds on rows, as an affine map to standard coordinates.

    In standard coordinates a box has every column between -1 and 1; a ball has radius sqrt(d). Either way rows are no
    longer than sqrt(d). Rows outside are brought to the nearest point inside: each column for itself in a box, along
    the radius in a ball.

    Parameters
    ----------
    centre, scale : (d,) arrays
        A row is centre + scale * standard coordinates.
    ball : bool
        Whether the bounds are a ball.
    schema : Schema, optional
        The schema that the bounds come from, if there is one. It also encodes categories.
    unbounded : bool
        Whether there are no bounds: standard coordinates are the rows' own.

    Examples
    --------
    >>> import numpy as np
    >>> box = Domain.from_bounds((0.0, [10.0, 100.0]), columns=2)
    >>> box.standardise(np.array([[5.0, 150.0]]))
    array([[0., 1.]])
    >>> box.restore(np.array([[0.0, 1.0]]))
    array([[  5., 100.]])
    >>> print(box)
    a box: column 1 from 0 to 10, column 2 from 0 to 100
    """

    centre: Array
    scale: Array
    ball: bool = False
    schema: Schema | None = None
    names: tuple[str, ...] | None = None
    unbounded: bool = False

    @classmethod
    def from_bounds(cls, bounds: Any, columns: int, names: tuple[str, ...] | None = None) -> Domain:
        """Read what users pass as ``bounds``: a radius, or a pair (low, high) of numbers or of arrays."""
        if bounds is None:
            raise ValueError(
                "bounds is missing. Say what is publicly known about the columns: a number r (every row is within r of "
                "the origin), a pair (low, high) of numbers or of arrays with one number for each column, a "
                'tacit.Schema, or "private" to spend part of the budget on finding a range. Bounds are never read from '
                "the data, because that would reveal rows."
            )
        ball = isinstance(bounds, (int, float, np.number)) or (isinstance(bounds, np.ndarray) and bounds.ndim == 0)
        if ball and not isinstance(bounds, bool):
            radius = float(bounds)
            if not 0 < radius < math.inf:
                raise ValueError(f"bounds is a radius here, and must be positive and finite; it is {describe(bounds)}.")
            centre, scale = np.zeros(columns), np.full(columns, radius / math.sqrt(columns))
        else:
            low, high = _pair(bounds, columns)
            centre, scale = low / 2 + high / 2, high / 2 - low / 2
            # Rounding may leave the ends of the range a little outside the bounds, where no restored row may be.
            outside = (centre - scale < low) | (centre + scale > high)
            scale = np.where(outside, scale * (1 - 4e-16) - np.spacing(np.abs(centre)), scale)
        if not ((scale > _LEAST_SCALE) & (scale < 1 / _LEAST_SCALE) & (np.abs(centre) < 1 / _LEAST_SCALE)).all():
            raise ValueError(
                "bounds are very large numbers or a very narrow range, and have no squares to compute with. Pass the "
                "rows in other units."
            )
        return cls(centre, scale, ball, None, names)

    @classmethod
    def from_schema(cls, schema: Schema) -> Domain:
        """Return the domain of a schema's encoded rows; numbers keep their own units, the rest has units of 1."""
        centre, scale = np.zeros(schema.width), np.ones(schema.width)
        for name, place in schema.slices.items():
            column = schema.columns[name]
            if isinstance(column, Numeric):
                centre[place], scale[place] = column.middle, column.half_range
        return cls(centre, scale, False, schema, schema.feature_names)

    @classmethod
    def everywhere(cls, columns: int, names: tuple[str, ...] | None = None) -> Domain:
        """Return the domain of rows of which nothing is known."""
        return cls(np.zeros(columns), np.ones(columns), False, None, names, unbounded=True)

    @property
    def columns(self) -> int:
        """How many columns rows have in standard coordinates."""
        return len(self.centre)

    @property
    def log_jacobian(self) -> float:
        """What to add to a log density in standard coordinates to have it in the units of the rows."""
        return float(-np.log(self.scale).sum())

    @property
    def least_variances(self) -> Array:
        """How narrow a column can be within any group of rows, in standard coordinates.

        A yes or no, or a category, is never taken to be certain: one row in a hundred may differ. A rounded number is
        not taken to be known better than to its rounding. Otherwise almost nothing: a ten-thousandth of the half range.
        """
        least = np.full(self.columns, 1e-8)
        if self.schema is not None:
            for name, place in self.schema.slices.items():
                column = self.schema.columns[name]
                if isinstance(column, Numeric):
                    least[place] = max(1e-8, (column.step / column.half_range) ** 2 / 12)
                elif isinstance(column, Boolean):
                    least[place] = 4 * 0.01 * 0.99  # The codes are -1 and 1.
                elif isinstance(column, Categorical):
                    least[place] = 0.01 * 0.99  # The codes are 0 and 1.
        return least

    def standardise(self, block: Array) -> Array:
        """Return rows in standard coordinates, brought inside the bounds; missing cells stay missing.

        They are stored column by column, which is how most statistics read them.
        """
        return self.row_map(block)

    @property
    def row_map(self) -> Standardise:
        """The map that rows pass through on their way into standard coordinates."""
        within = "anywhere" if self.unbounded else "ball" if self.ball else "box"
        return Standardise(self.centre, self.scale, within)

    @property
    def restoring_map(self) -> Affine:
        """The map that rows in standard coordinates pass through on their way back to their own units."""
        return Affine(self.scale, self.centre)

    def restore(self, z: Array) -> Array:
        """Return rows in their own units, from standard coordinates."""
        return self.restoring_map(z)

    def table(self, z: Array) -> Array | pa.Table:
        """Return rows as they would be in a file: decoded by the schema if there is one."""
        return self.restore(z) if self.schema is None else self.schema.decode(z)

    def __str__(self) -> str:
        if self.unbounded:
            return "none"
        if self.schema is not None:
            return "a schema: " + _join([f"{name} {_words(self.schema.columns[name])}" for name in self.schema.used])
        if self.ball:
            return f"a ball of radius {self.scale[0] * math.sqrt(self.columns):g} around the origin"
        names = self.names or [f"column {j + 1}" for j in range(self.columns)]
        low, high = self.restore(-np.ones(self.columns)), self.restore(np.ones(self.columns))
        return "a box: " + _join([f"{name} from {a:g} to {b:g}" for name, a, b in zip(names, low, high)])


def _words(column: Column) -> str:
    if isinstance(column, Date):
        return f"from {column.first} to {column.last}"
    if isinstance(column, Numeric):
        return f"from {column.low:g} to {column.high:g}"
    return f"with {len(column.levels)} levels" if isinstance(column, Categorical) else "yes or no"


def _join(parts: list[str], most: int = 20) -> str:
    return ", ".join(parts[:most]) + (f" and {len(parts) - most} more" if len(parts) > most else "")


def _pair(bounds: Any, columns: int) -> tuple[Array, Array]:
    if isinstance(bounds, str) or not hasattr(bounds, "__len__") or len(bounds) != 2:
        raise ValueError(
            f'bounds must be a number, a pair (low, high), a tacit.Schema or "private", and it is {describe(bounds)}.'
        )
    sides = []
    for side, value in zip(("low", "high"), bounds):
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):  # Numpy's message quotes what it could not read.
            array = np.empty(0)
        if array.ndim > 1 or array.size not in (1, columns) or not array.size:
            raise ValueError(
                f"The {side} end of bounds must be a number or one number for each of the {columns} column(s); it is "
                f"{kind(value)}, of another shape or not of numbers."
            )
        if not np.isfinite(array).all():
            raise ValueError(f"The {side} end of bounds must be finite.")
        sides.append(np.broadcast_to(array.ravel(), (columns,)) if array.size == 1 else array)
    low, high = sides
    if not (low < high).all():
        wrong = int(np.flatnonzero(~(low < high))[0])
        raise ValueError(
            f"bounds are reversed or empty: low is not below high in column {wrong + 1}. Pass (low, high)."
        )
    return low, high
