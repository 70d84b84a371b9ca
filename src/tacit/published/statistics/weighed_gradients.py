"""Gradients of row functions that stay the same: losses of linear predictions, weighed by inputs alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Relation
from tacit.release.statistic import Norm, Statistic
from tacit.rounding import LONG_ROW_SLACK, UNIT_ROUNDOFF
from tacit.statistics.loss_gradients import finite, linear, measure_rows
from tacit.statistics.losses import ProvenLoss
from tacit.statistics.ranges import check_sizes

_APART = 2.0**-12  # Second derivatives are differences of slopes at predictions this far to both sides.


@dataclass(frozen=True, eq=False)
class WeighedGradients:
    """Sums of gradients of convex functions of coefficients, one for each row, for :class:`tacit.release.Minimum`.

    A row (x, target) has z = (intercept, x), and the function w loss(<beta_k, z>, target), with the weight
    w = min(1, (radius / |z|)^2). Such a weight bounds gradients *and* curvatures, and depends on inputs alone: the
    function is convex wherever the loss is, and has no bias where the model is right.

    Parameters
    ----------
    loss : LogisticLoss, SoftmaxLoss, SmoothedHingeLoss or HuberLoss
        A loss whose convexity, largest slope and largest curvature are proved, and not only declared. The proofs about
        minima rest on them.
    coefficients : (K, 1 + d) array
        beta, intercepts first.
    radius : float
        Inputs that are longer than this have a smaller weight.
    intercept : float, default 1
        The number in front of x; 0 leaves intercepts out.

    Notes
    -----
    Write L for the longest slope, V for the radius. w |z| <= V and w |z|^2 <= V^2 for all z. A gradient w s z' is no
    longer than L V, and slopes are shortened to L should a loss be wrong about that. **add_remove**: L V in l2, and in
    l1 sqrt(p) times as much for p coefficients. **replace_one**: twice that. A row that is left out (see
    :class:`LossGradients`) has the function 0.

    *Curvature.* Second derivatives are w loss'' (x) z z', of norm at most smoothness V^2. With one prediction a row's
    gradients all lie along z.

    *Rounding*, with u = 2^-53. The weight, as computed, is the weight. A prediction is off by at most
    (d + 2) u |beta| |z|, the slope by smoothness times that and by some 64 u (L + smoothness) of its own, products by
    u w |z| L: in all, (d + 8) u smoothness V^2 |beta| + (64 + 8 K) u (L + smoothness) V.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.linear import LogisticLoss
    >>> gradients = WeighedGradients(LogisticLoss(), np.zeros((1, 2)), radius=2.0)
    >>> gradients.block_sum(np.array([[1.0, 1.0], [3.0, 0.0]]))
    array([-0.3,  0.1])
    >>> gradients.sensitivity("add_remove"), gradients.curvature
    (2.00000000002, 1.00000000001)
    """

    loss: ProvenLoss
    coefficients: Array
    radius: float
    intercept: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.loss, ProvenLoss):
            raise TypeError(
                f"A {type(self.loss).__name__} is convex by declaration alone, and minima need a loss that is proven: "
                "LogisticLoss, SoftmaxLoss, SmoothedHingeLoss or HuberLoss."
            )
        check_sizes("radius", self.radius)
        check_sizes("intercept", self.intercept, or_zero=True)
        check_sizes("The longest slope of the loss", self.loss.lipschitz)

    def at(self, parameters: Array) -> WeighedGradients:
        """Return the gradients at other parameters, given as one vector."""
        return replace(self, coefficients=parameters.reshape(self.coefficients.shape))

    @property
    def size(self) -> int:
        """How many numbers the sum has."""
        return int(self.coefficients.size)

    @property
    def curvature(self) -> float:
        """The most that one row's function bends."""
        return LONG_ROW_SLACK * float(self.loss.smoothness * self.radius**2)

    @property
    def linear(self) -> bool:
        """Whether rows have functions of one linear prediction each, with two continuous derivatives."""
        return self.loss.outputs == 1 and self.loss.twice_smooth

    def error(self, length: float) -> float:
        """Return how far off a row's gradient is, as computed at coefficients no longer than `length`."""
        loss, outputs = self.loss, len(self.coefficients)
        by_prediction = (self.coefficients.shape[1] + 7) * loss.smoothness * self.radius**2 * length
        own = (64 + 8 * outputs) * (loss.lipschitz + loss.smoothness) * self.radius
        return LONG_ROW_SLACK * UNIT_ROUNDOFF * float(by_prediction + own)

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        """Return the bound proved in the notes."""
        row = LONG_ROW_SLACK * self.loss.lipschitz * self.radius
        row *= math.sqrt(self.size) if norm == "l1" else 1.0
        return 2 * row if neighbors == "replace_one" else row

    def second_derivatives(self, total: Callable[[Statistic], Array]) -> Array:
        """Return an estimate of the sum of all rows' second derivatives, by differences of slopes."""
        product = total(_SecondDerivatives(self)).reshape(self.size, self.size) / _SecondDerivatives(self).unit
        values, axes = np.linalg.eigh((product + product.T) / 2)
        positive: Array = (axes * np.maximum(values, 0.0)) @ axes.T
        return positive

    def block_sum(self, block: Array) -> Array:
        """Return the sum over the rows of a block."""
        with np.errstate(all="ignore"):
            x, predictions, targets, weights = self.weigh(block)
            slopes = finite(self.loss.derivatives(predictions, targets)[0])
            lengths2 = np.maximum((slopes * slopes).sum(axis=0), self.loss.lipschitz**2)
            slopes = slopes * (weights * (self.loss.lipschitz / np.sqrt(lengths2)))
            gradient = np.empty(self.coefficients.shape)
            gradient[:, 0] = self.intercept * slopes.sum(axis=1)
            np.matmul(slopes, x.T, out=gradient[:, 1:])
            return gradient.ravel()

    def weigh(self, block: Array) -> tuple[Array, Array, Array, Array]:
        """Return inputs (d, rows), predictions (K, rows), targets and weights."""
        x, targets, squares, there = measure_rows(block)
        weights = there / np.maximum((squares + self.intercept * self.intercept) / self.radius**2, 1.0)
        return x, linear(self.coefficients, x, self.intercept), targets, weights


@dataclass(frozen=True, eq=False)
class _SecondDerivatives:
    """Sums of w loss'' (x) z z', scaled to the length of the longest gradient. A search uses them and tells none."""

    gradients: WeighedGradients

    @property
    def size(self) -> int:
        return self.gradients.size**2

    @property
    def unit(self) -> float:
        return self.gradients.sensitivity("add_remove") / self.gradients.curvature

    def sensitivity(self, neighbors: Relation, norm: Norm = "l2") -> float:
        return 2 * self.gradients.sensitivity("add_remove") * (self.gradients.size if norm == "l1" else 1)

    def block_sum(self, block: Array) -> Array:
        loss = self.gradients.loss
        with np.errstate(all="ignore"):
            x, predictions, targets, weights = self.gradients.weigh(block)
            z = np.concatenate([np.full((1, x.shape[1]), self.gradients.intercept), x])
            factors = weights * (self.unit / (2 * _APART))
            total = np.empty((loss.outputs, len(z), loss.outputs, len(z)))
            for k, side in enumerate(_APART * np.eye(loss.outputs)[:, :, None]):
                around = [finite(loss.derivatives(predictions + way * side, targets)[0]) for way in (-1.0, 1.0)]
                for j, change in enumerate(factors * (around[1] - around[0])):
                    total[j, :, k] = (change * z) @ z.T
            return total.ravel()
