"""The estimator: linear regression that outliers among targets do not disturb."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, check_shapes
from tacit.fitting.published import find_published
from tacit.fitting.target import open_with_target, score_predictions
from tacit.linear.coordinates import Scatter, target_map
from tacit.linear.evidence import evidence_of_solution
from tacit.linear.linear_fit import linear_predictions, restore_predictor, stored_predictor
from tacit.linear.risk import OWN_SOLVERS, PUBLISHED_SOLVERS, Risk, in_units, minimise_risk
from tacit.messages import describe
from tacit.release import RowMap
from tacit.statistics.losses import HuberLoss

# The same as for least squares (tacit.linear.newton_regression).
_SIGNAL = 1.0  # Standard deviation of predictions before anything is known, in units of residuals.


class HuberRegressor(RegressorMixin, PrivateEstimator):
    """Linear regression with Huber's loss, under differential privacy: squares for small residuals, linear beyond.

    Parameters
    ----------
    threshold : float, default 1.35
        Where the loss turns linear, in units of the residuals' scale. (scikit-learn calls it epsilon.)
    alpha : float, default 1e-4
        Half of the squared coefficients, times alpha, is added to the sum of losses.
    fit_intercept : bool, default True
    solver : {"newton", "accmd", "gradient", "sgd", "svrg", "katyusha", "svrg++", "robust", "output"}, default "newton"
        "accmd" is accelerated mirror descent. The others are published ones, corrected where they were not private, and
        kept for comparison: :class:`tacit.published.GradientDescent`, ``SGD``, ``SVRG``, ``Katyusha``,
        ``SVRGPlusPlus``, ``RobustSGD`` and ``OutputPerturbation``. Pass such an object to set its options.
    n_iter : int or "auto", default "auto"
        How many steps "newton" and "accmd" make.

    Attributes
    ----------
    coef_ : (n_features,) array
    intercept_, scale_ : float
        The scale is that of residuals from the line that moments of rows, cut off where rows are rare, have.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = X @ [2.0, -1.0] + rng.standard_t(2, size=20_000)
    >>> model = tacit.HuberRegressor(bounds=5, target_bounds=50, random_state=0).fit(X, y)
    >>> model.coef_.round(1)
    array([ 2., -1.])
    """

    threshold: float = 1.35
    alpha: float = 0.0001
    fit_intercept: bool = True
    solver: Any = "newton"
    n_iter: int | str = "auto"
    target_bounds: Any = None

    _has_target = True
    _method_parameter = "solver"
    _methods = OWN_SOLVERS
    _published = PUBLISHED_SOLVERS

    def fit(self, X: Any, y: Any = None) -> HuberRegressor:
        """Fit the regression to rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : (n,) array, or the name of a column of `X`
        """
        budget = self._checked()
        domain, rows = open_with_target(self, X, y)
        n_rows = self._check_rows(rows, 2)
        risk = Risk(
            HuberLoss(self.threshold),
            _in_residual_scales,
            target_unit=np.nan,
            ridge=lambda rows: self.alpha / rows,
            start=lambda scatter, coordinates: (0.0, scatter.slopes(coordinates)),
            signal=lambda scatter: _SIGNAL,
        )
        fit = minimise_risk(self, self.solver, risk, domain, rows, n_rows, budget)
        self.n_iter_, self._spread = fit.iterations, fit.spread
        self._evidence = evidence_of_solution(fit.solution, fit.scatter)
        centre, unit = self._target
        mean, scale = float(fit.scatter.mean[-1]), fit.scatter.residual_scale
        self._coefficients = unit * scale * fit.coefficients
        self._coefficients[:, 0] += centre + unit * mean
        self._publish(unit * scale)
        self._certify(fit.curator, budget, n_rows, [f"Huber's regression, solver {self.solver}."])
        return self

    def predict(self, X: Any) -> Array:
        """Return the expected target of each row."""
        return linear_predictions(self, X)[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination of predictions, R²."""
        return score_predictions("r2_score", y, self.predict(X), sample_weight)

    def _checked(self) -> Any:
        find_published(self)
        for name, least in (("threshold", 0.0), ("alpha", -1e-300)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or not least < value < np.inf:
                raise ValueError(f"{name} must be a number, not negative, and it is {describe(value)}.")
        return check_budget(self)

    def _publish(self, scale: float) -> None:
        intercepts, slopes = in_units(self._coefficients, self._domain)
        self.coef_, self.intercept_, self.scale_ = slopes[0], float(intercepts[0]), scale

    _about = (
        "the last of its columns is the target. It is predicted, in its own units, by coefficients[0][0] plus the sum "
        "over inputs j of coefficients[0][1 + j] times the input's z. Residuals are judged beside scale, in its units."
    )

    def _stored(self) -> dict[str, Any]:
        return {"predictor": {**stored_predictor(self), "scale": self.scale_}}

    def _restore(self, values: dict[str, Any]) -> None:
        self._checked()
        restore_predictor(self, values["predictor"], 1)
        scale = np.array(values["predictor"]["scale"], float)
        check_shapes(scale=(scale, ()))
        if not scale > 0:
            raise ValueError("the scale must be positive")
        self._publish(float(scale))


def _in_residual_scales(scatter: Scatter) -> list[RowMap]:
    """Return what measures targets from their mean, in residual scales."""
    return [target_map(len(scatter.mean) - 1, float(scatter.mean[-1]), scatter.residual_scale)]
