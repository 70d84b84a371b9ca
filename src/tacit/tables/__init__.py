"""Public knowledge about the columns of a table, and the encoding of rows as bounded vectors."""

from tacit.tables.columns import Boolean, Categorical, Column, Ignored, Integer, Numeric
from tacit.tables.domain import Domain
from tacit.tables.schema import Schema

__all__ = ["Boolean", "Categorical", "Column", "Domain", "Ignored", "Integer", "Numeric", "Schema"]
