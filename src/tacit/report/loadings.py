"""What factor analysis found: how columns go with factors, and how much factors explain."""

from __future__ import annotations

import numpy as np

from tacit.moments import FactorAnalysis
from tacit.privacy import Certificate
from tacit.report.cautions import Caution, budget_cautions, by_gravity, few_rows_caution, join_numbers, join_some
from tacit.report.feature_views import FactorView
from tacit.report.heat import Cell, heat_table
from tacit.report.markup import Html, element, together
from tacit.report.numerals import number, percent, plural
from tacit.report.pictures import colour
from tacit.report.presentation import Pairs, Presentation, refuse_pairs
from tacit.report.tables import chip_heads

_INTRODUCTION = (
    "A factor is something that is not in the table and that several columns go with. Factors are numbered from the "
    "one that stands out most; which way is up is a matter of taste. All numbers are estimates with noise."
)
_MOST = 40  # Features that a map of loadings shows.
_FAINT = 0.01  # A factor that explains a smaller part of the variance of all columns is named in a caution.
_NOTHING_OWN = 0.006  # Part of a column's variance; the least that a fit leaves to a column is 0.005.


def present(model: FactorAnalysis, certificate: Certificate, pairs: Pairs) -> Presentation:
    """Return what the page shows of factors."""
    refuse_pairs(pairs)
    view = FactorView.of(model)
    title = f"Factor analysis with {plural(view.loadings.shape[1], 'factor')}"
    return Presentation(title, len(view.columns), view.ignored, factor_cautions(view, certificate), results(view))


def results(view: FactorView) -> Html:
    """Return what factors explain, and a map of loadings."""
    return together(
        element("p", _INTRODUCTION),
        element("h3", "How much they explain"),
        _explained_variances(view),
        element("h3", "Which columns go with which factor"),
        _map(view),
    )


def _explained_variances(view: FactorView) -> Html:
    bars = [(str(k + 1), colour(k), explained) for k, explained in enumerate(view.explained.tolist())]
    bars.append(("rest", "rest", max(0.0, 1 - float(view.explained.sum()))))
    items = (
        element(
            "li",
            element("span", name, class_=f"badge-chip {kind}"),
            element("span", class_=f"bar {kind}", style=f"--share:{100 * explained:.1f}%"),
            element("span", percent(explained), class_="amount"),
        )
        for name, kind, explained in bars
    )
    caption = "Of the variance of all columns, each in its own units. The rest is what columns have of their own."
    return together(element("ol", *items, class_="card weights explained"), element("p", caption, class_="small soft"))


def _map(view: FactorView) -> Html:
    together_with = 1 - view.unique
    shown = np.argsort(-together_with, kind="stable")[:_MOST]
    main = np.abs(view.loadings).argmax(axis=1)  # Columns stand beside those that go with the same factor.
    shown = sorted(shown, key=lambda j: (main[j], -abs(view.loadings[j, main[j]])))
    head = [
        element("th", "Column", scope="col"),
        element("th", "Explained", scope="col"),
        *chip_heads(view.loadings.shape[1], "Factor"),
    ]
    rows = [
        (
            element("th", view.features[j].label, scope="row"),
            [element("td", percent(together_with[j]), class_="share", style=f"--share:{100 * together_with[j]:.1f}%")],
            [Cell(number(r, 2), r) for r in view.loadings[j].tolist()],
        )
        for j in shown
    ]
    caption = (
        "Correlation of each column with each factor, from −1 to 1: blue where they rise together, orange where one "
        "falls as the other rises. Explained is the share of a column's variance that all factors explain."
    )
    if len(view.features) > _MOST:
        caption += f" Of {len(view.features)} columns, the {_MOST} that factors explain best are shown."
    return heat_table(head, rows, caption)


def factor_cautions(view: FactorView, certificate: Certificate) -> list[Caution]:
    """Return all cautions about factors, the gravest first."""
    cautions = [*budget_cautions(certificate), *few_rows_caution(view, certificate)]
    alone = [feature.label for feature, unique in zip(view.features, view.unique) if unique < _NOTHING_OWN]
    if alone:
        text = (
            f"{join_some(alone)} {'has' if len(alone) == 1 else 'have'} no variance left that is not a factor's: a "
            "factor stands for such a column alone rather than for what columns share. Levels of one category do that, "
            "as one follows from the others. Fewer factors, or such columns left out, may say more."
        )
        cautions.append(Caution("warning", "A factor is all but a column", text))
    faint = [k for k, explained in enumerate(view.explained) if explained < _FAINT]
    if faint:
        text = (
            f"Factor {join_numbers(faint)} explain{'s' * (len(faint) == 1)} less than {percent(_FAINT)} of the "
            "variance. That much did not stand out of the noise; fewer factors say as much."
        )
        cautions.append(Caution("note", "Some factors explain next to nothing", text))
    return by_gravity(cautions)
