"""Scores of a regression whose inputs are partly missing: what EM expects them to be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.statistics.components import Components
from tacit.statistics.row_vectors import RowVectors
from tacit.statistics.table_components import TableComponents


@dataclass(frozen=True, eq=False)
class MissingScores:
    """Regression of the last column on the others, missing cells integrated out, as a :class:`VectorModel`.

    All columns together are Gaussian, z = mean + factor (u, e): u are the inputs, made white, and e is the residual in
    units of its scale, as the target is the last column and the factor is lower triangular. A complete row has the
    scores e (1, u), of the coefficients, and (e^2 - 1) / sqrt(2), of the logarithm of the scale times sqrt(2): together
    with mean 0 and covariance 1 if the model is right. Of a row with missing cells they are what they are expected to
    be given the cells that are there, E[e (1, u)] = E[e] (1, E[u]) + (0, Cov(e, u)) and E[e^2] = E[e]^2 + Var(e). So
    they are the scores of what is observed, and their second moment is its information.

    Parameters
    ----------
    mean : (1 + d,) array
    factor : (1 + d, 1 + d) array
        Lower-triangular, with a positive diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> scores = MissingScores(np.zeros(2), np.array([[1.0, 0.0], [2.0, 1.0]]))
    >>> scores.e_step(np.array([[1.0, 3.0], [np.nan, 3.0]]))[0][0, 1:].round(3)
    array([[1.   , 0.6  ],
           [1.   , 0.32 ],
           [0.   , 0.113]])
    """

    mean: Array
    factor: Array

    count = 1

    def __post_init__(self) -> None:
        table = TableComponents.of_numbers(Components(np.ones(1), self.mean[None], self.factor[None]))
        object.__setattr__(self, "_table", table)

    @property
    def columns(self) -> int:
        """How many numbers a score has."""
        return 1 + len(self.mean)

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, scores) as (1, 3 + d, rows), their squared lengths (1, rows) and weights (1, rows): 1 or 0.

        What is computed for a row depends neither on its place nor on the other rows; see ``TableComponents.e_step``.
        """
        table: TableComponents = self._table  # type: ignore[attr-defined]
        lifted = np.zeros((1, 1 + self.columns, len(block)))
        weights = np.zeros((1, len(block)))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in table.e_step(block, missing=True):
                white = rows.lifted[0]  # These are 1, u and e, as expected given the row.
                scores = white[-1] * white
                scores[-1] -= 1.0
                if rows.gaps is not None:
                    together = np.stack([table.marginal(pattern).beyond[0, -1] for pattern in rows.patterns])
                    scores[1:] += together[rows.gaps].T
                scores[-1] /= math.sqrt(2.0)
                lifted[0, 1:, rows.places] = scores.T
                weights[0, rows.places] = rows.responsibilities[0]
            lengths = np.zeros(len(block))
            for scores in lifted[0, 1:]:  # A fixed order, however few rows there are.
                lengths += scores * scores
        lost = ~np.isfinite(lengths) | (weights[0] == 0)
        lifted[0, 0] = 1.0
        lifted[:, :, lost] = 0.0
        lengths[lost] = 0.0
        weights[:, lost] = 0.0
        return RowVectors(lifted, lengths[None], weights)
