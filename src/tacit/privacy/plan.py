"""The plan: the whole schedule of releases, known before any row is read.

Invariants
----------
- A plan is immutable, hashable and data-free; equal plans have equal guarantees.
- ``delta`` and ``epsilon`` never under-report: they are upper bounds on what the steps give away, exact when all steps
  are Gaussian.
- ``calibrate`` returns a plan whose ``delta(budget.epsilon)``, as computed, is at most ``budget.delta``.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tacit.arrays import Array
from tacit.messages import describe, kind

from . import accounting
from .budget import Budget, Relation, check_relation
from .errors import PlanError
from .gaussian_profile import raise_until
from .steps import Laplace, Selection, Step, step_from_dict
from .terms import check_relation_allows, terms_of

__all__ = ["Plan"]

_FORMAT = "tacit.plan/1"


@dataclass(frozen=True)
class Plan:
    """An ordered list of releases, and the guarantee they give together.

    Parameters
    ----------
    steps : sequence of Step
        The releases, in the order they are made. Only their relative noise matters before ``calibrate``.
    neighbors : {"replace_one", "add_remove"}, default "replace_one"
        The relation of the data sets between which the guarantee is measured.
    sampling_error : float, default 0.0
        Total-variation distance, summed over all numbers of all releases, between the noise that is sampled and the law
        that the steps name. It adds (1 + e^epsilon) * sampling_error to delta.

    Examples
    --------
    >>> from tacit.privacy import Gaussian
    >>> plan = Plan((Gaussian("moments", 1.0, count=10, size=66),)).calibrate(Budget(1.0, 1e-6))
    >>> round(plan.steps[0].noise_multiplier, 3)
    13.36
    >>> round(plan.epsilon(1e-6), 6), round(plan.epsilon(1e-9), 3)
    (1.0, 1.318)
    """

    steps: tuple[Step, ...]
    neighbors: Relation = "replace_one"
    sampling_error: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        for step in self.steps:
            if not isinstance(step, Step):
                raise ValueError(
                    f"A plan is made of steps such as Gaussian('name', 1.0), and one of them is {kind(step)}."
                )
        check_relation(self.neighbors)
        check_relation_allows(self.steps, self.neighbors)
        error = self.sampling_error
        if isinstance(error, bool) or not isinstance(error, (int, float)) or not 0 <= error <= 1:
            raise ValueError(f"sampling_error is a total-variation distance from 0 to 1, and it is {describe(error)}.")
        object.__setattr__(self, "sampling_error", float(error))

    def __add__(self, other: "Plan") -> "Plan":
        """Compose: all the steps of one plan, then all those of the other, on the same rows."""
        if not isinstance(other, Plan):
            return NotImplemented
        if self.neighbors != other.neighbors:
            raise PlanError(
                f"Plans compose under one neighbouring relation only, and these are under {self.neighbors!r} and "
                f"{other.neighbors!r}; build both for the same one."
            )
        error = min(1.0, self.sampling_error + other.sampling_error)
        return Plan(self.steps + other.steps, self.neighbors, error)

    @property
    def gaussian(self) -> bool:
        """Whether the plan is Gaussian noise alone, of all rows or of shares of them, and its profile exact."""
        return self.kinds <= {"gaussian"}

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of releases that accountants see."""
        return frozenset(term.kind for term in terms_of(self.steps, self.neighbors))

    @property
    def pure(self) -> bool:
        """Whether the plan has a finite epsilon at delta = 0: Laplace noise and selections alone, sampled exactly."""
        return not self.sampling_error and all(isinstance(step.mechanism, (Laplace, Selection)) for step in self.steps)

    def scaled(self, factor: float) -> "Plan":
        """Return the plan with ``factor`` times the noise in every step."""
        return replace(self, steps=tuple(step.scaled(factor) for step in self.steps))

    def calibrate(self, budget: Budget) -> "Plan":
        """Return the plan with the least noise, one factor for all steps, that ``budget`` allows."""
        epsilon, delta = budget.epsilon, budget.delta
        if self.sampling_error:
            # What holds at a smaller epsilon holds at the budget's, and costs less: (1 + e^epsilon) * sampling_error.
            # So at a large epsilon calibrate at the one where half of delta is left for the noise itself.
            most = delta / (2 * self.sampling_error) - 1
            if most <= 1:
                raise PlanError(
                    f"The sampling error alone costs a delta of {2 * self.sampling_error:.3g} or more, and the budget "
                    f"has {delta:.3g}, less than twice that; allow a larger delta, release fewer numbers, or use an "
                    "exact sampler."
                )
            epsilon = min(epsilon, math.log(most))
            delta -= (1 + math.exp(epsilon)) * self.sampling_error
        factor = accounting.calibration_factor(self.steps, self.neighbors, epsilon, delta)
        return self.scaled(raise_until(lambda f: self.scaled(f).delta(budget.epsilon) <= budget.delta, factor))

    def delta(self, epsilon: float) -> float:
        """Return the least proven delta at ``epsilon``."""
        if not 0 <= epsilon < math.inf:
            raise ValueError(f"epsilon must be at least 0 and finite, and it is {describe(epsilon)}.")
        return accounting.delta(self.steps, self.neighbors, float(epsilon), self.sampling_error)

    def epsilon(self, delta: float) -> float:
        """Return the least proven epsilon at ``delta``; infinity if no epsilon has so small a delta."""
        if not 0 <= delta < 1:
            raise ValueError(f"delta must be at least 0 and less than 1, and it is {describe(delta)}.")
        return accounting.epsilon(self.steps, self.neighbors, float(delta), self.sampling_error)

    def curve(self, epsilons: ArrayLike | None = None) -> tuple[Array, Array]:
        """Return epsilons and their deltas, for pictures.

        The default is 101 epsilons, from 0 to the point where delta has fallen to 1e-12, or as far as it falls.

        Examples
        --------
        >>> epsilons, deltas = Plan((Laplace("count", 2.0),)).curve([0.0, 0.25, 0.5])
        >>> deltas.round(3).tolist()
        [0.221, 0.118, 0.0]
        """
        if epsilons is None:
            least = self.delta(1e4)
            epsilons = np.linspace(0.0, self.epsilon(max(1e-12, 2 * least)) or 1.0, 101)
        grid = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
        return grid, np.array([self.delta(epsilon) for epsilon in grid.tolist()])

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-safe values."""
        return {
            "format": _FORMAT,
            "neighbors": self.neighbors,
            "sampling_error": self.sampling_error,
            "steps": [step.to_dict() for step in self.steps],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Plan":
        """Read what ``to_dict`` wrote; exact."""
        if values.get("format") != _FORMAT:
            raise ValueError(f"A stored plan has the format {_FORMAT!r}, and this one has {values.get('format')!r}.")
        steps = tuple(step_from_dict(step) for step in values["steps"])
        return cls(steps, check_relation(values["neighbors"]), values["sampling_error"])
