"""Parameters of estimators that JSON cannot hold as they are: how files have them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tacit.models.card import StoredParameter

__all__ = ["ARRAY_OR_WORD", "INFINITE", "MAY_BE_INFINITE", "WEIGHTS_BY_CLASS"]

INFINITE = "inf"  # JSON has no infinite number.


def _write_array(value: Any) -> Any:
    import numpy as np

    return value if value is None or isinstance(value, str) else np.asarray(value, dtype=np.float64)


def _read_array(value: Any) -> Any:
    import numpy as np

    return np.array(value) if isinstance(value, list) else value


#: Nothing, a word, or an array: a list of numbers or of lists of them.
ARRAY_OR_WORD = StoredParameter(_write_array, _read_array)
#: Weights of classes: a list of pairs, as labels need not be text.
WEIGHTS_BY_CLASS = StoredParameter(
    lambda value: list(value.items()) if isinstance(value, Mapping) else value,
    lambda value: None if value is None else dict(value),
)
#: A number that may be infinite; files are written so by themselves.
MAY_BE_INFINITE = StoredParameter(lambda value: value, lambda value: math.inf if value == INFINITE else value)
