"""How far off a private mixture may be: sampling error and privacy noise together, at no further cost to privacy.

**From the releases.** A fit keeps what it released, which is private. All of it together says more than the last
round does, and says how surely: see :mod:`tacit.mixture.method_of_moments`. The estimate is the middle of an interval.
How far it reaches is found by simulation: a mixture is drawn that may as well be the truth, then releases, round by
round, from the law that it gives them; the interval reaches as far as the quantile of how far off the estimates from
those are. Where components overlap that is more than a normal law and the standard error would have it, as errors
depend on where the truth is and on what the rounds happen to measure. Weights go by their logits.

**By simulated fits.** For methods in the public ball, for tables with gaps, and where there are too many parameters,
the whole fit is simulated instead: draw a table of the same size from the fitted mixture, fit that one with
fresh noise of the same plan, and see how far the result is from the mixture it was drawn from. That is rougher: a fit
that has not converged, or that has mistaken components, simulates its own mistake.

Where there are n rows, more than ``MOST_ROWS``, tables of m = ``MOST_ROWS`` stand in, with noise smaller by m / n:
relative to the rows it is the same. Each is fitted twice, with that noise and with next to none. The two differ by what
noise does. The second is off by its bias, which is that of n rows as well, and by sampling error, larger than that of n
rows by sqrt(n / m): so only what differs from table to table is scaled.
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
from scipy.special import expit, logit
from scipy.stats import t

from tacit.fitting.engine import Model, run
from tacit.fitting.progress import Watch, progress
from tacit.messages import describe
from tacit.mixture.method_of_moments import Evidence, Fit, Release
from tacit.mixture.mixture import Mixture
from tacit.mixture.model_choice import gaussian_parameters, settled
from tacit.mixture.scale_free import constrained
from tacit.mixture.table_mixture import TableMixture, merged_products, table_layout
from tacit.privacy import Plan
from tacit.release import Curator, Measurement, Statistic
from tacit.sources import as_source
from tacit.statistics import ComponentMoments, TableMoments
from tacit.statistics.components import Array

MOST_ROWS = 50_000
_MOST_PARAMETERS = 300  # that standard errors are worked out for, from the releases
_MOST_NUMBERS = 500  # in a release that they are worked out from
_MOST_KEPT = 100_000  # numbers released that are kept with a model
_MISFIT = 2.0  # where rows follow a mixture, it is about 1, and less with few numbers released
_QUIET = 0.25  # noise, relative to sensitivity: nothing beside thousands of rows, yet enough for a curator to draw
_RELIABLE = 0.9  # share of simulated fits that find a component again, below which a warning is due
_COPIES = 0.99  # overlap of two components that are the same one, twice
_MOMENTS = (ComponentMoments, TableMoments)
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
        Standard errors.
    means_se : (K, d) array
    found : (K,) array
        In what share of the simulations each component was found again. Intervals of components that noise or
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
        raise ValueError(f"level must be a number between 0 and 1, such as 0.9, and it is {describe(level)}.")
    if not isinstance(n_bootstrap, numbers.Integral) or n_bootstrap < 10:
        raise ValueError(f"n_bootstrap must be a whole number, at least 10, and it is {describe(n_bootstrap)}.")
    if model._rows_known is None:
        raise ValueError(
            'The number of rows is secret and no release tells it; intervals need method="scale_free", or '
            'neighbors="replace_one" and missing="error".'
        )
    if model.missing == "model":
        warnings.warn(
            "How many cells were missing is not among what a private fit knows. These intervals are those of a table "
            "without gaps: with many of them they are too narrow.",
            UserWarning,
            stacklevel=3,
        )
    domain, rng = model._domain, np.random.default_rng(random_state)
    with progress(model.verbose, f"Simulating {n_bootstrap} times") as watch:
        if (evidence := _evidence(model)) is not None:
            standard = intervals_from_releases(*evidence, model._mixture, level, n_bootstrap, rng, watch)
        else:
            standard = simulated_intervals(_replica(model), level, n_bootstrap, rng, watch)
    twins = np.exp(-_distances(model._mixture, model._mixture)) - np.eye(model.n_components_) > _COPIES
    if (lost := np.flatnonzero((standard.found < _RELIABLE) | twins.any(axis=1))).size:
        warnings.warn(
            f"Component(s) {', '.join(map(str, lost))} are not found again in a good part of simulations, or are "
            "copies of others: noise or overlap is too much to tell them apart. Do not rely on their intervals; use a "
            "larger epsilon, or fewer components.",
            UserWarning,
            stacklevel=3,
        )
    places = list(table_layout(domain).numbers)
    centre, scale = domain.centre[places], domain.scale[places]
    means = centre[:, None] + scale[:, None] * standard.means
    return replace(standard, means=means, means_se=standard.means_se * scale)


def kept_releases(released: list[Array]) -> list[Array] | None:
    """Return what was released, to be kept with a model, unless that would be too much."""
    return released if sum(map(len, released)) <= _MOST_KEPT else None


def _evidence(model: Any) -> tuple[Evidence, list[Mixture], Fit] | None:
    """Return what a model's releases say, where to start, and its fit; None if that is not known how to use."""
    domain, fitted, kind = model._domain, model._mixture, model.covariance_type
    layout = table_layout(domain)
    parameters = gaussian_parameters(np.array(fitted.count), len(layout.numbers), kind)
    parameters = parameters + fitted.count * sum(size - 1 for size in layout.sizes)
    unknown = model.method != "scale_free" or model.missing == "model"
    if unknown or model._released is None or parameters > _MOST_PARAMETERS:
        return None
    rows, plan = model.privacy_.rows, model.privacy_.plan
    # What the fit measured in each round follows from what it released before: it is gone through once more.
    kept = iter(model._released)
    releases = gone_through(model._model(domain, rows), plan, lambda statistic, noise: next(kept))
    starts = [fitted]
    if fitted.count > 1 and not layout.levels:
        starts.append(fitted.merge(fitted.count - 1).split(fitted.count))
    growing = [each.statistic.components for each in releases if isinstance(each.statistic, ComponentMoments)]
    if larger := [components for components in growing if components.count > fitted.count]:
        weights, means, factors = larger[-1].weights, larger[-1].means, larger[-1].factors
        grown = Mixture(weights, means, factors @ factors.transpose(0, 2, 1))
        starts.append(merged_products(grown, layout, fitted.count) if layout.levels else grown.merge(fitted.count))
    starts = [replace(start, covariances=constrained(start, kind).covariances) for start in starts]

    def matched(releases: list[Release]) -> list[Release]:
        return [each for each in releases if each.statistic.size <= _MOST_NUMBERS]

    def fit(release: Callable[[ComponentMoments | TableMoments, float], Array]) -> list[Release]:
        def told(statistic: Statistic, noise: float) -> Array:
            # Others than moments come last, or choose what is chosen already.
            return release(statistic, noise) if isinstance(statistic, _MOMENTS) else np.zeros(statistic.size)

        return matched(gone_through(settled(model._model(domain, rows), fitted.count), plan, told))

    return Evidence(matched(releases), kind, rows), starts, fit


