"""Gradient descent with trimmed mean gradients, as published where the range of mean gradients is known; made private.

Wang, Xiao, Devadas and Xu (2020), Algorithm 3: each column of the mean gradient is a trimmed mean with noise relative
to its smooth sensitivity. As printed it is not private, because the bound that noise is relative to is not smooth; and
with as many rows trimmed as it says, noise is hundreds of times the range. Here are the smooth sensitivity itself,
noise that needs to trim less (Laplace times log-normal), and a trim that follows from public numbers
(:class:`tacit.statistics.TrimmedMeans`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.fitting.engine import Noise
from tacit.linear.linear_descent import LinearDescent
from tacit.linear.newton import GRADIENT
from tacit.linear.robust_descent import Way
from tacit.privacy import SmoothLaplace, Step
from tacit.statistics import PredictionGradients, TrimmedMeans
from tacit.statistics.components import Array


@dataclass
class TrimmedDescent(LinearDescent):
    """Descent on the squared error, run by :func:`tacit.fitting.engine.run`; the number of rows is public.

    Parameters
    ----------
    gradient_bounds : (low, high)
        What each column of the mean gradient lies within, wherever the descent may come.
    """

    gradient_bounds: tuple[float, float] = (-1.0, 1.0)

    def steps(self) -> list[Step]:  # type: ignore[override]
        """Return the plan's step."""
        return [SmoothLaplace(GRADIENT, 1.0, self.iterations, self.size)]

    def statistic(self, state: Way, index: int, noise: Noise) -> tuple[Way, TrimmedMeans]:  # type: ignore[override]
        """Return the trimmed means of gradients."""
        values = PredictionGradients(self.problem.loss, state.point, self.problem.intercept)
        low, high = (np.full(values.size, end) for end in self.gradient_bounds)
        return state, TrimmedMeans(values, low, high, int(self.problem.rows))

    def update(  # type: ignore[override]
        self, state: Way, index: int, statistic: TrimmedMeans, released: Array, noise: float
    ) -> Way:
        """Go a step."""
        values: PredictionGradients = statistic.values  # type: ignore[assignment]
        return self.moved(state, index, values.among_all(released))
