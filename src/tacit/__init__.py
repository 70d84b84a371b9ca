"""tacit: private statistical learning.

Models near the non-private ones, a certificate to show for it, and nothing leaked. Start with
:class:`tacit.GaussianMixture`.
"""

from importlib.metadata import version

from tacit.erm import ERM, ElasticNet, HuberRegressor, Lasso, LinearRegression, LinearSVC, LogisticRegression, Ridge
from tacit.latent import (
    FactorAnalysis,
    GaussianMixture,
    KMeans,
    MissingCovariateRegression,
    MixtureOfRegressions,
    MixturePrior,
    Moments,
    SymmetricMixture,
)
from tacit.privacy import Budget, Certificate, Ledger, Plan
from tacit.robust import RobustMean, mean
from tacit.storage import load_model, save_model
from tacit.synthesis import TableModel
from tacit.tables import Schema

__version__ = version("tacit")

__all__ = [
    "ERM",
    "Budget",
    "Certificate",
    "ElasticNet",
    "FactorAnalysis",
    "GaussianMixture",
    "HuberRegressor",
    "KMeans",
    "Lasso",
    "Ledger",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "MissingCovariateRegression",
    "MixtureOfRegressions",
    "MixturePrior",
    "Moments",
    "Plan",
    "Ridge",
    "RobustMean",
    "Schema",
    "SymmetricMixture",
    "TableModel",
    "__version__",
    "load_model",
    "mean",
    "save_model",
]
