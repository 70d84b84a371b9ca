"""Linear regressions with and without penalties, as storage, reports and commands know them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tacit.models.card import Figure, ModelCard, Predictions, Results, Trial, Without, later
from tacit.models.command import Command, FitRequest, Option, OptionError, fit_request
from tacit.models.options import INTERCEPT, MISSING, TARGET, TARGET_BOUNDS
from tacit.models.printed import Block, Table, format_means

if TYPE_CHECKING:
    from tacit.arrays import Array
    from tacit.report.linear_view import LinearView

__all__ = ["CARDS", "LINEAR_INPUTS", "SOLVER_STEPS", "coefficient_cells", "explain_coefficients", "summarise"]

#: How files tell where inputs of a linear model lie.
LINEAR_INPUTS = 'where inputs lie, {"means": [d], "deviations": [d]} or null'

_COLUMN_STEPS = {
    "levels": "how many rows have each level of each column",
    "columns": "centre and spread of each column by itself",
    "tails": "how far each column scatters, far-off rows included",
    "second moments": "how columns vary together, in their own units",
}
#: What solvers of convex losses measure.
SOLVER_STEPS = {
    **_COLUMN_STEPS,
    "early gradient": "which way coefficients should move, each time from other rows",
    "gradient": "which way coefficients should move",
    "snapshot gradient": "which way coefficients should move, from all rows",
    "sampled difference": "how that differs a few steps on, in a sample of rows",
    "tilt": "a random slope that was added to what is minimised",
    "minimum": "the coefficients for which losses are least, with noise",
    "corner": "which coefficient should move",
    "intercept": "which way the intercept should move",
}
_LEAST_SQUARES_STEPS = {
    "column moments": "centre and spread of each input by itself",
    "column bins": "where inputs lie that hardly vary within their bounds",
    "column lengths": "how far out rows lie in single inputs, for clipping",
    "column scores": "how far centre and spread of each input are off",
    "target moments": "centre and spread of the target",
    "target bins": "where the target lies if it hardly varies within its bounds",
    "target lengths": "how far out rows lie in the target, for clipping",
    "target scores": "how far centre and spread of the target are off",
    "input lengths": "how far out rows lie in all inputs together, for clipping",
    "score lengths": "how much single rows ask for, for clipping",
    "early scores": "how far the regression predicts too high or too low, and where",
    "tails of scores": "what clipping hides of that",
    "residual lengths": "how far predictions are off, with slopes and without",
}
_REGRESSION_STEPS = {
    **_COLUMN_STEPS,
    **_LEAST_SQUARES_STEPS,
    "growing moments": "number of rows, centre and spread of all columns together, for a start",
    "refining moments": "number of rows, centre and spread of all columns together, measured again from there",
    "refining scores": "how far the regression predicts too high or too low, and where",
    "curvature": "how fast that changes as coefficients move",
    "squared residuals": "how far predictions are off, squared",
    "final scores": "how far the regression predicts too high or too low, with most of the budget",
    "level": "how far predictions are off on the whole",
    "gradient": "which way coefficients should move",
    "coefficients": "coefficients found in many small shares of the rows, put together",
    "number of rows": "how many rows there are",
}


class LossName(StrEnum):
    """What a linear regression makes small."""

    squared = "squared"
    huber = "huber"


class PenaltyName(StrEnum):
    """What coefficients of a linear regression are held down by."""

    none = "none"
    ridge = "ridge"
    lasso = "lasso"
    elastic_net = "elastic-net"


_ESTIMATORS = {
    PenaltyName.none: "LinearRegression",
    PenaltyName.ridge: "Ridge",
    PenaltyName.lasso: "Lasso",
    PenaltyName.elastic_net: "ElasticNet",
}
_SHARED = (TARGET, INTERCEPT, TARGET_BOUNDS, MISSING)
_ALPHA = Option("alpha", float | None, "How much the penalty counts, as in scikit-learn; 1 by default.", None)
_L1_RATIO = Option("l1_ratio", float | None, "How much of an elastic-net is lasso, from 0 to 1; 0.5 by default.", None)
_PENALTY = Option(
    "penalty",
    PenaltyName,
    "none, ridge (on squares), lasso (some become 0) or elastic-net.",
    PenaltyName.none,
    metavar="NAME",
)
_LOSS = Option(
    "loss", LossName, "squared (least squares) or huber (the bulk of the rows).", LossName.squared, metavar="NAME"
)
_THRESHOLD = Option(
    "threshold", float, "Where the loss turns linear, in standard deviations of residuals.", 1.35, metavar="NUMBER"
)


def _request(values: dict[str, Any], has_schema: bool) -> FitRequest:
    penalty, alpha, l1_ratio = values["penalty"], values["alpha"], values["l1_ratio"]
    if alpha is not None and penalty is PenaltyName.none:
        raise OptionError("--alpha says how much a penalty counts; pass --penalty ridge, lasso or elastic-net.")
    if l1_ratio is not None and penalty is not PenaltyName.elastic_net:
        raise OptionError("--l1-ratio is for --penalty elastic-net.")
    estimator, parameters = fit_request(_ESTIMATORS[penalty], _SHARED, values)
    given = {name: value for name, value in (("alpha", alpha), ("l1_ratio", l1_ratio)) if value is not None}
    return FitRequest(estimator, parameters | given | {"loss": str(values["loss"])})


_COMMAND = Command(
    "linear",
    "LinearRegression",
    """Linear regression of a column on the others, under differential privacy; also ridge, lasso and elastic net.

