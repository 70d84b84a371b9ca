"""From steps to accountant terms: the one place that says what each kind of step costs, for plans and ledgers alike."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from .budget import Relation
from .errors import PlanError
from .steps import Gaussian, Sampled, Smooth, SmoothGaussian, SmoothLaplace, Step, TiltedGaussian

__all__ = ["TAIL", "Term", "check_relation_allows", "terms_of"]

TAIL = 10.0  # A grid of privacy losses ends this many standard deviations out; what lies beyond counts as infinite.


@dataclass(frozen=True)
class Term:
    """Equal releases, as accountants see them."""

    kind: str
    noise_multiplier: float
    sampling_rate: float
    count: int
    shape: float = 0.0  # This is the smoothness of a SmoothGaussian, or the bend of a TiltedGaussian.
    dimensions: int = 1  # Only a SmoothGaussian has more than one.

    @property
    def spread(self) -> float:
        """The standard deviation of the privacy loss of one release, roughly; only used to choose grids."""
        inverse = 1 / self.noise_multiplier
        if self.kind == "smooth_gaussian":
            return math.hypot(inverse, self.shape * math.sqrt(2 * self.dimensions))
        if self.kind == "sampled_gaussian":
            return min(inverse, self.sampling_rate * math.sqrt(math.expm1(min(inverse * inverse, 700.0))))
        return inverse / math.sqrt(3) if self.kind == "selection" else inverse

    @property
    def largest_loss(self) -> float:
        """The largest privacy loss of one release that a grid has to hold, roughly."""
        inverse = 1 / self.noise_multiplier
        if self.kind in ("laplace", "selection"):
            return inverse
        bend = self.shape if self.kind == "tilted_gaussian" else 0.0
        largest = (TAIL + bend) * inverse + inverse * inverse / 2
        if self.kind == "smooth_gaussian":
            lengths = (math.sqrt(self.dimensions) + TAIL) ** 2
            return math.exp(2 * self.shape) * largest + math.expm1(2 * self.shape) * lengths / 2
        if self.kind in ("gaussian", "tilted_gaussian", "smooth_laplace"):
            return largest
        return float(np.logaddexp(math.log1p(-self.sampling_rate), math.log(self.sampling_rate) + largest))


def check_relation_allows(steps: tuple[Step, ...], neighbors: Relation) -> None:
    """Refuse steps that have no guarantee under a relation, however much noise they have."""
    if neighbors == "add_remove" and any(isinstance(step.mechanism, Smooth) for step in steps):
        raise PlanError(
            "Bounds on sensitivity that are found in the rows are worked out for a public number of them; use "
            'neighbors="replace_one".'
        )


def terms_of(steps: tuple[Step, ...], neighbors: Relation) -> tuple[Term, ...]:
    """Return what accountants have to know: equal releases as one term, all Gaussian ones as a single release.

    Names do not matter, nor the order of steps, nor sizes but for ``Smooth`` mechanisms. The releases of a ``Split``
    cost what those of one share cost.

    Examples
    --------
    >>> from tacit.privacy.steps import Split
    >>> terms_of((Split(8, Gaussian("a", 5.0, count=4)), Gaussian("b", 5.0, count=5)), "replace_one")[0].kind
    'gaussian'
    """
    check_relation_allows(steps, neighbors)
    counts: Counter[tuple[str, float, float, float, int]] = Counter()
    mu_squared = []
    for step in steps:
        rate, mechanism = step.rate if isinstance(step, Sampled) else None, step.mechanism
        noise, count = mechanism.noise_multiplier, mechanism.count
        if rate == 1:
            # Every row is in the sample: a plain Gaussian release. An exchange of rows moves it by twice their norm.
            mu_squared.append(count * (2 / noise if neighbors == "replace_one" else 1 / noise) ** 2)
        elif rate is not None:
            counts["sampled_gaussian", noise, rate, 0.0, 1] += count
        elif isinstance(mechanism, Gaussian):
            mu_squared.append(count / noise**2)
        elif isinstance(mechanism, SmoothLaplace):  # Each number counts as a release.
            counts[mechanism.kind, 1 / mechanism.epsilon_each, 1.0, 0.0, 1] += count * mechanism.size
        elif isinstance(mechanism, SmoothGaussian):
            counts[mechanism.kind, noise, 1.0, mechanism.smoothness, mechanism.size] += count
        elif isinstance(mechanism, TiltedGaussian):
            counts[mechanism.kind, noise, 1.0, mechanism.bend, 1] += count
        else:
            counts[mechanism.kind, noise, 1.0, 0.0, 1] += count
    terms = [
        Term(kind, noise, rate, count, shape, dimensions)
        for (kind, noise, rate, shape, dimensions), count in sorted(counts.items())
    ]
    if mu_squared:
        terms.append(Term("gaussian", 1 / math.sqrt(math.fsum(mu_squared)), 1.0, 1))
    return tuple(terms)
