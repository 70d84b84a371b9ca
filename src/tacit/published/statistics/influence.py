"""Influence functions of published methods: values smoothly truncated, and rows shortened as a whole.

The invariants are those of :mod:`tacit.statistics.influence`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from tacit.arrays import Array
from tacit.messages import describe
from tacit.release.statistic import Norm
from tacit.statistics.influence import ByColumn, Clip, check_order

_PLAIN_BOUND = 2 * math.sqrt(2) / 3  # The largest value of phi.
_ROOT2 = math.sqrt(2.0)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)  # A quadrature rule for psi, exact to 1e-14.
_FIRST, _LAST = -14, 27  # The table covers 2^-14 to 2^27. Below it psi is a cubic, and beyond it psi / bound is 1.
_FINENESS = 10  # The table has 2^10 points in each power of two, which makes it exact to 1e-7.
_STEP_BITS = 52 - _FINENESS  # The bits of a float64 below those that number the points of the table.
_LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class Smoothed(ByColumn):
    """The smoothed truncation psi of Catoni and Giulini: f(u) = E phi(u + u Z / sqrt(beta)), Z standard normal.

    phi(u) = u - u^3 / 6 up to sqrt(2), and 2 sqrt(2) / 3 beyond. Its supremum is the limit for large u, in closed form
    (:func:`smoothed_bound`). Its values are read from a table that is fine to 1e-7.

    Parameters
    ----------
    beta : float
        The precision of the smoothing, from 0.5 to 30; log(1 / failure probability) in the theory.

    Examples
    --------
    >>> import numpy as np
    >>> psi = Smoothed(1.0)
    >>> (psi.bound * psi.unit_influence(np.array([[0.1, 1.0, -1e8]]))).round(6)
    array([[ 0.099333,  0.564087, -0.643646]])
    >>> round(Smoothed(math.log(100)).bias(2), 4)
    0.2946
    """

    beta: float

    def __post_init__(self) -> None:
        if not 0.5 <= self.beta <= 30:
            raise ValueError(
                f"beta must be from 0.5 to 30, where the influence is proved exact; it is {describe(self.beta)}."
            )

    @property
    def bound(self) -> float:
        """The limit for large u."""
        return smoothed_bound(self.beta)

    def unit_influence(self, u: Array) -> Array:
        """Return psi(u) / bound, interpolated between points of a table that are found by their bits."""
        table, cubic = _table(self.beta)
        size = np.abs(np.where(np.isnan(u), 0.0, u))
        inside = np.clip(size, 2.0**_FIRST, 2.0**_LAST)
        bits = np.ascontiguousarray(inside).view(np.int64) - _bits(2.0**_FIRST)
        place = bits >> _STEP_BITS
        # Within a power of two, bits are linear in the number.
        part = (bits & (2**_STEP_BITS - 1)) * 2.0**-_STEP_BITS
        low = table[place]
        values = low + part * (table[place + 1] - low)
        small = np.minimum(size, 2.0**_FIRST)
        values = np.where(size < 2.0**_FIRST, small * (1.0 - cubic * (small * small)) / self.bound, values)
        return np.copysign(np.minimum(values, 1.0), u) * ~np.isnan(u)

    def bias(self, order: float) -> float:
        """Return the supremum, found numerically; for orders up to 3, as beyond it there is none."""
        check_order(order)
        if order > 3:
            raise ValueError(
                f"The smoothed influence bends like a cubic near 0, so moments of order over 3 (here {order:g}) say "
                "nothing more about its bias; clip instead."
            )
        return _smoothed_bias(self.beta, float(order))


@dataclass(frozen=True)
class Shorten:
    """Rows longer than 1 are shortened to 1: f(u) = u / max(1, |u|), for the row as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> Shorten().unit_influence(np.array([[0.3, 0.4], [3.0, 4.0], [np.inf, 0.0]]))
    array([[0.3, 0.4],
           [0.6, 0.8],
           [1. , 0. ]])
    """

    @property
    def bound(self) -> float:
        """1."""
        return 1.0

    def unit_influence(self, u: Array) -> Array:
        """Return the rows, shortened."""
        rows = np.clip(np.where(np.isnan(u), 0.0, u), -_LARGEST, _LARGEST)
        rows = rows / np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1.0)[:, None]
        squares = np.zeros(len(rows))
        for column in rows.T:  # A fixed order, whatever the block's layout.
            squares += column * column
        shortened: Array = rows / np.maximum(np.sqrt(squares), 1.0)[:, None]
        return shortened

    def row_norm(self, columns: int, norm: Norm) -> float:
        """Return the largest norm of a row: 1 in l2 and linf, sqrt(d) in l1, enlarged by rounding."""
        return (math.sqrt(columns) if norm == "l1" else 1.0) * (1 + (columns + 8) * 2.0**-52)

    def bias(self, order: float) -> float:
        """Return the supremum of (|u| - 1) / |u|^k, as for clipping; the moment is that of the length of rows."""
        return Clip().bias(order)


def smoothed_influence(u: Array, beta: float) -> Array:
    """Return psi_beta(u), exact to 1e-14 for beta from 0.5 to 30.

    The closed form has terms of the size of u^3 that cancel, and is useless beyond |u| = 10 or so. So it is used up to
    1, the series below 1e-4, and beyond 1 the integral over [-sqrt(2), sqrt(2)], where nothing cancels.

    Examples
    --------
    >>> import numpy as np
    >>> smoothed_influence(np.array([1.0, 1e4, np.inf, np.nan]), 1.0)
    array([0.56408727, 0.64364582, 0.64364583, 0.        ])
    """
    u = np.asarray(u, dtype=np.float64)
    size = np.minimum(np.abs(np.where(np.isnan(u), 0.0, u)), 1e8)
    small = np.minimum(size, 1e-4)
    middle = np.clip(size, 1e-4, 1.0)
    values = np.where(size < 1e-4, small - _cubic(beta) * small**3, _closed_form(middle, middle / math.sqrt(beta)))
    large = size > 1.0
    if large.any():
        values[large] = _integral(size[large], size[large] / math.sqrt(beta))
    values = np.where(np.isinf(u), smoothed_bound(beta), np.minimum(values, smoothed_bound(beta)))
    return np.where(np.isnan(u), 0.0, np.copysign(values, u))


def smoothed_bound(beta: float) -> float:
    """Return the supremum of psi_beta, its limit for large u: psi_beta increases.

    Its derivative at a > 0 is the integral over u in (0, sqrt(2)) of phi'(u) u (p(u) - p(-u)) / a, with p the density
    of N(a, a^2 / beta), which is larger at u than at -u.

    Examples
    --------
    >>> round(smoothed_bound(1.0), 5)
    0.64365
    """
    return _PLAIN_BOUND * math.erf(math.sqrt(beta / 2))


def _cubic(beta: float) -> float:
    return 1 / 6 + 1 / (2 * beta)


def _closed_form(a: Array, b: Array) -> Array:
    """E phi(a + b Z) for 0 < a <= 1."""
    minus, plus = np.minimum((_ROOT2 - a) / b, 1e3), np.minimum((_ROOT2 + a) / b, 1e3)
    f_minus, f_plus = ndtr(-minus), ndtr(-plus)
    e_minus, e_plus = np.exp(-(minus**2) / 2), np.exp(-(plus**2) / 2)
    root = math.sqrt(2 * math.pi)
    terms = [
        a * (1 - b**2 / 2) - a**3 / 6,
        _PLAIN_BOUND * (f_minus - f_plus),
        -(a - a**3 / 6) * (f_minus + f_plus),
        b / root * (1 - a**2 / 2) * (e_plus - e_minus),
        a * b**2 / 2 * (f_plus + f_minus + (plus * e_plus + minus * e_minus) / root),
        b**3 / (6 * root) * ((2 + minus**2) * e_minus - (2 + plus**2) * e_plus),
    ]
    total: Array = np.sum(terms, axis=0)
    return total


def _integral(a: Array, b: Array) -> Array:
    """E phi(a + b Z) for a > 1: what lies beyond +-sqrt(2), and an integral over what lies between."""
    values = _PLAIN_BOUND * (ndtr((a - _ROOT2) / b) - ndtr(-(a + _ROOT2) / b))
    for node, weight in zip(_ROOT2 * _NODES, _ROOT2 * _WEIGHTS):
        density = np.exp(-(((node - a) / b) ** 2) / 2) / (b * math.sqrt(2 * math.pi))
        values = values + weight * (node - node**3 / 6) * density
    return values


@lru_cache(maxsize=8)
def _table(beta: float) -> tuple[Array, float]:
    """Return psi / bound at the floats whose last bits are zero, from 2^first to 2^last, and the cubic's factor."""
    steps = np.arange(((_LAST - _FIRST) << _FINENESS) + 2, dtype=np.int64)
    points = ((steps << _STEP_BITS) + _bits(2.0**_FIRST)).view(np.float64)
    table = np.maximum.accumulate(np.minimum(smoothed_influence(points, beta) / smoothed_bound(beta), 1.0))
    table.setflags(write=False)
    return table, _cubic(beta)


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


@lru_cache(maxsize=64)
def _smoothed_bias(beta: float, order: float) -> float:
    return _supremum(lambda u: np.abs(u - smoothed_influence(u, beta)) / u**order)


def _supremum(ratio: Callable[[Array], Array]) -> float:
    """Return the largest value of a function of u > 0 with one peak."""
    grid = np.geomspace(1e-3, 1e6, 2000)
    values = ratio(grid)
    best = int(np.argmax(values))
    ends = np.log(grid[[max(best - 1, 0), min(best + 1, len(grid) - 1)]])
    peak = minimize_scalar(
        lambda x: -float(ratio(np.exp([x]))[0]), bounds=tuple(ends), method="bounded", options={"xatol": 1e-10}
    )
    return max(float(values[best]), -float(peak.fun))
