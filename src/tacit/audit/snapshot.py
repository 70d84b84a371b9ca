"""Everything an object holds, as leaves that can be compared bit for bit.

Two objects have equal snapshots if every number, text and array in them is the same to the last bit: in public and
private attributes, in containers, in closures of functions, at any depth. Which of two equal objects is shared does not
count. Locks and other things that hold no value are compared by their type alone.
"""

from __future__ import annotations

import struct
import types
from collections.abc import Iterator, Mapping, Set
from functools import partial
from typing import Any

import numpy as np

Snapshot = dict[str, Any]
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


_NOTHING = object()


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
        # The kind at the place itself, and what is inside at places of their own.
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
        yield ".state", _reduced(thing)
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
    except ValueError:  # a variable that is not set yet
        return None


def _reduced(thing: Any) -> Any:
    """Return what an object without attributes would be pickled as; None where it cannot be."""
    try:
        reduced = thing.__reduce_ex__(4)
    except Exception:
        return None
    if isinstance(reduced, str):
        return reduced
    return [list(part) if isinstance(part, Iterator) else part for part in reduced]
