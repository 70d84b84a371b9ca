"""Everything an object holds: as leaves that can be compared bit for bit, and as plain numbers.

Two objects have equal snapshots if every number, text and array in them is the same to the last bit: in public and
private attributes, in containers, in closures of functions, at any depth. Which of two equal objects is shared does not
count. Locks and other things that hold no value are compared by their type alone.
"""

from __future__ import annotations

import struct
import types
from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np

from tacit.arrays import Array

Snapshot = dict[str, Any]
_NOTHING = object()  # No leaf is equal to it.
_PLAIN = (type(None), bool, int, str, bytes, complex, range, type, types.ModuleType, types.BuiltinFunctionType)


def snapshot(thing: Any) -> Snapshot:
    """Return the leaves of an object, by where they are found in it.

    Examples
    --------
    >>> first, second = snapshot({"radius": 0.1 + 0.2}), snapshot({"radius": 0.3})
    >>> differing(first, second)
    ['[0]']
    >>> differing(first, snapshot({"radius": 0.30000000000000004}))
    []
    """
    return dict(_leaves(thing, "", ()))


def differing(first: Snapshot, second: Snapshot) -> list[str]:
    """Return where two snapshots differ. Places are attributes and positions: no key and no value is quoted."""
    return [place for place in {**first, **second} if first.get(place, _NOTHING) != second.get(place, _NOTHING)]


def _leaves(thing: Any, place: str, above: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    if id(thing) in above:
        yield place, ("a level above", len(above) - above.index(id(thing)))
    elif isinstance(thing, float):
        yield place, ("float", struct.pack("<d", thing))
    elif (isinstance(thing, np.ndarray) and not thing.dtype.hasobject) or isinstance(thing, np.generic):
        yield place, (thing.dtype.str, thing.shape, thing.tobytes())
    elif isinstance(thing, _PLAIN):
        yield place, (type(thing).__name__, repr(thing))
    else:
        # The leaf at this place says the kind of object. Its parts have places of their own.
        yield place, _kind(thing)
        for name, part in _parts(thing):
            yield from _leaves(part, place + name, (*above, id(thing)))


def _kind(thing: Any) -> tuple[Any, ...]:
    kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
    if isinstance(thing, types.FunctionType):
        return kind, thing.__module__, thing.__qualname__, thing.__code__.co_code
    return (kind, len(thing)) if isinstance(thing, (Mapping, Set, list, tuple, np.ndarray)) else (kind,)


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is inside an object, by attribute or position."""
    if isinstance(thing, Mapping):
        for index, (key, value) in enumerate(thing.items()):
            yield f"[{index}].key", key
            yield f"[{index}]", value
    elif isinstance(thing, Set):
        # Sets have no order of their own.
        for index, item in enumerate(sorted(thing, key=repr)):
            yield f"[{index}]", item
    elif isinstance(thing, (list, tuple)):
        for index, item in enumerate(thing):
            yield f"[{index}]", item
    elif isinstance(thing, np.ndarray):
        yield ".items", thing.tolist()
    elif isinstance(thing, types.FunctionType):
        yield ".constants", [each for each in thing.__code__.co_consts if not isinstance(each, types.CodeType)]
        yield ".defaults", [thing.__defaults__, thing.__kwdefaults__]
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or ()):
            yield f".{name}", _content(cell)
    elif isinstance(thing, types.MethodType):
        yield ".function", thing.__func__
        yield ".self", thing.__self__
    elif isinstance(thing, partial):
        yield ".function", thing.func
        yield ".arguments", [thing.args, thing.keywords]
    elif (attributes := _attributes(thing)) is not None:
        for name, value in attributes.items():
            yield f".{name}", value
    else:
        yield ".state", _pickled_parts(thing)
    if isinstance(thing, (Mapping, Set, list, tuple)) and getattr(thing, "__dict__", None):
        for name, value in vars(thing).items():
            yield f".{name}", value


def _attributes(thing: Any) -> dict[str, Any] | None:
    """Return all attributes of an object, those that pickling would leave out too; None if it has no place for any."""
    declared = [kind.__dict__.get("__slots__", ()) for kind in type(thing).__mro__]
    slots = [name for names in declared for name in ((names,) if isinstance(names, str) else names)]
    slots = [name for name in slots if name not in ("__dict__", "__weakref__") and hasattr(thing, name)]
    if not slots and not hasattr(thing, "__dict__"):
        return None
    return {**getattr(thing, "__dict__", {}), **{name: getattr(thing, name) for name in slots}}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # The variable is not set yet.
        return None


def _pickled_parts(thing: Any) -> Any:
    """Return the parts that pickle would store of an object without attributes; None if it cannot be pickled."""
    try:
        reduced = thing.__reduce_ex__(4)
    except Exception:
        return None
    if isinstance(reduced, str):
        return reduced
    return [list(part) if isinstance(part, Iterator) else part for part in reduced]


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
