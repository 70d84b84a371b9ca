"""Mechanisms: how noise meets a number. The simplest steps of a plan; :mod:`tacit.privacy.steps` nests them.

Invariants
----------
- A mechanism says how much noise a release has *relative to the sensitivity* of what is released, how many numbers one
  release has and how many times it may be made. It knows nothing of data, and nothing of epsilon.
- ``noise_multiplier`` is positive and finite; ``scaled`` multiplies it and changes nothing else, but for the
  ``smoothness`` of a ``SmoothGaussian``.
"""

import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

from tacit.messages import describe

__all__ = [
    "Gaussian",
    "Laplace",
    "Mechanism",
    "Selection",
    "Smooth",
    "SmoothGaussian",
    "SmoothLaplace",
    "Step",
    "TiltedGaussian",
    "positive",
    "whole",
]


class Step(ABC):
    """What all steps offer, nested or not.

    Attributes
    ----------
    name : str
        What is released; the curator looks steps up by it.
    noise_multiplier : float
        Noise relative to sensitivity.
    count : int
        How many times the release may be made of the rows, or of each share of them.
    size : int
        How many numbers one release has.
    """

    kind: ClassVar[str] = ""
    name: str
    noise_multiplier: float
    count: int
    size: int

    @property
    @abstractmethod
    def mechanism(self) -> "Mechanism":
        """The mechanism itself, without the ways of taking rows around it."""

    @property
    @abstractmethod
    def releases(self) -> int:
        """How many releases are made in all."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """Roughly what the step costs: as much as one Gaussian release of multiplier weight**-0.5.

        It serves to divide a budget in proportion to zero-concentrated privacy. The plan computes what is spent.
        """

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """Return the same step with ``factor`` times the noise."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON-safe values; ``step_from_dict`` reads it back."""


