"""``tacit plan``: look ahead before spending."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tacit
from tacit.cli import screen
from tacit.cli.options import Delta, Json, Neighbors, NeighborsOption, examples
from tacit.cli.schema import read_schema
from tacit.models.card import Trial
from tacit.models.mixture import Covariance
from tacit.models.registry import TRIALS

if TYPE_CHECKING:
    from tacit.cli.forecast import Expectation

__all__ = ["EXAMPLES", "plan"]

EXAMPLES = examples(
    "tacit plan --schema schema.toml --rows 20000 --components 3",
    "tacit plan --columns 10 --rows 5000 --components 5 --epsilon 0.5 --epsilon 2",
    "tacit plan --model kmeans --schema schema.toml --rows 20000 --clusters 5",
    "tacit plan --model moments --columns 50 --rows 20000",
    "tacit plan --model regressions --schema schema.toml --target cost --rows 20000 --components 2",
)

_EPSILONS = (0.1, 0.5, 1.0, 2.0)
_NAMES = list(TRIALS)
_PARTS = list(dict.fromkeys(card.trial.parts for card in TRIALS.values() if card.trial.parts is not None))
_WITHOUT_PARTS = " and ".join(name for name, card in TRIALS.items() if card.trial.parts is None)

Model = StrEnum("Model", {name.replace("-", "_"): name for name in _NAMES})
_USUAL = Model(_NAMES[0])


def plan(
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many rows the table has, roughly if that is secret.")],
    model: Annotated[
        Model,
        typer.Option("--model", metavar="NAME", help=f"What to fit: {', '.join(_NAMES[:-1])} or {_NAMES[-1]}."),
    ] = _USUAL,
    size: Annotated[
        int | None,
        typer.Option(
            *(f"--{parts}" for parts in _PARTS),
            "-k",
            help=f"How many {', '.join(_PARTS[:-1])} or {_PARTS[-1]}; {_WITHOUT_PARTS} have none.",
        ),
    ] = None,
    schema: Annotated[Path | None, typer.Option(help="What is publicly known about the columns.")] = None,
    columns: Annotated[int | None, typer.Option("--columns", "-d", help="Or only how many columns there are.")] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of the schema, for regressions: the column to explain.")
    ] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="A budget to consider; repeatable. By default 0.1, 0.5, 1 and 2.")
    ] = None,
    delta: Delta = 1e-6,
    covariance: Annotated[
        Covariance | None,
        typer.Option(metavar="SHAPE", help="Of a mixture: full (by default), tied, diag or spherical."),
    ] = None,
    neighbors: NeighborsOption = Neighbors.replace_one,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="As for the fit; by default the most accurate.")
    ] = None,
    tables: Annotated[int, typer.Option(help="How many tables to simulate for each epsilon.")] = 3,
    seed: Annotated[int, typer.Option(help="Of the simulation, which concerns no real rows.")] = 0,
    json: Json = False,
) -> None:
    """Look ahead, before anything is spent: how much noise, and what error to expect, at several epsilons.

    Tables of this size and of these columns are simulated, and fitted privately and without privacy. No data is read.
    """
    from tacit.cli.forecast import forecast, simulated_rows
    from tacit.models.trials.simulation import Setting

    if (schema is None) == (columns is None):
        raise typer.BadParameter("Pass --schema FILE or --columns NUMBER, one of them.")
    trial: Trial = TRIALS[model].trial
    parts = trial.parts
    if (size is None) != (parts is None):
        without = f"{model.value.capitalize()} have no parts; leave out -k."
        raise typer.BadParameter(without if parts is None else f"Pass --{parts} NUMBER: how many there are.")
    if covariance is not None and "covariance_type" not in trial.options:
        raise typer.BadParameter("--covariance is for mixtures; leave it out.")
    known = None if schema is None else read_schema(schema)
    _check_target(trial, known, target)
    wide = len(known.used) if known is not None else columns or 0
    epsilons = sorted(set(epsilon or _EPSILONS))
    _check(rows, wide, size, tables, parts or "")
    for each in epsilons:
        tacit.Budget(each, delta)
    setting = Setting.of(known, wide, target)
    simulated = simulated_rows(rows, setting.domain.columns)
    options: dict[str, Any] = {"neighbors": neighbors.value}
    if covariance is not None:
        options["covariance_type"] = covariance.value
    if method is not None:
        options["method"] = method
    with screen.progress("Simulating", tables * (1 + len(epsilons))) as advance:
        expected = forecast(
            model.value,
            setting,
            simulated,
            size,
            epsilons,
            delta=delta,
            tables=tables,
            seed=seed,
            advance=advance,
            **options,
        )
    if json:
        shape: dict[str, Any] = {"model": model.value, "rows": rows, "simulated_rows": simulated, "columns": wide}
        shape |= {"numbers": setting.domain.columns} | ({} if parts is None else {parts: size})
        results = [{"epsilon": each.epsilon, **each.figures, "plan": each.plan.to_dict()} for each in expected]
        screen.print_json(shape | {"delta": delta, "neighbors": neighbors.value, "expected": results})
        return
    what = f"{rows:,} rows, {wide} columns" + ("" if parts is None else f", {size} {parts}")
    screen.say(f"{what}; delta {delta:g}, {neighbors.value}.\n")
    _print_errors(expected, size)
    screen.say(f"\nAgainst a fit without privacy, {trial.words}\n")
    _print_noise(expected)
    if simulated < rows:
        screen.note(f"Simulated with {simulated:,} rows, to save time; with {rows:,} the errors are smaller.")


def _check_target(trial: Trial, schema: tacit.Schema | None, target: str | None) -> None:
    from tacit.tables import Numeric

    if target is not None and (not trial.takes_target or schema is None):
        raise typer.BadParameter("--target is for regressions with a --schema; leave it out.")
    if trial.takes_target and schema is not None:
        numbers = [name for name in schema.used if isinstance(schema.columns[name], Numeric)]
        if target not in numbers:
            raise typer.BadParameter(f"Pass --target COLUMN, a column of numbers: {', '.join(numbers) or 'none'}.")


def _check(rows: int, columns: int, size: int | None, tables: int, parts: str) -> None:
    for name, value in (("--rows", rows), ("--columns", columns), (f"--{parts}", size), ("--tables", tables)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, and it is {value}.")
    if size is not None and rows < size:
        raise ValueError(f"There are {rows} row(s) and {size} {parts}; plan for fewer {parts}.")


def _print_errors(expected: list[Expectation], size: int | None) -> None:
    from tacit.models.trials.trial import FIGURES

    names = list(expected[0].figures)
    rows = [
        (
            f"{each.epsilon:g}",
            *(FIGURES[name][1].format(each.figures[name]) + f" of {size}" * (name == "found") for name in names),
        )
        for each in expected
    ]
    head = ("epsilon", *(FIGURES[name][0] for name in names))
    screen.table(head, rows, title="Error to expect from privacy", words=0)


def _print_noise(expected: list[Expectation]) -> None:
    steps: dict[tuple[str, int, int], dict[float, float]] = {}  # a method may depend on epsilon, and so may its steps
    for each in expected:
        for step in each.plan.steps:
            steps.setdefault((step.name, step.count, step.size), {})[each.epsilon] = step.noise_multiplier
    rows = [
        (
            name,
            str(count),
            f"{size:,}",
            *(f"{noise[e]:.4g}" if (e := each.epsilon) in noise else "-" for each in expected),
        )
        for (name, count, size), noise in steps.items()
    ]
    head = ("release", "times", "numbers", *(f"at {each.epsilon:g}" for each in expected))
    screen.table(head, rows, title="Noise, relative to what one person can change")
