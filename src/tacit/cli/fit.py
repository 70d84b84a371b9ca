"""``tacit fit``: spend budget on a model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import tacit
from tacit.cli.model import load_kind
from tacit.cli.options import (
    Clusters,
    ClustersMethod,
    ComponentsOrAuto,
    Covariance,
    CovarianceOption,
    Data,
    Factors,
    FactorsMethod,
    Intercept,
    Method,
    MethodOption,
    Missing,
    MissingOption,
    MissingOrModel,
    MissingOrModelOption,
    MomentsMethod,
    Penalty,
    Regressions,
    TargetBounds,
    TargetName,
    examples,
)
from tacit.cli.spending import Spending, Target, with_spending

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Fit a model privately.")

_LINEAR = {
    Penalty.none: "LinearRegression",
    Penalty.ridge: "Ridge",
    Penalty.lasso: "Lasso",
    Penalty.elastic_net: "ElasticNet",
}
_FREE = ("factors", "from_moments", "output", "report", "force", "json")  # what means something where nothing is spent


_WHOLE = re.compile(r"-?\d+")


class _Fit(TyperCommand):
    """Understands ``--bounds private`` beside ``--bounds LOW HIGH``: an option has one number of values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for place in range(len(args) - 1, 0, -1):
            if args[place - 1 : place + 1] == ["--bounds", "private"]:
                args[place - 1 : place + 1] = ["--private-bounds"]
        return super().parse_args(ctx, args)


