"""Moments and the factors made of them, as storage, reports and commands know them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.models.card import Figure, ModelCard, Predictions, Results, Trial, Without, later
from tacit.models.command import Command, Derivation, Option
from tacit.models.options import MISSING, count_option
from tacit.models.printed import (
    Block,
    NumberedTable,
    Table,
    column_names,
    format_mean,
    format_percentages,
    number_columns,
)
from tacit.models.trials.trial import LOG_LIKELIHOOD_LOST, MEAN_ERROR

if TYPE_CHECKING:
    from tacit.moments import FactorAnalysis, Moments
    from tacit.sources import Source

__all__ = ["CARDS"]

_MOST_CORRELATIONS = 6  # Correlations that a command lists.
_WORTH_TELLING = 0.05  # Correlations below this are not listed.
_STEPS = {
    "growing moments": "number of rows, centre and spread of all columns together, for a start",
    "refining moments": "number of rows, centre and spread of all columns together, measured again from there",
    "tails": "how far each column scatters, far-off rows included",
    "narrow columns": "where the cells of columns lie that are narrow beside their bounds",
    "far rows": "how many rows lie far out, by how far and in which direction",
    "columns": "centre and spread of each column by itself",
    "second moments": "how columns vary together, in their own units",
    "second moment": "how columns vary together, about the centre of the bounds",
}


class MomentsMethod(StrEnum):
    """Ways to measure moments."""

    adaptive = "adaptive"
    iterated = "iterated"
    staged = "staged"
    published = "published"


_MOMENTS_METHOD = Option(
    "method",
    MomentsMethod,
    "adaptive (by what the noise would be), iterated, staged or published.",
    MomentsMethod.adaptive,
    metavar="NAME",
)

_MOMENTS_COMMAND = Command(
    "moments",
    "Moments",
    """Measure mean and covariance under differential privacy, once, and save them with their certificate.

What is computed from them later costs nothing more: see tacit fit factors --from-moments.""",
    (
        "tacit fit moments data.csv --schema schema.toml --epsilon 1 --output moments.tacit",
        "tacit fit factors --from-moments moments.tacit --factors 2",
    ),
    (_MOMENTS_METHOD, MISSING),
)


def _moments_blocks(model: Moments) -> list[Block]:
    """Return means and standard deviations by column, and the strongest correlations."""
    from tacit.report.feature_views import MomentsView

    view = MomentsView.of(model)
    rows = [
        (each.label, f"{min(max(mean, 0.0), 1.0):.1%}" if each.is_proportion else _mean_cell(mean, deviation, hidden))
        for each, mean, deviation, hidden in zip(view.features, view.means, view.deviations, view.hidden.tolist())
    ]
    means = Table(("column", "mean ± standard deviation"), rows)
    strong = [pair for pair in view.strongest(_MOST_CORRELATIONS) if abs(pair[2]) >= _WORTH_TELLING]
    if not strong:
        return [means]
    pairs = [(view.features[i].label, view.features[j].label, f"{r:+.2f}") for i, j, r in strong]
    return [means, "", Table(("strongest correlations", "", ""), pairs, words=2)]


def _mean_cell(mean: float, deviation: float, hidden: bool) -> str:
    """Return a mean and its standard deviation, or what that is below where noise hides it."""
    cell = format_mean(mean, deviation)
    return cell.replace("± ", "± below ") if hidden else cell


def _moments_summary(model: Moments) -> dict[str, Any]:
    """Return moments for machines."""
    moments = {"mean": model.mean_.tolist(), "covariance": model.covariance_.tolist()}
    return {**column_names(model), "method": model.method_, "count": model.count_, **moments}


class FactorsMethod(StrEnum):
    """Algorithms for factor analysis."""

    adaptive = "adaptive"
    paper = "paper"


_FACTORS = count_option("factors", "How many factors there are.", "n_components")
_FACTORS_METHOD = Option(
    "method",
    FactorsMethod,
    "adaptive (the most accurate), or paper, as published.",
    FactorsMethod.adaptive,
    metavar="NAME",
)


def _from_moments(moments: Any, values: Mapping[str, Any]) -> Any:
    from tacit.moments import FactorAnalysis

    return FactorAnalysis.from_moments(moments, values["factors"])


_FROM_MOMENTS = Derivation(
    Option(
        "from_moments",
        Path | None,
        "Moments that tacit fit moments made: reads no rows, costs nothing more.",
        None,
        metavar="MODEL",
    ),
    source="Moments",
    otherwise="is no set of moments",
    wanted="that tacit fit moments made",
    uses=("factors",),
    derive=_from_moments,
    words=lambda values: f"Computed {values['factors']} factor(s) from the moments in",
    certificate="that of the moments",
    data_help="A .csv or .parquet file, streamed; or --from-moments.",
)

_FACTORS_COMMAND = Command(
    "factors",
    "FactorAnalysis",
    """Explain the correlations of columns by a few factors, under differential privacy, and save the model.

