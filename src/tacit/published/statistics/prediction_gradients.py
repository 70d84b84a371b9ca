"""Gradients of losses as they are, and a choice of rows' values: what :class:`tacit.statistics.RobustSum` sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.statistics.loss_gradients import PredictionLoss, linear, measure_rows
from tacit.statistics.robust.robust_sum import RowValues


@dataclass(frozen=True, eq=False)
class PredictionGradients:
    """Gradients of a loss of linear predictions, row by row, as they are: values for :class:`RobustSum`.

    Parameters
    ----------
    loss : PredictionLoss
    coefficients : (K, 1 + d) array
        Intercepts first; public or private already.
    intercept : float, default 1
        The number in front of x; 0 leaves intercepts out, and there are K d gradients then.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics.losses import SquaredLoss
    >>> gradients = PredictionGradients(SquaredLoss(), np.array([[1.0, 2.0]]))
    >>> gradients(np.array([[1.0, 2.5], [3.0, 7.5]]))
    array([[ 0.5,  0.5],
           [-0.5, -1.5]])
    """

    loss: PredictionLoss
    coefficients: Array
    intercept: float = 1.0

    @property
    def size(self) -> int:
        """How many gradients a row has."""
        outputs, wide = self.coefficients.shape
        return int(outputs * (wide - (self.intercept == 0)))

    def __call__(self, block: Array) -> Array:
        """Return the gradients of a block; NaN in all columns for rows that :class:`LossGradients` leaves out too."""
        x, targets, _, there = measure_rows(block)
        slopes = self.loss.derivatives(linear(self.coefficients, x, self.intercept), targets)[0]
        inputs = x if self.intercept == 0 else np.vstack([np.full(x.shape[1], self.intercept), x])
        gradients: Array = (slopes[:, None] * inputs).reshape(self.size, -1)
        gradients[:, there == 0] = np.nan
        return gradients[:, : len(block)].T

    def among_all(self, gradients: Array) -> Array:
        """Return a (noisy) sum or mean of gradients as (K, 1 + d), zero for intercepts that are left out."""
        rows = gradients.reshape(len(self.coefficients), -1)
        return rows if self.intercept else np.column_stack([np.zeros(len(rows)), rows])


@dataclass(frozen=True, eq=False)
class SomeValues:
    """Some of the values of rows: those of columns that were chosen, say.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.statistics import ScreeningValues
    >>> values = SomeValues(ScreeningValues("association", np.zeros(3), unit=2.0, target=4.0), (1,))
    >>> values(np.array([[0.5, 0.25, 1.0]]))
    array([[0.125]])
    """

    values: RowValues
    places: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many values a row has."""
        return len(self.places)

    def __call__(self, block: Array) -> Array:
        """Return the values of a block, (rows, size)."""
        return np.take(self.values(block), self.places, axis=1)
