"""Docstrings and signatures of estimators, as they are once the classes are made.

Estimators are dataclasses that share most of their parameters. Their constructors, and the documentation of the shared
parameters, are written when the module is imported, so that reading the source does not find them.
"""

import inspect
from typing import Any

import griffe

from tacit.fitting import PrivateEstimator


class Estimators(griffe.Extension):
    """Gives each estimator the docstring and the signature that Python shows."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Take what the imported class has."""
        if not cls.path.startswith("tacit."):
            return
        imported = griffe.dynamic_import(cls.path)
        if not (inspect.isclass(imported) and issubclass(imported, PrivateEstimator)):
            return
        cls.docstring = griffe.Docstring(inspect.getdoc(imported) or "", lineno=cls.lineno, parent=cls)
        cls.set_member("__init__", griffe.Function("__init__", parameters=_parameters(imported)))


def _parameters(estimator: type) -> griffe.Parameters:
    """Return the parameters of the constructor, self among them, as griffe has it."""
    return griffe.Parameters(
        *(
            griffe.Parameter(
                parameter.name,
                annotation=None if parameter.annotation is parameter.empty else str(parameter.annotation),
                kind=griffe.ParameterKind[parameter.kind.name.lower()],
                default=None if parameter.default is parameter.empty else repr(parameter.default),
            )
            for parameter in inspect.signature(estimator.__init__).parameters.values()
        )
    )
