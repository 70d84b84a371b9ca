"""One round of measuring a Gaussian: mean and covariance, released in coordinates of the last estimate.

Noise sized for the whole of the public bounds would drown a Gaussian that is small beside them. So a round measures
rows with the last covariance as the unit, as for a component of a mixture (:mod:`tacit.mixture.component_estimates`).
Methods that need to know where rows lie before they ask anything else make a few such rounds first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tacit.arrays import Array
from tacit.fitting.column_view import ColumnView
from tacit.mixture.component_estimates import MixtureEstimates, clip_radius, component_moments, move_components
from tacit.mixture.mixture import Mixture
from tacit.moments.estimates import PublicFacts
from tacit.release import Curator
from tacit.statistics import Components, numbers_in_second_moment


@dataclass(frozen=True, eq=False)
class GaussianEstimate:
    """Private estimates of a Gaussian's mean (d,) and covariance (d, d), and of the number of rows.

    Parameters
    ----------
    mean, covariance : arrays
    rows : float or None
        The number of rows, once it is known.
    prior_variances : (2, 1) array
        How far off mean and covariance may be before the next release, as variances in units of the covariance.
    noise : float
        Standard deviation of the noise on a diagonal entry of the covariance, in units of the one before.
    """

    mean: Array
    covariance: Array
    rows: float | None
    prior_variances: Array = field(default_factory=lambda: np.ones((2, 1)))
    noise: float = 0.0

    @classmethod
    def of_bounds(cls, facts: PublicFacts) -> GaussianEstimate:
        """Return a Gaussian as large as the bounds."""
        return cls(np.zeros(facts.columns), np.eye(facts.columns), facts.rows)

    def widened(self, covariance: Array) -> GaussianEstimate:
        """Return the Gaussian with this covariance added to its own."""
        return replace(self, covariance=self.covariance + covariance)

    def component(self) -> Components:
        """Return the Gaussian in the form that a statistic wants."""
        return Components(np.ones(1), self.mean[None], np.linalg.cholesky(self.covariance)[None])

    def as_mixture(self) -> MixtureEstimates:
        """Return the Gaussian as a mixture with one component."""
        mixture = Mixture(np.ones(1), self.mean[None], self.covariance[None])
        return MixtureEstimates(mixture, self.rows, self.prior_variances)


def numbers_in_round(columns: int) -> int:
    """Return how many numbers a round releases: a count, a mean and a second moment.

    Examples
    --------
    >>> numbers_in_round(2)
    6
    """
    return 1 + columns + numbers_in_second_moment("full", columns)


def measure_gaussian(
    curator: Curator | ColumnView,
    step: str,
    estimate: GaussianEstimate,
    facts: PublicFacts,
    *,
    missing: bool = False,
    hidden: Array | float = 0.0,
) -> GaussianEstimate:
    """Return the estimate after one more release, of rows clipped in coordinates of the last one.

    Parameters
    ----------
    curator : Curator or ColumnView
    step : str
        The plan's step: Gaussian, with :func:`numbers_in_round` numbers.
    estimate : GaussianEstimate
        The last one.
    facts : PublicFacts
    missing : bool
        Whether cells may be missing. The last estimate then says what is expected of them, as in an iteration of EM.
    hidden : (d, d) array or float
        What clipping hides of the covariance, where that is known.
    """
    neighbors, estimates = curator.plan.neighbors, estimate.as_mixture()
    noise = curator.noise(step, component_moments(estimates.mixture, "full", neighbors))
    radius = clip_radius(estimates, "full", noise)
    statistic = component_moments(estimates.mixture, "full", neighbors, radius, missing)
    measurement = curator.measure(step, statistic)
    moved = move_components(estimates, statistic, measurement, facts.rows, facts.least_variances, hidden=hidden)
    noise = measurement.noise * statistic.radius**2 / float(moved.rows)
    mean, covariance = moved.mixture.means[0], moved.mixture.covariances[0]
    return GaussianEstimate(mean, covariance, float(moved.rows), moved.prior_variances, noise)
