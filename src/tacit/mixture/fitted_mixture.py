"""What a fitted mixture does: score rows, draw them, say how far off it may be, be stored."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import logsumexp
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from tacit.fitting import PrivateEstimator
from tacit.messages import describe
from tacit.mixture.mixture import Mixture
from tacit.mixture.mixture_parameters import checked_mixture_budget
from tacit.mixture.model_choice import checked_grid
from tacit.mixture.outliers import Outliers, with_outliers
from tacit.mixture.stored_mixture import ABOUT, restored, stored
from tacit.mixture.table_mixture import TableMixture, table_layout
from tacit.mixture.uncertainty import MixtureIntervals, confidence_intervals
from tacit.statistics import TableComponents
from tacit.statistics.components import Array

_FAR = 1e140  # half ranges: twice that squared, over the least variance there is, is still a number


class FittedMixture(DensityMixin, PrivateEstimator):
    """A mixture once it is fitted; :class:`tacit.GaussianMixture` fits it."""

    def predict(self, X: Any) -> np.ndarray:
        """Return the likeliest component of each row."""
        return self._log_joint(map(_pulled_in, self._standard_blocks(X))).argmax(axis=0)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each component, for each row."""
        joint = self._log_joint(map(_pulled_in, self._standard_blocks(X)))
        return np.exp(joint - logsumexp(joint, axis=0)).T

    def score_samples(self, X: Any) -> Array:
        """Return the log density at each row, in the units of the rows.

        Of columns with levels it is the log probability of the row's level. With ``missing="model"``, it is the density
        of the cells that are there.
        """
        return np.asarray(logsumexp(self._log_joint(self._standard_blocks(X), self._density()), axis=0))

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
        inside, labels = self._draw(n_samples, np.random.default_rng(random_state))
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

    def _draw(self, count: int, rng: np.random.Generator) -> tuple[Array, np.ndarray]:
        """Return rows drawn from the mixture, in standard coordinates and inside the bounds, and their components."""
        mixture = self._density()
        labels = np.sort(rng.choice(mixture.count, size=count, p=mixture.weights))
        means, factors = mixture.means[labels], np.linalg.cholesky(mixture.covariances)
        z = means + np.einsum("nij,nj->ni", factors[labels], rng.normal(size=means.shape))
        if isinstance(mixture, TableMixture):
            z = mixture.encode(labels, z, rng.random((len(mixture.layout.levels), count)).T)
        return self._domain.standardise(self._domain.restore(z)), labels

    def _density(self) -> Mixture:
        """Return the whole density: the components, and outliers as one more."""
        check_is_fitted(self)
        if self._wide is None or self.outliers_.weight == 0:
            return self._mixture
        return with_outliers(self._mixture, self._wide, self.outliers_.weight)

    def _publish(self, mixture: Mixture, wide: Mixture | None = None, weight: float = 0.0) -> None:
        """Set the public attributes, in the units of the rows."""
        layout = table_layout(self._domain)
        if layout.levels and not isinstance(mixture, TableMixture):
            mixture = TableMixture.of(mixture, layout)
        numbers = list(layout.numbers)
        centre, scale = self._domain.centre[numbers], self._domain.scale[numbers]
        self._mixture, self._wide = mixture, wide
        self.n_components_ = mixture.count
        self.weights_ = mixture.weights
        self.means_ = centre + scale * mixture.means
        covariances = mixture.covariances * np.outer(scale, scale)
        upper = np.linalg.inv(np.linalg.cholesky(covariances)).transpose(0, 2, 1)
        diagonal = np.einsum("kii->ki", covariances)
        if self.covariance_type == "spherical" and numbers and (scale == scale[0]).all():
            diagonal = diagonal[:, 0]
        self.covariances_, self.precisions_cholesky_ = {
            "full": (covariances, upper),
            "tied": (covariances[0], upper[0]),
        }.get(self.covariance_type, (diagonal, 1 / np.sqrt(diagonal)))
        self.__dict__.pop("level_probabilities_", None)  # of an earlier fit
        if isinstance(mixture, TableMixture):
            self.level_probabilities_ = mixture.level_probabilities(self._domain.schema)
        self.outliers_ = None
        if self._wide is not None:
            variances = scale**2 * np.diag(wide.covariances[0])
            levels = wide.level_probabilities(self._domain.schema) if isinstance(wide, TableMixture) else {}
            levels = {name: shares[0] for name, shares in levels.items()}
            self.outliers_ = Outliers(weight, centre + scale * wide.means[0], variances, levels)

    _about = ABOUT

    def _stored(self) -> dict[str, Any]:
        values = {"mixture": stored(self._mixture, self._domain), "rows": self._rows_known}
        if self._wide is not None:
            values["outliers"] = {"weight": self.outliers_.weight, "mixture": stored(self._wide, self._domain)}
        if self._released is not None:
            values["released"] = [each.tolist() for each in self._released]
        return values

    def _restore(self, values: dict[str, Any]) -> None:
        checked_mixture_budget(self)
        grid = checked_grid(self.n_components)
        wide, weight = None, 0.0
        if (outliers := values.get("outliers")) is not None:
            wide, weight = restored(outliers["mixture"], self._domain, 1), float(outliers["weight"])
            if not 0 <= weight < 1:
                raise ValueError("the weight of outliers must be from 0 to 1")
        self._publish(restored(values["mixture"], self._domain, grid[0] if len(grid) == 1 else None), wide, weight)
        self._rows_known = None if values.get("rows") is None else int(values["rows"])
        released = values.get("released")
        self._released = None if released is None else [np.array(each, dtype=np.float64) for each in released]

    def _log_joint(self, blocks: Iterable[Array], mixture: Mixture | None = None) -> Array:
        """Return log(weight_k density_k) in the units of the rows, (K, rows), from blocks in standard coordinates."""
        check_is_fitted(self)
        # Made anew for each call: components remember which cells rows lack, and a fitted model must not.
        components, layout = (mixture or self._mixture).components(), table_layout(self._domain)
        if not isinstance(components, TableComponents):
            components = TableComponents.of_numbers(components)
        log_units = np.log(self._domain.scale[list(layout.numbers)])
        # Rows are not brought inside the bounds: a row's density is what the model says it is, wherever the row lies.
        joints = [components.log_joint(block, self.missing == "model", log_units) for block in blocks]
        return np.concatenate(joints, axis=1)


def _pulled_in(block: Array) -> Array:
    """Return rows so far out that their densities are all 0 at a distance where they are not, in the same direction.

    That far out, the direction alone decides which component a row belongs to.
    """
    furthest = np.nanmax(np.abs(block), axis=1, keepdims=True, initial=_FAR)
    return block * (_FAR / furthest)
