"""Linear regressions with and without penalties, as storage, reports and commands know them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from tacit.models.card import ModelCard, Results, Without, later
from tacit.models.command import Command, FitRequest, Option, OptionError
from tacit.models.options import CHECKED_FIRST, INTERCEPT, MISSING, TARGET, TARGET_BOUNDS, fit_request

__all__ = ["CARDS", "LINEAR_INPUTS"]


class Penalty(StrEnum):
    """What coefficients of a linear regression are held down by."""

    none = "none"
    ridge = "ridge"
    lasso = "lasso"
    elastic_net = "elastic-net"


_ESTIMATORS = {
    Penalty.none: "LinearRegression",
    Penalty.ridge: "Ridge",
    Penalty.lasso: "Lasso",
    Penalty.elastic_net: "ElasticNet",
}
_SHARED = (TARGET, INTERCEPT, TARGET_BOUNDS, MISSING)
_ALPHA = Option("alpha", float | None, "How much the penalty counts, as in scikit-learn; 1 by default.", None)
_L1_RATIO = Option("l1_ratio", float | None, "How much of an elastic-net is lasso, from 0 to 1; 0.5 by default.", None)
_PENALTY = Option(
    "penalty",
    Penalty,
    "none, ridge (on squares), lasso (some become 0) or elastic-net.",
    Penalty.none,
    metavar="NAME",
)


def _request(values: dict[str, Any], has_schema: bool) -> FitRequest:
    penalty, alpha, l1_ratio = values["penalty"], values["alpha"], values["l1_ratio"]
    if alpha is not None and penalty is Penalty.none:
        raise OptionError("--alpha says how much a penalty counts; pass --penalty ridge, lasso or elastic-net.")
    if l1_ratio is not None and penalty is not Penalty.elastic_net:
        raise OptionError("--l1-ratio is for --penalty elastic-net.")
    estimator, parameters = fit_request(_ESTIMATORS[penalty], _SHARED)(values, has_schema)
    given = {name: value for name, value in (("alpha", alpha), ("l1_ratio", l1_ratio)) if value is not None}
    return FitRequest(estimator, parameters | given)


_COMMAND = Command(
    "linear",
    f"""Linear regression of a column on the others, under differential privacy; also ridge, lasso and elastic net.

It is near least squares and unmoved by heavy tails. Bounds are those of all columns, the target's too.

{CHECKED_FIRST}""",
    (
        "tacit fit linear data.csv --schema schema.toml --target cost",
        "tacit fit linear data.csv --schema schema.toml --target cost --penalty lasso --alpha 0.1",
        "tacit fit linear numbers.csv --bounds -10 10 --target y --target-bounds 0 500",
    ),
    (TARGET, _PENALTY, _ALPHA, _L1_RATIO, INTERCEPT, TARGET_BOUNDS, MISSING),
    _request,
)

#: How files tell where inputs of a linear model lie.
LINEAR_INPUTS = 'where inputs lie, {"means": [d], "deviations": [d]} or null'
_NO_FORECAST = Without("Nobody has simulated tables for it yet.")
_PENALISED = (
    "A penalty pulls coefficients towards zero, by how much nobody knows without knowing the truth. For intervals, fit "
    "LinearRegression."
)


def _card(name: str, words: str, title: str, why_no_errors: str = _PENALISED) -> ModelCard:
    return ModelCard(
        name=name,
        room="tacit.linear",
        kind="a regression",
        docs="linear-regression.md",
        stored={
            "linear": '{"intercept": b, "coefficients": [d], "noise_variance": v or null, "errors": [1 + d] or null, '
            f'"inputs": {LINEAR_INPUTS}}}, in the units of the rows, the last column of which is the target'
        },
        presentation=later("tacit.report.linear_models", "present", name=title, why_no_errors=why_no_errors),
        command=_COMMAND,
        results=Results(
            lambda model: f"Fitted {words} to",
            later("tacit.models.results.linear", "regression_blocks"),
            later("tacit.models.results.linear", "summary"),
        ),
        trial=_NO_FORECAST,
        predictions=later("tacit.models.predictions", "values"),
    )


CARDS = (
    _card(
        "LinearRegression",
        "a linear regression",
        "Linear regression",
        "They are known of a fit of its own with method scores, not of what is made of moments or by robust descent.",
    ),
    _card("Ridge", "a ridge regression", "Ridge regression"),
    _card("Lasso", "a lasso", "Lasso"),
    _card("ElasticNet", "an elastic net", "Elastic net"),
    ModelCard(
        name="HuberRegressor",
        room="tacit.linear",
        kind="a regression",
        docs="classification.md",
        stored={
            "predictor": f'{{"coefficients": [1][1 + d], "scale": s, "inputs": {LINEAR_INPUTS}}}, from coordinates of '
            "z to units of the target"
        },
        presentation=later(
            "tacit.report.linear_models",
            "present",
            name="Huber regression",
            why_no_errors="How far off they may be is not known with this loss. LinearRegression is robust too, and "
            "has intervals.",
        ),
        command=Without("Nobody has written one yet; tacit fit linear is robust too, and has intervals."),
        results=Without("No command fits it."),
        trial=_NO_FORECAST,
        predictions=later("tacit.models.predictions", "values"),
    ),
)
