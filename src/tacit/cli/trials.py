"""One simulated table for each kind of model, and how a private fit to it is judged beside an ordinary one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import subspace_angles
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans as OrdinaryKMeans

from tacit.cli import regression_trial
from tacit.cli.simulation import (
    Setting,
    drawn_factors,
    drawn_mixture,
    log_densities,
    mixture_rows,
    ordinary_mixture,
)
from tacit.clusters import KMeans
from tacit.mixture import GaussianMixture
from tacit.mixture.table_mixture import TableMixture
from tacit.moments import FactorAnalysis, Moments
from tacit.moments.factors import Factors, likeliest_factors

__all__ = ["FIGURES", "TEST_ROWS", "TRIALS", "Trial", "TrialKind"]

Array = NDArray[np.float64]
Judge = Callable[[Any], dict[str, float]]

TEST_ROWS = 10_000
_FOUND = 1.0  # standard deviations, per column, within which a component counts as found
_STARTS = 5  # of ordinary k-means, beside the truth
_MOMENT_FACTORS = 3  # that columns have in common, where moments alone are asked for

#: What figures are called in a table, and how they are written.
FIGURES = {
    "gap": ("log-lik. lost", "{:.3f}"),
    "worst_gap": ("at worst", "{:.3f}"),
    "excess": ("distance² more", "{:.1%}"),
    "worst_excess": ("at worst", "{:.1%}"),
    "mean_error": ("means off by", "{:.3f}"),
    "level_error": ("levels off by", "{:.2%}"),
    "weight_error": ("weights off by", "{:.2%}"),
    "centre_error": ("centres off by", "{:.3f}"),
    "deviation_error": ("deviations off by", "{:.1%}"),
    "correlation_error": ("correlations off by", "{:.3f}"),
    "prediction_error": ("predictions off by", "{:.3f}"),
    "factors_kept": ("factors kept", "{:.0%}"),
    "found": ("found", "{:.1f}"),
}


class Trial(NamedTuple):
    """Rows to fit, what a fit to them is worth: figures by name; and the target, where there is one."""

    rows: Any
    judge: Judge
    target: tuple[Any, ...] = ()


class TrialKind(NamedTuple):
    """How a kind of model is tried: the estimator, what draws a trial, and what the figures mean."""

    estimator: Callable[..., Any]
    draw: Callable[..., Trial]
    parts: str | None  # what there is a number of
    words: str


def _mixture(setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator) -> Trial:
    kind = options.get("covariance_type", "full")
    truth = drawn_mixture(size, kind, setting.domain, rng)
    train, encoded = setting.table(mixture_rows(truth, rows, rng)[0])
    test, encoded_test = setting.table(mixture_rows(truth, TEST_ROWS, rng)[0])
    least = setting.domain.least_variances[list(truth.layout.numbers)]
    ordinary = ordinary_mixture(truth, encoded, kind, least)
    best = float(log_densities(ordinary, encoded_test, setting.domain).mean())
    deviations = np.sqrt(np.einsum("kii->ki", truth.covariances))
    return Trial(
        train, lambda private: {"gap": best - private.score(test)} | mixture_errors(ordinary, private, deviations)
    )


def mixture_errors(ordinary: TableMixture, private: GaussianMixture, deviations: Array) -> dict[str, float]:
    """Return the errors of means, levels and weights, and how many components were found, the best pairing assumed."""
    found, layout = private._mixture, ordinary.layout
    means = np.abs(found.means[None] - ordinary.means[:, None]) / deviations[:, None]  # (K, K, d)
    shares = getattr(found, "probabilities", np.empty((found.count, 0)))
    apart = np.abs(shares[None] - ordinary.probabilities[:, None]) / 2
    levels = np.zeros((*apart.shape[:2], len(layout.levels)))
    for j, where in enumerate(layout.slices):
        levels[:, :, j] = apart[:, :, where].sum(axis=2)
    # An even coin has a standard deviation of 1/2, so a share that is off by so much counts as one of them.
    off = np.sqrt(np.mean(np.concatenate([means, 2 * levels], axis=2) ** 2, axis=2))
    at, partners = linear_sum_assignment(np.minimum(off, 1e3))
    weights = ordinary.weights
    errors = {"mean_error": float(np.sqrt(np.mean(means[at, partners] ** 2, axis=1)) @ weights)} if means.size else {}
    if layout.levels:
        errors["level_error"] = float(levels[at, partners].mean(axis=1) @ weights)
    errors["weight_error"] = float(0.5 * np.abs(found.weights[partners] - weights).sum())
    return errors | {"found": float((off[at, partners] < _FOUND).sum())}


def _clusters(setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator) -> Trial:
    truth = drawn_mixture(size, "spherical", setting.domain, rng)
    z, labels = mixture_rows(truth, rows, rng)
    train, encoded = setting.table(z)
    test, encoded_test = setting.table(mixture_rows(truth, TEST_ROWS, rng)[0])
    truth_start = [encoded[labels == k].mean(axis=0) if (labels == k).any() else encoded[k] for k in range(size)]
    found_start = OrdinaryKMeans(size, n_init=_STARTS, random_state=0).fit(encoded[:TEST_ROWS]).cluster_centers_
    fits = [OrdinaryKMeans(size, init=np.asarray(each), n_init=1).fit(encoded) for each in (truth_start, found_start)]
    ordinary = min(fits, key=lambda fit: fit.inertia_)
    least = float(np.mean(ordinary.transform(encoded_test).min(axis=1) ** 2))
    domain = setting.domain

    def judge(private: KMeans) -> dict[str, float]:
        distance = float(np.mean(private.transform(test).min(axis=1) ** 2))
        centres = (private.cluster_centers_ - domain.centre) / domain.scale
        off = np.linalg.norm(centres[None] - ordinary.cluster_centers_[:, None], axis=2) / max(least, 1e-12) ** 0.5
        errors = off[linear_sum_assignment(off)]
        shares = np.bincount(ordinary.labels_, minlength=size) / rows
        found = float((errors < _FOUND).sum())
        return {"excess": distance / max(least, 1e-12) - 1, "centre_error": float(errors @ shares), "found": found}

    return Trial(train, judge)


def _factors(setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator) -> Trial:
    truth = drawn_factors(size, setting.domain.columns, rng)
    train, encoded = setting.table(truth.sample(rows, rng))
    test, encoded_test = setting.table(truth.sample(TEST_ROWS, rng))
    ordinary = likeliest_factors(*_moments_of(encoded, setting), size)
    best = float(ordinary.log_density(encoded_test).mean()) + setting.domain.log_jacobian

    def judge(private: FactorAnalysis) -> dict[str, float]:
        angles = subspace_angles(_correlations(private._factors), _correlations(ordinary))
        return {"gap": best - private.score(test), "factors_kept": float(np.mean(np.cos(angles) ** 2))}

    return Trial(train, judge)


def _moments(setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator) -> Trial:
    columns = setting.domain.columns
    train, encoded = setting.table(drawn_factors(min(_MOMENT_FACTORS, columns), columns, rng).sample(rows, rng))
    mean, covariance = _moments_of(encoded, setting)
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    centre, scale = setting.domain.centre, setting.domain.scale

    def judge(private: Moments) -> dict[str, float]:
        off = ((private.mean_ - centre) / scale - mean) / deviations
        found = np.sqrt(np.diag(private.covariance_))
        apart = private.covariance_ / np.outer(found, found) - correlations
        return {
            "mean_error": _root_mean_square(off),
            "deviation_error": _root_mean_square(found / scale / deviations - 1),
            "correlation_error": _root_mean_square(apart[np.triu_indices(columns, 1)]),
        }

    return Trial(train, judge)


def _regressions(setting: Setting, rows: int, size: int, options: dict[str, Any], rng: np.random.Generator) -> Trial:
    train, (test, inputs), ordinary, best = regression_trial.drawn(setting, rows, size, TEST_ROWS, rng)
    units = np.log(setting.domain.scale[setting.target_place])

    def parted(table: Any) -> tuple[Any, Any]:
        if setting.target is not None:
            return table, table[setting.target].to_numpy()
        return table[:, :-1], table[:, -1]

    def judge(private: Any) -> dict[str, float]:
        gap = float(best.mean() - units - private.log_density(*parted(test)).mean())
        return {"gap": gap} | regression_trial.judge(private, ordinary, inputs)

    if setting.target is not None:
        return Trial(train, judge, (setting.target,))
    X, y = parted(train)
    return Trial(X, judge, (y,))


def _moments_of(encoded: Array, setting: Setting) -> tuple[Array, Array]:
    """Return mean and covariance of rows, with variances no smaller than a private fit finds."""
    covariance = np.atleast_2d(np.cov(encoded.T, bias=True))
    diagonal = np.diag_indices(len(covariance))
    covariance[diagonal] = np.maximum(covariance[diagonal], setting.domain.least_variances)
    return encoded.mean(axis=0), covariance


def _correlations(factors: Factors) -> Array:
    return (
        factors.loadings / np.sqrt(np.einsum("dk,dk->d", factors.loadings, factors.loadings) + factors.unique)[:, None]
    )


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0


_RELATED = "on simulated tables whose columns have about half of their variance in common."
_LOST = "Log-likelihood: nats per new row."

TRIALS = {
    "mixture": TrialKind(
        GaussianMixture,
        _mixture,
        "components",
        f"on simulated tables of components that can be told apart. {_LOST} Means: standard deviations of a component. "
        "Levels and weights: shares of rows. Found: components that are within one standard deviation.",
    ),
    "kmeans": TrialKind(
        KMeans,
        _clusters,
        "clusters",
        "on simulated tables of clusters that can be told apart. Distance²: of new rows from their nearest centre. "
        "Centres: mean distances of rows from their centre. Found: centres that are within one.",
    ),
    "factors": TrialKind(
        FactorAnalysis,
        _factors,
        "factors",
        f"{_RELATED} {_LOST} Factors kept: how much of what they span is found again.",
    ),
    "regressions": TrialKind(
        regression_trial.estimator,
        _regressions,
        "components",
        f"on simulated tables of groups that respond differently. {_LOST} Predictions: standard deviations of "
        "residuals. Weights: shares of rows. Found: groups whose predictions are within one standard deviation.",
    ),
    "moments": TrialKind(
        Moments,
        _moments,
        None,
        f"{_RELATED} Means: standard deviations of a column. All are root mean squares.",
    ),
}
