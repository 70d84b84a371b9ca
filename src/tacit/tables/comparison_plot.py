"""The picture of a comparison, with matplotlib (the extra ``plot``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.tables.differences import ColumnDifference, PairDifference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REAL, _SYNTHETIC = "#8a8f98", "#d1661f"
_ACROSS = 4  # The number of panels side by side.
_MOST_LEVELS = 12  # The number of levels that are shown, the most frequent ones.
_LONGEST = 14  # The number of letters of a name that are shown.


def draw(columns: Sequence[ColumnDifference], pairs: Sequence[PairDifference]) -> Figure:
    """Return a figure: a panel for each column, and below them a map of pairs."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Plots are drawn with matplotlib, which is not installed. Run: pip install 'tacit[plot]'."
        ) from None
    down = math.ceil(len(columns) / _ACROSS)
    side = min(9.0, 3.0 + 0.35 * len(columns)) if pairs else 0.0
    figure = Figure(figsize=(3.1 * _ACROSS, 2.4 * down + side + 0.6), layout="constrained")
    warning = "NOT PRIVATE: drawn from the real rows, without noise. Do not publish."
    figure.suptitle(warning, color="#b00020", fontsize=11)
    top, *bottom = figure.subfigures(2 if pairs else 1, 1, height_ratios=[2.4 * down, side][: 2 if pairs else 1],
                                     squeeze=False)[:, 0]  # fmt: skip
    top.suptitle("Columns, and the total variation between their distributions", fontsize=10)
    panels = top.subplots(down, _ACROSS, squeeze=False).ravel()
    for axes, column in zip(panels, columns):
        _distribution(axes, column)
    for axes in panels[len(columns) :]:
        axes.axis("off")
    panels[0].legend(fontsize=8, frameon=False)
    if pairs:
        _map(bottom[0], [column.column for column in columns], pairs)
    return figure


def _distribution(axes: Any, column: ColumnDifference) -> None:
    if isinstance(column.labels, np.ndarray):
        axes.stairs(column.real, column.labels, fill=True, color=_REAL, alpha=0.6, label="real")
        axes.stairs(column.synthetic, column.labels, color=_SYNTHETIC, linewidth=1.6, label="synthetic")
    else:
        order = np.argsort(-(column.real + column.synthetic), kind="stable")[:_MOST_LEVELS]
        places = np.arange(len(order))
        axes.bar(places - 0.2, column.real[order], 0.4, color=_REAL, alpha=0.6, label="real")
        axes.bar(places + 0.2, column.synthetic[order], 0.4, color=_SYNTHETIC, label="synthetic")
        words = [_short(column.labels[i]) for i in order]
        slanted = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if max(map(len, words)) > 5 else {}
        axes.set_xticks(places, words, fontsize=7, **slanted)
    axes.set_title(f"{_short(column.column, 24)}: {column.total_variation:.2f}", fontsize=9)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _map(part: Any, names: list[str], pairs: Sequence[PairDifference]) -> None:
    place = {name: i for i, name in enumerate(names)}
    off = np.full((len(names), len(names)), np.nan)
    for pair in pairs:
        i, j = (place[name] for name in pair.columns)
        off[i, j] = off[j, i] = pair.difference
    axes = part.subplots()
    extent = max(0.1, np.nanmax(np.abs(off)))
    picture = axes.imshow(off, cmap="RdBu_r", vmin=-extent, vmax=extent)
    axes.set_xticks(range(len(names)), map(_short, names), rotation=40, ha="right", rotation_mode="anchor", fontsize=7)
    axes.set_yticks(range(len(names)), map(_short, names), fontsize=7)
    axes.set_title("Association of pairs: synthetic less real", fontsize=10)
    part.colorbar(picture, ax=axes, shrink=0.8).ax.tick_params(labelsize=7)


def _short(name: str, most: int = _LONGEST) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
