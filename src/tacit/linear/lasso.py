"""The estimator: linear regressions with sparse coefficients."""

from __future__ import annotations

from typing import Any

from tacit.fitting import PrivateEstimator
from tacit.linear.linear_fit import LinearFit
from tacit.linear.linear_model import LinearModelMixin, check_number
from tacit.moments.moments import Moments
from tacit.privacy import Account


class Lasso(LinearModelMixin, PrivateEstimator):
    """Linear regression with a penalty on absolute coefficients, under differential privacy: some come out as zero.

    Parameters
    ----------
    alpha : float, default 1.0
        What the sum of absolute coefficients is multiplied by, beside half the mean squared residual.
    fit_intercept : bool, default True
    epsilon : float, default 1.0
    delta : float, default 1e-6
        The privacy budget. delta should be well below 1 / number of rows.
    bounds : float, (low, high), Schema or "private", optional
        What is publicly known about the inputs: a number r (each is within r of zero), a pair of numbers or arrays, a
        schema (then `y` is the name of a column), or "private" to spend part of the budget on finding ranges. They may
        be coarse; see the notes of :class:`tacit.LinearRegression`.
    target_bounds : float or (low, high), optional
        The same for the target.
    neighbors : {"replace_one", "add_remove"}, default "replace_one"
        Whether one person's row may take another value, the number of rows being public; or be there or not, the number
        of rows being secret as well.
    missing : {"error", "ignore"}, default "error"
        What to do about cells that hold no number: refuse, before anything is spent, or leave such rows out.
    ledger : Account, optional
        What the fit is charged to: ``tacit.Ledger("budget.db").account("my data")``.
    random_state : int, optional
        Makes the noise reproducible, for tests and examples only: such a fit is *not* private, and its certificate says
        so.
    verbose : bool, default False
        Show a progress bar.

    Attributes
    ----------
    coef_ : (n_features,) array
    intercept_ : float
    noise_variance_ : float
        Variance of residuals of the fit without a penalty.
    n_iter_ : int
        How many releases were made.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    privacy_ : Certificate
        What was spent, on what, by which mechanism.

    Notes
    -----
    The fit is that of :class:`tacit.LinearRegression`; the penalty is applied to what was released, by coordinate
    descent, so coefficients that are zero are exactly zero. Fits with other penalties of the same release cost nothing
    more: :meth:`from_moments`.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 4))
    >>> y = X @ [2.0, -1.0, 0.0, 0.0] + rng.normal(0.0, 0.5, 20_000)
    >>> tacit.Lasso(0.5, bounds=10, target_bounds=30, random_state=0).fit(X, y).coef_.round(1) + 0.0
    array([ 1.5, -0.5,  0. ,  0. ])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: Any = None,
        target_bounds: Any = None,
        neighbors: str = "replace_one",
        missing: str = "error",
        ledger: Account | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.neighbors = neighbors
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def from_moments(
        cls, moments: Moments, target: Any = -1, alpha: float = 1.0, *, fit_intercept: bool = True
    ) -> Lasso:
        """Return the regression made of moments that have been released already: nothing is read, nothing charged.

        Parameters
        ----------
        moments : Moments
            Fitted, to inputs and target together.
        target : str or int, default -1
            The column that is the target, by name or by place.
        alpha : float, default 1.0
        fit_intercept : bool, default True

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> rows = np.random.default_rng(0).normal(size=(20_000, 2)) @ np.array([[1.0, 2.0], [0.0, 0.5]])
        >>> moments = tacit.Moments(bounds=10, random_state=0).fit(rows)
        >>> model = tacit.Lasso.from_moments(moments)
        >>> model.coef_.round(1)
        array([1.])
        """
        return cls._of_moments(moments, target, {"alpha": alpha, "fit_intercept": fit_intercept})

    def _check_options(self) -> None:
        check_number("alpha", self.alpha)

    def _penalise(self, fit: LinearFit) -> LinearFit:
        return fit.penalise(self.alpha, 0.0)


class ElasticNet(LinearModelMixin, PrivateEstimator):
    """Linear regression with penalties on absolute and on squared coefficients, under differential privacy.

    Parameters
    ----------
    alpha : float, default 1.0
        What the penalty is multiplied by, beside half the mean squared residual.
    l1_ratio : float, default 0.5
        How much of the penalty is the sum of absolute coefficients; the rest is half the sum of their squares.
    fit_intercept : bool, default True
    epsilon : float, default 1.0
    delta : float, default 1e-6
        The privacy budget. delta should be well below 1 / number of rows.
    bounds : float, (low, high), Schema or "private", optional
        What is publicly known about the inputs: a number r (each is within r of zero), a pair of numbers or arrays, a
        schema (then `y` is the name of a column), or "private" to spend part of the budget on finding ranges. They may
        be coarse; see the notes of :class:`tacit.LinearRegression`.
    target_bounds : float or (low, high), optional
        The same for the target.
    neighbors : {"replace_one", "add_remove"}, default "replace_one"
        Whether one person's row may take another value, the number of rows being public; or be there or not, the number
        of rows being secret as well.
    missing : {"error", "ignore"}, default "error"
        What to do about cells that hold no number: refuse, before anything is spent, or leave such rows out.
    ledger : Account, optional
        What the fit is charged to: ``tacit.Ledger("budget.db").account("my data")``.
    random_state : int, optional
        Makes the noise reproducible, for tests and examples only: such a fit is *not* private, and its certificate says
        so.
    verbose : bool, default False
        Show a progress bar.

    Attributes
    ----------
    coef_ : (n_features,) array
    intercept_ : float
    noise_variance_ : float
        Variance of residuals of the fit without a penalty.
    n_iter_ : int
        How many releases were made.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    privacy_ : Certificate
        What was spent, on what, by which mechanism.

    Notes
    -----
    The fit is that of :class:`tacit.LinearRegression`; the penalty is applied to what was released, by coordinate
    descent, so coefficients that are zero are exactly zero. Fits with other penalties of the same release cost nothing
    more: :meth:`from_moments`.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 4))
    >>> y = X @ [2.0, -1.0, 0.0, 0.0] + rng.normal(0.0, 0.5, 20_000)
    >>> tacit.ElasticNet(0.5, l1_ratio=0.8, bounds=10, target_bounds=30, random_state=0).fit(X, y).coef_.round(1) + 0.0
    array([ 1.5, -0.6,  0. ,  0. ])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: Any = None,
        target_bounds: Any = None,
        neighbors: str = "replace_one",
        missing: str = "error",
        ledger: Account | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.neighbors = neighbors
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def from_moments(
        cls,
        moments: Moments,
        target: Any = -1,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
    ) -> ElasticNet:
        """Return the regression made of moments that have been released already: nothing is read, nothing charged.

        Parameters
        ----------
        moments : Moments
            Fitted, to inputs and target together.
        target : str or int, default -1
            The column that is the target, by name or by place.
        alpha : float, default 1.0
        l1_ratio : float, default 0.5
        fit_intercept : bool, default True

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> rows = np.random.default_rng(0).normal(size=(20_000, 2)) @ np.array([[1.0, 2.0], [0.0, 0.5]])
        >>> moments = tacit.Moments(bounds=10, random_state=0).fit(rows)
        >>> model = tacit.ElasticNet.from_moments(moments)
        >>> model.coef_.round(1)
        array([1.])
        """
        return cls._of_moments(moments, target, {"alpha": alpha, "l1_ratio": l1_ratio, "fit_intercept": fit_intercept})

    def _check_options(self) -> None:
        check_number("alpha", self.alpha)
        check_number("l1_ratio", self.l1_ratio, 1.0)

    def _penalise(self, fit: LinearFit) -> LinearFit:
        return fit.penalise(self.alpha * self.l1_ratio, self.alpha * (1 - self.l1_ratio) * fit.rows)
