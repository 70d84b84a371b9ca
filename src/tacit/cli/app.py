"""The program: all commands, in the order in which they are needed."""

from __future__ import annotations

from typing import Annotated, Any

import rich
import typer
from typer.core import TyperGroup

from tacit import __version__
from tacit.cli import budget, demo, fit, model, plan, schema
from tacit.cli.failures import sentences

__all__ = ["app"]


class _Commands(TyperGroup):
    """All commands end in a sentence and an exit code, never in a traceback about what a user did."""

    def invoke(self, ctx: Any) -> Any:
        with sentences():
            return super().invoke(ctx)


app = typer.Typer(
    name="tacit",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # its tracebacks can show the values of variables, and those may be rows
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tacit {__version__}")
        raise typer.Exit


@app.callback()
def tacit(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Private statistical learning: models near the non-private ones, with a certificate, and nothing leaked.

    \b
    See it work       tacit demo
    Describe columns  tacit schema init data.csv
    Look ahead        tacit plan --schema schema.toml --rows 20000 --components 3
    Fit               tacit fit mixture data.csv --schema schema.toml --components 3
    Use the model     tacit sample model.tacit -n 1000 -o synthetic.csv

    Exit codes: 0 done; 1 refused (a file, the data, a value); 2 the command line cannot be understood; 3 the budget does
    not allow it. What is refused costs no budget.
    """
    rich.reconfigure(stderr=True)  # the bars of fits, too, belong on standard error


app.command()(demo.demo)
app.add_typer(schema.app, name="schema")
app.command()(plan.plan)
app.add_typer(fit.app, name="fit")
app.command()(model.sample)
app.command()(model.report)
app.command()(model.certificate)
app.add_typer(budget.app, name="budget")
