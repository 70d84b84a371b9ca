"""``tacit schema``: write down what is publicly known about the columns, and check it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tacit
from tacit.cli import screen
from tacit.cli.options import Force, Json, examples
from tacit.files import check_destination, write_whole

if TYPE_CHECKING:
    from tacit.tables import Column

__all__ = ["app", "read_schema"]

app = typer.Typer(no_args_is_help=True, help="Write down what is publicly known about the columns, and check it.")


@app.command(epilog=examples("tacit schema init patients.csv", "tacit schema init patients.parquet -o patients.toml"))
def init(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write; - prints it.")] = Path("schema.toml"),
    peek: Annotated[bool, typer.Option("--peek", help="Fill in the blanks from the rows. NOT PRIVATE.")] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a schema to be filled in: names of the columns, and blanks for bounds and categories.

    Types are those that a Parquet file declares; a CSV file declares none, and they are blanks too.

    Bounds and categories are public knowledge: from a code book, a questionnaire, common sense.

    Nothing is read from rows, because that would reveal rows. With --peek it is, and the file, all fits with it, their
    certificates and their reports say so.
    """
    from tacit.sources import as_source

    to_screen = str(output) == "-"
    if not to_screen:
        check_destination(output, replace=force)
    source = as_source(data)
    text = tacit.Schema.template(source, peek=peek)
    blanks = sum(line.startswith(('type = ""', 'low = ""', 'high = ""', "levels = []")) for line in text.splitlines())
    if to_screen and not json:
        typer.echo(text, nl=False)
        return
    if not to_screen:
        with write_whole(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if json:
        shown = {"schema": text} if to_screen else {"path": str(output)}
        screen.print_json(shown | {"columns": list(source.columns or ()), "blanks": blanks, "read_from_rows": peek})
        return
    screen.say(f"Wrote {len(source.columns or ())} columns with {blanks} blanks to {output}.")
    if peek:
        screen.note(
            "Warning: blanks were filled in from the rows, and that is not private. Replace what is marked by public "
            'knowledge, and delete the lines source = "peeked"; until then every fit and its certificate say so.'
        )
    screen.say(f"Fill in the blanks from public knowledge, then: tacit schema check {output} {data}")


@app.command(epilog=examples("tacit schema check schema.toml", "tacit schema check schema.toml patients.csv"))
def check(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="A .toml file.")],
    data: Annotated[Path | None, typer.Argument(metavar="DATA", help="A table that it should describe.")] = None,
    json: Json = False,
) -> None:
    """Check a schema, all of its columns at once, and that a table can be read with it. Nothing is spent.

    What this says about a table is meant for its keeper: whether it can be read, and whether cells are missing.
    """
    from tacit.sources import has_missing

    known = read_schema(schema)
    missing = None
    if data is not None:
        missing = has_missing(known.encode_source(data))
    if json:
        values = {"valid": True, "width": known.width, "missing_cells": missing, "peeked": list(known.peeked)}
        screen.print_json(values | known.to_dict())
        return
    rows = [(name, column.kind, _values(column), column.description) for name, column in known.columns.items()]
    screen.table(("column", "type", "values", "description"), rows, words=4)
    if known.peeked:
        screen.note(
            f"Warning: what is said about {', '.join(known.peeked)} was read from the rows, unpaid; that is not "
            "private."
        )
    screen.say(f"\n{schema} is complete: {len(known.used)} columns are used, as {known.width} numbers a row.")
    if data is not None:
        screen.say(f"{data} can be read with it." + " Some cells are missing." * bool(missing))
    if missing:
        screen.note(
            "Fill them in, or fit with --missing ignore, which leaves such rows out, or a mixture with --missing model."
        )


def read_schema(path: Path) -> tacit.Schema:
    """Read a schema, or refuse it with a sentence for every column that is wrong, not only for the first."""
    try:
        return tacit.Schema.from_toml(path)
    except ValueError as error:
        problems = _problems(path)
        if len(problems) < 2:
            raise
        raise ValueError(f"In the schema {path}:\n" + "\n".join(f"  {problem}" for problem in problems)) from error


def _problems(path: Path) -> list[str]:
    try:
        columns = tomllib.loads(path.read_text(encoding="utf-8"))["columns"]
        names = list(columns)
    except (ValueError, KeyError, TypeError):
        return []
    return [problem for name in names if (problem := _problem(name, columns[name]))]


def _problem(name: str, settings: Any) -> str | None:
    companion = f"{name} "  # A schema needs one column that is used.
    try:
        tacit.Schema.from_dict({"columns": {name: settings, companion: {"type": "boolean"}}})
    except (ValueError, TypeError) as error:
        return str(error)
    return None


def _values(column: Column) -> str:
    from tacit.tables import Boolean, Categorical, Date, Ignored

    if isinstance(column, Ignored):
        return "-"
    if isinstance(column, Boolean):
        return ", ".join(map(str, column.values or ("false", "true")))
    if isinstance(column, Categorical):
        return ", ".join(map(str, column.levels))
    if isinstance(column, Date):
        return f"{column.first} to {column.last}"
    return f"{column.low:g} to {column.high:g}"