Moments are measured and factors computed from them. From moments that are there already it costs nothing more.""",
    (
        "tacit fit factors data.csv --schema schema.toml --factors 2 --epsilon 1",
        "tacit fit factors numbers.csv --bounds -10 10 --factors 2",
        "tacit fit factors --from-moments moments.tacit --factors 3",
    ),
    (_FACTORS, _FACTORS_METHOD, MISSING),
    derivation=_FROM_MOMENTS,
)


def _factors_blocks(model: FactorAnalysis) -> list[Block]:
    """Return what factors explain, and the correlations of columns with them."""
    from tacit.report.feature_views import FactorView

    view = FactorView.of(model)
    rows = {"explains": format_percentages(view.explained)}
    rows |= {each.label: [f"{r:+.2f}" for r in view.loadings[j]] for j, each in enumerate(view.features)}
    own = ["", *format_percentages(view.unique)]
    return [
        NumberedTable("factor", rows, "more factors", last=("own", own)),
        "\nCorrelations of columns with factors. A factor explains so much of the columns' variances, each in its own "
        "units; own is what no factor explains.",
    ]


def _factors_summary(model: FactorAnalysis) -> dict[str, Any]:
    """Return factors for machines."""
    from tacit.report.feature_views import FactorView

    own = {"noise_variance": model.noise_variance_.tolist(), "explained": FactorView.of(model).explained.tolist()}
    return {**column_names(model), "mean": model.mean_.tolist(), "loadings": model.components_.tolist(), **own}


def _factors(model: FactorAnalysis, block: Source) -> dict[str, Any]:
    """Return each factor, and the log density."""
    return number_columns("factor", model.transform(block)) | {"log_density": model.score_samples(block)}


CARDS = (
    ModelCard(
        name="Moments",
        room="tacit.moments",
        kind="moments",
        docs="factor-analysis.md",
        steps=_STEPS,
        stored={
            "moments": '{"method": "staged", "count": n, "mean": [d], "covariance": [d][d], "deviations": [d], '
            '"spread_noise": [d]}, in the units of the rows; the last two, where they were measured, are the columns\' '
            "own standard deviations and the relative noise of their squares"
        },
        command=_MOMENTS_COMMAND,
        results=Results(lambda model: "Measured mean and covariance of", _moments_blocks, _moments_summary),
        predictions=Without("They say nothing about single rows."),
        presentation=later("tacit.report.correlations", "present"),
        cautions=later("tacit.models.cautions.moments", "moment_cautions"),
        trial=Trial(
            later("tacit.models.trials.moments", "draw_moments"),
            "on simulated tables whose columns have about half of their variance in common. Means: standard deviations "
            "of a column. All are root mean squares.",
            {
                "mean_error": MEAN_ERROR,
                "deviation_error": Figure("deviations off by", "{value:.1%}"),
                "correlation_error": Figure("correlations off by", "{value:.3f}"),
            },
            (_MOMENTS_METHOD,),
        ),
    ),
    ModelCard(
        name="FactorAnalysis",
        room="tacit.moments",
        kind="factors",
        docs="factor-analysis.md",
        steps=_STEPS,
        stored={"factors": '{"mean": [d], "loadings": [d][q], "unique": [d]}, in coordinates of z'},
        command=_FACTORS_COMMAND,
        results=Results(lambda model: f"Fitted {model.n_components} factor(s) to", _factors_blocks, _factors_summary),
        predictions=Predictions("each factor, and the log density", _factors),
        presentation=later("tacit.report.loadings", "present"),
        cautions=later("tacit.models.cautions.moments", "factor_cautions"),
        trial=Trial(
            later("tacit.models.trials.moments", "draw_factors"),
            "on simulated tables whose columns have about half of their variance in common. Log-likelihood: nats per "
            "new row. Factors kept: how much of what they span is found again.",
            {"gap": LOG_LIKELIHOOD_LOST, "factors_kept": Figure("factors kept", "{value:.0%}")},
            (_FACTORS, _FACTORS_METHOD),
        ),
        draws_rows=True,
    ),
)
