"""Count, mean and covariance, released once: the estimator that others start from at no further cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, check_shapes, progress
from tacit.fitting.progress import Watch
from tacit.fitting.published import find_published
from tacit.moments.estimates import ColumnSpread, MomentEstimates, PublicFacts
from tacit.moments.two_stage_moments import two_stage_moments, two_stage_steps
from tacit.moments.whole_moments import whole_moments, whole_steps
from tacit.privacy import Budget, Gaussian, Relation, Step
from tacit.release import Curator, calibrated_plan


class _Method(NamedTuple):
    """The two functions of a method; see :mod:`tacit.moments.estimates`."""

    steps: Callable[[int, int | str], list[Step]]
    estimate: Callable[[Curator, Sequence[Step], PublicFacts, Watch], MomentEstimates]


_METHODS = {
    "iterated": _Method(whole_steps, whole_moments),
    "staged": _Method(two_stage_steps, two_stage_moments),
}

# What "adaptive" goes by. benchmarks/factor_analysis.py measures both methods, up to 200 columns, and the arena (even
# tables with 1,000 rows or more; benchmarks/arena.py --kinds moments) on real tables.
_MOST_COLUMNS = 400  # With more columns, the matrices of the iterated method take too long.
_MOST_NOISE = 0.9  # Eigenvalues of the noise in a covariance, in its own units, below which it can serve as a unit.
_USUAL_ROWS = 10_000  # Where the number of rows is secret, it is taken to be this.


class Moments(PrivateEstimator):
    """Number of rows, mean and covariance under differential privacy, released once and used often.

    What is computed from them costs nothing more: :meth:`tacit.FactorAnalysis.from_moments`.

    Parameters
    ----------
    method : {"adaptive", "iterated", "staged", "published"} or published method, default "adaptive"
        "iterated" measures columns by themselves, how many rows lie far out, and the covariance several times, each
        time in its own last coordinates. "staged" measures columns by themselves and then all second moments once, for
        many columns or few rows. "adaptive" is one of these two, by what the noise would be. "published" is
        :class:`tacit.published.AnalyzeGauss`: the second moment about the centre of the bounds, released once; the mean
        is taken to be that centre.
    n_iter : int or "auto", default "auto"
        Number of releases of "iterated" and "staged", fixed beforehand.

    Attributes
    ----------
    count_ : float
        The number of rows where it is public, or a noisy one.
    mean_ : (n_features,) array
    covariance_ : (n_features, n_features) array
        Positive definite.
    second_moment_ : (n_features, n_features) array
        About the origin: the covariance plus the mean times itself.
    n_iter_ : int
        How many releases were made.
    method_ : str
        Which method "adaptive" was.
    privacy_ : Certificate
        What was released, with how much noise, and what that guarantees. It covers all that is computed from the
        moments.

    Notes
    -----
    Rows far from all others are clipped. "iterated" measures what that hides, and adds it to the covariance. So the
    normal law with these moments is hardly ever worse than one with independent columns, also where a few rows have
    most of the variance of a column.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([1.0, -2.0], [0.5, 2.0], (20_000, 2))
    >>> moments = tacit.Moments(epsilon=1.0, bounds=(-20, 20), random_state=0).fit(X)
    >>> moments.mean_.round(1)
    array([ 1., -2.])
    >>> np.sqrt(np.diag(moments.covariance_)).round(1)
    array([0.5, 2. ])
    >>> factors = tacit.FactorAnalysis.from_moments(moments, n_components=1)
    >>> factors.privacy_.plan == moments.privacy_.plan
    True
    """

    method: Any = "adaptive"
    n_iter: int | str = "auto"

    _methods = ("adaptive", *_METHODS)
    _published: ClassVar = {"published": ("AnalyzeGauss", {})}

    def fit(self, X: Any, y: Any = None) -> Moments:
        """Release the moments of the rows of `X`, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : ignored
        """
        budget = self._check_parameters()
        domain, rows = self._open(X)
        n_rows = self._check_rows(rows)
        self.method_ = self._choose_method(n_rows, domain.columns, budget)
        published = find_published(self)
        method, word = (_METHODS[self.method_], self.method_) if published is None else (published, self.method)
        steps = method.steps(domain.columns, self.n_iter)
        curator = self._curator(rows, domain, steps, budget, f"Moments(method={word!r})")
        domain = self._enter(curator, domain)
        with progress(self.verbose, "Measuring moments") as watch:
            estimates = method.estimate(curator, steps, PublicFacts.of_domain(domain, n_rows), watch)
        self.count_ = estimates.count
        self.mean_ = domain.restore(estimates.mean)
        self.covariance_ = estimates.covariance
        self.covariance_ *= domain.scale  # In place, as the matrix may be large.
        self.covariance_ *= domain.scale[:, None]
        self._spread = estimates.spread and estimates.spread.in_units(domain.scale)
        self.n_iter_ = sum(step.count for step in steps)
        notes = [f"Count, mean and covariance, method {word}; what is computed from them costs no more."]
        self._certify(curator, budget, n_rows, notes)
        return self

    @property
    def second_moment_(self) -> Array:
        """Second moment about the origin."""
        check_is_fitted(self, "mean_")
        return self.covariance_ + np.outer(self.mean_, self.mean_)

    def _check_parameters(self) -> Budget:
        find_published(self)
        return check_budget(self)

    def _choose_method(self, rows: int | None, columns: int, budget: Budget) -> str:
        """Return the method: what "adaptive" is follows from public numbers alone."""
        if self.method != "adaptive":
            return self.method if find_published(self) is None else "published"
        return "iterated" if iteration_pays(rows, columns, budget, self.neighbors) else "staged"

    _about = "moments has the mean and the covariance of rows, in their own units."

    def _stored(self) -> dict[str, Any]:
        values = {"mean": self.mean_.tolist(), "covariance": self.covariance_.tolist()}
        if self._spread is not None:
            values |= {"deviations": self._spread.deviations.tolist(), "spread_noise": self._spread.noise.tolist()}
        return {"moments": {"method": self.method_, "count": self.count_, **values}}

    def _restore(self, values: dict[str, Any]) -> None:
        self._check_parameters()
        stored, columns = values["moments"], self._domain.columns
        count, mean, covariance = (np.array(stored[part], float) for part in ("count", "mean", "covariance"))
        check_shapes(count=(count, ()), mean=(mean, (columns,)), covariance=(covariance, (columns, columns)))
        methods = (*_METHODS, *self._published)
        chosen = self.method if find_published(self) is None else "published"
        if stored["method"] not in methods or chosen not in ("adaptive", stored["method"]):
            raise ValueError(f"the moments cannot be of method {stored['method']!r}")
        deviations = np.sqrt(np.abs(np.diag(covariance)))
        if (np.abs(covariance - covariance.T) > 1e-9 * np.outer(deviations, deviations)).any():
            raise ValueError("the covariance must be symmetric")
        np.linalg.cholesky(covariance)  # This refuses a matrix that is no covariance.
        self.count_, self.mean_, self.covariance_ = float(count), mean, covariance
        self.method_ = stored["method"]
        self._spread = None
        if "deviations" in stored:  # Files of version 0.1 have none.
            spread = ColumnSpread(np.array(stored["deviations"], float), np.array(stored["spread_noise"], float))
            check_shapes(deviations=(spread.deviations, (columns,)), spread_noise=(spread.noise, (columns,)))
            if (spread.deviations < 0).any() or (spread.noise < 0).any():
                raise ValueError("standard deviations and their noise must not be negative")
            self._spread = spread


def iteration_pays(rows: int | None, columns: int, budget: Budget, neighbors: Relation) -> bool:
    """Return whether measuring a covariance repeatedly beats measuring it once: public numbers decide.

    It does where the noise in a covariance in its own units has small eigenvalues, so that it can serve as a unit.

    Examples
    --------
    >>> from tacit.privacy import Budget
    >>> [iteration_pays(20_000, d, Budget(1.0, 1e-6), "replace_one") for d in (10, 100, 200)]
    [True, True, False]
    """
    if columns > _MOST_COLUMNS:
        return False
    multiplier = calibrated_plan([Gaussian("moments", 1.0)], budget, neighbors).steps[0].noise_multiplier
    replaced = math.sqrt(2.0) if neighbors == "replace_one" else 1.0
    noise = multiplier * replaced * columns / (_USUAL_ROWS if rows is None else rows)
    return noise * math.sqrt(2 * columns) < _MOST_NOISE
