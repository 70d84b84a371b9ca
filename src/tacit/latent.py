"""The name that the room of latent-variable models had in version 0.1: its public names are in ``tacit`` now."""

import warnings
from importlib import import_module


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    warnings.warn(f"tacit.latent.{name} is tacit.{name} now; tacit.latent will go.", DeprecationWarning, stacklevel=2)
    return getattr(import_module("tacit"), name)
