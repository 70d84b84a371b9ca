"""How far off a private mixture may be: sampling error and privacy noise together, at no further cost to privacy.

**From the releases.** A fit keeps its releases, which are private. All of them together say more than the last round
does, and how certain it is: see :mod:`tacit.mixture.method_of_moments`. That estimate is the middle of an interval. Its
width comes from simulation. A mixture is drawn that may as well be the truth, then releases, round by round, from the
law that it gives them. The half width is the quantile of the errors of the estimates from these. Where components
overlap it exceeds what a normal law and the standard error would give, because errors depend on where the truth is and
on what the rounds happen to measure. Intervals of weights are computed on the scale of logits.

**From simulated fits.** For methods in the public ball, for tables with gaps, and where there are too many parameters,
the whole fit is simulated instead: a table of the same size is drawn from the fitted mixture and fitted with fresh
noise of the same plan, and the result is compared with the mixture it was drawn from. That is rougher: a fit that has
not converged, or that has mistaken components, simulates its own mistake.

If there are n rows, more than m = ``MOST_ROWS``, simulated tables have m rows, and noise that is smaller by m / n.
Relative to the rows, noise is then the same. Each table is fitted twice, with that noise and with next to none. The two
fits differ by the error that noise makes. The second has a bias, which is that of n rows as well, and a sampling error,
which is larger than that of n rows by sqrt(n / m). So only what differs from table to table is scaled.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import expit, logit
from scipy.stats import t

from tacit.arrays import Array
from tacit.fitting.progress import Watch, progress
from tacit.messages import describe, warn_user
from tacit.mixture.fitted_mixture import draw_rows
from tacit.mixture.method_of_moments import Evidence, Release, Simulate
from tacit.mixture.mixture import Mixture
from tacit.mixture.model_choice import number_of_parameters
from tacit.mixture.scale_free import MixtureFit
from tacit.mixture.scale_free_schedule import SETTLING, ScaleFreeSchedule
from tacit.mixture.table_mixture import TableMixture, merge_products, table_layout
from tacit.privacy import Plan
from tacit.release import Curator, Measurement, Statistic
from tacit.sources import as_source
from tacit.statistics import ComponentMoments, TableMoments

_MOMENTS = (ComponentMoments, TableMoments)

# Tuned numbers. experiments/interval_coverage.py measures how often intervals hold the truth.

# What is kept with a model, and used.
_MOST_KEPT = 100_000  # Most released numbers that are kept.
_MOST_NUMBERS = 500  # Most numbers of a release that standard errors are computed from.
_MOST_PARAMETERS = 300  # Most parameters that standard errors are computed for.

# Simulated fits.
MOST_ROWS = 50_000  # Most rows of a simulated table.
# Noise multiplier of a fit with next to no noise: it is nothing beside thousands of rows, yet a curator can draw it.
_QUIET = 0.25

# When to warn.
_MISFIT = 2.0  # Largest misfit without a warning. It is about 1 where rows follow a mixture.
_RELIABLE = 0.9  # Least proportion of simulated fits in which a component is found again.
_COPIES = 0.99  # Overlap from which two components are copies of each other.
# A component is found again if it overlaps with its match this much (Bhattacharyya's coefficient).
_ALIKE = 0.5


@dataclass(frozen=True, eq=False)
class MixtureIntervals:
    """Confidence intervals for the weights and means of a private mixture, in the units of the rows.

    Parameters
    ----------
    level : float
        The probability that an interval should hold the truth with.
    weights : (K, 2) array
        Lower and upper ends.
    means : (K, d, 2) array
    weights_se : (K,) array
        Standard errors.
    means_se : (K, d) array
    found : (K,) array
        The proportion of simulations that found each component again. If it is well below 1, noise or overlap makes the
        component hard to find, and its intervals cannot be trusted.
    """

    level: float
    weights: Array
    means: Array
    weights_se: Array
    means_se: Array
    found: Array


def confidence_intervals(model: Any, confidence: float, n_bootstrap: int, random_state: Any) -> MixtureIntervals:
    """Return intervals for a fitted `tacit.GaussianMixture`, in the units of its rows."""
    if not isinstance(confidence, numbers.Real) or not 0 < confidence < 1:
        raise ValueError(f"level must be a number between 0 and 1, such as 0.9, and it is {describe(confidence)}.")
    if not isinstance(n_bootstrap, numbers.Integral) or n_bootstrap < 10:
        raise ValueError(f"n_bootstrap must be a whole number, at least 10, and it is {describe(n_bootstrap)}.")
    if model._rows_known is None:
        raise ValueError(
            'The number of rows is secret and no release tells it; intervals need method="scale_free", or '
            'neighbors="replace_one" and missing="error".'
        )
    if model.missing == "model":
        warn_user(
            "How many cells were missing is not among what a private fit knows. These intervals are those of a table "
            "without gaps: with many of them they are too narrow."
        )
    domain, rng = model._domain, np.random.default_rng(random_state)
    with progress(model.verbose, f"Simulating {n_bootstrap} times") as watch:
        if (evidence := _evidence(model)) is not None:
            standard = intervals_from_releases(*evidence, model._mixture, confidence, n_bootstrap, rng, watch)
        else:
            standard = intervals_from_fits(_replica(model), confidence, n_bootstrap, rng, watch)
    twins = np.exp(-_distances(model._mixture, model._mixture)) - np.eye(model.n_components_) > _COPIES
    if (lost := np.flatnonzero((standard.found < _RELIABLE) | twins.any(axis=1))).size:
        warn_user(
            f"Component(s) {', '.join(map(str, lost))} are not found again in a good part of simulations, or are "
            "copies of others: noise or overlap is too much to tell them apart. Do not rely on their intervals; use a "
            "larger epsilon, or fewer components."
        )
    places = list(table_layout(domain).numbers)
    centre, scale = domain.centre[places], domain.scale[places]
    means = centre[:, None] + scale[:, None] * standard.means
    return replace(standard, means=means, means_se=standard.means_se * scale)


def releases_to_keep(fit: MixtureFit) -> list[Array] | None:
    """Return the values of a fit's releases, to be kept with a model, unless they are too many."""
    values = [each.value for each in fit.rounds]
    return values if sum(map(len, values)) <= _MOST_KEPT else None


