"""Mixtures of regressions, as storage, reports and commands know them."""

from __future__ import annotations

from tacit.models.card import ModelCard, Results, StoredParameter, Trial, Without, later
from tacit.models.command import Command
from tacit.models.options import (
    CHECKED_FIRST,
    INTERCEPT,
    MISSING,
    TARGET,
    TARGET_BOUNDS,
    count_option,
    fit_request,
)
from tacit.models.stored_parameters import ARRAY_OR_WORD

__all__ = ["CARDS"]

_OPTIONS = (
    TARGET,
    count_option("components", "How many groups respond differently.", "n_components", 1),
    INTERCEPT,
    TARGET_BOUNDS,
    MISSING,
)

_COMMAND = Command(
    "regressions",
    f"""Explain a column by the others under differential privacy: linear regression, or one for each of several groups.

Which row is of which group is not known beforehand. Bounds are those of all columns, the target's too.

{CHECKED_FIRST}""",
    (
        "tacit fit regressions data.csv --schema schema.toml --target cost --components 2",
        "tacit fit regressions numbers.csv --bounds -10 10 --target y --target-bounds 0 500 -k 1",
    ),
    _OPTIONS,
    fit_request("MixtureOfRegressions", _OPTIONS),
)

#: A public guess, or nothing, for which files of version 0.1 have the word "random".
_GUESS = StoredParameter(
    ARRAY_OR_WORD.write, lambda value: None if isinstance(value, str) else ARRAY_OR_WORD.read(value)
)

CARDS = (
    ModelCard(
        name="MixtureOfRegressions",
        room="tacit.regressions",
        kind="a regression",
        docs="regressions.md",
        stored={
            "regressions": '{"weights": [K], "coefficients": [K][1 + d], "scales": [K], "errors": [K] or null}, '
            "in coordinates of z, the last column of which is the target",
            "inputs": '{"mean": [d], "covariance": [d][d]}, in coordinates of z',
        },
        presentation=later("tacit.report.regressions", "present"),
        command=_COMMAND,
        results=Results(
            lambda model: f"Fitted {model.n_components} regression(s) to",
            later("tacit.models.results.regressions", "blocks"),
            later("tacit.models.results.regressions", "summary"),
        ),
        trial=Trial(
            later("tacit.models.trials.regressions", "draw"),
            "on simulated tables of groups that respond differently. Log-likelihood: nats per new row. Predictions: "
            "standard deviations of residuals. Weights: shares of rows. Found: groups whose predictions are within one "
            "standard deviation.",
            parts="components",
            takes_target=True,
            create=later("tacit.models.trials.regressions", "create"),
        ),
        predictions=later("tacit.models.predictions", "regressions"),
        parameters={"init": _GUESS},
    ),
    ModelCard(
        name="SymmetricMixture",
        room="tacit.regressions",
        kind="a symmetric mixture",
        docs="regressions.md",
        stored={"symmetric": '{"half": [d], "scale": s}, in the units of the rows'},
        presentation=Without("It is one vector and one number, which its attributes show whole."),
        command=Without("It is for studies of gradient EM, which are written in Python."),
        results=Without("No command fits it."),
        trial=Without("No command fits it."),
        predictions=Without("No command fits it."),
        parameters={"init": _GUESS},
    ),
)
