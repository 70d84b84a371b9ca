"""Pictures of regressions, as SVG: what inputs add to the target, and how components respond to one of them."""

from __future__ import annotations

import numpy as np

from tacit.report.axes import Scale, Ticks, frame, ticks
from tacit.report.markup import Html, element, together
from tacit.report.numerals import rounded
from tacit.report.pictures import badges, colour, curve_path, picture
from tacit.report.regression_view import RegressionView

_LONGEST_NAME = 22  # characters beside a row
_WIDTH = 460
_TALLEST, _GAP = 15.0, 13.0  # pixels of one component's mark, and between rows
_WHISKER = 2.0  # standard errors
_REACH = 2.0  # standard deviations of an input that a picture takes in


def effects_picture(view: RegressionView, shown: list[int], key: str) -> Html:
    """Return a dot for each component and input: what a step of it adds to the target, with two standard errors."""
    effects, errors = view.effects[:, shown], view.effect_errors
    reach = np.zeros_like(effects) if errors is None else _WHISKER * errors[:, shown]
    low, high = min(0.0, float((effects - reach).min())), max(0.0, float((effects + reach).max()))
    margin = 0.04 * (high - low) or 1.0
    mark = min(_TALLEST, 44.0 / view.count)
    tall = mark * view.count + _GAP
    bottom = 8.0 + tall * len(shown)
    x = Scale(low - margin, high + margin, 158.0, _WIDTH - 12.0)
    y = Scale(0.0, 1.0, bottom, 8.0)
    parts = []
    for row, j in enumerate(shown):
        top = 8.0 + row * tall
        if row % 2:
            parts.append(element("rect", x=0, y=top, width=_WIDTH, height=tall, class_="outside"))
        parts.append(_name(view.features[j].label, top + tall / 2 + 4))
    parts.append(frame(x, y, ticks(x.low, x.high), Ticks((), ()), f"added to {view.target}", ""))
    parts.append(element("line", x1=x(0.0), x2=x(0.0), y1=y.start, y2=y.end, class_="axis"))
    for row in range(len(shown)):
        for k in range(view.count):
            value, around = float(effects[k, row]), float(reach[k, row])
            height = 8.0 + row * tall + _GAP / 2 + mark * (k + 0.5)
            if around:
                ends = x(value - around), x(value + around)
                parts.append(
                    element("line", x1=ends[0], x2=ends[1], y1=height, y2=height, class_=f"whisker {colour(k)}")
                )
            parts.append(element("circle", cx=x(value), cy=height, r=min(4.5, mark / 2), class_=f"dot {colour(k)}"))
    words = "; ".join(
        f"{view.features[j].label} {' and '.join(rounded(float(each)) for each in effects[:, row])}"
        for row, j in enumerate(shown[:8])
    )
    return picture(
        key,
        (_WIDTH, round(bottom) + 48),
        f"What inputs add to {view.target}",
        f"Dots, one for each component: {words}.",
        *parts,
    )


def lines_picture(view: RegressionView, feature: int, key: str) -> Html:
    """Return the line of each component over one input, the others at their averages, with one residual around it."""
    found = view.features[feature]
    middle, reach = view.middles[feature], _REACH * view.steps[feature]
    ends = np.clip([middle - reach, middle + reach], found.low, found.high)
    if ends[0] == ends[1]:  # a mean at the very edge, or beyond
        ends = np.array([middle - reach, middle + reach])
    lines = view.at_average(feature, ends)
    around = view.scales[:, None]
    low, high = float((lines - around).min()), float((lines + around).max())
    margin = 0.04 * (high - low)
    x = Scale(float(ends[0]), float(ends[1]), 58.0, 350.0)
    y = Scale(low - margin, high + margin, 258.0, 10.0)
    groups = view.copies()
    bands, paths = [], []
    for group in groups:
        k = group[0]
        corners = np.concatenate([lines[k] - view.scales[k], (lines[k] + view.scales[k])[::-1]])
        outline = curve_path(x, y, np.concatenate([ends, ends[::-1]]), corners)
        bands.append(element("path", d=f"{outline}Z", class_=f"area {colour(k)}", fill_opacity=0.16))
        paths.append(element("path", d=curve_path(x, y, ends, lines[k]), class_=f"response {colour(k)}"))
    spots = np.array([[x.end - 14.0, y(float(np.interp(0.95, [0.0, 1.0], lines[group[0]])))] for group in groups])
    slopes = "; ".join(f"component {group[0] + 1} by {rounded(view.slopes[group[0], feature])}" for group in groups)
    return picture(
        key,
        (360, 304),
        f"{view.target} against {found.label}",
        f"Lines: as {found.label} grows by 1, {view.target} changes in {slopes}.",
        frame(x, y, ticks(x.low, x.high), ticks(y.low, y.high), found.label, view.target),
        *bands,
        *paths,
        badges(spots, groups, x, y) if view.count > 1 else None,
    )


def _name(text: str, height: float) -> Html:
    shown = text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
    return together(element("text", element("title", text), shown, x=148.0, y=height, text_anchor="end"))
