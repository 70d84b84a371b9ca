"""Latent-variable models by private expectation-maximisation."""

from tacit.latent.factor_analysis import FactorAnalysis
from tacit.latent.gaussian_mixture import GaussianMixture
from tacit.latent.model_file import load_model, save_model
from tacit.latent.moments import Moments
from tacit.latent.prior import MixturePrior

__all__ = ["FactorAnalysis", "GaussianMixture", "MixturePrior", "Moments", "load_model", "save_model"]
