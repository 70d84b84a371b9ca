"""The estimator: private k-means with scikit-learn's interface."""

from __future__ import annotations

import numbers
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Array
from tacit.clusters.adaptive_k_means import fit_adaptive
from tacit.clusters.adaptive_schedule import AdaptiveSchedule, adaptive_schedule
from tacit.clusters.clusters import FoundCentres
from tacit.clusters.region import Region
from tacit.fitting import PrivateEstimator, check_budget, check_shapes, float_array, progress
from tacit.fitting.published import find_published
from tacit.messages import describe
from tacit.privacy import Budget
from tacit.release import Affine
from tacit.statistics import Centres


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """k-means under differential privacy.

    Parameters
    ----------
    n_clusters : int, default 8
    method : {"adaptive", "dplloyd", "dplloyd_zcdp", "dpem"} or published method, default "adaptive"
        "adaptive" measures each cluster from its own current centre and is the most accurate. The others are published
        methods, whose noise is sized for the bounds: :class:`tacit.published.DPLloyd`, the same with zCDP composition,
        and :class:`tacit.published.DPEMLloyd`. Pass such an object to set its options.
    epsilon : float, default 1.0
    delta : float, default 1e-6
        The privacy budget. delta should be well below 1 / number of rows. With delta=0, "adaptive" has Laplace noise
        and is purely epsilon-private. "dplloyd" always is. The other two methods need a delta above 0.
    n_iter : int or "auto", default "auto"
        Number of releases of "adaptive". The plan fixes it before the fit, so there is no convergence test.
    init : "private" or (n_clusters, n_features) array, default "private"
        Where to start. With "private", "adaptive" grows clusters from one by splitting, and the other methods start
        from points that cover the bounds. Or pass public centres of your own.

    Attributes
    ----------
    cluster_centers_ : (n_clusters, n_features) array
        The centres, that of the largest cluster first.
    n_iter_ : int
        Number of releases.

    Notes
    -----
    Distances are Euclidean in the rows' own units, as in scikit-learn: columns with wide ranges weigh more. With a
    schema they are in standard coordinates, where every number's range is [-1, 1] and a category is 0 or 1.

    Everything that a fit sets is private: it may be printed or published. There are no ``labels_``, no ``inertia_`` and
    no ``fit_predict``, because those are functions of rows that no noise protects. ``predict``, ``transform`` and
    ``score`` work on the rows you give them, and what they return is as sensitive as those rows are;
    ``fit_transform`` returns what ``transform`` would, as pipelines expect.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal([-2, 0], 0.5, (4000, 2)), rng.normal([2, 1], 0.5, (6000, 2))])
    >>> model = tacit.KMeans(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> model.cluster_centers_.round(1) + 0.0
    array([[ 2.,  1.],
           [-2.,  0.]])
    >>> model.predict([[-3.0, 0.0], [1.0, 1.0]])
    array([1, 0])
    >>> model.privacy_.epsilon() <= 1.0
    True
    """

    n_clusters: int = field(default=8, kw_only=False)
    method: str = "adaptive"
    n_iter: int | str = "auto"
    init: Any = "private"

    _methods = ("adaptive",)
    _published: ClassVar = {
        "dplloyd": ("DPLloyd", {}),
        "dplloyd_zcdp": ("DPLloyd", {"composition": "zcdp"}),
        "dpem": ("DPEMLloyd", {}),
    }

    def fit(self, X: Any, y: Any = None) -> KMeans:
        """Find the centres of the rows of `X`, spending the budget.

        Parameters
        ----------
        X : array, data frame, path of a CSV or Parquet file, or Source
        y : ignored
        """
        budget = self._check_parameters()
        domain, rows = self._open(X)
        n_rows = self._check_rows(rows, self.n_clusters, "n_clusters")
        given = self._given_centres(domain.columns)
        published = find_published(self)
        if published is None:
            schedule = self._adaptive_schedule(domain.columns, budget, n_rows)
        else:
            schedule = published.schedule(self.n_clusters, domain.columns, budget)
        purpose = f"KMeans({self.n_clusters}, method={self.method!r})"
        curator = self._curator(rows, domain, schedule.steps(), budget, purpose)
        domain = self._enter(curator, domain)
        region = Region.of(domain)
        if (region.scales != 1.0).any():
            curator.map_rows(Affine(region.scales, np.zeros(region.columns)))
        start = None if given is None else domain.standardise(given) * region.scales
        with progress(self.verbose, f"Finding {self.n_clusters} cluster(s)") as watch:
            if published is None:
                found = fit_adaptive(curator, schedule, region, start, watch)
            else:
                found = FoundCentres.of(published.fit_centres(curator, schedule, region, start, watch))
        self._found = found
        self._publish(found.centres / region.scales, region)
        self.n_iter_ = schedule.n_releases
        self._certify(curator, budget, n_rows, [f"k-means with {self.n_clusters} cluster(s), method {self.method}."])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the index of each row's nearest centre."""
        check_is_fitted(self)
        centres = Centres(self._centres)
        return np.concatenate([centres.nearest(block * self._region.scales) for block in self._standard_blocks(X)])

    def transform(self, X: Any) -> Array:
        """Return the distance of each row from each centre, (rows, n_clusters)."""
        distances = []
        for block in self._standard_blocks(X):
            rows = block * self._region.scales
            from_centres = [np.linalg.norm(rows - centre, axis=1) for centre in self._centres]
            distances.append(np.stack(from_centres, axis=1) * self._region.unit)
        return np.concatenate(distances)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of squared distances of rows from their nearest centres, as scikit-learn does."""
        return -float(np.sum(self.transform(X).min(axis=1) ** 2))

    def __sklearn_tags__(self) -> Any:
        # ClusterMixin would set this tag too, but it adds fit_predict, which returns labels_. A private fit has none.
        tags = super().__sklearn_tags__()
        tags.estimator_type = "clusterer"
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)  # scikit-learn names the columns of transform by it.

    def _check_parameters(self) -> Budget:
        if not isinstance(self.n_clusters, numbers.Integral) or self.n_clusters < 1:
            raise ValueError(f"n_clusters must be a whole number, at least 1, and it is {describe(self.n_clusters)}.")
        published = find_published(self)
        if isinstance(self.init, str) and self.init != "private":
            raise ValueError(f'init must be "private" or an array of centres, and it is {describe(self.init)}.')
        budget = check_budget(self, pure=True)
        if budget.delta == 0 and published is not None and published.needs_delta:
            raise ValueError(
                f"delta is 0, and method {self.method!r} needs one above 0; pass for instance delta=1e-6, or method "
                '"adaptive" or "dplloyd".'
            )
        if budget.delta == 0 and isinstance(self.bounds, str):
            raise ValueError("delta is 0, and finding bounds privately needs one above 0; pass delta=1e-6, or bounds.")
        return budget

    def _given_centres(self, columns: int) -> Array | None:
        """Return the given centres in the units of the rows, or None where there are none."""
        if isinstance(self.init, str):
            return None
        centres = float_array(self.init)
        if centres is None or centres.shape != (self.n_clusters, columns) or not np.isfinite(centres).all():
            raise ValueError(
                f"init must be {self.n_clusters} finite centres of {columns} column(s), and it is "
                f"{describe(self.init)} of another shape, or has cells that are not finite."
            )
        return centres

    def _adaptive_schedule(self, columns: int, budget: Budget, n_rows: int | None) -> AdaptiveSchedule:
        return adaptive_schedule(
            self.n_clusters,
            columns,
            n_rows,
            epsilon=budget.epsilon,
            pure=budget.delta == 0,
            n_iter=self.n_iter,
            grow=isinstance(self.init, str),
        )

    def _publish(self, standard_centres: Array, region: Region) -> None:
        """Set the fitted attributes from centres in standard coordinates."""
        self._region = region
        self._standard_centres = standard_centres
        self._centres = standard_centres * region.scales
        self.cluster_centers_ = self._domain.restore(standard_centres)

    _about = "clusters have their centres in coordinates of z."

    def _stored(self) -> dict[str, Any]:
        return {"clusters": {"centres": self._standard_centres.tolist()}}

    def _restore(self, values: dict[str, Any]) -> None:
        self._check_parameters()
        centres = np.array(values["clusters"]["centres"], float)
        check_shapes(centres=(centres, (self.n_clusters, self._domain.columns)))
        self._found: FoundCentres | None = None  # It is known when a fit ends, and no file has it.
        self._publish(centres, Region.of(self._domain))
