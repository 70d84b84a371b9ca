"""The second moment about the centre of the bounds, released once: what DP-EM does for factor analysis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.fitting.progress import Watch
from tacit.fitting.published import PublishedMethod
from tacit.moments.estimates import MomentEstimates, PublicFacts
from tacit.privacy import Budget, Gaussian, Plan, Relation, Step
from tacit.release import Curator, stated_plan
from tacit.statistics import ComponentMoments, DiagonalComponent, numbers_in_second_moment

_SECOND_MOMENT = "second moment"

# Least eigenvalue, relative to the mean of all; it makes the matrix positive definite. The paper gives no number.
_LEAST_EIGENVALUE = 1e-3


@dataclass(frozen=True, kw_only=True)
class AnalyzeGauss(PublishedMethod):
    """The second moment of rows in a ball, released once; the mean is taken to be the centre of the ball.

    Dwork, Talwar, Thakurta and Zhang (2014), as Park, Foulds, Chaudhuri and Welling (2017), section 6, use it for
    factor analysis: Gaussian noise on the upper triangle of sum x x', negative eigenvalues raised to almost nothing,
    the classical calibration. Two things are corrected. The ball is public, where the paper takes the largest norm of
    the data. The sensitivity is sqrt(2), which is proved, where the paper states 2.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> moments = tacit.Moments(method=tacit.published.AnalyzeGauss(), bounds=6.0, random_state=0).fit(X)
    >>> moments.mean_, np.diag(moments.covariance_).round()
    (array([0., 0.]), array([1., 1.]))
    """

    def steps(self, columns: int, n_iter: int | str = "auto") -> list[Step]:
        """Return the one step of the plan."""
        return [Gaussian(_SECOND_MOMENT, 1.0, 1, 1 + numbers_in_second_moment("full", columns))]

    def plan(self, steps: Sequence[Step], budget: Budget, neighbors: Relation) -> Plan:
        """Return the plan of the paper where its calibration holds for this budget."""
        stated = stated_plan([step.scaled(published_multiplier(budget)) for step in steps], budget, neighbors)
        return stated if stated.delta(budget.epsilon) <= budget.delta else super().plan(steps, budget, neighbors)

    def estimate(self, curator: Curator, steps: Sequence[Step], facts: PublicFacts, watch: Watch) -> MomentEstimates:
        """Return a mean of zero and the second moment as the covariance, from one release.

        Where the number of rows is secret, a count is released along with the moment.

        Parameters
        ----------
        curator : Curator
            Its plan has these steps, calibrated.
        steps : sequence of Step
        facts : PublicFacts
        watch : callable
            Called as ``watch(done, total)`` after each release.
        """
        ball = DiagonalComponent(np.zeros(facts.columns), np.ones(facts.columns))
        count_weight = 1.0 if facts.rows is None else 0.0
        statistic = ComponentMoments(ball, math.sqrt(facts.columns), count_weight, 0.0, 1.0)
        measurement = curator.measure(_SECOND_MOMENT, statistic)
        watch(1, 1)
        counts, _, squares = statistic.parts(measurement.value)
        rows = float(facts.rows) if facts.rows is not None else max(float(counts[0]), measurement.noise)
        values, axes = np.linalg.eigh(squares[0] / rows)
        values = np.maximum(values, _LEAST_EIGENVALUE * max(values.mean(), _LEAST_EIGENVALUE))
        return MomentEstimates(np.zeros(facts.columns), (axes * values) @ axes.T, rows)


def published_multiplier(budget: Budget) -> float:
    """Return the paper's noise, relative to sensitivity: the classical calibration, which holds for epsilons below 1.

    Examples
    --------
    >>> from tacit.privacy import Budget
    >>> round(published_multiplier(Budget(0.3, 1e-4)), 2)
    14.48
    """
    return math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon
