"""``tacit fit table``: spend budget on a model of a whole table, for synthetic rows."""

from __future__ import annotations

import json as json_
import sys
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import screen
from tacit.cli.fit import account_of, app, saved
from tacit.cli.options import Delta, Epsilon, Force, Json, Missing, Neighbors, NeighborsOption, examples
from tacit.cli.schema import read_schema
from tacit.files import check_destination
from tacit.synthesis import TableModel

__all__ = ["table"]


@app.command(
    epilog=examples(
        "tacit fit table data.csv --schema schema.toml --epsilon 1",
        "tacit fit table data.csv --schema schema.toml --missing model --ledger study.db --dataset patients",
    ),
)
def table(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file, streamed.")],
    schema: Annotated[Path, typer.Option(help="What is publicly known about the columns; tacit schema init makes it.")],
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    neighbors: NeighborsOption = Neighbors.replace_one,
    missing: Annotated[
        Missing,
        typer.Option(help="Refuse a table with missing cells, leave such rows out, or draw such rows too."),
    ] = Missing.error,
    ledger: Annotated[str | None, typer.Option(help="Charge the fit to this ledger; see tacit budget.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Name of the data set in the ledger.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")] = Path("model.tacit"),
    seed: Annotated[int | None, typer.Option(help="Reproducible noise: NOT PRIVATE, for tests.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Fit a model of a table with columns of all kinds under differential privacy, for drawing synthetic rows.

    The data, the options and where the results go are checked before anything is charged.
    """
    account = account_of(ledger, dataset)
    check_destination(output, replace=force)
    model = TableModel(
        epsilon=epsilon,
        delta=delta,
        bounds=read_schema(schema),
        neighbors=neighbors.value,
        missing=missing.value,
        ledger=account,
        random_state=seed,
        verbose=sys.stderr.isatty(),
    ).fit(str(data))
    output = saved(model, output)
    if seed is not None:
        screen.note("Warning: the noise was seeded, so this model is NOT PRIVATE. Keep it for tests.")
    if json:
        remaining = None if account is None else account.remaining().epsilon
        certificate = json_.loads(model.privacy_.to_json())
        columns = list(model.probabilities_)
        screen.print_json(
            {"model": str(output), "columns": columns, "remaining": remaining, "certificate": certificate}
        )
        return
    screen.say(f"Fitted {len(model.probabilities_)} column(s) of {data} at epsilon {epsilon:g}, delta {delta:g}.\n")
    left = None if account is None else f"epsilon {account.remaining().epsilon:.4g} of {account.budget.epsilon:g}"
    rows = f"tacit sample {output} -n 1000 -o synthetic.csv"
    screen.where(model=output, left=left, rows=rows, certificate=f"tacit certificate {output}")