@dataclass(frozen=True)
class Mechanism(Step):
    """What all mechanisms share. Use ``Gaussian``, ``Laplace``, ``Selection`` or one of their kinds.

    Parameters
    ----------
    name : str
        What is released; the curator looks steps up by it.
    noise_multiplier : float
        Noise relative to sensitivity, positive and finite.
    count : int, default 1
        How many times the release may be made.
    size : int, default 1
        How many numbers one release has. The guarantee does not depend on it, but for ``Smooth`` mechanisms:
        sensitivities are norms of whole vectors.
    """

    name: str
    noise_multiplier: float
    count: int = 1
    size: int = 1

    def __post_init__(self) -> None:
        if not self.kind:
            raise TypeError("A Mechanism is abstract; use Gaussian, Laplace, Selection or another kind of step.")
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"A step's name must be a non-empty string, and it is {describe(self.name)}.")
        object.__setattr__(self, "noise_multiplier", positive(self.name, "noise_multiplier", self.noise_multiplier))
        object.__setattr__(self, "count", whole(self.name, "count", self.count))
        object.__setattr__(self, "size", whole(self.name, "size", self.size))

    @property
    def mechanism(self) -> "Mechanism":
        """The step itself."""
        return self

    def scaled(self, factor: float) -> Self:
        """Return the same step with ``factor`` times the noise.

        Examples
        --------
        >>> Gaussian("mean", 2.0).scaled(1.5).noise_multiplier
        3.0
        """
        return replace(self, noise_multiplier=self.noise_multiplier * factor)

    @property
    def releases(self) -> int:
        """How many releases are made in all."""
        return self.count

    @property
    def weight(self) -> float:
        """Roughly what the step costs; see :class:`Step`."""
        return self.count / self.noise_multiplier**2

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON-safe values; ``step_from_dict`` reads it back."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """A vector plus Gaussian noise; ``noise_multiplier`` = noise standard deviation / l2 sensitivity.

    Examples
    --------
    >>> Gaussian("moments", noise_multiplier=20.0, count=10, size=66)
    Gaussian(name='moments', noise_multiplier=20.0, count=10, size=66)
    """

    kind: ClassVar[str] = "gaussian"


@dataclass(frozen=True)
class Laplace(Mechanism):
    """A vector plus Laplace noise; ``noise_multiplier`` = noise scale / l1 sensitivity = 1 / epsilon of one release.

    Examples
    --------
    >>> Laplace("count", noise_multiplier=10.0)
    Laplace(name='count', noise_multiplier=10.0, count=1, size=1)
    """

    kind: ClassVar[str] = "laplace"


@dataclass(frozen=True)
class Selection(Mechanism):
    """A choice by the exponential mechanism; ``noise_multiplier`` = 1 / epsilon of one choice.

    One choice with weights exp(epsilon * utility / (2 * sensitivity)), or equivalently the largest utility after Gumbel
    noise of scale 2 * sensitivity / epsilon: it is epsilon-bounded-range, hence epsilon-private.

    Examples
    --------
    >>> Selection("quantile", noise_multiplier=4.0, count=2)
    Selection(name='quantile', noise_multiplier=4.0, count=2, size=1)
    """

    kind: ClassVar[str] = "selection"

    @property
    def weight(self) -> float:
        """Roughly what the step costs: a choice of epsilon e costs e^2 / 8, and Gaussian noise of 1 / e e^2 / 2."""
        return super().weight / 4


@dataclass(frozen=True)
class Smooth(Mechanism):
    """The base of steps whose noise is relative to a smooth bound on the sensitivity, which is found in the rows.

    Such bounds are worked out for a public number of rows: rows may be replaced and not added. The guarantee depends on
    ``size`` as well. :mod:`tacit.privacy.smooth_profiles` has the proofs.
    """


@dataclass(frozen=True)
class SmoothLaplace(Smooth):
    """Numbers, each with a smooth bound of its own, plus Laplace noise times a log-normal number.

    ``noise_multiplier`` = 1 / epsilon of one release. It is epsilon^2 / 2 zero-concentrated private, and a little
    better than that: each of its ``size`` numbers has epsilon / sqrt(size), half of it for how far it moves and half
    for how its bound changes.

    Examples
    --------
    >>> step = SmoothLaplace("trimmed means", noise_multiplier=4.0, count=10, size=4)
    >>> step.epsilon_each, step.smoothness
    (0.125, 0.03125)
    """

    kind: ClassVar[str] = "smooth_laplace"
    spread: ClassVar[float] = 0.5  # Sigma of the log-normal. experiments/heavy_tails.py measures errors with it.

    @property
    def epsilon_each(self) -> float:
        """What one number of one release costs."""
        return 1 / (self.noise_multiplier * math.sqrt(self.size))

    @property
    def smoothness(self) -> float:
        """By how much the logarithm of a bound may change between neighbours."""
        return self.spread * self.epsilon_each / 2

    @property
    def shift(self) -> float:
        """How far a number may move, in noise scales."""
        return self.epsilon_each / 2 * math.exp(-1.5 * self.spread**2)


@dataclass(frozen=True)
class SmoothGaussian(Smooth):
    """A vector with one smooth bound plus Gaussian noise; ``noise_multiplier`` = standard deviation / bound.

    ``scaled`` divides ``smoothness`` by the factor: a bound that changes less is larger.

    Examples
    --------
    >>> SmoothGaussian("centre", noise_multiplier=5.0, size=10, smoothness=0.06).scaled(2.0).smoothness
    0.03
    """

    smoothness: float = 1.0

    kind: ClassVar[str] = "smooth_gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "smoothness", positive(self.name, "smoothness", self.smoothness))

    def scaled(self, factor: float) -> Self:
        """Return the same step with ``factor`` times the noise, and a bound that is as many times smoother."""
        return replace(super().scaled(factor), smoothness=self.smoothness / factor)

    @property
    def shift(self) -> float:
        """How far the vector may move, in standard deviations."""
        return 1 / self.noise_multiplier


@dataclass(frozen=True)
class TiltedGaussian(Mechanism):
    """The minimum of a convex sum over rows that is tilted by a Gaussian linear term: objective perturbation.

    ``noise_multiplier`` = standard deviation of the tilt / l2 sensitivity of the sum's gradients. It is for functions
    of one linear prediction, with two derivatives. What such a minimum gives away beside the Gaussian release of a
    gradient is by how much a row bends the sum: the logarithm of the determinant of second derivatives changes by at
    most ``bend`` / ``noise_multiplier``, as a ridge of the right size sees to (:mod:`tacit.release.minimum`). That is
    for the exact minimum; what is computed needs a ``Gaussian`` step of its own, for the little that it is off.

    Examples
    --------
    >>> TiltedGaussian("tilt", noise_multiplier=5.0, size=10).bend
    0.5
    """

    bend: float = 0.5  # experiments/convex_erm.py measures the error of such minima with it.

    kind: ClassVar[str] = "tilted_gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "bend", positive(self.name, "bend", self.bend))


def positive(step: str, field: str, value: Any) -> float:
    """Return a positive, finite number as a float, or say which field of which step is not one."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < math.inf:
        return float(value)
    raise ValueError(f"The {field} of step {step!r} must be a positive, finite number, and it is {describe(value)}.")


def whole(step: str, field: str, value: Any) -> int:
    """Return a whole number, at least 1, as an int, or say which field of which step is not one."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    raise ValueError(f"The {field} of step {step!r} must be a whole number, at least 1, and it is {describe(value)}.")
