"""``tacit fit``: spend budget on a model. The registry of models says which commands there are."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from tacit.cli.fit_options import FitOptions, Target, with_fit_options
from tacit.cli.model import load_kind
from tacit.cli.options import Data, examples
from tacit.models.command import REQUIRED, Command, Derivation, Option, OptionError
from tacit.models.registry import card_named, commands

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Fit a model privately.")

# The end of every help page.
_CHECKED_FIRST = "The data, the options and where the results go are checked before anything is charged."

_FREE = ("output", "report", "force", "json")  # Options that mean something where nothing is read or spent.
_WHOLE = re.compile(r"-?\d+")


class _Fit(TyperCommand):
    """Understands what options with one number of values cannot say.

    ``--bounds private`` stands beside ``--bounds LOW HIGH``; and an option that takes several words, such as
    ``--classes LABEL LABEL ...``, ends at the next option.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for place in range(len(args) - 1, 0, -1):
            if args[place - 1 : place + 1] == ["--bounds", "private"]:
                args[place - 1 : place + 1] = ["--private-bounds"]
        several = {flag for option in self.params if getattr(option, "multiple", False) for flag in option.opts}
        return super().parse_args(ctx, _one_word_each(args, several))


def _one_word_each(args: list[str], several: set[str]) -> list[str]:
    """Return arguments in which every word of an option that takes several has the option's name before it.

    Examples
    --------
    >>> _one_word_each(["a.csv", "--classes", "no", "yes", "--seed", "1"], {"--classes"})
    ['a.csv', '--classes=no', '--classes=yes', '--seed', '1']
    """
    words: list[str] = []
    listing = ""
    for word in args:
        if word in several:
            listing = word
        elif listing and (not word.startswith("-") or _WHOLE.fullmatch(word)):
            words.append(f"{listing}={word}")
        else:
            listing = ""
            words.append(word)
    return words


@app.callback()
def fit() -> None:
    """Fit a model privately."""


def _command(command: Command) -> Callable[..., None]:
    """Return the function that the program runs for a command, with its options as parameters."""

    def run(shared: FitOptions, data: Path | None, ctx: typer.Context, **values: Any) -> None:
        derivation = command.derivation
        source = None if derivation is None else values.pop(derivation.option.name)
        if derivation is not None and (data is None or source is not None):
            if data is not None or source is None:
                option = derivation.option
                raise typer.BadParameter(f"Pass DATA or {option.flag} {option.metavar}, one of them.")
            _derive(shared, derivation, source, values, ctx)
            return
        try:
            request = command.to_fit(values, shared.schema is not None)
        except OptionError as error:
            raise typer.BadParameter(str(error)) from None
        parameters = dict(request.parameters)
        target = parameters.pop("target", None)
        if "target_bounds" in parameters:
            target = Target(target, parameters.pop("target_bounds"))
        estimator = card_named(request.estimator).estimator
        shared.fit(estimator, data, target=target, needs_bounds=command.needs_bounds, **parameters)

    run.__name__, run.__doc__ = command.name.replace("-", "_"), f"{command.help}\n\n{_CHECKED_FIRST}"
    run.__signature__ = inspect.Signature(_parameters(command))  # type: ignore[attr-defined]
    return with_fit_options(run)


def _parameters(command: Command) -> list[inspect.Parameter]:
    derivation = command.derivation
    data, default = (Data, inspect.Parameter.empty) if derivation is None else (_optional_data(derivation), None)
    # A help page shows the file that a model is derived from behind the option that comes first.
    options = command.options if derivation is None else (command.options[0], derivation.option, *command.options[1:])
    return [
        _parameter("shared", FitOptions),
        _parameter("data", data, default),
        _parameter("ctx", typer.Context),
        *(_parameter(each.name, _annotation(each), _default(each)) for each in options),
    ]


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _default(option: Option) -> Any:
    return inspect.Parameter.empty if option.default is REQUIRED else option.default


def _annotation(option: Option) -> Any:
    """Return the type of an option with what typer is to know about it."""
    parse = option.parse

    def parse_or_refuse(text: str) -> Any:
        try:
            return None if parse is None else parse(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    more: dict[str, Any] = {} if parse is None else {"parser": parse_or_refuse}
    return Annotated[option.type, typer.Option(*option.flags, metavar=option.metavar, help=option.help, **more)]


def _optional_data(derivation: Derivation) -> Any:
    return Annotated[Path | None, typer.Argument(metavar="DATA", help=derivation.data_help)]


def _derive(
    shared: FitOptions, derivation: Derivation, source: Path, values: dict[str, Any], ctx: typer.Context
) -> None:
    """Compute a model from the file of another, and refuse options that only a fit to rows would read."""
    meant = (*_FREE, derivation.option.name, *derivation.uses)
    useless = [
        option.opts[0]
        for option in ctx.command.params
        if option.name not in meant and getattr(ctx.get_parameter_source(str(option.name)), "name", "") == "COMMANDLINE"
    ]
    if useless:
        flag = derivation.option.flag
        raise typer.BadParameter(f"With {flag} nothing is read or spent, so leave out {', '.join(useless)}.")
    write_report = shared.check_destinations()
    given = load_kind(source, lambda card: card.name == derivation.source, derivation.otherwise, derivation.wanted)
    said = (
        f"{derivation.words(values)} {source}. No row was read and nothing further was spent: the certificate is "
        f"{derivation.certificate}."
    )
    shared.finish(derivation.derive(given, values), said, write_report, source.name)


for _each in commands():
    app.command(_each.name, cls=_Fit, epilog=examples(*_each.examples))(_command(_each))
