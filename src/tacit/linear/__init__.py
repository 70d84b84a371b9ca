"""Regression and classification under differential privacy: losses of linear predictions, and what minimises them."""

from tacit.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
