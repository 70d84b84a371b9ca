"""Coordinates in which inputs are white, as far as noise allows.

Second moments are released a few times, each time in the coordinates that the last ones gave. In directions where they
are drowned in noise inputs are left short, and the next release looks closer. What differs from the expected second
moments is shrunk by how much of it noise explains (James–Stein). How exact the last ones are, is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clip_radius import choose_radius
from tacit.fitting.shrinkage import james_stein_factor, noise_eigenvalue
from tacit.release import Curator
from tacit.statistics import ComponentMoments, InputVectors, LengthCounts

INPUT_LENGTHS, SECOND_MOMENTS = "input lengths", "second moments"
# benchmarks/arena.py measures what these numbers give.
ROUNDS = 3
_HIDDEN_WEIGHT = 0.1  # What clipping of rows hides counts for this much: weights have no bias if the model is right.
_ADDED = 1.0  # Added to the variance of every direction, in units of the noise's eigenvalues.
_LEAST_VARIANCE = 1e-9  # Variances that are added in any case, in columns' own units.


LEVEL_VARIANCE = 0.1


@dataclass(frozen=True, eq=False)
class WhiteInputs:
    """Coordinates v = matrix (1, x) of inputs, and what is known of their second moments.

    Parameters
    ----------
    matrix : (m, 1 + d) array
    second : (m, m) array
        Second moments of v: about 1 where v is white, less where it is left short. Rows are weighed down as
        :class:`InputVectors` does.
    error : float
        Variance of the error of its entries.
    prior : (m, m) array
        Covariance of coefficients on v whose coefficients on inputs in their own units have variance 1.
    reach : float
        Rows with v longer than this are weighed down.
    """

    matrix: Array
    second: Array
    error: Array
    back: Array
    reach: float

    def prior(self, variance: float) -> Array:
        variances = np.full(len(self.back), variance)
        if len(self.matrix) == self.matrix.shape[1]:
            variances[0] = LEVEL_VARIANCE
        return (self.back.T * variances) @ self.back

    @property
    def vectors(self) -> InputVectors:
        """The model that turns rows into weighed inputs."""
        return InputVectors(self.matrix, self.reach)

    def in_columns(self) -> Array:
        """Return the second moment of (1, x), or of x alone where there is no constant among the coordinates."""
        square = self.matrix if len(self.matrix) == self.matrix.shape[1] else self.matrix[:, 1:]
        back = np.linalg.inv(square)
        return back @ self.second @ back.T


def measure_white_inputs(
    curator: Curator, start: Array, rows: float, rounds: int = ROUNDS, sampled: bool = False
) -> WhiteInputs:
    """Release second moments, and return the coordinates they give.

    Parameters
    ----------
    curator : Curator
        Its plan has ROUNDS releases of INPUT_LENGTHS and of SECOND_MOMENTS.
    start : (m, 1 + d) array
        Coordinates in which columns have their own units.
    rows : float
        How many rows a release is of.
    sampled : bool
        Whether these are not all rows.
    """
    matrix, number = start, len(start)
    turn, second, unsure = np.eye(number), np.eye(number), None
    for left in reversed(range(rounds)):
        reach = _measure_reach(curator, matrix, second, rows)
        statistic = ComponentMoments(InputVectors(matrix), reach, 0.0, 0.0, 1.0)
        measured = curator.measure(SECOND_MOMENTS, statistic)
        entry = (measured.noise * reach**2 / rows) ** 2 / 2 + sampled / rows
        noise = entry * (1 + np.eye(number))
        surprise = statistic.parts(measured.value)[2][0] / rows - second
        if unsure is None:
            unsure = np.full_like(noise, max(float(np.sum(surprise**2) - np.sum(noise)), 0.0) / number**2)
        gain = unsure / (unsure + noise)
        second, unsure = second + gain * surprise, gain * noise
        if left:
            values, axes = np.linalg.eigh(second)
            unsure = (axes**2).T @ unsure @ axes**2
            values, edges = np.maximum(values, 0.0), 2 * np.sqrt(unsure.sum(axis=1))
            lengthen = 1 / np.sqrt(values + _ADDED * edges + _LEAST_VARIANCE)
            rotate = (axes * lengthen).T
            matrix, turn, second = rotate @ matrix, rotate @ turn, np.diag(values * lengthen**2)
            unsure = unsure * np.outer(lengthen, lengthen) ** 2
    values, axes = np.linalg.eigh(second)
    second = (axes * np.maximum(values, 0.0)) @ axes.T
    back = np.linalg.inv(turn)
    return WhiteInputs(matrix, second, unsure, back, reach)


def _measure_reach(curator: Curator, matrix: Array, expected: Array, rows: float) -> float:
    """Release lengths of rows in these coordinates, and return where to clip them."""
    usual = math.sqrt(max(float(np.trace(expected)), 1.0))
    lengths = LengthCounts(InputVectors(matrix), usual)
    counts = curator.measure(INPUT_LENGTHS, lengths)
    one = ComponentMoments(InputVectors(matrix), 1.0, 0.0, 0.0, 1.0)
    noise = curator.noise(SECOND_MOMENTS, one) / rows * math.sqrt(len(matrix))
    return choose_radius(lengths, counts, rows, noise, weight=_HIDDEN_WEIGHT, default=usual, power=2, square=usual**2).radius
