"""What a linear model finds: coefficients, how sure they are and where inputs lie; predictions, and how files hold it.

Plain numerics on private values.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import check_shapes
from tacit.messages import describe

_MOST_ROUNDS = 2000  # Rounds of coordinate descent.
_TOLERANCE = 1e-12  # Change of coefficients, relative to the largest, at which coordinate descent stops.


@dataclass(frozen=True, eq=False)
class InputSpread:
    """Means and standard deviations (d,) of inputs: private, as they follow from releases.

    Examples
    --------
    >>> import numpy as np
    >>> spread = InputSpread(np.array([1.0]), np.array([2.0]))
    >>> InputSpread.restored(spread.stored(), 1).deviations
    array([2.])
    """

    means: Array
    deviations: Array

    def in_units(self, centre: Array, scale: Array) -> InputSpread:
        """Return the same in the units of rows that are centre + scale * what it is measured in."""
        return InputSpread(centre + scale * self.means, scale * self.deviations)

    def stored(self) -> dict[str, Any]:
        """Return them as JSON has them."""
        return {"means": self.means.tolist(), "deviations": self.deviations.tolist()}

    @classmethod
    def restored(cls, values: dict[str, Any] | None, columns: int) -> InputSpread | None:
        """Return what `stored` gave for so many inputs; None, where nothing was measured, stays None."""
        if values is None:
            return None
        spread = cls(np.array(values["means"], float), np.array(values["deviations"], float))
        check_shapes(means=(spread.means, (columns,)), deviations=(spread.deviations, (columns,)))
        if (spread.deviations < 0).any():
            raise ValueError("standard deviations must not be negative")
        return spread


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
    target_range : (float, float), optional
        The range of targets, as far as it is seen beside noise. Predictions are kept within it.

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
    target_range: tuple[float, float] | None = None

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
            self.target_range and tuple(float(centre[-1]) + target * end for end in self.target_range),
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


@dataclass(frozen=True, eq=False)
class CoefficientIntervals:
    """Standard errors and intervals of coefficients, in the units of the rows.

    They are for the coefficients that least squares, or maximum likelihood, would have on the population that the rows
    are a sample of.

    Attributes
    ----------
    level : float
        How often intervals should hold the truth.
    coef : (n_features, 2) or (n_classes, n_features, 2) array
        Lower and upper ends.
    intercept : (2,) or (n_classes, 2) array
    coef_errors, intercept_errors : arrays
        Standard errors, of sampling and of noise, in the shapes of ``coef_`` and ``intercept_``.
    """

    level: float
    coef: Array
    intercept: Array
    coef_errors: Array
    intercept_errors: Array

    @classmethod
    def normal(
        cls, coef: Array, intercept: Any, coef_errors: Array, intercept_errors: Any, level: float
    ) -> CoefficientIntervals:
        """Return intervals of a normal law, from standard errors.

        Examples
        --------
        >>> CoefficientIntervals.normal(np.array([1.0]), 0.0, np.array([0.1]), 0.2, 0.9).coef.round(2)
        array([[0.84, 1.16]])
        """
        if not isinstance(level, numbers.Real) or not 0 < level < 1:
            raise ValueError(f"level must be a number between 0 and 1, such as 0.9, and it is {describe(level)}.")
        reach = float(ndtri(0.5 + level / 2)) * np.array([-1.0, 1.0])

        def ends(middle: Any, error: Any) -> Array:
            return np.asarray(middle)[..., None] + np.asarray(error)[..., None] * reach

        found = ends(coef, coef_errors), ends(intercept, intercept_errors)
        return cls(float(level), *found, coef_errors, np.asarray(intercept_errors))


def linear_predictions(estimator: Any, X: Any) -> Array:
    """Return the predictions (rows, K) of rows."""
    check_is_fitted(estimator)
    beta = estimator._coefficients
    return np.concatenate([beta[:, 0] + block @ beta[:, 1:].T for block in estimator._standard_blocks(X)])


def stored_predictor(estimator: Any) -> dict[str, Any]:
    """Return coefficients and where inputs lie, as JSON has them."""
    inputs = None if estimator._spread is None else estimator._spread.stored()
    return {"coefficients": estimator._coefficients.tolist(), "inputs": inputs}


def restore_predictor(estimator: Any, stored: dict[str, Any], outputs: int) -> None:
    """Take back what `stored_predictor` gave."""
    coefficients, columns = np.array(stored["coefficients"], float), estimator._domain.columns
    check_shapes(coefficients=(coefficients, (outputs, 1 + columns)))
    estimator._coefficients = coefficients
    estimator._spread = InputSpread.restored(stored.get("inputs"), columns)
