"""Gradient descent on the squared error with smoothly truncated gradients, as published for heavy-tailed rows.

Wang, Xiao, Devadas and Xu (2020), Algorithm 4, for linear regression: each column of a row's gradient is bounded by
:class:`tacit.statistics.Smoothed` at the scale sqrt(n v / (2 log(1 / failure))), where v bounds the mean square of a
column of gradients, with log(1 / failure) for its precision. Noise is that of the plan, the exact composition of
Gaussian releases: the printed constants need more of it, or, in one version of the text, have too little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.erm.linear_fit import LinearFit
from tacit.latent.engine import Noise
from tacit.latent.gradient_em import ROWS, Climb, GradientEM
from tacit.privacy import Budget
from tacit.robust.scales import FAILURE, thesis_scale
from tacit.statistics import LinearGradient, RobustSum, RowCount, Smoothed
from tacit.statistics.components import Array

_LARGEST = 1e100  # what coefficients are kept below, as noise may be anything


@dataclass
class RobustDescent(GradientEM):
    """Descent from zero, run by :func:`tacit.latent.engine.run`; made by :meth:`of`."""

    intercept: bool = True

    @classmethod
    def of(
        cls,
        columns: int,
        rows: int | None,
        budget: Budget,
        intercept: bool,
        moment_bound: float,
        learning_rate: float,
        n_iter: int,
    ) -> RobustDescent:
        """Return the descent for so many columns of inputs."""

        def gradient(coefficients: Array) -> LinearGradient:
            return LinearGradient(coefficients, intercept)

        return cls(
            gradient,
            np.zeros(columns + intercept),
            rows,
            budget,
            _LARGEST,
            "robust",
            n_iter,
            learning_rate,
            moment_bound=moment_bound,
            intercept=intercept,
        )

    def statistic(self, state: Climb, index: int, noise: Noise) -> tuple[Climb, RobustSum | RowCount]:
        """Return what the next round releases: the number of rows first where it is secret, then bounded gradients."""
        values, size = self.gradient(state.beta), len(state.beta)
        if self.rounds[index] == ROWS:
            return state, RowCount(values)
        scale = np.full(size, float(thesis_scale(np.float64(self.moment_bound), self._rows(state))))
        return state, RobustSum(np.zeros(size), scale, Smoothed(math.log(1 / FAILURE)), values)

    def finish(self, state: Climb) -> LinearFit:  # type: ignore[override]
        """Return the coefficients, for inputs in their own units."""
        level, slopes = (state.beta[0], state.beta[1:]) if self.intercept else (0.0, state.beta)
        return LinearFit(np.zeros(len(slopes)), float(level), slopes, None, self._rows(state), None)
