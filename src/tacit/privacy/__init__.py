"""Budgets, plans and their accounting, and the certificate that a fitted model carries.

Nothing here sees data. Mechanisms *describe* themselves as steps of a ``Plan``; only this package turns descriptions
into epsilons and deltas.
"""

from tacit.lazy import lazy_names

from . import steps

_get_attribute, __dir__, __all__ = lazy_names(__name__)


def __getattr__(name: str) -> object:
    if name in steps.NESTED:  # Names of version 0.1 say what to write instead.
        return steps.__getattr__(name)
    return _get_attribute(name)
