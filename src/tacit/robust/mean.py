"""The estimator: private means of columns, heavy-tailed ones too."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_choices, check_shapes, checked_budget
from tacit.messages import describe
from tacit.privacy import Account, Budget, Gaussian, Laplace, Step
from tacit.release import Affine, Statistic, calibrated_plan
from tacit.robust import scales
from tacit.robust.releases import (
    bounded_sum,
    column_bounds,
    find_interval,
    intersect,
    noise_deviation,
    per_column,
    release_mean,
    release_trimmed_mean,
)
from tacit.statistics import Clip, Influence, Magnitudes, RowCount, Smoothed, TrimmedSum

# benchmarks/robust_mean.py measures what these numbers give, on four heavy-tailed or shifted laws.
# Parts of the budget for the releases before the mean, as epsilon for Laplace and as squared signal-to-noise ratio for
# Gaussian noise.
_MAGNITUDES_BUDGET = 0.25  # Finding where to clip, about a given centre.
_SEARCH_BUDGET, _LOCATION_BUDGET, _SECOND_MAGNITUDES_BUDGET = 0.1, 0.1, 0.2  # The same where the centre is found too.
_COUNT_BUDGET = 0.05  # A first count, where the number of rows is secret.
# Number of rows times epsilon under which a range is hardly ever found.
_FEW = 300
_METHODS = ("adaptive", "clipped", "robust", "trimmed")
_FINDING_METHODS = ("adaptive", "trimmed")
_STORED = ("mean", "noise_std", "centre", "scale")  # Attributes that a model file holds.
_SCALES = ("auto", "minimax", "thesis", "improved")


class RobustMean(PrivateEstimator):
    """Means of columns under differential privacy, however heavy their tails.

    Each value is bounded before it is summed. A tight bound has a bias, a wide one needs much noise; the methods differ
    in how the bound is chosen.

    Parameters
    ----------
    method : {"adaptive", "clipped", "robust", "trimmed"}, default "adaptive"
        "adaptive" needs no public knowledge at all: part of the budget finds a range [a, b] to clip to, which need not
        be symmetric. "clipped" clips to ``centre`` +- a scale that follows from the moment bound, or to the bounds.
        "robust" bounds by a smooth function instead (Catoni and Giulini, 2017), as the published estimators do; the
        error of its non-private part has Gaussian tails, but under privacy noise clipping is as good or better.
        "trimmed" is the mean of the values between two quantiles, which are found first: for columns that are symmetric
        but for their tails, and needs no public knowledge either. Skewed columns have another mean than their middle.
    moment_bound : float or (n_features,) array, optional
        What E|x - centre|^k is known to be at most, for "clipped" and "robust". Privacy does not depend on its truth;
        accuracy does.
    moment_order : float, default 2
        The order k of that moment, over 1. A bound on a higher moment allows a tighter scale; "robust" takes up to 3.
    scale : {"auto", "minimax", "thesis", "improved"}, float or (n_features,) array, default "auto"
        For "clipped" and "robust". "minimax" has the least worst-case error for the moment bound; "auto" is half of
        that, better on nearly all real distributions and never much worse. "thesis" and "improved" are the published
        scales, for "robust" alone. A number is taken as it is.
    centre : float or (n_features,) array, optional
        A public guess of where values are. The better it is, the smaller the moments about it. By default 0 for
        "clipped" and "robust", and for the others found with a fifth of the budget, which pays off where values are far
        from 0 compared with their spread, as years or body temperatures are. Pass 0 where they are not, as incomes.
    trim : float, default 0.05
        For "trimmed": the share of values that is left out on either side, from 0.001 to 0.45.
    epsilon : float, default 1.0
    delta : float, default 1e-6
        The privacy budget; delta may be 0.
    noise : {"auto", "laplace", "gaussian"}, default "auto"
        The kind of noise; "auto" is the one of which there is less. Laplace noise is best for a few columns, spends no
        delta, and the certificate says 0 then. Gaussian noise needs a positive delta.
    bounds : float, (low, high) or Schema, optional
        What is publicly known about rows, if anything: values beyond are brought inside. "clipped" without a moment
        bound clips to them.
    neighbors : {"replace_one", "add_remove"}, default "replace_one"
        Whether one person's row may take another value, the number of rows being public; or be there or not, the number
        of rows being secret as well.
    missing : {"error", "ignore"}, default "error"
        What to do about cells that hold no number: refuse, before anything is spent, or leave such rows out.
    ledger : Account, optional
        What the fit is charged to: ``tacit.Ledger("budget.db").account("my data")``.
    random_state : int, optional
        For tests and experiments only: it makes the noise reproducible, so *not private*, and the certificate says so.
    verbose : bool, default False
        It does nothing here, because a fit takes only a few passes over the rows.

    Attributes
    ----------
    mean_ : (n_features,) array
    centre_, scale_ : (n_features,) arrays
        Where values were measured from, and the scale they were bounded at.
    noise_std_ : (n_features,) array
        Standard deviation of the noise in ``mean_``; where the number of rows is secret, an estimate of it.
    privacy_ : Certificate
        What was released, with how much noise, and what that guarantees.
    n_iter_ : int
        How many releases were made.
    n_features_in_ : int
    feature_names_in_ : array
        Where the rows' columns have names.

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

    _needs_bounds = False

    def __init__(
        self,
        *,
        method: str = "adaptive",
        moment_bound: Any = None,
        moment_order: float = 2,
        scale: Any = "auto",
        centre: Any = None,
        trim: float = 0.05,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        noise: str = "auto",
        bounds: Any = None,
        neighbors: str = "replace_one",
        missing: str = "error",
        ledger: Account | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.moment_bound = moment_bound
        self.moment_order = moment_order
        self.scale = scale
        self.centre = centre
        self.trim = trim
        self.epsilon = epsilon
        self.delta = delta
        self.noise = noise
        self.bounds = bounds
        self.neighbors = neighbors
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RobustMean:
        """Compute the means of the columns of `X`.

        Parameters
        ----------
        X : array-like, data frame, dict of columns, path of a .csv or .parquet file, or Source
        y : ignored
        """
        budget = self._checked_budget()
        domain, rows = self._open(X)
        columns = domain.columns
        centre = per_column("centre", 0.0 if self.centre is None else self.centre, columns)
        finding = self.method in _FINDING_METHODS
        locating = finding and self.centre is None
        influence, moment, fixed = self._checked_scale(columns)
        low, high = column_bounds(domain, centre, anywhere=locating)
        counting = self.neighbors != "replace_one" or self.missing == "ignore"  # The number of complete rows is secret.
        # With a weight of 1, counting costs nothing under replace_one.
        weight = 0.0 if not counting else (1.0 if self.neighbors == "replace_one" else 0.5)
        steps, budget = self._steps(influence, columns, weight, needs_count=counting and fixed is None, budget=budget)
        n_rows = self._check_rows(rows, 1, "the least number", budget.delta)
        if finding and n_rows is not None and n_rows * budget.epsilon < _FEW:
            warnings.warn(
                f"{n_rows} rows are few for finding a range at epsilon={budget.epsilon:g}; the mean may be far off. "
                'State bounds or a moment_bound, with method="clipped".',
                UserWarning,
                stacklevel=3,
            )
        curator = self._curator(rows, domain, steps, budget, f"mean of {columns} column(s), {self.method}")
        # A sum has the same sensitivity at every scale.
        unit = bounded_sum(influence, -np.ones(columns), np.ones(columns), weight)
        if not domain.unbounded:  # Rows are clipped to the bounds, and mapped back to their own units.
            if domain.schema is None:
                curator.map_rows(domain.row_map)
            curator.map_rows(domain.restoring_map)
        curator.map_rows(Affine(np.ones(columns), -centre))
        self._domain = domain
        if locating:
            interval = intersect(*find_interval(curator, "search", "location", unit, columns), low, high)
            centre, _ = release_mean(curator, "location", bounded_sum(influence, *interval, weight), n_rows)
            curator.map_rows(Affine(np.ones(columns), -centre))
            low, high = low - centre, high - centre
        if self.method == "trimmed":
            ends = TrimmedSum(-np.ones(columns), np.ones(columns))
            interval = find_interval(curator, "magnitudes", "mean", ends, columns, self.trim)
            ends = TrimmedSum(*intersect(*interval, low, high))
            mean, self.noise_std_ = release_trimmed_mean(curator, "mean", ends)
            self.mean_, self.centre_, self.scale_ = centre + mean, centre + ends.middle, ends.half
        else:
            noise = noise_deviation(curator, "mean", unit)
            if finding:
                interval = intersect(*find_interval(curator, "magnitudes", "mean", unit, columns), low, high)
            else:
                if fixed is None:
                    count = n_rows if n_rows is not None else max(1.0, float(curator.release("rows", RowCount())[0]))
                    if moment is None:
                        raise ValueError(f"scale={describe(self.scale)} is a rule for a moment_bound; pass one.")
                    if self.scale == "thesis":
                        fixed = scales.thesis_scale(moment, count)
                    elif self.scale == "improved":
                        fixed = scales.improved_scale(moment, count, self.epsilon, self.delta)
                    else:
                        fixed = scales.minimax_scale(influence, moment, self.moment_order, noise, count)
                        fixed = fixed / 2 if self.scale == "auto" else fixed
                interval = intersect(-fixed, fixed, low, high) if self.method == "clipped" else (-fixed, fixed)
            statistic = bounded_sum(influence, *interval, weight)
            mean, count = release_mean(curator, "mean", statistic, n_rows)
            self.mean_ = centre + mean
            self.centre_, self.scale_ = centre + statistic.centre, statistic.scale
            self.noise_std_ = noise * statistic.half_width / count
        self._influence, self._moment, self._origin = influence, moment, centre
        self.n_iter_ = len(steps)
        self._certify(curator, budget, n_rows, [f"Mean of {columns} column(s), method {self.method}."])
        return self

    def interval(self, confidence: float = 0.95) -> tuple[Array, Array]:
        """Return, for each column, an interval that holds the mean of the distribution rows are drawn from.

        It rests on the moment bound, which must be true, and of what was read from rows on ``mean_`` alone. It adds up
        the largest possible bias, a bound on sampling error (Bernstein's inequality) and a quantile of the noise, so it
        is wider than it need be.

        Parameters
        ----------
        confidence : float, default 0.95
            Least probability that an interval holds the mean of its column.
        """
        check_is_fitted(self)
        if not 0 < confidence < 1:
            raise ValueError(f"confidence must be between 0 and 1, such as 0.95, and it is {describe(confidence)}.")
        rows = self.privacy_.rows
        if self._moment is None or rows is None:
            raise ValueError(
                "An interval needs a moment bound, and a number of rows that is public: fit with method "
                '"clipped" or "robust", moment_bound=..., neighbors="replace_one" and missing="error".'
            )
        failure = 1 - confidence
        scale = self.scale_ if self.method == "robust" else np.abs(self.centre_ - self._origin) + self.scale_
        error = scales.deviation_bound(self._influence, scale, self._moment, self.moment_order, rows, failure / 2)
        pure = isinstance(self.privacy_.plan.steps[-1], Laplace)
        margin = error + (scales.laplace_tail if pure else scales.gaussian_tail)(1.0, failure / 4) * self.noise_std_
        return self.mean_ - margin, self.mean_ + margin

    def _checked_budget(self) -> Budget:
        check_choices(self, method=_METHODS, noise=("auto", "laplace", "gaussian"))
        budget = checked_budget(self, pure=True)
        if not isinstance(self.trim, numbers.Real) or not 0.001 <= self.trim <= 0.45:
            raise ValueError(f"trim must be a share from 0.001 to 0.45, and it is {describe(self.trim)}.")
        if self.noise == "gaussian" and budget.delta == 0:
            raise ValueError('noise="gaussian" needs a positive delta, such as 1e-6, and delta is 0.')
        if isinstance(self.bounds, str):
            raise ValueError(
                'bounds must be numbers, a Schema or None, and it is "private"; method="adaptive" finds its own.'
            )
        return budget

    def _checked_scale(self, columns: int) -> tuple[Influence, Array | None, Array | None]:
        """Return the influence, the moment bound, and the scale where it is given or follows from the bounds."""
        if self.method in _FINDING_METHODS:
            if self.moment_bound is not None or not isinstance(self.scale, str) or self.scale != "auto":
                raise ValueError(
                    f'method="{self.method}" finds its own scale; leave out moment_bound and scale, or choose '
                    'method="clipped".'
                )
            return Clip(), None, np.ones(columns)
        moment = None
        if self.moment_bound is not None:
            moment = per_column("moment_bound", self.moment_bound, columns, positive=True)
        beta = math.log(1 / scales.FAILURE)
        if isinstance(self.scale, str):
            check_choices(self, scale=_SCALES[: 4 if self.method == "robust" else 2])
            published = self.scale in ("thesis", "improved")
            if published and self.moment_order != 2:
                raise ValueError(f'scale="{self.scale}" is for second moments; leave moment_order at 2.')
            if self.scale == "improved" and self.delta == 0:
                raise ValueError('scale="improved" depends on delta, and delta is 0; pass a positive one.')
            if moment is None and (self.method == "robust" or self.bounds is None):
                raise ValueError(
                    f'method="{self.method}" needs moment_bound, what E|x - centre|^k is known to be at most, or a '
                    'scale. If nothing is known, use method="adaptive".'
                )
            fixed = np.full(columns, np.inf) if moment is None else None
            beta = math.sqrt(beta) if self.scale == "improved" else beta
        else:
            fixed = per_column("scale", self.scale, columns, positive=True)
        influence = Clip() if self.method == "clipped" else Smoothed(beta)
        influence.bias(self.moment_order)  # It refuses orders for which there is no bound.
        return influence, moment, fixed

    def _steps(
        self, influence: Influence, columns: int, weight: float, *, needs_count: bool, budget: Budget
    ) -> tuple[list[Step], Budget]:
        """Return the steps of the plan with the kind of noise of which there is less, and the budget they keep."""
        clipped = bounded_sum(influence, -np.ones(columns), np.ones(columns), weight)
        mean = TrimmedSum(-np.ones(columns), np.ones(columns)) if self.method == "trimmed" else clipped
        before: list[tuple[str, Statistic, float]] = []
        if self.method in _FINDING_METHODS and self.centre is None:
            search = ("search", Magnitudes(columns), _SEARCH_BUDGET)
            location = ("location", clipped, _LOCATION_BUDGET)
            before = [search, location, ("magnitudes", Magnitudes(columns), _SECOND_MAGNITUDES_BUDGET)]
        elif self.method in _FINDING_METHODS:
            before = [("magnitudes", Magnitudes(columns), _MAGNITUDES_BUDGET)]
        elif needs_count:
            before = [("rows", RowCount(), _COUNT_BUDGET)]
        releases = [*before, ("mean", mean, 1 - sum(part for _, _, part in before))]
        pure = Budget(budget.epsilon)
        laplace: list[Step] = [Laplace(name, 1 / part, 1, each.size) for name, each, part in releases]
        if budget.delta == 0 or self.noise == "laplace":
            return laplace, pure
        gaussian: list[Step] = [Gaussian(name, part**-0.5, 1, each.size) for name, each, part in releases]

        def least(steps: list[Step], kept: Budget, norm: Literal["l1", "l2"]) -> float:
            plan = calibrated_plan(steps, kept, self.neighbors)
            return plan.steps[-1].noise_multiplier * mean.sensitivity(self.neighbors, norm)

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
        self._checked_budget()
        columns = self._domain.columns
        self._influence, self._moment, _ = self._checked_scale(columns)
        self._origin = per_column("centre", 0.0 if self.centre is None else self.centre, columns)
        arrays = {name: np.array(values["mean"][name], float) for name in _STORED}
        check_shapes(**{name: (array, (columns,)) for name, array in arrays.items()})
        for name, array in arrays.items():
            setattr(self, f"{name}_", array)


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
    means = RobustMean(**options).fit(np.asarray(x)[:, None] if one else x).mean_
    return float(means[0]) if one else means


def _is_one_dimensional(x: Any) -> bool:
    if not isinstance(x, (list, tuple, range)) and not hasattr(x, "__array__"):
        return False
    try:
        return np.ndim(x) == 1
    except ValueError:  # Rows have unequal lengths; the fit refuses them in a sentence.
        return False