def gone_through(model: Model, plan: Plan, told: Callable[[Statistic, float], Array]) -> list[Release]:
    """Run a model on what it is told instead of rows, by statistic and noise; return the moments among that."""
    releases: list[Release] = []

    def heard(statistic: Any, value: Array, noise: float) -> None:
        if isinstance(statistic, _MOMENTS):
            releases.append(Release(statistic, value, noise))

    run(model, _Told(plan, told), heard=heard)
    return releases


class _Told(Curator):
    """Releases what it is told, instead of reading rows."""

    def __init__(self, plan: Plan, told: Callable[[Statistic, float], Array]) -> None:
        super().__init__(as_source(np.zeros((1, 1))), plan, random_state=0)
        self._told = told

    def measure(self, name: str, statistic: Statistic) -> Measurement:
        """Return what there is to be told next."""
        noise = self.noise(name, statistic)
        value = self._told(statistic, noise)
        if value.shape != (statistic.size,):
            raise ValueError("What the model keeps of its releases is damaged; take it from a copy, or fit it again.")
        return Measurement(value, noise)


def intervals_from_releases(
    evidence: Evidence,
    starts: list[Mixture],
    fit: Fit,
    published: Mixture,
    level: float,
    count: int,
    rng: np.random.Generator,
    watch: Watch,
) -> MixtureIntervals:
    """Return intervals from what all releases say together, in the coordinates and the order of `published`."""
    solution = evidence.solve(starts)
    if solution.misfit > _MISFIT:
        warnings.warn(
            "What was released is not what rows of a Gaussian mixture of so many components make expected (misfit "
            f"{solution.misfit:.3g}, where 1 is). Intervals say how well such a mixture is known, not if it is right.",
            UserWarning,
            stacklevel=4,
        )
    middles, errors = _estimates(solution.mixture), solution.standard_errors()
    off: tuple[list[Array], list[Array]] = ([], [])
    alike = []
    for done in range(count):
        truth, found = solution.simulated(fit, rng)
        for each, there, here in zip(off, _estimates(truth), _estimates(found.mixture)):
            each.append(np.abs(here - there))
        alike.append(overlap(truth, found.mixture))
        watch(done + 1, count)
    # The k-th smallest of `count` draws is exceeded by one more of them with probability 1 - k / (count + 1).
    reaches = [np.quantile(np.stack(each), level, axis=0, method="weibull") for each in off]
    weights, means = (
        middle[..., None] + reach[..., None] * np.array([-1.0, 1.0]) for middle, reach in zip(middles, reaches)
    )
    shares = solution.mixture.weights
    order = linear_sum_assignment(_distances(published, solution.mixture))[1]
    return MixtureIntervals(
        level,
        expit(weights)[order],
        means[order],
        (shares * (1 - shares) * errors[0])[order],
        errors[1][order],
        (np.stack(alike) > _ALIKE).mean(axis=0)[order],
    )