class ReplayedCurator(Curator):
    """A curator that answers without reading rows, and keeps the moments among its releases.

    What a fit measures in each round follows from what was released before. So a fit with the same answers measures the
    same.

    Parameters
    ----------
    plan : Plan
    answer : callable
        ``answer(statistic, noise)`` returns the value of the next release.
    """

    def __init__(self, plan: Plan, answer: Callable[[Statistic, float], Array]) -> None:
        super().__init__(as_source(np.zeros((1, 1))), plan, random_state=0)
        self._answer_to = answer
        self.releases: list[Release] = []

    def measure(self, name: str, statistic: Statistic) -> Measurement:
        """Return the next answer."""
        noise = self.noise(name, statistic)
        value = self._answer_to(statistic, noise)
        if value.shape != (statistic.size,):
            raise ValueError("What the model keeps of its releases is damaged; take it from a copy, or fit it again.")
        if isinstance(statistic, _MOMENTS) and name != SETTLING:  # What settling rounds add is little.
            self.releases.append(Release(statistic, value, noise))
        return Measurement(value, noise)


def _evidence(model: Any) -> tuple[Evidence, list[Mixture], Simulate] | None:
    """Return what a model's releases say, where to start, and how to simulate them; None if they cannot be used."""
    domain, fitted, kind, rows = model._domain, model._mixture, model.covariance_type, model.privacy_.rows
    layout = table_layout(domain)
    usable = model.method == "scale_free" and model.missing != "model" and model._released is not None
    if not usable or number_of_parameters(np.array(fitted.count), layout, kind) > _MOST_PARAMETERS:
        return None
    schedule = model._schedule(domain, rows).as_planned(model.privacy_.plan)
    kept = iter(model._released)
    curator = ReplayedCurator(model.privacy_.plan, lambda statistic, noise: next(kept))
    model._fit_rows(curator, schedule)
    releases = curator.releases
    starts = [fitted]
    if fitted.count > 1 and not layout.levels:
        starts.append(fitted.merge(fitted.count - 1).split(fitted.count))
    growing = [each.statistic.components for each in releases if isinstance(each.statistic, ComponentMoments)]
    if larger := [components for components in growing if components.count > fitted.count]:
        weights, means, factors = larger[-1].weights, larger[-1].means, larger[-1].factors
        grown = Mixture(weights, means, factors @ factors.transpose(0, 2, 1))
        starts.append(merge_products(grown, layout, fitted.count) if layout.levels else grown.merge(fitted.count))
    # Simulated fits do without settling rounds, to be fast.
    same_number = replace(schedule, grid=(fitted.count,), settling_rounds=0)

    def simulate(answer: Callable[[ComponentMoments | TableMoments, float], Array]) -> list[Release]:
        def answer_all(statistic: Statistic, noise: float) -> Array:
            # Releases other than moments come last, and moments do not depend on them.
            return answer(statistic, noise) if isinstance(statistic, _MOMENTS) else np.zeros(statistic.size)

        curator = ReplayedCurator(model.privacy_.plan, answer_all)
        model._fit_rows(curator, same_number)
        return _small(curator.releases)

    return Evidence(_small(releases), kind, rows), [start.constrain(kind) for start in starts], simulate


