"""The card of a model: all that storage, reports, commands and tests need to know about it beside the estimator itself.

A card is a plain value. Whatever is slow to import is imported inside the card's functions, or named by `later`, so
that ``tacit --help`` can show every command without importing an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, NamedTuple

from tacit.cautions import Caution
from tacit.models.command import Command, Option

__all__ = ["Figure", "ModelCard", "Predictions", "Results", "StoredParameter", "Trial", "Without", "later"]


@dataclass(frozen=True)
class Without:
    """Says, in a sentence, why a model has no page, stored form, command, forecast or predictions."""

    reason: str


def later(module: str, function: str, /, **settings: Any) -> Callable[..., Any]:
    """Return a function that is imported when it is first called.

    Parameters
    ----------
    module, function : str
        The module that defines the function, and its name there.
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
    """How a command tells the results of a fit.

    Attributes
    ----------
    words : callable
        From a model to what was done, in a few words that the name of a file follows: "Found 3 cluster(s) in".
    blocks : callable
        From a model to tables and sentences for people, see :mod:`tacit.models.printed`.
    summary : callable
        From a model to a dictionary for ``--json``.
    """

    words: Callable[[Any], str]
    blocks: Callable[[Any], Sequence[Any]]
    summary: Callable[[Any], dict[str, Any]]


class Predictions(NamedTuple):
    """What a model says about single rows, for ``tacit predict``.

    Attributes
    ----------
    words : str
        The columns that are written, for a help page: "cluster, and the distance from each centre".
    columns : callable
        ``columns(model, block)`` returns the columns by name, each with one cell for each row of the block.
    """

    words: str
    columns: Callable[..., dict[str, Any]]


class Figure(NamedTuple):
    """A figure that ``tacit plan`` tells about the error to expect.

    Attributes
    ----------
    title : str
        The head of its column.
    form : str
        How a value is written: "{value:.1%}", or "{value:.1f} of {size}" to name the number of components too.
    worst : bool
        Whether to tell the figure of the worst table as well, beside the average.
    """

    title: str
    form: str
    worst: bool = False


@dataclass(frozen=True)
class Trial:
    """How ``tacit plan`` tries a model out on simulated tables.

    Parameters
    ----------
    draw : callable
        ``draw(setting, rows, size, options, rng)`` returns a :class:`tacit.models.trials.trial.SimulatedTable`.
    words : str
        What the figures mean.
    figures : dict from str to Figure
        The figures that the function `judge` of a simulated table returns, in the order in which they are shown.
    options : tuple of Option
        Options of ``tacit fit`` that ``tacit plan`` takes too. The one that is written ``-k`` says how many components,
        clusters or factors there are.
    """

    draw: Callable[..., Any]
    words: str
    figures: Mapping[str, Figure]
    options: tuple[Option, ...] = ()

    @property
    def size(self) -> Option | None:
        """The option that says how many components, clusters or factors there are, if the model has such parts."""
        return next((option for option in self.options if "-k" in option.flags), None)


class StoredParameter(NamedTuple):
    """How a parameter of an estimator is written to a file and read from it, if JSON has no such value."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """A model, as storage, reports, commands and tests know it.

    Parameters
    ----------
    name : str
        The estimator's name in files, and in `tacit` if it is public.
    room : str
        The module that has the estimator.
    kind : str
        What a sentence calls such a model: "a file of {kind}".
    docs : str
        Its page in ``docs/``.
    target : {"number", "class"}, optional
        What ``fit(X, y)`` explains by the other columns, if anything.
    steps : dict from str to str
        What each step of its plans measures, in words for a report.
    usual : callable
        Returns the parameters of an ordinary fit, beside bounds and classes, to a table of two columns of numbers from
        -1 to 1: what replays and other tests try first.
    stored : dict from str to str, or Without
        The keys that a model file has for this model, and what they hold.
    command : Command or Without
        Its command of ``tacit fit``; several models may share one.
    results : Results or Without
        How a command tells the results.
    predictions : Predictions or Without
        What ``tacit predict`` writes about rows.
    presentation : callable, Without or None
        ``presentation(model, certificate, pairs)`` returns a :class:`tacit.report.presentation.Presentation`: cautions,
        pictures and tables for the page of a report. By default the page shows the tables of `results`.
    cautions : callable
        ``cautions(model)`` returns a list of :class:`tacit.cautions.Caution`: what a fitted model must be warned of, by
        released values alone. The estimator warns of it when the fit ends; certificate, command and report repeat it.
    trial : Trial or Without
        How ``tacit plan`` forecasts accuracy.
    draws_rows : bool
        Whether ``tacit sample`` can draw synthetic rows.
    parameters : dict from str to StoredParameter
        The estimator's parameters that JSON cannot hold as they are.
    """

    name: str
    room: str
    kind: str
    docs: str
    target: Literal["number", "class"] | None = None
    steps: Mapping[str, str]
    usual: Callable[[], Mapping[str, Any]] = dict
    stored: Mapping[str, str] | Without
    command: Command | Without
    results: Results | Without
    predictions: Predictions | Without
    presentation: Callable[..., Any] | Without | None = None
    cautions: Callable[[Any], Sequence[Caution]] = lambda model: ()
    trial: Trial | Without
    draws_rows: bool = False
    parameters: Mapping[str, StoredParameter] = field(default_factory=dict)

    @cached_property
    def estimator(self) -> Any:
        """The class of the estimator, imported when it is first asked for."""
        return getattr(import_module(self.room), self.name)
