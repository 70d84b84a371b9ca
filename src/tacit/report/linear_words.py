"""Linear models in plain words: what goes with one more of an input, and how sure that is."""

from __future__ import annotations

import math

from tacit.report.centres import MOST_ROWS
from tacit.report.linear_view import LinearView
from tacit.report.numerals import factor, number, plural, to_digits
from tacit.report.slopes_view import HALF_WIDTH, is_level, level_name

_ROUND_UP = 1.5  # A step is told in the largest power of ten that is below this many steps.
_MOST_NAMED = 40  # Things that a sentence names; of others it tells the number.

STEPS = {
    "deviation": "grows by one standard deviation",
    "range": "goes from the lowest to the highest that is publicly possible",
    "one": "grows by 1",
}
STEP_NAMES = {"deviation": "One standard deviation", "range": "All of the public range", "one": "One more"}


def introduction(view: LinearView) -> str:
    """Return what the model is, in a few sentences."""
    inputs = plural(len(view.columns), "input column")
    if view.scale == "value":
        what = f"{_capital(view.target)} is explained by {inputs}, each weighed by its coefficient."
    elif view.scale == "score":
        what = (
            f"A score tells {view.likelier(1)} from {view.likelier(0)}: {inputs}, each weighed by its coefficient. "
            f"Above 0 it is taken to be {view.classes[1]}, below 0 {view.classes[0]}."
        )
    elif view.count == 1:
        what = (
            f"The odds of {view.likelier(1)} rather than {view.classes[0]} are explained by {inputs}, each weighed by "
            "its coefficient. Odds are p : (1 − p), where p is the probability. Coefficients add to their logarithm, "
            "so inputs multiply odds."
        )
    else:
        what = (
            f"Which of {len(view.classes)} classes a row is of is explained by {inputs}, each weighed by a coefficient "
            "for every class. Coefficients add to the logarithm of odds, so inputs multiply odds: those of a class "
            "beside all classes on average."
        )
    return (
        f"{what} A coefficient says what goes with an input while all others stay the same, not what causes what. All "
        "numbers are estimates with noise."
    )


def axis_label(view: LinearView) -> str:
    """Return what dots in the picture of effects are."""
    if view.scale == "value":
        return f"added to {view.target}"
    return f"added to the score of {view.classes[-1]}" if view.scale == "score" else f"odds of {view.classes[-1]}"


def picture_caption(view: LinearView, shown: int) -> str:
    """Return what there is to see in the picture of effects."""
    does = "odds are multiplied by" if view.scale == "log odds" else "is added"
    kinds = []
    if not all(each.is_proportion for each in view.features):
        kinds.append(f"if a column of numbers {STEPS[view.step]}")
    if view.levels():
        kinds.append("by a level rather than an average one" if view.levels_from_average else "by a level")
    if any(each.is_proportion and not is_level(each) for each in view.features):
        kinds.append("by being true")
    measured = " Standard deviations are those of most rows, with noise." if view.step == "deviation" else ""
    marks = "Dots" if view.count == 1 else "Cells"
    text = f"{marks} are what {does} {' or '.join(kinds)}.{measured} Blue is more and orange less."
    if view.errors is not None:
        if view.count == 1:
            text += f" Lines are 90% intervals, {interval_meaning(view)}; grey ones hold no change."
        else:
            text += " Cells without colour are not sure: no change is within their 90% intervals. These are "
            text += f"{interval_meaning(view)}."
        text += " Columns come in the order of what is sure."
    counting = len(view.features) - len(view.zeros)
    if counting > shown:
        text += (
            f" Of {counting:,} inputs, {shown} are drawn; the table has {'all' if counting <= MOST_ROWS else 'more'}."
        )
    return text


def interval_meaning(view: LinearView) -> str:
    """Return what intervals and standard errors of coefficients are for, as a part of a sentence."""
    plainly = "maximum likelihood" if view.scale == "log odds" else "least squares"
    return (
        f"for what {plainly} would find in the whole population that these rows are a sample of, sampling error and "
        "privacy noise both included"
    )


