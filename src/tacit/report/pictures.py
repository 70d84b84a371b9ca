"""Pictures of a private mixture and of its guarantee, as SVG that needs nothing else.

Colours are classes, `c1` to `c8`, that the style sheet defines for light and dark; every component is also labelled by
its number, so that nothing depends on telling colours apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Certificate
from tacit.report.axes import Scale, Ticks, frame, ticks
from tacit.report.feature_views import ClusterView
from tacit.report.markup import Html, element, together
from tacit.report.numerals import join_words, scientific, to_digits
from tacit.report.view import MixtureView, NumberColumn
from tacit.tables.features import Feature

COLOURS = 8  # Colours of the style sheet; components beyond begin again with the first.
_SHOWN = 2.1  # Standard deviations around every centre that a picture takes in.
_LABEL = 9.0  # Radius of a component's label, in pixels.
_LOWEST = -12  # The curve is drawn to this power of ten of delta, or to the budget's if that is smaller.


def colour(component: int) -> str:
    """Return the style class of a component's colour."""
    return f"c{component % COLOURS + 1}"


def pair_picture(view: MixtureView, first: NumberColumn, second: NumberColumn, key: str) -> Html:
    """Return ellipses of one and two standard deviations of every component over two columns.

    Parameters
    ----------
    view : MixtureView
    first, second : NumberColumn
        The columns on the horizontal and the vertical axis.
    key : str
        Unlike that of any other picture on the page.
    """
    x = Scale(*_window(view, first), 58.0, 350.0)
    y = Scale(*_window(view, second), 258.0, 10.0)
    places = [first.place, second.place]
    groups = view.copies()
    heaviest = max(view.weights[group].sum() for group in groups)
    ellipses = []
    for group in sorted(groups, key=lambda group: -view.weights[group].sum()):
        k, relative_weight = group[0], float(view.weights[group].sum() / heaviest)
        covariance = view.covariances[k][np.ix_(places, places)] * np.outer([x.unit, y.unit], [x.unit, y.unit])
        centre = (x(view.means[k, first.place]), y(view.means[k, second.place]))
        ellipses += [_ellipse(centre, covariance, size, k, relative_weight) for size in (2, 1)]
    centres = np.array([[x(m[first.place]), y(m[second.place])] for m in view.means[[group[0] for group in groups]]])
    words = "; ".join(
        f"component {_names(group)} around {to_digits(view.means[group[0], first.place])} and "
        f"{to_digits(view.means[group[0], second.place])}"
        for group in groups
    )
    return picture(
        key,
        (360, 304),
        f"{second.name} against {first.name}",
        f"Ellipses of one and two standard deviations, {first.name} across and {second.name} up: {words}.",
        element("clipPath", element("rect", x=x.start, y=y.end, width=292, height=248), id=f"{key}-plot"),
        _outside(x, y, first, second),
        frame(x, y, ticks(x.low, x.high), ticks(y.low, y.high), first.name, second.name),
        element("g", *ellipses, clip_path=f"url(#{key}-plot)"),
        badges(centres, groups, x, y),
    )


def centres_picture(view: ClusterView, i: int, j: int, key: str) -> Html:
    """Return where centres lie over two features that are numbers; `key` is unlike that of any other picture."""
    first, second = view.features[i], view.features[j]
    x = Scale(*_room(view.centres[:, i], first), 58.0, 350.0)
    y = Scale(*_room(view.centres[:, j], second), 258.0, 10.0)
    groups = view.copies()
    spots = np.array([[x(view.centres[group[0], i]), y(view.centres[group[0], j])] for group in groups])
    words = "; ".join(
        f"cluster {_names(group)} at {to_digits(view.centres[group[0], i])} and {to_digits(view.centres[group[0], j])}"
        for group in groups
    )
    return picture(
        key,
        (360, 304),
        f"{second.label} against {first.label}",
        f"Centres of clusters, {first.label} across and {second.label} up: {words}.",
        _outside(x, y, first, second),
        frame(x, y, ticks(x.low, x.high), ticks(y.low, y.high), first.label, second.label),
        badges(spots, groups, x, y),
    )


