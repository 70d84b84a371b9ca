"""Names of columns: checking them, and writing of them in sentences. Names are public."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches


def check_names(names: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the column names as a tuple; refuse none at all, and duplicates."""
    if not names:
        raise ValueError(f"Found 0 feature(s) in {where} while a minimum of 1 is required.")
    duplicated = [name for name, times in Counter(names).items() if times > 1]
    if duplicated:
        raise ValueError(
            f"Column names must be unique, but {where} has several called {join_names(duplicated)}. Rename them."
        )
    return tuple(names)


def check_selection(wanted: Sequence[str], present: Sequence[str]) -> tuple[str, ...]:
    """Return `wanted` as a tuple; refuse names that are not there, suggesting the nearest that are."""
    absent = [name for name in wanted if name not in present]
    if absent:
        raise ValueError(
            f"There is no column {join_names(absent)}; the columns are {join_names(present)}."
            f"{did_you_mean(absent, present)}"
        )
    return check_names(wanted, "the selection")


def join_names(names: Sequence[str], at_most: int = 10) -> str:
    """Return names for a sentence: quoted, separated by commas, shortened if there are many."""
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def did_you_mean(wrong: Sequence[str], right: Sequence[str]) -> str:
    """Return a question to add to a sentence about wrong names, or nothing if none of the right ones is close."""
    lower = {name.lower(): name for name in right}  # Wrong case is the most frequent mistake.
    guesses = {name: get_close_matches(name.lower(), lower, n=1) for name in wrong}
    near = [f"{lower[guess[0]]!r} for {name!r}" for name, guess in guesses.items() if guess]
    return f" Did you mean {', '.join(near)}?" if near else ""