It is near least squares. --loss huber is for heavy tails: slopes are then those of the bulk of the rows. Bounds are
those of all columns, the target's too.""",
    (
        "tacit fit linear data.csv --schema schema.toml --target cost",
        "tacit fit linear data.csv --schema schema.toml --target cost --penalty lasso --alpha 0.1",
        "tacit fit linear numbers.csv --bounds -10 10 --target y --target-bounds 0 500",
    ),
    (TARGET, _LOSS, _PENALTY, _ALPHA, _L1_RATIO, INTERCEPT, TARGET_BOUNDS, MISSING),
    _request,
)

_HUBER_COMMAND = Command(
    "huber",
    "HuberRegressor",
    """Linear regression with Huber's loss, under differential privacy: squares for small residuals, linear beyond.

tacit fit linear --loss huber is robust too, and has standard errors. Bounds are those of all columns, the target's
too.""",
    (
        "tacit fit huber data.csv --schema schema.toml --target cost",
        "tacit fit huber numbers.csv --bounds -10 10 --target y --target-bounds 0 500 --threshold 2",
    ),
    (TARGET, _THRESHOLD, INTERCEPT, TARGET_BOUNDS, MISSING),
)


def coefficient_cells(view: LinearView) -> dict[str, list[str]]:
    """Return the cells of each input and of the intercept, one for each prediction."""
    rows = {
        each.label: _cells(view.slopes[:, j], None if view.errors is None else view.errors[:, j])
        for j, each in enumerate(view.features)
    }
    return rows | {"(intercept)": [f"{value:.4g}" for value in view.intercepts]}


def _cells(values: Array, errors: Array | None) -> list[str]:
    return [f"{value:.3g}" for value in values] if errors is None else format_means(values, errors)


def explain_coefficients(view: LinearView, what: str) -> str:
    """Return the sentence below a table of coefficients; `what` is what inputs add to."""
    from tacit.report.linear_words import interval_meaning

    errors = "" if view.errors is None else ", ± one standard error"
    levels = "; levels count from their average" if view.levels() and view.levels_from_average else ""
    meaning = "" if view.errors is None else f" Standard errors are {interval_meaning(view)}."
    return f"\nWhat one more of an input adds to {what}{errors}{levels}.{meaning}"


def _blocks(model: Any) -> list[Block]:
    """Return what inputs add to the target."""
    from tacit.report.linear_view import LinearView

    view = LinearView.of(model)
    rows = coefficient_cells(view)
    if hasattr(model, "noise_variance_"):
        rows["(residuals)"] = [f"± {model.noise_variance_**0.5:.3g}"]
    return [
        Table(("input", f"adds to {view.target}"), [(name, cells[0]) for name, cells in rows.items()]),
        explain_coefficients(view, f"{view.target}, in the units of both"),
    ]


