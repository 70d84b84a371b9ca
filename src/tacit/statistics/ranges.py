"""The sizes that parameters of statistics may have: those whose squares float64 can hold.

Bounds are proved of real numbers. They hold for what is computed as long as no square of a parameter overflows, or
vanishes, unseen. So lengths, scales and weights outside of a wide range are refused when a statistic is made, before
any row is read: a statistic that stumbled over some rows and not over others would tell of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

MOST = 1e100  # The largest length, scale or weight: products of two squares of larger ones overflow.
LEAST = 1 / MOST  # The smallest one.
MOST_UNSQUARED = 1e200  # The largest factor: rows are divided by factors, which are never squared.


def check_sizes(name: str, sizes: ArrayLike, *, or_zero: bool = False, most: float = MOST) -> None:
    """Refuse sizes that are not from 1 / most to `most`, or 0 where that is allowed.

    Examples
    --------
    >>> check_sizes("radius", 2.0)
    >>> check_sizes("radius", 0.0)
    Traceback (most recent call last):
        ...
    ValueError: radius must be from 1e-100 to 1e+100.
    """
    numbers = np.asarray(sizes, dtype=np.float64)
    inside = (numbers >= 1 / most) & (numbers <= most)
    if or_zero:
        inside |= numbers == 0
    if not inside.all():
        raise ValueError(f"{name} must be from {1 / most:g} to {most:g}{', or 0' if or_zero else ''}.")


def check_numbers(name: str, numbers: ArrayLike, *, most: float = MOST) -> None:
    """Refuse numbers that are not finite, or beyond `most` in absolute value.

    Examples
    --------
    >>> check_numbers("coefficients", [1.0, float("inf")])
    Traceback (most recent call last):
        ...
    ValueError: coefficients must be numbers from -1e+100 to 1e+100.
    """
    if not (np.abs(np.asarray(numbers, dtype=np.float64)) <= most).all():
        raise ValueError(f"{name} must be numbers from {-most:g} to {most:g}.")
