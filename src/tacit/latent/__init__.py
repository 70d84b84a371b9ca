"""Latent-variable models by private expectation-maximisation."""

from tacit.latent.gaussian_mixture import GaussianMixture
from tacit.latent.k_means import KMeans
from tacit.latent.model_file import load_model, save_model
from tacit.latent.prior import MixturePrior
from tacit.latent.uncertainty import MixtureIntervals

__all__ = ["GaussianMixture", "KMeans", "MixtureIntervals", "MixturePrior", "load_model", "save_model"]
