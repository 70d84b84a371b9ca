"""Names that a package offers before it has imported the modules that define them (PEP 562).

A package with many estimators is slow to import if it imports them all. ``lazy_names`` makes the two functions that
Python calls on a module, ``__getattr__`` and ``__dir__``, so that a module is imported when one of its names is used
for the first time. Type checkers do not run these functions. They read the package's stub, ``__init__.pyi``, and so
does ``lazy_names``: each public name is one line there, and nowhere else.

.. code-block:: python

    from tacit.linear.penalised_regression import Ridge as Ridge
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.resources import files
from importlib.util import find_spec
from types import MappingProxyType

__all__ = ["former_names", "former_room", "lazy_names"]

_LINE = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package that has a stub.

    Submodules are attributes of the package too, as they would be if the package had imported them. No public name may
    be that of a submodule: importing the submodule would hide it.

    Parameters
    ----------
    package : str
        The package's ``__name__``.

    Examples
    --------
    >>> import tacit.privacy
    >>> get_attribute, list_names, names = lazy_names("tacit.privacy")
    >>> get_attribute("Budget") is tacit.privacy.Budget
    True
    >>> get_attribute("budget")
    <module 'tacit.privacy.budget' from ...>
    >>> "Budget" in list_names() and "Budget" in names
    True
    >>> get_attribute("Budgets")
    Traceback (most recent call last):
    AttributeError: module 'tacit.privacy' has no attribute 'Budgets'
    """
    stub = files(package).joinpath("__init__.pyi").read_text(encoding="utf-8")
    modules = {name: module for module, name in _LINE.findall(stub)}

    def get_attribute(name: str) -> object:
        this = sys.modules[package]
        if name in modules:
            value: object = getattr(import_module(modules[name]), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=this)
        setattr(this, name, value)  # Python finds it there from now on and does not ask again.
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return get_attribute, list_names, sorted(modules)


def former_names(
    package: str, renamed: Mapping[str, str], refused: Mapping[str, str] = MappingProxyType({})
) -> Callable[[str], object]:
    """Return ``__getattr__`` for a package with names of version 0.1 that are others now, or elsewhere, or gone.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    renamed : dict from str to str
        The present name for each former one, which works and warns.
    refused : dict from str to str
        What became of other names, as the end of a sentence. It is said in an ImportError: of an AttributeError,
        ``from package import name`` does not show the words.

    Examples
    --------
    >>> former_names("tacit.release", {"planned": "calibrated_plan"})("planned").__name__
    'calibrated_plan'
    >>> former_names("tacit.statistics", {}, {"Smoothed": "is tacit.published.statistics.Smoothed now."})("Smoothed")
    Traceback (most recent call last):
    ImportError: tacit.statistics.Smoothed is tacit.published.statistics.Smoothed now.
    """

    def get_attribute(name: str) -> object:
        if name in refused:
            raise ImportError(f"{package}.{name} {refused[name]}")
        if name not in renamed:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        words = f"{package}.{name} is {package}.{renamed[name]} now; the former name will go."
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[package], renamed[name])

    return get_attribute


def former_room(
    room: str, present: str, elsewhere: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], object], list[str]]:
    """Return ``__getattr__`` and ``__path__`` for the name of a room of version 0.1.

    Its public names work, and warn. Its modules are refused with words that say where names are now: programs import
    them, and so do pickles of models that version 0.1 has fitted.

    Parameters
    ----------
    room : str
        The ``__name__`` of the module that has the former name.
    present : str
        The package that has the room's public names now.
    elsewhere : dict from str to str
        The packages of those that are not there.

    Examples
    --------
    >>> get_attribute, path = former_room("tacit.latent", "tacit")
    >>> get_attribute("KMeans").__name__
    'KMeans'
    >>> import tacit.latent.k_means
    Traceback (most recent call last):
    ModuleNotFoundError: tacit.latent.k_means is a module of version 0.1; public names are in tacit now. Pickles of
    models of version 0.1 are not read, but files that its save_model wrote are.
    """

    def get_attribute(name: str) -> object:
        home = elsewhere.get(name, present)
        if name.startswith("__") or not hasattr(import_module(home), name):
            raise AttributeError(f"module {room!r} has no attribute {name!r}", name=name)
        warnings.warn(f"{room}.{name} is {home}.{name} now; {room} will go.", DeprecationWarning, stacklevel=2)
        return getattr(import_module(home), name)

    sys.meta_path.append(_FormerModules(room, present))
    return get_attribute, []


class _FormerModules(MetaPathFinder):
    """What is asked for the submodules of a former room, after all others: it says what to import instead."""

    def __init__(self, room: str, present: str) -> None:
        self.room, self.present = room, present

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname.startswith(f"{self.room}."):
            raise ModuleNotFoundError(
                f"{fullname} is a module of version 0.1; public names are in {self.present} now. Pickles of models of "
                "version 0.1 are not read, but files that its save_model wrote are."
            )
