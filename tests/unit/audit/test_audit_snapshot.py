"""Snapshots: equal to the last bit or not equal, however deep the difference is."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from tacit.audit.snapshot import differing, snapshot


@dataclass
class Box:
    inside: object


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Hiding:
    """Leaves out of its pickle what it holds."""

    def __init__(self, value):
        self.value = value

    def __getstate__(self):
        return {}


def closure(value):
    return lambda: value


def default(value):
    def function(argument=value):
        return argument

    return function


HOLDERS = [
    Box,
    Slotted,
    Hiding,
    closure,
    default,
    lambda value: [1, (2, {"key": value})],
    lambda value: {value},
    lambda value: {value: 1},
    lambda value: partial(max, value),
    lambda value: np.array([value, "text"], dtype=object),
    lambda value: Box(value).__repr__,
]


@pytest.mark.parametrize("hold", HOLDERS)
@pytest.mark.parametrize(
    ("one", "two"),
    [(1.0, np.nextafter(1.0, 2.0)), (0.0, -0.0), (1, True), ("a", "b"), (np.float64(1), np.float32(1)), (1, 1.0)],
)
def test_what_differs_anywhere_differs(hold, one, two):
    assert differing(snapshot(hold(one)), snapshot(hold(two)))
    assert not differing(snapshot(hold(one)), snapshot(hold(one)))


def test_arrays_are_compared_by_bits_types_and_shapes():
    ones = np.ones((2, 2))
    assert differing(snapshot(ones), snapshot(ones.astype(np.float32)))
    assert differing(snapshot(ones), snapshot(ones.reshape(4)))
    assert not differing(snapshot(ones), snapshot(np.asfortranarray(ones)))
    assert not differing(snapshot(np.array([np.nan])), snapshot(np.array([np.nan])))


def test_cycles_end():
    one, two = Box(None), Box(None)
    one.inside, two.inside = one, two
    assert not differing(snapshot(one), snapshot(two))


def test_places_quote_no_key():
    [place] = differing(snapshot({"secret": Box(1)}), snapshot({"secret": Box(2)}))
    assert place == "[0].inside"
