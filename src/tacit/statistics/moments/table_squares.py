"""Squared deviations of a table's numbers in public coordinates, missing ones as expected."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.statistics.moments.component_squares import SquaredDeviations
from tacit.statistics.table_components import TableComponents


@dataclass(frozen=True, eq=False)
class TableSquares(SquaredDeviations):
    """Squared deviations from the mean, for each column of numbers and component, in coordinates from -1 to 1.

    Row x with responsibilities r_k contributes r_k min(s_kj, 1) / sqrt(d) for all k and j, where s_kj is the squared
    deviation (x_j - mu_kj)^2, or, if the cell is missing, what component k expects of it given the row's other numbers.

    Parameters
    ----------
    components : TableComponents
        The current, already private parameters, with at least one column of numbers.
    missing : bool
        Whether missing cells are modelled. If not, rows that have some contribute nothing.

    Notes
    -----
    An expected square is not negative, so min(s_kj, 1) is from 0 to 1 in any case, and the proof is that of
    :class:`ComponentSquares`: for each k the d numbers min(s_kj, 1) / sqrt(d) have length at most 1, responsibilities
    add up to at most 1, hence |t| <= 1 (**add_remove**); contributions have no negative entries, so
    |t - t'|^2 <= |t|^2 + |t'|^2 <= 2 (**replace_one**); **l1**: sqrt(d), and twice that for a replaced row. What is not
    a number, by overflow, counts as 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import Components, TableComponents, TableLayout
    >>> one = Components(np.ones(1), np.array([[0.0, 0.5]]), 0.5 * np.eye(2)[None])
    >>> squares = TableSquares(TableComponents(TableLayout((0, 1)), one, np.empty((1, 0))), missing=True)
    >>> squares.parts(squares.block_sum(np.array([[0.5, -1.0], [0.1, np.nan]]))).round(2)
    array([[0.26, 1.25]])
    """

    components: TableComponents
    missing: bool = False

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        total = np.zeros((self.components.count, self.components.columns))
        numbers = self.components.layout.split(block)[0]
        factors, means = self.components.factors, self.components.means
        for rows in self.components.e_step(block, self.missing):
            kept = np.where(
                rows.responsibilities.sum(axis=0)[:, None] > 0, numbers[rows.places], 0.0
            )  # NaN times 0 is NaN.
            with np.errstate(over="ignore", invalid="ignore"):
                for k, mean in enumerate(means):
                    squares = (kept - mean) ** 2
                    if rows.gaps is not None:
                        # A matrix product would round a row by where it stands.
                        expected = (rows.lifted[k, 1:, None] * factors[k].T[:, :, None]).sum(axis=0).T
                        more = np.stack([self._scatter(k, pattern) for pattern in rows.patterns])[rows.gaps]
                        squares = np.where(np.isnan(kept), expected**2 + more, squares)
                    total[k] += rows.responsibilities[k] @ np.where(np.isnan(squares), 1.0, np.minimum(squares, 1.0))
        return total.ravel() / math.sqrt(self.components.columns)

    def _scatter(self, k: int, pattern: NDArray[np.bool_]) -> Array:
        """Return the variances (d,) in component k of what is missing, given what is not; 0 for the latter."""
        factor, beyond = self.components.factors[k], self.components.marginal(pattern).beyond[k]
        variances: Array = np.einsum("ij,jl,il->i", factor, beyond, factor)
        return np.maximum(0.0, variances)
