"""Comparing a synthetic table with the real one it stands for: for the keeper of the rows, not for publication."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.tables.differences import (
    ColumnDifference,
    ComparedRows,
    PairDifference,
    column_differences,
    pair_differences,
)
from tacit.tables.prediction import Score, scores
from tacit.tables.schema import Schema

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOT_PRIVATE = (
    "NOT PRIVATE: these figures are computed from the real rows, without noise. Use them where the rows are kept; do "
    "not publish them."
)
_WIDTH = 92  # The number of columns of the text.
_PAIRS_SHOWN = 10  # The number of pairs of columns in the text, those that differ most.

TextTable = list[tuple[str, ...]]


def compare(real: Any, synthetic: Any, *, schema: Schema, target: str | None = None) -> Comparison:
    """Compare a synthetic table with the real one. The result is NOT PRIVATE: it is computed from rows without noise.

    It runs where the real rows are kept, to see whether synthetic ones will do. Choosing a model by it, or tuning one,
    lets the model depend on rows in a way that no certificate covers.

    Parameters
    ----------
    real, synthetic : data frames, dicts of columns, arrays, or paths of CSV or Parquet files
        Tables with the columns of the schema; ignored ones may be absent, and are not read. Both are held in memory, a
        number for each cell.
    schema : Schema
        The schema, used as a fit uses it: numbers beyond bounds count as the bound.
    target : str, optional
        A column to predict from the others, by a model trained on synthetic and tested on real rows.

    Returns
    -------
    Comparison

    Notes
    -----
    Finite tables differ by chance. ``compare(one_half, other_half, schema=schema)`` of the real rows shows how much.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.tables import Integer, Numeric, Schema, compare
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(20, 80, 5000)
    >>> real = {"age": age, "pressure": 100 + age / 2 + rng.normal(0, 8, 5000)}
    >>> synthetic = {"age": real["age"], "pressure": rng.permutation(real["pressure"])}
    >>> schema = Schema({"age": Integer(0, 120), "pressure": Numeric(50, 250)})
    >>> comparison = compare(real, synthetic, schema=schema)
    >>> [column.total_variation for column in comparison.columns]
    [0.0, 0.0]
    >>> pair = comparison.pairs[0]
    >>> print(f"{pair.measure} {pair.real:.1f}, {pair.synthetic:.1f}")
    correlation 0.7, -0.0
    """
    if not isinstance(schema, Schema):
        raise TypeError(f"schema must be a tacit.Schema, got {type(schema).__name__}.")
    real_rows, synthetic_rows = ComparedRows.read(real, schema), ComparedRows.read(synthetic, schema)
    return Comparison(
        rows=(len(real_rows), len(synthetic_rows)),
        columns=column_differences(real_rows, synthetic_rows, schema),
        pairs=tuple(pair_differences(real_rows, synthetic_rows, schema)),
        target=target,
        scores=() if target is None else scores(real_rows, synthetic_rows, schema, target),
    )


@dataclass(frozen=True, eq=False)
class Comparison:
    """How a synthetic table differs from the real one. NOT PRIVATE: computed from rows without noise.

    Attributes
    ----------
    rows : pair of int
        How many rows the real and the synthetic table have.
    columns : tuple of ColumnDifference
        Each column's distribution.
    pairs : tuple of PairDifference
        Each pair's association.
    target : str or None
        The column that was predicted.
    scores : tuple of Score
        How well: accuracy and AUC of a category, R² of a number; empty without a target.
    """

    rows: tuple[int, int]
    columns: tuple[ColumnDifference, ...]
    pairs: tuple[PairDifference, ...]
    target: str | None = None
    scores: tuple[Score, ...] = ()

    @property
    def column_error(self) -> float:
        """The mean total variation of columns."""
        return float(np.mean([column.total_variation for column in self.columns]))

    @property
    def pair_error(self) -> float:
        """The mean total variation of pairs; 0 for a single column."""
        return float(np.mean([pair.total_variation for pair in self.pairs] or [0.0]))

    @property
    def association_error(self) -> float:
        """The mean absolute error of the associations of pairs; 0 for a single column."""
        return float(np.mean([abs(pair.difference) for pair in self.pairs] or [0.0]))

    def sections(self) -> list[tuple[str, list[str | TextTable]]]:
        """Return titles, each with its sentences and tables, the first row of a table being its head."""
        columns: TextTable = [("column", "total variation", "Wasserstein, in units")]
        for column in self.columns:
            moved = "-" if column.wasserstein is None else f"{column.wasserstein:.4g}"
            columns.append((column.column, f"{column.total_variation:.3f}", moved))
        sections: list[tuple[str, list[str | TextTable]]] = [
            (f"Each column: total variation {self.column_error:.3f} on average", [columns])
        ]
        if self.pairs:
            title = f"Each pair: total variation {self.pair_error:.3f}, association off by {self.association_error:.3f}"
            sections.append((f"{title}, on average", self._pairs()))
        if self.scores:
            head = ("trained on", *(score.measure for score in self.scores))
            trained = (("synthetic rows", "from_synthetic"), ("real rows", "from_real"), ("nothing", "from_nothing"))
            body = [(words, *(f"{getattr(score, key):.3f}" for score in self.scores)) for words, key in trained]
            sections.append((f"Predicting {self.target!r} in real rows not trained on", [[head, *body]]))
        return sections

    def _pairs(self) -> list[str | TextTable]:
        furthest = sorted(self.pairs, key=lambda pair: -abs(pair.difference))[:_PAIRS_SHOWN]
        shown: TextTable = [("columns", "measure", "real", "synthetic", "total variation")]
        for pair in furthest:
            figures = (f"{pair.real:.3f}", f"{pair.synthetic:.3f}", f"{pair.total_variation:.3f}")
            shown.append((" and ".join(pair.columns), pair.measure, *figures))
        left = len(self.pairs) - len(furthest)
        return [shown, *[f"The other {left} pairs are less far off in association."] * (left > 0)]

    def text(self) -> str:
        """Return the comparison in words and tables, beginning with the warning."""
        real, synthetic = self.rows
        lines = [*textwrap.wrap(NOT_PRIVATE, _WIDTH), "", f"{real:,} real and {synthetic:,} synthetic rows"]
        for title, parts in self.sections():
            lines += ["", title]
            for part in parts:
                lines += textwrap.wrap(part, _WIDTH) if isinstance(part, str) else _align(part)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures, ready for JSON, with the warning."""
        return {
            "private": False,
            "warning": NOT_PRIVATE,
            "rows": {"real": self.rows[0], "synthetic": self.rows[1]},
            "column_error": self.column_error,
            "pair_error": self.pair_error,
            "association_error": self.association_error,
            "columns": [
                {"column": each.column, "total_variation": each.total_variation, "wasserstein": each.wasserstein}
                for each in self.columns
            ],
            "pairs": [asdict(pair) for pair in self.pairs],
            "target": self.target,
            "scores": [asdict(score) for score in self.scores],
        }

    def plot(self) -> Figure:
        """Draw each column's distribution in both tables, and a map of how far associations are off.

        Needs matplotlib, the extra ``plot``. The figure says that it is not private.
        """
        from tacit.tables.comparison_plot import draw

        return draw(self.columns, self.pairs)

    __repr__ = text


def _align(table: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table in columns: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table)]
    words = 2 if table[0][1] == "measure" else 1
    cells = (
        [cell.ljust(width) if i < words else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        for row in table
    )
    return ["  " + "  ".join(row).rstrip() for row in cells]
