"""A conjugate prior for Gaussian mixtures: maximum a posteriori instead of maximum likelihood."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.messages import describe
from tacit.mixture.mixture import Mixture


@dataclass(frozen=True)
class MixturePrior:
    """Dirichlet on the weights, normal-inverse-Wishart on each component, as in Park et al. (2017).

    In tables with levels, the probabilities of each component's levels have a Dirichlet prior too.

    Parameters
    ----------
    concentration : float, default 2.0
        Of the Dirichlet: each component starts with ``concentration - 1`` rows, and so does each level in it.
    mean_rows : float, default 1.0
        How many rows at the centre of the bounds each mean starts with (kappa_0).
    scale : float, default 0.1
        Scatter that each covariance starts with (S_0 = scale * I, in units where the bounds have radius 1).
    degrees : float, optional
        Degrees of freedom (nu_0); by default the number of columns plus 2.

    Examples
    --------
    >>> MixturePrior(concentration=5.0)
    MixturePrior(concentration=5.0, mean_rows=1.0, scale=0.1, degrees=None)
    """

    concentration: float = 2.0
    mean_rows: float = 1.0
    scale: float = 0.1
    degrees: float | None = None

    def __post_init__(self) -> None:
        for name in ("concentration", "mean_rows", "scale", "degrees"):
            value = getattr(self, name)
            if name == "degrees" and value is None:
                continue
            if not isinstance(value, numbers.Real) or not 0 < value < math.inf:
                raise ValueError(f"The prior's {name} must be a positive, finite number, and it is {describe(value)}.")
        if self.concentration < 1:
            raise ValueError(
                f"The prior's concentration must be at least 1, as no component starts with fewer than 0 rows, and it "
                f"is {describe(self.concentration)}."
            )

    def posterior_mode(self, counts: Array, likeliest: Mixture) -> Mixture:
        """Return the mixture of highest posterior, from the likeliest one and its (noisy) counts (K,).

        Both are in coordinates where rows have length at most sqrt(d).
        """
        columns = likeliest.means.shape[1]
        degrees = columns + 2 if self.degrees is None else self.degrees
        weights = counts + self.concentration - 1
        rows = counts[:, None]
        means = likeliest.means * rows / (rows + self.mean_rows)
        pull = (self.mean_rows * counts / (self.mean_rows + counts))[:, None, None]
        scatter = counts[:, None, None] * likeliest.covariances
        scatter = scatter + pull * likeliest.means[:, :, None] * likeliest.means[:, None, :]
        scatter += self.scale * columns * np.eye(columns)
        covariances = scatter / (degrees + counts + columns + 2)[:, None, None]
        return replace(likeliest, weights=weights / weights.sum(), means=means, covariances=covariances)

    def level_mode(self, counts: Array, likeliest: Array, levels: Array) -> Array:
        """Return probabilities of levels (K, all levels) of highest posterior, from the likeliest and the counts (K,).

        `levels` (all levels,) says for each level how many levels its column has.
        """
        rows, more = counts[:, None], self.concentration - 1
        return (likeliest * rows + more) / (rows + more * levels)
