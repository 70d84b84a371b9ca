"""What a private linear regression finds: coefficients, how sure they are, what penalties need. Plain numerics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.linear.input_spread import InputSpread

_MOST_ROUNDS = 2000  # Rounds of coordinate descent.
_TOLERANCE = 1e-12  # Change of coefficients, relative to the largest, at which coordinate descent stops.


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A least-squares fit as far as it is known: squared error is about that of `slopes` plus a quadratic form.

    Parameters
    ----------
    centre : (d,) array
        Where inputs are measured from: their mean, or the origin where there is no intercept.
    level : float
        The prediction at the centre.
    slopes : (d,) array
    covariance : (d, d) array, optional
        Of inputs, about the centre.
    rows : float
    variance : float, optional
        Of residuals.
    errors : (1 + d, 1 + d) array, optional
        Covariance of what level and slopes are off by, by chance and by noise together.
    spread : InputSpread, optional
        Where inputs lie.

    Examples
    --------
    >>> import numpy as np
    >>> fit = LinearFit(np.zeros(2), 1.0, np.array([2.0, 0.1]), np.eye(2), 100.0, 1.0)
    >>> fit.penalise(0.0, 100.0).slopes, fit.penalise(0.5, 0.0).slopes
    (array([1.  , 0.05]), array([1.5, 0. ]))
    """

    centre: Array
    level: float
    slopes: Array
    covariance: Array | None
    rows: float
    variance: float | None
    errors: Array | None = None
    spread: InputSpread | None = None

    @property
    def intercept(self) -> float:
        """The prediction where all inputs are zero."""
        return self.level - float(self.slopes @ self.centre)

    def in_units(self, centre: Array, scale: Array) -> LinearFit:
        """Return the fit in the units of the columns, the target's last, from coordinates (x - centre) / scale."""
        inputs, target = scale[:-1], float(scale[-1])
        units = np.concatenate([[target], target / inputs])
        return LinearFit(
            centre[:-1] + inputs * self.centre,
            float(centre[-1]) + target * self.level,
            self.slopes * units[1:],
            self.covariance * np.outer(inputs, inputs),
            self.rows,
            self.variance * target**2,
            None if self.errors is None else self.errors * np.outer(units, units),
            None if self.spread is None else self.spread.in_units(centre[:-1], inputs),
        )

    def centre_levels(self, groups: Sequence[Sequence[int]]) -> LinearFit:
        """Return the same predictions with slopes that add up to zero in each group of columns, which add up to one.

        Those are the levels of a category: what all of their slopes have in common cannot be told from the intercept.

        Examples
        --------
        >>> fit = LinearFit(np.array([0.5, 0.5]), 100.0, np.array([99.0, 101.0]), np.eye(2), 100.0, 1.0)
        >>> fit.intercept, fit.centre_levels([[0, 1]]).slopes, fit.centre_levels([[0, 1]]).intercept
        (0.0, array([-1.,  1.]), 100.0)
        """
        turn = np.eye(1 + len(self.slopes))
        for group in groups:
            places = 1 + np.asarray(group)
            turn[places[:, None], places] -= 1 / len(places)
            turn[0, places] = (1 - self.centre[group].sum()) / len(places)
        level, *slopes = turn @ np.append(self.level, self.slopes)
        errors = None if self.errors is None else turn @ self.errors @ turn.T
        return replace(self, level=float(level), slopes=np.array(slopes), errors=errors)

    def penalise(self, lasso: float, ridge: float) -> LinearFit:
        """Return the fit with the least squared error / (2 rows) + lasso |slopes|_1 + ridge |slopes|_2^2 / (2 rows).

        What squared error slopes b have beyond that of this fit is (b - slopes)' covariance (b - slopes), per row.
        """
        pull = self.covariance @ self.slopes
        hessian = self.covariance + ridge / self.rows * np.eye(len(pull))
        slopes = np.linalg.solve(hessian, pull) if lasso == 0 else _coordinate_descent(hessian, pull, lasso)
        return replace(self, slopes=slopes, errors=None)

    def standard_errors(self) -> Array:
        """Return the standard errors of the intercept and the slopes, (1 + d,)."""
        if self.errors is None:
            raise ValueError("This fit has no standard errors, because its slopes were penalised.")
        across = np.concatenate([[1.0], -self.centre])
        intercept = math.sqrt(max(float(across @ self.errors @ across), 0.0))
        return np.concatenate([[intercept], np.sqrt(np.diag(self.errors)[1:])])


def _coordinate_descent(hessian: Array, pull: Array, lasso: float) -> Array:
    """Return the b with the least b' hessian b / 2 - <pull, b> + lasso |b|_1, by coordinate descent."""
    slopes = np.zeros(len(pull))
    fitted = np.zeros(len(pull))  # hessian @ slopes
    for _ in range(_MOST_ROUNDS):
        largest = 0.0
        for j, own in enumerate(np.diag(hessian)):
            wanted = pull[j] - fitted[j] + own * slopes[j]
            value = math.copysign(max(abs(wanted) - lasso, 0.0), wanted) / own
            if change := value - slopes[j]:
                fitted += hessian[:, j] * change
                slopes[j] = value
                largest = max(largest, abs(change))
        if largest <= _TOLERANCE * np.abs(slopes).max(initial=_TOLERANCE):
            break
    return slopes
