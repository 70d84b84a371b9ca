"""``tacit plan``: look ahead before spending."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import screen
from tacit.cli.forecast import Expectation, forecast, simulated_rows
from tacit.cli.options import (
    Components,
    Covariance,
    CovarianceOption,
    Delta,
    Json,
    Method,
    MethodOption,
    Neighbors,
    NeighborsOption,
    examples,
)
from tacit.cli.schema import read_schema
from tacit.privacy import Budget

__all__ = ["plan"]

EXAMPLES = examples(
    "tacit plan --schema schema.toml --rows 20000 --components 3",
    "tacit plan --columns 10 --rows 5000 --components 5 --epsilon 0.5 --epsilon 2",
)

_EPSILONS = (0.1, 0.5, 1.0, 2.0)


def plan(
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many rows the table has, roughly if that is secret.")],
    components: Components,
    schema: Annotated[Path | None, typer.Option(help="What is publicly known about the columns.")] = None,
    columns: Annotated[int | None, typer.Option("--columns", "-d", help="Or only how many columns there are.")] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="A budget to consider; repeatable. By default 0.1, 0.5, 1 and 2.")
    ] = None,
    delta: Delta = 1e-6,
    covariance: CovarianceOption = Covariance.full,
    neighbors: NeighborsOption = Neighbors.replace_one,
    method: MethodOption = Method.scale_free,
    tables: Annotated[int, typer.Option(help="How many tables to simulate for each epsilon.")] = 3,
    seed: Annotated[int, typer.Option(help="Of the simulation, which concerns no real rows.")] = 0,
    json: Json = False,
) -> None:
    """Look ahead, before anything is spent: how much noise, and what error to expect, at several epsilons.

    Tables of this size are simulated inside the bounds, and fitted privately and without privacy. No data is read.
    """
    if (schema is None) == (columns is None):
        raise typer.BadParameter("Pass --schema FILE or --columns NUMBER, one of them.")
    width = read_schema(schema).width if schema is not None else columns or 0
    epsilons = sorted(set(epsilon or _EPSILONS))
    _check(rows, width, components, tables)
    for each in epsilons:
        Budget(each, delta)
    simulated = simulated_rows(rows, width)
    with screen.progress("Simulating", tables * (1 + len(epsilons))) as advance:
        expected = forecast(
            simulated,
            width,
            components,
            epsilons,
            delta=delta,
            tables=tables,
            seed=seed,
            advance=advance,
            covariance_type=covariance.value,
            method=method.value,
            neighbors=neighbors.value,
        )
    if json:
        shape = {"rows": rows, "simulated_rows": simulated, "columns": width, "components": components}
        results = [asdict(each) | {"plan": each.plan.to_dict()} for each in expected]
        screen.print_json(shape | {"delta": delta, "neighbors": neighbors.value, "expected": results})
        return
    screen.say(f"{rows:,} rows, {width} columns, {components} components; delta {delta:g}, {neighbors.value}.\n")
    _print_errors(expected, components)
    _print_noise(expected)
    if simulated < rows:
        screen.note(f"Simulated with {simulated:,} rows, to save time; with {rows:,} the errors are smaller.")


def _check(rows: int, columns: int, components: int, tables: int) -> None:
    for name, value in (("--rows", rows), ("--columns", columns), ("--components", components), ("--tables", tables)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, and it is {value}.")
    if rows < components:
        raise ValueError(f"There are {rows} row(s) and {components} components; plan for fewer components.")


def _print_errors(expected: list[Expectation], components: int) -> None:
    rows = [
        (
            f"{each.epsilon:g}",
            f"{each.gap:.3f}",
            f"{each.worst_gap:.3f}",
            f"{each.mean_error:.3f}",
            f"{each.weight_error:.2%}",
            f"{each.found:.1f} of {components}",
        )
        for each in expected
    ]
    head = ("epsilon", "log-lik. lost", "at worst", "means off by", "weights off by", "found")
    screen.table(head, rows, title="Error to expect from privacy", words=0)
    screen.say(
        "\nAgainst a fit without privacy, on simulated tables of Gaussian components that can be told apart. "
        "Log-likelihood: nats per new row. Means: standard deviations of a component. Weights: share of rows. "
        "Found: components whose mean is within one standard deviation.\n"
    )


def _print_noise(expected: list[Expectation]) -> None:
    rows = [
        (
            step.name,
            str(step.count),
            f"{step.size:,}",
            *(f"{each.plan.steps[index].noise_multiplier:.4g}" for each in expected),
        )
        for index, step in enumerate(expected[0].plan.steps)
    ]
    head = ("release", "times", "numbers", *(f"at {each.epsilon:g}" for each in expected))
    screen.table(head, rows, title="Noise, relative to what one person can change")
