"""The estimators: linear regressions with penalties on their coefficients."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from tacit.fitting import PrivateEstimator
from tacit.linear.linear_fit import LinearFit
from tacit.linear.linear_model import LinearModelMixin, check_number
from tacit.moments.moments import Moments


class Ridge(LinearModelMixin, PrivateEstimator):
    """Linear regression with a penalty on squared coefficients, under differential privacy.

    Parameters
    ----------
    alpha : float, default 1.0
        What the sum of squared coefficients is multiplied by, beside the sum of squared residuals.
    fit_intercept : bool, default True
    loss : {"squared", "huber"}, default "squared"
        "squared" tends to least squares on these rows as noise falls. "huber" is for heavy tails: slopes are those of
        the bulk of the rows, whatever the others say, and the intercept is set so that the mean residual is zero.
        Tables with levels are fitted alike for both: residuals are clipped as far out as noise allows.

    Attributes
    ----------
    coef_ : (n_features,) array
    intercept_ : float
    noise_variance_ : float
        Variance of residuals of the fit without a penalty.
    n_iter_ : int
        How many releases were made.

    Notes
    -----
    The fit is that of :class:`tacit.LinearRegression`; the penalty is applied to what was released, so fits with other
    penalties of the same release cost nothing more: :meth:`from_moments`.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 2))
    >>> y = X @ [2.0, -1.0] + rng.normal(0.0, 0.5, 20_000)
    >>> tacit.Ridge(20_000, bounds=10, target_bounds=30, random_state=0).fit(X, y).coef_.round(1)
    array([ 1. , -0.5])
    """

    alpha: float = field(default=1.0, kw_only=False)
    fit_intercept: bool = True
    loss: str = "squared"
    target_bounds: Any = None

    @classmethod
    def from_moments(
        cls, moments: Moments, target: Any = -1, alpha: float = 1.0, *, fit_intercept: bool = True
    ) -> Ridge:
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
        >>> model = tacit.Ridge.from_moments(moments)
        >>> model.coef_.round(1)
        array([2.])
        """
        return cls._of_moments(moments, target, {"alpha": alpha, "fit_intercept": fit_intercept})

    def _check_options(self) -> None:
        check_number("alpha", self.alpha)

    def _penalise(self, fit: LinearFit) -> LinearFit:
        return fit.penalise(0.0, self.alpha)


class Lasso(LinearModelMixin, PrivateEstimator):
    """Linear regression with a penalty on absolute coefficients, under differential privacy: some come out as zero.

    Parameters
    ----------
    alpha : float, default 1.0
        What the sum of absolute coefficients is multiplied by, beside half the mean squared residual.
    fit_intercept : bool, default True
    loss : {"squared", "huber"}, default "squared"
        "squared" tends to least squares on these rows as noise falls. "huber" is for heavy tails: slopes are those of
        the bulk of the rows, whatever the others say, and the intercept is set so that the mean residual is zero.
        Tables with levels are fitted alike for both: residuals are clipped as far out as noise allows.

    Attributes
    ----------
    coef_ : (n_features,) array
    intercept_ : float
    noise_variance_ : float
        Variance of residuals of the fit without a penalty.
    n_iter_ : int
        How many releases were made.

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

    alpha: float = field(default=1.0, kw_only=False)
    fit_intercept: bool = True
    loss: str = "squared"
    target_bounds: Any = None

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
    loss : {"squared", "huber"}, default "squared"
        "squared" tends to least squares on these rows as noise falls. "huber" is for heavy tails: slopes are those of
        the bulk of the rows, whatever the others say, and the intercept is set so that the mean residual is zero.
        Tables with levels are fitted alike for both: residuals are clipped as far out as noise allows.

    Attributes
    ----------
    coef_ : (n_features,) array
    intercept_ : float
    noise_variance_ : float
        Variance of residuals of the fit without a penalty.
    n_iter_ : int
        How many releases were made.

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
    array([ 1.4, -0.5,  0. ,  0. ])
    """

    alpha: float = field(default=1.0, kw_only=False)
    l1_ratio: float = 0.5
    fit_intercept: bool = True
    loss: str = "squared"
    target_bounds: Any = None

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
