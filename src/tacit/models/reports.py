"""Reports of fitted models: the registry says how each model is presented."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from tacit.fitting import PrivateEstimator
from tacit.models.card import Without
from tacit.models.registry import CARDS, find_card
from tacit.privacy import Certificate
from tacit.report.page import page_html
from tacit.report.presentation import Presentation

__all__ = ["check_reportable", "report_html", "write_report"]


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
    present = check_reportable(model)
    certificate = _check_certificate(model.privacy_ if certificate is None else certificate)
    return page_html(present(model, certificate, pairs), certificate, title)


def check_reportable(model: Any) -> Callable[..., Presentation]:
    """Return what presents a fitted model, and refuse in a sentence what no report can be about."""
    card = find_card(model)
    if card is None or isinstance(card.presentation, Without):
        names = ", ".join(f"tacit.{each.name}" for each in CARDS if not isinstance(each.presentation, Without))
        raise TypeError(f"A report is about a fitted model, one of {names}, and this is a {type(model).__name__}.")
    check_is_fitted(model, "privacy_")
    return card.presentation


def _check_certificate(certificate: Any) -> Certificate:
    if not isinstance(certificate, Certificate):
        raise TypeError(f"certificate must be a tacit.Certificate, and it is a {type(certificate).__name__}.")
    return certificate
