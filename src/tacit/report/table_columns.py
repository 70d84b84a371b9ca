"""What a model of a table found: how rows are spread over each column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.privacy import Certificate
from tacit.report.cautions import Caution, budget_cautions, by_gravity
from tacit.report.markup import Html, element, together
from tacit.report.numerals import percent, plural, to_digits
from tacit.report.presentation import Pairs, Presentation, refuse_pairs
from tacit.synthesis import TableModel
from tacit.tables import Categorical, Date, Numeric

_INTRODUCTION = (
    "The model knows how rows are spread over each column, shown here, and how each column depends on the others, "
    "which shows in synthetic rows. All numbers are estimates with noise."
)
_BARS = 30  # Bars in the picture of a column of numbers.
_MOST_LEVELS = 12  # Levels in the picture of a column, the most frequent ones.
_CORE = (0.01, 0.99)  # Quantiles between which a column of numbers is drawn.
_LEAST_GAP = 0.001  # Least proportion of missing cells that is told.
_WIDTH, _HEIGHT = 300.0, 90.0  # Pixels of a picture.


@dataclass(frozen=True, eq=False)
class TableView:
    """A fitted table model as its reader knows it.

    Parameters
    ----------
    proportions : dict of arrays
        Probabilities of the bins of numbers, or of levels, by column. One more may be that of missing cells.
    edges : dict of arrays
        Edges of the bins of numbers, by column.
    levels : dict of lists of str
        Levels of the other columns.
    numbers : dict
        What the schema says of columns of numbers. Rounded ones are in the middle of their bins.
    ignored : tuple of str
        Names of columns that the schema leaves out.
    """

    proportions: dict[str, Array]
    edges: dict[str, Array]
    levels: dict[str, list[str]]
    numbers: dict[str, Numeric]
    ignored: tuple[str, ...]

    @classmethod
    def of(cls, model: TableModel) -> TableView:
        """Return the view of a fitted :class:`tacit.TableModel`."""
        schema, levels, numbers, ignored = model._domain.schema, {}, {}, ()
        if schema is not None:
            ignored = tuple(name for name in schema.names if name not in schema.used)
            for name in model.probabilities_:
                column = schema.columns[name]
                if isinstance(column, Categorical):
                    levels[name] = list(map(str, column.levels))
                elif name not in model.edges_:
                    levels[name] = ["false", "true"]
                elif isinstance(column, Numeric):
                    numbers[name] = column
        return cls(model.probabilities_, model.edges_, levels, numbers, ignored)

    def missing(self, name: str) -> float:
        """Return the proportion of rows whose cell is missing."""
        cells = len(self.edges[name]) - 1 if name in self.edges else len(self.levels[name])
        return float(self.proportions[name][cells:].sum())

    def histogram(self, name: str) -> tuple[float, float, Array]:
        """Return where a column of numbers begins and ends, but for few rows, and proportions of even bins between."""
        edges = self.edges[name]
        proportions = self.proportions[name][: len(edges) - 1]
        cumulative = np.concatenate([[0.0], np.cumsum(proportions)]) / max(proportions.sum(), 1e-300)
        low, high = np.interp(_CORE, cumulative, edges)
        low = edges[np.searchsorted(edges, low, "right") - 1]
        high = edges[min(np.searchsorted(edges, high), len(edges) - 1)]
        bars = np.diff(np.interp(np.linspace(low, high, _BARS + 1), edges, cumulative))
        return float(low), float(high), bars


def present(model: TableModel, certificate: Certificate, pairs: Pairs) -> Presentation:
    """Return what the page shows of a model of a table."""
    refuse_pairs(pairs)
    view = TableView.of(model)
    title = f"Model of a table of {plural(len(view.proportions), 'column')}"
    return Presentation(title, len(view.proportions), view.ignored, table_cautions(certificate), results(view))


def results(view: TableView) -> Html:
    """Return a picture of each column."""
    figures = (element("figure", *_column(view, name), class_="card") for name in view.proportions)
    return together(
        element("p", _INTRODUCTION),
        element("h3", "How rows are spread"),
        element("div", *figures, class_="gallery"),
        element("p", "Numbers are drawn without the last hundredth of rows at either end.", class_="small soft"),
    )


def _column(view: TableView, name: str) -> list[Html]:
    hint = (
        element("small", f" {percent(gap)} missing", class_="soft")
        if (gap := view.missing(name)) >= _LEAST_GAP
        else None
    )
    title = element("figcaption", element("strong", name), hint)
    if name in view.edges:
        low, high, bars = view.histogram(name)
        if (column := view.numbers.get(name)) is not None:
            low, high = low + column.step / 2, high - column.step / 2
        first, last = (str(column.day(end)) if isinstance(column, Date) else to_digits(end) for end in (low, high))
        ends = element("p", element("span", first), element("span", last), class_="ends small soft")
        return [title, _bars(bars, f"{name}, from {first} to {last}"), ends]
    proportions = view.proportions[name][: len(view.levels[name])]
    order = np.argsort(-proportions, kind="stable")
    items = (
        element(
            "li",
            element("span", view.levels[name][at], class_="level-name"),
            element("span", class_="bar c1", style=f"--share:{100 * proportions[at] / proportions.max():.1f}%"),
            element("span", percent(proportions[at]), class_="amount"),
        )
        for at in order[:_MOST_LEVELS]
    )
    more = len(order) - _MOST_LEVELS
    rest = element("p", f"and {more} more", class_="small soft") if more > 0 else None
    return [title, element("ol", *items, class_="weights levels"), together(rest)]


def _bars(proportions: Array, label: str) -> Html:
    tallest, step = max(float(proportions.max()), 1e-300), _WIDTH / len(proportions)
    bars = (
        element(
            "rect",
            x=float(at * step),
            y=float(_HEIGHT * (1 - proportion / tallest)),
            width=float(step - 1),
            height=float(_HEIGHT * proportion / tallest),
        )
        for at, proportion in enumerate(proportions.tolist())
    )
    return element("svg", *bars, viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}", class_="bars", role="img", aria_label=label)


def table_cautions(certificate: Certificate) -> list[Caution]:
    """Return the cautions about a model of a table that a page adds to those of the fit, the gravest first."""
    return by_gravity(budget_cautions(certificate))
