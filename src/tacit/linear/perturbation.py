"""Solvers that find the minimum as it is, and pay once: with noise on where it is, or on what is minimised.

- *output*: the minimum of the sum of losses and a penalty, plus noise for how far a row can move it. The penalty is
  what keeps rows from moving it, so it must be strong: there is no more to it, however many rows there are.
- *objective*: a random linear term tilts the sum of losses, and the minimum of that needs next to no noise of its own.
  A tilt is worth as much as noise on one gradient, which many rows outweigh.

Both rest on :mod:`tacit.release.minimum`, where the proofs are. Rows weigh less the longer they are beyond an ordinary
one, see :class:`tacit.statistics.WeighedGradients`: so a row's gradient and curvature are bounded, in coordinates that
moments of inputs have been released for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tacit.fitting.engine import Noise
from tacit.linear.newton import Stand
from tacit.linear.problem import Problem, Solver, bounded
from tacit.privacy import Gaussian, Step, TiltedGaussian
from tacit.release import Minimum
from tacit.statistics import WeighedGradients
from tacit.statistics.components import Array

MINIMUM, TILT = "minimum", "tilt"
_RADIUS = 1.0  # in units of an ordinary row's length
_EXPECTED = 0.5  # of the largest curvature, that rows have on average
_LEAST = 1e-8  # of the penalty's sum over directions, that each has: columns may be in units that are worlds apart
_MASK = 0.02  # share of the budget for how far off a tilted minimum is, as computed
_ALONE = "minimises as far as it takes, and n_iter is for solvers that pay for every step; leave it out."
_TRUSTED = (
    "is private because losses are convex, and as steep and curved as they say. That is proven for losses of this "
    'library and only declared for others; use "newton", or "accmd".'
)


@dataclass
class OutputPerturbation(Solver):
    """The minimum of losses and a penalty on squares, plus noise; run by :func:`tacit.fitting.engine.run`.

    The intercept has a penalty too, that of slopes on average, on its distance from where the estimator starts it.
    """

    problem: Problem
    iterations: int = 1
    rounds: list[str] = field(default_factory=lambda: [MINIMUM])

    tilt: ClassVar[str | None] = None

    @staticmethod
    def default_iterations(columns: int) -> int:
        """Return 1."""
        return 1

    @staticmethod
    def refusal(estimator: Any) -> str | None:
        """Ask for a loss that is proven, and for a penalty."""
        if not estimator._proven_loss:
            return _TRUSTED
        if estimator.n_iter != "auto":
            return _ALONE
        if not estimator._ridge(1.0) > 0:
            return "needs a penalty on squared coefficients, and there is none: C must be finite, or alpha positive."
        return None

    @staticmethod
    def steps(iterations: int, size: int, share: float, shares: int = 1) -> list[Step]:
        """Return the plan's step."""
        return [Gaussian(MINIMUM, math.sqrt(1 / share), 1, size)]

    def start(self) -> Array:
        """Return where intercepts start, and no slopes: what penalties are measured from."""
        start = self.problem.begin.copy()
        start[:, 1:] = 0.0
        return start

    def statistic(self, state: Array, index: int, noise: Noise) -> tuple[Array, Minimum]:
        """Return what is to be minimised: the sum of losses and the penalty."""
        problem, loss, coordinates = self.problem, self.problem.loss, self.problem.coordinates
        radius = _RADIUS * coordinates.length
        every = np.eye(len(state))
        spread = np.diag(np.append(problem.intercept**2, coordinates.variances))

        longest = loss.lipschitz * radius * float(np.linalg.norm(state))
        return state, Minimum(
            WeighedGradients(loss, state, radius, problem.intercept),
            state.ravel(),
            np.kron(every, problem.rows * self._ridge()),
            np.kron(every, _EXPECTED * loss.smoothness * problem.rows * spread),
            problem.most_rows,
            loss.at_zero + longest,
            self.tilt,
        )

    def _ridge(self) -> Array:
        ridge = self.problem.ridge.copy()
        ridge[0, 0] = np.trace(ridge) / (len(ridge) - 1)
        return ridge + _LEAST * float(np.trace(ridge)) * np.eye(len(ridge))

    def update(self, state: Array, index: int, statistic: Minimum, released: Array, noise: float) -> Array:
        """Return the minimum."""
        return bounded(released.reshape(state.shape))

    def finish(self, state: Array) -> Stand:
        """Return the minimum; without intercepts, where they are left out."""
        return Stand(np.column_stack([self.problem.intercept * state[:, 0], state[:, 1:]]), np.zeros((0, 0)))


@dataclass
class ObjectivePerturbation(OutputPerturbation):
    """The minimum of losses, penalty, a random linear term and the ridge that it needs."""

    rounds: list[str] = field(default_factory=lambda: [MINIMUM])

    tilt: ClassVar[str | None] = TILT

    @staticmethod
    def refusal(estimator: Any) -> str | None:
        """Ask for a loss of one prediction that is proven, and has two derivatives."""
        if not estimator._proven_loss:
            return _TRUSTED
        if estimator.n_iter != "auto":
            return _ALONE
        if not estimator._smooth_loss:
            return 'needs a loss with two derivatives, which logistic regression alone has here; use "newton".'
        if len(estimator.classes_) > 2:
            many = len(estimator.classes_)
            return f'is for two classes, and there are {many}: Only binary classification is supported. Use "newton".'
        return None

    @staticmethod
    def steps(iterations: int, size: int, share: float, shares: int = 1) -> list[Step]:
        """Return the plan's steps."""
        return [
            TiltedGaussian(TILT, math.sqrt(1 / (share * (1 - _MASK))), 1, size),
            Gaussian(MINIMUM, math.sqrt(1 / (share * _MASK)), 1, size),
        ]

    def _ridge(self) -> Array:
        return self.problem.ridge
