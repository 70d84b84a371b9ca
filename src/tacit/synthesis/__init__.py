"""Synthetic tables from counts of cells and of pairs of cells."""

from tacit.synthesis.table_model import TableModel

__all__ = ["TableModel"]
