"""Latent-variable models by private expectation-maximisation."""

from tacit.latent.gaussian_mixture import GaussianMixture
from tacit.latent.prior import MixturePrior

__all__ = ["GaussianMixture", "MixturePrior"]
