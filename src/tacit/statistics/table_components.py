"""Components of a table with columns of numbers and columns with levels, some cells of which may be missing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.kernels import CACHE_NUMBERS, ROWS_AT_ONCE
from tacit.statistics.components import Components, log_total

Codes = NDArray[np.intp]
_ADD_UP = 1e-6  # The sum of probabilities may differ from 1 by this much. They are normalised for missing levels.


@dataclass(frozen=True)
class TableLayout:
    """Where the columns of a table are found in its encoded rows.

    Parameters
    ----------
    numbers : tuple of int
        Places of the columns of numbers.
    levels : tuple of tuples of int
        For each column with levels, its places: one for each level, the largest number being the level's; or a single
        place for a column of false and true, which is true if positive.

    Examples
    --------
    >>> import numpy as np
    >>> layout = TableLayout((0,), ((1, 2, 3), (4,)))
    >>> numbers, codes = layout.split(np.array([[0.5, 0.0, 1.0, 0.0, -1.0], [0.1, np.nan, np.nan, np.nan, 1.0]]))
    >>> codes
    array([[ 1,  0],
           [-1,  1]])
    """

    numbers: tuple[int, ...]
    levels: tuple[tuple[int, ...], ...] = ()

    @property
    def width(self) -> int:
        """How many numbers an encoded row has."""
        return len(self.numbers) + sum(map(len, self.levels))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each column with levels has."""
        return tuple(max(2, len(places)) for places in self.levels)

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where the levels of each column are found among all levels."""
        ends = np.cumsum((0, *self.sizes)).tolist()
        return tuple(slice(start, end) for start, end in pairwise(ends))

    def split(self, block: Array) -> tuple[Array, Codes]:
        """Return the numbers of a block (rows, d), and the levels of its rows (rows, J), -1 where the cell is missing.

        Every block has levels, whatever it holds: a NaN makes a cell missing, anything else has a largest number.
        """
        codes = np.empty((len(block), len(self.levels)), dtype=np.intp)
        for j, places in enumerate(self.levels):
            cells = block[:, places]
            level = cells.argmax(axis=1) if len(places) > 1 else cells[:, 0] > 0
            codes[:, j] = np.where(np.isnan(cells).any(axis=1), -1, level)
        return block[:, self.numbers], codes


class EStep(NamedTuple):
    """Some rows of a block, as all components see them."""

    places: NDArray[np.intp]  # The numbers of the rows in the block.
    codes: Codes
    lifted: Array  # (K, 1 + d, rows): 1, and the row's mean given what is observed, whitened.
    distances: Array  # (K, rows): squared lengths of the whitened mean.
    responsibilities: Array  # (K, rows)
    gaps: NDArray[np.intp] | None  # The pattern of each row, or None if no number is missing.
    patterns: NDArray[np.bool_]  # (patterns, d): whether each number is missing.


class Measured(NamedTuple):
    """Some rows with missing numbers, measured from all components."""

    whitened: Array  # (rows, K, d): the row's mean given what is observed.
    distances: Array  # (K, rows): its squared lengths; 0 for rows that are lost.
    joint: Array  # (K, rows): log(weight_k density_k) of what is observed, without logs of 2 pi.
    lost: NDArray[np.bool_]  # (rows,): whether a row is too far from all components, or has no level.
    gaps: NDArray[np.intp]  # The pattern of each row.
    patterns: NDArray[np.bool_]


class Marginal(NamedTuple):
    """What the components are in the columns of numbers that a row has."""

    whiteners: Array  # (K, d, d): R'^-1, which whitens what is observed; 0 where missing.
    basis: Array  # (K, d, d): Q, from there to the whitened mean of the row; 0 where missing.
    beyond: Array  # (K, d, d): the projection I - QQ' on what is not observed.
    log_scales: Array  # (K,): log(weight_k / determinant of R_k).


@dataclass(frozen=True, eq=False)
class TableComponents:
    """A mixture whose components are products: a Gaussian of the numbers, and probabilities of each column's levels.

    Parameters
    ----------
    layout : TableLayout
    gaussians : Components
        Weights, and means and factors in the columns of numbers, of which there may be none.
    probabilities : (K, all levels) array
        Probabilities of levels, positive, one column's after the other's. Those of a column add up to 1.

    Notes
    -----
    **Missing numbers.** With o the observed columns, x_o ~ N(mu_o, S_oo). Let L[o]' = Q R (QR decomposition): Q has
    orthonormal columns and S_oo = L[o] L[o]' = R'R, so R' is the factor of the observed columns. In whitened
    coordinates the row's mean given what is observed is L^-1 (E[x | x_o] - mu) = Q R'^-1 (x_o - mu_o), as long as
    R'^-1 (x_o - mu_o), and its covariance is I - QQ', the projection on what Q does not reach.

    **As computed**, for every factor, however nearly singular. z = R'^-1 (x_o - mu_o) comes first and may be off by
    any amount; then y = Q z. Householder's Q is orthonormal up to a few units in the last place, whatever it is made
    of (Higham, 2002, §19.3), so y is in its range up to as many, and so orthogonal to I - QQ', whatever z is. (The
    product Q R'^-1, computed first, is large where a pivot is small; what is left of it where numbers cancel out lies
    anywhere, and also where I - QQ' does.)

    Examples
    --------
    >>> import numpy as np
    >>> gaussians = Components(np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.full((2, 1, 1), 0.5))
    >>> both = TableComponents(TableLayout((0,), ((1,),)), gaussians, np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> [rows] = both.e_step(np.array([[0.0, 1.0]]), missing=False)
    >>> rows.responsibilities
    array([[0.1],
           [0.9]])
    """

    layout: TableLayout
    gaussians: Components
    probabilities: Array

    def __post_init__(self) -> None:
        if self.probabilities.shape != (self.count, sum(self.layout.sizes)) or not (self.probabilities > 0).all():
            raise ValueError("The probabilities of levels must be positive, one for each component and level.")
        expected = self.probabilities.copy()
        for where in self.layout.slices:
            totals = expected[:, where].sum(axis=1, keepdims=True)
            if not (np.abs(totals - 1.0) <= _ADD_UP).all():
                raise ValueError("The probabilities of the levels of each column must add up to 1.")
            expected[:, where] /= totals
        object.__setattr__(self, "_expected", expected)
        object.__setattr__(self, "_log_probabilities", np.log(self.probabilities))
        object.__setattr__(self, "_marginals", {})

    @classmethod
    def of_numbers(cls, gaussians: Components) -> TableComponents:
        """Return Gaussian components as those of a table of numbers alone."""
        return cls(TableLayout(tuple(range(gaussians.columns))), gaussians, np.empty((gaussians.count, 0)))

    @property
    def count(self) -> int:
        """How many components there are."""
        return self.gaussians.count

    @property
    def columns(self) -> int:
        """How many columns of numbers there are."""
        return self.gaussians.columns

    @property
    def means(self) -> Array:
        """The means of the columns of numbers."""
        return self.gaussians.means

    @property
    def factors(self) -> Array:
        """The factors of the columns of numbers."""
        return self.gaussians.factors

    def e_step(self, block: Array, missing: bool) -> Iterator[EStep]:
        """Yield the rows of a block a few at a time, with responsibilities as in ``Components.e_step``.

        Without `missing`, rows with a NaN belong to no component. What is computed for a row does not depend on where
        in the block it stands, nor on the other rows.
        """
        numbers, codes = self.layout.split(block)
        evidence = self._evidence(codes, missing)
        absent = np.isnan(numbers) & missing
        whole = ~absent.any(axis=1)
        for places in _pieces(np.flatnonzero(whole), self.count * (self.columns + 1)):
            lifted, distances, responsibilities = self.gaussians.e_step(numbers[places], evidence[:, places])
            yield EStep(
                places, codes[places], lifted[:, : 1 + self.columns], distances, responsibilities, None, absent[:0]
            )
        for places, piece in self._with_gaps(numbers, evidence, absent, np.flatnonzero(~whole)):
            lifted = np.ones((self.count, self.columns + 1, len(places)))
            lifted[:, 1:] = piece.whitened.transpose(1, 2, 0)
            lifted[:, :, piece.lost] = 0.0
            responsibilities = np.exp(piece.joint - piece.joint.max(axis=0))
            responsibilities /= responsibilities.sum(axis=0)
            responsibilities = np.where(piece.lost, 0.0, responsibilities)
            yield EStep(places, codes[places], lifted, piece.distances, responsibilities, piece.gaps, piece.patterns)

    def log_density(self, block: Array, missing: bool) -> Array:
        """Return the log density at each row, missing cells integrated out, as (rows,).

        It is without log(2 pi) / 2 for every number that the row has. NaN for rows that belong to no component. As
        with ``e_step``, a row's density depends neither on its place nor on the other rows.
        """
        numbers, codes = self.layout.split(block)
        evidence = self._evidence(codes, missing)
        absent = np.isnan(numbers) & missing
        whole = ~absent.any(axis=1)
        densities = np.empty(len(block))
        densities[whole] = self.gaussians.log_density(numbers[whole], evidence[:, whole])
        for places, piece in self._with_gaps(numbers, evidence, absent, np.flatnonzero(~whole)):
            densities[places] = log_total(piece.joint, piece.lost)
        return densities

    def _with_gaps(
        self, numbers: Array, evidence: Array, absent: NDArray[np.bool_], rest: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], Measured]]:
        """Yield the rows at the places `rest`, which have missing numbers, a few at a time."""
        if not len(rest):
            return
        patterns, gaps = np.unique(absent[rest], axis=0, return_inverse=True)
        gaps = gaps.ravel()
        marginals = [self.marginal(pattern) for pattern in patterns]
        whiteners, bases = (
            np.stack(parts) for parts in zip(*((marginal.whiteners, marginal.basis) for marginal in marginals))
        )
        log_scales = np.stack([marginal.log_scales for marginal in marginals], axis=1)
        for piece in _pieces(np.arange(len(rest)), self.count * max(1, self.columns) ** 2):
            places, which = rest[piece], gaps[piece]
            whitened, distances, joint, lost = self._measure(
                numbers[places], whiteners[which], bases[which], log_scales[:, which] + evidence[:, places]
            )
            yield places, Measured(whitened, distances, joint, lost, which, patterns)

    def _measure(
        self, numbers: Array, whiteners: Array, bases: Array, log_scales: Array
    ) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """Return rows (rows, d) with missing numbers as ``Measured`` has them."""
        with np.errstate(over="ignore", invalid="ignore"):
            known = np.where(np.isnan(numbers), 0.0, 1.0)[:, None, :]
            apart = np.where(known > 0, numbers[:, None, :] - self.means, 0.0)
            y = _products(bases, _products(whiteners, apart))  # The notes say why in this order.
            distances = (y * y).sum(axis=2).T
            lost = ~np.isfinite(distances.sum(axis=0) + log_scales.sum(axis=0))
        distances = np.where(lost, 0.0, distances)
        return y, distances, np.where(lost, 0.0, log_scales) - 0.5 * distances, lost

    def marginal(self, absent: NDArray[np.bool_]) -> Marginal:
        """Return the components in the columns that are not absent."""
        known: dict[bytes, Marginal] = self._marginals  # type: ignore[attr-defined]
        key = absent.tobytes()
        if key not in known:
            basis, upper = np.linalg.qr(self.factors[:, ~absent].transpose(0, 2, 1))
            diagonal = np.einsum("kii->ki", upper)
            # A factor that is singular up to rounding must not raise an error.
            least = np.where(diagonal < 0, -1.0, 1.0) * np.maximum(np.abs(diagonal), np.finfo(float).tiny)
            np.einsum("kii->ki", upper)[:] = least
            known_columns = np.flatnonzero(~absent)
            whiteners, bases = np.zeros_like(self.factors), np.zeros_like(self.factors)
            with np.errstate(over="ignore", invalid="ignore"):
                whiteners[:, known_columns[:, None], known_columns] = np.linalg.solve(
                    upper.transpose(0, 2, 1), np.broadcast_to(np.eye(upper.shape[1]), upper.shape)
                )
            bases[:, :, ~absent] = basis
            beyond = np.eye(self.columns) - basis @ basis.transpose(0, 2, 1)
            log_scales = np.log(self.gaussians.weights) - np.log(np.abs(least)).sum(axis=1)
            known[key] = Marginal(whiteners, bases, beyond, log_scales)
        return known[key]

    def log_joint(self, block: Array, missing: bool, log_units: Array) -> Array:
        """Return log(weight_k density_k) of all rows, (K, rows), missing cells integrated out.

        `log_units` (d,) is the log of how many units of a column one unit of its standard coordinate is.
        """
        numbers, codes = self.layout.split(block)
        joint = self._evidence(codes, missing)
        absent = np.isnan(numbers) & missing
        for pattern in np.unique(absent, axis=0):
            places = (absent == pattern).all(axis=1)
            part = self.marginal(pattern)
            with np.errstate(over="ignore", invalid="ignore"):
                apart = np.where(pattern, 0.0, numbers[places] - self.means[:, None])
                white = apart @ part.whiteners.transpose(0, 2, 1)  # It has the length of the whitened mean.
                distances = np.einsum("krd,krd->kr", white, white)
            constant = part.log_scales - (0.5 * math.log(2 * math.pi) + log_units)[~pattern].sum()
            joint[:, places] += constant[:, None] - 0.5 * distances
        return joint

    def level_sums(self, codes: Codes, responsibilities: Array) -> Array:
        """Return the sum over rows of each component's responsibilities, by level, (K, all levels).

        A missing cell counts as the levels that the component expects.
        """
        sums = np.empty((self.count, self.probabilities.shape[1]))
        expected: Array = self._expected  # type: ignore[attr-defined]
        for j, where in enumerate(self.layout.slices):
            levels = np.arange(where.stop - where.start)
            sums[:, where] = responsibilities @ (codes[:, j, None] == levels).astype(np.float64)
            absent = codes[:, j] < 0
            if absent.any():
                sums[:, where] += responsibilities[:, absent].sum(axis=1, keepdims=True) * expected[:, where]
        return sums

    def _evidence(self, codes: Codes, missing: bool) -> Array:
        """Return the log probability of the rows' levels under each component: cell by cell, so alike at any place."""
        evidence = np.zeros((self.count, len(codes)))
        log_probabilities: Array = self._log_probabilities  # type: ignore[attr-defined]
        for j, where in enumerate(self.layout.slices):
            nothing = np.full((self.count, 1), 0.0 if missing else np.nan)
            # The code of a missing cell is -1, which takes the last column.
            evidence += np.concatenate([log_probabilities[:, where], nothing], axis=1)[:, codes[:, j]]
        return evidence


def _products(matrices: Array, vectors: Array) -> Array:
    """Return matrices (rows, K, d, d) times vectors (rows, K, d).

    It is not a matrix product, whose rounding depends on where a row stands.
    """
    lines = [(matrices[:, :, i] * vectors).sum(axis=2) for i in range(vectors.shape[2])]
    return np.stack(lines, axis=2) if lines else vectors


def _pieces(places: NDArray[np.intp], numbers: int) -> Iterator[NDArray[np.intp]]:
    """Yield places a few at a time, for `numbers` numbers a row: in whole sets of rows, near the processor."""
    few = max(1, CACHE_NUMBERS // (numbers * ROWS_AT_ONCE)) * ROWS_AT_ONCE
    for start in range(0, len(places), few):
        yield places[start : start + few]
