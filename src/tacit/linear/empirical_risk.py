"""The estimator: any convex loss of a linear prediction, with penalties and constraints."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget
from tacit.fitting.published import find_published
from tacit.fitting.target import open_with_target
from tacit.linear.convex_loss import ConvexLoss
from tacit.linear.coordinates import Scatter, target_map
from tacit.linear.linear_fit import linear_predictions
from tacit.linear.newton import SIGNAL
from tacit.linear.penalties import Box, ElasticNetPenalty, L1Ball, L2Ball, Penalised
from tacit.linear.risk import OWN_SOLVERS, PUBLISHED_SOLVERS, Risk, in_units, minimise_risk
from tacit.messages import describe
from tacit.release import RowMap


class ERM(PrivateEstimator):
    """The least mean loss of a linear prediction, for a convex loss of your own, under differential privacy.

    Parameters
    ----------
    loss : ConvexLoss
    regularizer : ElasticNetPenalty, optional
        What is added to the mean loss: of coefficients on inputs in standard coordinates, where bounds are -1 and 1.
    constraint : L2Ball, L1Ball or Box, optional
        What these coefficients are confined to. An L1Ball goes without a regularizer.
    fit_intercept : bool, default True
    solver : {"auto", "newton", "accmd", "gradient", "sgd", "svrg", "katyusha", "svrg++", "robust", "frank_wolfe"}
        By default "auto": "newton" if there is neither regularizer nor constraint, else "accmd", accelerated mirror
        descent; "newton" takes neither. The others are published ones, kept for comparison:
        :class:`tacit.published.GradientDescent`, ``SGD``, ``SVRG``, ``Katyusha``, ``SVRGPlusPlus``, ``RobustSGD`` and
        ``FrankWolfe``, which is for an L1Ball and many columns, and takes a delta of 0. Pass such an object to set its
        options.
    n_iter : int or "auto", default "auto"
        How many steps "newton" and "accmd" make.

    Attributes
    ----------
    coef_ : (n_features,) array
    intercept_ : float
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.linear import ConvexLoss
    >>> quantile = ConvexLoss(  # of the upper quartile, with its corner rounded off
    ...     value=lambda p, t: np.logaddexp(0.0, 4 * (p - t)) / 4 - 0.75 * (p - t),
    ...     slope=lambda p, t: 0.5 + 0.5 * np.tanh(2 * (p - t)) - 0.75,
    ...     lipschitz=0.75,
    ...     smoothness=1.0,
    ... )
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = X @ [2.0, -1.0] + rng.normal(size=20_000)
    >>> model = tacit.ERM(quantile, bounds=5, target_bounds=15, random_state=0).fit(X, y)
    >>> model.coef_.round(1), round(float(np.mean(y < model.predict(X))), 1)
    (array([ 2., -1.]), 0.8)
    """

    loss: ConvexLoss | None = field(default=None, kw_only=False)
    regularizer: ElasticNetPenalty | None = None
    constraint: L2Ball | L1Ball | Box | None = None
    fit_intercept: bool = True
    solver: Any = "auto"
    n_iter: int | str = "auto"
    target_bounds: Any = None

    _has_target = True
    _method_parameter = "solver"
    _methods = ("auto", *OWN_SOLVERS)
    _published = PUBLISHED_SOLVERS

    def fit(self, X: Any, y: Any = None) -> ERM:
        """Minimise the mean loss of rows, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : (n,) array, or the name of a column of `X`
        """
        penalty = self._check_penalty()
        published = find_published(self)
        pure = published is not None and not published.needs_delta and not isinstance(self.bounds, str)
        budget = check_budget(self, pure=pure)
        domain, rows = open_with_target(self, X, y)
        n_rows = self._check_rows(rows, 2)
        solver = self.solver
        if solver == "auto":
            solver = "newton" if penalty is None else "accmd"
        risk = Risk(
            self.loss,
            self._in_own_units,
            target_unit=np.nan,
            ridge=lambda rows: 0.0,
            signal=self._signal,
            penalty=penalty,
            proven=False,
        )
        fit = minimise_risk(self, solver, risk, domain, rows, n_rows, budget)
        self.n_iter_, self._coefficients, self._spread = fit.iterations, fit.coefficients, fit.spread
        intercepts, slopes = in_units(self._coefficients, self._domain)
        self.coef_, self.intercept_ = slopes[0], float(intercepts[0])
        self._certify(fit.curator, budget, n_rows, [f"Empirical risk minimisation, solver {solver}."])
        return self

    def predict(self, X: Any) -> Array:
        """Return the linear prediction of each row."""
        return linear_predictions(self, X)[:, 0]

    def _check_penalty(self) -> Any:
        find_published(self)
        if not isinstance(self.loss, ConvexLoss):
            raise ValueError(
                f"loss must be a tacit.linear.ConvexLoss, with what is known of it, and it is {describe(self.loss)}."
            )
        if self.regularizer is not None and not isinstance(self.regularizer, ElasticNetPenalty):
            raise ValueError(f"regularizer must be an ElasticNetPenalty, and it is {describe(self.regularizer)}.")
        if self.constraint is not None and not isinstance(self.constraint, L2Ball | L1Ball | Box):
            raise ValueError(
                f"constraint must be an L2Ball, an L1Ball or a Box, and it is {describe(self.constraint)}."
            )
        if self.regularizer is None:
            penalty: Any = self.constraint
        elif self.constraint is None:
            penalty = self.regularizer
        elif isinstance(self.constraint, L1Ball):
            raise ValueError("An L1Ball goes without a regularizer; leave one of the two out.")
        else:
            penalty = Penalised(self.regularizer, self.constraint)
        if penalty is not None and self.solver == "newton":
            raise ValueError('solver="newton" takes no regularizer and no constraint; use "accmd" or "gradient".')
        return penalty

    def _in_own_units(self, scatter: Scatter) -> list[RowMap]:
        """Return what takes targets back to their own units."""
        centre, unit = self._target
        return [target_map(self._domain.columns, -centre / unit, 1 / unit)]

    def _signal(self, scatter: Scatter) -> float:
        """Return how large predictions are expected to be: as the target's standard deviation, or more."""
        spread = np.sqrt(max(float(scatter.second[-1, -1]), 0.0)) * scatter.units[-1] * self._target[1]
        return max(SIGNAL, float(spread))
