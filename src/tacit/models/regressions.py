"""Mixtures of regressions, regression with missing cells and symmetric mixtures, as storage, reports and commands know
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.models.card import Figure, ModelCard, Predictions, Results, StoredParameter, Trial, Without, later
from tacit.models.command import Command, Option
from tacit.models.mixture import predict_components
from tacit.models.options import INTERCEPT, MISSING, TARGET, TARGET_BOUNDS, count_option
from tacit.models.printed import Block, NumberedTable, Table, column_names, format_mean, number_columns
from tacit.models.stored_parameters import ARRAY_OR_WORD
from tacit.models.trials.trial import FOUND, LOG_LIKELIHOOD_LOST, WEIGHT_ERROR

if TYPE_CHECKING:
    from tacit.regressions import MissingCovariateRegression, MixtureOfRegressions, SymmetricMixture
    from tacit.report.regression_view import RegressionView
    from tacit.sources import Source

__all__ = ["CARDS"]

_SPARSITY = Option("sparsity", int | None, "How many columns matter at most; which ones is chosen privately.", None)
_CHOICES = {
    "size of inputs": "how large inputs are, for choosing columns",
    "middle of the target": "the middle of the target, for choosing columns",
    "size of the target": "how large the target is, for choosing columns",
    "first column": "the column that matters most",
    "next columns": "further columns that matter",
    "columns": "which columns matter",
}
_GRADIENTS = {
    "number of rows": "how many rows there are",
    "gradient": "which way coefficients should move",
}

_COMPONENTS = count_option("components", "How many groups respond differently.", "n_components", 1)

_COMMAND = Command(
    "regressions",
    "MixtureOfRegressions",
    """Explain a column by the others under differential privacy: linear regression, or one for each of several groups.

Which row is of which group is not known beforehand. Bounds are those of all columns, the target's too.""",
    (
        "tacit fit regressions data.csv --schema schema.toml --target cost --components 2",
        "tacit fit regressions numbers.csv --bounds -10 10 --target y --target-bounds 0 500 -k 1",
    ),
    (TARGET, _COMPONENTS, INTERCEPT, TARGET_BOUNDS, MISSING),
)

#: A public guess, or nothing, for which files of version 0.1 have the word "random".
_GUESS = StoredParameter(
    ARRAY_OR_WORD.write, lambda value: None if isinstance(value, str) else ARRAY_OR_WORD.read(value)
)

_MISSING_COMMAND = Command(
    "missing-regression",
    "MissingCovariateRegression",
    """Linear regression on columns with missing cells, under differential privacy.

Every row says what it can; whether cells are missing, and which, is protected too.""",
    (
        "tacit fit missing-regression data.csv --schema schema.toml --target cost",
        "tacit fit missing-regression numbers.csv --bounds -10 10 --target y",
    ),
    (TARGET, TARGET_BOUNDS),
)

_SYMMETRIC_COMMAND = Command(
    "symmetric",
    "SymmetricMixture",
    """Two equally likely round components, opposite each other about the origin, under differential privacy.

For components of any shape, number and place there is tacit fit mixture.""",
    (
        "tacit fit symmetric numbers.csv --bounds -10 10",
        "tacit fit symmetric numbers.csv --bounds -10 10 --sparsity 5 --scale 1",
    ),
    (
        Option("scale", float | None, "The standard deviation within a component, where it is public.", None),
        _SPARSITY,
        MISSING,
    ),
)


def _blocks(model: MixtureOfRegressions | MissingCovariateRegression) -> list[Block]:
    """Return what inputs add to the target, in each component."""
    from tacit.report.regression_view import RegressionView

    view = RegressionView.of(model)
    cells = {each.label: _coefficients(view, j) for j, each in enumerate(view.features)}
    rows = {"weight": [f"{weight:.1%}" for weight in view.weights]} if view.count > 1 else {}
    rows |= cells | {
        "(intercept)": [f"{value:.4g}" for value in view.intercepts],
        "(residuals)": [f"± {value:.3g}" for value in view.scales],
    }
    table: Block = NumberedTable("component", rows, "of less weight")
    if view.count == 1:
        table = Table(("input", f"adds to {view.target}"), [(name, each[0]) for name, each in rows.items()])
    words = "in the units of both, ± one standard error" if view.errors is not None else "in the units of both"
    all_inputs = view.chosen_from is None
    levels = "levels count from their average" if all_inputs else "inputs that were not chosen add nothing"
    return [table, f"\nWhat one more of an input adds to {view.target}, {words}; {levels}."]


def _coefficients(view: RegressionView, place: int) -> list[str]:
    slopes = view.slopes[:, place]
    if view.errors is None:
        return [f"{slope:.3g}" for slope in slopes]
    return [format_mean(*each) for each in zip(slopes, view.errors[:, place])]


def _summary(model: MixtureOfRegressions | MissingCovariateRegression) -> dict[str, Any]:
    """Return coefficients for machines, one row for each component."""
    import numpy as np

    names, errors = model._joint.names, model.coef_errors_
    several = hasattr(model, "weights_")
    return {
        **column_names(model),
        "target": None if names is None else names[-1],
        "coefficients": np.atleast_2d(model.coef_).tolist(),
        "errors": None if errors is None else np.atleast_2d(errors).tolist(),
        "intercepts": np.atleast_1d(model.intercept_).tolist(),
        "scales": np.atleast_1d(model.scales_ if several else model.scale_).tolist(),
        "weights": np.atleast_1d(model.weights_ if several else 1.0).tolist(),
    }


