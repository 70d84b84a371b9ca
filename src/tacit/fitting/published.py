"""Published methods: an estimator's ``method`` may be an object of :mod:`tacit.published`, with options of its own.

An estimator says in ``_methods`` which words stand for methods of its own, the default first, and in ``_published``
which words stand for published ones. Such a word means the published method with its defaults. Estimators that call
this parameter otherwise, such as ``solver``, say so in ``_method_parameter``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from importlib import import_module
from typing import Any, ClassVar

from tacit.messages import describe
from tacit.privacy import Budget, Plan, Relation, Step
from tacit.release import calibrated_plan, stated_plan

__all__ = ["PublishedMethod", "find_published", "keep_stated_noise", "read_method", "refuse_options", "write_method"]


class PublishedMethod:
    """A method of the literature: subclasses are frozen dataclasses whose fields are its options."""

    needs_delta: ClassVar[bool] = True  # Whether the fit spends a delta.
    iterations_option: ClassVar[str] = "n_iter"  # The option that was the estimator's ``n_iter`` in version 0.1.

    def plan(self, steps: Sequence[Step], budget: Budget, neighbors: Relation) -> Plan:
        """Return the plan that spends the budget on these steps."""
        return calibrated_plan(list(steps), budget, neighbors)


def keep_stated_noise(steps: Sequence[Step], budget: Budget, neighbors: Relation) -> Plan:
    """Return a plan with the noise that a paper's own composition gives, where exact accounting admits it."""
    stated = stated_plan(list(steps), budget, neighbors)
    return stated if stated.delta(budget.epsilon) <= budget.delta else calibrated_plan(list(steps), budget, neighbors)


def find_published(estimator: Any) -> PublishedMethod | None:
    """Return the published method that an estimator's ``method`` is or names; None for a method of its own.

    Examples
    --------
    >>> import tacit
    >>> find_published(tacit.KMeans(method="dplloyd"))
    DPLloyd(composition='linear', n_iter=5)
    >>> find_published(tacit.KMeans()) is None
    True
    >>> find_published(tacit.KMeans(method="lloyd"))
    Traceback (most recent call last):
    ValueError: method must be one of adaptive, dplloyd, dplloyd_zcdp, dpem, or an object of tacit.published: DPLloyd,
    DPEMLloyd; and it is 'lloyd'.
    """
    parameter = estimator._method_parameter
    method = getattr(estimator, parameter)
    if isinstance(method, str) and method in estimator._methods:
        return None
    names = dict.fromkeys(name for name, _ in estimator._published.values())
    if isinstance(method, str) and method in estimator._published:
        name, options = estimator._published[method]
        published = _class(name)(**options)
    elif isinstance(method, PublishedMethod) and isinstance(method, tuple(map(_class, names))):
        published = method
    else:
        words = ", ".join((*estimator._methods, *estimator._published))
        raise ValueError(
            f"{parameter} must be one of {words}, or an object of tacit.published: {', '.join(names)}; and it is "
            f"{describe(method)}."
        )
    if hasattr(estimator, "n_iter"):
        refuse_options(estimator, published, "n_iter")
    return published


def refuse_options(estimator: Any, published: PublishedMethod, *names: str) -> None:
    """Refuse parameters of the estimator's own methods that are given beside a published one.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.KMeans(method="dpem", n_iter=7)
    >>> refuse_options(model, tacit.published.DPEMLloyd(), "n_iter")
    Traceback (most recent call last):
    ValueError: n_iter is for the method adaptive; a published one has its own options:
    method=tacit.published.DPEMLloyd(n_iter=5).
    """
    defaults, parameter = {each.name: each.default for each in fields(estimator)}, estimator._method_parameter
    for name in names:
        value, default = getattr(estimator, name), defaults[name]
        if value is not default and not (isinstance(value, str) and value == default):
            raise ValueError(
                f"{name} is for the {parameter} {', '.join(estimator._methods)}; a published one has its own options: "
                f"{parameter}=tacit.published.{published}."
            )


def write_method(method: Any) -> Any:
    """Return a method as a file holds it: a word, or the name of a published method and its options."""
    return {"name": type(method).__name__, **asdict(method)} if isinstance(method, PublishedMethod) else method


def read_method(estimator: type, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return an estimator's parameters as a file has them, with the method as its constructor takes it.

    Files of version 0.1 have the options of published methods among the parameters of the estimator. There None and
    "auto" stand for defaults.
    """
    parameters, method = dict(parameters), parameters.get(estimator._method_parameter)
    moved = {name: parameters.pop(name) for name in estimator._moved if name in parameters}
    if isinstance(method, dict):
        if method["name"] not in {name for name, _ in estimator._published.values()}:
            raise ValueError(f"{estimator.__name__} has no {estimator._method_parameter} of this name")
        options = {name: value for name, value in method.items() if name != "name"}
        return parameters | {estimator._method_parameter: _class(method["name"])(**options)}
    if method in estimator._published:
        name, options = estimator._published[method]
        published = _class(name)
        known = {each.name for each in fields(published)}
        moved |= {name: parameters.pop(name) for name in (*known, "n_iter") if name in parameters}
        if "n_iter" in moved:
            moved[published.iterations_option] = moved.pop("n_iter")
        given = {name: value for name, value in moved.items() if name in known and value not in (None, "auto")}
        return parameters | {estimator._method_parameter: published(**options | given) if given else method}
    return parameters


def _class(name: str) -> Any:
    return getattr(import_module("tacit.published"), name)
