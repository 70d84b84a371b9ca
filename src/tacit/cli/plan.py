"""``tacit plan``: look ahead before spending. The registry of models says which can be forecast, and their options."""

from __future__ import annotations

import inspect
from enum import EnumMeta, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tacit
from tacit.cli import screen
from tacit.cli.options import Delta, Json, Neighbors, NeighborsOption, examples
from tacit.cli.schema import read_schema
from tacit.models.card import ModelCard, Trial
from tacit.models.command import Option
from tacit.models.registry import forecast_cards

if TYPE_CHECKING:
    from tacit.cli.forecast import Expectation

__all__ = ["EXAMPLES", "plan"]

EXAMPLES = examples(
    "tacit plan --schema schema.toml --rows 20000 --components 3",
    "tacit plan --columns 10 --rows 5000 --components 5 --epsilon 0.5 --epsilon 2",
    "tacit plan --model kmeans --schema schema.toml --rows 20000 --clusters 5",
    "tacit plan --model moments --columns 50 --rows 20000",
    "tacit plan --model linear --schema schema.toml --target cost --rows 20000",
)

_EPSILONS = (0.1, 0.5, 1.0, 2.0)  # Forecast for each of these, where none is asked for.
_CARDS = forecast_cards()
Model = StrEnum("Model", {name.replace("-", "_"): name for name in _CARDS})
_SIZES = list(dict.fromkeys(card.trial.size.flag for card in _CARDS.values() if card.trial.size is not None))


def _own_options() -> dict[str, dict[str, Option]]:
    """Return the options that some models have, beside the number of their parts, by name and then by model."""
    options: dict[str, dict[str, Option]] = {}
    for model, card in _CARDS.items():
        for option in card.trial.options:
            if option is not card.trial.size:
                options.setdefault(option.name, {})[model] = option
    return options


_OWN = _own_options()
_USUAL_MODEL = next(iter(Model))


def plan(
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many rows the table has, roughly if that is secret.")],
    model: Annotated[
        Model, typer.Option("--model", metavar="NAME", help=f"What to fit: {', '.join(_CARDS)}.")
    ] = _USUAL_MODEL,
    size: Annotated[
        int | None,
        typer.Option(*_SIZES, "-k", help="How many parts the model has: components, clusters, factors."),
    ] = None,
    schema: Annotated[Path | None, typer.Option(help="What is publicly known about the columns.")] = None,
    columns: Annotated[int | None, typer.Option("--columns", "-d", help="Or only how many columns there are.")] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of the schema: the column that the others explain.")
    ] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="A budget to consider; repeatable. By default 0.1, 0.5, 1 and 2.")
    ] = None,
    delta: Delta = 1e-6,
    neighbors: NeighborsOption = Neighbors.replace_one,
    tables: Annotated[int, typer.Option(help="How many tables to simulate for each epsilon.")] = 3,
    seed: Annotated[int, typer.Option(help="Of the simulation, which concerns no real rows.")] = 0,
    json: Json = False,
    **own: str | None,
) -> None:
    """Look ahead, before anything is spent: how much noise, and what error to expect, at several epsilons.

    Tables of this size and of these columns are simulated, and fitted privately and without privacy. No data is read.
    """
    from tacit.cli.forecast import forecast, simulated_rows
    from tacit.models.trials.simulation import Setting

    if (schema is None) == (columns is None):
        raise typer.BadParameter("Pass --schema FILE or --columns NUMBER, one of them.")
    card = _CARDS[model]
    trial: Trial = card.trial
    parts = _check_size(model, trial, size)
    known = None if schema is None else read_schema(schema)
    _check_target(card, known, target)
    wide = len(known.used) if known is not None else columns or 0
    epsilons = sorted(set(epsilon or _EPSILONS))
    _check_positive(rows=rows, columns=wide, tables=tables, **({} if size is None else {parts: size}))
    if size is not None and rows < size:
        raise ValueError(f"There are {rows} row(s) and {size} {parts}; plan for fewer {parts}.")
    for each in epsilons:
        tacit.Budget(each, delta)
    setting = Setting.of(known, wide, target)
    simulated = simulated_rows(rows, setting.domain.columns)
    options = {"neighbors": neighbors.value, **_own_values(model, own)}
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
        shape |= {"numbers": setting.domain.columns} | ({} if size is None else {parts: size})
        results = [{"epsilon": each.epsilon, **each.figures, "plan": each.plan.to_dict()} for each in expected]
        screen.print_json(shape | {"delta": delta, "neighbors": neighbors.value, "expected": results})
        return
    what = f"{rows:,} rows, {wide} columns" + ("" if size is None else f", {size} {parts}")
    screen.say(f"{what}; delta {delta:g}, {neighbors.value}.\n")
    _print_errors(expected, trial, size)
    screen.say(f"\nAgainst a fit without privacy, {trial.words}\n")
    _print_noise(expected)
    if simulated < rows:
        screen.note(f"Simulated with {simulated:,} rows, to save time; with {rows:,} the errors are smaller.")


