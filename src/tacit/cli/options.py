"""Options that several commands share, each with one name and one meaning."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Components",
    "Data",
    "Delta",
    "Epsilon",
    "Force",
    "Json",
    "ModelFile",
    "Neighbors",
    "NeighborsOption",
    "examples",
]


class Neighbors(StrEnum):
    """Between which tables the guarantee holds."""

    replace_one = "replace_one"
    add_remove = "add_remove"


Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file, or a folder of the latter, streamed.")
]
Components = Annotated[int, typer.Option("--components", "-k", help="How many components the mixture has.")]


Epsilon = Annotated[float, typer.Option(help="The privacy budget: smaller is more private.")]
Delta = Annotated[float, typer.Option(help="The privacy budget's delta: well below 1 / number of rows.")]
NeighborsOption = Annotated[
    Neighbors,
    typer.Option(
        "--neighbors",
        metavar="RELATION",
        help="replace_one: a row takes another value. add_remove: a row comes or goes, and their number is secret.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it is there already.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that tacit fit made.")]


def examples(*commands: str) -> str:
    """Return the end of a help page: commands to copy."""
    return "\n\n".join(["[bold]Examples[/bold]", *commands])
