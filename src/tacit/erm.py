"""The name that the room of linear models had in version 0.1: its public names are in ``tacit.linear`` now."""

import warnings
from importlib import import_module


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    warnings.warn(f"tacit.erm.{name} is tacit.linear.{name} now; tacit.erm will go.", DeprecationWarning, stacklevel=2)
    return getattr(import_module("tacit.linear"), name)
