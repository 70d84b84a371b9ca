"""Latent-variable models by private expectation-maximisation."""

from tacit.latent.factor_analysis import FactorAnalysis
from tacit.latent.gaussian_mixture import GaussianMixture
from tacit.latent.k_means import KMeans
from tacit.latent.missing_covariate_regression import MissingCovariateRegression
from tacit.latent.mixture_of_regressions import MixtureOfRegressions
from tacit.latent.moments import Moments
from tacit.latent.prior import MixturePrior
from tacit.latent.symmetric_mixture import SymmetricMixture
from tacit.latent.uncertainty import MixtureIntervals

__all__ = [
    "FactorAnalysis",
    "GaussianMixture",
    "KMeans",
    "MissingCovariateRegression",
    "MixtureIntervals",
    "MixtureOfRegressions",
    "MixturePrior",
    "Moments",
    "SymmetricMixture",
]
