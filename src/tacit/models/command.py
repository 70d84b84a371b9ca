"""Commands of ``tacit fit`` as plain values: names, options and help pages, which ``tacit.cli`` offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

__all__ = ["REQUIRED", "Command", "Derivation", "FitRequest", "Option", "OptionError", "fit_request"]

REQUIRED = object()  # The default of an option that must be passed.


class OptionError(ValueError):
    """Options that do not go together, in a sentence."""


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Parameters
    ----------
    name : str
        The option is written ``--name``, unless `flags` say otherwise.
    type : type
        The type of its value: a number, text, an enumeration of words, or a list of texts for one that takes several
        words.
    help : str
    default : object
        `REQUIRED` if it must be passed.
    flags : tuple of str
        How the option is written, if not as its name.
    metavar : str, optional
        What the help page calls its value.
    parse : callable, optional
        From text to the value; a ``ValueError`` is a sentence for the user.
    parameter : str, optional
        The estimator's parameter that gets the value, if it has another name.
    """

    name: str
    type: Any
    help: str
    default: Any = REQUIRED
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    parse: Callable[[str], Any] | None = None
    parameter: str | None = None

    @property
    def flag(self) -> str:
        """How the option is written."""
        return self.flags[0] if self.flags else f"--{self.name.replace('_', '-')}"


class FitRequest(NamedTuple):
    """What is to be fitted: the estimator's name and its parameters."""

    estimator: str
    parameters: dict[str, Any]


def fit_request(estimator: str, options: tuple[Option, ...], values: Mapping[str, Any]) -> FitRequest:
    """Return a fit of an estimator with each value of an option as the parameter that it stands for.

    Examples
    --------
    >>> intercept = Option("intercept", bool, "Whether there is one.", True, parameter="fit_intercept")
    >>> fit_request("Ridge", (intercept,), {"intercept": False, "penalty": "ridge"})
    FitRequest(estimator='Ridge', parameters={'fit_intercept': False})
    """
    parameters = {each.parameter or each.name: values[each.name] for each in options}
    words = {name: value.value for name, value in parameters.items() if isinstance(value, StrEnum)}
    return FitRequest(estimator, parameters | words)


@dataclass(frozen=True)
class Derivation:
    """A way to a model that reads no rows and spends nothing: from the file of another model.

    Parameters
    ----------
    option : Option
        Names the file.
    source : str
        The estimator that must be in it.
    otherwise, wanted : str
        What a sentence says if another one is in it: the file holds one "which {otherwise}; name a file {wanted}."
    uses : tuple of str
        The command's other options that mean something here.
    derive : callable
        From the model in the file and the options to the new model.
    words : callable
        From the options to what was done, in a few words that the name of the file follows.
    certificate : str
        Whose certificate the new model has.
    data_help : str
        Help of the argument DATA, which may be left out.
    """

    option: Option
    source: str
    otherwise: str
    wanted: str
    uses: tuple[str, ...]
    derive: Callable[[Any, Mapping[str, Any]], Any]
    words: Callable[[Mapping[str, Any]], str]
    certificate: str
    data_help: str


@dataclass(frozen=True, eq=False)
class Command:
    """A command of ``tacit fit``, which has the options that all fits share beside its own.

    Parameters
    ----------
    name : str
    estimator : str
        The estimator that it fits.
    help : str
        Its help page; the first line is what a list of commands shows.
    examples : tuple of str
        Commands to copy.
    options : tuple of Option
        Those named "target" and "target_bounds" say which column the others explain.
    request : callable, optional
        From the values of options, by name, and whether there is a schema, to what is fitted. It may raise an
        `OptionError`. By default each value becomes the parameter that the option stands for.
    derivation : Derivation, optional
    needs_bounds : bool
        Whether something must be said about where values lie.
    """

    name: str
    estimator: str
    help: str
    examples: tuple[str, ...]
    options: tuple[Option, ...] = ()
    request: Callable[[dict[str, Any], bool], FitRequest] | None = None
    derivation: Derivation | None = None
    needs_bounds: bool = True

    def to_fit(self, values: dict[str, Any], has_schema: bool) -> FitRequest:
        """Return what the values of the options ask for."""
        if self.request is not None:
            return self.request(values, has_schema)
        return fit_request(self.estimator, self.options, values)
