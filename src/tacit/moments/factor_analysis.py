"""The estimator: private factor analysis with scikit-learn's interface."""

from __future__ import annotations

import numbers
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, check_shapes
from tacit.fitting.published import find_published
from tacit.messages import describe
from tacit.moments.factors import Factors, likeliest_factors
from tacit.moments.moments import Moments

# The parts of a model that files hold.
_STORED = ("mean", "loadings", "unique")


class FactorAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """Factor analysis under differential privacy: rows are mean + W z + noise, with few factors z.

    Moments are released (:class:`tacit.Moments`). Expectation-maximisation on them reads no rows and costs nothing, so
    it runs until it converges.

    Parameters
    ----------
    n_components : int, default 1
        Number of factors. At a small epsilon fewer may stand out of the noise; the others have loadings near zero.
    method : {"adaptive", "paper"} or published method, default "adaptive"
        "paper" is what Park et al. (2017) published, :class:`tacit.published.AnalyzeGauss`: one release of the second
        moment in the public ball, with the mean taken to be its centre.
    n_iter : int or "auto", default "auto"
        Number of releases of "adaptive", fixed beforehand.

    Attributes
    ----------
    components_ : (n_components, n_features) array
        The loadings W', strongest factor first, as in scikit-learn.
    noise_variance_ : (n_features,) array
        Variance of each column that its factors do not explain.
    mean_ : (n_features,) array
    n_iter_ : int
        How many releases were made.

    Notes
    -----
    Everything that a fit sets is private. ``transform``, ``score`` and so ``fit_transform`` work on the rows you give
    them, and what they return is as sensitive as those rows are.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 1)) @ [[1.0, -1.0, 2.0]] + 0.5 * rng.normal(size=(20_000, 3))
    >>> model = tacit.FactorAnalysis(1, epsilon=1.0, bounds=(-20, 20), random_state=0).fit(X)
    >>> model.components_.round(1)
    array([[ 1., -1.,  2.]])
    >>> model.transform(X[:5]).shape
    (5, 1)
    """

    n_components: int = field(default=1, kw_only=False)
    method: Any = "adaptive"
    n_iter: int | str = "auto"

    _methods = ("adaptive",)
    _published: ClassVar = {"paper": ("AnalyzeGauss", {})}

    @classmethod
    def from_moments(cls, moments: Moments, n_components: int = 1) -> FactorAnalysis:
        """Return the factors of moments that are already fitted: no row is read, and nothing is charged.

        Any number of models may be made of the same moments. Their certificate is that of the moments.

        Parameters
        ----------
        moments : Moments
            Fitted.
        n_components : int, default 1
        """
        if not isinstance(moments, Moments):
            raise TypeError(f"Factors are made of fitted tacit.Moments, and this is a {type(moments).__name__}.")
        check_is_fitted(moments, "privacy_")
        model = cls(n_components, **_common_parameters(moments))
        model._check_components(moments.n_features_in_)
        model.method = find_published(moments) or "adaptive"
        note = f"Factor analysis of {n_components} component(s) computed from these moments, at no further cost."
        model._fit_to_moments(moments, note)._remember()
        model._tell_cautions()
        return model

    def fit(self, X: Any, y: Any = None) -> FactorAnalysis:
        """Fit the factors to the rows of `X`, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : ignored
        """
        published = find_published(self)
        domain, _ = self._open(X)
        self._check_components(domain.columns)
        moments = Moments(method=published or "adaptive", **_common_parameters(self))
        note = f"Factor analysis of {self.n_components} component(s), method {self.method}."
        return self._fit_to_moments(moments.fit(X), note)

    def transform(self, X: Any) -> Array:
        """Return the posterior mean of the factors of each row."""
        return np.concatenate([self._factors.scores(block) for block in self._standard_blocks(X)])

    def score_samples(self, X: Any) -> Array:
        """Return the log density at each row, in the units of the rows."""
        densities = [self._factors.log_density(block) for block in self._standard_blocks(X)]
        return np.concatenate(densities) + self._domain.log_jacobian

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows of `X`."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> Array:
        """Return the covariance that the model gives rows: W W' plus the noise variances."""
        check_is_fitted(self)
        return self._factors.covariance() * np.outer(self._domain.scale, self._domain.scale)

    def get_precision(self) -> Array:
        """Return the inverse of the covariance."""
        check_is_fitted(self)
        return self._factors.precision() / np.outer(self._domain.scale, self._domain.scale)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array | pa.Table:
        """Draw synthetic rows, at no further cost to privacy.

        Parameters
        ----------
        n_samples : int
        random_state : int, numpy Generator or None
            Seed of the synthetic rows alone.

        Returns
        -------
        X : array, or a pyarrow Table with the schema's columns if the bounds are a schema
            Rows inside the bounds.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, numbers.Integral) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {describe(n_samples)}; it must be a whole number, at least 1."
            )
        z = self._factors.sample(n_samples, np.random.default_rng(random_state))
        return self._domain.table(self._domain.standardise(self._domain.restore(z)))

    def _check_components(self, columns: int) -> None:
        if not isinstance(self.n_components, numbers.Integral) or not 1 <= self.n_components <= columns:
            raise ValueError(
                f"n_components must be a whole number from 1 to the number of columns, {columns}, and it is "
                f"{describe(self.n_components)}."
            )

    def _fit_to_moments(self, moments: Moments, note: str) -> FactorAnalysis:
        """Fit the factors to the moments, in standard coordinates, and take over their certificate with a note."""
        scale = moments._domain.scale
        mean = (moments.mean_ - moments._domain.centre) / scale
        covariance = moments.covariance_ / scale
        covariance /= scale[:, None]
        self._domain = moments._domain
        self._publish(likeliest_factors(mean, covariance, self.n_components))
        self.n_features_in_ = moments.n_features_in_
        if hasattr(moments, "feature_names_in_"):
            self.feature_names_in_ = moments.feature_names_in_
        self.n_iter_ = moments.n_iter_
        self.privacy_ = replace(moments.privacy_, notes=(note, *moments.privacy_.notes))
        return self

    def _publish(self, factors: Factors) -> None:
        """Set the public attributes, in the units of the rows."""
        scale = self._domain.scale
        self._factors = factors
        self.components_ = factors.loadings.T * scale
        self.noise_variance_ = factors.unique * scale**2
        self.mean_ = self._domain.restore(factors.mean)

    _about = (
        "z is normal with the mean in factors and the covariance W W' + diag(unique), where W is loadings, a row for "
        "each column of z."
    )

    def _stored(self) -> dict[str, Any]:
        return {"factors": {part: getattr(self._factors, part).tolist() for part in _STORED}}

    def _restore(self, values: dict[str, Any]) -> None:
        find_published(self)
        check_budget(self)
        columns = self._domain.columns
        self._check_components(columns)
        factors = Factors(*(np.array(values["factors"][part], float) for part in _STORED))
        check_shapes(
            mean=(factors.mean, (columns,)),
            loadings=(factors.loadings, (columns, self.n_components)),
            unique=(factors.unique, (columns,)),
        )
        if (factors.unique <= 0).any():
            raise ValueError("unique variances must be positive")
        self._publish(factors)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]


def _common_parameters(estimator: FactorAnalysis | Moments) -> dict[str, Any]:
    """Return the parameters that factor analysis and moments have in common, apart from the method."""
    own = ("method", "n_components")
    return {name: value for name, value in estimator.get_params(deep=False).items() if name not in own}
