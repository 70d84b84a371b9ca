"""Components of a table with columns of numbers and columns with levels, some cells of which may be missing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.statistics.components import Array, Components

Codes = NDArray[np.intp]


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


class Group(NamedTuple):
    """Rows of a block that have the same columns of numbers filled in."""

    places: NDArray[np.intp]  # of the rows in the block
    numbers: Array  # (rows, observed columns)
    codes: Codes
    evidence: Array  # (K, rows)
    components: Components  # of the observed columns
    basis: Array | None  # (K, d, observed); None if all columns are
    observed: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TableComponents:
    """A mixture whose components are products: a Gaussian of the numbers, and shares of levels for each other column.

    Parameters
    ----------
    layout : TableLayout
    gaussians : Components
        Weights, and means and factors in the columns of numbers, of which there may be none.
    probabilities : (K, all levels) array
        Positive, the levels of one column after those of the other.

    Notes
    -----
    **Missing numbers.** With o the observed columns, x_o ~ N(mu_o, S_oo). Let L[o]' = Q R (QR decomposition): Q has
    orthonormal columns and S_oo = L[o] L[o]' = R'R, so R' is the factor of the observed columns. In whitened
    coordinates the row's mean given what is observed is L^-1 (E[x | x_o] - mu) = Q R'^-1 (x_o - mu_o) = Q y_o, and its
    covariance is I - QQ', the projection on what Q does not reach. Q is what ``marginal`` calls the basis.

    Examples
    --------
    >>> import numpy as np
    >>> gaussians = Components(np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.full((2, 1, 1), 0.5))
    >>> both = TableComponents(TableLayout((0,), ((1,),)), gaussians, np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> [group] = both.groups(np.array([[0.0, 1.0]]), missing=False)
    >>> group.components.e_step(group.numbers, group.evidence)[2]
    array([[0.1],
           [0.9]])
    """

    layout: TableLayout
    gaussians: Components
    probabilities: Array

    def __post_init__(self) -> None:
        if not (self.probabilities > 0).all():
            raise ValueError("The probabilities of levels must be positive.")
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
        """Of the columns of numbers."""
        return self.gaussians.means

    @property
    def factors(self) -> Array:
        """Of the columns of numbers."""
        return self.gaussians.factors

    def groups(self, block: Array, missing: bool) -> Iterator[Group]:
        """Yield the rows of a block, those together that have the same numbers observed.

        Without `missing`, all rows are one group, and those with a NaN will belong to no component.
        """
        numbers, codes = self.layout.split(block)
        evidence = self._evidence(codes, missing)
        absent = np.isnan(numbers)
        everything = np.arange(len(block))
        if not missing or not absent.any():
            yield Group(everything, numbers, codes, evidence, self.gaussians, None, np.ones(self.columns, dtype=bool))
            return
        patterns, group = np.unique(absent, axis=0, return_inverse=True)
        for index, pattern in enumerate(patterns):
            places = everything[group.ravel() == index]
            components, basis = self.marginal(~pattern)
            seen = numbers[np.ix_(places, np.flatnonzero(~pattern))]
            yield Group(places, seen, codes[places], evidence[:, places], components, basis, ~pattern)

    def marginal(self, observed: NDArray[np.bool_]) -> tuple[Components, Array | None]:
        """Return the components of the observed columns, and the basis that takes their coordinates to all columns'."""
        if observed.all():
            return self.gaussians, None
        key = observed.tobytes()
        known: dict[bytes, tuple[Components, Array]] = self._marginals  # type: ignore[attr-defined]
        if key not in known:
            basis, upper = np.linalg.qr(self.factors[:, observed].transpose(0, 2, 1))
            diagonal = np.einsum("kii->ki", upper)
            signs = np.where(diagonal < 0, -1.0, 1.0)
            upper = upper * signs[:, :, None]
            # A factor of rank less than full, up to rounding, must not raise where others do not.
            np.einsum("kii->ki", upper)[:] = np.maximum(np.abs(diagonal), np.finfo(float).tiny)
            part = Components(self.gaussians.weights, self.means[:, observed], upper.transpose(0, 2, 1))
            known[key] = part, basis * signs[:, None, :]
        return known[key]

    def log_joint(self, block: Array, missing: bool, log_units: Array) -> Array:
        """Return log(weight_k density_k) of all rows, (K, rows), missing cells integrated out.

        `log_units` (d,) is the log of how many units of a column one unit of its standard coordinate is.
        """
        joint = np.empty((self.count, len(block)))
        for group in self.groups(block, missing):
            y = group.components.whiten(group.numbers)[:, 1:]
            constant = -0.5 * math.log(2 * math.pi) * y.shape[1] - log_units[group.observed].sum()
            distances = np.einsum("kdr,kdr->kr", y, y)
            joint[:, group.places] = group.components.log_joint(distances) + group.evidence + constant
        return joint

    def level_sums(self, codes: Codes, shares: Array) -> Array:
        """Return the sum over rows of each component's share of them, by level, (K, all levels).

        A missing cell counts as the levels that the component expects.
        """
        sums = np.empty((self.count, self.probabilities.shape[1]))
        for j, where in enumerate(self.layout.slices):
            levels = np.arange(where.stop - where.start)
            sums[:, where] = shares @ (codes[:, j, None] == levels).astype(np.float64)
            absent = codes[:, j] < 0
            if absent.any():
                sums[:, where] += shares[:, absent].sum(axis=1, keepdims=True) * self.probabilities[:, where]
        return sums

    def _evidence(self, codes: Codes, missing: bool) -> Array:
        """Return the log probability of the rows' levels under each component: cell by cell, so alike at any place."""
        evidence = np.zeros((self.count, len(codes)))
        log_probabilities: Array = self._log_probabilities  # type: ignore[attr-defined]
        for j, where in enumerate(self.layout.slices):
            nothing = np.full((self.count, 1), 0.0 if missing else np.nan)
            # -1, a missing cell, takes the last.
            evidence += np.concatenate([log_probabilities[:, where], nothing], axis=1)[:, codes[:, j]]
        return evidence
