"""Mixtures of Gaussians, as storage, reports and commands know them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from tacit.models.card import ModelCard, Results, StoredParameter, Trial, later
from tacit.models.command import Command, Option
from tacit.models.options import CHECKED_FIRST, MISSING_OR_MODEL, count_option, fit_request
from tacit.models.stored_parameters import ARRAY_OR_WORD

__all__ = ["CARDS", "Covariance"]


class Covariance(StrEnum):
    """Shapes of components."""

    full = "full"
    tied = "tied"
    diag = "diag"
    spherical = "spherical"


class Method(StrEnum):
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


_OPTIONS = (
    count_option(
        "components",
        "How many components the mixture has; auto spends a little of the budget on choosing from 1 to 10.",
        "n_components",
        type=Any,
        metavar="NUMBER|auto",
        parse=_number_or_auto,
    ),
    Option(
        "covariance",
        Covariance,
        "full, tied, diag or spherical components; the simpler, the less noise.",
        Covariance.full,
        ("--covariance",),
        "SHAPE",
        parameter="covariance_type",
    ),
    Option(
        "method",
        Method,
        "scale_free (the most accurate), joint or per_parameter.",
        Method.scale_free,
        ("--method",),
        "NAME",
    ),
    MISSING_OR_MODEL,
)

_COMMAND = Command(
    "mixture",
    f"""Fit a Gaussian mixture to a table under differential privacy, and save it with its certificate.

{CHECKED_FIRST}""",
    (
        "tacit fit mixture data.csv --schema schema.toml --components 3 --epsilon 1",
        "tacit fit mixture numbers.csv --bounds -10 10 --components 3",
        "tacit fit mixture numbers.csv --bounds -10 10 --components auto",
        "tacit fit mixture data.csv --schema s.toml -k 3 --ledger study.db --dataset patients",
    ),
    _OPTIONS,
    fit_request("GaussianMixture", _OPTIONS),
)

CARDS = (
    ModelCard(
        name="GaussianMixture",
        room="tacit.mixture",
        kind="a mixture",
        docs="mixture.md",
        stored={
            "mixture": "see tacit.mixture.fitted_mixture",
            "outliers": '{"weight": w, "mixture": of one component}, of rows that no component explains, if they are '
            "modelled",
            "rows": "the public or a noisy number of rows",
            "released": "all noisy sums in the order of the releases, for intervals, unless they are very many",
        },
        presentation=later("tacit.report.components", "present"),
        command=_COMMAND,
        results=Results(
            lambda model: f"Fitted {model.n_components_} component(s) to",
            later("tacit.models.results.mixture", "blocks"),
            later("tacit.models.results.mixture", "summary"),
        ),
        trial=Trial(
            later("tacit.models.trials.mixture", "draw"),
            "on simulated tables of components that can be told apart. Log-likelihood: nats per new row. Means: "
            "standard deviations of a component. Levels and weights: shares of rows. Found: components that are within "
            "one standard deviation.",
            parts="components",
            options=("covariance_type",),
        ),
        predictions=later("tacit.models.predictions", "components"),
        draws_rows=True,
        parameters={"init": ARRAY_OR_WORD, "prior": StoredParameter(_write_prior, _read_prior)},
    ),
)