class _Classify(_Fit):
    """Understands ``--classes LABEL LABEL ...``: up to the next option, or the end."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        told: list[str] = []
        listing = False
        for word in args:
            if word == "--classes":
                listing = True
            elif listing and (not word.startswith("-") or _WHOLE.fullmatch(word)):
                told.append(f"--classes={word}")
            else:
                listing = False
                told.append(word)
        return super().parse_args(ctx, told)


@app.callback()
def fit() -> None:
    """Fit a model privately."""


@app.command(
    cls=_Fit,
    epilog=examples(
        "tacit fit mixture data.csv --schema schema.toml --components 3 --epsilon 1",
        "tacit fit mixture numbers.csv --bounds -10 10 --components 3",
        "tacit fit mixture numbers.csv --bounds -10 10 --components auto",
        "tacit fit mixture data.csv --schema s.toml -k 3 --ledger study.db --dataset patients",
    ),
)
@with_spending
def mixture(
    spending: Spending,
    data: Data,
    components: ComponentsOrAuto,
    covariance: CovarianceOption = Covariance.full,
    method: MethodOption = Method.scale_free,
    missing: MissingOrModelOption = MissingOrModel.error,
) -> None:
    """Fit a Gaussian mixture to a table under differential privacy, and save it with its certificate.

    The data, the options and where the results go are checked before anything is charged.
    """
    options = {"covariance_type": covariance.value, "method": method.value, "missing": missing.value}
    spending.fit(tacit.GaussianMixture, data, components, **options)


@app.command(
    cls=_Fit,
    epilog=examples(
        "tacit fit kmeans data.csv --schema schema.toml --clusters 5 --epsilon 1",
        "tacit fit kmeans numbers.csv --bounds -10 10 --clusters 5 --delta 0",
        "tacit fit kmeans data.csv --schema s.toml -k 5 --ledger study.db --dataset patients",
    ),
)
@with_spending
def kmeans(
    spending: Spending,
    data: Data,
    clusters: Clusters,
    method: Annotated[
        ClustersMethod,
        typer.Option(metavar="NAME", help="adaptive (the most accurate), dplloyd, dplloyd_zcdp or dpem, as published."),
    ] = ClustersMethod.adaptive,
    missing: MissingOption = Missing.error,
) -> None:
    """Find the centres of clusters under differential privacy, and save them with their certificate.

    Distances are in the units of the columns; with a schema every range counts alike, from -1 to 1.

    The data, the options and where the results go are checked before anything is charged.
    """
    spending.fit(tacit.KMeans, data, clusters, method=method.value, missing=missing.value)


@app.command(
    cls=_Fit,
    epilog=examples(
        "tacit fit table data.csv --schema schema.toml --epsilon 1",
        "tacit fit table data.csv --schema schema.toml --missing model --ledger study.db --dataset patients",
    ),
)
@with_spending
def table(spending: Spending, data: Data, missing: MissingOrModelOption = MissingOrModel.error) -> None:
    """Fit a model of a table with columns of all kinds under differential privacy, for drawing synthetic rows.

    The data, the options and where the results go are checked before anything is charged.
    """
    if spending.schema is None:
        raise typer.BadParameter("A model of a table needs --schema FILE; tacit schema init makes one.")
    spending.fit(tacit.TableModel, data, missing=missing.value)


@app.command(
    cls=_Fit,
    epilog=examples(
        "tacit fit regressions data.csv --schema schema.toml --target cost --components 2",
        "tacit fit regressions numbers.csv --bounds -10 10 --target y --target-bounds 0 500 -k 1",
    ),
)
@with_spending
def regressions(
    spending: Spending,
    data: Data,
    target: TargetName,
    components: Regressions = 1,
    intercept: Intercept = True,
    target_bounds: TargetBounds = None,
    missing: MissingOption = Missing.error,
) -> None:
    """Explain a column by the others under differential privacy: linear regression, or one for each of several groups.

    Which row is of which group is not known beforehand. Bounds are those of all columns, the target's too.

    The data, the options and where the results go are checked before anything is charged.
    """
    told = Target(target, target_bounds)
    spending.fit(
        tacit.MixtureOfRegressions, data, components, target=told, fit_intercept=intercept, missing=missing.value
    )


@app.command(
    cls=_Fit,
    epilog=examples(
        "tacit fit linear data.csv --schema schema.toml --target cost",
        "tacit fit linear data.csv --schema schema.toml --target cost --penalty lasso --alpha 0.1",
        "tacit fit linear numbers.csv --bounds -10 10 --target y --target-bounds 0 500",
    ),
)
@with_spending
def linear(
    spending: Spending,
    data: Data,
    target: TargetName,
    penalty: Annotated[
        Penalty, typer.Option(metavar="NAME", help="none, ridge (on squares), lasso (some become 0) or elastic-net.")
    ] = Penalty.none,
    alpha: Annotated[
        float | None, typer.Option(help="How much the penalty counts, as in scikit-learn; 1 by default.")
    ] = None,
    l1_ratio: Annotated[
        float | None, typer.Option(help="How much of an elastic-net is lasso, from 0 to 1; 0.5 by default.")
    ] = None,
    intercept: Intercept = True,
    target_bounds: TargetBounds = None,
    missing: MissingOption = Missing.error,
) -> None:
    """Linear regression of a column on the others, under differential privacy; also ridge, lasso and elastic net.

    It is near least squares and unmoved by heavy tails. Bounds are those of all columns, the target's too.

    The data, the options and where the results go are checked before anything is charged.
    """
    if alpha is not None and penalty is Penalty.none:
        raise typer.BadParameter("--alpha says how much a penalty counts; pass --penalty ridge, lasso or elastic-net.")
    if l1_ratio is not None and penalty is not Penalty.elastic_net:
        raise typer.BadParameter("--l1-ratio is for --penalty elastic-net.")
    given = {name: value for name, value in (("alpha", alpha), ("l1_ratio", l1_ratio)) if value is not None}
    told = Target(target, target_bounds)
    estimator = getattr(tacit, _LINEAR[penalty])
    spending.fit(estimator, data, target=told, fit_intercept=intercept, missing=missing.value, **given)


@app.command(
    cls=_Classify,
    epilog=examples(
        "tacit fit logistic data.csv --schema schema.toml --target smoker",
        "tacit fit logistic numbers.csv --bounds -10 10 --target answer --classes no yes",
    ),
)
@with_spending
def logistic(
    spending: Spending,
    data: Data,
    target: TargetName,
    classes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL LABEL ...",
            help="All labels that could occur, the last before another option.",
        ),
    ] = None,
    inverse_penalty: Annotated[
        float,
        typer.Option(
            "--inverse-penalty", "-C", help="C in scikit-learn: the less, the smaller coefficients; inf for no penalty."
        ),
    ] = 1.0,
    intercept: Intercept = True,
    missing: MissingOption = Missing.error,
) -> None:
    """Logistic regression under differential privacy: which of two or more classes a row is of.

    Bounds are those of the inputs. Classes are the levels of the target in the schema, or what --classes lists; they
    are never read from the data.

    The data, the options and where the results go are checked before anything is charged.
    """
    if classes and spending.schema is not None:
        raise typer.BadParameter("--classes is for tables of numbers; the schema has the levels of the target.")
    options = {"C": inverse_penalty, "fit_intercept": intercept, "missing": missing.value}
    spending.fit(tacit.LogisticRegression, data, target=target, classes=_labels(classes), **options)


def _labels(words: list[str] | None) -> list[Any] | None:
    """Return labels as the table has them: whole numbers and truth values, if they all are, or text."""
    if not words:
        return None
    if all(map(_WHOLE.fullmatch, words)):
        return list(map(int, words))
    return [word == "true" for word in words] if set(words) == {"false", "true"} else list(words)


@app.command(
    "missing-regression",
    cls=_Fit,
    epilog=examples(
        "tacit fit missing-regression data.csv --schema schema.toml --target cost",
        "tacit fit missing-regression numbers.csv --bounds -10 10 --target y",
    ),
)
@with_spending
def missing_regression(spending: Spending, data: Data, target: TargetName, target_bounds: TargetBounds = None) -> None:
    """Linear regression on columns with missing cells, under differential privacy.

    Every row says what it can; whether cells are missing, and which, is protected too.

    The data, the options and where the results go are checked before anything is charged.
    """
    spending.fit(tacit.MissingCovariateRegression, data, target=Target(target, target_bounds))


@app.command(
    cls=_Fit,
    epilog=examples(
        "tacit fit moments data.csv --schema schema.toml --epsilon 1 --output moments.tacit",
        "tacit fit factors --from-moments moments.tacit --factors 2",
    ),
)
@with_spending
def moments(
    spending: Spending,
    data: Data,
    method: Annotated[
        MomentsMethod,
        typer.Option(metavar="NAME", help="adaptive (by what the noise would be), iterated, staged or published."),
    ] = MomentsMethod.adaptive,
    missing: MissingOption = Missing.error,
) -> None:
    """Measure mean and covariance under differential privacy, once, and save them with their certificate.

    What is computed from them later costs nothing more: see tacit fit factors --from-moments.

    The data, the options and where the results go are checked before anything is charged.
    """
    spending.fit(tacit.Moments, data, method=method.value, missing=missing.value)


@app.command(
    cls=_Fit,
    epilog=examples(
        "tacit fit factors data.csv --schema schema.toml --factors 2 --epsilon 1",
        "tacit fit factors numbers.csv --bounds -10 10 --factors 2",
        "tacit fit factors --from-moments moments.tacit --factors 3",
    ),
)
@with_spending
def factors(
    spending: Spending,
    ctx: typer.Context,
    factors: Factors,
    data: Annotated[
        Path | None, typer.Argument(metavar="DATA", help="A .csv or .parquet file, streamed; or --from-moments.")
    ] = None,
    from_moments: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Moments that tacit fit moments made: reads no rows, costs nothing more."),
    ] = None,
    method: Annotated[
        FactorsMethod, typer.Option(metavar="NAME", help="adaptive (the most accurate), or paper, as published.")
    ] = FactorsMethod.adaptive,
    missing: MissingOption = Missing.error,
) -> None:
    """Explain the correlations of columns by a few factors, under differential privacy, and save the model.

    Moments are measured and factors computed from them. From moments that are there already it costs nothing more.

    The data, the options and where the results go are checked before anything is charged.
    """
    if data is not None and from_moments is None:
        spending.fit(tacit.FactorAnalysis, data, factors, method=method.value, missing=missing.value)
        return
    if data is not None or from_moments is None:
        raise typer.BadParameter("Pass DATA or --from-moments MODEL, one of them.")
    useless = [
        option.opts[0]
        for option in ctx.command.params
        if option.name not in _FREE and getattr(ctx.get_parameter_source(str(option.name)), "name", "") == "COMMANDLINE"
    ]
    if useless:
        raise typer.BadParameter(f"With --from-moments nothing is read or spent, so leave out {', '.join(useless)}.")
    write_report = spending.check_destinations()
    measured = load_kind(from_moments, (tacit.Moments,), "is no set of moments", "that tacit fit moments made")
    model = tacit.FactorAnalysis.from_moments(measured, factors)
    said = (
        f"Computed {factors} factor(s) from the moments in {from_moments}. No row was read and nothing further was "
        "spent: the certificate is that of the moments."
    )
    spending.finish(model, said, write_report, from_moments.name)
