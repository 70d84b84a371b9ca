"""Public knowledge about the columns of a table, the encoding of rows, and synthetic beside real rows."""

from tacit.tables.columns import Boolean, Categorical, Column, Ignored, Integer, Numeric
from tacit.tables.comparison import Comparison, compare
from tacit.tables.domain import Domain
from tacit.tables.schema import Schema

__all__ = [
    "Boolean",
    "Categorical",
    "Column",
    "Comparison",
    "Domain",
    "Ignored",
    "Integer",
    "Numeric",
    "Schema",
    "compare",
]
