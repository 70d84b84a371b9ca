"""What moments found: means, standard deviations and correlations."""

from __future__ import annotations

import numpy as np

from tacit.moments import Moments
from tacit.privacy import Certificate
from tacit.report.cautions import Caution, budget_cautions, by_gravity, few_rows_caution
from tacit.report.centres import MOST_ROWS, feature_heading
from tacit.report.feature_views import MomentsView
from tacit.report.heat import Cell, heat_table
from tacit.report.markup import Html, element, together
from tacit.report.numerals import number, percent, plural, spread
from tacit.report.pictures import range_strip
from tacit.report.presentation import Pairs, Presentation, refuse_pairs
from tacit.report.tables import region, table

_INTRODUCTION = (
    "Mean and covariance are what many models are made of; whatever is computed from them costs no more privacy. All "
    "numbers are estimates with noise."
)
_MOST = 20  # Features that a map of correlations shows.
_LISTED = 10  # Correlations in the list of the strongest.
_WORTH_TELLING = 0.05  # Correlations below this are not listed.


def present(model: Moments, certificate: Certificate, pairs: Pairs) -> Presentation:
    """Return what the page shows of moments."""
    refuse_pairs(pairs)
    view = MomentsView.of(model)
    title = f"Mean and covariance of {plural(len(view.columns), 'column')}"
    return Presentation(title, len(view.columns), view.ignored, moment_cautions(view, certificate), results(view))


def results(view: MomentsView) -> Html:
    """Return a map of correlations, the strongest of them, and means by column."""
    parts = [element("p", _INTRODUCTION)]
    if len(view.features) > 1:
        parts += [element("h3", "Which columns go together"), _map(view)]
    strongest = [pair for pair in view.strongest(_LISTED) if abs(pair[2]) >= _WORTH_TELLING]
    if strongest:
        rows = [[view.features[i].label, view.features[j].label, number(r, 2)] for i, j, r in strongest]
        pairs = table(["Column", "and column", "Correlation"], rows, words_in=(1,), class_="brief")
        parts += [element("h3", "The strongest correlations"), region(pairs, "The strongest correlations")]
    return together(*parts, element("h3", "Means"), _means(view))


def _map(view: MomentsView) -> Html:
    count = len(view.features)
    strength = np.abs(view.correlations - np.eye(count)).max(axis=1)
    shown = np.sort(np.argsort(-strength, kind="stable")[:_MOST])
    caption = (
        "Correlations, from −1 to 1: blue where columns rise together, orange where one falls as the other rises. The "
        "numbers above stand for the rows' names."
    )
    if count > _MOST:
        caption += f" Of {count} columns, the {_MOST} that go together most are shown."
    rows = []
    for place, i in enumerate(shown):
        cells = [Cell("", 0.0) if i == j else _correlation(view.correlations[i, j]) for j in shown]
        number_ = element("span", str(place + 1), class_="place")
        name = element("span", view.features[i].label)
        rows.append((element("th", number_, name, scope="row"), [], cells))
    names = (view.features[i].label for i in shown)
    heads = (element("th", str(k + 1), scope="col", title=name, aria_label=name) for k, name in enumerate(names))
    return heat_table([element("th", "Column", scope="col"), *heads], rows, caption, class_="by-component hot matrix")


def _correlation(value: float) -> Cell:
    """Return a correlation as papers write it, without the 0 before the point, so that many have room."""
    text = number(value, 2)
    return Cell(text if abs(value) >= 0.995 else text.replace("0.", "."), value)


def _means(view: MomentsView) -> Html:
    rows = []
    for feature, mean, deviation in list(zip(view.features, view.means, view.deviations))[:MOST_ROWS]:
        if feature.is_proportion:
            shown = element("td", percent(min(max(mean, 0.0), 1.0)))
            strip = range_strip(0.0, 1.0, np.array([mean]))
        else:
            centre, within = spread(mean, deviation, deviation)
            shown = element("td", centre, " ", element("span", f"± {within}", class_="within"), class_="tight")
            strip = range_strip(feature.low, feature.high, np.array([mean]), np.array([deviation]))
        rows.append((feature_heading(feature), [element("td", strip), shown], []))
    caption = (
        "Mean, and ± one standard deviation; of columns with levels, the share of rows with the level, or of those "
        "that are true. Strips show two standard deviations, inside the bounds."
    )
    if len(view.features) > MOST_ROWS:
        caption += f" Of {len(view.features):,} columns, the first {MOST_ROWS} are shown."
    head = [element("th", title, scope="col") for title in ("Column", "Inside the bounds", "Mean")]
    return heat_table(head, rows, caption, class_="by-component hot brief")


def moment_cautions(view: MomentsView, certificate: Certificate) -> list[Caution]:
    """Return all cautions about moments, the gravest first."""
    return by_gravity([*budget_cautions(certificate), *few_rows_caution(view, certificate)])
