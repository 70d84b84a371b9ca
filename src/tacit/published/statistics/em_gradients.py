"""Gradients of gradient EM, row by row: what a row would have the parameters change by.

Each is the gradient of the expected complete log-likelihood of a row, times the variance of the noise, at the
parameters themselves; by Fisher's identity that is the gradient of the row's own log-likelihood. They are values for
:class:`tacit.statistics.RobustSum`, which bounds them, whatever they are. With a `truncation` T, what a gradient is
made of is cut off at T first, each part by itself; then it lies in a box that is known, ``box``.

Sums over columns are taken one column after the other and rows are worked on 64 at a time, so that a row's gradient
does not depend on its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.kernels import ROWS_AT_ONCE


@dataclass(frozen=True, eq=False)
class EMGradient:
    """Gradients of one model's rows at one set of coefficients: values for :class:`RobustSum`. Subclasses say which.

    Parameters
    ----------
    beta : (d,) array
    scale : float
        Standard deviation of the noise.
    truncation : float, optional
        What gradients are made of is cut off at this.
    as_printed : bool, default False
        Compute as the papers do, with their mistakes, for comparison.
    """

    beta: Array
    scale: float
    truncation: float | None = None
    as_printed: bool = False

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return len(self.beta)

    @property
    def box(self) -> tuple[Array, Array]:
        """The middle of the box that truncated gradients lie in, and half its width, column by column."""
        raise NotImplementedError

    def __call__(self, block: Array) -> Array:
        """Return the gradients of a block, (rows, size); NaN in every column of a row that is left out."""
        return _at_once(self._gradients, block)

    def _gradients(self, block: Array) -> Array:
        """Return the gradients of a block whose number of rows is a multiple of ``ROWS_AT_ONCE``."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SymmetricMixtureGradient(EMGradient):
    """Gradients t y - beta for rows y from beta or -beta, equally likely, plus round noise.

    t = tanh(<beta, y> / scale^2) is P(+ | y) - P(- | y). A row with a missing cell is left out.

    Parameters
    ----------
    beta : (d,) array
    scale : float
        Standard deviation of the noise in each column.
    truncation : float, optional
        The cells of y in t y are cut off at this.
    as_printed : bool, default False
        Leave out a factor of 2 in the log odds, as the papers do: a mistake, kept for comparison.

    Notes
    -----
    With a truncation T, t y_j is within [-T, T], so gradients lie in the box of middle -beta and half-width T.

    Examples
    --------
    >>> import numpy as np
    >>> gradient = SymmetricMixtureGradient(np.array([2.0]), 0.5)
    >>> gradient(np.array([[2.5], [-2.5], [0.0]])).round(6).T
    array([[ 0.5,  0.5, -2. ]])
    """

    @property
    def box(self) -> tuple[Array, Array]:
        """The middle of the box that truncated gradients lie in, and half its width, column by column."""
        return -self.beta, np.full(self.size, _require(self.truncation))

    def _gradients(self, block: Array) -> Array:
        sides = _tanh(_along(block, self.beta), self.scale, self.as_printed)
        gradients: Array = sides[:, None] * _clip(block, self.truncation) - self.beta
        return gradients


@dataclass(frozen=True, eq=False)
class SymmetricRegressionGradient(EMGradient):
    """Gradients (t y - <x, beta>) x for rows (x, y) with y = <x, beta> or -<x, beta>, equally likely, plus noise.

    t = tanh(y <x, beta> / scale^2) is P(+ | x, y) - P(- | x, y). The target is the last column. A row with a
    missing cell is left out.

    Parameters
    ----------
    beta : (d,) array
    scale : float
        Standard deviation of the noise.
    truncation : float, optional
        Cells of x, y and <x, beta> are cut off at this.
    as_printed : bool, default False
        Leave out a factor of 2 in the log odds, and where truncated have 1 + t for t, as the papers do: mistakes, kept
        for comparison.

    Notes
    -----
    t has the sign of y <x, beta>, so t y and <x, beta> have the same sign. With a truncation T both are at most T in
    size, and so is their difference: gradients are at most T^2 in each column, where papers have 2 T^2. With 1 + t for
    t it is 2 T^2: if y and <x, beta> have the same sign, so have (1 + t) y, at most 2 T in size, and <x, beta>; if not,
    t is not positive, so that (1 + t) y and <x, beta> are at most T in size.

    Examples
    --------
    >>> import numpy as np
    >>> gradient = SymmetricRegressionGradient(np.array([2.0]), 0.1)
    >>> gradient(np.array([[1.0, 2.5], [1.0, -2.5], [2.0, 4.0]])).T
    array([[0.5, 0.5, 0. ]])
    """

    @property
    def box(self) -> tuple[Array, Array]:
        """The middle of the box that truncated gradients lie in, and half its width, column by column."""
        return np.zeros(self.size), np.full(
            self.size, (2.0 if self.as_printed else 1.0) * _require(self.truncation) ** 2
        )

    def _gradients(self, block: Array) -> Array:
        x, y = block[:, :-1], block[:, -1]
        fitted = _along(x, self.beta)
        sides = _tanh(y * fitted, self.scale, self.as_printed)
        if self.as_printed and self.truncation is not None:
            sides = 1.0 + sides
        off = sides * _clip(y, self.truncation) - _clip(fitted, self.truncation)
        gradients: Array = off[:, None] * _clip(x, self.truncation)
        return gradients