def _estimates(mixture: Mixture) -> tuple[Array, Array]:
    """Return logits of weights and means."""
    return logit(np.clip(mixture.weights, 1e-15, 1 - 1e-15)), mixture.means


def _replica(model: Any) -> Replica:
    domain, public = model._domain, model.privacy_.rows is not None
    return Replica(
        model._mixture,
        lambda count, rng: model._draw(count, rng)[0],
        lambda rows: settled(model._model(domain, rows if public else None), model.n_components_),
        model.privacy_.plan,
        model._rows_known,
    )


@dataclass(frozen=True, eq=False)
class Replica:
    """How a fit is simulated: what draws rows, the model and the plan that fit them, and how many rows there are."""

    mixture: Mixture
    draw: Callable[[int, np.random.Generator], Array]
    model: Callable[[int], Model]
    plan: Plan
    rows: int

    def mistakes(self, rng: np.random.Generator) -> tuple[Array, Array, Array, Array, Array]:
        """Return what one simulated fit has wrong, and how alike its components are.

        Of weights (K,) and means (K, d), what noise has done and what a fit without noise has wrong; the former holds
        all there is if the table is of full size.
        """
        rows = min(self.rows, MOST_ROWS)
        table = self.draw(rows, rng)
        noisy = self._fit(table, rows / self.rows, rng)
        quiet = self.mixture if rows == self.rows else self._fit(table, 0.0, rng)
        return (
            noisy.weights - quiet.weights,
            noisy.means - quiet.means,
            quiet.weights - self.mixture.weights,
            quiet.means - self.mixture.means,
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
        simulated.append(replica.mistakes(rng))
        watch(done + 1, count)
    weights, means, quiet_weights, quiet_means, alike = (np.stack(each) for each in zip(*simulated))
    share = min(1.0, math.sqrt(MOST_ROWS / replica.rows))
    for errors, quiet in ((weights, quiet_weights), (means, quiet_means)):
        bias = quiet.mean(axis=0)
        errors += bias + share * (quiet - bias)
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
    return mixture.taken(order, mixture.weights[order])


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
    distances = lengths / 8 + 0.5 * (volumes[0] - 0.5 * (volumes[1][:, None] + volumes[2][None]))
    if isinstance(first, TableMixture) and isinstance(second, TableMixture):
        roots = np.sqrt(first.probabilities), np.sqrt(second.probabilities)
        for where in first.layout.slices:
            distances -= np.log(roots[0][:, where] @ roots[1][:, where].T)
    return np.minimum(distances, 1e6)
