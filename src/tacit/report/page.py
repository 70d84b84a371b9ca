"""The page of a report: one HTML file that needs nothing else, for whoever has to answer for the data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from string import Template

from tacit.privacy import Certificate
from tacit.report import sections
from tacit.report.markup import Html, element, together
from tacit.report.numerals import join_words, plural
from tacit.report.presentation import Presentation

__all__ = ["page_html"]


def page_html(
    presentation: Presentation, certificate: Certificate, meanings: Mapping[str, str], title: str | None = None
) -> str:
    """Return the page that shows a model and its certificate; `meanings` are what the steps of its plan measure."""
    title = presentation.title if title is None else str(title)
    made = datetime.now(UTC)
    chapters = [
        ("cautions", "Before you rely on it", sections.cautions_section(presentation.cautions)),
        ("promise", "What is promised", sections.promise_section(certificate)),
        ("releases", "What was released", sections.releases_section(presentation, certificate, meanings)),
        ("found", "What was found", presentation.results),
        ("curve", "The whole guarantee", sections.curve_section(certificate)),
    ]
    body = together(
        sections.alarm(certificate),
        element(
            "header",
            sections.masthead(made),
            element("h1", title),
            element("p", _about(presentation, certificate), class_="lead"),
            sections.verdict_card(certificate),
            sections.facts(certificate),
            element("nav", *(element("a", name, href=f"#{key}") for key, name, _ in chapters), aria_label="Contents"),
        ),
        element("main", *(element("section", element("h2", name), content, id=key) for key, name, content in chapters)),
        sections.footer(certificate, made),
    )
    here = files("tacit.report")
    return Template(here.joinpath("report.html").read_text(encoding="utf-8")).substitute(
        version=together(certificate.version),
        title=together(f"{title} – privacy report"),
        style=here.joinpath("report.css").read_text(encoding="utf-8"),
        body=body,
        certificate=_json(certificate),
    )


def _about(presentation: Presentation, certificate: Certificate) -> str:
    parts = [f"A {'seeded' if certificate.seeded else 'private'} model of {plural(presentation.columns, 'column')}"]
    if certificate.rows is not None:
        parts.append(f" and {plural(certificate.rows, 'row')}")
    if presentation.ignored:
        parts.append(f"; left out: {join_words(list(presentation.ignored))}")
    return "".join([*parts, "."])


def _json(certificate: Certificate) -> Html:
    """Return the certificate as JSON that cannot end the script element it stands in."""
    return Html(certificate.to_json().replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
