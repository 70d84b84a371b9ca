"""Gradients of losses of linear predictions, row by row, bounded: the statistic behind private classification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.row_maps import pad_rows
from tacit.release.statistic import Norm
from tacit.rounding import ROW_SLACK
from tacit.statistics.ranges import LEAST, check_sizes

_LARGEST = 1e100  # Products of larger numbers may overflow.


class PredictionLoss(Protocol):
    """A convex loss of K linear predictions and a target.

    What is computed for a row must depend on that row's predictions and target alone. Nothing else is taken on trust:
    gradients and curvatures are brought inside their bounds whatever the loss returns.
    """

    @property
    def outputs(self) -> int:
        """How many predictions a row has, K."""

    @property
    def smoothness(self) -> float:
        """The largest curvature there is."""

    def derivatives(self, predictions: Array, targets: Array) -> tuple[Array, Array, Array]:
        """Return slopes, steepest slopes and curvatures, from predictions (K, rows) and targets (rows,).

        Slopes (K, rows) are derivatives by the predictions; the steepest (rows,) are the lengths of the longest slope
        that any target could have there; curvatures (rows,) are second derivatives, averaged over the K predictions.
        """


@dataclass(frozen=True, eq=False)
class LossGradients:
    """Sums of gradients of a loss of linear predictions, each in the unit ball; and of curvatures.

    A row (x, target) has z = (intercept, x), predictions <beta_k, z>, the slope s of the loss there, and the gradient
    s z'. It contributes w s z' / radius with a weight w in [0, 1], for which the gradient would be no longer than
    `radius` *whatever the target*: w = radius / (|z| steepest slope), if that is below 1. Such weights depend on inputs
    alone, so where the model is right they leave the mean gradient at the truth at zero, which shortening gradients
    does not; and they take from those rows that have least to tell, the ones a model is sure of. If `curvature` is not
    0, that weight times w times the row's curvature, over the largest there is, stands in front.

    With an `anchor`, the slope is that at beta less that at the anchor, and gradients are shortened to the radius.

    Parameters
    ----------
    loss : PredictionLoss
    coefficients : (K, 1 + d) array
        beta, intercepts first; public or private already.
    radius : float
        The clip radius of gradients.
    curvature : float, default 0
        The weight of the mean curvature; 0 leaves it out.
    intercept : float, default 1
        The number in front of x; 0 leaves intercepts out, and their gradients are 0.
    anchor : (K, 1 + d) array, optional
        Coefficients whose slopes are subtracted; public or private already.

    Notes
    -----
    Write v for `curvature`, and g, c for a row's parts. The weight is computed with the larger of the steepest slope
    and the row's own, so that |g| <= 1 whatever the loss says of itself; and 0 <= c <= v. **add_remove**: at most
    sqrt(1 + v^2) in l2; in l1 sqrt(p) + v for p coefficients, by Cauchy-Schwarz. **replace_one**: |g - g'| <= 2 and
    |c - c'| <= v: at most sqrt(4 + v^2) in l2, 2 sqrt(p) + v in l1. A row that is left out counts as g = 0, c = 0. Rows
    are left out that hold NaN, or whose squares, or target, are over 1e100.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.linear import LogisticLoss
    >>> gradients = LossGradients(LogisticLoss(), np.zeros((1, 2)), radius=1.0)
    >>> gradients.gradient(gradients.block_sum(np.array([[1.0, 1.0], [-0.5, 0.0]])))
    array([[ 0.  , -0.75]])
    >>> gradients.sensitivity("add_remove"), gradients.sensitivity("replace_one")
    (1.000000000001, 2.000000000002)
    """

    loss: PredictionLoss
    coefficients: Array
    radius: float
    curvature: float = 0.0
    intercept: float = 1.0
    anchor: Array | None = None

    def __post_init__(self) -> None:
        for coefficients in (self.coefficients, self.anchor):
            if coefficients is None:
                continue
            if coefficients.ndim != 2 or len(coefficients) != self.loss.outputs or not np.isfinite(coefficients).all():
                raise ValueError(
                    f"coefficients must be finite numbers, in {self.loss.outputs} row(s) of one prediction."
                )
        check_sizes("radius", self.radius)
        check_sizes("curvature", self.curvature, or_zero=True)
        check_sizes("intercept", self.intercept, or_zero=True)
        if self.curvature:
            check_sizes("The smoothness of the loss", self.loss.smoothness)

    @property
    def size(self) -> int:
        """How many numbers are released."""
        return int(self.coefficients.size) + (self.curvature > 0)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes."""
        row = math.sqrt(self.coefficients.size) if norm == "l1" else 1.0
        if neighbors == "replace_one":
            row *= 2
        return ROW_SLACK * (row + self.curvature if norm == "l1" else math.hypot(row, self.curvature))

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        with np.errstate(all="ignore"):
            return self._block_sum(block)

    def _block_sum(self, block: Array) -> Array:
        x, targets, squares, there = measure_rows(block)
        predictions = linear(self.coefficients, x, self.intercept)
        slopes, steepest, curvatures = (finite(each) for each in self.loss.derivatives(predictions, targets))
        if self.anchor is not None:
            slopes = slopes - finite(self.loss.derivatives(linear(self.anchor, x, self.intercept), targets)[0])
        steepness = np.abs(slopes[0]) if len(slopes) == 1 else np.sqrt((slopes * slopes).sum(axis=0))
        if self.anchor is None:
            np.maximum(steepness, steepest, out=steepness)
        # Now it is the length of the longest gradient. Squares that underflow must not hide a row with a huge slope.
        steepness *= np.sqrt(np.maximum(squares, LEAST) + self.intercept * self.intercept)
        weights = np.divide(
            there, np.maximum(steepness, self.radius, out=steepness), out=steepness
        )  # It is w / radius.
        slopes = slopes * weights
        gradient = np.empty(self.coefficients.shape)
        gradient[:, 0] = self.intercept * slopes.sum(axis=1)
        np.matmul(slopes, x.T, out=gradient[:, 1:])
        if not self.curvature:
            return gradient.ravel()
        curvatures = np.clip(curvatures, 0.0, self.loss.smoothness)
        total = self.curvature * self.radius / self.loss.smoothness * float(weights @ curvatures)
        return np.append(total, gradient)

    def gradient(self, total: Array) -> Array:
        """Return the gradients (K, 1 + d) of a (noisy) total."""
        gradients: Array = (total[int(self.curvature > 0) :] * self.radius).reshape(self.coefficients.shape)
        return gradients

    def total_curvature(self, total: Array) -> float:
        """Return the sum of curvatures of a (noisy) total."""
        if not self.curvature:
            raise ValueError("The total holds no curvature: its weight is 0.")
        return float(total[0] * self.loss.smoothness / self.curvature)


