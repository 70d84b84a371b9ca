"""tacit: private statistical learning.

Models near the non-private ones, a certificate to show for it, and nothing leaked. Start with
:class:`tacit.GaussianMixture`.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from tacit.lazy import lazy_names

if TYPE_CHECKING:
    from tacit.clusters import KMeans
    from tacit.linear import (
        ERM,
        ElasticNet,
        HuberRegressor,
        Lasso,
        LinearRegression,
        LinearSVC,
        LogisticRegression,
        Ridge,
    )
    from tacit.mixture import GaussianMixture, MixturePrior
    from tacit.moments import FactorAnalysis, Moments
    from tacit.privacy import Budget, Certificate, Ledger, Plan
    from tacit.regressions import MissingCovariateRegression, MixtureOfRegressions, SymmetricMixture
    from tacit.robust import RobustMean, mean
    from tacit.storage import load_model, save_model
    from tacit.synthesis import TableModel
    from tacit.tables import Schema
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "tacit.linear": [
                "ERM",
                "ElasticNet",
                "HuberRegressor",
                "Lasso",
                "LinearRegression",
                "LinearSVC",
                "LogisticRegression",
                "Ridge",
            ],
            "tacit.clusters": ["KMeans"],
            "tacit.mixture": ["GaussianMixture", "MixturePrior"],
            "tacit.moments": ["FactorAnalysis", "Moments"],
            "tacit.regressions": ["MissingCovariateRegression", "MixtureOfRegressions", "SymmetricMixture"],
            "tacit.privacy": ["Budget", "Certificate", "Ledger", "Plan"],
            "tacit.robust": ["RobustMean", "mean"],
            "tacit.storage": ["load_model", "save_model"],
            "tacit.synthesis": ["TableModel"],
            "tacit.tables": ["Schema"],
        },
    )

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
