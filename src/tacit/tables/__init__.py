"""Public knowledge about the columns of a table, the encoding of rows, and synthetic beside real rows."""

from tacit.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
