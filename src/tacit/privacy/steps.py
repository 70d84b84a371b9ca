"""Steps: immutable descriptions of noisy releases, up to a scale.

Invariants
----------
- A step says how much noise a release has *relative to the sensitivity* of what is released, how many numbers one
  release has and how many times it may be made. It knows nothing of data, and nothing of epsilon.
- The sensitivity is the one under the plan's neighbouring relation, so the same step means the same guarantee under
  both relations. ``SampledGaussian`` alone is different; its docstring says how.
- ``noise_multiplier`` is positive and finite; ``scaled`` multiplies it and changes nothing else, but for the
  ``smoothness`` of a ``SmoothGaussian``.
"""

import math
import numbers
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self

from tacit.messages import brief

__all__ = [
    "Gaussian",
    "Laplace",
    "SampledGaussian",
    "Selection",
    "Smooth",
    "SmoothGaussian",
    "SmoothLaplace",
    "Split",
    "SplitGaussian",
    "SplitSelection",
    "Step",
    "TiltedGaussian",
    "step_from_dict",
]


@dataclass(frozen=True)
class Step:
    """What all steps share. Use ``Gaussian``, ``Laplace``, ``Selection`` or one of their kinds.

    Parameters
    ----------
    name : str
        What is released; the curator looks steps up by it.
    noise_multiplier : float
        Noise relative to sensitivity, positive and finite.
    count : int, default 1
        How many times the release may be made.
    size : int, default 1
        How many numbers one release has. The guarantee does not depend on it: sensitivities are norms of whole vectors.
    """

    name: str
    noise_multiplier: float
    count: int = 1
    size: int = 1

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not self.kind:
            raise TypeError("A Step is abstract; use Gaussian, Laplace, Selection, SampledGaussian or SplitGaussian.")
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"A step's name must be a non-empty string, and it is {brief(self.name)}.")
        object.__setattr__(self, "noise_multiplier", _positive(self.name, "noise_multiplier", self.noise_multiplier))
        object.__setattr__(self, "count", _whole(self.name, "count", self.count))
        object.__setattr__(self, "size", _whole(self.name, "size", self.size))

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
        """What the step costs beside others, about: as one Gaussian release of multiplier weight**-0.5 would.

        It is for sharing out a budget, in proportion to zero-concentrated privacy; what is spent, the plan knows.
        """
        return self.count / self.noise_multiplier**2

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON-safe values; ``step_from_dict`` reads it back."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Gaussian(Step):
    """A vector plus Gaussian noise; ``noise_multiplier`` = noise standard deviation / l2 sensitivity.

    Examples
    --------
    >>> Gaussian("moments", noise_multiplier=20.0, count=10, size=66)
    Gaussian(name='moments', noise_multiplier=20.0, count=10, size=66)
    """

    kind: ClassVar[str] = "gaussian"


@dataclass(frozen=True)
class Laplace(Step):
    """A vector plus Laplace noise; ``noise_multiplier`` = noise scale / l1 sensitivity = 1 / epsilon of one release.

    Examples
    --------
    >>> Laplace("count", noise_multiplier=10.0)
    Laplace(name='count', noise_multiplier=10.0, count=1, size=1)
    """

    kind: ClassVar[str] = "laplace"


@dataclass(frozen=True)
class Selection(Step):
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
        """As of all steps: a choice of epsilon e costs e^2 / 8, Gaussian noise of multiplier 1 / e costs e^2 / 2."""
        return super().weight / 4


@dataclass(frozen=True)
class SampledGaussian(Step):
    """A Gaussian release on a fresh Poisson sample: each row is in it with probability ``sampling_rate``.

    ``noise_multiplier`` = noise standard deviation / largest l2 norm that one row adds to the sum: the add_remove
    sensitivity, *under both relations*. A row that is not in the sample adds nothing, so its distance from nothing
    counts under replace_one too; the accountant itself adds that two rows are exchanged.

    Examples
    --------
    >>> SampledGaussian("gradient", noise_multiplier=1.0, count=1000, size=50, sampling_rate=0.01).sampling_rate
    0.01
    """

    sampling_rate: float = 1.0

    kind: ClassVar[str] = "sampled_gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        rate = _positive(self.name, "sampling_rate", self.sampling_rate)
        if rate > 1:
            raise ValueError(f"The sampling_rate of step {self.name!r} must be at most 1, and it is {rate}.")
        object.__setattr__(self, "sampling_rate", rate)


