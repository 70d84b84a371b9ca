"""What linear models found: in words, as a picture of what inputs add, as responses, and as tables."""

from __future__ import annotations

import numpy as np

from tacit.privacy import Certificate
from tacit.report.cautions import Caution, budget_cautions, by_gravity
from tacit.report.heat import Cell, heat_table
from tacit.report.linear_view import LinearKind, LinearView
from tacit.report.linear_words import (
    STEP_NAMES,
    STEPS,
    axis_label,
    introduction,
    nothing,
    picture_caption,
    reading,
)
from tacit.report.markup import Html, element, together
from tacit.report.numerals import factor, to_digits
from tacit.report.presentation import Pairs, Presentation, refuse_pairs
from tacit.report.slope_pictures import MOST_CURVES, effects_picture, response_picture
from tacit.report.slope_tables import Column, coefficient_table, input_heading
from tacit.report.slopes_view import is_level, level_name
from tacit.report.tables import chip, terms

_MOST_DOTS = 30  # Inputs in the picture of effects, or in the map of classes.
_MOST_LINES = 3  # Inputs whose own curve is drawn.
_MOST_READ = 6  # Columns whose strongest effect is put into words.
_MANY_INPUTS = 10  # Inputs from which it is worth a caution that most are unclear.
# Rows per input, at epsilon 1, from which intervals hold the truth as they should. benchmarks/linear_regression.py
# measures how often they do.
_ROWS_TO_TELL_INPUTS = 100


def present(
    model: LinearKind, certificate: Certificate, pairs: Pairs, *, name: str, why_no_errors: str
) -> Presentation:
    """Return what the page shows of a linear model.

    `name` is how the page calls it; `why_no_errors` is what a caution says if coefficients have no standard errors.
    """
    refuse_pairs(pairs)
    view = LinearView.of(model)
    weighted = getattr(model, "class_weight", None) is not None
    return Presentation(
        f"{name} of {view.outcome if view.count == 1 else view.target}",
        len(view.columns) + 1,
        view.ignored,
        linear_cautions(view, certificate, why_no_errors, weighted=weighted),
        results(view),
    )


def results(view: LinearView) -> Html:
    """Return words, pictures and tables of coefficients."""
    without = nothing(view)
    return together(
        element("p", introduction(view)),
        element("h3", _title(view)),
        *(
            [_map(view), _readings(view)]
            if view.count > 1
            else [element("div", _picture(view), _readings(view), class_="columns")]
        ),
        *_responses(view),
        element("h3", "Coefficients"),
        _table(view),
        element("p", without, class_="small soft") if without else None,
    )


def _title(view: LinearView) -> str:
    if view.scale == "log odds":
        return "How inputs change the odds"
    return f"What inputs add to {view.target}" if view.scale == "value" else "What inputs add to the score"


def _readings(view: LinearView) -> Html:
    """Return sentences about the strongest inputs, one for each column, of which it is sure that they count."""
    columns: dict[str, tuple[int, int]] = {}
    sure = view.sure_effects
    for j in view.strongest(len(view.features)):
        k = int(sure[:, j].argmax())
        if sure[k, j]:
            columns.setdefault(view.features[j].column, (k, j))
        if len(columns) == _MOST_READ:
            break
    title = element("h3", "The strongest, in words", class_="first")
    if not columns:
        unsure = "every 90% interval holds zero" if view.errors is not None else "every coefficient is zero"
        return element("div", title, element("p", f"No input can be said to count: {unsure}."), class_="card aside")
    return element("div", title, terms([reading(view, k, j) for k, j in columns.values()]), class_="card aside")


def _picture(view: LinearView) -> Html:
    shown = view.strongest(_MOST_DOTS)
    if not shown:
        return element("p", "Nothing: every coefficient is zero.")
    picture = effects_picture(view, shown, "effects", axis_label(view), factors=view.scale == "log odds")
    return element("figure", picture, element("figcaption", picture_caption(view, len(shown))), class_="card single")


def _heads(view: LinearView) -> list[Html]:
    return [
        element("th", chip(k, mark), None if mark == label else f" {label}", scope="col", class_="class")
        for k, (mark, label) in enumerate(zip(view.marks, view.classes))
    ]


def _map(view: LinearView) -> Html:
    """Return the odds of each class as a map, the levels of a column together."""
    shown = view.strongest(_MOST_DOTS)
    sure, strongest = view.sure_effects, float(np.abs(view.effects).max()) or 1.0
    rows = []
    for column, places in view.by_column(shown):
        levels = is_level(view.features[places[0]])
        if levels:
            rows.append((element("th", column, scope="rowgroup", colspan=1 + view.count, class_="group"), [], []))
        for j in places:
            heading = (
                input_heading(view, j)
                if not levels
                else element("th", level_name(view.features[j]), scope="row", class_="level")
            )
            heat = np.where(sure[:, j] > 0, view.effects[:, j] / strongest, 0.0).tolist()
            texts = [f"×{factor(effect)}" for effect in view.effects[:, j].tolist()]
            rows.append((heading, [], [Cell(text, each) for text, each in zip(texts, heat)]))
    return heat_table([element("th", "Input", scope="col"), *_heads(view)], rows, picture_caption(view, len(shown)))


