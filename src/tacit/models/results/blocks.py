"""Blocks that results are printed in: tables and, as plain text, sentences. How wide a screen is, commands know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["Block", "NumberedTable", "Table"]


class Table(NamedTuple):
    """Rows below a head; the first `words` columns are text, to the left, and the others numbers, to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


class NumberedTable(NamedTuple):
    """Rows of cells for components, clusters or factors 1, 2, ..., for as many of them as there is room for.

    Parameters
    ----------
    what : str
        What is numbered.
    rows : dict of sequences of str
        By the names of rows; all as long as there are numbers.
    others : str
        What those are that there is no room for.
    last : name and cells, optional
        One more column, which is always shown.
    """

    what: str
    rows: Mapping[str, Sequence[str]]
    others: str
    last: tuple[str, Sequence[str]] | None = None


Block = str | Table | NumberedTable
