"""What can be done with a fitted model: ``tacit sample``, ``tacit report``, ``tacit certificate``; all free."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tacit
from tacit.cli import screen
from tacit.cli.options import Json, ModelFile, examples
from tacit.files import check_destination, write_whole
from tacit.models.card import ModelCard
from tacit.models.registry import CARDS, find_card

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

__all__ = ["certificate", "load_kind", "report", "report_writer", "sample", "write_parts"]

_PART_ROWS = 65_536  # Synthetic rows that are drawn and written at a time, to limit memory.

SAMPLE_EXAMPLES = examples(
    "tacit sample model.tacit -n 1000 -o synthetic.csv", "tacit sample model.tacit -n 1000000 -o synthetic.parquet"
)
REPORT_EXAMPLES = examples(
    "tacit report model.tacit -o report.html", "tacit report model.tacit --pair age,weight --pair age,visits"
)
CERTIFICATE_EXAMPLES = examples(
    "tacit certificate model.tacit", "tacit certificate model.tacit --json > certificate.json"
)


def sample(
    model: ModelFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file.")],
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many rows.")] = 1000,
    seed: Annotated[int | None, typer.Option(help="Draw the same rows again; does not harm privacy.")] = None,
    json: Json = False,
) -> None:
    """Draw a synthetic table from a model that has a density, with the types of its schema, inside its bounds.

    It costs no privacy, however many rows are drawn: all that is known of the real rows is in the model.
    """
    import numpy as np

    check_destination(output, endings=(".csv", ".parquet"))
    if rows < 1:
        raise ValueError(f"The number of rows must be at least 1, and it is {rows}.")
    fitted = load_kind(model, lambda card: card.draws_rows, "has no density to draw rows from")
    rng = np.random.default_rng(seed)
    parts = (_part(fitted, min(_PART_ROWS, rows - start), rng) for start in range(0, rows, _PART_ROWS))
    with write_whole(output) as temporary, screen.progress("Drawing rows", rows) as advance:
        columns = write_parts(parts, temporary, advance)
    if json:
        screen.print_json({"path": str(output), "rows": rows, "columns": columns})
    else:
        screen.say(f"Wrote {rows:,} synthetic rows of {len(columns)} columns to {output}.")


def report(
    model: ModelFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="An .html file.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    pair: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN,COLUMN", help="Columns to draw against each other; repeatable.")
    ] = None,
    json: Json = False,
) -> None:
    """Write a model's report: one HTML page that opens offline, with the certificate in plain words."""
    check_destination(output, endings=(".html",))
    write_report = report_writer()
    from tacit.models.reports import check_reportable
    from tacit.tables.features import features

    fitted = tacit.load_model(model)
    try:
        check_reportable(fitted)
    except TypeError as error:  # There are models without reports.
        raise ValueError(str(error)) from None
    names = tuple(dict.fromkeys(feature.column for feature in features(fitted._domain)))
    path = write_report(fitted, output, title=title, pairs=[_split(text, names) for text in pair] if pair else None)
    if json:
        screen.print_json({"path": str(path)})
    else:
        screen.where(report=path.resolve().as_uri())


def certificate(model: ModelFile, json: Json = False) -> None:
    """Print a model's privacy certificate, in plain words or as JSON."""
    fitted = tacit.load_model(model)
    if json:
        typer.echo(fitted.privacy_.to_json())
    else:
        screen.certificate(fitted.privacy_)


def report_writer() -> Callable[..., Path]:
    """Return ``tacit.report.write_report``; without what it needs, say so before anything is spent."""
    try:
        from tacit.report import write_report
    except ImportError as error:
        raise ValueError(
            f"Reports need the package {error.name!r}, which is not there: pip install 'tacit[plot]'."
        ) from None
    return write_report


def load_kind(path: Path, suits: Callable[[ModelCard], bool], otherwise: str, wanted: str = "") -> Any:
    """Read a model whose card suits; any other is refused, as it `otherwise`, for a file `wanted`.

    By default a file of one of the kinds that suit is wanted.
    """
    fitted = tacit.load_model(path)
    card = find_card(fitted)
    if card is None or not suits(card):
        kinds = list(dict.fromkeys(f"of {each.kind}" for each in CARDS.values() if suits(each)))
        wanted = wanted or f"{', '.join(kinds[:-1])} or {kinds[-1]}"
        raise ValueError(f"The model in {path} is a {type(fitted).__name__}, which {otherwise}; name a file {wanted}.")
    return fitted


def write_parts(parts: Iterator[pa.Table], path: Path, advance: Callable[[int], None]) -> list[str]:
    """Write a table part by part, so that memory stays small, and return the names of the columns."""
    from pyarrow.csv import CSVWriter
    from pyarrow.parquet import ParquetWriter

    first = next(parts)
    opened = ParquetWriter if path.suffix.lower() == ".parquet" else CSVWriter
    with opened(path, first.schema) as writer:
        for part in chain([first], parts):
            writer.write_table(part)
            advance(part.num_rows)
    return list(first.column_names)


def _part(model: Any, rows: int, rng: np.random.Generator) -> pa.Table:
    import pyarrow as pa

    drawn = model.sample(rows, rng)
    if isinstance(drawn, tuple):
        drawn = drawn[0]  # A mixture also tells which components the rows are of.
    if not isinstance(drawn, pa.Table):
        names = model._domain.names or [f"column_{j + 1}" for j in range(drawn.shape[1])]
        drawn = pa.table(dict(zip(names, drawn.T)))
    return drawn.take(rng.permutation(rows))  # Rows come component by component.


def _split(text: str, names: tuple[str, ...]) -> tuple[str, str]:
    """Read "a,b" as two columns, also where a name has a comma in it."""
    parts = text.split(",")
    for place in range(1, len(parts)):
        pair = ",".join(parts[:place]).strip(), ",".join(parts[place:]).strip()
        if pair[0] in names and pair[1] in names:
            return pair
    raise ValueError(
        f"--pair takes two columns of the model, as in age,weight, and got {text!r}: there are {', '.join(names)}."
    )
