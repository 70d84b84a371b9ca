"""The estimator: private means of columns, heavy-tailed ones too."""

from __future__ import annotations

import math
import numbers
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, check_choices, check_shapes
from tacit.fitting.allocation import noise_multiplier
from tacit.fitting.clipping import minimax_scale
from tacit.fitting.published import find_published
from tacit.messages import describe, warn_user
from tacit.privacy import Budget, Gaussian, Laplace, Step
from tacit.release import Affine, Statistic, calibrated_plan
from tacit.robust.columns import box, per_column, within
from tacit.robust.releases import find_interval, noise_deviation, release_mean, release_trimmed_mean, sum_between
from tacit.robust.scales import deviation, gaussian_tail, laplace_tail
from tacit.statistics import Clip, Influence, Magnitudes, RowCount, TrimmedSum

# Parts of the budget: of epsilon with Laplace noise, squared signal-to-noise ratios with Gaussian noise. The mean has
# the rest. benchmarks/robust_mean.py measures what they give.
_INTERVAL_PART = 0.25  # For finding where to clip, around a given centre.
_SEARCH_PART, _LOCATION_PART, _REFINING_PART = 0.1, 0.1, 0.2  # For a first interval, a centre in it, and the interval.
_COUNT_PART = 0.05  # For the number of rows where it is secret, and a scale depends on it.

_FEW = 300  # With fewer rows times epsilon than this, an interval is hardly ever found.
_FINDING_METHODS = ("adaptive", "trimmed")
_STORED = ("mean", "noise_std", "centre", "scale")  # What a model file holds.


