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
from importlib.resources import files
from importlib.util import find_spec

__all__ = ["former_names", "lazy_names", "moved_names"]

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


def former_names(package: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """Return ``__getattr__`` for a package that has renamed functions: a former name works, and warns.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    names : dict from str to str
        The present name for each former one.

    Examples
    --------
    >>> former_names("tacit.release", {"planned": "calibrated_plan"})("planned").__name__
    'calibrated_plan'
    """

    def get_attribute(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        words = f"{package}.{name} is {package}.{names[name]} now; the former name will go."
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[package], names[name])

    return get_attribute


def moved_names(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return ``__getattr__`` for a package that names have left: it says where they are now.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    modules : dict from str to str
        The module that each name is in now.

    Examples
    --------
    >>> moved_names("tacit.statistics", {"Smoothed": "tacit.published.statistics"})("Smoothed")
    Traceback (most recent call last):
    AttributeError: tacit.statistics.Smoothed is tacit.published.statistics.Smoothed now.
    """

    def get_attribute(name: str) -> object:
        if name in modules:
            raise AttributeError(f"{package}.{name} is {modules[name]}.{name} now.", name=name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)

    return get_attribute
