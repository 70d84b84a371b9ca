"""Tables whose cells are coloured by what is in them: blue above, orange below, the stronger the further from 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tacit.report.markup import Html, element, together
from tacit.report.tables import region

_FAINT = 0.05  # Below this strength a cell counts as 0, and its text is soft.


class Cell(NamedTuple):
    """What a cell says, and how strongly it is coloured, from -1 to 1."""

    text: str
    heat: float


def heat_table(
    head: Sequence[Html],
    rows: Sequence[tuple[Html, Sequence[Html | None], Sequence[Cell]]],
    caption: str,
    *,
    class_: str = "by-component hot",
) -> Html:
    """Return a table of coloured cells, behind a heading and some plain cells in each row.

    Parameters
    ----------
    head : sequence of Html
        The cells of the first row.
    rows : sequence of (heading, plain cells, coloured cells)
    caption : str
        What is in it.
    class_ : str
        The class of the table.

    Examples
    --------
    >>> heading = element("th", "age", scope="row")
    >>> page = heat_table([element("th", "Column", scope="col")], [(heading, [], [Cell("0.5", 0.5)])], "Something")
    >>> '<td class="heat plus" style="--heat:25%">0.5</td>' in page
    True
    """
    body = (element("tr", heading, *plain, *map(_heat_cell, cells)) for heading, plain, cells in rows)
    table = element("table", element("thead", element("tr", *head)), element("tbody", *body), class_=class_)
    return together(element("p", caption, class_="small soft"), region(table, caption))


def _heat_cell(cell: Cell) -> Html:
    strength = min(1.0, abs(cell.heat))
    kind = "heat" if strength < _FAINT else f"heat {'plus' if cell.heat > 0 else 'minus'}"
    # At more than half strength, text is hard to read.
    return element("td", cell.text, class_=kind, style=f"--heat:{50 * strength:.0f}%")
