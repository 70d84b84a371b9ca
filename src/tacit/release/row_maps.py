"""What rows may pass through on their way to a statistic: a closed set of maps, each of one row at a time.

Formal guarantees a row map gives
---------------------------------
1. What becomes of a row depends on nothing but the row and the map's own numbers, which are public or already private.
   It is the same to the last bit wherever the row stands in a block, and whatever the other rows hold.
2. As many rows come out as go in, for *every* block of float64: NaN, infinities, 1e308, no rows at all.
3. It is deterministic, picklable, and writes to nothing outside itself.

A statistic is bounded for every row, so no map can change a sensitivity. A map that breaks the first guarantee could:
one row would move what others contribute. So a curator takes no other maps than these, and each is attacked by a test.
(Schemas encode rows before a curator sees them: :mod:`tacit.tables`. The same guarantees are asked of them.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE

_LONGEST = 1e150  # The squares of larger numbers overflow.


@dataclass(frozen=True, eq=False)
class Standardise:
    """z = (x - centre) / scale, brought inside a box or a ball; missing cells stay missing.

    Parameters
    ----------
    centre, scale : (d,) arrays
    within : {"box", "ball", "anywhere"}
        The box has every column between -1 and 1, and each is brought inside for itself. The ball has radius sqrt(d),
        and rows are brought inside along the radius; a missing cell adds nothing to a row's length.

    Examples
    --------
    >>> Standardise(np.array([5.0, 50.0]), np.array([5.0, 50.0]), "box")(np.array([[5.0, 150.0]]))
    array([[0., 1.]])
    """

    centre: Array
    scale: Array
    within: Literal["box", "ball", "anywhere"] = "anywhere"

    def __call__(self, block: Array) -> Array:
        """Return the rows, stored column by column, which is how most statistics read them."""
        with np.errstate(over="ignore", invalid="ignore"):
            columns = block.T
            z = np.empty(columns.shape)
            if self.centre.any() or (self.scale != 1.0).any():
                columns = np.divide(np.subtract(columns, self.centre[:, None], out=z), self.scale[:, None], out=z)
            if self.within == "box":
                return np.clip(columns, -1.0, 1.0, out=z).T
            z[...] = columns
            return _into_ball(z).T if self.within == "ball" else z.T


@dataclass(frozen=True, eq=False)
class Affine:
    """z = factor x + shift, column by column.

    Examples
    --------
    >>> Affine(np.array([2.0, 1.0]), np.array([0.0, -1.0]))(np.array([[1.0, 3.0]]))
    array([[2., 2.]])
    """

    factor: Array
    shift: Array

    def __call__(self, block: Array) -> Array:
        """Return the rows, as they were stored."""
        return self.factor * block + self.shift


@dataclass(frozen=True, eq=False)
class Whiten:
    """w = matrix (x - centre) for all columns but the last, which is the target and stays as it is.

    Examples
    --------
    >>> Whiten(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0]))(np.array([[2.0, 3.0, 9.0]]))
    array([[2., 1., 9.]])
    """

    matrix: Array
    centre: Array

    def __call__(self, block: Array) -> Array:
        """Return the rows, stored column by column."""
        columns = pad_rows(block.T)
        out = np.empty((len(self.matrix) + 1, columns.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(self.matrix, columns[:-1], out=out[:-1])
            out[:-1] -= (self.matrix @ self.centre)[:, None]
        out[-1] = columns[-1]
        return out[:, : len(block)].T


@dataclass(frozen=True)
class RoundTarget:
    """The last column rounded to whole numbers: the number of a class.

    Examples
    --------
    >>> RoundTarget()(np.array([[0.3, 0.9]]))
    array([[0.3, 1. ]])
    """

    def __call__(self, block: Array) -> Array:
        """Return the rows, as they were stored."""
        rounded = block.copy(order="K")
        rounded[:, -1] = np.rint(rounded[:, -1])
        return rounded


@dataclass(frozen=True)
class BlankIncomplete:
    """Rows with a missing cell have all cells missing, so that statistics leave them out whole.

    An infinite cell counts as missing, as it does where missing cells are refused and in schemas.

    Examples
    --------
    >>> BlankIncomplete()(np.array([[1.0, np.nan], [1.0, 2.0], [np.inf, 2.0]]))
    array([[nan, nan],
           [ 1.,  2.],
           [nan, nan]])
    """

    def __call__(self, block: Array) -> Array:
        """Return the rows, as they were stored."""
        blanked = block.copy(order="K")
        blanked[~np.isfinite(block).all(axis=1)] = np.nan
        return blanked


RowMap = Standardise | Affine | Whiten | RoundTarget | BlankIncomplete


def pad_rows(columns: Array) -> Array:
    """Return numbers (..., rows) with zeros behind them, up to a multiple of ``ROWS_AT_ONCE`` rows.

    What is computed for a row must not depend on where in the block it stands. A matrix product takes rows by fours or
    eights and rounds those left over differently; far from narrow components that could decide which of two a row
    belongs to, and one row more or less before it would change that. So blocks are padded to whole ones. (That is
    enough in double precision. Products in single precision were seen to differ by place within whole ones too.)

    They are also laid out alike, one column after the other: a product with one vector rounds by how the numbers lie in
    memory, and whole blocks would come as they lie and others as they were put together.

    Examples
    --------
    >>> pad_rows(np.ones((2, 65))).shape, pad_rows(np.ones((2, 64))).shape
    ((2, 128), (2, 64))
    """
    short = -columns.shape[-1] % ROWS_AT_ONCE
    if short:
        columns = np.concatenate([columns, np.zeros((*columns.shape[:-1], short))], axis=-1)
    return np.ascontiguousarray(columns)


def _into_ball(z: Array) -> Array:
    """Return rows, given column by column, brought inside the ball of radius sqrt(d)."""
    lengths = _lengths(z)
    odd = ~np.isfinite(lengths)
    if odd.any():
        z[:, odd] = _shorten(z[:, odd])
        lengths[odd] = _lengths(_zero_for_missing(z[:, odd]))
    radius = math.sqrt(len(z))
    z *= radius / np.maximum(lengths, radius)
    return z


def _lengths(z: Array) -> Array:
    """Return the lengths of rows, given column by column; each is computed alike, wherever the row stands."""
    squares = np.zeros(z.shape[1])
    for column in z:
        squares += column * column
    return np.sqrt(squares, out=squares)


def _shorten(z: Array) -> Array:
    """Return rows, shortened in the same direction if their squares overflow, so that they do not. NaN stays NaN."""
    z = np.clip(z, -1e300, 1e300)
    largest = np.abs(_zero_for_missing(z)).max(axis=0)
    return np.where(largest > _LONGEST, np.clip(z / largest, -1.0, 1.0) * _LONGEST, z)


def _zero_for_missing(z: Array) -> Array:
    return np.where(np.isnan(z), 0.0, z)