def _small(releases: list[Release]) -> list[Release]:
    """Return the releases that standard errors can be computed from."""
    return [each for each in releases if each.statistic.size <= _MOST_NUMBERS]


def intervals_from_releases(
    evidence: Evidence,
    starts: list[Mixture],
    simulate: Simulate,
    published: Mixture,
    confidence: float,
    count: int,
    rng: np.random.Generator,
    watch: Watch,
) -> MixtureIntervals:
    """Return intervals from all releases together, in the coordinates and the order of the mixture `published`."""
    solution = evidence.solve(starts)
    if solution.misfit > _MISFIT:
        warn_user(
            "What was released is not what rows of a Gaussian mixture of so many components make expected (misfit "
            f"{solution.misfit:.3g}, where 1 is). Intervals say how well such a mixture is known, not if it is right."
        )
    middles, errors = _estimates(solution.mixture), solution.standard_errors()
    simulated_errors: tuple[list[Array], list[Array]] = ([], [])
    overlaps = []
    for done in range(count):
        truth, found = solution.simulate(simulate, rng)
        for each, true, estimated in zip(simulated_errors, _estimates(truth), _estimates(found.mixture)):
            each.append(np.abs(estimated - true))
        overlaps.append(overlap(truth, found.mixture))
        watch(done + 1, count)
    # The k-th smallest of `count` draws is exceeded by one more of them with probability 1 - k / (count + 1).
    half_widths = [np.quantile(np.stack(each), confidence, axis=0, method="weibull") for each in simulated_errors]
    logits, means = (
        middle[..., None] + half_width[..., None] * np.array([-1.0, 1.0])
        for middle, half_width in zip(middles, half_widths)
    )
    weights = solution.mixture.weights
    order = linear_sum_assignment(_distances(published, solution.mixture))[1]
    return MixtureIntervals(
        confidence,
        expit(logits)[order],
        means[order],
        (weights * (1 - weights) * errors[0])[order],
        errors[1][order],
        (np.stack(overlaps) > _ALIKE).mean(axis=0)[order],
    )


def _estimates(mixture: Mixture) -> tuple[Array, Array]:
    """Return logits of weights and means."""
    return logit(np.clip(mixture.weights, 1e-15, 1 - 1e-15)), mixture.means


def _replica(model: Any) -> Replica:
    domain, density, public = model._domain, model._density(), model.privacy_.rows is not None

    def fit(curator: Curator, rows: int) -> Mixture:
        schedule = model._schedule(domain, rows if public else None)
        if isinstance(schedule, ScaleFreeSchedule):
            schedule = replace(schedule.as_planned(model.privacy_.plan), grid=(model.n_components_,))
        return model._fit_rows(curator, schedule).mixture

    return Replica(
        model._mixture,
        lambda count, rng: draw_rows(density, domain, count, rng)[0],
        fit,
        model.privacy_.plan,
        model._rows_known,
    )


