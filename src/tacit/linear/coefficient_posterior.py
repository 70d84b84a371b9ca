"""What releases say of the coefficients of a least-squares fit, together: an information filter.

A mean score measured at coefficients b is H (best - b) plus errors of known variances, with H the second moment of
inputs. So each release is a linear measurement of the best coefficients. It adds to their *information*, the inverse of
a covariance, and nothing that was learnt before is lost. The prior is normal, with one variance for all slopes on
inputs in their own units; the variance is the one that makes all that was measured likeliest. Where noise drowns the
measurements it is tiny, and slopes are drawn to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Array
from tacit.linear.white_inputs import WhiteInputs

# benchmarks/arena.py measures what these numbers give.
_PRIOR_POWERS = np.arange(-16, 7)  # Prior variances of slopes to choose from, as powers of 2.
_PRIOR_CAUTION = 1.0  # A smaller prior variance is chosen if its log-likelihood is less by no more than half of this.
_WIDE_VARIANCE = 0.25  # Prior variance of slopes for their errors: targets vary as much as that of one column may tell.
_STEP_ERROR = 0.3  # Part of a step that may be wrong, because scores were clipped.


@dataclass(frozen=True, eq=False)
class CoefficientPosterior:
    """What is known of coefficients on white inputs, in units of the target's scale.

    Parameters
    ----------
    white : WhiteInputs
    information : (m, m) array
        The sum over releases of H doubt^-1 H.
    score : (m,) array
        The sum over releases of H doubt^-1 (mean score + H b).
    """

    white: WhiteInputs
    information: Array
    score: Array

    @classmethod
    def flat(cls, white: WhiteInputs) -> CoefficientPosterior:
        """Return what is known before any release."""
        number = len(white.second)
        return cls(white, np.zeros((number, number)), np.zeros(number))

    @cached_property
    def prior_variance(self) -> float:
        """The prior variance of slopes that makes what was measured likeliest, or the least that is hardly less so."""
        losses = np.array([self._minus_log_likelihood(2.0**power) for power in _PRIOR_POWERS])
        first = int(np.flatnonzero(losses <= losses.min() + _PRIOR_CAUTION)[0])
        return float(2.0 ** _PRIOR_POWERS[first])

    @cached_property
    def covariance(self) -> Array:
        """The covariance of what coefficients may be off by."""
        return self._covariance(self.prior_variance)

    @property
    def coefficients(self) -> Array:
        """The mean of the coefficients."""
        return self.covariance @ self.score

    def errors(self, coefficients: Array, scatter: Array, narrowest: bool = False) -> Array:
        """Return the covariance of what such coefficients are off by, by noise and by chance.

        Shrunk coefficients are biased by what shrinking takes away. So the covariance is that under a prior which
        hardly shrinks, about the coefficients that follow from it.

        Parameters
        ----------
        coefficients : (m,) array
        scatter : (m, m) array
            The covariance of mean scores by chance.
        narrowest : bool
            Whether inputs are taken to be as narrow as they may be for all that was released.
        """
        covariance = self._covariance(max(self.prior_variance, _WIDE_VARIANCE), narrowest)
        apart = covariance @ self.score - coefficients
        bread = covariance @ self.information @ np.linalg.pinv(self.white.second, rcond=1e-6, hermitian=True)
        return covariance + np.outer(apart, apart) + bread @ scatter @ bread.T

    def learn(self, at: Array, mean: Array, hessian: Array, doubt: Array) -> CoefficientPosterior:
        """Return what is known after a mean score at some coefficients, with errors of variances `doubt`."""
        weighted = hessian / doubt
        return CoefficientPosterior(
            self.white,
            self.information + weighted @ hessian,
            self.score + weighted @ (mean + hessian @ at),
        )

    def forget(self, before: Array) -> CoefficientPosterior:
        """Return what is left after a step from these coefficients, a part of which may be wrong."""
        variance = _STEP_ERROR**2 * float(np.mean((self.coefficients - before) ** 2))
        left = np.linalg.inv(np.eye(len(before)) + variance * self.information)
        information = self.information @ left
        return CoefficientPosterior(self.white, (information + information.T) / 2, left @ self.score)

    def _covariance(self, prior_variance: float, narrowest: bool = False) -> Array:
        prior = self.white.prior(prior_variance, narrowest)
        covariance = np.linalg.solve(np.eye(len(prior)) + prior @ self.information, prior)
        return (covariance + covariance.T) / 2

    def _minus_log_likelihood(self, prior_variance: float) -> float:
        """Return minus twice the log-likelihood of all that was measured, up to a constant."""
        prior = self.white.prior(prior_variance)
        _, log_determinant = np.linalg.slogdet(np.eye(len(prior)) + prior @ self.information)
        return float(log_determinant - self.score @ self._covariance(prior_variance) @ self.score)
