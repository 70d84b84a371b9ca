"""How far off a private mixture may be: sampling error and privacy noise together, by a parametric bootstrap.

The law of the noise is known, and the fitted mixture is private. So the whole fit can be simulated, as often as one
likes and at no cost to privacy: draw a table of the same size from the fitted mixture, fit that one with fresh noise of
the same plan, and see how far the result is from the mixture it was drawn from. That holds all there is: sampling
error, made larger by overlap, which leaves open whose a row is; noise, made smaller by shrinking; and what growing,
clipping and shrinking do.

**Large tables.** Where there are n rows, more than ``MOST_ROWS``, tables of m = ``MOST_ROWS`` stand in, with noise
smaller by m / n: relative to the rows it is the same. Each is fitted twice, with that noise and with next to none. The
two differ by what noise does, and the second is off by sampling error, larger than that of n rows by sqrt(n / m). So
the error of a fit to n rows is ``(noisy - quiet) + sqrt(m / n) (quiet - truth)``.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import t

from tacit.fitting.progress import Watch, progress
from tacit.latent.engine import Model, run
from tacit.latent.mixture import Mixture
from tacit.latent.model_choice import settled
from tacit.privacy import Plan
from tacit.release import Curator
from tacit.sources import as_source
from tacit.statistics.components import Array

MOST_ROWS = 50_000
_QUIET = 0.25  # noise, relative to sensitivity: nothing beside thousands of rows, yet enough for a curator to draw
_RELIABLE = 0.9  # share of simulated fits that find a component again, below which a warning is due
_COPIES = 0.99  # overlap of two components that are the same one, twice
_ALIKE = 0.5  # least overlap (Bhattacharyya's coefficient) of a component with its match to count as found again


@dataclass(frozen=True, eq=False)
class MixtureIntervals:
    """Confidence intervals for the weights and means of a private mixture, in the units of the rows.

    Parameters
    ----------
    level : float
        How often intervals should hold the truth.
    weights : (K, 2) array
        Lower and upper ends.
    means : (K, d, 2) array
    weights_se : (K,) array
        Standard errors: the root mean square of how far simulated fits were off, bias included.
    means_se : (K, d) array
    found : (K,) array
        In what share of the simulated fits each component was found again. Intervals of components that noise or
        overlap makes hard to find are not to be trusted; well below 1 is a warning.
    """

    level: float
    weights: Array
    means: Array
    weights_se: Array
    means_se: Array
    found: Array


def confidence_intervals(model: Any, level: float, n_bootstrap: int, random_state: Any) -> MixtureIntervals:
    """Return intervals for a fitted `tacit.GaussianMixture`, in the units of its rows."""
    if not isinstance(level, numbers.Real) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, such as 0.9, and it is {level!r}.")
    if not isinstance(n_bootstrap, numbers.Integral) or n_bootstrap < 10:
        raise ValueError(f"n_bootstrap must be a whole number, at least 10, and it is {n_bootstrap!r}.")
    if model._rows_known is None:
        raise ValueError(
            'The number of rows is secret and no release tells it; intervals need method="scale_free", or '
            'neighbors="replace_one" and missing="error".'
        )
    domain, public = model._domain, model.privacy_.rows is not None
    replica = Replica(
        model._mixture,
        lambda count, rng: model._draw(count, rng)[0],
        lambda rows: settled(model._model(domain, rows if public else None), model.n_components_),
        model.privacy_.plan,
        model._rows_known,
    )
    with progress(model.verbose, f"Simulating {n_bootstrap} fits") as watch:
        standard = simulated_intervals(replica, level, n_bootstrap, np.random.default_rng(random_state), watch)
    twins = np.exp(-_distances(model._mixture, model._mixture)) - np.eye(model.n_components_) > _COPIES
    if (lost := np.flatnonzero((standard.found < _RELIABLE) | twins.any(axis=1))).size:
        warnings.warn(
            f"Component(s) {', '.join(map(str, lost))} are not found again in a good part of simulated fits, or are "
            "copies of others: noise or overlap is too much to tell them apart. Do not rely on their intervals; use a "
            "larger epsilon, or fewer components.",
            UserWarning,
            stacklevel=3,
        )
    means = domain.restore(standard.means.transpose(0, 2, 1)).transpose(0, 2, 1)
    return replace(standard, means=means, means_se=standard.means_se * domain.scale)


@dataclass(frozen=True, eq=False)
class Replica:
    """How a fit is simulated: what draws rows, the model and the plan that fit them, and how many rows there are."""

    mixture: Mixture
    draw: Callable[[int, np.random.Generator], Array]
    model: Callable[[int], Model]
    plan: Plan
    rows: int

    def errors(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return how far one simulated fit is off, in weights (K,) and means (K, d), and how alike components are."""
        rows = min(self.rows, MOST_ROWS)
        table = self.draw(rows, rng)
        noisy = self._fit(table, rows / self.rows, rng)
        if rows == self.rows:
            return noisy.weights - self.mixture.weights, noisy.means - self.mixture.means, overlap(self.mixture, noisy)
        quiet = self._fit(table, 0.0, rng)
        share = math.sqrt(rows / self.rows)
        return (
            noisy.weights - quiet.weights + share * (quiet.weights - self.mixture.weights),
            noisy.means - quiet.means + share * (quiet.means - self.mixture.means),
            overlap(self.mixture, noisy),
        )

    def _fit(self, table: Array, noise: float, rng: np.random.Generator) -> Mixture:
        steps = self.plan.steps
        if noise < 1.0:
            steps = tuple(replace(step, noise_multiplier=max(noise * step.noise_multiplier, _QUIET)) for step in steps)
        # The rows are made up, so the noise protects no one and may be seeded.
        curator = Curator(as_source(table), replace(self.plan, steps=steps), random_state=rng)
        model = self.model(len(table))
        return in_order_of(self.mixture, model.finish(run(model, curator)))


