"""A user's own loss, checked: convex, and as steep and as curved as it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.messages import describe

_TRIALS = 512  # Random predictions and targets that a loss is checked on.
_DIFFERENCE = 1e-4  # Step of the numerical derivative.
_TOLERANCE = 1e-6  # Relative error that the check allows.


@dataclass(frozen=True)
class ConvexLoss:
    """A loss of one prediction and a target, by its value and its slope.

    Both are functions of two vectors, predictions and targets, that return a vector; what they return for a row must
    depend on that row alone. What is declared is checked on random numbers when the loss is made. A wrong declaration
    that the check does not find costs accuracy and no privacy: gradients are bounded whatever the slope returns.

    Parameters
    ----------
    value, slope : callable
        Of (predictions, targets). The slope is the derivative by the prediction.
    lipschitz : float
        The largest slope.
    smoothness : float
        By how much the slope changes at most, per unit of the prediction.
    reach : float, default 10
        How large predictions and targets are that the check tries.

    Examples
    --------
    >>> import numpy as np
    >>> log_cosh = ConvexLoss(
    ...     value=lambda p, t: np.logaddexp(p - t, t - p),
    ...     slope=lambda p, t: np.tanh(p - t),
    ...     lipschitz=1.0,
    ...     smoothness=1.0,
    ... )
    >>> ConvexLoss(log_cosh.value, log_cosh.slope, lipschitz=0.5, smoothness=1.0)
    Traceback (most recent call last):
        ...
    ValueError: The slope of the loss exceeds 0.5, what was declared as lipschitz; declare its largest value.
    """

    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    lipschitz: float
    smoothness: float
    reach: float = 10.0

    outputs = 1
    redundant = False

    def __post_init__(self) -> None:
        for name in ("lipschitz", "smoothness", "reach"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive and finite, and it is {describe(getattr(self, name))}.")
        rng = np.random.default_rng(0)
        predictions, others, targets = rng.uniform(-self.reach, self.reach, (3, _TRIALS))
        slopes = self._vector(self.slope, predictions, targets)
        most = 1 + _TOLERANCE
        if (np.abs(slopes) > most * self.lipschitz).any():
            raise ValueError(
                f"The slope of the loss exceeds {self.lipschitz:g}, what was declared as lipschitz; declare its "
                "largest value."
            )
        change, apart = self._vector(self.slope, others, targets) - slopes, others - predictions
        if (change * apart < -_TOLERANCE * np.abs(apart)).any():
            raise ValueError("The loss is not convex: its slope falls somewhere as the prediction grows.")
        if (np.abs(change) > most * self.smoothness * np.abs(apart) + _TOLERANCE).any():
            raise ValueError(
                f"The slope of the loss changes by more than {self.smoothness:g} per unit of the prediction, what was "
                "declared as smoothness; declare the most it changes by."
            )
        values = [self._vector(self.value, predictions + side, targets) for side in (-_DIFFERENCE, _DIFFERENCE)]
        if (np.abs((values[1] - values[0]) / (2 * _DIFFERENCE) - slopes) > self.smoothness * _DIFFERENCE + 1e-5).any():
            raise ValueError("The slope of the loss is not the derivative of its value.")
        some = slice(_TRIALS // 3, None, -1)  # Fewer rows, backwards.
        if not np.allclose(self._vector(self.slope, predictions[some], targets[some]), slopes[some], 1e-12, 1e-12):
            raise ValueError("The slope of a row depends on the rows around it; it must be that of the row alone.")

    @staticmethod
    def _vector(function: Callable[[Array, Array], Array], predictions: Array, targets: Array) -> Array:
        found = np.asarray(function(predictions, targets), dtype=np.float64)
        if found.shape != predictions.shape or not np.isfinite(found).all():
            raise ValueError("value and slope of a loss must return one finite number for each row.")
        return found

    def derivatives(self, predictions: Array, targets: Array) -> tuple[Array, Array, Array]:
        """Return slopes, what was declared as their longest, and curvatures.

        These are differences of slopes over as far as it takes for a slope to grow to its longest, and as far back: at
        a point alone, some losses have none almost everywhere.
        """
        apart = self.lipschitz / self.smoothness
        around = [np.asarray(self.slope(predictions[0] + side, targets)) for side in (-apart, apart)]
        curvatures = (around[1] - around[0]) / (2 * apart)
        steepest = np.full(predictions.shape[1], self.lipschitz)
        return np.asarray(self.slope(predictions[0], targets), dtype=np.float64)[None], steepest, curvatures

    def expected_curvature(self, predictions: Array) -> Array:
        """Return half of the largest curvature: what there is, is measured."""
        return np.full((1, 1, predictions.shape[1]), self.smoothness / 2)
