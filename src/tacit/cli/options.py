"""Options that several commands share, each with one name and one meaning."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Components",
    "Covariance",
    "CovarianceOption",
    "Delta",
    "Epsilon",
    "Force",
    "Json",
    "Method",
    "MethodOption",
    "Missing",
    "ModelFile",
    "Neighbors",
    "NeighborsOption",
]


class Covariance(str, Enum):
    """Shapes of components."""

    full = "full"
    tied = "tied"
    diag = "diag"
    spherical = "spherical"


class Neighbors(str, Enum):
    """Between which tables the guarantee holds."""

    replace_one = "replace_one"
    add_remove = "add_remove"


class Method(str, Enum):
    """Algorithms for a mixture."""

    scale_free = "scale_free"
    joint = "joint"
    per_parameter = "per_parameter"


class Missing(str, Enum):
    """What to do about rows with missing cells."""

    error = "error"
    ignore = "ignore"


Components = Annotated[int, typer.Option("--components", "-k", help="How many components the mixture has.")]
Epsilon = Annotated[float, typer.Option(help="The privacy budget: smaller is more private.")]
Delta = Annotated[float, typer.Option(help="The privacy budget's delta: well below 1 / number of rows.")]
CovarianceOption = Annotated[
    Covariance, typer.Option("--covariance", help="Shape of components; simpler ones need less noise.")
]
NeighborsOption = Annotated[
    Neighbors,
    typer.Option(
        "--neighbors", help="One person's row takes another value, or is there or not (the number of rows is secret too)."
    ),
]
MethodOption = Annotated[Method, typer.Option("--method", help="The algorithm; scale_free is the most accurate.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it is there already.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that tacit fit made.")]
