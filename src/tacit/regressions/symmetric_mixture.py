"""The estimator: the symmetric mixture of two round Gaussians."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_expit
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, check_shapes, progress
from tacit.fitting.column_view import ColumnView
from tacit.fitting.parameters import check_positive
from tacit.fitting.progress import Watch, part_of
from tacit.fitting.published import find_published, refuse_options
from tacit.messages import describe
from tacit.moments.estimates import PublicFacts
from tacit.privacy import Budget
from tacit.regressions.options import (
    MOVED,
    check_sparsity,
    fit_published,
    method_name,
    method_notes,
    read_guess,
    read_support,
    spread_over_columns,
    write_support,
)
from tacit.regressions.screening import ScreeningSchedule, choose_support, screen_first
from tacit.regressions.symmetric_moments import SymmetricEstimate, fit_symmetric, symmetric_schedule
from tacit.release import Curator
from tacit.sources import Source
from tacit.tables import Domain, Schema

# Where EM starts after columns are chosen: the size of their means, in units of inputs. experiments/sparse_em.py
# measures what it gives.
_FIRST_MEANS = 0.5


class SymmetricMixture(DensityMixin, PrivateEstimator):
    """Two equally likely round Gaussians, opposite each other about the origin, under differential privacy.

    A row is half_ or -half_, by the toss of a coin, plus noise of scale scale_ in each column: the mixture on which
    private gradient EM was studied. For clusters of any shape and number there is :class:`tacit.GaussianMixture`.

    Parameters
    ----------
    method : "moments" or published method, default "moments"
        "moments" makes an exact EM step from clipped rows in each release; see
        :mod:`tacit.regressions.symmetric_moments`. Published methods need no bounds:
        :class:`tacit.published.ClippedGradientEM`, :class:`tacit.published.RobustGradientEM`,
        :class:`tacit.published.RobustEM` and :class:`tacit.published.TruncatedGradientEM`.
    scale : float, optional
        The standard deviation of each column within a component, where it is public. By default "moments" estimates it.
    sparsity : int, optional
        The largest number of columns that matter. All others get the value 0 in ``half_``. Columns are chosen
        privately, at a cost that hardly depends on how many there are; see :mod:`tacit.regressions.screening`. A
        published method chooses anew in each step.
    init : (n_features,) array, optional
        A public guess of ``half_``, which helps "moments" choose columns. It does without one.
    n_iter : int or "auto", default "auto"
        Number of releases of "moments".

    Attributes
    ----------
    half_ : (n_features,) array
        Where one of the components is; the other is at -half_. Which is which means nothing.
    scale_ : float
    support_ : (sparsity,) array
        With a `sparsity`, the columns that matter, in ascending order.
    n_iter_ : int
        Number of releases, where the choices of one step count as one.

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

    method: Any = "moments"
    scale: float | None = None
    sparsity: int | None = None
    init: Any = None
    n_iter: int | str = "auto"

    _methods = ("moments",)
    _published: ClassVar = {
        "clipped": ("ClippedGradientEM", {}),
        "robust": ("RobustGradientEM", {}),
        "robust_em": ("RobustEM", {}),
        "truncated": ("TruncatedGradientEM", {}),
    }
    _moved: ClassVar = {name: words for name, words in MOVED.items() if name not in ("scale", "init")}

    def fit(self, X: Any, y: Any = None) -> SymmetricMixture:
        """Fit the mixture to the rows of `X`, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : ignored
        """
        budget, published = self._check_parameters()
        domain, rows = self._open(X)
        n_rows = self._check_rows(rows, 2)
        check_sparsity(self.sparsity, domain.columns)
        with progress(self.verbose, "Fitting two components") as watch:
            if published is None:
                curator = self._fit_moments(rows, domain, n_rows, budget, watch)
            else:
                curator, self.half_ = fit_published(self, "symmetric mixture", rows, domain, n_rows, budget, watch)
                self.scale_ = float(published.scale)
        notes = [f"Symmetric mixture, method {method_name(published)}."]
        notes += method_notes(published, self.sparsity, self.n_features_in_)
        self._certify(curator, budget, n_rows, notes)
        return self

    def _fit_moments(self, rows: Source, domain: Domain, n_rows: int | None, budget: Budget, watch: Watch) -> Curator:
        kept, guess = self.sparsity or domain.columns, read_guess(self.init, domain.columns)
        schedule = symmetric_schedule(kept, self.n_iter, look=self.sparsity is None)
        screening = None
        if self.sparsity is not None:
            screening = ScreeningSchedule("spread", self.sparsity, domain.columns, guided=guess is not None)
        steps, before = screen_first(screening, schedule.steps())
        curator = self._curator(rows, domain, steps, budget, self._purpose())
        domain = self._enter(curator, domain)

        unit, origin = float(domain.scale[0]), -domain.centre / domain.scale
        scale = None if self.scale is None else float(self.scale / domain.scale[0])
        view: Curator | ColumnView = curator
        start, total = None, before + schedule.n_releases
        if screening is not None:
            support = choose_support(curator, screening, origin, guess, part_of(watch, 0, total))
            means = _FIRST_MEANS * support.unit * np.array(support.signs, dtype=np.float64)
            start = SymmetricEstimate(means, scale or support.unit)
            view, origin = ColumnView(curator, support.columns), origin[list(support.columns)]
            self.support_ = np.array(support.columns, dtype=np.int64)
        facts, watch = PublicFacts(kept, n_rows), part_of(watch, before, total)
        estimate = fit_symmetric(view, schedule, facts, origin, scale=scale, start=start, watch=watch)
        self.half_ = spread_over_columns(self, unit * estimate.half)
        self.scale_ = unit * estimate.scale
        self.n_iter_ = total
        return curator

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

    @property
    def _needs_bounds(self) -> bool:  # type: ignore[override]
        return find_published(self) is None

    def _purpose(self) -> str:
        return f"SymmetricMixture(method={method_name(find_published(self))!r})"

    def _check_parameters(self) -> tuple[Budget, Any]:
        """Refuse, in a sentence, what makes no sense; return the budget, and the published method if it is one."""
        published = find_published(self)
        check_sparsity(self.sparsity)
        if published is not None:
            refuse_options(self, published, "scale", "init")
        if self.scale is not None:
            check_positive("scale", self.scale)
        if self.init is not None and self.sparsity is None:
            raise ValueError('init helps to choose columns, and method="moments" needs no start; leave it out.')
        if isinstance(self.bounds, Schema):
            raise ValueError("A symmetric mixture has one unit for all columns; pass bounds as numbers, not a Schema.")
        return check_budget(self, missing=("error", "ignore")), published

    def _choose_shape(self, domain: Domain) -> Domain:
        return replace(domain, scale=np.full(domain.columns, domain.scale.max()))  # one unit for all columns

    _about = (
        "symmetric has half and scale, in the units of rows: a row is half or minus half, equally likely, plus normal "
        "noise of standard deviation scale in each column."
    )

    def _stored(self) -> dict[str, Any]:
        return {"symmetric": {"half": self.half_.tolist(), "scale": self.scale_}, **write_support(self)}

    def _restore(self, values: dict[str, Any]) -> None:
        self._check_parameters()
        read_support(self, values)
        half, scale = np.array(values["symmetric"]["half"], float), np.array(values["symmetric"]["scale"], float)
        check_shapes(half=(half, (self._domain.columns,)), scale=(scale, ()))
        if scale <= 0:
            raise ValueError("the scale must be positive")
        self.half_, self.scale_ = half, float(scale)
