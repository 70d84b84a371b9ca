"""A model of a table, for people and for machines."""

from __future__ import annotations

from typing import Any

from tacit.models.results.blocks import Block
from tacit.synthesis import TableModel

__all__ = ["blocks", "summary"]


def blocks(model: TableModel) -> list[Block]:
    """Return the names of the columns, and what can be done with the model."""
    return [f"Columns: {', '.join(map(str, model.probabilities_))}. Draw synthetic rows with tacit sample."]


def summary(model: TableModel) -> dict[str, Any]:
    """Return the names of the columns for machines."""
    return {"columns": list(model.probabilities_)}