@dataclass(frozen=True, eq=False)
class MissingCovariateGradient(EMGradient):
    """Gradients y m - K beta for rows (x, y) with y = <x, beta> plus noise, where cells of x may be missing (NaN).

    Inputs are standard normal. m = E[x | what is there] has r beta_j in a missing cell j, with
    r = (y - <beta, x there>) / v and v = scale^2 + |beta missing|^2. K = E[x x' | what is there] is m m' plus the
    covariance of missing cells, 1 - beta beta' / v, so that K beta is m <m, beta> + (scale^2 / v) beta there, and
    m <m, beta> elsewhere. A row without a target is left out.

    Parameters
    ----------
    beta : (d,) array
    scale : float
        Standard deviation of the noise.
    truncation : float, optional
        y, the cells of m, and <m, beta> are cut off at this.
    as_printed : bool, default False
        Have K = diag(missing) + m m' - (m missing)(m missing)', as the papers do: right on average at the truth alone,
        kept for comparison.

    Notes
    -----
    With a truncation T, the gradient in column j is m_j (y - <m, beta>), within [-2 T^2, 2 T^2]; if cell j is missing,
    less c beta_j with c in [0, 1]. But then m_j = r beta_j, and r has the sign of y - <m, beta> (both are y less what
    is seen, over positive numbers), also when all are cut off: the product has the sign of beta_j. So, up to the sign
    of beta_j, the gradient is within [-|beta_j|, 2 T^2] if the cell is missing, [-2 T^2, 2 T^2] if not, and so
    [-max(2 T^2, |beta_j|), 2 T^2] in all. As printed there is one more product, of size T^2 at most, and what papers
    forget: whether a cell is missing can change, and with it the term in beta_j. So the box is taken to be that of
    middle -beta_j / 2 and half-width 3 T^2 + |beta_j| / 2.

    Examples
    --------
    >>> import numpy as np
    >>> gradient = MissingCovariateGradient(np.array([1.0, 1.0]), 1.0)
    >>> gradient(np.array([[1.0, 2.0, 4.0], [1.0, np.nan, 4.0]]))
    array([[1.  , 2.  ],
           [1.5 , 1.75]])
    """

    @property
    def box(self) -> tuple[Array, Array]:
        """The middle of the box that truncated gradients lie in, and half its width, column by column."""
        square, size = _require(self.truncation) ** 2, np.abs(self.beta)
        if self.as_printed:
            return -self.beta / 2, 3.0 * square + size / 2
        low, high = np.maximum(2.0 * square, size), 2.0 * square
        return np.sign(self.beta) * (high - low) / 2, (high + low) / 2

    def _gradients(self, block: Array) -> Array:
        x, y, cut = block[:, :-1], block[:, -1], self.truncation
        gone = np.isnan(x)
        there = np.where(gone, 0.0, x)
        seen, hidden = _along(there, self.beta), _along(gone.astype(np.float64), self.beta * self.beta)
        noise = self.scale * self.scale
        variance = noise + hidden
        rate = (y - seen) / variance
        expected = np.where(gone, rate[:, None] * self.beta, there)
        fitted = y - noise * rate  # It is <m, beta>, and the rate gives its side of y, however it is rounded.
        off = _clip(y, cut) - _clip(fitted, cut)
        products = off[:, None] * _clip(expected, cut)
        if self.as_printed:
            again = _clip(rate[:, None] * self.beta, cut) * _clip(rate * hidden, cut)[:, None]
            return products + np.where(gone, again - self.beta, 0.0)
        return products - np.where(gone, (noise / variance)[:, None] * self.beta, 0.0)


def _at_once(gradients: Callable[[Array], Array], block: Array) -> Array:
    """Return the gradients of a block, computed with zeros behind it, up to a multiple of ``ROWS_AT_ONCE`` rows."""
    if short := -len(block) % ROWS_AT_ONCE:
        block = np.concatenate([block, np.zeros((short, block.shape[1]))])
    return gradients(block)[: len(block) - short]


def _along(rows: Array, beta: Array) -> Array:
    """Return <row, beta>, one column after the other; columns with coefficients of 0 are not read."""
    total = np.zeros(len(rows))
    for j in np.flatnonzero(beta):
        total += rows[:, j] * beta[j]
    return total


def _tanh(product: Array, scale: float, as_printed: bool) -> Array:
    """Return P(+) - P(-), of which the log odds are twice the product over the variance."""
    halves: Array = np.tanh(product / (scale * scale) / (2.0 if as_printed else 1.0))
    return halves


def _clip(values: Array, truncation: float | None) -> Array:
    return values if truncation is None else np.clip(values, -truncation, truncation)


def _require(truncation: float | None) -> float:
    if truncation is None:
        raise ValueError("Gradients lie in a known box where they are truncated; give a truncation.")
    return truncation
