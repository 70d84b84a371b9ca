"""Which passes a fit makes over its rows: how many of them and how they read depends on nothing but public facts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from typing import Any

from tacit.sources import Source

_READING = ("sum", "blocks", "streams", "hold", "n_rows")
_here = threading.local()


@contextmanager
def overseen(passes: list[tuple[str, str, str]]) -> Iterator[None]:
    """Append to `passes` each pass over rows of any source: during what, by which method, of what kind of source.

    A pass that another one consists of does not count apart, and neither does what helping threads read for it.
    """
    replaced: list[tuple[type, str, Any]] = []
    for kind in dict.fromkeys(_kinds(Source)):
        for name in _READING:
            method = kind.__dict__.get(name)
            if method is None:
                continue
            replaced.append((kind, name, method))
            if isinstance(method, property):
                setattr(kind, name, property(_noted(method.fget, name, passes)))
            elif isinstance(method, cached_property):
                setattr(kind, name, property(_noted(_remembered(method.func, name), name, passes)))
            else:
                setattr(kind, name, _noted(method, name, passes))
    try:
        with during("outside the door"):
            yield
    finally:
        for kind, name, method in replaced:
            setattr(kind, name, method)


@contextmanager
def during(what: str | None) -> Iterator[None]:
    """Say what the passes are made for; with None they are not noted."""
    before = getattr(_here, "what", None)
    _here.what = what
    try:
        yield
    finally:
        _here.what = before


def _kinds(kind: type) -> list[type]:
    kinds = [kind]
    below: type
    for below in kind.__subclasses__():
        kinds += _kinds(below)
    return kinds


def _remembered(function: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """Return a function that keeps what it found where a cached property keeps it."""

    def remembered(self: Any) -> Any:
        if name not in vars(self):
            vars(self)[name] = function(self)
        return vars(self)[name]

    return remembered


def _noted(method: Any, name: str, passes: list[tuple[str, str, str]]) -> Callable[..., Any]:
    @wraps(method)
    def noted(self: Any, *arguments: Any, **options: Any) -> Any:
        what = getattr(_here, "what", None)
        if what is None:
            return method(self, *arguments, **options)
        passes.append((what, name, type(self).__name__))
        with during(None):
            return method(self, *arguments, **options)

    return noted