def _predictions(model: MixtureOfRegressions, block: Source) -> dict[str, Any]:
    """Return the prediction and that of each component; with the target, also the component and the log density."""
    import numpy as np

    from tacit.sources import numeric

    each = model.predict_components(block)
    columns = {"prediction": each @ model.weights_} | number_columns("prediction", each)
    target = None if model._joint.names is None else model._joint.names[-1]
    if block.columns is None or target not in block.columns:
        return columns
    observed = np.concatenate(list(numeric(block.select([target])).blocks()))[:, 0]
    if not np.isfinite(observed).all():
        raise ValueError(f"The target {target!r} has missing cells; fill them in, or leave the column out.")
    responsibilities = model.predict_proba(block, observed)
    columns |= {"component": responsibilities.argmax(axis=1) + 1} | number_columns("probability", responsibilities)
    return columns | {"log_density": model.log_density(block, observed)}


def _symmetric_blocks(model: SymmetricMixture) -> list[Block]:
    """Return where one of the components is, and how wide both are."""
    names = model._domain.names or [f"column {j + 1}" for j in range(len(model.half_))]
    rows = [(str(name), f"{value:.4g}") for name, value in zip(names, model.half_)]
    return [
        Table(("column", "centre of one component"), rows),
        f"\nThe other component is at the opposite place. In both, columns scatter by ± {model.scale_:.3g}.",
    ]


CARDS = (
    ModelCard(
        name="MixtureOfRegressions",
        room="tacit.regressions",
        kind="a mixture of regressions",
        docs="regressions.md",
        target="number",
        steps={
            "whitening moments": "centre and spread of all columns together",
            "growing scores": "how far each regression predicts too high or too low, and where, for a start",
            "refining scores": "how far each regression predicts too high or too low, and where, again from there",
            "final scores": "the same once more, with most of the budget",
            "far residuals": "how many rows each regression predicts badly, and how badly",
            **_GRADIENTS,
            **_CHOICES,
        },
        stored={
            "regressions": '{"weights": [K], "coefficients": [K][1 + d], "scales": [K], "errors": [K] or null}, '
            "in coordinates of z, the last column of which is the target",
            "inputs": '{"mean": [d], "covariance": [d][d]}, in coordinates of z',
        },
        command=_COMMAND,
        results=Results(lambda model: f"Fitted {model.n_components} regression(s) to", _blocks, _summary),
        predictions=Predictions(
            "the prediction, and that of each component; if the target is in the table, also the component, the "
            "probability of each, and the target's log density",
            _predictions,
        ),
        presentation=later("tacit.report.regressions", "present"),
        cautions=later("tacit.models.cautions.regressions", "mixed_regression_cautions"),
        trial=Trial(
            later("tacit.models.trials.regressions", "draw"),
            "on simulated tables of groups that respond differently. Log-likelihood: nats per new row. Predictions: "
            "standard deviations of residuals. Weights: shares of rows. Found: groups whose predictions are within one "
            "standard deviation.",
            {
                "gap": LOG_LIKELIHOOD_LOST,
                "prediction_error": Figure("predictions off by", "{value:.3f}"),
                "weight_error": WEIGHT_ERROR,
                "found": FOUND,
            },
            (_COMPONENTS,),
        ),
        parameters={"init": _GUESS},
    ),
    ModelCard(
        name="MissingCovariateRegression",
        room="tacit.regressions",
        kind="a regression on inputs with gaps",
        docs="regressions.md",
        target="number",
        steps={
            "observed cells": "how many cells of each column are there",
            "moments of the table": "centre and spread of all columns together, from the cells that are there",
            "expected scores": "how far the regression predicts too high or too low, and where",
            "final scores": "the same once more, with most of the budget",
            **_GRADIENTS,
            **_CHOICES,
        },
        stored={
            "gaussian": '{"mean": [d + 1], "covariance": [d + 1][d + 1], "errors": [d][d] or null}, of z, the target '
            "last"
        },
        command=_MISSING_COMMAND,
        results=Results(lambda model: "Fitted a regression on inputs with gaps to", _blocks, _summary),
        predictions=Predictions("the prediction", lambda model, block: {"prediction": model.predict(block)}),
        presentation=later("tacit.report.regressions", "present"),
        cautions=later("tacit.models.cautions.regressions", "mixed_regression_cautions"),
        trial=Without("How accurate it is depends on which cells are missing, which no schema tells."),
    ),
    ModelCard(
        name="SymmetricMixture",
        room="tacit.regressions",
        kind="a symmetric mixture",
        docs="regressions.md",
        steps={
            "looking for the axis": "how columns vary together, to find the line that both components lie on",
            "folding": "the sum of all rows, each turned to the side of one component",
            "final folding": "the same once more, with most of the budget",
            **_GRADIENTS,
            **_CHOICES,
        },
        stored={"symmetric": '{"half": [d], "scale": s}, in the units of the rows'},
        command=_SYMMETRIC_COMMAND,
        results=Results(
            lambda model: "Fitted a symmetric mixture to",
            _symmetric_blocks,
            lambda model: {**column_names(model), "half": model.half_.tolist(), "scale": model.scale_},
        ),
        predictions=Predictions("component, the probability of each, and the log density", predict_components),
        trial=Without("Its published methods are studied by the experiments; tacit plan --model mixture is near."),
        draws_rows=True,
        parameters={"init": _GUESS},
    ),
)
