"""The estimator: a private Gaussian mixture with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np

from tacit.fitting import float_array, progress
from tacit.fitting.engine import run
from tacit.messages import describe
from tacit.mixture import published_compositions as compositions
from tacit.mixture.dp_em import Joint, PerParameter, public_means
from tacit.mixture.fitted_mixture import FittedMixture
from tacit.mixture.mixture_parameters import checked_mixture_budget
from tacit.mixture.model_choice import CHOICE, ChosenScaleFree, checked_grid, listed
from tacit.mixture.outliers import OUTLIERS, WithOutliers
from tacit.mixture.prior import MixturePrior
from tacit.mixture.scale_free import ScaleFree
from tacit.mixture.table_choice import ChosenTableScaleFree
from tacit.mixture.table_mixture import table_layout
from tacit.mixture.table_scale_free import TableScaleFree
from tacit.mixture.uncertainty import kept_releases
from tacit.privacy import Budget, Plan, Step
from tacit.release import stated_plan
from tacit.statistics.components import Array
from tacit.tables import Domain


class GaussianMixture(FittedMixture):
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
    method : {"scale_free", "joint", "per_parameter"}, default "scale_free"
        "scale_free" measures each component in its own coordinates and is the best there is. "joint" and
        "per_parameter" are moment perturbation in the public ball, the latter as published by Park et al. (2017).
    bounds : float, (low, high), Schema or "private"
        What is publicly known about rows: a radius, a pair of numbers or arrays, or a :class:`tacit.Schema`. With
        "private" a tenth of the budget is spent on finding a range. Bounds may be generous: accuracy hardly depends
        on them. They are never read from the data. With a schema that has categories, or columns of true and false,
        components are products: a Gaussian of the numbers, and shares of the levels of each other column.
    n_iter : int or "auto", default "auto"
        Number of releases, fixed beforehand: there is no convergence test, as that would depend on rows.
    init : "private", "public" or (n_components, n_features) array, default "private"
        "private" grows the mixture by splitting; "public" starts from fixed points in the bounds; or your own means.
        "joint" and "per_parameter" start from public points unless means are given.
    prior : MixturePrior, optional
        For maximum a posteriori estimates.
    noise : {"GGG", "LLG"}, default "GGG"
        Of "per_parameter": Gaussian noise, or Laplace noise on weights and means.
    composition : {"linear", "advanced", "zcdp", "moments"}, default "zcdp"
        Of "per_parameter": how the paper shares the budget out.
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
        Rows that no component explains: their ``weight``, the share of rows they are, which is 0 where there are not
        clearly any, and the ``mean`` and ``variances`` of a wide Gaussian with independent columns (and
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
    method: str = "scale_free"
    n_iter: int | str = "auto"
    init: Any = "private"
    prior: MixturePrior | None = None
    noise: str = "GGG"
    composition: str = "zcdp"

    def fit(self, X: Any, y: Any = None) -> GaussianMixture:
        """Fit the mixture to the rows of `X`, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : ignored
        """
        budget = checked_mixture_budget(self)
        domain, rows = self._open(X)
        n_rows = self._check_rows(rows, checked_grid(self.n_components)[0], "n_components")
        model = self._model(domain, n_rows)
        purpose = f"{type(self).__name__}({listed(checked_grid(self.n_components))}, method={self.method!r})"
        curator = self._curator(rows, domain, model.steps(), budget, purpose)
        domain = self._enter(curator, domain)
        model = self._model(domain, n_rows)  # in the coordinates that are known now
        with progress(self.verbose, f"Fitting {listed(checked_grid(self.n_components))} component(s)") as watch:
            released: list[Array] = []
            state = run(model, curator, watch, lambda statistic, value, noise: released.append(value))
        rows_known = n_rows or getattr(state, "rows", None)  # the public number, or the noisy one
        self._rows_known = None if rows_known is None else max(1, round(rows_known))
        self._released = kept_releases(released) if self.method == "scale_free" else None
        self._publish(model.finish(state), getattr(state, "wide", None), getattr(state, "weight", 0.0))
        self.n_iter_ = len(model.rounds)
        self._certify(curator, budget, n_rows, self._notes())
        return self

    def _model(self, domain: Domain, n_rows: int | None) -> WithOutliers | TableScaleFree | Joint | PerParameter:
        columns, means = domain.columns, self._starting_means(domain)
        grid = checked_grid(self.n_components)
        if self.method == "scale_free":
            layout = table_layout(domain)
            beside = (OUTLIERS,) if layout.numbers else ()
            model = TableScaleFree if layout.levels else ScaleFree
            if len(grid) > 1:
                model = partial(ChosenTableScaleFree if layout.levels else ChosenScaleFree, grid=grid)
            model = model(
                grid[-1],
                layout if layout.levels else columns,
                self.covariance_type,
                self.neighbors,
                n_rows,
                self.n_iter,
                means,
                self.prior,
                domain.least_variances,
                self.missing == "model",
                beside,
            )
            return WithOutliers(model, layout) if beside else model
        if self.method == "joint":
            return Joint(self.n_components, columns, self.covariance_type, self.n_iter, means, self.prior)
        model = PerParameter(
            self.n_components, columns, self.covariance_type, self.n_iter, means, self.prior, noise=self.noise
        )
        model.multipliers = compositions.noise_multipliers(
            self.composition, self.noise, Budget(self.epsilon, self.delta), self.n_components, model.iterations
        )
        return model

    def _starting_means(self, domain: Domain) -> Array | None:
        if isinstance(self.init, str):
            return public_means(self.n_components, domain.columns) if self.init == "public" else None
        means, shape = float_array(self.init), (self.n_components, domain.columns)
        if means is None or means.shape != shape or not np.isfinite(means).all():
            raise ValueError(
                f"init must be {self.n_components} finite means of {domain.columns} column(s), and it is "
                f"{describe(self.init)} of another shape, or has cells that are not finite."
            )
        return domain.standardise(means)

    def _plan(self, steps: list[Step], budget: Budget) -> Plan:
        if self.method == "per_parameter" and not isinstance(self.bounds, str):
            stated = stated_plan(steps, budget, self.neighbors)
            if stated.delta(budget.epsilon) <= budget.delta:
                return stated
        return super()._plan(steps, budget)

    def _notes(self) -> list[str]:
        notes = [f"Gaussian mixture of {self.n_components_} component(s), method {self.method}."]
        if (grid := checked_grid(self.n_components))[1:]:
            notes.append(
                f"Number of components chosen privately from {listed(grid)}, paid for by the release {CHOICE!r}."
            )
        if self.method == "per_parameter":
            exact = ", shared out anew and exactly" if isinstance(self.bounds, str) else ", as published"
            notes.append(f"Noise {self.noise} by {self.composition} composition{exact}.")
        return notes