def reading(view: LinearView, k: int, j: int) -> tuple[str, str]:
    """Return an input and, in a sentence or two, what goes with it in prediction k.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(9000, 1)) * 1000.0
    >>> model = tacit.LinearRegression(bounds=50000, target_bounds=50, random_state=0)
    >>> view = LinearView.of(model.fit(X, 0.01 * X[:, 0] + np.random.default_rng(1).normal(size=9000)))
    >>> change, text = reading(view, 0, 0)
    >>> change, text[:69]
    ('column 1: 1,000 more', 'Goes with the target higher by 9.999 (90% interval: 9.953 to 10.044).')
    """
    feature = view.features[j]
    slope, step = float(view.slopes[k, j]), float(view.steps[j])
    unit = 1.0 if feature.is_proportion else 10.0 ** math.floor(math.log10(_ROUND_UP * step))
    error = None if view.errors is None else float(view.errors[k, j]) * unit
    other = _other_level(view, j)
    if other is not None:
        slope -= float(view.slopes[k, other])
        error = None if error is None else 2 * error  # Both levels are measured from half-way between them.
    text = _amount(view, k, slope * unit, error)
    if is_level(feature):
        change = f"{feature.column}: {level_name(feature)}"
        if other is None:
            text += _beside(view, j)
        else:
            change += f" rather than {level_name(view.features[other])}"
    elif feature.is_proportion:
        change = f"{feature.column}: true rather than false"
    else:
        change = f"{feature.column}: {to_digits(unit)} more"
        if view.step == "deviation":
            text += f". One standard deviation, {to_digits(step)} more: {_short(view, slope * step)}"
    return change, f"{text}."


def nothing(view: LinearView) -> str | None:
    """Return which inputs count for nothing, if any does."""
    if not view.zeros:
        return None
    names = [view.features[j].label for j in view.zeros]
    more = len(names) - _MOST_NAMED
    listed = ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    left = len(view.features) - len(names)
    return (
        f"The penalty leaves {plural(left, 'input')} of {len(view.features):,} that count{'s' * (left == 1)}. "
        f"The coefficients of all others are exactly zero: {listed}."
    )


def _amount(view: LinearView, k: int, added: float, error: float | None) -> str:
    """Return what is added, or what odds are multiplied by, with its interval."""
    if view.scale == "log odds":
        text = f"Goes with {factor(added)} times the odds of {view.likelier(k if view.count > 1 else -1)}"
        ends = None if not error else (factor(added - HALF_WIDTH * error), factor(added + HALF_WIDTH * error))
    else:
        decimals = None if not error else 1 - math.floor(math.log10(HALF_WIDTH * error))
        sizes = [abs(added), *([] if not error else [abs(added) - HALF_WIDTH * error, abs(added) + HALF_WIDTH * error])]
        shown = [to_digits(size) if decimals is None else number(round(size, decimals), decimals) for size in sizes]
        ends = None if not error else (shown[1], shown[2])
        text = f"Goes with {_target(view)} {'higher' if added > 0 else 'lower'} by {shown[0]}"
    return text if ends is None else f"{text} (90% interval: {ends[0]} to {ends[1]})"


def _other_level(view: LinearView, j: int) -> int | None:
    """Return the other of two levels, if their difference can be told, with its standard error if there are any."""
    pairs = [places for places in view.levels() if j in places and len(places) == 2]
    return sum(pairs[0]) - j if pairs and (view.levels_from_average or view.errors is None) else None


def _beside(view: LinearView, j: int) -> str:
    """Return what a level is compared with."""
    if view.levels_from_average:
        return ", compared with an average level"
    others = [i for i in view.zeros if view.features[i].column == view.features[j].column]
    return ", compared with levels that count for nothing" if others else ""


def _short(view: LinearView, added: float) -> str:
    if view.scale == "log odds":
        return f"{factor(added)} times the odds"
    return f"{to_digits(abs(added))} {'higher' if added > 0 else 'lower'}"


def _target(view: LinearView) -> str:
    return f"the score of {view.classes[-1]}" if view.scale == "score" else view.target


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