def summarise(model: Any) -> dict[str, Any]:
    """Return coefficients for machines, one row for each prediction."""
    import numpy as np

    errors = _errors(model)
    names = model._joint.names
    classes = {"classes": model.classes_.tolist()} if hasattr(model, "classes_") else {}
    return classes | {
        "columns": None if names is None else list(names[:-1]),
        "target": None if names is None else names[-1],
        "coefficients": np.atleast_2d(model.coef_).tolist(),
        "errors": None if errors is None else errors[:, 1:].tolist(),
        "intercepts": np.atleast_1d(model.intercept_).tolist(),
        "intercept_errors": None if errors is None else errors[:, 0].tolist(),
        **({} if classes else {"noise_variance": getattr(model, "noise_variance_", None)}),
    }


def _errors(model: Any) -> Array | None:
    """Return standard errors (K, 1 + d) of intercepts and coefficients, where they are known."""
    import numpy as np

    if getattr(model, "_covariance", None) is not None:
        intervals = model.confidence_intervals()
        return np.column_stack([intervals.intercept_errors, intervals.coef_errors])
    if not hasattr(model, "coef_errors_"):
        return None
    return np.append(model.intercept_error_, model.coef_errors_)[None]


_TRIAL = Trial(
    later("tacit.models.trials.regressions", "draw_line"),
    "that is of least squares, on simulated tables with Gaussian residuals. Predictions: standard deviations of "
    "residuals. R²: how much less of the target's variance is explained.",
    {
        "prediction_error": Figure("predictions off by", "{value:.3f}"),
        "explained_lost": Figure("R² lost", "{value:.2%}", worst=True),
    },
)
_PENALISED_TRIAL = Without(
    "What a penalty changes depends on the truth; tacit plan --model linear forecasts the regression without one."
)
_PENALISED = (
    "A penalty pulls coefficients towards zero, by how much nobody knows without knowing the truth. For intervals, fit "
    "LinearRegression."
)
_PREDICTIONS = Predictions("the prediction", lambda model, block: {"prediction": model.predict(block)})


def _card(
    name: str, words: str, title: str, why_no_errors: str = _PENALISED, trial: Trial | Without = _PENALISED_TRIAL
) -> ModelCard:
    return ModelCard(
        name=name,
        room="tacit.linear",
        kind="a regression",
        docs="linear-regression.md",
        target="number",
        steps=_REGRESSION_STEPS,
        usual=lambda: {} if name == "LinearRegression" else {"alpha": 0.1},
        stored={
            "linear": '{"intercept": b, "coefficients": [d], "noise_variance": v or null, "errors": [1 + d] or null, '
            f'"inputs": {LINEAR_INPUTS}, "target_range": [2] or null}}, in the units of the rows, the last column of '
            "which is the target"
        },
        command=_COMMAND,
        results=Results(lambda model: f"Fitted {words} to", _blocks, summarise),
        predictions=_PREDICTIONS,
        presentation=later("tacit.report.linear_models", "present", name=title, why_no_errors=why_no_errors),
        cautions=later("tacit.models.cautions.linear", "regression_cautions"),
        trial=trial,
    )


CARDS = (
    _card(
        "LinearRegression",
        "a linear regression",
        "Linear regression",
        "They are known of a fit of its own with method scores, not of what is made of moments or by robust descent.",
        _TRIAL,
    ),
    _card("Ridge", "a ridge regression", "Ridge regression"),
    _card("Lasso", "a lasso", "Lasso"),
    _card("ElasticNet", "an elastic net", "Elastic net"),
    ModelCard(
        name="HuberRegressor",
        room="tacit.linear",
        kind="a regression",
        docs="classification.md",
        target="number",
        steps=SOLVER_STEPS,
        stored={
            "predictor": f'{{"coefficients": [1][1 + d], "scale": s, "inputs": {LINEAR_INPUTS}}}, from coordinates of '
            "z to units of the target"
        },
        command=_HUBER_COMMAND,
        results=Results(lambda model: "Fitted a Huber regression to", _blocks, summarise),
        predictions=_PREDICTIONS,
        presentation=later(
            "tacit.report.linear_models",
            "present",
            name="Huber regression",
            why_no_errors="How far off they may be is not known with this loss. LinearRegression is robust too, and "
            "has intervals.",
        ),
        cautions=later("tacit.models.cautions.linear", "regression_cautions"),
        trial=_TRIAL,
    ),
)
