"""The estimator: the symmetric mixture of two round Gaussians."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit, log_expit
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.fitting import check_shapes, checked_budget, progress
from tacit.fitting.engine import run
from tacit.messages import describe
from tacit.privacy import Budget
from tacit.regressions.gradient_em import METHODS, GradientEM
from tacit.regressions.gradient_methods import GradientMethods
from tacit.regressions.screening import Screened
from tacit.regressions.sparse_moments import SparseMoments
from tacit.regressions.symmetric_moments import Folded, FoldedMoments
from tacit.statistics import SymmetricMixtureGradient
from tacit.statistics.components import Array
from tacit.tables import Domain, Schema

_FIRST_MEANS = 0.5  # of the columns that are chosen, in units of how large cells are: where EM starts


class SymmetricMixture(DensityMixin, GradientMethods):
    """Two equally likely round Gaussians, opposite each other about the origin, under differential privacy.

    A row is half_ or -half_, by the toss of a coin, plus noise of scale scale_ in each column: the mixture on which
    private gradient EM was studied. For clusters of any shape and number there is :class:`tacit.GaussianMixture`.

    Parameters
    ----------
    method : {"moments", "clipped", "robust", "robust_em", "truncated"}, default "moments"
        "moments" makes an exact EM step from clipped rows in each release; see
        :mod:`tacit.regressions.symmetric_moments`. The others are published ones, kept for comparison; see
        :mod:`tacit.regressions.gradient_em`. They need no bounds.
    scale : float, optional
        The standard deviation of each column within a component, where it is public. "moments" can estimate it.
    sparsity : int, optional
        How many columns matter at most: the others get coefficients of 0. Which they are is chosen privately, at a cost
        that hardly depends on how many columns there are; see :mod:`tacit.regressions.screening`. With a method of the
        papers, anew in each step.
    init : "random" or (n_features,) array, default "random"
        Where the papers' methods start: a direction drawn without a look at any row, three scales long, or what you
        give for half_. "moments" can do with a guess where it is to choose columns, and needs none.
    learning_rate : float, default 1.0
        What gradients are multiplied by, for "clipped", "robust" and "truncated".
    clip : float, default 1.0
        How long a row's gradient may be, for "clipped".
    moment_bound : float, default 1.0
        What the mean square of each column of gradients is at most, for "robust" and "robust_em". A wrong one
        costs accuracy, and no privacy.
    truncation : float, optional
        Where parts of gradients are cut off, for "truncated"; sqrt(log n) if it is not given.
    split : bool, default False
        For "truncated": use each row in one step alone.
    as_printed : bool, default False
        Compute the papers' gradients as printed, mistakes included, for comparison.
    bounds : float, (low, high) or "private", optional
        What is publicly known about the rows: a number r (every row is within r of the origin), a pair of numbers or
        arrays, or "private" to spend part of the budget on finding a range.
    n_iter : int or "auto", default "auto"
        How many releases the budget is shared among.

    Attributes
    ----------
    half_ : (n_features,) array
        Where one of the components is; the other is at -half_. Which is which means nothing.
    scale_ : float
    support_ : (sparsity,) array
        With a `sparsity`, the columns that were chosen, in ascending order.
    n_iter_ : int
        How many rounds of releases were made.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], 10_000)[:, None] * np.array([0.6, 0.8]) + rng.normal(0.0, 0.5, (10_000, 2))
    >>> model = tacit.SymmetricMixture(epsilon=0.5, bounds=5, random_state=0).fit(X)
    >>> np.abs(model.half_).round(1), round(model.scale_, 1)
    (array([0.6, 0.8]), 0.5)
    """

    method: str = "moments"
    scale: float | None = None
    sparsity: int | None = None
    init: Any = "random"
    learning_rate: float = 1.0
    clip: float = 1.0
    moment_bound: float = 1.0
    truncation: float | None = None
    split: bool = False
    as_printed: bool = False
    n_iter: int | str = "auto"

    def fit(self, X: Any, y: Any = None) -> SymmetricMixture:
        """Fit the mixture to the rows of `X`, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : ignored
        """
        budget = self._checked()
        domain, rows = self._open(X)
        n_rows = self._check_rows(rows, 2, "two components")
        purpose = f"{type(self).__name__}(method={self.method!r})"
        curator = self._curator(rows, domain, self._model(domain, n_rows, budget).steps(), budget, purpose)
        model = self._model(self._enter(curator, domain), n_rows, budget)
        with progress(self.verbose, "Fitting two components") as watch:
            state = run(model, curator, watch)
        self._publish(self._chosen(model.finish(state)))
        self.n_iter_ = len(model.rounds)
        notes = [f"Symmetric mixture, method {self.method}.", *self._gradient_notes()]
        self._certify(curator, budget, n_rows, notes)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return 0 for rows nearer to half_, and 1 for those nearer to -half_."""
        return (self._sides(X)[0] < 0).astype(np.int64)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of half_ and -half_, for each row."""
        along = self._sides(X)[0]
        return np.column_stack([expit(along), expit(-along)])

    def score_samples(self, X: Any) -> Array:
        """Return the log density at each row."""
        along, rows = self._sides(X)
        columns = rows.shape[1]
        near = -0.5 * np.sum((rows - self.half_) ** 2, axis=1) / self.scale_**2
        constant = math.log(0.5) - columns * math.log(self.scale_ * math.sqrt(2 * math.pi))
        return np.asarray(near - log_expit(along) + constant)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows of `X`."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, np.ndarray]:
        """Draw synthetic rows and which component each is of, at no further cost to privacy."""
        check_is_fitted(self)
        if not isinstance(n_samples, numbers.Integral) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {describe(n_samples)}; it must be a whole number, at least 1."
            )
        rng = np.random.default_rng(random_state)
        labels = rng.integers(0, 2, n_samples)
        rows = (1 - 2 * labels)[:, None] * self.half_ + self.scale_ * rng.normal(size=(n_samples, len(self.half_)))
        return rows, labels

    def _sides(self, X: Any) -> tuple[Array, Array]:
        """Return the log odds of half_ against -half_ for each row, and the rows."""
        check_is_fitted(self)
        rows = self._domain.centre + self._domain.scale * np.concatenate(list(self._standard_blocks(X)))
        return 2.0 * rows @ self.half_ / self.scale_**2, rows

    def _checked(self) -> Budget:
        self._check_gradient_options(METHODS)
        if isinstance(self.bounds, Schema):
            raise ValueError("A symmetric mixture has one unit for all columns; pass bounds as numbers, not a Schema.")
        return checked_budget(self, missing=("error", "ignore"))

    def _shaped(self, domain: Domain) -> Domain:
        return replace(domain, scale=np.full(domain.columns, domain.scale.max()))  # one unit for all columns

    def _model(self, domain: Domain, n_rows: int | None, budget: Budget) -> FoldedMoments | SparseMoments | GradientEM:
        if self.method != "moments":
            return self._gradient_em(SymmetricMixtureGradient, domain.columns, n_rows, budget)
        scale = None if self.scale is None else float(self.scale / domain.scale[0])
        origin = -domain.centre / domain.scale
        if self.sparsity is None:
            return FoldedMoments(domain.columns, self.neighbors, n_rows, origin, scale, self.n_iter)

        def few(found: Screened) -> FoldedMoments:
            begin = _FIRST_MEANS * found.unit * np.array(found.signs, dtype=np.float64)
            where = origin[list(found.columns)]
            return FoldedMoments(len(begin), self.neighbors, n_rows, where, scale, self.n_iter, begin, unit=found.unit)

        return self._sparse("spread", origin, few, self._guess(domain.columns))

    def _publish(self, found: Folded | Array) -> None:
        """Set the public attributes, in the units of the rows."""
        if isinstance(found, Folded):
            unit = float(self._domain.scale[0])
            self.half_, self.scale_ = self._among_all(unit * found.half, self._domain.columns), unit * found.scale
        else:
            self.half_, self.scale_ = found, float(self.scale)

    _about = (
        "symmetric has half and scale, in the units of rows: a row is half or minus half, equally likely, plus normal "
        "noise of standard deviation scale in each column."
    )

    def _stored(self) -> dict[str, Any]:
        return {"symmetric": {"half": self.half_.tolist(), "scale": self.scale_}, **self._stored_support()}

    def _restore(self, values: dict[str, Any]) -> None:
        self._checked()
        self._restore_support(values)
        half, scale = np.array(values["symmetric"]["half"], float), np.array(values["symmetric"]["scale"], float)
        check_shapes(half=(half, (self._domain.columns,)), scale=(scale, ()))
        if scale <= 0:
            raise ValueError("the scale must be positive")
        self.half_, self.scale_ = half, float(scale)
