"""How much privacy may be spent, and between which pairs of data sets it is measured.

Invariants
----------
- A ``Budget`` that exists is meaningful: ``0 < epsilon < inf`` and ``0 <= delta < 1``.
- A neighbouring relation is one of two strings, checked once, at the door.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from tacit.messages import describe

__all__ = ["RELATIONS", "Budget", "Relation", "check_relation"]

Relation = Literal["replace_one", "add_remove"]
"""``"replace_one"``: a row takes another value, the number of rows is public. ``"add_remove"``: a row comes or goes."""

RELATIONS: tuple[Relation, ...] = get_args(Relation)


@dataclass(frozen=True)
class Budget:
    """A privacy budget: the whole of what may be learned about one person.

    Parameters
    ----------
    epsilon : float
        Greatest allowed privacy loss, positive and finite. Smaller is more private.
    delta : float, default 0.0
        What epsilon may leave out: an addition to the chance of any conclusion, at least 0 and less than 1; far below
        one over the number of rows. Zero asks for pure differential privacy.

    Examples
    --------
    >>> Budget(1.0, 1e-6)
    Budget(epsilon=1.0, delta=1e-06)
    >>> Budget(-1.0)
    Traceback (most recent call last):
    ValueError: epsilon must be a positive, finite number, and it is -1.0; pass for instance epsilon=1.0.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        epsilon, delta = _as_float(self.epsilon), _as_float(self.delta)
        if epsilon is None or not 0 < epsilon < math.inf:
            raise ValueError(
                f"epsilon must be a positive, finite number, and it is {describe(self.epsilon)}; pass for instance "
                "epsilon=1.0."
            )
        if delta is None or not 0 <= delta < 1:
            raise ValueError(
                f"delta must be at least 0 and less than 1, and it is {describe(self.delta)}; "
                "pass for instance delta=1e-6, or 0 for pure differential privacy."
            )
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)


def check_relation(name: str) -> Relation:
    """Return ``name`` if it is a neighbouring relation, else say which ones there are.

    Examples
    --------
    >>> check_relation("add_remove")
    'add_remove'
    """
    for relation in RELATIONS:
        if name == relation:
            return relation
    raise ValueError(
        f"neighbors must be 'replace_one' (one person's row takes another value) or 'add_remove' "
        f"(one person's row comes or goes), and it is {describe(name)}."
    )


def _as_float(value: object) -> float | None:
    """Return a plain float (so that budgets compare, hash and print alike), or None for what is not a real number."""
    if isinstance(value, (bool, str, bytes)):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
