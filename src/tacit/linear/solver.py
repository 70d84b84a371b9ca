"""What a solver is: the steps that it plans, and the loop that makes these releases and returns coefficients."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.arrays import Array
from tacit.fitting.progress import Watch
from tacit.linear.problem import Problem
from tacit.privacy import Step
from tacit.release import Curator

AfterRelease = Callable[[str, Array], None]
"""What is called after each release: with the name of its step, and the coefficients if the search ended there."""

# What the parameter ``solver`` of an estimator may be: words for the library's own solvers, and for published ones.
OWN_SOLVERS = ("newton", "accmd")
PUBLISHED_SOLVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gradient": ("GradientDescent", {}),
    "sgd": ("SGD", {}),
    "svrg": ("SVRG", {}),
    "katyusha": ("Katyusha", {}),
    "svrg++": ("SVRGPlusPlus", {}),
    "robust": ("RobustSGD", {}),
    "output": ("OutputPerturbation", {}),
    "objective": ("ObjectivePerturbation", {}),
    "frank_wolfe": ("FrankWolfe", {}),
}


def ignore(step: str, coefficients: Array) -> None:
    """Do nothing after a release."""


def count_releases(watch: Watch, total: int) -> AfterRelease:
    """Return what moves a progress bar after each release."""
    done = itertools.count(1)
    return lambda step, coefficients: watch(next(done), total)


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver returns.

    Parameters
    ----------
    coefficients : (K, 1 + d) array
        In the coordinates of the problem, the intercept of each prediction first.
    noise_covariance : (p, p) array, optional
        Of the error that noise has caused in the coefficients, where the solver knows it.
    covariance : (p, p) array, optional
        Of the error of the coefficients, by sampling and noise together, where the solver knows it.
    """

    coefficients: Array
    noise_covariance: Array | None = None
    covariance: Array | None = None


class Solver:
    """A way to minimise a mean loss: subclasses are frozen dataclasses whose fields are its options."""

    n_iter: int
    measures_inputs: ClassVar[bool] = True  # Whether moments of inputs are released first.

    @property
    def rounds(self) -> int:
        """The number that an estimator publishes as ``n_iter_``."""
        return self.n_iter

    @property
    def releases(self) -> int:
        """How many releases :meth:`solve` makes."""
        return self.rounds

    def steps(self, size: int, power: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps, with noise relative to each other.

        Parameters
        ----------
        size : int
            Number of coefficients.
        power : float
            Part of the budget for the solver, as squared signal-to-noise ratio.
        shares : int, default 1
            Number of shares that the rows are dealt out into.
        """
        raise NotImplementedError

    def solve(self, problem: Problem, curator: Curator, after: AfterRelease = ignore) -> Solution:
        """Make the releases, call `after` after each of them, and return the coefficients."""
        raise NotImplementedError

    def refusal(self, risk: Any) -> str | None:
        """Return why this solver cannot minimise this :class:`tacit.linear.risk.Risk`; None if it can."""
        return None
