"""``tacit audit``: replay the fits of an estimator, one of ours or one's own, on a table. Not private."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import screen
from tacit.cli.failures import REFUSED
from tacit.cli.options import Data, Json, Neighbors, examples
from tacit.cli.schema import read_schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EXAMPLES", "audit"]

EXAMPLES = examples(
    "tacit audit KMeans numbers.csv --bounds -10 10 --set n_clusters=3",
    "tacit audit LogisticRegression data.csv --schema schema.toml --target smoker --neighbors add_remove",
    "tacit audit mymodule:make_estimator data.csv --json",
)
_NOT_PRIVATE = "NOT PRIVATE: this is measured on the rows. It is for whoever keeps them; do not publish it."


def audit(
    estimator: Annotated[
        str,
        typer.Argument(
            metavar="ESTIMATOR",
            help="An estimator of tacit by its name, or MODULE:NAME of a class, of an estimator, or of a function that "
            "returns one.",
        ),
    ],
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", metavar="COLUMN", help="The column that the others explain.")
    ] = None,
    schema: Annotated[Path | None, typer.Option(help="What is publicly known about the columns.")] = None,
    bounds: Annotated[
        tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="All columns are numbers from LOW to HIGH.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the estimator; repeatable.")
    ] = None,
    neighbors: Annotated[
        Neighbors | None,
        typer.Option("--neighbors", metavar="RELATION", help="replace_one or add_remove; else the estimator's own."),
    ] = None,
    rows: Annotated[int, typer.Option(min=2, help="How many rows to use, from the first on.")] = 2000,
    json: Json = False,
) -> None:
    """Check that what an estimator makes of a table depends on its private releases alone.

    It is fitted to the table, and then to other tables with the answers of the first fit given again. All that comes
    out must be the same bit for bit, and no release may move further between neighbours than it declares.

    NOT PRIVATE: the figures are measured on the rows. No ledger is charged. The exit code is 1 if something is found.
    """
    from tacit.audit import replay

    known: dict[str, Any] = {}
    if schema is not None:
        known["bounds"] = read_schema(schema)
    elif bounds is not None:
        known["bounds"] = known["target_bounds"] = bounds
    if neighbors is not None:
        known["neighbors"] = neighbors.value
    model = _make_estimator(_find_estimator(estimator), known, dict(_setting(text) for text in settings or []))
    outcome = replay(model, _first_rows(data, rows), target)
    if json:
        screen.note(_NOT_PRIVATE)
        screen.print_json(outcome.to_dict())
    else:
        screen.say(_NOT_PRIVATE, style="bold red")
        typer.echo(f"\n{outcome}")
    if not outcome.passed:
        raise typer.Exit(REFUSED)


def _find_estimator(name: str) -> Any:
    """Return what a name on the command line stands for."""
    module, _, attribute = name.rpartition(":")
    if module and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module or "tacit"), attribute)
    except (ImportError, AttributeError):
        raise ValueError(
            f"There is no {attribute!r} in {module or 'tacit'!r}. Name an estimator of tacit, such as KMeans, or "
            "MODULE:NAME of one that can be imported from here."
        ) from None


def _make_estimator(thing: Any, known: dict[str, Any], settings: dict[str, Any]) -> Any:
    """Return an estimator with parameters set; of what is known about the table, those that it has."""
    model = thing() if _can_be_called(thing) else thing
    if inspect.isclass(model) or not hasattr(model, "fit") or not hasattr(model, "set_params"):
        raise ValueError(
            "ESTIMATOR must be an estimator as scikit-learn has them, with fit and set_params; or a class or a "
            "function that makes one when it is called with nothing."
        )
    parameters = model.get_params(deep=False)
    return model.set_params(**{name: value for name, value in known.items() if name in parameters}, **settings)


def _can_be_called(thing: Any) -> bool:
    """Whether a thing is a class or a function that needs no arguments."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return False
    needed = inspect.signature(thing).parameters.values()
    return all(
        each.default is not each.empty or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in needed
    )


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--set")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # The value is a word.


def _first_rows(path: Path, rows: int) -> pa.Table:
    import pyarrow as pa

    from tacit.sources import as_source

    blocks: list[pa.Table] = []
    for block in as_source(path).blocks():
        blocks.append(block.slice(0, rows - sum(map(len, blocks))))
        if sum(map(len, blocks)) >= rows:
            break
    return pa.concat_tables(blocks)
