"""``tacit predict``: what a model says about rows, inside the walls. Not private."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray

from tacit.cli import screen
from tacit.cli.model import load_kind, write_parts
from tacit.cli.options import Force, Json, ModelFile, examples
from tacit.erm import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Ridge,
)
from tacit.files import check_destination, written_whole
from tacit.latent import FactorAnalysis, GaussianMixture, KMeans, MissingCovariateRegression, MixtureOfRegressions
from tacit.sources import Source, as_source, numeric

__all__ = ["EXAMPLES", "predict"]

Array = NDArray[np.float64]

EXAMPLES = examples(
    "tacit predict model.tacit data.csv -o components.csv", "tacit predict model.tacit data.parquet -o factors.parquet"
)
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
_NOT_PRIVATE = (
    "NOT PRIVATE: what a model says about a row is as sensitive as the row. Use it where the rows are kept; do not "
    "publish it."
)


def predict(
    model: ModelFile,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file with the model's columns.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file.")],
    force: Force = False,
    json: Json = False,
) -> None:
    """Say about each row of a table, in order, what it is of: a component, a cluster, factors, or a target to expect.

    Of a mixture: component, the probability of each, and the log density.

    Of clusters: cluster, and the distance from each centre. Of factors: each factor, and the log density.

    Of regressions: the prediction, and that of each component; if the target is in the table, also the component, the
    probability of each, and the target's log density.

    Of linear regressions: the prediction. Of classifiers: the class, and the probability of each or the score.

    Components and clusters count from 1, as in reports.

    NOT PRIVATE: what is written is as sensitive as the rows. It is for whoever keeps them; do not publish it.
    """
    check_destination(output, endings=(".csv", ".parquet"), replace=force)
    kinds = (GaussianMixture, KMeans, FactorAnalysis, MixtureOfRegressions, *_PREDICTORS)
    wanted = "of a mixture, of clusters, of factors, of a regression or of a classifier"
    fitted = load_kind(model, kinds, "says nothing about single rows", wanted)
    source = as_source(data)
    screen.note(_NOT_PRIVATE)
    with written_whole(output) as temporary, screen.progress("Looking at rows", source.n_rows) as advance:
        columns = write_parts(_parts(fitted, source.blocks()), temporary, advance)
    secret = fitted.privacy_.plan.neighbors == "add_remove"  # how many rows there are may be what was protected
    if json:
        shape = {"path": str(output), "rows": None if secret else source.n_rows, "columns": columns}
        screen.print_json({"private": False, "warning": _NOT_PRIVATE} | shape)
    else:
        rows = "one row for each that was read" if secret else f"{source.n_rows:,} rows"
        screen.say(f"Wrote to {output}: {rows}, of {len(columns)} columns: {', '.join(columns)}.")


def _parts(model: Any, blocks: Iterator[Any]) -> Iterator[pa.Table]:
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
