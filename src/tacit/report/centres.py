"""What k-means found: the centres of clusters, as pictures and as a table by column."""

from __future__ import annotations

import numpy as np

from tacit.clusters import KMeans
from tacit.privacy import Certificate
from tacit.report.cautions import Caution, budget_cautions, by_gravity, join_numbers, rows_needed
from tacit.report.feature_views import ClusterView
from tacit.report.heat import Cell, heat_table
from tacit.report.markup import Html, element, together
from tacit.report.numerals import number, percent, plural, to_digits
from tacit.report.pictures import centres_picture, range_strip
from tacit.report.presentation import MOST_PICTURES, Pairs, Presentation
from tacit.report.tables import chip_heads
from tacit.tables.features import Feature

_INTRODUCTION = (
    "A cluster is all that is nearer to its centre than to any other; they are numbered from the largest. All numbers "
    "are estimates with noise. How many rows each has is not part of the result."
)
_PICTURES = "Each number stands where that cluster's centre lies. Grey is outside the bounds."
_CENTRES = (
    "The centre of each cluster; of columns with levels, the share of rows with the level, or of those that are true. "
    "Blue is above the middle of all centres and orange below. The stronger the colour, the more a column tells "
    "clusters apart."
)

MOST_ROWS = 200  # Rows of a table by column; more would make the page slow.
_DECIDES = 0.95  # Proportion of the squared distances between centres from which one column decides the clusters.


def present(model: KMeans, certificate: Certificate, pairs: Pairs) -> Presentation:
    """Return what the page shows of clusters."""
    view = ClusterView.of(model)
    chosen = view.best_pairs(MOST_PICTURES) if pairs is None else [view.find_pair(pair) for pair in pairs]
    return Presentation(
        f"k-means with {plural(view.count, 'cluster')}",
        len(view.columns),
        view.ignored,
        cluster_cautions(view, certificate),
        results(view, chosen),
        signal_rows="the rows of an average cluster",
        signal_proportion=1 / view.count,
    )


def results(view: ClusterView, pairs: list[tuple[int, int]]) -> Html:
    """Return pictures and a table of the centres."""
    figures = (
        element("figure", centres_picture(view, i, j, f"pair{at}"), class_="card") for at, (i, j) in enumerate(pairs)
    )
    return together(
        element("p", _INTRODUCTION),
        *(
            [
                element("h3", "Where they lie"),
                element("div", *figures, class_="gallery"),
                element("p", _PICTURES, class_="small soft"),
            ]
            if pairs
            else []
        ),
        element("h3", plural(view.count, "centre")),
        _table(view),
    )


def feature_heading(feature: Feature) -> Html:
    """Return the heading of a feature's row: its name, what it means, and the range of a number."""
    hints = [feature.description] if feature.description else []
    if not feature.is_proportion:
        hints.append(f"{to_digits(feature.low)} to {to_digits(feature.high)}")
    return element("th", feature.label, *(element("small", hint) for hint in hints), scope="row")


def _table(view: ClusterView) -> Html:
    head = [
        *(element("th", title, scope="col") for title in ("Column", "Inside the bounds")),
        *chip_heads(view.count, "Cluster"),
    ]
    apart = np.argsort(-(view.standing**2).sum(axis=0), kind="stable")
    rows = []
    for j in np.sort(apart[:MOST_ROWS]):
        feature = view.features[j]
        strip = element("td", range_strip(feature.low, feature.high, view.centres[:, j]))
        cells = [Cell(_value(feature, value), heat) for value, heat in zip(view.centres[:, j], view.standing[:, j])]
        rows.append((feature_heading(feature), [strip], cells))
    caption = _CENTRES
    if len(view.features) > MOST_ROWS:
        caption += f" Of {len(view.features):,} columns, the {MOST_ROWS} that tell them apart most are shown."
    return heat_table(head, rows, caption)


def _value(feature: Feature, value: float) -> str:
    if feature.is_proportion:
        return percent(min(max(value, 0.0), 1.0))
    extent = feature.high - feature.low
    return number(value, 1) if 10 <= extent < 1000 else number(value, 0) if extent >= 1000 else to_digits(value)


def cluster_cautions(view: ClusterView, certificate: Certificate) -> list[Caution]:
    """Return all cautions about centres, the gravest first."""
    cautions = budget_cautions(certificate)
    repeated = [group for group in view.copies() if len(group) > 1]
    if repeated:
        named = "; ".join(join_numbers(group) for group in repeated)
        text = (
            f"Centres {named} are the same: the noise was too large to tell so many apart. Fewer clusters say as much."
        )
        cautions.append(Caution("warning", "Some centres are copies", text))
    needed = rows_needed(certificate, len(view.features))
    if certificate.rows and certificate.rows < needed * view.count:
        text = (
            f"So much noise and so many columns want some {needed:,.0f} rows for each cluster, and an average one has "
            f"{certificate.rows / view.count:,.0f}. Take centres as rough, or find fewer clusters."
        )
        cautions.append(Caution("warning", "Clusters rest on few rows beside the noise", text))
    column, proportion = view.deciding_column()
    if len(view.columns) > 1 and proportion > _DECIDES:
        text = (
            f"{percent(proportion)} of the distances between centres are in the column {column}. Distances are in the "
            "units of the columns, so a wide range weighs more; a schema, or columns in other units, lets others count."
        )
        cautions.append(Caution("note", "One column decides the clusters", text))
    return by_gravity(cautions)
