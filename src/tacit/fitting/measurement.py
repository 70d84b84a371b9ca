"""A private value with its noise: what an algorithm gets when it asks the curator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.release import Curator, Statistic


@dataclass(frozen=True, eq=False)
class Measurement:
    """A noisy sum over rows, and the scale of the noise on each of its numbers.

    Parameters
    ----------
    value : array
    noise : float
        Standard deviation of Gaussian noise, or scale of Laplace noise.
    """

    value: NDArray[np.float64]
    noise: float


def measure(curator: Curator, step: str, statistic: Statistic) -> Measurement:
    """Release a statistic's sum as a step of the curator's plan, and return it with its noise."""
    return Measurement(curator.release(step, statistic), curator.noise(step, statistic))
