"""Options that several commands share, each with one name and one meaning."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Clusters",
    "ClustersMethod",
    "Components",
    "ComponentsOrAuto",
    "Covariance",
    "CovarianceOption",
    "Data",
    "Delta",
    "Epsilon",
    "Factors",
    "FactorsMethod",
    "Force",
    "Intercept",
    "Json",
    "Method",
    "MethodOption",
    "Missing",
    "MissingOption",
    "MissingOrModel",
    "MissingOrModelOption",
    "ModelFile",
    "MomentsMethod",
    "Neighbors",
    "NeighborsOption",
    "Penalty",
    "Regressions",
    "TargetBounds",
    "TargetName",
    "examples",
]


class Covariance(StrEnum):
    """Shapes of components."""

    full = "full"
    tied = "tied"
    diag = "diag"
    spherical = "spherical"


class Neighbors(StrEnum):
    """Between which tables the guarantee holds."""

    replace_one = "replace_one"
    add_remove = "add_remove"


class Method(StrEnum):
    """Algorithms for a mixture."""

    scale_free = "scale_free"
    joint = "joint"
    per_parameter = "per_parameter"


class ClustersMethod(StrEnum):
    """Algorithms for k-means."""

    adaptive = "adaptive"
    dplloyd = "dplloyd"
    dplloyd_zcdp = "dplloyd_zcdp"
    dpem = "dpem"


class MomentsMethod(StrEnum):
    """Ways to measure moments."""

    adaptive = "adaptive"
    iterated = "iterated"
    staged = "staged"
    published = "published"


class FactorsMethod(StrEnum):
    """Algorithms for factor analysis."""

    adaptive = "adaptive"
    paper = "paper"


class Penalty(StrEnum):
    """What coefficients of a linear regression are held down by."""

    none = "none"
    ridge = "ridge"
    lasso = "lasso"
    elastic_net = "elastic-net"


class Missing(StrEnum):
    """What to do about missing cells."""

    error = "error"
    ignore = "ignore"


class MissingOrModel(StrEnum):
    """What a mixture can do about missing cells."""

    error = "error"
    ignore = "ignore"
    model = "model"


Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file, or a folder of the latter, streamed.")
]
Components = Annotated[int, typer.Option("--components", "-k", help="How many components the mixture has.")]


def _number_or_auto(text: str) -> int | str:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor auto.") from None


ComponentsOrAuto = Annotated[
    Any,
    typer.Option(
        "--components",
        "-k",
        metavar="NUMBER|auto",
        parser=_number_or_auto,
        help="How many components the mixture has; auto spends a little of the budget on choosing from 1 to 10.",
    ),
]
Clusters = Annotated[int, typer.Option("--clusters", "-k", help="How many clusters to find.")]
Factors = Annotated[int, typer.Option("--factors", "-k", help="How many factors there are.")]
Regressions = Annotated[int, typer.Option("--components", "-k", help="How many groups respond differently.")]
Intercept = Annotated[bool, typer.Option(help="Whether predictions have an intercept.")]
TargetName = Annotated[str, typer.Option("--target", metavar="COLUMN", help="The column that the others explain.")]
TargetBounds = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="LOW HIGH", help="The target's own bounds, if it has others than all columns."),
]
MissingOption = Annotated[
    Missing, typer.Option("--missing", help="Refuse a table with missing cells, or leave such rows out.")
]
MissingOrModelOption = Annotated[
    MissingOrModel,
    typer.Option("--missing", help="Refuse a table with missing cells, leave such rows out, or model what is there."),
]
Epsilon = Annotated[float, typer.Option(help="The privacy budget: smaller is more private.")]
Delta = Annotated[float, typer.Option(help="The privacy budget's delta: well below 1 / number of rows.")]
CovarianceOption = Annotated[
    Covariance,
    typer.Option(
        "--covariance", metavar="SHAPE", help="full, tied, diag or spherical components; the simpler, the less noise."
    ),
]
NeighborsOption = Annotated[
    Neighbors,
    typer.Option(
        "--neighbors",
        metavar="RELATION",
        help="replace_one: a row takes another value. add_remove: a row comes or goes, and their number is secret.",
    ),
]
MethodOption = Annotated[
    Method,
    typer.Option("--method", metavar="NAME", help="scale_free (the most accurate), joint or per_parameter."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it is there already.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that tacit fit made.")]


def examples(*commands: str) -> str:
    """Return the end of a help page: commands to copy."""
    return "\n\n".join(["[bold]Examples[/bold]", *commands])
