"""The second moment about the centre of the bounds, released once: what DP-EM does for factor analysis.

Park, Foulds, Chaudhuri and Welling (2017), section 6: rows in a ball, mean zero, Gaussian noise on the upper triangle
of sum x x' ("Analyze Gauss"), eigenvalues that come out negative lifted to almost nothing, the classical calibration.
Corrected: the ball is public and not the data's own largest norm. Where the paper states the sensitivity 2, sqrt(2) is
proved and used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tacit.fitting.engine import Noise
from tacit.privacy import Budget, Gaussian, Step
from tacit.statistics import ComponentMoments, DiagonalComponent, numbers_in_second_moment
from tacit.statistics.components import Array

_MOMENT = "second moment"
_LEAST_EIGENVALUE = 1e-3  # relative to the mean of all


@dataclass(frozen=True, eq=False)
class SecondMoment:
    """A mean of zero and a second moment, in coordinates where the public bounds are a unit box."""

    mean: Array
    second: Array
    rows: float

    def covariance(self) -> Array:
        """Return the second moment, which is the covariance where the mean is zero."""
        return self.second.copy()


@dataclass
class PublishedMoments:
    """A model for :func:`tacit.fitting.engine.run` of one release.

    Parameters
    ----------
    columns : int
    rows : int or None
        The number of rows, where it is public; where not, a count is released along with the moment.
    """

    columns: int
    rows: int | None
    rounds: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.rounds = [_MOMENT]

    def steps(self) -> list[Step]:
        """Return one step."""
        return [Gaussian(_MOMENT, 1.0, 1, 1 + numbers_in_second_moment("full", self.columns))]

    def start(self) -> SecondMoment:
        """Return the bounds."""
        return SecondMoment(np.zeros(self.columns), np.eye(self.columns), 1.0)

    def statistic(self, state: SecondMoment, index: int, noise: Noise) -> tuple[SecondMoment, ComponentMoments]:
        """Return the second moment in the public ball."""
        ball = DiagonalComponent(np.zeros(self.columns), np.ones(self.columns))
        count = 1.0 if self.rows is None else 0.0
        return state, ComponentMoments(ball, math.sqrt(self.columns), count, 0.0, 1.0)

    def update(
        self, state: SecondMoment, index: int, statistic: ComponentMoments, released: Array, noise: float
    ) -> SecondMoment:
        """Divide by the number of rows, and lift negative eigenvalues."""
        counts, _, squares = statistic.parts(released)
        rows = float(self.rows) if self.rows is not None else max(float(counts[0]), noise)
        values, axes = np.linalg.eigh(squares[0] / rows)
        values = np.maximum(values, _LEAST_EIGENVALUE * max(values.mean(), _LEAST_EIGENVALUE))
        return SecondMoment(state.mean, (axes * values) @ axes.T, rows)


def published_multiplier(budget: Budget) -> float:
    """Return the paper's noise, relative to sensitivity: the classical calibration, which is for epsilons below 1.

    Examples
    --------
    >>> from tacit.privacy import Budget
    >>> round(published_multiplier(Budget(0.3, 1e-4)), 2)
    14.48
    """
    return math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon
