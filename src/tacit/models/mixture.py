"""Mixtures of Gaussians, as storage, reports and commands know them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tacit.models.card import Figure, ModelCard, Predictions, Results, StoredParameter, Trial, later
from tacit.models.command import Command, Option
from tacit.models.options import MISSING_OR_MODEL, count_option
from tacit.models.printed import Block, NumberedTable, format_means, format_percentages, number_columns
from tacit.models.stored_parameters import ARRAY_OR_WORD
from tacit.models.trials.trial import FOUND, LOG_LIKELIHOOD_LOST, MEAN_ERROR, WEIGHT_ERROR

if TYPE_CHECKING:
    from tacit.arrays import Array
    from tacit.mixture import GaussianMixture
    from tacit.sources import Source

__all__ = ["CARDS", "predict_components"]


class Covariance(StrEnum):
    """Shapes of components."""

    full = "full"
    tied = "tied"
    diag = "diag"
    spherical = "spherical"


class MixtureMethod(StrEnum):
    """Algorithms for a mixture."""

    scale_free = "scale_free"
    joint = "joint"
    per_parameter = "per_parameter"


def _number_or_auto(text: str) -> int | str:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither a whole number nor auto.") from None


def _write_prior(value: Any) -> Any:
    from dataclasses import asdict

    from tacit.mixture import MixturePrior

    return asdict(value) if isinstance(value, MixturePrior) else value


def _read_prior(value: Any) -> Any:
    from tacit.mixture import MixturePrior

    return None if value is None else MixturePrior(**value)


_COMPONENTS = count_option(
    "components",
    "How many components the mixture has; auto spends a little of the budget on choosing from 1 to 10.",
    "n_components",
    type=Any,
    metavar="NUMBER|auto",
    parse=_number_or_auto,
)
_COVARIANCE = Option(
    "covariance",
    Covariance,
    "full, tied, diag or spherical components; the simpler, the less noise.",
    Covariance.full,
    ("--covariance",),
    "SHAPE",
    parameter="covariance_type",
)
_METHOD = Option(
    "method",
    MixtureMethod,
    "scale_free (the most accurate), joint or per_parameter.",
    MixtureMethod.scale_free,
    ("--method",),
    "NAME",
)

_COMMAND = Command(
    "mixture",
    "GaussianMixture",
    "Fit a Gaussian mixture to a table under differential privacy, and save it with its certificate.",
    (
        "tacit fit mixture data.csv --schema schema.toml --components 3 --epsilon 1",
        "tacit fit mixture numbers.csv --bounds -10 10 --components 3",
        "tacit fit mixture numbers.csv --bounds -10 10 --components auto",
        "tacit fit mixture data.csv --schema s.toml -k 3 --ledger study.db --dataset patients",
    ),
    (_COMPONENTS, _COVARIANCE, _METHOD, MISSING_OR_MODEL),
)


def _blocks(model: GaussianMixture) -> list[Block]:
    """Return weights, means and levels of components, and how many rows are outliers."""
    rows = {"weight": [f"{weight:.1%}" for weight in model.weights_]} | _cells(model)
    table = NumberedTable("component", rows, "of less weight")
    if model.outliers_ is None or not model.outliers_.weight:
        return [table]
    return [
        table,
        f"Beside them, {model.outliers_.weight:.1%} of the rows are outliers: no component explains them.",
    ]


def _summary(model: GaussianMixture) -> dict[str, Any]:
    """Return the components for machines."""
    return {
        "columns": _number_columns(model),
        "weights": model.weights_.tolist(),
        "means": model.means_.tolist(),
        "standard_deviations": _standard_deviations(model).tolist(),
        "outliers": 0.0 if model.outliers_ is None else model.outliers_.weight,
        "levels": {name: each.tolist() for name, each in getattr(model, "level_probabilities_", {}).items()},
    }


def _number_columns(model: GaussianMixture) -> list[str] | None:
    """Return the names of the columns of numbers, those of ``means_``, if columns have names."""
    from tacit.tables import Numeric

    schema, names = model._domain.schema, model._domain.names
    if schema is not None:
        return [name for name in schema.used if isinstance(schema.columns[name], Numeric)]
    return None if names is None else list(names)


def _standard_deviations(model: GaussianMixture) -> Array:
    """Return the standard deviation of each column of numbers in each component, (K, d), in the units of the rows."""
    import numpy as np

    from tacit.mixture.table_mixture import table_layout

    variances = np.einsum("kii->ki", model._mixture.covariances)
    return np.asarray(np.sqrt(variances) * model._domain.scale[list(table_layout(model._domain).numbers)])


def _cells(model: GaussianMixture) -> dict[str, list[str]]:
    """Return the cells of each column: mean and standard deviation, or percentages of levels or of true."""
    from tacit.tables import Categorical

    names = _number_columns(model) or [f"column {j + 1}" for j in range(model.means_.shape[1])]
    numbers = dict(zip(names, map(format_means, model.means_.T, _standard_deviations(model).T)))
    schema = model._domain.schema
    if schema is None:
        return numbers
    cells = {}
    for name in schema.used:
        column = schema.columns[name]
        if name in numbers:
            cells[name] = numbers[name]
        elif isinstance(column, Categorical):
            levels = zip(column.labels(name), model.level_probabilities_[name].T)
            cells |= {label: format_percentages(each) for label, each in levels}
        else:
            cells[name] = format_percentages(model.level_probabilities_[name][:, 1])
    return cells


def predict_components(model: Any, block: Source) -> dict[str, Any]:
    """Return the likeliest component, the probability of each, and the log density."""
    each = model.predict_proba(block)
    columns = {"component": each.argmax(axis=1) + 1} | number_columns("probability", each)
    return columns | {"log_density": model.score_samples(block)}


CARDS = (
    ModelCard(
        name="GaussianMixture",
        room="tacit.mixture",
        kind="a mixture",
        docs="mixture.md",
        steps={
            "growing moments": "size, centre and spread of each component, for a start",
            "settling moments": "size, centre and spread of each component, roughly and often, so that they settle",
            "refining moments": "size, centre and spread of each component, measured again from there",
            "tails": "how far each column scatters in each component, far-off rows included",
            "outliers": "how many rows no component explains",
            "model choice": "how much more likely rows are with more components, to choose how many",
            "moments": "size, centre and spread of each component",
            "weights": "size of each component",
            "means": "centre of one component",
            "covariances": "spread of one component",
        },
        usual=lambda: {"n_components": 2},
        stored={
            "mixture": "see tacit.mixture.fitted_mixture",
            "outliers": '{"weight": w, "mixture": of one component}, of rows that no component explains, if they are '
            "modelled",
            "rows": "the public or a noisy number of rows",
            "released": "all noisy sums in the order of the releases, for intervals, unless they are very many",
        },
        command=_COMMAND,
        results=Results(lambda model: f"Fitted {model.n_components_} component(s) to", _blocks, _summary),
        predictions=Predictions("component, the probability of each, and the log density", predict_components),
        presentation=later("tacit.report.components", "present"),
        cautions=later("tacit.report.mixture_cautions", "fitted_cautions"),
        trial=Trial(
            later("tacit.models.trials.mixture", "draw"),
            "on simulated tables of components that can be told apart. Log-likelihood: nats per new row. Means: "
            "standard deviations of a component. Levels and weights: shares of rows. Found: components that are within "
            "one standard deviation.",
            {
                "gap": LOG_LIKELIHOOD_LOST,
                "mean_error": MEAN_ERROR,
                "level_error": Figure("levels off by", "{value:.2%}"),
                "weight_error": WEIGHT_ERROR,
                "found": FOUND,
            },
            (_COMPONENTS, _COVARIANCE, _METHOD),
        ),
        draws_rows=True,
        parameters={"init": ARRAY_OR_WORD, "prior": StoredParameter(_write_prior, _read_prior)},
    ),
)