def simulated_intervals(
    replica: Replica, level: float, count: int, rng: np.random.Generator, watch: Watch
) -> MixtureIntervals:
    """Return intervals from `count` simulated fits, in the coordinates of the mixture."""
    simulated = []
    for done in range(count):
        simulated.append(replica.errors(rng))
        watch(done + 1, count)
    weights, means, alike = (np.stack(each) for each in zip(*simulated))
    weights_se, means_se = (np.sqrt(np.mean(each**2, axis=0)) for each in (weights, means))
    reach = float(t.ppf(0.5 + level / 2, count))  # the standard error is an estimate from `count` fits itself
    sides = reach * np.array([-1.0, 1.0])
    mixture = replica.mixture
    return MixtureIntervals(
        level,
        np.clip(mixture.weights[:, None] + weights_se[:, None] * sides, 0.0, 1.0),
        mixture.means[:, :, None] + means_se[:, :, None] * sides,
        weights_se,
        means_se,
        (alike > _ALIKE).mean(axis=0),
    )


def in_order_of(reference: Mixture, mixture: Mixture) -> Mixture:
    """Return the mixture with its components in the order of those of the reference that they are most like."""
    order = linear_sum_assignment(_distances(reference, mixture))[1]
    return Mixture(mixture.weights[order], mixture.means[order], mixture.covariances[order])


def overlap(reference: Mixture, mixture: Mixture) -> Array:
    """Return how much the components overlap, one by one: Bhattacharyya's coefficient, 1 for the same Gaussian.

    Examples
    --------
    >>> one = Mixture(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    >>> overlap(one, Mixture(np.ones(1), np.array([[2.0, 0.0]]), np.eye(2)[None])).round(2)
    array([0.61])
    """
    return np.exp(-np.diag(_distances(reference, mixture)))


def _distances(first: Mixture, second: Mixture) -> Array:
    """Return Bhattacharyya's distances between all components of two mixtures, (K, K)."""
    between = (first.covariances[:, None] + second.covariances[None]) / 2
    apart = first.means[:, None] - second.means[None]
    lengths = np.einsum("abi,abi->ab", apart, np.linalg.solve(between, apart[..., None])[..., 0])
    volumes = [np.linalg.slogdet(each)[1] for each in (between, first.covariances, second.covariances)]
    return np.minimum(lengths / 8 + 0.5 * (volumes[0] - 0.5 * (volumes[1][:, None] + volumes[2][None])), 1e6)
