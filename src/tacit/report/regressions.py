"""What regressions found: what inputs add to the target, in each component, as pictures and as a table."""

from __future__ import annotations

from tacit.privacy import Certificate
from tacit.regressions import MissingCovariateRegression, MixtureOfRegressions
from tacit.report.cautions import Caution, budget_cautions, by_gravity, join_numbers, rows_needed
from tacit.report.components import weight_bars
from tacit.report.markup import Html, element, together
from tacit.report.numerals import plural, to_digits
from tacit.report.presentation import Pairs, Presentation, refuse_pairs
from tacit.report.regression_view import RegressionView
from tacit.report.slope_pictures import effects_picture, lines_picture
from tacit.report.slope_tables import coefficient_table
from tacit.report.tables import chip, chip_heads

_MOST_DOTS = 20  # Inputs in the picture of effects.
_MOST_LINES = 3  # Inputs whose lines are drawn.
_ONE = "{target} is explained by {inputs}, each weighed by its coefficient. All numbers are estimates with noise."
_SEVERAL = (
    "{target} is explained by {inputs}. There are {count} groups of rows, or components, in each of which inputs count "
    "in their own way; they are numbered from the largest. Which row is of which is not part of the result. All "
    "numbers are estimates with noise."
)
_STEPS = (
    "How much is added to {target} as a column of numbers grows by one standard deviation, by a level where the "
    "others would have their average, or by being true."
)
_CHOSEN = " Which columns matter was chosen privately; all others have coefficients of 0."
_CHOSEN_STEPS = (
    "How much is added to {target} as a column of numbers grows by one standard deviation, by a level rather than one "
    "that was not chosen, or by being true."
)
_WHISKERS = {
    "regressions": " Lines are 90% intervals, as if it were known which row is of which group.",
    "gaps": " Lines are 90% intervals, as if the covariance of inputs were known.",
}


def present(
    model: MixtureOfRegressions | MissingCovariateRegression, certificate: Certificate, pairs: Pairs
) -> Presentation:
    """Return what the page shows of a regression, or of a mixture of them."""
    refuse_pairs(pairs)
    view, gaps = RegressionView.of(model), isinstance(model, MissingCovariateRegression)
    several = view.count > 1
    return Presentation(
        f"{f'Mixture of {view.count} regressions' if several else 'Regression'} of {view.target}",
        view.input_columns + 1,
        view.ignored,
        regression_cautions(view, certificate),
        results(view, certificate, gaps=gaps),
        signal_rows="the rows of the smallest component" if several else "all rows",
        signal_proportion=float(view.weights.min()),
    )


def results(view: RegressionView, certificate: Certificate, *, gaps: bool) -> Html:
    """Return weights, pictures and a table of coefficients; `gaps` is whether cells of inputs could be missing."""
    several, chosen = view.count > 1, view.chosen_from is not None
    inputs = plural(view.input_columns, "input column")
    if chosen:
        inputs = f"{len(view.columns):,} of {inputs}"
    target = view.target[0].upper() + view.target[1:]
    about = (_SEVERAL if several else _ONE).format(count=view.count, target=target, inputs=inputs)
    return together(
        element("p", about + _CHOSEN * chosen),
        *(
            [element("h3", "How many rows belong to each"), weight_bars(view.weights, certificate.rows)]
            if several
            else []
        ),
        element("h3", f"What inputs add to {view.target}"),
        _effects(view, gaps=gaps),
        *_lines(view),
        element("h3", "Coefficients"),
        _table(view),
    )


def _effects(view: RegressionView, *, gaps: bool) -> Html:
    shown = view.strongest(_MOST_DOTS)
    if not shown:
        return element("p", "Nothing: every coefficient is zero.")
    caption = (_STEPS if view.chosen_from is None else _CHOSEN_STEPS).format(target=view.target)
    if view.errors is not None:
        caption += _WHISKERS["gaps" if gaps else "regressions"]
    if view.count > 1:
        caption += " Components stand one below the other, the first on top."
    if len(view.features) > len(shown):
        caption += f" Of {len(view.features):,} inputs, the {len(shown)} that add most are shown."
    return element(
        "figure",
        _legend(view) if view.count > 1 else None,
        effects_picture(view, shown, "effects", f"added to {view.target}"),
        element("figcaption", caption),
        class_="card single",
    )


def _legend(view: RegressionView) -> Html:
    chips = (element("li", chip(k), f" {weight:.0%} of rows") for k, weight in enumerate(view.weights.tolist()))
    return element("ul", *chips, class_="legend")


def _lines(view: RegressionView) -> list[Html]:
    shown = view.telling(_MOST_LINES)
    if not shown:
        return []
    figures = (element("figure", lines_picture(view, j, f"line{at}"), class_="card") for at, j in enumerate(shown))
    which = "in which components differ most" if view.count > 1 else "that add most"
    caption = (
        f"The columns of numbers {which}, over two standard deviations to both sides, while all others have their "
        f"average. About two thirds of {'a component’s' if view.count > 1 else 'the'} rows are within the shade."
    )
    return [
        element("h3", "How components respond" if view.count > 1 else f"How {view.target} responds"),
        element("div", *figures, class_="gallery"),
        element("p", caption, class_="small soft"),
    ]


def _table(view: RegressionView) -> Html:
    heads = chip_heads(view.count, "Component") if view.count > 1 else [element("th", "Coefficient", scope="col")]
    with_errors = "" if view.errors is None else ", with a standard error"
    caption = (
        f"What one more of an input adds to {view.target}, in the units of both{with_errors}. Blue adds and orange "
        "takes away, the stronger the more by one standard deviation. Residuals are those of what is left."
    )
    below = [
        ("Intercept", [to_digits(value) for value in view.intercepts.tolist()]),
        ("Residuals", [f"± {to_digits(value)}" for value in view.scales.tolist()]),
    ]
    return coefficient_table(view, heads, caption, below=below)


def regression_cautions(view: RegressionView, certificate: Certificate) -> list[Caution]:
    """Return all cautions about regressions, the gravest first."""
    cautions = budget_cautions(certificate)
    repeated = [group for group in view.copies() if len(group) > 1]
    if repeated:
        named = "; ".join(join_numbers(group) for group in repeated)
        text = (
            f"Components {named} are the same: the noise was too large to tell so many apart. Fewer components say as "
            "much."
        )
        cautions.append(Caution("warning", "Some components are copies", text))
    needed = rows_needed(certificate, len(view.features) + 1)
    if certificate.rows and certificate.rows * view.weights.min() < needed:
        text = (
            f"So much noise and so many inputs want some {needed:,.0f} rows for each regression, and one rests on "
            f"{certificate.rows * view.weights.min():,.0f}. Take coefficients as rough."
        )
        cautions.append(Caution("warning", "Coefficients rest on few rows beside the noise", text))
    return by_gravity(cautions)
