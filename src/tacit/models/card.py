"""The card of a model: all that storage, reports and commands need to know about it beside the estimator itself.

A card is a plain value. Whatever is slow to import is named by `later` and imported when it is first called, so that
``tacit --help`` can show every command without importing an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

from tacit.models.command import Command

__all__ = ["ModelCard", "Results", "StoredParameter", "Trial", "Without", "later"]


@dataclass(frozen=True)
class Without:
    """Says, in a sentence, why a model has no view, command or forecast."""

    reason: str


def later(module: str, function: str, /, **settings: Any) -> Callable[..., Any]:
    """Return a function that is imported when it is first called.

    Parameters
    ----------
    module, function : str
        Where the function is defined, and what it is called there.
    **settings
        Passed on with every call.

    Examples
    --------
    >>> later("math", "comb")(5, 2)
    10
    """

    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(import_module(module), function)(*arguments, **settings, **options)

    call.__name__, call.__module__ = function, module
    return call


class Results(NamedTuple):
    """How a command tells what a fit found.

    Attributes
    ----------
    words : callable
        From a model to what was done, in a few words that the name of a file follows: "Found 3 cluster(s) in".
    blocks : callable
        From a model to tables and sentences for people, see :mod:`tacit.models.results.blocks`.
    summary : callable
        From a model to a dictionary for ``--json``.
    """

    words: Callable[[Any], str]
    blocks: Callable[[Any], Sequence[Any]]
    summary: Callable[[Any], dict[str, Any]]


@dataclass(frozen=True)
class Trial:
    """How ``tacit plan`` tries a model out on simulated tables.

    Parameters
    ----------
    draw : callable
        ``draw(setting, rows, size, options, rng)`` returns a :class:`tacit.models.trials.trial.SimulatedTable`.
    words : str
        What the figures mean.
    parts : str or None
        What the option is called that says how many components, clusters or factors there are.
    options : tuple of str
        Estimator's parameters that the command may set for this model alone.
    takes_target : bool
        Whether a column is explained by the others.
    create : callable, optional
        Makes the estimator, if its constructor does not take what all models are given.
    """

    draw: Callable[..., Any]
    words: str
    parts: str | None = None
    options: tuple[str, ...] = ()
    takes_target: bool = False
    create: Callable[..., Any] | None = None


class StoredParameter(NamedTuple):
    """How a parameter of an estimator is written to a file and read from it, if JSON has no such value."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class ModelCard:
    """A model, as storage, reports and commands know it.

    Parameters
    ----------
    name : str
        The estimator's name in `tacit` and in files.
    room : str
        The package that has the estimator.
    kind : str
        What a sentence calls such a model: "a file of {kind}".
    docs : str
        Its page in ``docs/``.
    stored : dict from str to str, or Without
        The keys that a model file has for this model, and what they hold.
    presentation : callable or Without
        ``presentation(model, certificate, pairs)`` returns a :class:`tacit.report.presentation.Presentation`: the view,
        its cautions and its sections.
    command : Command or Without
        Of ``tacit fit``; several models may share one.
    results : Results or Without
        How a command tells what was found.
    trial : Trial or Without
        How ``tacit plan`` forecasts accuracy.
    predictions : callable or Without
        ``predictions(model, block)`` returns what ``tacit predict`` writes about rows: columns by name.
    draws_rows : bool
        Whether ``tacit sample`` can draw synthetic rows.
    parameters : dict from str to StoredParameter
        The estimator's parameters that JSON cannot hold as they are.
    """

    name: str
    room: str
    kind: str
    docs: str
    stored: Mapping[str, str] | Without
    presentation: Callable[..., Any] | Without
    command: Command | Without
    results: Results | Without
    trial: Trial | Without
    predictions: Callable[..., dict[str, Any]] | Without
    draws_rows: bool = False
    parameters: Mapping[str, StoredParameter] = field(default_factory=dict)

    @cached_property
    def estimator(self) -> Any:
        """The class of the estimator, imported when it is first asked for."""
        return getattr(import_module(self.room), self.name)
