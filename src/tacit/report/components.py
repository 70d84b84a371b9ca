"""What was found: the components' weights, pictures, and tables by column."""

from __future__ import annotations

from tacit.arrays import Array
from tacit.mixture import GaussianMixture
from tacit.privacy import Certificate
from tacit.report.markup import Html, element, together
from tacit.report.mixture_cautions import mixture_cautions
from tacit.report.numerals import percent, plural, spread, to_digits
from tacit.report.pictures import colour, density_picture, pair_picture, range_strip
from tacit.report.presentation import MOST_PICTURES, Pairs, Presentation
from tacit.report.tables import chip, chip_heads, region
from tacit.report.view import LevelColumn, MixtureView, Pair

_INTRODUCTION = (
    "A component is a group of rows that are alike; they are numbered from the heaviest. All numbers are estimates "
    "with noise."
)


def present(model: GaussianMixture, certificate: Certificate, pairs: Pairs) -> Presentation:
    """Return what the page shows of a mixture."""
    view = MixtureView.of(model)
    chosen = view.best_pairs(MOST_PICTURES) if pairs is None else [view.find_pair(pair) for pair in pairs]
    return Presentation(
        f"Gaussian mixture of {plural(view.count, 'component')}",
        len(view.columns),
        view.ignored,
        mixture_cautions(view, certificate),
        results(view, certificate, chosen),
        signal_rows="the rows of the smallest component",
        signal_proportion=float(view.weights.min()),
    )


def results(view: MixtureView, certificate: Certificate, pairs: list[Pair]) -> Html:
    """Return weights, pictures and tables of the fitted components."""
    return together(
        element("p", _INTRODUCTION),
        element("h3", "How many rows belong to each"),
        weight_bars(view.weights, certificate.rows),
        *_outliers(view, certificate.rows),
        *_pictures(view, pairs),
        *([element("h3", "Columns of numbers"), _numbers_table(view)] if view.numbers else []),
        *([element("h3", "Columns with levels"), _levels_table(view)] if len(view.numbers) < len(view.columns) else []),
    )


def weight_bars(weights: Array, rows: int | None) -> Html:
    """Return bars as long as components are heavy."""
    items = (
        element(
            "li",
            chip(k),
            element("span", class_=f"bar {colour(k)}", style=f"--share:{100 * weight / weights.max():.1f}%"),
            element(
                "span",
                f"{weight:.1%}",
                element("small", f" ≈ {rows * weight:,.0f} rows") if rows else None,
                class_="amount",
            ),
        )
        for k, weight in enumerate(weights.tolist())
    )
    return element("ol", *items, class_="card weights")


def _outliers(view: MixtureView, rows: int | None) -> list[Html]:
    if view.outliers is None:
        return []
    weight = view.outliers.weight
    many = f", some {rows * weight:,.0f}," if rows else ""
    text = (
        f"{weight:.1%} of the rows{many} are outliers: no component explains them, and they count as one wide group of "
        "their own. The shares above are those of all other rows."
    )
    return [element("p", text, class_="small soft")]


def _pictures(view: MixtureView, pairs: list[Pair]) -> list[Html]:
    if len(view.numbers) == 1:
        picture = density_picture(view, view.numbers[0], "density")
        caption = "The line is the density of all rows; each shade is one component's share of it."
        return [
            element("h3", "Where they lie"),
            element("figure", picture, element("figcaption", caption), class_="card single"),
        ]
    if not pairs:
        return []
    figures = (
        element("figure", pair_picture(view, view.numbers[i], view.numbers[j], f"pair{at}"), class_="card")
        for at, (i, j) in enumerate(pairs)
    )
    caption = (
        "Solid ellipses reach one standard deviation from a component's centre and hold 39% of its rows; dashed ones "
        "reach two and hold 86%. Heavier components are drawn darker. Grey is outside the bounds."
    )
    return [
        element("h3", "Where they lie"),
        element("div", *figures, class_="gallery"),
        element("p", caption, class_="small soft"),
    ]


def _numbers_table(view: MixtureView) -> Html:
    """Return mean ± standard deviation of each column of numbers in each component."""
    rows = []
    for column in view.numbers:
        overall = view.overall(column.place)
        means, deviations = view.means[:, column.place], view.deviations(column.place)
        rows.append(
            element(
                "tr",
                _heading(column.name, column.description, f"{to_digits(column.low)} to {to_digits(column.high)}"),
                element(
                    "td",
                    range_strip(column.low, column.high, means, deviations),
                ),
                *(_spread(mean, deviation, overall[1]) for mean, deviation in [*zip(means, deviations), overall]),
            )
        )
    caption = "Mean, and ± one standard deviation within the component. Strips show two of them, inside the bounds."
    return _by_component(view, caption, ["Inside the bounds"], rows)


def _levels_table(view: MixtureView) -> Html:
    """Return the proportion of each level in each component."""
    rows = []
    for column in view.columns:
        if not isinstance(column, LevelColumn):
            continue
        proportions = view.level_proportions(column).T
        if column.boolean:  # The proportion of true says it all.
            heading = _heading(column.name, column.description)
            rows.append(element("tr", heading, *_percent_cells(proportions[0].tolist())))
            continue
        heading = _heading(column.name, column.description, colspan=view.count + 2)
        rows.append(element("tr", heading, class_="head"))
        for level, cells in zip(column.levels, proportions.tolist()):
            rows.append(element("tr", element("th", level, scope="row"), *_percent_cells(cells), class_="level"))
    return _by_component(view, "Share of rows with each level; for columns of true and false, of true.", [], rows)


def _by_component(view: MixtureView, caption: str, before: list[str], rows: list[Html]) -> Html:
    head = element(
        "tr",
        *(element("th", title, scope="col") for title in ["Column", *before]),
        *chip_heads(view.count, "Component"),
        element("th", "All rows", scope="col"),
    )
    content = element("table", element("thead", head), element("tbody", *rows), class_="by-component")
    return together(element("p", caption, class_="small soft"), region(content, caption))


def _heading(name: str, *hints: str, colspan: int | None = None) -> Html:
    scope = "row" if colspan is None else "rowgroup"
    return element("th", name, *(element("small", hint) for hint in hints if hint), scope=scope, colspan=colspan)


def _spread(mean: float, deviation: float, extent: float) -> Html:
    centre, within = spread(mean, deviation, extent)
    return element("td", centre, " ", element("span", f"± {within}", class_="within"), class_="tight")


def _percent_cells(proportions: list[float]) -> list[Html]:
    last = len(proportions) - 1
    return [
        element(
            "td",
            percent(each),
            class_="share" if k == last else f"share {colour(k)}",
            style=f"--share:{100 * each:.1f}%",
        )
        for k, each in enumerate(proportions)
    ]