def _responses(view: LinearView) -> list[Html]:
    shown = view.numbers(_MOST_LINES)
    if not shown:
        return []
    figures = (
        element("figure", response_picture(view, j, f"line{at}", shown), class_="card") for at, j in enumerate(shown)
    )
    over = "over two standard deviations to both sides" if view.step == "deviation" else "over their public ranges"
    caption = f"The columns of numbers that count most, {over}, while all others have their average."
    if view.residual is not None:
        caption += " About two thirds of rows are within the shade."
    if view.scale == "score":
        caption += f" Above 0 it is taken to be {view.classes[1]}, below 0 {view.classes[0]}."
    if view.count > 1:
        caption += " Curves are marked as classes are above."
    if view.count > MOST_CURVES:
        caption += f" Of {view.count:,} classes, the {MOST_CURVES} that are likeliest there are drawn."
    return [
        element("h3", "What would be predicted"),
        element("div", *figures, class_="gallery"),
        element("p", caption, class_="small soft"),
    ]


def _table(view: LinearView) -> Html:
    adds = {"value": f"added to {view.target}", "log odds": "added to log odds", "score": "added to the score"}
    with_errors = "" if view.errors is None else ", with a standard error"
    caption = f"What one more of an input adds, in its units{with_errors}."
    if view.levels():
        caption += " Levels count from their average." if view.levels_from_average else ""
    below = [("Intercept", [to_digits(value) for value in view.intercepts.tolist()])]
    if view.residual is not None:
        below.append(("Residuals", [f"± {to_digits(view.residual)}"]))
    if view.count > 1:
        return coefficient_table(view, _heads(view), caption, below=below)
    odds, effects = view.scale == "log odds", view.effects[0].tolist()
    step = Column(
        "Odds times, by a step" if odds else STEP_NAMES[view.step],
        lambda j: factor(effects[j]) if odds else "" if view.features[j].is_proportion else to_digits(effects[j]),
    )
    caption += f" A step: a column of numbers {STEPS[view.step]}; or a level, or true." if odds else ""
    heads = [element("th", f"One more, {adds[view.scale]}", scope="col")]
    same = view.step == "one" and not odds
    return coefficient_table(view, heads, caption, beside=[] if same else [step], below=below)


def linear_cautions(view: LinearView, certificate: Certificate, why_no_errors: str, *, weighted: bool) -> list[Caution]:
    """Return all cautions about a linear model, the gravest first.

    `why_no_errors` is what to say if there are none; `weighted` is whether classes were given weights.
    """
    cautions = budget_cautions(certificate)
    needed = _ROWS_TO_TELL_INPUTS * len(view.features) / certificate.budget.epsilon
    if certificate.rows and certificate.rows < needed:
        text = (
            f"At this ε, so many inputs want some {needed:,.0f} rows, and there are {certificate.rows:,}. Inputs that "
            "go together can hardly be told apart. "
        )
        text += "Take coefficients as rough." if view.errors is None else "Intervals may be too narrow."
        cautions.append(Caution("warning", "Rows are few beside the noise", text))
    elif certificate.rows is None:
        text = (
            f"The number of rows is not shown. At this ε, so many inputs want some {needed:,.0f} rows; with fewer, "
            "inputs that go together can hardly be told apart, and "
        )
        text += "coefficients are rough." if view.errors is None else "intervals may be too narrow."
        cautions.append(Caution("note", "Compare inputs with the number of rows", text))
    if view.errors is None:
        cautions.append(Caution("note", "Coefficients have no standard errors", why_no_errors))
    else:
        unclear = int((~(view.sure_effects > 0).any(axis=0)).sum())
        if len(view.features) >= _MANY_INPUTS and unclear > len(view.features) / 2:
            text = (
                f"Of {len(view.features):,} inputs, {unclear:,} cannot be told from having no effect: their 90% "
                "intervals hold zero. Among so many, about one interval in ten misses the truth."
            )
            cautions.append(Caution("note", "Most inputs may count for nothing", text))
    if weighted:
        text = (
            "Rows of some classes count for more than others. Odds and probabilities are those of a table with that "
            "many more of them, not of this one."
        )
        cautions.append(Caution("note", "Classes were given weights", text))
    return by_gravity(cautions)
