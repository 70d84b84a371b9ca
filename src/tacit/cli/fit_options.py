"""What all fits do alike: the options they share, the ledger, and where results go."""

from __future__ import annotations

import inspect
import json as json_
import sys
import tempfile
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

import tacit
from tacit.cli import screen
from tacit.cli.model import report_writer
from tacit.cli.options import Delta, Epsilon, Force, Json, Neighbors, NeighborsOption
from tacit.cli.schema import read_schema
from tacit.files import check_destination

if TYPE_CHECKING:
    from tacit.fitting import PrivateEstimator
    from tacit.privacy import Account

__all__ = ["FitOptions", "Target", "with_fit_options"]

_NO_BOUNDS = (
    "Say what is publicly known about the columns: --schema FILE (tacit schema init makes one); or, for a table of "
    "numbers, --bounds LOW HIGH, --radius R, or --bounds private to spend part of the budget on finding a range. "
    "Bounds are never read from the data, because that would reveal rows."
)


class Target(NamedTuple):
    """The column that others are to explain; its bounds are theirs, unless it has its own."""

    name: str
    bounds: tuple[float, float] | None


@dataclass(frozen=True)
class FitOptions:
    """The options that every fit has."""

    schema: Annotated[Path | None, typer.Option(help="What is publicly known about the columns.")] = None
    bounds: Annotated[
        tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="All columns are numbers from LOW to HIGH.")
    ] = None
    radius: Annotated[float | None, typer.Option(help="All rows are numbers within this distance of 0.")] = None
    private_bounds: Annotated[
        bool, typer.Option("--private-bounds", help="Or --bounds private: find a range with a tenth of the budget.")
    ] = False
    epsilon: Epsilon = 1.0
    delta: Delta = 1e-6
    neighbors: NeighborsOption = Neighbors.replace_one
    ledger: Annotated[
        str | None, typer.Option(envvar="TACIT_LEDGER", help="Charge the fit to this ledger; see tacit budget.")
    ] = None
    dataset: Annotated[str | None, typer.Option(help="Name of the data set in the ledger.")] = None
    engine: Annotated[
        str,
        typer.Option(
            metavar="ENGINE",
            help="Where rows are summed: local, dask://HOST:PORT or spark://HOST:PORT (or dask://local, spark://local[2]).",
        ),
    ] = "local"
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")] = Path("model.tacit")
    report: Annotated[Path | None, typer.Option(help="Also write a report, an .html file.")] = None
    seed: Annotated[int | None, typer.Option(help="Reproducible noise: NOT PRIVATE, for tests.")] = None
    force: Force = False
    json: Json = False

    def fit(
        self,
        estimator: Callable[..., Any],
        data: Path,
        *,
        target: Target | str | None = None,
        needs_bounds: bool = True,
        **options: Any,
    ) -> None:
        """Fit a model to a file; check before anything is charged, save it, and say what was found.

        A target that is a number has bounds; the name alone is that of a column of classes.
        """
        from tacit.cli.results import results_in_words
        from tacit.sources import open_source

        if (self.ledger is None) != (self.dataset is None):
            raise typer.BadParameter(
                "--ledger (or TACIT_LEDGER) and --dataset belong together: a ledger, and a data set in it."
            )
        public = self._public(needs_bounds)
        write_report = self.check_destinations()
        account = None
        if self.ledger is not None and self.dataset is not None:
            account = tacit.Ledger(self.ledger).account(self.dataset)
        if isinstance(target, Target):
            options["target_bounds"] = (
                target.bounds if target.bounds or isinstance(public, tacit.Schema | str) else public
            )
        model = estimator(
            epsilon=self.epsilon,
            delta=self.delta,
            bounds=public,
            neighbors=self.neighbors.value,
            ledger=account,
            random_state=self.seed,
            verbose=sys.stderr.isatty(),
            **options,
        )
        with open_source(data, self.engine) as rows:
            model.fit(rows, *([] if target is None else [target.name if isinstance(target, Target) else target]))
        said = f"{results_in_words(model)} {data} at epsilon {self.epsilon:g}, delta {self.delta:g}."
        self.finish(model, said, write_report, data.name, account)

    def check_destinations(self) -> Callable[..., Path] | None:
        """Refuse results that have nowhere to go; return what writes the report, if there is to be one."""
        check_destination(self.output, replace=self.force)
        if self.report is None:
            return None
        check_destination(self.report, endings=(".html",))
        return report_writer()

    def finish(
        self,
        model: PrivateEstimator,
        said: str,
        write_report: Callable[..., Path] | None,
        title: str,
        account: Account | None = None,
    ) -> None:
        """Save a model and its report, and say what was found."""
        from tacit.cli.results import show_results, summary

        output = _save(model, self.output)
        if write_report is not None:
            write_report(model, self.report, title=title)
        if model.privacy_.seeded:
            screen.note("Warning: the noise was seeded, so this model is NOT PRIVATE. Keep it for tests.")
        if self.json:
            written = {"model": str(output), "report": None if self.report is None else str(self.report)}
            left = {"remaining": None if account is None else account.remaining().epsilon}
            certificate = {"certificate": json_.loads(model.privacy_.to_json())}
            screen.print_json(written | summary(model) | left | certificate)
            return
        screen.say(f"{said}\n")
        show_results(model)
        screen.say()
        rest = None if account is None else f"epsilon {account.remaining().epsilon:.4g} of {account.budget.epsilon:g}"
        screen.where(model=output, report=self.report, left=rest, certificate=f"tacit certificate {output}")

    def _public(self, needs_bounds: bool) -> tacit.Schema | tuple[float, float] | float | str | None:
        given = [
            option
            for option, value in (
                ("--schema", self.schema),
                ("--bounds", self.bounds),
                ("--radius", self.radius),
                ("--bounds private", self.private_bounds or None),
            )
            if value is not None
        ]
        if not given and needs_bounds:
            raise ValueError(_NO_BOUNDS)
        if len(given) > 1:
            raise typer.BadParameter(f"Pass one of {' and '.join(given)}, not several.")
        if self.schema is not None:
            return read_schema(self.schema)
        if self.private_bounds:
            return "private"
        return self.radius if self.radius is not None else self.bounds


def with_fit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has the options of `FitOptions` behind its own, and gets them as its first argument."""
    hints = get_type_hints(FitOptions, include_extras=True)
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(FitOptions)
        if field.default is not MISSING
    ]
    everything = [*(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own), *shared]

    @wraps(command)
    def complete(**given: Any) -> None:
        common = FitOptions(**{each.name: given.pop(each.name) for each in shared})
        command(common, **given)

    complete.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    complete.__annotations__ = {each.name: each.annotation for each in everything}
    return complete


def _save(model: PrivateEstimator, output: Path) -> Path:
    """Save a model that was paid for: where it should go, or else where it can."""
    try:
        return tacit.save_model(model, output)
    except OSError as error:
        elsewhere = Path(tempfile.mkdtemp(prefix="tacit-")) / output.name
        tacit.save_model(model, elsewhere)
        screen.note(f"Warning: nothing could be written to {output} any more ({error}); the model is in {elsewhere}.")
        return elsewhere