def density_picture(view: MixtureView, column: NumberColumn, key: str) -> Html:
    """Return the density of a single column: what each component adds to it, and their sum."""
    x = Scale(*_window(view, column), 30.0, 470.0)
    grid = np.linspace(x.low, x.high, 241)
    deviations = view.deviations(column.place)[:, None]
    z = (grid - view.means[:, column.place, None]) / deviations
    densities = view.weights[:, None] * np.exp(-(z**2) / 2) / deviations
    total = densities.sum(axis=0)
    y = Scale(0.0, float(total.max()) * 1.08, 238.0, 10.0)
    groups = view.copies()
    curves = [
        element(
            "path",
            d=curve_path(x, y, grid, densities[group].sum(axis=0), closed=True),
            class_=f"area {colour(group[0])}",
        )
        for group in groups
    ]
    tops = [(x(view.means[g[0], column.place]), y(densities[g].sum(axis=0).max())) for g in groups]
    return picture(
        key,
        (480, 284),
        f"Density of {column.name}",
        f"The density of {column.name}, and each component's share of it.",
        frame(x, y, ticks(x.low, x.high, 8), Ticks((), ()), column.name, "density"),
        *curves,
        element("path", d=curve_path(x, y, grid, total), class_="total"),
        badges(np.array(tops), groups, x, y),
    )


def range_strip(low: float, high: float, means: Array, deviations: Array | None = None) -> Html:
    """Return where in a public range means lie, with two standard deviations around them: for a cell of a table."""
    gap = 6 if len(means) <= 4 else 4
    x, height = Scale(low, high, 2.0, 138.0), gap * len(means) + 4
    inside = np.clip(
        [means, *([] if deviations is None else [means - 2 * deviations, means + 2 * deviations])], low, high
    )
    marks = []
    for k, (mean, *ends) in enumerate(inside.T.tolist()):
        y = gap * k + 5.0
        if ends:
            marks.append(element("line", x1=x(ends[0]), x2=x(ends[1]), y1=y, y2=y, class_=f"whisker {colour(k)}"))
        marks.append(element("circle", cx=x(mean), cy=y, r=2.4, class_=f"dot {colour(k)}"))
    track = element("path", d=f"M2 0V{height}M138 0V{height}", class_="axis")
    words = f"Where {'it lies' if len(means) == 1 else 'they lie'} between {to_digits(low)} and {to_digits(high)}"
    return element(
        "svg", track, *marks, viewBox=f"0 0 140 {height}", class_="strip", role="img", aria_label=f"{words}."
    )


def curve_picture(certificate: Certificate, key: str) -> Html:
    """Return delta as a function of epsilon, on a log scale, with the budget's point marked."""
    budget = certificate.budget
    epsilons, deltas = curve(certificate)
    lowest = lowest_power(certificate)
    x, y = Scale(0.0, float(epsilons[-1]), 60.0, 388.0), Scale(lowest, 0.0, 258.0, 12.0)
    logs = np.log10(np.maximum(deltas, 10.0 ** (lowest - 2)))
    powers = tuple(float(power) for power in range(lowest + lowest % 2, 1, 2 if lowest >= -16 else 4))
    marks = Ticks(powers, tuple("1" if power == 0 else scientific(10.0**power) for power in powers))
    at = (x(budget.epsilon), y(max(lowest, math.log10(budget.delta)) if budget.delta else lowest))
    # Above and to the right of its point, and of the whole falling curve, there is room for the label.
    where = f"ε = {to_digits(budget.epsilon)}, δ = {scientific(budget.delta)}"
    left = min(at[0] + 10, x.end - 7.5 * len(where))
    height = min(at[1], y(float(np.interp(left, [x(epsilon) for epsilon in epsilons], logs)))) - 10
    return picture(
        key,
        (400, 304),
        "Delta for every epsilon",
        f"A falling curve: the larger epsilon, the smaller the delta that is proven. The budget, {where}, is marked.",
        element("clipPath", element("rect", x=x.start, y=y.end, width=328, height=246), id=f"{key}-plot"),
        frame(x, y, ticks(0.0, x.high), marks, "ε, how much odds can change", "δ, what ε leaves out"),
        element("path", d=curve_path(x, y, epsilons, logs), class_="curve", clip_path=f"url(#{key}-plot)"),
        element("path", d=f"M{x.start:.1f} {at[1]:.1f}H{at[0]:.1f}V{y.start:.1f}", class_="guide"),
        element("circle", cx=at[0], cy=at[1], r=5.5, class_="budget"),
        element("text", where, x=left, y=max(height, y.end + 12), class_="mark"),
    )


def curve(certificate: Certificate) -> tuple[Array, Array]:
    """Return epsilons and deltas to draw, from 0 to beyond the budget."""
    epsilons, deltas = certificate.plan.curve()
    last = 1.15 * certificate.budget.epsilon
    return (epsilons, deltas) if epsilons[-1] >= last else certificate.plan.curve(np.linspace(0.0, last, 101))


def lowest_power(certificate: Certificate) -> int:
    """Return the least power of ten of delta to draw."""
    delta = certificate.budget.delta
    return min(_LOWEST, math.floor(math.log10(delta)) - 2) if delta else _LOWEST


