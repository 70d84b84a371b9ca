"""``tacit predict``: what a model says about rows, inside the walls. Not private."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import screen
from tacit.cli.model import load_kind, write_parts
from tacit.cli.options import Force, Json, ModelFile, examples
from tacit.files import check_destination, write_whole
from tacit.models.card import ModelCard, Without
from tacit.models.registry import CARDS, find_card

__all__ = ["EXAMPLES", "predict"]

EXAMPLES = examples(
    "tacit predict model.tacit data.csv -o components.csv", "tacit predict model.tacit data.parquet -o factors.parquet"
)
_NOT_PRIVATE = (
    "NOT PRIVATE: what a model says about a row is as sensitive as the row. Use it where the rows are kept; do not "
    "publish it."
)


def predict(
    model: ModelFile,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file with the model's columns.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file.")],
    force: Force = False,
    json: Json = False,
) -> None:
    import pyarrow as pa

    from tacit.sources import as_source

    check_destination(output, endings=(".csv", ".parquet"), replace=force)
    fitted = load_kind(model, _predicts, "says nothing about single rows")
    predictions = find_card(fitted).predictions.columns
    source = as_source(data)
    screen.note(_NOT_PRIVATE)
    with write_whole(output) as temporary, screen.progress("Looking at rows", source.n_rows) as advance:
        tables = (pa.table(predictions(fitted, as_source(block))) for block in source.blocks())
        columns = write_parts(tables, temporary, advance)
    secret = fitted.privacy_.plan.neighbors == "add_remove"  # The number of rows may be what was protected.
    if json:
        shape = {"path": str(output), "rows": None if secret else source.n_rows, "columns": columns}
        screen.print_json({"private": False, "warning": _NOT_PRIVATE} | shape)
    else:
        rows = "one row for each that was read" if secret else f"{source.n_rows:,} rows"
        screen.say(f"Wrote to {output}: {rows}, of {len(columns)} columns: {', '.join(columns)}.")


def _predicts(card: ModelCard) -> bool:
    return not isinstance(card.predictions, Without)


def _help() -> str:
    """Return the help page; the registry has what each model says about rows."""
    by_kind: dict[str, list[str]] = {}
    for card in filter(_predicts, CARDS.values()):
        words = by_kind.setdefault(card.kind, [])
        if card.predictions.words not in words:
            words.append(card.predictions.words)
    return "\n\n".join(
        [
            "Say about each row of a table, in order, what it is of: a component, a cluster, factors, or a target to "
            "expect.",
            *(f"Of {kind}: {'. Or: '.join(words)}." for kind, words in by_kind.items()),
            "Components and clusters count from 1, as in reports.",
            "NOT PRIVATE: what is written is as sensitive as the rows. It is for whoever keeps them; do not publish "
            "it.",
        ]
    )


predict.__doc__ = _help()
