"""Public knowledge about the columns of a table, the encoding of rows, and synthetic beside real rows."""

from typing import TYPE_CHECKING

from tacit.lazy import lazy_names

if TYPE_CHECKING:
    from tacit.tables.columns import Boolean, Categorical, Column, Ignored, Integer, Numeric
    from tacit.tables.comparison import Comparison, compare
    from tacit.tables.domain import Domain
    from tacit.tables.schema import Schema
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "tacit.tables.columns": ["Boolean", "Categorical", "Column", "Ignored", "Integer", "Numeric"],
            "tacit.tables.comparison": ["Comparison", "compare"],
            "tacit.tables.domain": ["Domain"],
            "tacit.tables.schema": ["Schema"],
        },
    )

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
