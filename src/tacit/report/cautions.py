"""What a reader should be warned of: judged from the certificate and the private parameters, never from rows.

Here is what the cautions of all models share. The cautions of each model stand beside the page that shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.mixture.component_estimates import ROWS_PER_COMPONENT
from tacit.privacy import Certificate
from tacit.report.feature_views import FeatureView
from tacit.report.numerals import join_words, plural, scientific, to_digits
from tacit.report.words import WEAK_EPSILON

Severity = Literal["danger", "warning", "note"]

_SEEDED = (
    "What this page says about protection is what the same fit would give without random_state. Fit again without it."
)
_MOST_NAMED = 6  # Things that a sentence names; of others it tells the number.


@dataclass(frozen=True)
class Caution:
    """Something to know before using the result."""

    severity: Severity
    title: str
    text: str


def budget_cautions(certificate: Certificate) -> list[Caution]:
    """Return the cautions that follow from the certificate alone, about a model of any kind."""
    budget, rows, cautions = certificate.budget, certificate.rows, []
    if certificate.seeded:
        cautions.append(Caution("danger", "Seeded noise protects nobody", _SEEDED))
    if certificate.peeked:
        cautions.append(Caution("danger", "Bounds were read from the rows", certificate.peeked_why()))
    proven = certificate.delta(budget.epsilon)
    if proven > budget.delta:
        text = f"At ε = {to_digits(budget.epsilon)} what was released is proven for δ = {scientific(proven)} only."
        cautions.append(Caution("danger", "The budget was not kept", text))
    if budget.epsilon > WEAK_EPSILON:
        text = (
            f"ε = {to_digits(budget.epsilon)} is above {WEAK_EPSILON:g}: the odds of a conclusion about somebody may "
            "change more than a thousandfold. Values of 1 or less are usual where people must not be recognised."
        )
        cautions.append(Caution("warning", "A large epsilon promises little", text))
    if rows is not None and budget.delta * rows >= 0.1:
        severity: Severity = "danger" if budget.delta * rows >= 1 else "warning"
        text = (
            f"δ = {scientific(budget.delta)} beside {plural(rows, 'row')}: a δ of 1 in {rows:,} allows publishing "
            f"somebody's row outright. Take at most {scientific(10.0 ** np.floor(np.log10(0.01 / rows)))}."
        )
        cautions.append(Caution(severity, "Delta is large for so many rows", text))
    elif rows is None and budget.delta > 1e-5:
        text = (
            f"The number of rows is not shown. δ = {scientific(budget.delta)} is small enough for tables of at most "
            f"some {0.1 / budget.delta:,.0f} rows; compare."
        )
        cautions.append(Caution("note", "Compare delta with the number of rows", text))
    return cautions


def by_gravity(cautions: list[Caution]) -> list[Caution]:
    """Return cautions with the gravest first."""
    return sorted(cautions, key=lambda caution: ("danger", "warning", "note").index(caution.severity))


def rows_needed(certificate: Certificate, columns: int) -> float:
    """Return how many rows it takes for that many columns to stand out of the noise, roughly: as mixtures need."""
    return ROWS_PER_COMPONENT * min((record.noise_scale for record in certificate.releases), default=0.0) * columns


def few_rows_caution(view: FeatureView, certificate: Certificate) -> list[Caution]:
    """Return one caution, if rows are too few for so many columns to stand out of the noise, or none."""
    needed = rows_needed(certificate, len(view.features))
    if certificate.rows is None or certificate.rows >= needed:
        return []
    text = (
        f"So much noise and so many columns want some {needed:,.0f} rows at least, and there are {certificate.rows:,}. "
        "Take what columns have in common as rough."
    )
    return [Caution("warning", "Rows are few beside the noise", text)]


def join_numbers(components: list[int]) -> str:
    """Write numbers of components, which count from 1 on a page."""
    return join_words([str(k + 1) for k in components])


def join_some(names: list[str]) -> str:
    """Write the first few names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return join_words([*names[:_MOST_NAMED], f"{more} more"] if more > 0 else names)
