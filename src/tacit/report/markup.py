"""HTML and SVG, safe by construction: whatever is not `Html` already is escaped when it is put into an element."""

from __future__ import annotations

from html import escape


class Html(str):
    """Text that is HTML already, and goes on the page as it is. Only :func:`element` and :func:`together` make it."""

    __slots__ = ()


Child = str | None


def element(name: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """Return an element of HTML or SVG.

    Parameters
    ----------
    name : str
        The name of the element, such as "p".
    *children : str, Html or None
        Its content; plain text is escaped, None left out.
    **attributes
        ``class_`` is written class, and other underscores as hyphens. None and False leave the attribute out.

    Examples
    --------
    >>> element("p", "Ann & ", element("b", "Bob"), class_="names", aria_label='"both"')
    '<p class="names" aria-label="&quot;both&quot;">Ann &amp; <b>Bob</b></p>'
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{name}{shown}>{together(*children)}</{name}>")


def together(*children: Child) -> Html:
    """Return children one after the other, plain text escaped.

    Examples
    --------
    >>> together("1 < 2", None, element("b", "3"))
    '1 &lt; 2<b>3</b>'
    """
    return Html(
        "".join(child if isinstance(child, Html) else escape(str(child)) for child in children if child is not None)
    )


def _value(value: str | float | bool) -> str:
    # A hundredth of a pixel is as fine as a picture needs, and keeps the page small.
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
