"""tacit: private statistical learning.

Models near the non-private ones, a certificate to show for it, and nothing leaked. Start with
:class:`tacit.GaussianMixture`.
"""

from importlib.metadata import version

from tacit.erm import ERM, HuberRegressor, LinearSVC, LogisticRegression
from tacit.latent import (
    FactorAnalysis,
    GaussianMixture,
    KMeans,
    MissingCovariateRegression,
    MixtureOfRegressions,
    MixturePrior,
    Moments,
    SymmetricMixture,
    load_model,
    save_model,
)
from tacit.privacy import Budget, Certificate, Ledger, Plan
from tacit.robust import RobustMean, mean
from tacit.synthesis import TableModel
from tacit.tables import Schema

__version__ = version("tacit")

__all__ = [
    "ERM",
    "Budget",
    "Certificate",
    "FactorAnalysis",
    "GaussianMixture",
    "HuberRegressor",
    "KMeans",
    "Ledger",
    "LinearSVC",
    "LogisticRegression",
    "MissingCovariateRegression",
    "MixtureOfRegressions",
    "MixturePrior",
    "Moments",
    "Plan",
    "RobustMean",
    "Schema",
    "SymmetricMixture",
    "TableModel",
    "__version__",
    "load_model",
    "mean",
    "save_model",
]
