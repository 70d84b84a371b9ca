"""Components that predict a target: rows weighed by how well each predicts, and pulled the way it errs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Array
from tacit.release.row_maps import pad_rows
from tacit.statistics.ranges import check_numbers, check_sizes
from tacit.statistics.row_vectors import RowVectors


@dataclass(frozen=True, eq=False)
class RegressionScores:
    """K linear regressions of the last column on the others, as a :class:`VectorModel`.

    A row (x, y) has u = factor^-1 (x - centre) and, under component k, the residual e_k = (y - <beta_k, (1, u)>) /
    scale_k, which is standard normal if the component is right. What is released of it are moments of its *scores*
    e_k (1, u), u shortened to length `reach` there: their mean is the direction in which beta_k should move, the trace
    of their second moment tells the scale, and the rest of it in which direction one component should be two. Residuals
    are those of u as it is, so that their mean, times whatever is a function of u alone, is 0 at the truth: rows with
    rare levels, which are far out, count for less but do not mislead.

    Parameters
    ----------
    weights : (K,) array
        Mixing weights, positive.
    coefficients : (K, 1 + d) array
        Intercepts first.
    scales : (K,) array
        Standard deviations of residuals, positive.
    centre : (d,) array
    factor : (d, d) array
        Lower-triangular, with a positive diagonal: the covariance of x is about factor factor'.
    reach : float
        The largest length of u in scores.

    Examples
    --------
    >>> import numpy as np
    >>> one = RegressionScores(np.ones(1), np.array([[0.0, 2.0]]), np.ones(1), np.zeros(1), np.eye(1), 3.0)
    >>> lifted, lengths, weights = one.e_step(np.array([[1.0, 2.5], [2.0, 3.0]]))
    >>> lifted[0].T
    array([[ 1. ,  0.5,  0.5],
           [ 1. , -1. , -2. ]])
    """

    weights: Array
    coefficients: Array
    scales: Array
    centre: Array
    factor: Array
    reach: float

    def __post_init__(self) -> None:
        if not ((self.weights > 0) & (self.weights < np.inf)).all():
            raise ValueError("The weights of components must be positive and finite.")
        check_sizes("scales and reach", np.append(self.scales, self.reach))
        check_sizes("The diagonal of the factor", np.diag(self.factor))
        check_numbers(
            "coefficients, centre and factor", np.concatenate([*self.factor, *self.coefficients, self.centre])
        )
        whitener = np.linalg.solve(self.factor, np.eye(len(self.centre)))
        affine = np.hstack([whitener, -(whitener @ self.centre)[:, None]])
        object.__setattr__(self, "_affine", affine)
        object.__setattr__(self, "_log_scales", np.log(self.weights / self.scales)[:, None])

    @property
    def count(self) -> int:
        """How many components there are."""
        return len(self.weights)

    @property
    def columns(self) -> int:
        """How many numbers a score has."""
        return int(self.coefficients.shape[1])

    def e_step(self, block: Array) -> RowVectors:
        """Return (1, scores) as (K, 2 + d, rows), their squared lengths (K, rows) and responsibilities (K, rows).

        As with ``Components.e_step``, what is computed for a row does not depend on where in the block it stands, and a
        row that cannot be measured belongs to no component.
        """
        rows, columns = len(block), pad_rows(block.T)
        with np.errstate(over="ignore", invalid="ignore"):
            x = self._white(columns)
            residuals = (columns[-1] - self.coefficients @ x) / self.scales[:, None]
            squares = residuals * residuals
            x[1:] *= np.minimum(1.0, self.reach / np.sqrt(np.maximum((x[1:] * x[1:]).sum(axis=0), 1e-300)))
            # In this order, because squares of small residuals underflow where the lengths of scores need not.
            lengths = (residuals * (x * x).sum(axis=0)) * residuals
            lost = ~np.isfinite(lengths.sum(axis=0))
        lifted = np.ones((self.count, 1 + self.columns, columns.shape[1]))
        np.multiply(residuals[:, None], x, out=lifted[:, 1:])
        joint: Array = self._log_scales - 0.5 * squares  # type: ignore[attr-defined]
        if lost.any():
            lifted[:, :, lost] = lengths[:, lost] = joint[:, lost] = 0.0
        joint -= joint.max(axis=0)
        responsibilities = np.exp(joint, out=joint)
        responsibilities /= responsibilities.sum(axis=0)
        responsibilities[:, lost] = 0.0
        return RowVectors(lifted[:, :, :rows], lengths[:, :rows], responsibilities[:, :rows])

    def _white(self, columns: Array) -> Array:
        """Return (1, u) as (1 + d, rows)."""
        rows = columns.copy()
        rows[-1] = 1.0  # A 1 takes the place of the target.
        x = np.ones((self.columns, columns.shape[1]))
        x[1:] = self._affine @ rows  # type: ignore[attr-defined]
        return x
