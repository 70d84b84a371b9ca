"""What a fit found, for people and for machines: each kind of model in its own way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit.cli import components, linear, screen
from tacit.clusters import KMeans
from tacit.fitting import PrivateEstimator
from tacit.linear import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from tacit.mixture import GaussianMixture
from tacit.moments import FactorAnalysis, Moments
from tacit.regressions import MissingCovariateRegression, MixtureOfRegressions
from tacit.report.feature_views import ClusterView, FactorView, MomentsView
from tacit.report.regression_view import RegressionView
from tacit.synthesis import TableModel
from tacit.tables.features import Feature

__all__ = ["found", "show_found", "summary"]

_MOST_CORRELATIONS = 6
_WORTH_TELLING = 0.05  # correlations below are not listed


def found(model: PrivateEstimator) -> str:
    """Return in a few words what was done to a table, which is named next.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> found(tacit.KMeans(3, bounds=10.0).fit(X))
    'Found 3 cluster(s) in'
    """
    return _KINDS[type(model)].words(model)


def show_found(model: PrivateEstimator) -> None:
    """Print a table of what was found."""
    _KINDS[type(model)].show(model)


def summary(model: PrivateEstimator) -> dict[str, Any]:
    """Return what was found as JSON has it."""
    return _KINDS[type(model)].summary(model)


def _show_clusters(model: KMeans) -> None:
    view = ClusterView.of(model)
    rows = {each.label: _values(each, view.centres[:, j]) for j, each in enumerate(view.features)}
    screen.numbered_table("cluster", rows, "smaller than these")


def _show_moments(model: Moments) -> None:
    view = MomentsView.of(model)
    rows = [
        (each.label, f"{min(max(mean, 0.0), 1.0):.1%}" if each.is_share else _spread(mean, deviation))
        for each, mean, deviation in zip(view.features, view.means, view.deviations)
    ]
    screen.table(("column", "mean ± standard deviation"), rows[: screen.MOST_LINES])
    screen.not_shown(len(rows))
    strong = [pair for pair in view.strongest(_MOST_CORRELATIONS) if abs(pair[2]) >= _WORTH_TELLING]
    if strong:
        screen.say()
        pairs = [(view.features[i].label, view.features[j].label, f"{r:+.2f}") for i, j, r in strong]
        screen.table(("strongest correlations", "", ""), pairs, words=2)


def _show_factors(model: FactorAnalysis) -> None:
    view = FactorView.of(model)
    rows = {"explains": [f"{share:.0%}" for share in view.explained]}
    rows |= {each.label: [f"{r:+.2f}" for r in view.loadings[j]] for j, each in enumerate(view.features)}
    own = ["", *(f"{share:.0%}" for share in view.unique)]
    screen.numbered_table("factor", rows, "more factors", last=("own", own))
    screen.say(
        "\nCorrelations of columns with factors. A factor explains so much of the columns' variances, each in its own "
        "units; own is what no factor explains."
    )


def _show_regressions(model: MixtureOfRegressions | MissingCovariateRegression) -> None:
    view = RegressionView.of(model)
    cells = {each.label: _coefficients(view, j) for j, each in enumerate(view.features)}
    rows = {"weight": [f"{weight:.1%}" for weight in view.weights]} if view.count > 1 else {}
    rows |= cells | {
        "(intercept)": [f"{value:.4g}" for value in view.intercepts],
        "(residuals)": [f"± {value:.3g}" for value in view.scales],
    }
    if view.count > 1:
        screen.numbered_table("component", rows, "of less weight")
    else:
        lines = [(name, each[0]) for name, each in rows.items()]
        screen.table(("input", f"adds to {view.target}"), lines[: screen.MOST_LINES])
        screen.not_shown(len(lines))
    words = "in the units of both, ± one standard error" if view.errors is not None else "in the units of both"
    screen.say(f"\nWhat one more of an input adds to {view.target}, {words}; levels count from their average.")


def _coefficients(view: RegressionView, place: int) -> list[str]:
    slopes = view.slopes[:, place]
    if view.errors is None:
        return [f"{slope:.3g}" for slope in slopes]
    return [_spread(*each) for each in zip(slopes, np.maximum(view.errors[:, place], 1e-300))]


def _regressions_summary(model: MixtureOfRegressions | MissingCovariateRegression) -> dict[str, Any]:
    one = isinstance(model, MissingCovariateRegression)
    names = model._joint.names
    found = {"coefficients": model.coef_, "errors": model.coef_errors_, "intercepts": model.intercept_}
    found |= {"scales": model.scale_ if one else model.scales_, "weights": 1.0 if one else model.weights_}
    arrays = {
        name: None
        if values is None
        else np.atleast_2d(values).tolist()
        if name in ("coefficients", "errors")
        else np.atleast_1d(values).tolist()
        for name, values in found.items()
    }
    return {**_columns(model), "target": None if names is None else names[-1], **arrays}


def _spread(mean: float, deviation: float) -> str:
    return components.spreads(np.array([mean]), np.array([deviation]))[0]


def _values(feature: Feature, values: np.ndarray) -> list[str]:
    if feature.is_share:
        return [f"{share:.0%}" for share in np.clip(values, 0.0, 1.0)]
    decimals = max(0, 3 - math.floor(math.log10(feature.high - feature.low)))  # to a thousandth of the range
    if decimals > 6 or feature.high - feature.low >= 1e9:
        return [f"{value:.4g}" for value in values]
    return [f"{value:,.{decimals}f}" for value in np.round(values, decimals) + 0.0]


def _columns(model: PrivateEstimator) -> dict[str, Any]:
    names = model._domain.names
    return {"columns": None if names is None else list(names)}


def _moments_summary(model: Moments) -> dict[str, Any]:
    moments = {"mean": model.mean_.tolist(), "covariance": model.covariance_.tolist()}
    return {**_columns(model), "method": model.method_, "count": model.count_, **moments}


def _factors_summary(model: FactorAnalysis) -> dict[str, Any]:
    own = {"noise_variance": model.noise_variance_.tolist(), "explained": FactorView.of(model).explained.tolist()}
    return {**_columns(model), "mean": model.mean_.tolist(), "loadings": model.components_.tolist(), **own}


def _show_table(model: TableModel) -> None:
    screen.say(f"Columns: {', '.join(model.probabilities_)}. Draw synthetic rows with tacit sample.")


class _Kind(NamedTuple):
    words: Callable[[Any], str]
    show: Callable[[Any], None]
    summary: Callable[[Any], dict[str, Any]]


_KINDS: dict[type, _Kind] = {
    GaussianMixture: _Kind(
        lambda model: f"Fitted {model.n_components_} component(s) to", components.component_table, components.summary
    ),
    KMeans: _Kind(
        lambda model: f"Found {model.n_clusters} cluster(s) in",
        _show_clusters,
        lambda model: {**_columns(model), "centres": model.cluster_centers_.tolist()},
    ),
    Moments: _Kind(lambda model: "Measured mean and covariance of", _show_moments, _moments_summary),
    MixtureOfRegressions: _Kind(
        lambda model: f"Fitted {model.n_components} regression(s) to", _show_regressions, _regressions_summary
    ),
    MissingCovariateRegression: _Kind(
        lambda model: "Fitted a regression on inputs with gaps to", _show_regressions, _regressions_summary
    ),
    TableModel: _Kind(
        lambda model: f"Fitted {len(model.probabilities_)} column(s) of",
        _show_table,
        lambda model: {"columns": list(model.probabilities_)},
    ),
    **dict.fromkeys(
        (LinearRegression, Ridge, Lasso, ElasticNet),
        _Kind(lambda model: f"Fitted {linear.NAMES[type(model)]} to", linear.show_regression, linear.summary),
    ),
    LogisticRegression: _Kind(
        lambda model: f"Fitted a logistic regression of {len(model.classes_)} classes to",
        linear.show_classes,
        linear.summary,
    ),
    FactorAnalysis: _Kind(lambda model: f"Fitted {model.n_components} factor(s) to", _show_factors, _factors_summary),
}