@dataclass(frozen=True, eq=False)
class Replica:
    """How a fit is simulated.

    Parameters
    ----------
    mixture : Mixture
        The mixture that was fitted.
    draw : callable
        ``draw(count, rng)`` returns rows of it.
    fit : callable
        ``fit(curator, rows)`` fits a mixture to the rows of a curator, and takes their number to be ``rows``.
    plan : Plan
    rows : int
        How many rows there are.
    """

    mixture: Mixture
    draw: Callable[[int, np.random.Generator], Array]
    fit: Callable[[Curator, int], Mixture]
    plan: Plan
    rows: int

    def errors(self, rng: np.random.Generator) -> tuple[Array, Array, Array, Array, Array]:
        """Return the errors of one simulated fit, and how much its components overlap with the true ones.

        They are errors of weights (K,) and means (K, d): first those that noise makes, then those of a fit without
        noise. If the table is of full size, the first are all errors there are.
        """
        rows = min(self.rows, MOST_ROWS)
        table = self.draw(rows, rng)
        noisy = self._fit_table(table, rows / self.rows, rng)
        quiet = self.mixture if rows == self.rows else self._fit_table(table, 0.0, rng)
        return (
            noisy.weights - quiet.weights,
            noisy.means - quiet.means,
            quiet.weights - self.mixture.weights,
            quiet.means - self.mixture.means,
            overlap(self.mixture, noisy),
        )

    def _fit_table(self, table: Array, noise: float, rng: np.random.Generator) -> Mixture:
        """Return the mixture fitted to a table, with this part of the noise of the plan."""
        steps = self.plan.steps
        if noise < 1.0:
            steps = tuple(replace(step, noise_multiplier=max(noise * step.noise_multiplier, _QUIET)) for step in steps)
        # The rows are made up, so the noise protects no one and may be seeded.
        curator = Curator(as_source(table), replace(self.plan, steps=steps), random_state=rng)
        return match_components(self.mixture, self.fit(curator, len(table)))


def intervals_from_fits(
    replica: Replica, confidence: float, count: int, rng: np.random.Generator, watch: Watch
) -> MixtureIntervals:
    """Return intervals from `count` simulated fits, in the coordinates of the mixture."""
    simulated = []
    for done in range(count):
        simulated.append(replica.errors(rng))
        watch(done + 1, count)
    weights, means, quiet_weights, quiet_means, overlaps = (np.stack(each) for each in zip(*simulated))
    scale = min(1.0, math.sqrt(MOST_ROWS / replica.rows))
    for errors, quiet in ((weights, quiet_weights), (means, quiet_means)):
        bias = quiet.mean(axis=0)
        errors += bias + scale * (quiet - bias)
    weights_se, means_se = (np.sqrt(np.mean(each**2, axis=0)) for each in (weights, means))
    # The standard error is itself an estimate, from `count` fits.
    sides = float(t.ppf(0.5 + confidence / 2, count)) * np.array([-1.0, 1.0])
    mixture = replica.mixture
    return MixtureIntervals(
        confidence,
        np.clip(mixture.weights[:, None] + weights_se[:, None] * sides, 0.0, 1.0),
        mixture.means[:, :, None] + means_se[:, :, None] * sides,
        weights_se,
        means_se,
        (overlaps > _ALIKE).mean(axis=0),
    )


def match_components(reference: Mixture, mixture: Mixture) -> Mixture:
    """Return the mixture with its components in the order of the components of the reference that match them best."""
    order = linear_sum_assignment(_distances(reference, mixture))[1]
    return mixture.take(order, mixture.weights[order])


def overlap(reference: Mixture, mixture: Mixture) -> Array:
    """Return Bhattacharyya's coefficient of each pair of components, in order: it is 1 for the same Gaussian.

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
