"""The report: one HTML file that needs nothing else, for whoever has to answer for the data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from tacit.fitting import PrivateEstimator
from tacit.privacy import Certificate
from tacit.report import sections
from tacit.report.markup import Html, element, together
from tacit.report.numerals import listed, plural
from tacit.report.subject import Subject, check_subject, subject_of


def write_report(
    model: PrivateEstimator,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    pairs: Sequence[Sequence[str | int]] | None = None,
    certificate: Certificate | None = None,
) -> Path:
    """Write the report of a fitted model to an HTML file that opens offline, and return its path.

    Parameters
    ----------
    model : GaussianMixture, KMeans, Moments, FactorAnalysis, TableModel, or one of the regressions and classifiers
        Fitted.
    path : str or Path
        Of the file, which is replaced if there is one.
    title : str, optional
        What the page is called.
    pairs : sequence of pairs of columns, optional
        What to draw components or centres over: names, or positions among the columns. By default the three pairs of
        columns that tell them apart best, found from the private parameters.
    certificate : Certificate, optional
        Shown in place of the model's own, ``model.privacy_``: for instance one that covers several results.

    Notes
    -----
    Nothing on the page is computed from rows; it is as safe to publish as the model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal([50, 7], [10, 1], (5000, 2))
    >>> model = tacit.GaussianMixture(1, bounds=(0, 100)).fit(X)
    >>> path = write_report(model, pathlib.Path(tempfile.mkdtemp()) / "report.html")
    >>> path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    page = report_html(model, title=title, pairs=pairs, certificate=certificate)
    path = Path(path)
    path.write_text(page, encoding="utf-8", errors="replace")
    return path


def report_html(
    model: PrivateEstimator,
    *,
    title: str | None = None,
    pairs: Sequence[Sequence[str | int]] | None = None,
    certificate: Certificate | None = None,
) -> str:
    """Return the report of a fitted model as HTML; see :func:`write_report`.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal([50, 7], [10, 1], (5000, 2))
    >>> page = report_html(tacit.GaussianMixture(1, bounds=(0, 100)).fit(X), title="Heights & weights")
    >>> "<h1>Heights &amp; weights</h1>" in page
    True
    """
    check_subject(model)
    certificate = _check_certificate(model.privacy_ if certificate is None else certificate)
    subject = subject_of(model, certificate, pairs)
    title = subject.title if title is None else str(title)
    made = datetime.now(UTC)
    chapters = [
        ("cautions", "Before you rely on it", sections.warned(subject.cautions)),
        ("promise", "What is promised", sections.promised(certificate)),
        ("releases", "What was released", sections.released(subject, certificate)),
        ("found", "What was found", subject.found),
        ("curve", "The whole guarantee", sections.whole_curve(certificate)),
    ]
    body = together(
        sections.alarm(certificate),
        element(
            "header",
            sections.masthead(made),
            element("h1", title),
            element("p", _about(subject, certificate), class_="lead"),
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


def _about(subject: Subject, certificate: Certificate) -> str:
    parts = [f"A {'seeded' if certificate.seeded else 'private'} model of {plural(subject.columns, 'column')}"]
    if certificate.rows is not None:
        parts.append(f" and {plural(certificate.rows, 'row')}")
    if subject.ignored:
        parts.append(f"; left out: {listed(list(subject.ignored))}")
    return "".join([*parts, "."])


def _check_certificate(certificate: Any) -> Certificate:
    if not isinstance(certificate, Certificate):
        raise TypeError(f"certificate must be a tacit.Certificate, and it is a {type(certificate).__name__}.")
    return certificate


def _json(certificate: Certificate) -> Html:
    """Return the certificate as JSON that cannot end the script element it stands in."""
    return Html(certificate.to_json().replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
