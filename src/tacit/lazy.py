"""Names that a package offers before it has imported the modules that define them (PEP 562).

A package with many estimators is slow to import if it imports them all. ``lazy_names`` makes the two functions that
Python calls on a module, ``__getattr__`` and ``__dir__``, so that a module is imported when one of its names is used
for the first time. Type checkers do not run these functions; the package shows them plain imports instead:

.. code-block:: python

    if TYPE_CHECKING:
        from tacit.linear.ridge import Ridge
    else:
        __getattr__, __dir__ = lazy_names(__name__, {"tacit.linear.ridge": ["Ridge"]})
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec

__all__ = ["former_names", "lazy_names"]


def lazy_names(
    package: str, names: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package.

    Submodules are attributes of the package too, as they would be if the package had imported them.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    names : dict from str to list of str
        For each module the names that the package takes from it. No name may be that of a submodule of the package:
        importing the submodule would hide it.

    Examples
    --------
    >>> import tacit.privacy
    >>> get_attribute, list_names = lazy_names("tacit.privacy", {"tacit.privacy.budget": ["Budget"]})
    >>> get_attribute("Budget") is tacit.privacy.Budget
    True
    >>> get_attribute("budget")
    <module 'tacit.privacy.budget' from ...>
    >>> "Budget" in list_names()
    True
    >>> get_attribute("Budgets")
    Traceback (most recent call last):
    AttributeError: module 'tacit.privacy' has no attribute 'Budgets'
    """
    modules = {name: module for module, its_names in names.items() for name in its_names}

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

    return get_attribute, list_names


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
