"""A table model as JSON in a model file, and the checks when it is read.

"table": {"columns": [{"edges": [...] or null, "groups": [...], "shares": [...]}, ...],
          "order": [...], "weights": [...]}

is the density of z: see ``ABOUT``. The shares are the probabilities of bins.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tacit.statistics import Bins
from tacit.synthesis.chain import Chain
from tacit.synthesis.columns import CountedColumn
from tacit.synthesis.histograms import Histogram

ABOUT = (
    "table has the density of z. A column's cells fall into bins: its levels, false and true, or between edges; "
    "missing cells, if they are modelled, into one more. Bins have groups. The groups of a row are drawn in the order "
    "given: the log odds of a column's groups are the first row of its weights plus one further row for each column "
    "before it, the one of its group. Within a group, bins have shares, and numbers lie anywhere in a bin."
)


def to_json(columns: list[CountedColumn], chain: Chain) -> dict[str, Any]:
    """Return a table model as plain values."""
    stored = [
        {
            "edges": None if column.bins.edges is None else column.bins.edges.tolist(),
            "groups": column.bins.groups.tolist(),
            "shares": column.probabilities.tolist(),
        }
        for column in columns
    ]
    weights = [each.tolist() for each in chain.weights]
    return {"table": {"columns": stored, "order": list(chain.order), "weights": weights}}


def from_json(
    values: dict[str, Any], public: list[Bins | Histogram], missing: bool
) -> tuple[list[CountedColumn], Chain]:
    """Return the stored columns and chain; refuse them if they do not fit the public columns."""
    table = values["table"]
    if len(table["columns"]) != len(public):
        raise ValueError(f"there must be {len(public)} columns of the table")
    columns = [_column(each, known, missing) for each, known in zip(table["columns"], public)]
    order, sizes = tuple(map(int, table["order"])), tuple(column.bins.n_groups for column in columns)
    if sorted(order) != list(range(len(columns))):
        raise ValueError("the order must have every column once")
    weights, before = [], 1
    for column, each in zip(order, table["weights"], strict=True):
        array = np.array(each, float)
        if array.shape != (before, sizes[column]) or not np.isfinite(array).all():
            raise ValueError(f"weights of column {column} must be finite numbers of shape {(before, sizes[column])}")
        weights.append(array)
        before += sizes[column]
    return columns, Chain(sizes, order, tuple(weights))


def _column(values: dict[str, Any], known: Bins | Histogram, missing: bool) -> CountedColumn:
    groups, probabilities = np.array(values["groups"], np.intp), np.array(values["shares"], float)
    if isinstance(known, Histogram):
        bins = Bins((known.place,), groups, np.array(values["edges"], float), missing)
    else:
        bins = replace(known, groups=groups)
    if set(groups.tolist()) != set(range(int(groups.max()) + 1)):
        raise ValueError("groups must be numbered from 0 up")
    right_shape = probabilities.shape == (len(groups) + missing,)
    if not right_shape or not (probabilities > 0).all() or abs(probabilities.sum() - 1) > 1e-6:
        raise ValueError("shares must be positive, one for each bin, and add up to 1")
    return CountedColumn(bins, probabilities)
