"""The estimator: a private Gaussian mixture with scikit-learn's interface."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from scipy.special import logsumexp
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.fitting import PrivateEstimator, check_budget, check_choices, float_array, progress
from tacit.fitting.progress import Watch
from tacit.fitting.published import find_published
from tacit.messages import describe
from tacit.mixture.fitted_mixture import (
    ABOUT,
    covariance_attributes,
    draw_rows,
    log_joint,
    pull_in,
    read_mixture,
    write_mixture,
)
from tacit.mixture.mixture import Mixture, public_means
from tacit.mixture.model_choice import component_grid, grid_in_words
from tacit.mixture.outliers import Outliers, with_outliers
from tacit.mixture.prior import MixturePrior
from tacit.mixture.scale_free import MixtureFit, fit_scale_free
from tacit.mixture.scale_free_schedule import CHOICE, scale_free_schedule
from tacit.mixture.settling import with_settling
from tacit.mixture.table_mixture import TableMixture, table_layout
from tacit.mixture.uncertainty import MixtureIntervals, confidence_intervals, releases_to_keep
from tacit.privacy import Budget
from tacit.release import Curator
from tacit.tables import Domain

_COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


class GaussianMixture(DensityMixin, PrivateEstimator):
    """Gaussian mixture fitted by expectation-maximisation under differential privacy.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int, default 1
        How many components. At a small epsilon fewer may be told apart; the rest are copies then. With several numbers
        such as ``range(1, 6)``, or "auto" for those from 1 to 10, one of them is chosen privately, as part of the
        budget.
    covariance_type : {"full", "tied", "diag", "spherical"}, default "full"
        As in scikit-learn. The simpler ones have fewer numbers to release, so less noise. "spherical" is so relative to
        the bounds: where columns have different ranges, their variances differ in proportion.
    method : {"scale_free", "joint", "per_parameter"} or published method, default "scale_free"
        "scale_free" measures each component in its own coordinates and is the best there is. The others are moment
        perturbation in the public ball: :class:`tacit.published.JointMoments`, and :class:`tacit.published.DPEM` as
        published by Park et al. (2017). Pass such an object to set its options.
    bounds : float, (low, high), Schema or "private"
        What is publicly known about rows: a radius, a pair of numbers or arrays, or a :class:`tacit.Schema`. With
        "private" a tenth of the budget is spent on finding a range. Bounds may be generous: accuracy hardly depends
        on them. They are never read from the data. With a schema that has categories, or columns of true and false,
        components are products: a Gaussian of the numbers, and proportions of the levels of each other column.
    n_iter : int or "auto", default "auto"
        Number of releases, fixed beforehand: there is no convergence test, as that would depend on rows.
    init : "private", "public" or (n_components, n_features) array, default "private"
        "private" grows the mixture by splitting; "public" starts from fixed points in the bounds; or your own means.
        "joint" and "per_parameter" start from public points unless means are given.
    prior : MixturePrior, optional
        For maximum a posteriori estimates.
    missing : {"error", "ignore", "model"}, default "error"
        What to do about missing cells: refuse, before anything is spent; leave such rows out; or fit the mixture to the
        cells that are there, every component taking the others as it expects them to be (method "scale_free"). A
        refusal tells that there are some, so that with "error" whether all cells are filled is taken to be public. How
        many rows are left out is not told: the number of complete rows is treated as secret. With "model" it is not
        told whether cells are missing. Infinite cells are refused as well, or else brought to the bounds, as all
        numbers beyond them are; with a schema they are missing ones.

    Attributes
    ----------
    weights_ : (n_components,) array
        Heaviest first.
    means_ : (n_components, n_features) array
        With a schema, of the columns of numbers alone, in their order.
    covariances_ : array
        Of the same columns, in scikit-learn's shapes for each covariance_type; of "spherical" ones,
        (n_components, n_features) if the columns have different ranges.
    precisions_cholesky_ : array
        As in scikit-learn.
    outliers_ : Outliers or None
        Rows that no component explains: their ``weight``, the proportion of rows they are, which is 0 where there are
        not clearly any, and the ``mean`` and ``variances`` of a wide Gaussian with independent columns (and
        ``level_probabilities``). ``score`` and ``sample`` count them in, as one more component; ``predict`` does not.
        None with methods that do not look for them. See :mod:`tacit.mixture.outliers`.
    n_components_ : int
        How many components there are: as many as asked for, or as were chosen.
    level_probabilities_ : dict of (n_components, levels) arrays
        With a schema that has columns with levels: for each of them, by name, the probabilities of its levels, in the
        schema's order, or of false and true. No level is taken to be impossible.
    n_iter_ : int
        How many releases were made.

    Notes
    -----
    Everything that a fit sets is private: it may be printed or published. A pickle also holds what the constructor was
    given; publish ``tacit.save_model``'s file instead, which leaves out the ledger and its address.

    There are no ``labels_``, no training score and no ``fit_predict``, because those are functions of rows that no
    noise protects. ``predict`` and ``score`` work on the rows you give them, and what they return is as sensitive as
    those rows are.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal([-2, 0], 0.5, (4000, 2)), rng.normal([2, 1], 0.5, (6000, 2))])
    >>> model = tacit.GaussianMixture(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> model.weights_.round(1)
    array([0.6, 0.4])
    >>> model.means_.round(1) + 0.0
    array([[ 2.,  1.],
           [-2.,  0.]])
    >>> model.privacy_.epsilon() <= 1.0
    True
    """

    n_components: int | str | Sequence[int] = field(default=1, kw_only=False)
    covariance_type: str = "full"
    method: Any = "scale_free"
    n_iter: int | str = "auto"
    init: Any = "private"
    prior: MixturePrior | None = None

    _methods = ("scale_free",)
    _published: ClassVar = {"joint": ("JointMoments", {}), "per_parameter": ("DPEM", {})}
    _moved: ClassVar = {
        "noise": "Write method=tacit.published.DPEM(noise=...).",
        "composition": "Write method=tacit.published.DPEM(composition=...).",
    }

    def fit(self, X: Any, y: Any = None) -> GaussianMixture:
        """Fit the mixture to the rows of `X`, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : ignored
        """
        budget, grid = self._check_parameters(), component_grid(self.n_components)
        domain, rows = self._open(X)
        n_rows = self._check_rows(rows, grid[0], "n_components")
        self._check_init(domain.columns)
        schedule = self._schedule(domain, n_rows)
        purpose = f"{type(self).__name__}({grid_in_words(grid)}, method={self.method!r})"
        curator = self._curator(rows, domain, schedule.steps(), budget, purpose)
        self._enter(curator, domain)
        with progress(self.verbose, f"Fitting {grid_in_words(grid)} component(s)") as watch:
            fit = self._fit_rows(curator, schedule, watch)
        rows_known = n_rows or fit.rows  # The public number of rows, or the noisy one.
        self._rows_known = None if rows_known is None else max(1, round(rows_known))
        self._released = releases_to_keep(fit) if self.method == "scale_free" else None
        self._publish(fit.mixture, fit.outliers, fit.outlier_weight)
        self.n_iter_ = schedule.n_releases
        self._certify(curator, budget, n_rows, self._notes())
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the likeliest component of each row."""
        return self._log_joint_of_components(X).argmax(axis=0)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each component, for each row."""
        joint = self._log_joint_of_components(X)
        return np.exp(joint - logsumexp(joint, axis=0)).T

    def score_samples(self, X: Any) -> Array:
        """Return the log density at each row, in the units of the rows.

        For columns with levels it is the log probability of the row's level. With ``missing="model"``, it is the
        density of the cells that are there.
        """
        blocks = self._standard_blocks(X)
        joint = log_joint(self._density(), self._domain, blocks, self.missing == "model")
        return np.asarray(logsumexp(joint, axis=0))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows of `X`."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array | pa.Table, np.ndarray]:
        """Draw synthetic rows, at no further cost to privacy.

        Parameters
        ----------
        n_samples : int
        random_state : int, numpy Generator or None
            Of the synthetic rows alone.

        Returns
        -------
        X : array, or a pyarrow Table with the schema's columns if the bounds are a schema
            Rows inside the bounds.
        y : array
            The component each was drawn from; -1 for outliers.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, numbers.Integral) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {describe(n_samples)}; it must be a whole number, at least 1."
            )
        inside, labels = draw_rows(self._density(), self._domain, n_samples, np.random.default_rng(random_state))
        return self._domain.table(inside), np.where(labels == self.n_components_, -1, labels)

    def confidence_intervals(
        self, level: float = 0.9, *, n_bootstrap: int = 100, random_state: Any = None
    ) -> MixtureIntervals:
        """Return standard errors and intervals for weights and means, privacy noise included, at no further cost.

        They come from all that the fit released, taken together, which is more than its last round; see
        :mod:`tacit.mixture.uncertainty`. So the middle of an interval need not be the published value: it is the better
        estimate where components overlap. Releases are simulated `n_bootstrap` times; with missing cells, some hundreds
        of parameters or other methods, whole fits are (of at most 50,000 rows), and that is rougher. Where rows follow
        no such mixture, the intervals are for the one that fits best, not for a truth.

        Parameters
        ----------
        level : float, default 0.9
        n_bootstrap : int, default 100
            At least 10, and better more than 1 / (1 - level).
        random_state : int, numpy Generator or None
            Of the simulation alone.

        Returns
        -------
        MixtureIntervals
            With ``weights`` (K, 2), ``means`` of the columns of numbers (K, d, 2), ``weights_se``, ``means_se`` and
            ``found``. A warning says if components are not found again reliably: then their intervals mean little.

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> X = np.random.default_rng(0).normal([3.0, -1.0], 0.5, (5000, 2))
        >>> model = tacit.GaussianMixture(1, epsilon=0.5, bounds=(-10, 10), random_state=0).fit(X)
        >>> intervals = model.confidence_intervals(n_bootstrap=30, random_state=0)
        >>> intervals.means.shape, bool((intervals.means_se > 0.5 / 5000**0.5).all())
        ((1, 2, 2), True)
        """
        check_is_fitted(self)
        return confidence_intervals(self, level, n_bootstrap, random_state)

    def _check_parameters(self) -> Budget:
        """Refuse, in a sentence, parameters that make no sense; return the budget that they state."""
        grid = component_grid(self.n_components)
        find_published(self)
        check_choices(self, covariance_type=_COVARIANCE_TYPES)
        if isinstance(self.init, str) and self.init not in ("private", "public"):
            raise ValueError(f'init must be "private", "public" or an array of means, and it is {describe(self.init)}.')
        if len(grid) > 1 and (self.method != "scale_free" or not isinstance(self.init, str) or self.init != "private"):
            raise ValueError(
                f"The number of components is chosen (n_components={describe(self.n_components)}) by "
                'method="scale_free" with init="private" alone, as it grows its own candidates; pass one number.'
            )
        if self.prior is not None and not isinstance(self.prior, MixturePrior):
            raise ValueError(f"prior must be None or a tacit.MixturePrior, and it is {describe(self.prior)}.")
        budget = check_budget(self, missing=("error", "ignore", "model"))
        if self.missing == "model" and self.method != "scale_free":
            raise ValueError(
                f'missing="model" is there for method="scale_free" alone, and the method is {describe(self.method)}. '
                'Pass missing="ignore" to leave rows with missing cells out.'
            )
        return budget

    def _check_init(self, columns: int) -> None:
        """Refuse starting means that are not as many as components, or not of as many columns as rows have."""
        if isinstance(self.init, str):
            return
        means, components = float_array(self.init), component_grid(self.n_components)[0]
        if means is None or means.shape != (components, columns) or not np.isfinite(means).all():
            raise ValueError(
                f"init must be {components} finite means of {columns} column(s), and it is "
                f"{describe(self.init)} of another shape, or has cells that are not finite."
            )

    def _schedule(self, domain: Domain, n_rows: int | None) -> Any:
        """Return which releases a fit makes: it follows from public numbers."""
        grid, kind, published = component_grid(self.n_components), self.covariance_type, find_published(self)
        if published is None:
            grow = isinstance(self.init, str) and self.init == "private"
            options = {"n_iter": self.n_iter, "grow": grow, "missing": self.missing == "model"}
            schedule = scale_free_schedule(grid, table_layout(domain), kind, self.neighbors, n_rows, **options)
            return with_settling(schedule, Budget(self.epsilon, self.delta)) if self.n_iter == "auto" else schedule
        return published.schedule(grid[0], domain.columns, kind, Budget(self.epsilon, self.delta))

    def _fit_rows(self, curator: Curator, schedule: Any, watch: Watch = lambda done, total: None) -> MixtureFit:
        """Fit the mixture to a curator's rows, in the standard coordinates of the domain."""
        means = None
        if not isinstance(self.init, str):
            means = self._domain.standardise(float_array(self.init))
        elif self.init == "public":
            means = public_means(component_grid(self.n_components)[0], self._domain.columns)
        if (published := find_published(self)) is None:
            return fit_scale_free(curator, schedule, means, self.prior, self._domain.least_variances, watch)
        return MixtureFit(published.fit_mixture(curator, schedule, means, self.prior, watch))

    def _notes(self) -> list[str]:
        notes = [f"Gaussian mixture of {self.n_components_} component(s), method {self.method}."]
        if (grid := component_grid(self.n_components))[1:]:
            notes.append(
                f"Number of components chosen privately from {grid_in_words(grid)}, paid for by the release {CHOICE!r}."
            )
        if (published := find_published(self)) is not None:
            exact = "; its noise is shared out anew and exactly" if isinstance(self.bounds, str) else ""
            notes.append(f"As published: {published}{exact}.")
        return notes

    def _publish(self, mixture: Mixture, outliers: Mixture | None, outlier_weight: float) -> None:
        """Set the public attributes, in the units of the rows."""
        domain, layout = self._domain, table_layout(self._domain)
        if layout.levels and not isinstance(mixture, TableMixture):
            mixture = TableMixture.of(mixture, layout)
        places = list(layout.numbers)
        centre, scale = domain.centre[places], domain.scale[places]
        self._mixture, self._outliers = mixture, outliers
        self.n_components_, self.weights_ = mixture.count, mixture.weights
        self.means_ = centre + scale * mixture.means
        self.covariances_, self.precisions_cholesky_ = covariance_attributes(
            mixture.covariances, self.covariance_type, scale
        )
        if isinstance(mixture, TableMixture):
            self.level_probabilities_ = mixture.level_probabilities(domain.schema)
        self.outliers_ = None if outliers is None else Outliers.in_units(outlier_weight, outliers, domain)

    def _density(self) -> Mixture:
        """Return the whole density: the components, and outliers as one more."""
        check_is_fitted(self)
        if self._outliers is None or self.outliers_.weight == 0:
            return self._mixture
        return with_outliers(self._mixture, self._outliers, self.outliers_.weight)

    def _log_joint_of_components(self, X: Any) -> Array:
        """Return log(weight_k density_k), (K, rows), without outliers."""
        check_is_fitted(self)
        blocks = map(pull_in, self._standard_blocks(X))
        return log_joint(self._mixture, self._domain, blocks, self.missing == "model")

    _about = ABOUT

    def _stored(self) -> dict[str, Any]:
        values = {"mixture": write_mixture(self._mixture, self._domain), "rows": self._rows_known}
        if self._outliers is not None:
            density = write_mixture(self._outliers, self._domain)
            values["outliers"] = {"weight": self.outliers_.weight, "mixture": density}
        if self._released is not None:
            values["released"] = [each.tolist() for each in self._released]
        return values

    def _restore(self, values: dict[str, Any]) -> None:
        self._check_parameters()
        grid = component_grid(self.n_components)
        outliers, weight = None, 0.0
        if (stored := values.get("outliers")) is not None:
            outliers, weight = read_mixture(stored["mixture"], self._domain, 1), float(stored["weight"])
            if not 0 <= weight < 1:
                raise ValueError("the weight of outliers must be from 0 to 1")
        mixture = read_mixture(values["mixture"], self._domain, grid[0] if len(grid) == 1 else None)
        self._publish(mixture, outliers, weight)
        self._rows_known = None if values.get("rows") is None else int(values["rows"])
        released = values.get("released")
        self._released = None if released is None else [np.array(each, dtype=np.float64) for each in released]
