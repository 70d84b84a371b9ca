"""Options that several commands of ``tacit fit`` share, each with one name and one meaning."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from tacit.models.command import REQUIRED, Option

__all__ = [
    "INTERCEPT",
    "MISSING",
    "MISSING_OR_MODEL",
    "TARGET",
    "TARGET_BOUNDS",
    "Missing",
    "MissingOrModel",
    "count_option",
]


class Missing(StrEnum):
    """What to do about missing cells."""

    error = "error"
    ignore = "ignore"


class MissingOrModel(StrEnum):
    """What to do about missing cells, for models that have a place for them."""

    error = "error"
    ignore = "ignore"
    model = "model"


INTERCEPT = Option("intercept", bool, "Whether predictions have an intercept.", True, parameter="fit_intercept")
MISSING = Option(
    "missing", Missing, "Refuse a table with missing cells, or leave such rows out.", Missing.error, ("--missing",)
)
MISSING_OR_MODEL = Option(
    "missing",
    MissingOrModel,
    "Refuse a table with missing cells, leave such rows out, or model what is there.",
    MissingOrModel.error,
    ("--missing",),
)
TARGET = Option("target", str, "The column that the others explain.", flags=("--target",), metavar="COLUMN")
TARGET_BOUNDS = Option(
    "target_bounds",
    tuple[float, float] | None,
    "The target's own bounds, if it has others than all columns.",
    None,
    metavar="LOW HIGH",
)


def count_option(name: str, help: str, parameter: str, default: Any = REQUIRED, **kind: Any) -> Option:
    """Return the option ``--name``, or ``-k``: how many components, clusters or factors there are."""
    return Option(name, kind.pop("type", int), help, default, (f"--{name}", "-k"), parameter=parameter, **kind)
