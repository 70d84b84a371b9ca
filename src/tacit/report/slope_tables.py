"""Coefficients as a table: a row for each input, a coloured cell for each prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacit.report.centres import MOST_ROWS
from tacit.report.heat import Cell, heat_table
from tacit.report.markup import Html, element
from tacit.report.numerals import spread, to_digits
from tacit.report.slopes_view import SlopesView

_LONG = 40  # Rows from which a table is folded up.


class Column(NamedTuple):
    """What else a table says about features: a title, and the text of each."""

    title: str
    text: Callable[[int], str]


def coefficient_table(
    view: SlopesView,
    heads: Sequence[Html],
    caption: str,
    *,
    beside: Sequence[Column] = (),
    below: Sequence[tuple[str, Sequence[str]]] = (),
) -> Html:
    """Return the table; `heads` stand above coefficients, `beside` are columns before them and `below` rows after."""
    shown = sorted(view.strongest(MOST_ROWS))
    strongest = float(np.abs(view.effects).max()) or 1.0
    rows = []
    for j in shown:
        cells = [Cell(_coefficient(view, k, j), float(view.effects[k, j]) / strongest) for k in range(view.count)]
        rows.append((input_heading(view, j), [element("td", each.text(j), class_="tight") for each in beside], cells))
    for name, texts in below:
        rows.append((element("th", name, scope="row"), [element("td") for _ in beside], [Cell(t, 0.0) for t in texts]))
    titles = [element("th", "Input", scope="col")]
    titles += [element("th", each.title, scope="col", class_="amounts") for each in beside]
    if len(view.features) > MOST_ROWS:
        caption += f" Of {len(view.features):,} inputs, the {MOST_ROWS} that add most are shown."
    kind = "by-component hot" if view.count > 1 else "by-component hot brief"
    table = heat_table([*titles, *heads], rows, caption, class_=kind)
    some = "All" if len(shown) == np.count_nonzero(view.slopes.any(axis=0)) else "The strongest"
    return fold(table, f"{some} {len(shown)} coefficients") if len(shown) > _LONG else table


def input_heading(view: SlopesView, j: int) -> Html:
    """Return the first cell of a feature's row."""
    feature = view.features[j]
    words = element("small", feature.description) if feature.description else None
    return element("th", feature.label, words, scope="row")


def fold(content: Html, title: str) -> Html:
    """Return what is long behind a title that unfolds it; without a script."""
    return element("details", element("summary", title), content)


def _coefficient(view: SlopesView, k: int, j: int) -> str:
    slope = float(view.slopes[k, j])
    if view.errors is None:
        return to_digits(slope)
    error = float(view.errors[k, j])
    return " ± ".join(spread(slope, error, error)) if error else to_digits(slope)
