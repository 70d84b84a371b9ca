"""``tacit compare``: look at a synthetic table beside the real one, inside the walls. Not private."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import screen
from tacit.cli.options import Json, examples
from tacit.cli.schema import read_schema

__all__ = ["EXAMPLES", "compare"]

EXAMPLES = examples(
    "tacit compare data.csv synthetic.csv --schema schema.toml",
    "tacit compare data.csv synthetic.parquet --schema schema.toml --target smoker --json",
)


def compare(
    real: Annotated[Path, typer.Argument(metavar="REAL", help="The real .csv or .parquet file.")],
    synthetic: Annotated[Path, typer.Argument(metavar="SYNTHETIC", help="What tacit sample wrote.")],
    schema: Annotated[Path, typer.Option(help="What is publicly known about the columns.")],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Predict it: trained on synthetic, tested on real rows.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare a synthetic table with the real one: columns, pairs of columns, and what can be predicted.

    NOT PRIVATE: the figures are computed from the real rows. They are for whoever keeps them; do not publish them.
    """
    from tacit.tables import compare as compare_tables
    from tacit.tables.comparison import NOT_PRIVATE

    comparison = compare_tables(real, synthetic, schema=read_schema(schema), target=target)
    if json:
        screen.note(NOT_PRIVATE)
        screen.print_json(comparison.to_dict())
        return
    screen.say(NOT_PRIVATE, style="bold red")
    screen.say(f"\n{comparison.rows[0]:,} real and {comparison.rows[1]:,} synthetic rows")
    for title, parts in comparison.sections():
        screen.say(f"\n{title}", style="bold")
        for part in parts:
            if isinstance(part, str):
                screen.say(part)
            else:
                screen.table(part[0], part[1:], words=2 if part[0][1] == "measure" else 1)
