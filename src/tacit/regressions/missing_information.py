"""What missing cells take away from the steps of EM, and how to give it back. Plain numerics: no data, no privacy.

In coordinates u the current model of a row is standard normal. The cells that a row has determine a projection P on
what they tell. The row's expected value is Pu, and its expected second moment is Puu'P + I - P. If the truth has the
mean d and the second moment I + D, and cells are missing completely at random, then EM sees E[P] d and E[PDP]. These
are linear in d and D, and smaller. EM makes up for it by many iterations. Here the equations are solved instead, for
cells that are missing independently of each other. Where they are not, the step is not quite the right one, but it
still is zero only where EM's is.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Array

# Tuned numbers. tests/unit/regressions/test_missing_information.py and experiments/missing_nhanes.py measure what they
# give.
_LEAST_OBSERVED = 0.02  # A column is taken to have at least this proportion of its cells.
_LEAST_CAUTION = 0.05  # Added to the proportion of a step that cells let through, because the step has noise.
_CAUTION_FOR_NOISE = 1.0  # Added to the same, for each unit of noise in a variance.
_LEAST_RATIO, _MOST_RATIO = 0.5, 2.0  # Limits of variances, in any direction, relative to those that EM finds.

# Limits of the computation.
_MOST_NUMBERS = 2_000_000  # In all the projections that a mean is taken over.
_FEWEST_PATTERNS, _MOST_PATTERNS = 32, 512  # Random patterns of missing cells that a mean is taken over.
_TOLERANCE, _MOST_ITERATIONS = 1e-4, 60  # Of conjugate gradients.


def projections(factor: Array, observed: Array) -> Array:
    """Return projections on what is observed, (patterns, d, d), for cells observed with these probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> projections(np.eye(2), np.array([1.0, 0.5])).mean(axis=0).round(1)
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    columns = len(factor)
    patterns = int(np.clip(_MOST_NUMBERS // columns**2, _FEWEST_PATTERNS, _MOST_PATTERNS))
    # Each column is observed in a part of the patterns that is as near to its probability as possible.
    rng = np.random.default_rng(0)
    ranks = np.argsort(rng.random((patterns, columns)), axis=0)
    cells = (ranks + 0.5) / patterns < np.clip(observed, _LEAST_OBSERVED, 1.0)
    # The columns of Q span those of L' that are observed. The others are set to 0 and contribute nothing.
    kept = factor.T[None] * cells[:, None, :]
    left, sizes, _ = np.linalg.svd(kept)
    known = sizes > 1e-9 * sizes.max(axis=1, keepdims=True)
    basis = left * known[:, None, :]
    return basis @ basis.transpose(0, 2, 1)


def lengthen_em_step(
    shift: Array, covariance: Array, factor: Array, observed: Array, noise: float = 0.0
) -> tuple[Array, Array]:
    """Return the step that EM's is a part of.

    Parameters
    ----------
    shift : (d,) array
    covariance : (d, d) array
        EM's new mean and covariance, where the old ones are 0 and I.
    factor : (d, d) array
        Of the old covariance, in coordinates of columns.
    observed : (d,) array
        Proportion of cells that are observed, by column.
    noise : float
        Standard deviation of the noise on the entries of EM's covariance. The more noise, the more cautious the step.

    Returns
    -------
    shift, covariance : arrays
        As they are given, if no cells are missing.

    Examples
    --------
    A column of which half the cells are missing, with a mean of 1 and a variance of 3, as seen from 0 and 1:

    >>> shift, covariance = lengthen_em_step(np.array([0.5]), np.array([[2.25]]), np.eye(1), np.array([0.5]))
    >>> shift.round(1), covariance.round(1)
    (array([1.]), array([[3.]]))
    """
    identity = np.eye(len(shift))
    through = projections(factor, observed)
    moment = covariance + np.outer(shift, shift) - identity
    caution = min(1.0, _LEAST_CAUTION + _CAUTION_FOR_NOISE * noise * math.sqrt(len(shift)))
    whole = np.linalg.solve((1 - caution) * through.mean(axis=0) + caution * identity, shift)
    solution = identity + _solve(through, moment, caution) - np.outer(whole, whole)
    # The covariance stays near EM's own, in any direction.
    unit = np.linalg.cholesky(covariance)
    relative = np.linalg.solve(unit, np.linalg.solve(unit, (solution + solution.T) / 2).T)
    variances, axes = np.linalg.eigh((relative + relative.T) / 2)
    axes = unit @ axes
    return whole, (axes * np.clip(variances, _LEAST_RATIO, _MOST_RATIO)) @ axes.T


def _solve(through: Array, moment: Array, caution: float) -> Array:
    """Solve E[PDP] = moment for D, by conjugate gradients."""

    def apply(change: Array) -> Array:
        return (1 - caution) * np.mean(through @ change @ through, axis=0) + caution * change

    solution = moment.copy()
    residual = moment - apply(solution)
    direction, power = residual, float(np.sum(residual * residual))
    enough = _TOLERANCE**2 * float(np.sum(moment * moment))
    for _ in range(_MOST_ITERATIONS):
        if power <= enough:
            break
        moved = apply(direction)
        length = power / float(np.sum(direction * moved))
        solution = solution + length * direction
        residual = residual - length * moved
        before, power = power, float(np.sum(residual * residual))
        direction = residual + power / before * direction
    return solution