@dataclass(frozen=True)
class Split(Step):
    """What steps share that are made of each of ``parts`` shares of the rows: row i is in share i modulo ``parts``.

    Rows may be replaced and not added, so a row stays in its share: whatever it is replaced by, the releases of one
    share alone change, and the others have the same law given all that came before. So together they cost what those of
    one share cost (parallel composition), also when each is chosen by the results of those before it. Where a row may
    come or go, all rows behind it change shares, and nothing of this holds: such plans are refused.
    """

    parts: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "parts", _whole(self.name, "parts", self.parts))

    @property
    def releases(self) -> int:
        """How many releases are made in all: each of the shares has ``count`` of them."""
        return self.count * self.parts


@dataclass(frozen=True)
class SplitGaussian(Gaussian, Split):
    """Gaussian releases of shares of the rows, ``count`` of each share; see :class:`Split`.

    Examples
    --------
    >>> SplitGaussian("gradient", noise_multiplier=5.0, size=10, parts=8).releases
    8
    """

    kind: ClassVar[str] = "split_gaussian"


@dataclass(frozen=True)
class SplitSelection(Selection, Split):
    """Choices of shares of the rows, ``count`` of each share; see :class:`Split`.

    Examples
    --------
    >>> SplitSelection("columns", noise_multiplier=5.0, count=3, size=10, parts=8).releases
    24
    """

    kind: ClassVar[str] = "split_selection"


@dataclass(frozen=True)
class Smooth(Step):
    """What steps share whose noise is relative to a smooth bound on the sensitivity, found in the rows themselves.

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
    spread: ClassVar[float] = 0.5  # sigma of the log-normal

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
        object.__setattr__(self, "smoothness", _positive(self.name, "smoothness", self.smoothness))

    def scaled(self, factor: float) -> Self:
        """Return the same step with ``factor`` times the noise, and a bound that is as many times smoother."""
        return replace(super().scaled(factor), smoothness=self.smoothness / factor)

    @property
    def shift(self) -> float:
        """How far the vector may move, in standard deviations."""
        return 1 / self.noise_multiplier


@dataclass(frozen=True)
class TiltedGaussian(Step):
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

    bend: float = 0.5

    kind: ClassVar[str] = "tilted_gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "bend", _positive(self.name, "bend", self.bend))


_KINDS: dict[str, type[Step]] = {
    cls.kind: cls
    for cls in (
        *(Gaussian, Laplace, Selection, SampledGaussian, SplitGaussian, SplitSelection),
        *(SmoothLaplace, SmoothGaussian, TiltedGaussian),
    )
}


def step_from_dict(values: dict[str, Any]) -> Step:
    """Read what ``Step.to_dict`` wrote.

    Examples
    --------
    >>> step_from_dict({"kind": "laplace", "name": "count", "noise_multiplier": 2.0, "count": 1, "size": 1})
    Laplace(name='count', noise_multiplier=2.0, count=1, size=1)
    """
    cls = _KINDS.get(values.get("kind", ""))
    if cls is None:
        raise ValueError(f"The kind of a step must be one of {sorted(_KINDS)}, and it is {values.get('kind')!r}.")
    options = {name: value for name, value in values.items() if name != "kind"}
    known = sorted(field.name for field in fields(cls))
    if sorted(options) != known:
        raise ValueError(f"A step of kind {cls.kind!r} has the fields {known}, and this one has {sorted(options)}.")
    return cls(**options)


def _positive(step: str, field: str, value: Any) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < math.inf:
        return float(value)
    raise ValueError(f"The {field} of step {step!r} must be a positive, finite number, and it is {brief(value)}.")


def _whole(step: str, field: str, value: Any) -> int:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    raise ValueError(f"The {field} of step {step!r} must be a whole number, at least 1, and it is {brief(value)}.")