def _with_own_options() -> inspect.Signature:
    """Return the parameters of `plan`, with the options of all models in place of ``**own``."""
    signature = inspect.signature(plan, eval_str=True)
    own = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, typer.Option(f"--{name}", metavar="NAME", help=_own_help(by_model))],
        )
        for name, by_model in _OWN.items()
    ]
    shared = [each.replace(kind=each.KEYWORD_ONLY) for each in signature.parameters.values() if each.name != "own"]
    return inspect.Signature([*shared, *own])


def _own_help(by_model: dict[str, Option]) -> str:
    if len(by_model) > 1:
        return "As for the fit; by default the most accurate."
    ((model, option),) = by_model.items()
    return f"For {model}: {option.help}"


def _own_values(model: str, own: dict[str, str | None]) -> dict[str, Any]:
    """Return the parameters of the estimator that its own options stand for; others are refused in a sentence."""
    values = {}
    for name, text in own.items():
        if text is None:
            continue
        if model not in _OWN[name]:
            flag = next(iter(_OWN[name].values())).flag
            raise typer.BadParameter(f"{flag} is for {', '.join(_OWN[name])}; leave it out.")
        option = _OWN[name][model]
        if isinstance(option.type, EnumMeta) and text not in list(option.type):
            raise typer.BadParameter(f"{option.flag} is one of {', '.join(option.type)}.")
        values[option.parameter or name] = text if isinstance(option.type, EnumMeta) else option.type(text)
    return values


def _check_size(model: str, trial: Trial, size: int | None) -> str:
    """Refuse a number of parts that is missing or makes no sense; return what parts are called."""
    if trial.size is None and size is not None:
        raise typer.BadParameter(f"--model {model} has no parts; leave out -k.")
    if trial.size is not None and size is None:
        raise typer.BadParameter(f"Pass {trial.size.flag} NUMBER: how many there are.")
    return "" if trial.size is None else trial.size.name


def _check_target(card: ModelCard, schema: tacit.Schema | None, target: str | None) -> None:
    from tacit.tables import Numeric

    if target is not None and (card.target is None or schema is None):
        raise typer.BadParameter("--target is for models of one column by the others, with a --schema; leave it out.")
    if card.target is not None and schema is not None:
        fits = [name for name in schema.used if isinstance(schema.columns[name], Numeric) == (card.target == "number")]
        if target not in fits:
            kind = "numbers" if card.target == "number" else "levels"
            raise typer.BadParameter(f"Pass --target COLUMN, a column of {kind}: {', '.join(fits) or 'none'}.")


def _check_positive(**values: int) -> None:
    for name, value in values.items():
        if value < 1:
            raise ValueError(f"--{name} must be at least 1, and it is {value}.")


def _print_errors(expected: list[Expectation], trial: Trial, size: int | None) -> None:
    titles, forms = ["epsilon"], {}
    for name in expected[0].figures:
        figure = trial.figures[name.removeprefix("worst_")]
        titles.append("at worst" if name.startswith("worst_") else figure.title)
        forms[name] = figure.form
    rows = [
        (f"{each.epsilon:g}", *(form.format(value=each.figures[name], size=size) for name, form in forms.items()))
        for each in expected
    ]
    screen.table(titles, rows, title="Error to expect from privacy", words=0)


def _print_noise(expected: list[Expectation]) -> None:
    steps: dict[tuple[str, int, int], dict[float, float]] = {}  # A method may depend on epsilon, and so may its steps.
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


plan.__signature__ = _with_own_options()  # type: ignore[attr-defined]
