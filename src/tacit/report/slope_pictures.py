"""Pictures of linear predictions, as SVG: what inputs add to them, and how they respond to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.arrays import Array
from tacit.report.axes import Scale, Ticks, factor_ticks, frame, shorten, ticks
from tacit.report.linear_view import LinearView
from tacit.report.markup import Html, element
from tacit.report.numerals import factor, percent, to_digits
from tacit.report.pictures import badges, colour, curve_path, picture
from tacit.report.regression_view import RegressionView
from tacit.report.slopes_view import HALF_WIDTH, SlopesView, is_level, level_name, window_around

_LONGEST_NAME = 18  # Characters of a name beside a row.
_WIDTH, _LEFT = 400, 144.0  # Pixels of the picture, and where its plot begins.
_TALLEST = 15.0  # Pixels that the mark of one prediction takes up.
_TOP, _HEADING = 8.0, 19.0  # Pixels above the first row, and of a heading.
# Intervals end at most this far beyond the dots, relative to the width of the dots.
_MOST_BEYOND = 0.5
# Or at this multiple of the median half-width, if that is longer.
_MEDIAN_MULTIPLE = 1.5
_REACH = 2.0  # Standard deviations of an input that a picture takes in.
_POINTS = 61  # Points of a curve.
MOST_CURVES = 8  # Classes whose curves are drawn.
_UP = (258.0, 10.0)  # Pixels where the vertical axis begins and ends.
_PROBABILITIES = (0.0, 0.25, 0.5, 0.75, 1.0)  # Ticks where the vertical axis has probabilities.


class _Row(NamedTuple):
    """A row of a picture: a feature, or the name of the column above its levels; from one height to another."""

    name: str
    feature: int | None
    indent: float
    top: float
    bottom: float


def effects_picture(view: SlopesView, shown: list[int], key: str, label: str, *, factors: bool = False) -> Html:
    """Return a dot for each prediction and input: what a step of it adds, with its interval.

    Columns stand in the order of `shown`, the levels of one column together. Where `factors` is set, what is added is a
    logarithm, and the axis says what it multiplies by.
    """
    effects = view.effects
    reach = np.zeros_like(effects) if view.effect_errors is None else HALF_WIDTH * view.effect_errors
    x = _across(effects[:, shown], reach[:, shown])
    rows, stripes = _rows(view, shown)
    y = Scale(0.0, 1.0, rows[-1].bottom, _TOP)
    marks = factor_ticks(x.low, x.high) if factors else ticks(x.low, x.high)
    parts = [element("rect", x=0, y=top, width=_WIDTH, height=low - top, class_="outside") for top, low in stripes]
    parts += [_name(row) for row in rows]
    parts.append(frame(x, y, marks, Ticks((), ()), label, ""))
    parts.append(element("line", x1=x(0.0), x2=x(0.0), y1=y.start, y2=y.end, class_="axis"))
    for row in rows:
        if row.feature is not None:
            tall = min(_TALLEST, 44.0 / view.count)
            first = (row.top + row.bottom - tall * (view.count - 1)) / 2
            for k in range(view.count):
                value, error = float(effects[k, row.feature]), float(reach[k, row.feature])
                parts += _dot(x, value, error, first + tall * k, min(4.5, tall / 2), _tone(view, k, row.feature))
    words = "; ".join(
        f"{view.features[j].label} {' and '.join(_amount(float(each), factors) for each in effects[:, j])}"
        for j in shown[:8]
    )
    each = "one for each component" if view.count > 1 else "one for each input"
    size = (_WIDTH, round(y.start) + 48)
    return picture(key, size, f"{label[0].upper()}{label[1:]}", f"Dots, {each}: {words}.", *parts)


def lines_picture(view: RegressionView, feature: int, key: str) -> Html:
    """Return the line of each component over one input, the others at their averages, with one residual around it."""
    found = view.features[feature]
    ends = window_around(view.middles[feature], _REACH * view.steps[feature], found)
    groups = view.copies()
    lines, wide = view.at_average(feature, ends), view.scales[:, None]
    slopes = "; ".join(f"component {group[0] + 1} by {to_digits(view.slopes[group[0], feature])}" for group in groups)
    return _curves(
        key,
        (found.label, view.target),
        f"Lines: as {found.label} grows by 1, {view.target} changes in {slopes}.",
        _heights(lines - wide, lines + wide),
        ends,
        lines,
        groups,
        view.scales,
    )


def response_picture(view: LinearView, feature: int, key: str, beside: list[int]) -> Html:
    """Return what is predicted over one input, the others at their averages: the target, a score or probabilities.

    Pictures of the inputs `beside` have the same vertical axis, so that they can be compared.
    """
    found = view.features[feature]
    values = np.linspace(*view.window(feature), _POINTS)
    predicted = view.predict(feature, values)
    residual = 0.0 if view.residual is None else view.residual
    all_shown = np.concatenate([view.predict(j, view.window(j)) for j in [feature, *beside]], axis=1)
    likely = view.scale == "log odds"
    shown = percent if likely else to_digits
    names = [view.likelier(k) for k in range(view.count)] if view.count > 1 else [view.outcome]
    changes = "; ".join(
        f"{name} from {shown(float(curve[0]))} to {shown(float(curve[-1]))}" for name, curve in zip(names, predicted)
    )
    likelihood = "probability" if view.count > 1 else f"probability of {view.classes[-1]}" if likely else ""
    label = likelihood or ("score" if view.scale == "score" else view.target)
    return _curves(
        key,
        (found.label, label),
        f"As {found.label} goes from {to_digits(values[0])} to {to_digits(values[-1])}: {changes}.",
        Scale(0.0, 1.0, *_UP) if likely else _heights(all_shown - residual, all_shown + residual),
        values,
        predicted,
        [[int(k)] for k in np.sort(np.argsort(-predicted.max(axis=1), kind="stable")[:MOST_CURVES])],
        np.array([residual]) if residual else None,
        probabilities=likely,
        marks=view.marks,
    )


def _across(effects: Array, half_widths: Array) -> Scale:
    """Return the horizontal axis: all dots, and intervals unless they are much longer than that."""
    low, high = min(0.0, float(effects.min())), max(0.0, float(effects.max()))
    beyond = max(_MOST_BEYOND * (high - low), _MEDIAN_MULTIPLE * float(np.median(half_widths)))
    low, high = (
        max(float((effects - half_widths).min(initial=low)), low - beyond),
        min(float((effects + half_widths).max(initial=high)), high + beyond),
    )
    margin = 0.04 * (high - low) or 1.0
    return Scale(low - margin, high + margin, _LEFT, _WIDTH - 12.0)


def _rows(view: SlopesView, shown: list[int]) -> tuple[list[_Row], list[tuple[float, float]]]:
    """Return the rows, and of every other column from where to where it stands."""
    rows: list[_Row] = []
    stripes = []
    tall = min(_TALLEST, 44.0 / view.count) * view.count + (13.0 if view.count > 1 else 6.0)
    bottom = _TOP
    for place, (column, features) in enumerate(view.by_column(shown)):
        start, levels = bottom, is_level(view.features[features[0]])
        if levels:
            rows.append(_Row(column, None, 4.0, bottom, bottom := bottom + _HEADING))
        for j in features:
            name = level_name(view.features[j])
            rows.append(_Row(name, j, 14.0 if levels else 4.0, bottom, bottom := bottom + tall))
        if place % 2:
            stripes.append((start, bottom))
    return rows, stripes


def _name(row: _Row) -> Html:
    height = (row.top + row.bottom) / 2 + (5.5 if row.feature is None else 4.0)
    kind = "label" if row.indent < 10 else None
    return element(
        "text", element("title", row.name), shorten(row.name, _LONGEST_NAME), x=row.indent, y=height, class_=kind
    )


def _dot(x: Scale, value: float, error: float, height: float, radius: float, tone: str) -> list[Html]:
    """Return a dot and its interval, which ends in an arrow where the picture does."""
    dot = element("circle", cx=x(value), cy=height, r=radius, class_=f"dot {tone}")
    if not error:
        return [dot]
    left, right = max(x(value - error), x.start), min(x(value + error), x.end)
    line = f"M{left:.1f} {height:.1f}H{right:.1f}"
    if x(value - error) < x.start:
        line += f"M{left + 4:.1f} {height - 3.5:.1f}L{left:.1f} {height:.1f}l4 3.5"
    if x(value + error) > x.end:
        line += f"M{right - 4:.1f} {height - 3.5:.1f}L{right:.1f} {height:.1f}l-4 3.5"
    return [element("path", d=line, class_=f"whisker {tone}"), dot]


def _tone(view: SlopesView, k: int, j: int) -> str:
    """Return the colour of a dot: that of its component, or of a single one by its sign, grey if that is not sure."""
    if view.count > 1:
        return colour(k)
    return "rest" if not view.sure_effects[k, j] else "c1" if view.effects[k, j] > 0 else "c2"


def _amount(effect: float, factors: bool) -> str:
    return f"×{factor(effect)}" if factors else to_digits(effect)


def _heights(low: Array, high: Array) -> Scale:
    """Return a vertical axis that takes in all of these."""
    least, most = float(low.min()), float(high.max())
    margin = 0.04 * (most - least) or 1.0
    return Scale(least - margin, most + margin, *_UP)


def _curves(
    key: str,
    labels: tuple[str, str],
    words: str,
    y: Scale,
    values: Array,
    curves: Array,
    groups: list[list[int]],
    around: Array | None,
    *,
    probabilities: bool = False,
    marks: Sequence[str] = (),
) -> Html:
    """Return curves (K, values), with a shade around each; groups are of curves that are the same.

    Curves are called by their `marks`, or by their numbers.
    """
    x = Scale(float(values[0]), float(values[-1]), 62.0, 342.0)
    heights = Ticks(_PROBABILITIES, tuple(map(percent, _PROBABILITIES))) if probabilities else ticks(y.low, y.high)
    bands, paths = [], []
    for k, *_ in groups:
        if around is not None:
            corners = np.concatenate([curves[k] - around[k], (curves[k] + around[k])[::-1]])
            outline = curve_path(x, y, np.concatenate([values, values[::-1]]), corners)
            bands.append(element("path", d=f"{outline}Z", class_=f"area {colour(k)}", fill_opacity=0.16))
        paths.append(element("path", d=curve_path(x, y, values, curves[k]), class_=f"response {colour(k)}"))
    at = 0.95 * (len(values) - 1)
    reached = [float(np.interp(at, np.arange(len(values)), curves[k])) for k, *_ in groups]
    spots = np.array([[x.end - 14.0, y(height)] for height in reached])
    return picture(
        key,
        (360, 304),
        f"{labels[1]} against {labels[0]}",
        words,
        frame(x, y, ticks(x.low, x.high), heights, *labels),
        *bands,
        *paths,
        badges(spots, groups, x, y, marks) if len(curves) > 1 else None,
    )