def _window(view: MixtureView, column: NumberColumn) -> tuple[float, float]:
    """Return the part of an axis to show: all components, from the private parameters alone."""
    means, extents = view.means[:, column.place], _SHOWN * view.deviations(column.place)
    low, high = float((means - extents).min()), float((means + extents).max())
    margin = 0.04 * (high - low)  # A component may be all but a line at the edge.
    return low - margin, high + margin


def _room(centres: Array, feature: Feature) -> tuple[float, float]:
    """Return the part of an axis that shows all centres, with some room around them."""
    low, high = float(centres.min()), float(centres.max())
    margin = 0.15 * (high - low) or 0.05 * (feature.high - feature.low)
    return low - margin, high + margin


def _ellipse(centre: tuple[float, float], covariance: Array, size: int, component: int, relative_weight: float) -> Html:
    variances, directions = np.linalg.eigh(covariance)
    radii = size * np.sqrt(np.maximum(variances, 0.0))
    angle = math.degrees(math.atan2(directions[1, 1], directions[0, 1]))
    return element(
        "ellipse",
        rx=max(0.5, float(radii[1])),
        ry=max(0.5, float(radii[0])),
        transform=f"translate({centre[0]:.1f} {centre[1]:.1f}) rotate({angle:.1f})",
        class_=f"sigma{size} {colour(component)}",
        fill_opacity=round((0.08 if size == 2 else 0.12) + 0.16 * relative_weight, 2),
    )


def _outside(x: Scale, y: Scale, first: NumberColumn | Feature, second: NumberColumn | Feature) -> Html:
    """Return what lies outside the public range, shaded."""
    left, right = (min(max(x(v), x.start), x.end) for v in (first.low, first.high))
    bottom, top = (min(max(y(v), y.end), y.start) for v in (second.low, second.high))
    boxes = (
        (x.start, y.end, left - x.start, y.start - y.end),
        (right, y.end, x.end - right, y.start - y.end),
        (left, bottom, right - left, y.start - bottom),
        (left, y.end, right - left, top - y.end),
    )
    return together(
        *(
            element("rect", x=a, y=b, width=width, height=height, class_="outside")
            for a, b, width, height in boxes
            if width > 0.5 and height > 0.5
        )
    )


def badges(centres: Array, groups: list[list[int]], x: Scale, y: Scale, names: Sequence[str] = ()) -> Html:
    """Return components' numbers, or short names, at their centres, moved apart where they would cover each other."""
    low, high = np.array([x.start, y.end]) + _LABEL, np.array([x.end, y.start]) - _LABEL
    spots = np.clip(centres, low, high) + 1e-3 * np.arange(2 * len(centres)).reshape(-1, 2)
    for _ in range(60):
        for i in range(len(spots)):
            for j in range(i):
                apart = spots[i] - spots[j]
                distance = float(np.hypot(*apart))
                missing = 2 * _LABEL + 2 - distance
                if missing > 0:
                    # Two that were cut off at the same corner are moved apart up and down.
                    push = (apart / distance if distance else np.array([0.0, 1.0])) * missing / 2
                    spots[i] += push
                    spots[j] -= push
        spots = np.clip(spots, low, high)
    marks = []
    for centre, spot, group in zip(centres, spots, groups):
        name = names[group[0]] if names else str(group[0] + 1) if len(group) == 1 else f"{group[0] + 1}+"
        if np.hypot(*(centre - spot)) > 2:
            line = f"M{centre[0]:.1f} {centre[1]:.1f}L{spot[0]:.1f} {spot[1]:.1f}"
            marks.append(element("path", d=line, class_=f"leader {colour(group[0])}"))
        marks += [
            element(
                "circle",
                cx=float(spot[0]),
                cy=float(spot[1]),
                r=_LABEL + len(name) // 3 * 3,
                class_=f"badge {colour(group[0])}",
            ),
            element("text", name, x=float(spot[0]), y=float(spot[1]) + 4, text_anchor="middle", class_="badge-text"),
        ]
    return together(*marks)


def _names(group: list[int]) -> str:
    return join_words([str(k + 1) for k in group])


def curve_path(x: Scale, y: Scale, xs: Array, ys: Array, closed: bool = False) -> str:
    """Return straight lines from point to point, as a path has them; closed ones go down to the axis."""
    points = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in zip(xs, ys))
    return f"M{points}" + (f"V{y.start:.1f}H{x.start:.1f}Z" if closed else "")


def picture(key: str, size: tuple[int, int], title: str, description: str, *parts: Html | None) -> Html:
    """Return a picture with a title and words for those who cannot see it; `key` is unlike that of any other."""
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", description, id=f"{key}-words"),
        *parts,
        viewBox=f"0 0 {size[0]} {size[1]}",
        class_="picture",
        role="img",
        aria_labelledby=f"{key}-title {key}-words",
    )