def linear(coefficients: Array, x: Array, intercept: float) -> Array:
    """Return the linear predictions (K, rows) of x (d, rows)."""
    predictions: Array = coefficients[:, 1:] @ x
    predictions += intercept * coefficients[:, :1]
    return predictions


def measure_rows(block: Array) -> tuple[Array, Array, Array, Array]:
    """Return x (d, rows), targets, squared lengths of x, and which rows are there, as 0 or 1.

    The block is padded, see ``pad_rows``. Rows that cannot be measured are not there, and zero.
    """
    columns = pad_rows(block.T)
    there = np.ones(columns.shape[1])
    there[len(block) :] = 0.0
    squares: Array = np.einsum("dr,dr->r", columns[:-1], columns[:-1])
    lost: NDArray[np.bool_] = ~((squares < _LARGEST) & (np.abs(columns[-1]) < _LARGEST))
    if lost.any():
        columns = np.where(lost, 0.0, columns)
        squares[lost] = there[lost] = 0.0
    return columns[:-1], columns[-1], squares, there


def finite(values: Array) -> Array:
    """Return the numbers with 1e100 in place of infinity and 0 in place of NaN.

    If the squares of finite numbers overflow, the weight of the row becomes 0.
    """
    if np.isfinite(values.sum()):
        return values
    finite: Array = np.nan_to_num(values, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)
    return finite
