"""What a model says about rows, as columns of a table: each kind of model in its own way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.clusters import KMeans
from tacit.linear import ElasticNet, HuberRegressor, Lasso, LinearRegression, LinearSVC, LogisticRegression, Ridge
from tacit.mixture import GaussianMixture
from tacit.moments import FactorAnalysis
from tacit.regressions import MissingCovariateRegression, MixtureOfRegressions
from tacit.sources import Source, as_source, numeric

__all__ = ["KINDS", "prediction_tables"]

Array = NDArray[np.float64]

_PREDICTORS = (
    MissingCovariateRegression,
    LinearRegression,
    Ridge,
    Lasso,
    ElasticNet,
    HuberRegressor,
    LogisticRegression,
    LinearSVC,
)
#: Models that say something about single rows.
KINDS = (GaussianMixture, KMeans, FactorAnalysis, MixtureOfRegressions, *_PREDICTORS)


def prediction_tables(model: Any, blocks: Iterator[Any]) -> Iterator[pa.Table]:
    """Yield a table for each block of rows."""
    for block in blocks:
        yield pa.table(_columns(model, as_source(block)))  # by name, whatever other columns there are


def _columns(model: Any, block: Source) -> dict[str, Array]:
    if isinstance(model, KMeans):
        distances = model.transform(block)
        return {"cluster": distances.argmin(axis=1) + 1} | _numbered("distance", distances)
    if isinstance(model, _PREDICTORS):
        return {"prediction": model.predict(block)} | _certainty(model, block)
    if isinstance(model, MixtureOfRegressions):
        return _regressed(model, block)
    density = {"log_density": model.score_samples(block)}
    if isinstance(model, FactorAnalysis):
        return _numbered("factor", model.transform(block)) | density
    probabilities = model.predict_proba(block)
    return {"component": probabilities.argmax(axis=1) + 1} | _numbered("probability", probabilities) | density


def _certainty(model: Any, block: Source) -> dict[str, Array]:
    """Return what a classifier says beside the class."""
    if isinstance(model, LinearSVC):
        return {"score": model.decision_function(block)}
    if not isinstance(model, LogisticRegression):
        return {}
    probabilities = model.predict_proba(block)
    return {f"probability_{label}": probabilities[:, k] for k, label in enumerate(model.classes_.tolist())}


def _regressed(model: MixtureOfRegressions, block: Source) -> dict[str, Array]:
    each = model.predict_components(block)
    found = {"prediction": each @ model.weights_} | _numbered("prediction", each)
    target = None if model._joint.names is None else model._joint.names[-1]
    if block.columns is None or target not in block.columns:
        return found
    values = np.concatenate(list(numeric(block.select([target])).blocks()))[:, 0]
    if not np.isfinite(values).all():
        raise ValueError(f"The target {target!r} has missing cells; fill them in, or leave the column out.")
    probabilities = model.predict_proba(block, values)
    found |= {"component": probabilities.argmax(axis=1) + 1} | _numbered("probability", probabilities)
    return found | {"log_density": model.log_density(block, values)}


def _numbered(name: str, values: Array) -> dict[str, Array]:
    return {f"{name}_{k + 1}": values[:, k] for k in range(values.shape[1])}
