"""Latent-variable models by private expectation-maximisation."""

from typing import TYPE_CHECKING

from tacit.lazy import lazy_names

if TYPE_CHECKING:
    from tacit.latent.factor_analysis import FactorAnalysis
    from tacit.latent.gaussian_mixture import GaussianMixture
    from tacit.latent.k_means import KMeans
    from tacit.latent.missing_covariate_regression import MissingCovariateRegression
    from tacit.latent.mixture_of_regressions import MixtureOfRegressions
    from tacit.latent.moments import Moments
    from tacit.latent.prior import MixturePrior
    from tacit.latent.symmetric_mixture import SymmetricMixture
    from tacit.latent.uncertainty import MixtureIntervals
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "tacit.latent.factor_analysis": ["FactorAnalysis"],
            "tacit.latent.gaussian_mixture": ["GaussianMixture"],
            "tacit.latent.k_means": ["KMeans"],
            "tacit.latent.missing_covariate_regression": ["MissingCovariateRegression"],
            "tacit.latent.mixture_of_regressions": ["MixtureOfRegressions"],
            "tacit.latent.moments": ["Moments"],
            "tacit.latent.prior": ["MixturePrior"],
            "tacit.latent.symmetric_mixture": ["SymmetricMixture"],
            "tacit.latent.uncertainty": ["MixtureIntervals"],
        },
    )

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
