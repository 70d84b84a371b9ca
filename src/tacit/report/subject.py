"""What a report is about: all that differs between one kind of model and another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from tacit.clusters import KMeans
from tacit.linear import ElasticNet, HuberRegressor, Lasso, LinearRegression, LinearSVC, LogisticRegression, Ridge
from tacit.mixture import GaussianMixture
from tacit.moments import FactorAnalysis, Moments
from tacit.privacy import Certificate
from tacit.regressions import MissingCovariateRegression, MixtureOfRegressions
from tacit.report import centres, components, correlations, linear_models, loadings, regressions, table_columns
from tacit.report.cautions import (
    Caution,
    cautions,
    cluster_cautions,
    factor_cautions,
    linear_cautions,
    moment_cautions,
    regression_cautions,
    table_cautions,
)
from tacit.report.feature_views import ClusterView, FactorView, MomentsView
from tacit.report.linear_view import LinearKind, LinearView
from tacit.report.markup import Html
from tacit.report.numerals import plural
from tacit.report.regression_view import RegressionView
from tacit.report.table_columns import TableView
from tacit.report.view import MixtureView
from tacit.synthesis import TableModel

Pairs = Sequence[Sequence[str | int]] | None

_PICTURES = 3


@dataclass(frozen=True)
class Subject:
    """A fitted model, as the page presents it.

    Parameters
    ----------
    title : str
        What the page is called if nobody says.
    columns : int
        How many columns of the table the model is about.
    ignored : tuple of str
        Names of columns that the schema leaves out.
    cautions : list of Caution
    each : str
        What a release measures: "each component", "each cluster", "all rows".
    whose : str
        Which rows signal : noise is about, and `share`, what share of all rows they are.
    found : Html
        What was found.
    """

    title: str
    columns: int
    ignored: tuple[str, ...]
    cautions: list[Caution]
    each: str
    whose: str
    share: float
    found: Html


def check_subject(model: Any) -> None:
    """Refuse, in a sentence, what no report can be about."""
    if not isinstance(model, tuple(_KINDS)):
        names = ", ".join(f"tacit.{kind.__name__}" for kind in _KINDS)
        raise TypeError(f"A report is about a fitted model, one of {names}, and this is a {type(model).__name__}.")
    check_is_fitted(model, "privacy_")


def subject_of(model: Any, certificate: Certificate, pairs: Pairs) -> Subject:
    """Return what there is to say about a fitted model."""
    describe = next(describe for kind, describe in _KINDS.items() if isinstance(model, kind))
    return describe(model, certificate, pairs)


def _mixture(model: GaussianMixture, certificate: Certificate, pairs: Pairs) -> Subject:
    view = MixtureView.of(model)
    chosen = view.best_pairs(_PICTURES) if pairs is None else [view.find_pair(pair) for pair in pairs]
    return Subject(
        f"Gaussian mixture of {plural(view.count, 'component')}",
        len(view.columns),
        view.ignored,
        cautions(view, certificate),
        "each component",
        "the rows of the smallest component",
        float(view.weights.min()),
        components.found(view, certificate, chosen),
    )


def _clusters(model: KMeans, certificate: Certificate, pairs: Pairs) -> Subject:
    view = ClusterView.of(model)
    chosen = view.best_pairs(_PICTURES) if pairs is None else [view.find_pair(pair) for pair in pairs]
    return Subject(
        f"k-means with {plural(view.count, 'cluster')}",
        len(view.columns),
        view.ignored,
        cluster_cautions(view, certificate),
        "each cluster",
        "the rows of an average cluster",
        1 / view.count,
        centres.found(view, chosen),
    )


def _moments(model: Moments, certificate: Certificate, pairs: Pairs) -> Subject:
    _refuse(pairs)
    view = MomentsView.of(model)
    about = moment_cautions(view, certificate)
    title = f"Mean and covariance of {plural(len(view.columns), 'column')}"
    return Subject(title, len(view.columns), view.ignored, about, "all rows", "all rows", 1.0, correlations.found(view))


def _factors(model: FactorAnalysis, certificate: Certificate, pairs: Pairs) -> Subject:
    _refuse(pairs)
    view = FactorView.of(model)
    about = factor_cautions(view, certificate)
    title = f"Factor analysis with {plural(view.loadings.shape[1], 'factor')}"
    return Subject(title, len(view.columns), view.ignored, about, "all rows", "all rows", 1.0, loadings.found(view))


def _table(model: TableModel, certificate: Certificate, pairs: Pairs) -> Subject:
    _refuse(pairs)
    view = TableView.of(model)
    title = f"Model of a table of {plural(len(view.shares), 'column')}"
    about = table_cautions(certificate)
    return Subject(title, len(view.shares), view.ignored, about, "all rows", "all rows", 1.0, table_columns.found(view))


def _regressions(
    model: MixtureOfRegressions | MissingCovariateRegression, certificate: Certificate, pairs: Pairs
) -> Subject:
    _refuse(pairs)
    view, gaps = RegressionView.of(model), isinstance(model, MissingCovariateRegression)
    several = view.count > 1
    return Subject(
        f"{f'Mixture of {view.count} regressions' if several else 'Regression'} of {view.target}",
        len(view.columns) + 1,
        view.ignored,
        regression_cautions(view, certificate),
        "each component" if several else "the regression",
        "the rows of the smallest component" if several else "all rows",
        float(view.weights.min()),
        regressions.found(view, certificate, gaps=gaps),
    )


def _linear(model: LinearKind, certificate: Certificate, pairs: Pairs) -> Subject:
    _refuse(pairs)
    view = LinearView.of(model)
    name, why_no_errors = _LINEAR[next(kind for kind in _LINEAR if isinstance(model, kind))]
    weighted = getattr(model, "class_weight", None) is not None
    return Subject(
        f"{name} of {view.outcome if view.count == 1 else view.target}",
        len(view.columns) + 1,
        view.ignored,
        linear_cautions(view, certificate, why_no_errors, weighted=weighted),
        "the model",
        "all rows",
        1.0,
        linear_models.found(view),
    )


def _refuse(pairs: Pairs) -> None:
    if pairs is not None:
        raise ValueError("Pairs of columns are drawn of mixtures and of clusters; leave them out for this model.")


_PENALISED = (
    "A penalty pulls coefficients towards zero, by how much nobody knows without knowing the truth. For intervals, fit "
    "LinearRegression."
)
_LINEAR = {
    LinearRegression: (
        "Linear regression",
        "They are known of a fit of its own with method scores, not of what is made of moments or by robust descent.",
    ),
    Ridge: ("Ridge regression", _PENALISED),
    ElasticNet: ("Elastic net", _PENALISED),
    Lasso: ("Lasso", _PENALISED),
    HuberRegressor: (
        "Huber regression",
        "How far off they may be is not known with this loss. LinearRegression is robust too, and has intervals.",
    ),
    LogisticRegression: (
        "Logistic regression",
        "Of all solvers, newton alone keeps account of how far off they may be.",
    ),
    LinearSVC: (
        "Linear support vector classifier",
        "How far off they may be is not known with this loss. LogisticRegression has intervals.",
    ),
}
_KINDS = {
    GaussianMixture: _mixture,
    KMeans: _clusters,
    Moments: _moments,
    FactorAnalysis: _factors,
    TableModel: _table,
    MixtureOfRegressions: _regressions,
    MissingCovariateRegression: _regressions,
    **dict.fromkeys(_LINEAR, _linear),
}
