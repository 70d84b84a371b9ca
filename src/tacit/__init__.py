"""tacit: private statistical learning.

Models near the non-private ones, a certificate to show for it, and nothing leaked. Start with
:class:`tacit.GaussianMixture`.
"""

from importlib.metadata import version

from tacit.latent import GaussianMixture, KMeans, MixturePrior, load_model, save_model
from tacit.privacy import Budget, Certificate, Ledger, Plan
from tacit.robust import RobustMean, mean
from tacit.tables import Schema

__version__ = version("tacit")

__all__ = [
    "Budget",
    "Certificate",
    "GaussianMixture",
    "KMeans",
    "Ledger",
    "MixturePrior",
    "Plan",
    "RobustMean",
    "Schema",
    "__version__",
    "load_model",
    "mean",
    "save_model",
]
