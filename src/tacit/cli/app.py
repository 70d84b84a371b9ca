"""The program: all commands, in the order in which they are needed."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tacit import __version__
from tacit.cli import audit, budget, compare, demo, fit, model, plan, predict, schema
from tacit.cli.failures import sentences
from tacit.cli.options import examples

__all__ = ["app"]


class _Commands(TyperGroup):
    """All commands end in a sentence and an exit code, never in a traceback about what a user did."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [
            "demo",
            "schema",
            "plan",
            "fit",
            "sample",
            "compare",
            "predict",
            "report",
            "certificate",
            "budget",
            "audit",
        ]

    def invoke(self, ctx: Any) -> Any:
        with sentences():
            return super().invoke(ctx)


app = typer.Typer(
    name="tacit",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # Its tracebacks can show the values of variables, and those may be rows.
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "tacit demo",
        "tacit schema init data.csv",
        "tacit plan --schema schema.toml --rows 20000 --components 3",
        "tacit fit mixture data.csv --schema schema.toml --components 3",
        "tacit sample model.tacit -n 1000 -o synthetic.csv",
    ),
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

    Exit codes: 0 done; 1 refused, because of a file, the data or a value; 2 misunderstood; 3 the budget is short.

    Whatever is refused costs no budget.
    """


app.command()(demo.demo)
app.add_typer(schema.app, name="schema")
app.command(epilog=plan.EXAMPLES)(plan.plan)
app.add_typer(fit.app, name="fit")
app.command(epilog=model.SAMPLE_EXAMPLES)(model.sample)
app.command(epilog=compare.EXAMPLES)(compare.compare)
app.command(epilog=predict.EXAMPLES)(predict.predict)
app.command(epilog=model.REPORT_EXAMPLES)(model.report)
app.command(epilog=model.CERTIFICATE_EXAMPLES)(model.certificate)
app.add_typer(budget.app, name="budget")
app.command(epilog=audit.EXAMPLES)(audit.audit)
