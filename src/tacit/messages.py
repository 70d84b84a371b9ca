"""How messages describe a value without showing data.

Whatever is passed in a wrong place may hold rows: targets as a parameter, a table as bounds, a cell as a name. So a
refusal never prints a value that could be one. It shows a number or a short text that was passed by itself, because
options are such, and says of anything else what kind of thing it is. It does not say how long that thing is either: the
number of rows may be secret.
"""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_LONGEST_TEXT = 60  # Longest text that is shown, in characters. Names of columns and words for options are shorter.


def describe(value: Any) -> str:
    """Return a value as a sentence may show it: a number or a short text as it is, else the kind of thing it is.

    Examples
    --------
    >>> import numpy as np
    >>> describe(0.5), describe("fast"), describe(None)
    ('0.5', "'fast'", 'None')
    >>> describe(np.array([[47.11, 0.8]])), describe([47.11, 0.8])
    ('an array of float64 in 2 dimensions', 'a list')
    """
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        short = len(value) <= _LONGEST_TEXT and "\n" not in value
        return repr(str(value)) if short else "a long text"
    if isinstance(value, numbers.Real):
        return _number(value)
    return kind(value)


def name_or_kind(target: Any) -> str:
    """Return how a sentence shows what was passed as a target: the name of a column, or what else it is.

    A number that was passed by itself is not shown either, because it may be somebody's.

    Examples
    --------
    >>> name_or_kind("age"), name_or_kind(["Ann", "Bob"]), name_or_kind(47.11)
    ("'age'", 'a list', 'a float')
    """
    return describe(target) if isinstance(target, str) else kind(target)


def kind(value: Any) -> str:
    """Return what kind of thing a value is, and nothing of what it holds.

    Examples
    --------
    >>> kind(47.11), kind({"age": [31]}), kind("Ann")
    ('a float', 'a dict', 'a text')
    """
    if hasattr(value, "dtype") and hasattr(value, "ndim"):
        return f"an array of {value.dtype} in {value.ndim} dimension{'s' * (value.ndim != 1)}"
    name = "text" if isinstance(value, str) else type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def call_or_refuse(complaint: str, function: Callable[..., _Result], *values: Any, **options: Any) -> _Result:
    """Return what a function of another library returns; where it refuses, say `complaint` and not its own words.

    Those may quote what it was given. They are not chained to the complaint either, for a traceback shows the chain.

    Examples
    --------
    >>> call_or_refuse("y must be a number.", float, "Ann")
    Traceback (most recent call last):
        ...
    ValueError: y must be a number.
    """
    try:
        return function(*values, **options)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(complaint)


def warn_user(message: str) -> None:
    """Warn, and name the line of the user's program that called the library."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "tacit":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=depth)


def _number(value: numbers.Real) -> str:
    if isinstance(value, numbers.Integral):
        return str(int(value)) if abs(int(value)) < 10**20 else "a huge whole number"
    return repr(float(value)) if math.isfinite(value) else str(float(value))