class RobustMean(PrivateEstimator):
    """Means of columns under differential privacy, however heavy their tails.

    Each value is bounded before it is summed. A tight bound has a bias, a wide one needs much noise; the methods differ
    in how the bound is chosen.

    Parameters
    ----------
    method : {"adaptive", "clipped", "trimmed", "robust"} or published method, default "adaptive"
        "adaptive" needs no public knowledge at all: part of the budget finds a range [a, b] to clip to, which need not
        be symmetric. "clipped" clips to ``centre`` +- a scale that follows from the moment bound, or to the bounds.
        "trimmed" is the mean of the values between two quantiles, which are found first: for columns that are symmetric
        but for their tails, and needs no public knowledge either. Skewed columns have another mean than their middle.
        "robust" bounds by a smooth function, as published: :class:`tacit.published.CatoniMean`. Pass such an object to
        set its options, of which a moment bound or a scale has no default.
    moment_bound : float or (n_features,) array, optional
        What E|x - centre|^k is known to be at most, for "clipped". Privacy does not depend on its truth; accuracy does.
    moment_order : float, default 2
        The order k of that moment, over 1. A bound on a higher moment allows a tighter scale.
    scale : {"auto", "minimax"}, float or (n_features,) array, default "auto"
        For "clipped". "minimax" has the least worst-case error for the moment bound; "auto" is half of that, better on
        nearly all real distributions and never much worse. A number is taken as it is.
    centre : float or (n_features,) array, optional
        A public guess of where values are. The better it is, the smaller the moments about it. By default 0 for
        "clipped" and "robust", and for the others found with a fifth of the budget, which pays off where values are far
        from 0 compared with their spread, as years or body temperatures are. Pass 0 where they are not, as incomes.
    trim : float, default 0.05
        For "trimmed": the proportion of values that is left out on either side, from 0.001 to 0.45.
    epsilon : float, default 1.0
    delta : float, default 1e-6
        The privacy budget; delta may be 0.
    noise : {"auto", "laplace", "gaussian"}, default "auto"
        The kind of noise; "auto" is the one of which there is less. Laplace noise is best for a few columns, spends no
        delta, and the certificate says 0 then. Gaussian noise needs a positive delta.
    bounds : float, (low, high) or Schema, optional
        What is publicly known about rows, if anything: values beyond are brought inside. "clipped" without a moment
        bound clips to them.
    verbose : bool, default False
        Does nothing here; there is one pass over the rows, or two.

    Attributes
    ----------
    mean_ : (n_features,) array
    centre_, scale_ : (n_features,) arrays
        Where values were measured from, and the scale they were bounded at.
    noise_std_ : (n_features,) array
        Standard deviation of the noise in ``mean_``; where the number of rows is secret, an estimate of it.
    n_iter_ : int
        How many releases were made.

    Notes
    -----
    Everything that a fit sets is private: it may be printed or published.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rows = np.random.default_rng(0).lognormal(size=(20_000, 1))
    >>> model = tacit.RobustMean(epsilon=1.0, random_state=0).fit(rows)
    >>> model.mean_.round(1), rows.mean(axis=0).round(1)
    (array([1.6]), array([1.6]))
    >>> known = tacit.RobustMean(method="clipped", moment_bound=8.0, random_state=0).fit(rows)
    >>> low, high = known.interval(0.95)
    >>> bool((low < rows.mean()) & (rows.mean() < high))
    True
    """

    method: Any = "adaptive"
    moment_bound: Any = None
    moment_order: float = 2
    scale: Any = "auto"
    centre: Any = None
    trim: float = 0.05
    noise: str = "auto"

    _needs_bounds = False
    _methods = ("adaptive", "clipped", "trimmed")
    _published: ClassVar = {"robust": ("CatoniMean", {})}

    def fit(self, X: Any, y: Any = None) -> RobustMean:
        """Compute the means of the columns of `X`.

        Parameters
        ----------
        X : array-like, data frame, dict of columns, path of a .csv or .parquet file, or Source
        y : ignored
        """
        budget = self._check_parameters()
        domain, rows = self._open(X)
        columns = domain.columns
        centre = per_column("centre", 0.0 if self.centre is None else self.centre, columns)
        finding = self.method in _FINDING_METHODS
        located = finding and self.centre is None
        influence, moment, fixed = self._check_scale(columns)
        low, high = box(domain, centre, anywhere=located)
        counted = self.neighbors != "replace_one" or self.missing == "ignore"  # Their number is secret.
        # With replace_one, a count of weight 1 adds nothing to the sensitivity.
        weight = 0.0 if not counted else (1.0 if self.neighbors == "replace_one" else 0.5)
        steps, budget = self._steps(influence, columns, weight, needs_count=counted and fixed is None, budget=budget)
        n_rows = self._check_rows(rows, delta=budget.delta)
        if finding and n_rows is not None and n_rows * budget.epsilon < _FEW:
            warn_user(
                f"{n_rows} rows are few for finding a range at epsilon={budget.epsilon:g}; the mean may be far off. "
                'State bounds or a moment_bound, with method="clipped".'
            )
        curator = self._curator(rows, domain, steps, budget, f"mean of {columns} column(s), {self.method}")
        # At scale 1 the statistic has the sensitivity that it has at any scale.
        unit = sum_between(influence, -np.ones(columns), np.ones(columns), weight)
        if not domain.unbounded:  # Rows are brought inside the bounds, and back to their own units.
            if domain.schema is None:
                curator.map_rows(domain.row_map)
            curator.map_rows(domain.restoring_map)
        curator.map_rows(Affine(np.ones(columns), -centre))
        self._domain = domain
        if located:
            interval = within(*find_interval(curator, "search", "location", unit, columns), low, high)
            centre, _ = release_mean(curator, "location", sum_between(influence, *interval, weight), n_rows)
            curator.map_rows(Affine(np.ones(columns), -centre))
            low, high = low - centre, high - centre
        if self.method == "trimmed":
            ends = TrimmedSum(-np.ones(columns), np.ones(columns))
            ends = TrimmedSum(
                *within(*find_interval(curator, "magnitudes", "mean", ends, columns, self.trim), low, high)
            )
            found, self.noise_std_ = release_trimmed_mean(curator, "mean", ends)
            self.mean_, self.centre_, self.scale_ = centre + found, centre + ends.middle, ends.half
        else:
            noise = noise_deviation(curator, "mean", unit)
            if finding:
                interval = within(*find_interval(curator, "magnitudes", "mean", unit, columns), low, high)
            else:
                if fixed is None:
                    about = n_rows if n_rows is not None else max(1.0, float(curator.release("rows", RowCount())[0]))
                    fixed = self._scale_by_rule(moment, noise, about)
                interval = within(-fixed, fixed, low, high) if self.method == "clipped" else (-fixed, fixed)
            statistic = sum_between(influence, *interval, weight)
            found, count = release_mean(curator, "mean", statistic, n_rows)
            self.mean_ = centre + found
            self.centre_, self.scale_ = centre + statistic.centre, statistic.scale
            self.noise_std_ = noise * statistic.half_width / count
        self._influence, self._moment, self._origin = influence, moment, centre
        self.n_iter_ = len(steps)
        self._certify(curator, budget, n_rows, [f"Mean of {columns} column(s), method {self.method}."])
        return self

    def interval(self, confidence: float = 0.95) -> tuple[Array, Array]:
        """Return, for each column, an interval that holds the mean of the distribution rows are drawn from.

        It rests on the moment bound, which must be true, and on nothing read from rows beside ``mean_``. It adds up the
        worst bias, a bound on chance (Bernstein's inequality) and a quantile of the noise, so it is cautious.

        Parameters
        ----------
        confidence : float, default 0.95
            How often such intervals hold the mean, at least; for each column by itself.
        """
        check_is_fitted(self)
        if not 0 < confidence < 1:
            raise ValueError(f"confidence must be between 0 and 1, such as 0.95, and it is {describe(confidence)}.")
        rows = self.privacy_.rows
        if self._moment is None or rows is None:
            raise ValueError(
                'An interval needs a moment bound, and a number of rows that is public: fit with method="clipped" or '
                'tacit.published.CatoniMean, moment_bound=..., neighbors="replace_one" and missing="error".'
            )
        failure = 1 - confidence
        published = find_published(self)
        order = self.moment_order if published is None else published.moment_order
        scale = np.abs(self.centre_ - self._origin) + self.scale_ if published is None else self.scale_
        chance = deviation(self._influence, scale, self._moment, order, rows, failure / 2)
        pure = isinstance(self.privacy_.plan.steps[-1], Laplace)
        margin = chance + (laplace_tail if pure else gaussian_tail)(1.0, failure / 4) * self.noise_std_
        return self.mean_ - margin, self.mean_ + margin

    def _check_parameters(self) -> Budget:
        published = find_published(self)
        check_choices(self, noise=("auto", "laplace", "gaussian"))
        budget = check_budget(self, pure=True)
        if published is not None and published.needs_delta and budget.delta == 0:
            raise ValueError(f'scale="{published.scale}" depends on delta, and delta is 0; pass a positive one.')
        if not isinstance(self.trim, numbers.Real) or not 0.001 <= self.trim <= 0.45:
            raise ValueError(f"trim must be a share from 0.001 to 0.45, and it is {describe(self.trim)}.")
        if self.noise == "gaussian" and budget.delta == 0:
            raise ValueError('noise="gaussian" needs a positive delta, such as 1e-6, and delta is 0.')
        if isinstance(self.bounds, str):
            raise ValueError(
                'bounds must be numbers, a Schema or None, and it is "private"; method="adaptive" finds its own.'
            )
        return budget

    def _check_scale(self, columns: int) -> tuple[Influence, Array | None, Array | None]:
        """Return the influence, the moment bound, and the scale where it is given or follows from the bounds."""
        published = find_published(self)
        if self.method != "clipped" and (self.moment_bound is not None or not _is_word(self.scale, "auto")):
            how = "finds its own scale" if published is None else "has options of its own"
            raise ValueError(
                f'method={self.method!r} {how}; leave out moment_bound and scale, or choose method="clipped".'
            )
        if self.method in _FINDING_METHODS:
            return Clip(), None, np.ones(columns)
        options, influence = (self, Clip()) if published is None else (published, published.influence)
        moment, fixed = None, None
        if options.moment_bound is not None:
            moment = per_column("moment_bound", options.moment_bound, columns, positive=True)
        if not isinstance(options.scale, str):
            fixed = per_column("scale", options.scale, columns, positive=True)
        elif published is None:
            check_choices(self, scale=("auto", "minimax"))
            if moment is None and self.bounds is None:
                raise ValueError(
                    'method="clipped" needs moment_bound, what E|x - centre|^k is known to be at most, or a scale. If '
                    'nothing is known, use method="adaptive".'
                )
            fixed = np.full(columns, np.inf) if moment is None else None
        influence.bias(options.moment_order)  # It refuses orders that there are none for.
        return influence, moment, fixed

    def _steps(
        self, influence: Influence, columns: int, weight: float, *, needs_count: bool, budget: Budget
    ) -> tuple[list[Step], Budget]:
        """Return the steps of the plan with the kind of noise of which there is less, and the budget they keep."""
        clipped = sum_between(influence, -np.ones(columns), np.ones(columns), weight)
        mean = TrimmedSum(-np.ones(columns), np.ones(columns)) if self.method == "trimmed" else clipped
        before: list[tuple[str, Statistic, float]] = []
        if self.method in _FINDING_METHODS and self.centre is None:
            before = [
                ("search", Magnitudes(columns), _SEARCH_PART),
                ("location", clipped, _LOCATION_PART),
                ("magnitudes", Magnitudes(columns), _REFINING_PART),
            ]
        elif self.method in _FINDING_METHODS:
            before = [("magnitudes", Magnitudes(columns), _INTERVAL_PART)]
        elif needs_count:
            before = [("rows", RowCount(), _COUNT_PART)]
        parts = [*before, ("mean", mean, 1 - sum(part for _, _, part in before))]
        pure = Budget(budget.epsilon)
        laplace: list[Step] = [Laplace(name, 1 / part, 1, each.size) for name, each, part in parts]
        if budget.delta == 0 or self.noise == "laplace":
            return laplace, pure
        gaussian: list[Step] = [Gaussian(name, noise_multiplier(part), 1, each.size) for name, each, part in parts]

        def least(steps: list[Step], kept: Budget, norm: Literal["l1", "l2"]) -> float:
            return calibrated_plan(steps, kept, self.neighbors).steps[-1].noise_multiplier * mean.sensitivity(
                self.neighbors, norm
            )

        if self.noise == "gaussian" or math.sqrt(2) * least(laplace, pure, "l1") > least(gaussian, budget, "l2"):
            return gaussian, budget
        return laplace, pure

    _about = (
        "mean has the means of columns, in their own units, the standard deviation of the noise in them, and the "
        "centre and the scale at which values were bounded."
    )

    def _stored(self) -> dict[str, Any]:
        return {"mean": {name: getattr(self, f"{name}_").tolist() for name in _STORED}}

    def _restore(self, values: dict[str, Any]) -> None:
        self._check_parameters()
        columns = self._domain.columns
        self._influence, self._moment, _ = self._check_scale(columns)
        self._origin = per_column("centre", 0.0 if self.centre is None else self.centre, columns)
        found = {name: np.array(values["mean"][name], float) for name in _STORED}
        check_shapes(**{name: (array, (columns,)) for name, array in found.items()})
        for name, array in found.items():
            setattr(self, f"{name}_", array)

    def _scale_by_rule(self, moment: Array, noise: float, rows: float) -> Array:
        """Return the scale that follows from the moment bound."""
        if (published := find_published(self)) is not None:
            return published.scale_by_rule(moment, noise, rows, self.epsilon, self.delta)
        scale = minimax_scale(Clip(), moment, self.moment_order, noise, rows)
        return scale / 2 if self.scale == "auto" else scale


def mean(x: Any, **options: Any) -> float | Array:
    """Return the private mean of `x`: a number for one-dimensional `x`, else one for each column.

    A short way to :class:`RobustMean`, which also keeps the certificate. Without options it needs no public knowledge
    about `x` at all.

    Parameters
    ----------
    x : array-like, data frame, dict of columns, path of a .csv or .parquet file, or Source
    **options
        The parameters of :class:`RobustMean`: ``epsilon``, ``delta``, ``method``, ``moment_bound``, ``bounds``, ...

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> incomes = 30_000 * np.random.default_rng(0).lognormal(size=50_000)
    >>> bool(abs(tacit.mean(incomes, epsilon=0.5, random_state=0) / incomes.mean() - 1) < 0.02)
    True
    """
    one = _is_one_dimensional(x)
    found = RobustMean(**options).fit(np.asarray(x)[:, None] if one else x).mean_
    return float(found[0]) if one else found


def _is_word(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def _is_one_dimensional(x: Any) -> bool:
    if not isinstance(x, (list, tuple, range)) and not hasattr(x, "__array__"):
        return False
    try:
        return np.ndim(x) == 1
    except ValueError:  # Rows of unequal length are refused in a sentence later.
        return False
