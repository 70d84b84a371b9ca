"""How inputs scatter, and coordinates in which directions are alike to a solver.

Noise on a gradient is the same in every direction. In coordinates in which inputs are white it is spread evenly over
what there is to learn, and of all coordinates those have the least total error. Two things keep from going all the way:
what is not known of the scatter cannot be undone, and directions in which inputs hardly vary have little to say, unless
coefficients there are huge. So inputs are divided by sqrt(variance + added) along each axis, where what is
added grows with the noise (:class:`Coordinates`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Array
from tacit.linear.linear_fit import InputSpread
from tacit.release.row_maps import Standardise, Whiten

# benchmarks/logistic_regression.py measures what these numbers give, on simulated tables and on Adult.
# What is added to the variance of each direction before inputs are divided by its square root.
_NOISE_FACTOR = 16.0  # About one over the squared curvature of an ordinary row.
_LEAST_ADDED, _FIXED_POINT_ROUNDS = 1e-6, 20
_UNSEEN = 0.3  # Variance that a direction may have where none is seen, relative to the noise of a variance.
_LEAST_UNEXPLAINED = 1e-4  # Least part of the target's variance that inputs leave unexplained.


@dataclass(frozen=True, eq=False)
class Scatter:
    """Where columns lie, inputs and target, and how they scatter together, in units of their own.

    Parameters
    ----------
    mean, units, scales : (d + 1,) arrays
        In standard coordinates; the target is the last. Scales are standard deviations of columns by themselves.
    second : (d + 1, d + 1) array
        Second moments of columns about their means, in their units, with noise.
    noise : float
        How large that noise is, as an eigenvalue.
    rows : float
        How many rows there are, as far as is known.
    most_rows : float
        There are no more rows than this, but for a chance of 1 in 10^800.
    least_frequencies : tuple of arrays
        For each column with levels, how often they occur, less a standard deviation of noise.
    deviations : (d + 1,) array, optional
        Standard deviations as they were measured, for people to read. Scales are kept above a floor.
    row_noise : float, default 0
        The noise in the number of rows, where that is secret.
    """

    mean: Array
    units: Array
    scales: Array
    second: Array
    noise: float
    rows: float
    most_rows: float = math.inf
    least_frequencies: tuple[Array, ...] = ()
    deviations: Array | None = None
    row_noise: float = 0.0

    @property
    def inputs(self) -> InputSpread:
        """Where inputs lie, in standard coordinates."""
        return InputSpread(self.mean[:-1], (self.scales if self.deviations is None else self.deviations)[:-1])

    @property
    def residual_scale(self) -> float:
        """The scale of what inputs do not explain of the target, in standard coordinates."""
        second = self.second + self.noise * np.eye(len(self.second))
        explained = float(second[:-1, -1] @ np.linalg.solve(second[:-1, :-1], second[:-1, -1]))
        variance = max(float(second[-1, -1]), 1e-12)
        return float(self.units[-1] * np.sqrt(max(variance - explained, _LEAST_UNEXPLAINED * variance)))

    def slopes(self, coordinates: Coordinates) -> Array:
        """Return how the target rises with inputs in these coordinates, about, in units of the residuals' scale."""
        across = coordinates.whitener @ (self.units[:-1] * self.second[:-1, -1])
        slopes: Array = across * self.units[-1] / self.residual_scale / np.maximum(coordinates.variances, 0.5)
        return slopes


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates w = whitener (x - centre) in which inputs are about white.

    Parameters
    ----------
    centre : (d,) array
        In standard coordinates.
    whitener : (d, d) array
    variances : (d,) array
        Of w, as far as is known: 1 where it is white, less where it is left short.
    prior : (d,) array
        How large coefficients on w can be expected to be, as variances, before anything is known.
    rows : float
        How many rows there are, as far as is known.
    largest : float, default 1
        The most that any direction's second moment is.
    """

    centre: Array
    whitener: Array
    variances: Array
    prior: Array
    rows: float
    largest: float = 1.0

    @classmethod
    def white(cls, scatter: Scatter, signal: float, noise: float) -> Coordinates:
        """Return coordinates for gradients whose sums, of rows of length 1, have this much noise.

        `signal` is how large predictions are expected to be, as a standard deviation. Coefficients are expected to be
        alike in columns' own units.
        """
        units = scatter.units[:-1]
        values, axes = np.linalg.eigh(scatter.second[:-1, :-1])
        variances = np.maximum(values, 0.0)  # What noise took below zero it has put on others.
        variances *= max(float(values.sum()), 1e-12) / max(float(variances.sum()), 1e-12)
        each = signal**2 / float(variances.sum())
        added = _LEAST_ADDED
        for _ in range(_FIXED_POINT_ROUNDS):
            length2 = 1.0 + float(np.sum(variances / (variances + added)))
            added = max(scatter.noise, _NOISE_FACTOR * (noise / scatter.rows) ** 2 * length2 / each, _LEAST_ADDED)
        whitener = (axes / np.sqrt(variances + added)).T / units
        # A direction that noise has emptied may have some variance yet: with none, steps there would know no measure.
        likely = np.maximum(variances, _UNSEEN * scatter.noise) / (variances + added)
        return cls(scatter.mean[:-1], whitener, likely, each * (variances + added), scatter.rows)

    @classmethod
    def standard(cls, scatter: Scatter, signal: float) -> Coordinates:
        """Return standard coordinates, but for where they are measured from: for penalties that are stated in them."""
        variances = np.maximum(np.diag(scatter.second)[:-1], 0.0) * scatter.units[:-1] ** 2
        prior = np.full(len(variances), signal**2 / max(float(variances.sum()), 1e-12))
        own = scatter.second[:-1, :-1] * np.outer(scatter.units[:-1], scatter.units[:-1])
        largest = max(float(np.linalg.eigvalsh(own)[-1]), float(variances.max()))
        return cls(scatter.mean[:-1], np.eye(len(variances)), variances, prior, scatter.rows, largest)

    @classmethod
    def as_they_are(cls, columns: int, rows: float) -> Coordinates:
        """Return the coordinates that inputs have anyway, taken to be about white."""
        return cls(np.zeros(columns), np.eye(columns), np.ones(columns), np.ones(columns), rows)

    def about(self, centre: Array) -> Coordinates:
        """Return the same coordinates, measured from another point."""
        apart = self.whitener @ (self.centre - centre)
        largest = self.largest + float(apart @ apart)
        return replace(self, centre=centre, variances=self.variances + apart**2, largest=largest)

    @property
    def columns(self) -> int:
        """How many inputs there are."""
        return len(self.centre)

    @property
    def length(self) -> float:
        """The length of an ordinary row, a 1 in front of it."""
        return math.sqrt(1.0 + float(self.variances.sum()))

    @property
    def row_map(self) -> Whiten:
        """The map that takes rows into these coordinates, and leaves their targets as they are."""
        return Whiten(self.whitener, self.centre)

    def to_standard(self, coefficients: Array) -> Array:
        """Return coefficients (K, 1 + d) on these coordinates as those on standard ones."""
        slopes = coefficients[:, 1:] @ self.whitener
        return np.column_stack([coefficients[:, 0] - slopes @ self.centre, slopes])


def target_map(inputs: int, middle: float, unit: float) -> Standardise:
    """Return the map that measures targets, behind so many inputs, from a middle and in a unit."""
    return Standardise(np.append(np.zeros(inputs), middle), np.append(np.ones(inputs), unit))
