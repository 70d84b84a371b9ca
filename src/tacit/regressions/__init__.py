"""Regressions with something latent: groups of rows, signs, missing cells."""

from tacit.regressions.missing_covariate_regression import MissingCovariateRegression
from tacit.regressions.mixture_of_regressions import MixtureOfRegressions
from tacit.regressions.symmetric_mixture import SymmetricMixture

__all__ = ["MissingCovariateRegression", "MixtureOfRegressions", "SymmetricMixture"]
