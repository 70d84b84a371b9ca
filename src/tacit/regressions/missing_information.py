"""What missing cells take away from the steps of EM, and how to give it back. Plain numerics: no data, no privacy.

In coordinates u where the current model of a row is standard normal, a row of which the columns o are there has the
expected value Pu, where P is the projection on what those columns tell, and an expected second moment Puu'P + I - P. So
if the truth is off by a mean of d and a second moment of I + D, and cells are missing completely at random, then the
moments that EM goes by are off by E[P] d and E[PDP]: linear in what is sought, and smaller. EM makes up for it by many
iterations. Here the equations are solved instead, for cells that are missing independently of each other. Where they
are not, the step is not quite the right one; but it still is zero only where EM's is.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.statistics.components import Array

_LEAST_SHARE = 0.02  # of cells that are there
_CAUTION = 0.05  # added to the share of a step that cells let through, as the step has noise
_WARY = 1.0  # and how much more for each unit of noise in a variance
_LEAST, _MOST = 0.5, 2.0  # variances, in any direction, beside those that EM finds
_NUMBERS = 2_000_000  # in all the projections that the mean is taken over
_SOLVED, _MOST_ROUNDS = 1e-4, 60


def projections(factor: Array, shares: Array) -> Array:
    """Return projections on what is there, (patterns, d, d), for cells that are there with these probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> projections(np.eye(2), np.array([1.0, 0.5])).mean(axis=0).round(1)
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    columns = len(factor)
    patterns = int(np.clip(_NUMBERS // columns**2, 32, 512))
    # As even as can be: each column is there in as nearly its share of the patterns as possible.
    rng = np.random.default_rng(0)
    ranks = np.argsort(rng.random((patterns, columns)), axis=0)
    there = (ranks + 0.5) / patterns < np.clip(shares, _LEAST_SHARE, 1.0)
    # The columns of Q span those of L' that are there; the others, set to 0, come out as nothing.
    kept = factor.T[None] * there[:, None, :]
    left, sizes, _ = np.linalg.svd(kept)
    known = sizes > 1e-9 * sizes.max(axis=1, keepdims=True)
    basis = left * known[:, None, :]
    return basis @ basis.transpose(0, 2, 1)


def completed(shift: Array, covariance: Array, factor: Array, shares: Array, noise: float = 0.0) -> tuple[Array, Array]:
    """Return the step that EM's is a part of.

    Parameters
    ----------
    shift : (d,) array
    covariance : (d, d) array
        EM's new mean and covariance, where the old ones are 0 and I.
    factor : (d, d) array
        Of the old covariance, in coordinates of columns.
    shares : (d,) array
        Of cells that are there, by column.
    noise : float
        In EM's covariance, as a standard deviation of its entries: the more of it there is, the more cautious the step.

    Returns
    -------
    shift, covariance : arrays
        As they are given, if no cells are missing.

    Examples
    --------
    A column of which half the cells are missing, with a mean of 1 and a variance of 3, as seen from 0 and 1:

    >>> shift, covariance = completed(np.array([0.5]), np.array([[2.25]]), np.eye(1), np.array([0.5]))
    >>> shift.round(1), covariance.round(1)
    (array([1.]), array([[3.]]))
    """
    identity = np.eye(len(shift))
    through = projections(factor, shares)
    moment = covariance + np.outer(shift, shift) - identity
    caution = min(1.0, _CAUTION + _WARY * noise * math.sqrt(len(shift)))
    whole = np.linalg.solve((1 - caution) * through.mean(axis=0) + caution * identity, shift)
    found = identity + _solved(through, moment, caution) - np.outer(whole, whole)
    # Not too far from EM's own, in any direction.
    unit = np.linalg.cholesky(covariance)
    relative = np.linalg.solve(unit, np.linalg.solve(unit, (found + found.T) / 2).T)
    variances, axes = np.linalg.eigh((relative + relative.T) / 2)
    axes = unit @ axes
    return whole, (axes * np.clip(variances, _LEAST, _MOST)) @ axes.T


def _solved(through: Array, moment: Array, caution: float) -> Array:
    """Solve E[PDP] = moment for D, by conjugate gradients."""

    def seen(change: Array) -> Array:
        return (1 - caution) * np.mean(through @ change @ through, axis=0) + caution * change

    found = moment.copy()
    left = moment - seen(found)
    direction, power = left, float(np.sum(left * left))
    enough = _SOLVED**2 * float(np.sum(moment * moment))
    for _ in range(_MOST_ROUNDS):
        if power <= enough:
            break
        moved = seen(direction)
        length = power / float(np.sum(direction * moved))
        found = found + length * direction
        left = left - length * moved
        before, power = power, float(np.sum(left * left))
        direction = left + power / before * direction
    return found
