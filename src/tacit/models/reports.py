"""Reports of fitted models: the registry says how each model is presented."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from tacit.fitting import PrivateEstimator
from tacit.models.card import ModelCard, Without
from tacit.models.printed import Block, NumberedTable, Table
from tacit.models.registry import CARDS, find_card
from tacit.privacy import Certificate
from tacit.report.cautions import budget_cautions, by_gravity
from tacit.report.feature_views import ignored_columns
from tacit.report.markup import Html, element, together
from tacit.report.page import page_html
from tacit.report.presentation import Pairs, Presentation, refuse_pairs
from tacit.report.tables import region, table
from tacit.tables.features import features

__all__ = ["check_reportable", "report_html", "step_meanings", "write_report"]

_BOUNDS_STEP = {"magnitudes": "how large the cells of each column are, to find bounds"}


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
    model : estimator
        Fitted. Every estimator has a report but :class:`tacit.ERM`.
    path : str or Path
        The file, which is replaced if there is one.
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
    card = check_reportable(model)
    present: Callable[..., Presentation] = card.presentation or _present_results
    certificate = _check_certificate(model.privacy_ if certificate is None else certificate)
    presentation = present(model, certificate, pairs)
    # What the fit was warned of is in the model's own certificate; one of version 0.1 has none of it yet.
    told = dict.fromkeys([*presentation.cautions, *model.privacy_.cautions, *card.cautions(model)])
    presentation = replace(presentation, cautions=by_gravity(list(told)))
    return page_html(presentation, certificate, step_meanings(card), title)


def check_reportable(model: Any) -> ModelCard:
    """Return the card of a fitted model, and refuse in a sentence what no report can be about."""
    card = find_card(model)
    if card is None or isinstance(card.presentation, Without):
        names = ", ".join(each.name for each in CARDS.values() if not isinstance(each.presentation, Without))
        raise TypeError(f"A report is about a fitted model, one of {names}, and this is a {type(model).__name__}.")
    check_is_fitted(model, "privacy_")
    return card


def step_meanings(card: ModelCard) -> dict[str, str]:
    """Return what each step of a model's plan measures; any model may spend a step on finding bounds."""
    return {**_BOUNDS_STEP, **card.steps}


def _present_results(model: PrivateEstimator, certificate: Certificate, pairs: Pairs) -> Presentation:
    """Return the tables and sentences that a command prints, for the page of a model that has no view of its own."""
    refuse_pairs(pairs)
    card = find_card(model)
    return Presentation(
        title=card.kind[0].upper() + card.kind[1:],
        columns=len({each.column for each in features(model._domain)}),
        ignored=ignored_columns(model._domain),
        cautions=budget_cautions(certificate),
        results=together(*(_block_html(block) for block in card.results.blocks(model))),
    )


def _block_html(block: Block) -> Html | None:
    if isinstance(block, Table):
        shown = table(list(block.head), [list(row) for row in block.rows], words_in=range(1, block.words))
    elif isinstance(block, NumberedTable):
        last_head, last = block.last or ("", ())
        count = max(map(len, block.rows.values()), default=0)
        head = ["", *(f"{block.what} {k + 1}" for k in range(count)), *([last_head] if last else [])]
        body = [[name, *cells, *last[at : at + 1]] for at, (name, cells) in enumerate(block.rows.items())]
        shown = table(head, body)
    else:
        return element("p", block.strip()) if block.strip() else None
    return region(shown, "Results")


def _check_certificate(certificate: Any) -> Certificate:
    if not isinstance(certificate, Certificate):
        raise TypeError(f"certificate must be a tacit.Certificate, and it is a {type(certificate).__name__}.")
    return certificate
