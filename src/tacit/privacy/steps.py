"""Steps: immutable descriptions of noisy releases, up to a scale. Steps nest.

A *mechanism* says how noise meets a number: ``Gaussian``, ``Laplace``, ``Selection``, ``SmoothLaplace``,
``SmoothGaussian``, ``TiltedGaussian``. A step is a mechanism, or a way of taking rows around one:
``Split(parts, mechanism)``, ``Sampled(rate, mechanism)``.

Extension rule
--------------
- A new mechanism is one class here with a ``kind`` of its own, one case in :func:`tacit.privacy.terms.terms_of`, one
  loss distribution in :mod:`tacit.privacy.composition`, and a proof that this distribution dominates every release.
- A new way of taking rows is a class that holds a step, as ``Split`` does, and never one class for each mechanism. It
  lists the mechanisms that it has a proof for, and ``terms_of`` says what it costs.
- What is written to files never changes its meaning: :func:`step_from_dict` reads everything that was ever written.

Invariants
----------
- A step describes noise relative to a sensitivity: the one under the plan's neighbouring relation, so the same step
  means the same guarantee under both relations. ``Sampled`` alone is different; its docstring says how.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from tacit.messages import describe

from .mechanisms import (
    Gaussian,
    Laplace,
    Mechanism,
    Selection,
    Smooth,
    SmoothGaussian,
    SmoothLaplace,
    Step,
    TiltedGaussian,
    positive,
    whole,
)

__all__ = [
    "Gaussian",
    "Laplace",
    "Mechanism",
    "Sampled",
    "Selection",
    "Smooth",
    "SmoothGaussian",
    "SmoothLaplace",
    "Split",
    "Step",
    "TiltedGaussian",
    "step_from_dict",
]


class _Nested(Step):
    """A way of taking rows for another step. The inner step answers for everything but the rows."""

    step: Step
    allowed: ClassVar[tuple[type[Mechanism], ...]]

    def _check(self) -> None:
        if type(self.step) not in self.allowed:
            words = " or ".join(kind.__name__ for kind in self.allowed)
            raise ValueError(f"{type(self).__name__} takes a {words} step, and this one is {describe(self.step)}.")

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.step.name

    @property
    def noise_multiplier(self) -> float:  # type: ignore[override]
        return self.step.noise_multiplier

    @property
    def count(self) -> int:  # type: ignore[override]
        return self.step.count

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.step.size

    @property
    def mechanism(self) -> Mechanism:
        return self.step.mechanism

    @property
    def releases(self) -> int:
        return self.step.releases

    @property
    def weight(self) -> float:
        return self.step.weight

    def scaled(self, factor: float) -> Self:
        return replace(self, step=self.step.scaled(factor))  # type: ignore[type-var]

    def to_dict(self) -> dict[str, Any]:
        options = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, **options, "step": self.step.to_dict()}


@dataclass(frozen=True)
class Split(_Nested):
    """Releases of each of ``parts`` shares of the rows, ``step.count`` per share, which cost as much as those of one.

    Every row is dealt to a share by fresh secret random bits of its own, independent of what any row holds. So given
    all bits, neighbours differ in one share:

    - *replace_one*: let the new row use the bits of the old one (a coupling that changes neither law). It is in the
      same share, and all others hold the same rows.
    - *add_remove*: the row that comes brings its own bits. All other rows stay where they are.

    Given the bits, the releases of the other shares have the same law for both neighbours, given all that came before;
    those of the one share satisfy the mechanism's bound. So for every assignment of rows the pair of output laws is
    dominated as the releases of one share are (parallel composition), also when each is chosen by the results of those
    before it. What is seen is the mixture over assignments, with the same weights for both neighbours, and hockey-stick
    divergences are jointly convex: the mixture satisfies the bound, too.

    Parameters
    ----------
    parts : int
        The number of shares.
    step : Gaussian or Selection
        What is made of each share.

    Examples
    --------
    >>> Split(8, Selection("columns", noise_multiplier=5.0, count=3, size=10)).releases
    24
    """

    parts: int
    step: Step

    kind: ClassVar[str] = "split"
    allowed: ClassVar[tuple[type[Mechanism], ...]] = (Gaussian, Selection)

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "parts", whole(self.name, "parts", self.parts))

    @property
    def releases(self) -> int:
        """How many releases are made in all: each of the shares has ``count`` of them."""
        return self.step.releases * self.parts


@dataclass(frozen=True)
class Sampled(_Nested):
    """Releases of fresh Poisson samples: each row is in a sample with probability ``rate``, by itself.

    The ``noise_multiplier`` is the noise standard deviation / the largest l2 norm that one row adds to the sum: the
    add_remove sensitivity, *under both relations*. A row that is not in the sample adds nothing, so its distance from
    nothing counts under replace_one too; the accountant itself adds that two rows are exchanged.

    Parameters
    ----------
    rate : float
        The probability, above 0 and at most 1.
    step : Gaussian
        What is made of each sample.

    Examples
    --------
    >>> Sampled(0.01, Gaussian("gradient", noise_multiplier=1.0, count=1000, size=50)).releases
    1000
    """

    rate: float
    step: Step

    kind: ClassVar[str] = "sampled"
    allowed: ClassVar[tuple[type[Mechanism], ...]] = (Gaussian,)

    def __post_init__(self) -> None:
        self._check()
        rate = positive(self.name, "rate", self.rate)
        if rate > 1:
            raise ValueError(f"The rate of step {self.name!r} must be at most 1, and it is {rate}.")
        object.__setattr__(self, "rate", rate)


_MECHANISMS: dict[str, type[Mechanism]] = {
    cls.kind: cls for cls in (Gaussian, Laplace, Selection, SmoothLaplace, SmoothGaussian, TiltedGaussian)
}
# Version 0.1 had a class, and a kind, for each way of taking rows with each mechanism.
_FLAT: dict[str, tuple[str, str]] = {
    "split_gaussian": (Gaussian.kind, "parts"),
    "split_selection": (Selection.kind, "parts"),
    "sampled_gaussian": (Gaussian.kind, "sampling_rate"),
}


def step_from_dict(values: dict[str, Any]) -> Step:
    """Read what ``Step.to_dict`` wrote, and what version 0.1 wrote.

    Examples
    --------
    >>> step_from_dict({"kind": "laplace", "name": "count", "noise_multiplier": 2.0, "count": 1, "size": 1})
    Laplace(name='count', noise_multiplier=2.0, count=1, size=1)
    """
    kind, options = values.get("kind", ""), {name: value for name, value in values.items() if name != "kind"}
    if kind in _MECHANISMS:
        cls = _MECHANISMS[kind]
        _check_fields(kind, options, [field.name for field in fields(cls)])
        return cls(**options)
    if kind == Split.kind:
        _check_fields(kind, options, ["parts", "step"])
        return Split(options["parts"], step_from_dict(options["step"]))
    if kind == Sampled.kind:
        _check_fields(kind, options, ["rate", "step"])
        return Sampled(options["rate"], step_from_dict(options["step"]))
    if kind in _FLAT:
        inner, option = _FLAT[kind]
        _check_fields(kind, options, [*(field.name for field in fields(_MECHANISMS[inner])), option])
        way = options.pop(option)
        step = _MECHANISMS[inner](**options)
        return Split(way, step) if option == "parts" else Sampled(way, step)
    known = sorted([*_MECHANISMS, Split.kind, Sampled.kind])
    raise ValueError(f"The kind of a step must be one of {known}, and it is {describe(kind)}.")


def _check_fields(kind: str, options: dict[str, Any], known: list[str]) -> None:
    if sorted(options) != sorted(known):
        raise ValueError(f"A step of kind {kind!r} has the fields {sorted(known)}, and this one has {sorted(options)}.")


NESTED = {
    "SplitGaussian": "Split(parts, Gaussian(name, noise_multiplier, count, size))",
    "SplitSelection": "Split(parts, Selection(name, noise_multiplier, count, size))",
    "SampledGaussian": "Sampled(rate, Gaussian(name, noise_multiplier, count, size))",
}


def __getattr__(name: str) -> object:
    if name in NESTED:
        raise ImportError(f"{name} of version 0.1 is written {NESTED[name]} now: steps nest.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
