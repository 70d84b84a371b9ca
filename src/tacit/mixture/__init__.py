"""Mixtures of Gaussians, and of tables with levels, by private expectation-maximisation."""

from tacit.mixture.gaussian_mixture import GaussianMixture
from tacit.mixture.prior import MixturePrior
from tacit.mixture.uncertainty import MixtureIntervals

__all__ = ["GaussianMixture", "MixtureIntervals", "MixturePrior"]
