"""Coordinates in which inputs are white, as far as noise allows.

Second moments are released a few times, each time in the coordinates that the last ones gave::

    repeat 3 to 8 times:
        release how long rows are, and choose where to weigh them down
        release second moments; weigh them against what is expected, number by number (Kalman's gain)
        but for the last time: turn to the main axes, and lengthen each to variance 1

Where an axis is drowned in noise it is left short, and the next release looks closer. How exact each of the second
moments is, is known to the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.fitting.clip_radius import measure_lengths
from tacit.fitting.shrinkage import kalman_gain
from tacit.release import Curator
from tacit.statistics import ComponentMoments, InputVectors

INPUT_LENGTHS, SECOND_MOMENTS = "input lengths", "second moments"
# benchmarks/arena.py measures what these numbers give.
_HIDDEN_WEIGHT = 0.1  # What clipping of rows hides counts for this much: weights have no bias if the model is right.
_LEAST_VARIANCE = 1e-9  # Variances that are added to those of axes, in columns' own units.
_LEVEL_VARIANCE = 0.1  # Prior variance of the constant's coefficient, in squared units of the target's scale.


@dataclass(frozen=True, eq=False)
class WhiteInputs:
    """Coordinates v = matrix (1, x) of inputs, and what is known of their second moments.

    Parameters
    ----------
    matrix : (m, 1 + d) array
        m is 1 + d, or d where there is no constant among the coordinates.
    second : (m, m) array
        Second moments of v: about 1 where v is white, less where it is left short. Rows are weighed down as
        :class:`InputVectors` does.
    errors : (m, m) array
        Variances of the errors of these.
    back : (m, m) array
        It turns v into the constant, if there is one, and inputs in their own units.
    reach : float
        Rows with v longer than this are weighed down.
    narrower : (d,) array or float, default 1
        How many times narrower inputs may be than their units.
    """

    matrix: Array
    second: Array
    errors: Array
    back: Array
    reach: float
    narrower: Array | float = 1.0

    @property
    def vectors(self) -> InputVectors:
        """The model that turns rows into weighed inputs."""
        return InputVectors(self.matrix, self.reach)

    @property
    def constant(self) -> bool:
        """Whether there is a constant among the coordinates."""
        return len(self.matrix) == self.matrix.shape[1]

    def prior(self, variance: float, narrowest: bool = False) -> Array:
        """Return the covariance of coefficients on v if those on inputs in their own units have this variance.

        If `narrowest`, these units are as small as they may be for all that was released.
        """
        variances = np.full(len(self.back), variance)
        if narrowest:
            variances[len(variances) - (self.matrix.shape[1] - 1) :] *= np.square(self.narrower)
        if self.constant:
            variances[0] = _LEVEL_VARIANCE
        return (self.back.T * variances) @ self.back

    def in_columns(self) -> Array:
        """Return the second moment of (1, x), or of x alone where there is no constant among the coordinates."""
        back = np.linalg.inv(self.matrix if self.constant else self.matrix[:, 1:])
        return back @ self.second @ back.T


def measure_white_inputs(
    curator: Curator, start: Array, rows: float, rounds: int, sampled: bool = False
) -> WhiteInputs:
    """Release second moments, and return the coordinates they give.

    Parameters
    ----------
    curator : Curator
        Its plan has `rounds` releases of INPUT_LENGTHS and of SECOND_MOMENTS.
    start : (m, 1 + d) array
        Coordinates in which columns have their own units.
    rows : float
        How many rows a release is of.
    rounds : int
    sampled : bool
        Whether these are not all rows.
    """
    number = len(start)
    matrix, turn, second = start, np.eye(number), np.eye(number)
    errors = None  # Before the first release nobody knows how far off the identity second moments are.
    for left in reversed(range(rounds)):
        reach = _measure_reach(curator, matrix, second, rows)
        statistic = ComponentMoments(InputVectors(matrix), reach, 0.0, 0.0, 1.0)
        measured = curator.measure(SECOND_MOMENTS, statistic)
        noise = ((measured.noise * reach**2 / rows) ** 2 / 2 + sampled / rows) * (1 + np.eye(number))
        surprise = statistic.parts(measured.value)[2][0] / rows - second
        if errors is None:
            errors = np.full_like(noise, max(float(np.sum(surprise**2) - np.sum(noise)), 0.0) / number**2)
        gain = kalman_gain(errors, noise)
        second, errors = second + gain * surprise, gain * noise
        values, axes = np.linalg.eigh(second)
        values = np.maximum(values, 0.0)
        if left:
            errors = (axes**2).T @ errors @ axes**2
            edges = 2 * np.sqrt(errors.sum(axis=1))  # Eigenvalues of pure noise end there (Wigner).
            lengthen = 1 / np.sqrt(values + edges + _LEAST_VARIANCE)
            rotate = (axes * lengthen).T
            matrix, turn = rotate @ matrix, rotate @ turn
            second, errors = np.diag(values * lengthen**2), errors * np.outer(lengthen, lengthen) ** 2
    return WhiteInputs(matrix, (axes * values) @ axes.T, errors, np.linalg.inv(turn), reach)


def _measure_reach(curator: Curator, matrix: Array, expected: Array, rows: float) -> float:
    """Release lengths of rows in these coordinates, and return where to clip them."""
    usual, vectors = math.sqrt(max(float(np.trace(expected)), 1.0)), InputVectors(matrix)
    lengths = measure_lengths(curator, INPUT_LENGTHS, vectors, usual, rows, default=usual, square=usual**2)
    noise = curator.noise(SECOND_MOMENTS, ComponentMoments(vectors, 1.0, 0.0, 0.0, 1.0)) / rows
    return lengths.choose_radius(noise * math.sqrt(len(matrix)), _HIDDEN_WEIGHT, power=2).radius
