"""Every number an object carries: hints for an attack on a statistic, evidence in an audit of a fitted model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np

from tacit.arrays import Array


def numbers_in(thing: object, depth: int = 4) -> Iterator[Array]:
    """Yield the numbers and numeric arrays in an object and its fields, down to `depth` levels.

    Examples
    --------
    >>> list(numbers_in({"radius": 2, "name": "clip", "centres": [0.5, True]}))
    [array(2.), array(0.5), array(1.)]
    """
    if isinstance(thing, (bool, int, float, np.generic, np.ndarray)):
        array = np.asarray(thing)
        if array.dtype.kind in "biuf":
            yield array.astype(np.float64)
        return
    if depth == 0:
        return
    if isinstance(thing, dict):
        inside = list(thing.values())
    elif isinstance(thing, (list, tuple)):
        inside = list(thing)
    elif is_dataclass(thing):
        inside = [getattr(thing, field.name) for field in fields(thing)]
    else:
        inside = list(getattr(thing, "__dict__", {}).values())
    for value in inside:
        yield from numbers_in(value, depth - 1)
