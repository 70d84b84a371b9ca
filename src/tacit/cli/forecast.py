"""What accuracy to expect of a private mixture: by simulation, from public numbers alone, before anything is spent.

Mixtures are drawn at random inside the bounds, rows from each of them, and both a private and an ordinary fit are made.
Rows are drawn in the coordinates in which models are fitted, where the bounds are a box from -1 to 1 and a category is
a number for each of its levels; there they are Gaussian, which a real table is at best roughly. So the figures are what
privacy costs, beside whatever an ordinary mixture would miss too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.mixture import GaussianMixture as OrdinaryMixture

from tacit.latent import GaussianMixture
from tacit.privacy import Plan

__all__ = ["Expectation", "forecast", "simulated_rows"]

Array = NDArray[np.float64]

_MOST_CELLS = 10_000_000
_TEST_ROWS = 10_000
_REACH = 0.7  # means are drawn from -0.7 to 0.7
_DEVIATIONS = (0.08, 0.25)  # of columns in a component, for a single one
_DRAWS = 20  # sets of means, of which the one that is farthest apart is taken
_FOUND = 1.0  # standard deviations, per column, within which a component counts as found


@dataclass(frozen=True)
class Expectation:
    """What a fit at one epsilon comes to, compared with an ordinary one, on average over simulated tables.

    Parameters
    ----------
    epsilon : float
    gap : float
        Log-likelihood lost on new rows, in nats per row.
    worst_gap : float
        The same for the worst of the tables.
    mean_error : float
        How far means are off, in standard deviations of their component: the root mean square over columns, and the
        mean over components by weight.
    weight_error : float
        Share of the rows that the weights give to other components.
    found : float
        How many components have a mean within one standard deviation of where it belongs.
    plan : Plan
        What would be released, with how much noise.
    """

    epsilon: float
    gap: float
    worst_gap: float
    mean_error: float
    weight_error: float
    found: float
    plan: Plan


def simulated_rows(rows: int, columns: int) -> int:
    """Return how many rows to simulate: all of them, up to a limit on memory. With more rows a fit is more accurate.

    Examples
    --------
    >>> simulated_rows(20_000, 10), simulated_rows(10**9, 10)
    (20000, 1000000)
    """
    return min(rows, max(_TEST_ROWS, _MOST_CELLS // columns))


def forecast(
    rows: int,
    columns: int,
    components: int,
    epsilons: Sequence[float],
    *,
    delta: float = 1e-6,
    tables: int = 3,
    seed: int = 0,
    advance: Callable[[int], None] = lambda steps: None,
    **options: Any,
) -> list[Expectation]:
    """Return what to expect at each epsilon.

    Parameters
    ----------
    rows, columns, components : int
        The size of the table and of the mixture.
    epsilons : sequence of float
    delta : float
    tables : int, default 3
        How many mixtures to try.
    seed : int
        Of the simulation, which concerns no one's rows: the same seed gives the same figures.
    advance : callable, optional
        Called as ``advance(1)`` after each fit; there are ``tables * (1 + len(epsilons))``.
    **options
        Passed on to `tacit.GaussianMixture`: covariance_type, method, neighbors.

    Examples
    --------
    >>> few, many = (forecast(rows, 2, 2, [1.0], tables=1)[0] for rows in (300, 10_000))
    >>> many.gap < few.gap, many.found
    (True, 2.0)
    """
    figures: list[list[tuple[float, ...]]] = [[] for _ in epsilons]
    plans: list[Plan] = []
    kind = options.get("covariance_type", "full")
    for table in range(tables):
        rng = np.random.default_rng([seed, table])
        truth = _Truth.draw(components, columns, kind, rng)
        X, test = truth.rows(rows, rng), truth.rows(_TEST_ROWS, rng)
        ordinary = truth.ordinary_fit(X)
        best = ordinary.score(test)
        advance(1)
        for index, epsilon in enumerate(epsilons):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore" if table or index else "default", UserWarning)  # each of them once
                private = GaussianMixture(
                    components, epsilon=epsilon, delta=delta, bounds=(-1.0, 1.0), random_state=table, **options
                ).fit(X)
            plans.append(private.privacy_.plan)
            figures[index].append((best - private.score(test), *_errors(ordinary, private, truth.deviations)))
            advance(1)
    return [
        Expectation(epsilon, gap, max(row[0] for row in each), means, weights, found, plan)
        for epsilon, each, plan in zip(epsilons, figures, plans)
        for gap, means, weights, found in [np.mean(each, axis=0).tolist()]
    ]


@dataclass(frozen=True, eq=False)
class _Truth:
    """A mixture to draw rows from."""

    kind: str
    weights: Array
    means: Array
    covariances: Array

    @classmethod
    def draw(cls, components: int, columns: int, kind: str, rng: np.random.Generator) -> _Truth:
        sets = rng.uniform(-_REACH, _REACH, (_DRAWS, components, columns))
        means = max(sets, key=_least_distance)
        shrink = components ** (-1 / columns)  # so that all have room
        low, high = (shrink * deviation for deviation in _DEVIATIONS)
        shapes = list(_shapes(1 if kind == "tied" else components, columns, kind, low, high, rng))
        covariances = np.stack(shapes * (components if kind == "tied" else 1))
        return cls(kind, rng.dirichlet(np.full(components, 5.0)), means, covariances)

    @property
    def deviations(self) -> Array:
        variances: Array = np.einsum("kii->ki", self.covariances)
        return np.sqrt(variances)

    def rows(self, count: int, rng: np.random.Generator) -> Array:
        labels = rng.choice(len(self.weights), size=count, p=self.weights)
        rows: Array = rng.normal(size=(count, self.means.shape[1]))
        for k, factor in enumerate(np.linalg.cholesky(self.covariances)):
            mine = labels == k
            rows[mine] = self.means[k] + rows[mine] @ factor.T
        np.clip(rows, -1.0, 1.0, out=rows)
        return rows

    def ordinary_fit(self, X: Array) -> OrdinaryMixture:
        """Fit without privacy, from the truth: what EM finds with the best of luck."""
        inverse = np.linalg.inv(self.covariances)
        variances = self.deviations**2
        precisions = {"full": inverse, "tied": inverse[0], "diag": 1 / variances}.get(
            self.kind, 1 / variances.mean(axis=1)
        )
        fit = OrdinaryMixture(
            len(self.weights),
            covariance_type=self.kind,
            weights_init=self.weights,
            means_init=self.means,
            precisions_init=precisions,
            max_iter=30,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged to the last digit does not matter here
            return fit.fit(X)


def _shapes(count: int, columns: int, kind: str, low: float, high: float, rng: np.random.Generator) -> Iterator[Array]:
    """Yield covariances with standard deviations from `low` to `high`, correlated where `kind` has correlations."""
    for _ in range(count):
        deviations = np.exp(rng.uniform(np.log(low), np.log(high), 1 if kind == "spherical" else columns))
        directions = rng.normal(size=(columns, 2 * columns)) if kind in ("full", "tied") else np.eye(columns)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        shape = directions * np.broadcast_to(deviations, columns)[:, None]
        yield shape @ shape.T


def _least_distance(means: Array) -> float:
    distances = np.linalg.norm(means[:, None] - means[None], axis=2)
    return float(distances[~np.eye(len(means), dtype=bool)].min(initial=np.inf))


def _errors(ordinary: OrdinaryMixture, private: GaussianMixture, deviations: Array) -> tuple[float, float, float]:
    """Return the errors of means and of weights, and how many components were found, the best pairing assumed."""
    apart = (private.means_[None] - ordinary.means_[:, None]) / deviations[:, None]
    off = np.sqrt(np.mean(apart**2, axis=2))
    rows, partners = linear_sum_assignment(np.minimum(off, 1e3))
    errors = off[rows, partners]
    weight_error = 0.5 * np.abs(private.weights_[partners] - ordinary.weights_).sum()
    return float(errors @ ordinary.weights_), float(weight_error), float((errors < _FOUND).sum())
