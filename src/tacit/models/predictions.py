"""What models say about single rows: columns by name, for ``tacit predict``. Components and clusters count from 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Array
from tacit.clusters import KMeans
from tacit.linear import LinearSVC, LogisticRegression
from tacit.mixture import GaussianMixture
from tacit.moments import FactorAnalysis
from tacit.regressions import MixtureOfRegressions
from tacit.sources import Source, numeric

__all__ = ["components", "distances", "factors", "probabilities", "regressions", "scores", "values"]


def components(model: GaussianMixture, block: Source) -> dict[str, Array]:
    """Return the likeliest component, the probability of each, and the log density."""
    density = {"log_density": model.score_samples(block)}
    each = model.predict_proba(block)
    return {"component": each.argmax(axis=1) + 1} | _numbered("probability", each) | density


def distances(model: KMeans, block: Source) -> dict[str, Array]:
    """Return the nearest cluster, and the distance from each centre."""
    each = model.transform(block)
    return {"cluster": each.argmin(axis=1) + 1} | _numbered("distance", each)


def factors(model: FactorAnalysis, block: Source) -> dict[str, Array]:
    """Return each factor, and the log density."""
    density = {"log_density": model.score_samples(block)}
    return _numbered("factor", model.transform(block)) | density


def values(model: Any, block: Source) -> dict[str, Array]:
    """Return the value of the target that a regression predicts."""
    return {"prediction": model.predict(block)}


def scores(model: LinearSVC, block: Source) -> dict[str, Array]:
    """Return the class that is predicted, and the score."""
    return {"prediction": model.predict(block), "score": model.decision_function(block)}


def probabilities(model: LogisticRegression, block: Source) -> dict[str, Array]:
    """Return the class that is predicted, and the probability of each."""
    prediction, each = {"prediction": model.predict(block)}, model.predict_proba(block)
    return prediction | {f"probability_{label}": each[:, k] for k, label in enumerate(model.classes_.tolist())}


def regressions(model: MixtureOfRegressions, block: Source) -> dict[str, Array]:
    """Return the prediction and that of each component; with the target, also the component and the log density."""
    each = model.predict_components(block)
    columns = {"prediction": each @ model.weights_} | _numbered("prediction", each)
    target = None if model._joint.names is None else model._joint.names[-1]
    if block.columns is None or target not in block.columns:
        return columns
    observed = np.concatenate(list(numeric(block.select([target])).blocks()))[:, 0]
    if not np.isfinite(observed).all():
        raise ValueError(f"The target {target!r} has missing cells; fill them in, or leave the column out.")
    responsibilities = model.predict_proba(block, observed)
    columns |= {"component": responsibilities.argmax(axis=1) + 1} | _numbered("probability", responsibilities)
    return columns | {"log_density": model.log_density(block, observed)}


def _numbered(name: str, columns: Array) -> dict[str, Array]:
    return {f"{name}_{k + 1}": columns[:, k] for k in range(columns.shape[1])}
