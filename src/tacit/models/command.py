"""Commands of ``tacit fit`` as plain values: names, options and help pages, which ``tacit.cli`` offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["REQUIRED", "Command", "Derivation", "FitRequest", "Option", "OptionError"]

REQUIRED = object()  # The default of an option that must be passed.


class OptionError(ValueError):
    """Options that do not go together, in a sentence."""


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Parameters
    ----------
    name : str
        Of the option: ``--name``, unless `flags` say otherwise.
    type : type
        Of its value: a number, text, an enumeration of words, or a list of texts for one that takes several words.
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


class FitRequest(NamedTuple):
    """What is to be fitted: the estimator's name and its parameters."""

    estimator: str
    parameters: dict[str, Any]


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
    help : str
        Its help page; the first line is what a list of commands shows.
    examples : tuple of str
        Commands to copy.
    options : tuple of Option
        Those named "target" and "target_bounds" say which column the others explain.
    request : callable
        From the values of options, by name, and whether there is a schema, to what is fitted. It may raise an
        `OptionError`. See :func:`tacit.models.options.fit_request` for what most commands do.
    derivation : Derivation, optional
    """

    name: str
    help: str
    examples: tuple[str, ...]
    options: tuple[Option, ...]
    request: Callable[[dict[str, Any], bool], FitRequest]
    derivation: Derivation | None = None
