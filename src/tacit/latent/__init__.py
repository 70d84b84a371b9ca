"""Latent-variable models by private expectation-maximisation."""

from tacit.latent.factor_analysis import FactorAnalysis
from tacit.latent.gaussian_mixture import GaussianMixture
from tacit.latent.k_means import KMeans
from tacit.latent.mixture_of_regressions import MixtureOfRegressions
from tacit.latent.model_file import load_model, save_model
from tacit.latent.moments import Moments
from tacit.latent.prior import MixturePrior
from tacit.latent.uncertainty import MixtureIntervals

__all__ = [
    "FactorAnalysis",
    "GaussianMixture",
    "KMeans",
    "MixtureIntervals",
    "MixtureOfRegressions",
    "MixturePrior",
    "Moments",
    "load_model",
    "save_model",
]
