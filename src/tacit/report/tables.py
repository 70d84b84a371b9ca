"""Tables and lists of HTML. The first cell of each row is its heading, and wide tables scroll by themselves."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.report.markup import Html, element
from tacit.report.pictures import colour


def table(
    head: Sequence[str], body: Sequence[Sequence[str]], *, words_in: Sequence[int] = (), class_: str | None = None
) -> Html:
    """Return a table; columns are numbers, aligned right, except the first and those in `words_in`.

    Cells know their column's title, so that a style may show rows as lists (class "stack") where there is no room.

    Examples
    --------
    >>> table(["a", "b"], [["1 < 2", "3"]])[:75]
    '<table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>'
    """
    kind = {at: "words" for at in words_in}
    titles = (element("th", title, scope="col", class_=kind.get(at)) for at, title in enumerate(head))
    rows = (
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(
                element("td", element("span", cell), class_=kind.get(at, "tight"), data_label=head[at])
                for at, cell in enumerate(row[1:], start=1)
            ),
        )
        for row in body
    )
    return element("table", element("thead", element("tr", *titles)), element("tbody", *rows), class_=class_)


def chip(place: int, name: str | None = None) -> Html:
    """Return the number of a component, cluster, factor or class, counted from 1, or its name, in its colour."""
    return element("span", str(place + 1) if name is None else name, class_=f"badge-chip {colour(place)}")


def chip_heads(count: int, what: str) -> list[Html]:
    """Return heads of columns that are numbers in their colours; `what` they number, for who cannot see them.

    Examples
    --------
    >>> chip_heads(1, "Factor")
    ['<th scope="col" aria-label="Factor 1"><span class="badge-chip c1">1</span></th>']
    """
    return [element("th", chip(k), scope="col", aria_label=f"{what} {k + 1}") for k in range(count)]


def region(content: Html, label: str) -> Html:
    """Return what may be wider than a phone in a box of its own that scrolls, by keyboard too."""
    return element("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)


def terms(items: Sequence[tuple[str, str]]) -> Html:
    """Return terms and what they mean."""
    return element("dl", *(element("div", element("dt", a), element("dd", b)) for a, b in items), class_="terms")
