"""``tacit fit``: spend budget on a model."""

from __future__ import annotations

import json as json_
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from tacit.cli import screen
from tacit.cli.components import component_table, number_columns, standard_deviations
from tacit.cli.model import report_writer
from tacit.cli.options import (
    ComponentsOrAuto,
    Covariance,
    CovarianceOption,
    Delta,
    Epsilon,
    Force,
    Json,
    Method,
    MethodOption,
    Missing,
    Neighbors,
    NeighborsOption,
    examples,
)
from tacit.cli.schema import read_schema
from tacit.files import check_destination
from tacit.fitting import PrivateEstimator
from tacit.latent import GaussianMixture
from tacit.latent.model_file import save_model
from tacit.privacy import Account, Ledger
from tacit.tables import Schema

__all__ = ["account_of", "app", "saved"]

app = typer.Typer(no_args_is_help=True, help="Fit a model privately.")

_NO_BOUNDS = (
    "Say what is publicly known about the columns: --schema FILE (tacit schema init makes one); or, for a table of "
    "numbers, --bounds LOW HIGH, --radius R, or --bounds private to spend part of the budget on finding a range. "
    "Bounds are never read from the data, because that would reveal rows."
)


class _Fit(TyperCommand):
    """Understands ``--bounds private`` beside ``--bounds LOW HIGH``: an option has one number of values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for place in range(len(args) - 1, 0, -1):
            if args[place - 1 : place + 1] == ["--bounds", "private"]:
                args[place - 1 : place + 1] = ["--private-bounds"]
        return super().parse_args(ctx, args)


@app.callback()
def fit() -> None:
    """Fit a model privately."""


@app.command(
    cls=_Fit,
    epilog=examples(
        "tacit fit mixture data.csv --schema schema.toml --components 3 --epsilon 1",
        "tacit fit mixture numbers.csv --bounds -10 10 --components 3",
        "tacit fit mixture numbers.csv --bounds -10 10 --components auto",
        "tacit fit mixture data.csv --schema s.toml -k 3 --ledger study.db --dataset patients",
    ),
)
def mixture(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file, streamed.")],
    components: ComponentsOrAuto,
    schema: Annotated[Path | None, typer.Option(help="What is publicly known about the columns.")] = None,
    bounds: Annotated[
        tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="All columns are numbers from LOW to HIGH.")
    ] = None,
    radius: Annotated[float | None, typer.Option(help="All rows are numbers within this distance of 0.")] = None,
    private_bounds: Annotated[
        bool, typer.Option("--private-bounds", help="Or --bounds private: find a range with a tenth of the budget.")
    ] = False,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    covariance: CovarianceOption = Covariance.full,
    neighbors: NeighborsOption = Neighbors.replace_one,
    method: MethodOption = Method.scale_free,
    missing: Annotated[
        Missing, typer.Option(help="Refuse a table with missing cells, leave such rows out, or model what is there.")
    ] = Missing.error,
    ledger: Annotated[str | None, typer.Option(help="Charge the fit to this ledger; see tacit budget.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Name of the data set in the ledger.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")] = Path("model.tacit"),
    report: Annotated[Path | None, typer.Option(help="Also write a report, an .html file.")] = None,
    seed: Annotated[int | None, typer.Option(help="Reproducible noise: NOT PRIVATE, for tests.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Fit a Gaussian mixture to a table under differential privacy, and save it with its certificate.

    The data, the options and where the results go are checked before anything is charged.
    """
    account = account_of(ledger, dataset)
    public = _public(schema, bounds, radius, private_bounds)
    check_destination(output, replace=force)
    if report is not None:
        check_destination(report, endings=(".html",))
    write_report = None if report is None else report_writer()
    model = GaussianMixture(
        components,
        covariance_type=covariance.value,
        method=method.value,
        epsilon=epsilon,
        delta=delta,
        bounds=public,
        neighbors=neighbors.value,
        missing=missing.value,
        ledger=account,
        random_state=seed,
        verbose=sys.stderr.isatty(),
    ).fit(str(data))
    output = saved(model, output)
    if write_report is not None:
        write_report(model, report, title=data.name)
    if seed is not None:
        screen.note("Warning: the noise was seeded, so this model is NOT PRIVATE. Keep it for tests.")
    if json:
        screen.print_json(_summary(model, output, report, account))
        return
    screen.say(f"Fitted {model.n_components_} component(s) to {data} at epsilon {epsilon:g}, delta {delta:g}.\n")
    component_table(model)
    screen.say()
    left = None if account is None else f"epsilon {account.remaining().epsilon:.4g} of {account.budget.epsilon:g}"
    screen.where(model=output, report=report, left=left, certificate=f"tacit certificate {output}")


def account_of(ledger: str | None, dataset: str | None) -> Account | None:
    """Return the account that a fit is charged to, if any."""
    if (ledger is None) != (dataset is None):
        raise typer.BadParameter("--ledger and --dataset belong together: a ledger, and a data set in it.")
    return None if ledger is None or dataset is None else Ledger(ledger).account(dataset)


def _public(
    schema: Path | None, bounds: tuple[float, float] | None, radius: float | None, private: bool
) -> Schema | tuple[float, float] | float | str:
    given = [
        option
        for option, value in (
            ("--schema", schema),
            ("--bounds", bounds),
            ("--radius", radius),
            ("--bounds private", private or None),
        )
        if value is not None
    ]
    if not given:
        raise ValueError(_NO_BOUNDS)
    if len(given) > 1:
        raise typer.BadParameter(f"Pass one of {' and '.join(given)}, not several.")
    if schema is not None:
        return read_schema(schema)
    return "private" if private else radius if radius is not None else bounds  # type: ignore[return-value]


def saved(model: PrivateEstimator, output: Path) -> Path:
    """Save a model that was paid for: where it should go, or else where it can."""
    try:
        return save_model(model, output)
    except OSError as error:
        elsewhere = Path(tempfile.mkdtemp(prefix="tacit-")) / output.name
        save_model(model, elsewhere)
        screen.note(f"Warning: nothing could be written to {output} any more ({error}); the model is in {elsewhere}.")
        return elsewhere


def _summary(model: GaussianMixture, output: Path, report: Path | None, account: Account | None) -> dict[str, Any]:
    return {
        "model": str(output),
        "report": None if report is None else str(report),
        "columns": number_columns(model),
        "weights": model.weights_.tolist(),
        "means": model.means_.tolist(),
        "standard_deviations": standard_deviations(model).tolist(),
        "levels": {name: shares.tolist() for name, shares in getattr(model, "level_probabilities_", {}).items()},
        "remaining": None if account is None else account.remaining().epsilon,
        "certificate": json_.loads(model.privacy_.to_json()),
    }
